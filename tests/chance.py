"""Who is left to chance, by programs written independently of the package: brute force, and a mixed-integer program."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

import evenodds as eo
from oracles import constrained, goal_of


def few_scores(seed: int, people: int = 40, groups: int | None = None) -> eo.JointDistribution:
    """2 to 4 groups of so many people, with ties and ROCs full of dents; some with weights or far from 0."""
    rng = np.random.default_rng(seed)
    count = groups or 2 + seed % 3
    group = np.repeat(np.arange(count), people)
    label = (rng.random(group.size) < 0.45).astype(int)
    for g in range(count):
        label[np.flatnonzero(group == g)[:2]] = 0, 1
    score = np.round(2 * (rng.normal(0, 1, group.size) + 1.2 * label + 0.3 * group)) / 2
    score = score + (1e6 if seed % 7 == 3 else 0)
    weight = rng.uniform(0.5, 2, group.size) if seed % 4 == 1 else None
    orientation = "negative" if seed % 5 == 2 else "positive"
    own = -score if orientation == "negative" else score
    return eo.JointDistribution.from_arrays(
        own, [f"g{g}" for g in group], label, weight=weight, orientation=orientation
    )


def best_of_all_thresholds(joint: eo.JointDistribution, constraint: str, tolerance: float, objective) -> float:
    """The best objective, as it is reported, over every choice of a threshold for each group."""
    goal, uphill = _uphill(joint, objective)
    rows = constrained(joint, constraint)
    curves = [np.stack([np.append(0, np.cumsum(side[::-1])) for side in m.class_conditional]) for m in joint.members]
    gains = [weights @ points for weights, points in zip(uphill * goal.by_rate, curves, strict=True)]
    rates = [np.stack([row[i] @ points for row in rows]) for i, points in enumerate(curves)]
    best = -np.inf
    for choice in itertools.product(*(range(points.shape[1]) for points in curves)):
        apart = np.ptp([own[:, i] for own, i in zip(rates, choice, strict=True)], axis=0).max()
        if apart <= tolerance + 1e-12:
            best = max(best, sum(own[i] for own, i in zip(gains, choice, strict=True)))
    return goal.constant + uphill * best


def _uphill(joint, objective):
    goal = goal_of(joint, objective)
    return goal, -1.0 if goal.smaller_is_better else 1.0


def best_with_few(  # noqa: C901 rule after rule
    joint: eo.JointDistribution,
    constraint: str,
    tolerance: float,
    objective,
    *,
    everybody: float | None = None,
    by_group: float | None = None,
    selection_rate: float | None = None,
) -> float | None:
    """The best objective with few people decided by chance, by HiGHS: whether odds are 0, 1 or neither are binaries.

    These are then fixed, and the linear program that is left is solved again. None where nothing is allowed. The
    distance from (0, 1) is that of the best of 400 directions, so that it is too short by 1e-5 of it at most.
    """
    goal, uphill = _uphill(joint, objective)
    rows = constrained(joint, constraint)
    sizes = [member.scores.size for member in joint.members]
    start = np.append(0, np.cumsum(sizes))
    n = int(start[-1])
    width = 3 * n + len(rows) + 1  # odds, whether these are 0, whether these are 1, the greatest of each rate, distance
    people = np.concatenate([member.negatives + member.positives for member in joint.members]) / joint.total
    matrix, low, high, gain = [], [], [], np.zeros(width)

    def add(columns, values, least, most):
        row = np.zeros(width)
        row[columns] = values
        matrix.append(row)
        low.append(least)
        high.append(most)

    def at_most(share, own):
        certain = np.concatenate([n + own, 2 * n + own])
        add(certain, -np.tile(people[own], 2), -np.inf, (share - 1) * people[own].sum() + 1e-13)

    for g, member in enumerate(joint.members):
        own = np.arange(start[g], start[g + 1])
        gain[own] = uphill * goal.by_rate[g] @ member.class_conditional
        for k, row in enumerate(rows):
            add(np.append(own, 3 * n + k), np.append(row[g] @ member.class_conditional, -1.0), -tolerance, 0.0)
        for i in own[:-1]:
            add([i, i + 1], [-1.0, 1.0], 0.0, np.inf)
        if by_group is not None:
            at_most(by_group, own)
    for i in range(n):
        add([i, n + i], [1.0, 1.0], -np.inf, 1.0)
        add([i, 2 * n + i], [1.0, -1.0], 0.0, np.inf)
    if everybody is not None:
        at_most(everybody, np.arange(n))
    if selection_rate is not None:
        add(np.arange(n), people, selection_rate, selection_rate)
    if goal.is_distance:
        gain[-1] = -1.0
        for angle in np.linspace(0, np.pi / 2, 400):
            add([3 * n, 3 * n + 1, width - 1], [-np.cos(angle), np.sin(angle), 1.0], np.sin(angle), np.inf)
    rules = LinearConstraint(np.array(matrix), low, high)
    binary = np.zeros(width)
    binary[n : 3 * n] = 1
    found = milp(-gain, constraints=rules, integrality=binary, bounds=Bounds(0, 1), options={"mip_rel_gap": 0.0})
    if found.x is None:
        return None
    lo, hi = np.zeros(width), np.ones(width)
    lo[n : 3 * n] = hi[n : 3 * n] = np.round(found.x[n : 3 * n])
    again = milp(-gain, constraints=rules, bounds=Bounds(lo, hi))
    return goal.constant - uphill * (found if again.x is None else again).fun
