"""Random populations, and linear programs over them written independently of the package."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, lil_array, vstack

import evenodds as eo

PARITIES = {
    "equalized_odds": ("fpr", "tpr"),
    "demographic_parity": ("selected",),
    "true_positive_rate_parity": ("tpr",),
    "false_positive_rate_parity": ("fpr",),
}


def population(seed: int) -> eo.JointDistribution:
    """2 to 6 groups of 5 to 300 scores, with ties, weights and ROCs that are not concave."""
    rng = np.random.default_rng(seed)
    score, group, label, weight = [], [], [], []
    for g in range(rng.integers(2, 7)):
        n = int(rng.integers(5, 301))
        y = rng.random(n) < rng.uniform(0.2, 0.8)
        y[:2] = [False, True]
        s = rng.normal(rng.uniform(0.3, 2) * y, 1, n)
        if rng.random() < 0.5:
            s = np.round(s, int(rng.integers(0, 2)))
        score.append(s)
        label.append(y)
        group += [f"g{g}"] * n
        weight.append(rng.uniform(0.2, 3, n) if rng.random() < 0.5 else np.ones(n))
    return eo.JointDistribution.from_arrays(
        np.concatenate(score), group, np.concatenate(label), weight=np.concatenate(weight)
    )


def best_accuracy(joint: eo.JointDistribution, slope: float, constraint: str, tolerance: float) -> float:
    """The greatest accuracy of any rising odds under a slope budget, over the odds at the observed scores."""
    sizes = [member.scores.size for member in joint.members]
    start = np.concatenate([[0], np.cumsum(sizes)])
    n = int(start[-1])
    rates = PARITIES[constraint]
    gain = np.zeros(n + len(rates))
    rows, right, equal = [], [], []
    for k, member in enumerate(joint.members):
        own = np.arange(start[k], start[k + 1])
        gain[own] = (member.positives - member.negatives) / joint.total
        steps = lil_array((sizes[k] - 1, n + len(rates)))
        steps[np.arange(sizes[k] - 1), own[1:]] = 1
        steps[np.arange(sizes[k] - 1), own[:-1]] = -1
        rows.append(-steps)
        right.append(np.zeros(sizes[k] - 1))
        if np.isfinite(slope):
            rows.append(steps)
            right.append(slope * np.diff(member.scores))
        here = (member.negatives + member.positives) / member.total
        weights = {"fpr": member.class_conditional[0], "tpr": member.class_conditional[1], "selected": here}
        for j, rate in enumerate(rates):
            row = np.zeros((1, n + len(rates)))
            row[0, own] = weights[rate]
            row[0, n + j] = -1
            if tolerance:
                rows += [row, -row]
                right += [[0.0], [tolerance]]
            else:
                equal.append(row)
    answer = linprog(
        -gain,
        A_ub=vstack([csr_array(row) for row in rows]).tocsr(),
        b_ub=np.concatenate(right),
        A_eq=vstack([csr_array(row) for row in equal]).tocsr() if equal else None,
        b_eq=np.zeros(len(equal)) if equal else None,
        bounds=[(0, 1)] * (n + len(rates)),
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert answer.status == 0, answer.message
    return -answer.fun + sum(member.negative_total for member in joint.members) / joint.total
