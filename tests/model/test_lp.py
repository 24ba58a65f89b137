from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import evenodds as eo
from evenodds.model.goals import constraint_of, objective_of
from evenodds.model.lp import best_mixed


def nearest_by_descent(corners, start):
    """The distance from (0, 1) of the nearest point that is a mix of every group's corners, by another's solver."""
    sizes = np.cumsum([0, *(len(own) for own in corners)])

    def point_of(weights, i):
        return weights[sizes[i] : sizes[i + 1]] @ corners[i]

    same = [
        {"type": "eq", "fun": lambda w, i=i: point_of(w, i) - point_of(w, 0)} for i in range(1, len(corners))
    ]  # fmt: skip
    shares = [{"type": "eq", "fun": lambda w, i=i: w[sizes[i] : sizes[i + 1]].sum() - 1} for i in range(len(corners))]
    done = minimize(
        lambda w: ((point_of(w, 0) - [0, 1]) ** 2).sum(),
        start,
        bounds=[(0, 1)] * sizes[-1],
        constraints=[*same, *shares],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert done.success
    return float(np.sqrt(done.fun))


@given(st.integers(0, 10_000), st.integers(1, 3))
def test_the_nearest_mix_to_a_perfect_score(seed, groups):
    rng = np.random.default_rng(seed)
    corners = [rng.random((int(rng.integers(3, 7)), 2)) for _ in range(groups)]
    for own in corners:
        own[0] = 0.5  # a point that all have
    people = eo.JointDistribution.from_arrays(
        np.tile([1.0, 2.0], 4 * groups), np.repeat(list("abc")[:groups], 8), np.tile([0, 1, 1, 0], 2 * groups)
    )
    goal = objective_of("closest_to_perfect", people)
    found = best_mixed(people, [tuple(own.T) for own in corners], goal, constraint_of("equalized_odds", 0.0))
    assert len({(point.fpr, point.tpr) for point in found}) == 1
    start = np.concatenate([np.eye(len(own))[0] for own in corners])
    distance = float(np.hypot(found[0].fpr, 1 - found[0].tpr))
    assert distance == pytest.approx(nearest_by_descent(corners, start), abs=1e-6)
