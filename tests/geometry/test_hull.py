from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial import ConvexHull

from evenodds.geometry.hull import concave_hull
from evenodds.model.roc import roc_of
from strategies import joints


@given(joints(max_groups=1))
def test_hull_agrees_with_qhull(joint):
    roc = roc_of(joint.members[0])
    x, y = roc.hull
    corners = np.column_stack([np.append(roc.fpr, 1.0), np.append(roc.tpr, 0.0)])
    area = ConvexHull(corners).volume
    assert np.isclose(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2), area, atol=1e-12)
    slopes = np.diff(y)[1:] * np.diff(x)[:-1] - np.diff(y)[:-1] * np.diff(x)[1:]
    assert (slopes < 1e-12).all()


@pytest.mark.parametrize("n", [300, 5000, 40_000])
def test_hulls_of_many_points_agree_with_the_chain_alone(n, monkeypatch):
    rng = np.random.default_rng(n)
    steps = rng.integers(0, 3, (2, n)) if n == 5000 else rng.random((2, n))  # with and without equal points
    x, y = np.append(np.zeros((2, 1)), np.cumsum(steps, axis=1) / steps.sum(axis=1, keepdims=True), axis=1)
    y = np.sqrt(y)
    quick = concave_hull(x, y)
    monkeypatch.setattr("evenodds.geometry.hull._FEW", n + 1)
    chain = concave_hull(x, y)
    assert np.array_equal(x[quick], x[chain])
    assert np.array_equal(y[quick], y[chain])
