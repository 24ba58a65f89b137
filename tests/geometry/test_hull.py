from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.spatial import ConvexHull

from evenodds.geometry.hull import concave_hull
from strategies import joints


@given(joints(max_groups=1))
def test_hull_agrees_with_qhull(joint):
    roc = joint.members[0].roc
    x, y = roc.hull
    corners = np.column_stack([np.append(roc.fpr, 1.0), np.append(roc.tpr, 0.0)])
    area = ConvexHull(corners).volume
    assert np.isclose(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2), area, atol=1e-12)
    slopes = np.diff(y)[1:] * np.diff(x)[:-1] - np.diff(y)[:-1] * np.diff(x)[1:]
    assert (slopes < 1e-12).all()


def _chain(x, y):
    """Andrew's monotone chain, upper half."""
    kept = []
    for i in range(x.size):
        while len(kept) > 1:
            o, a = kept[-2:]
            if (x[a] - x[o]) * (y[i] - y[o]) < (y[a] - y[o]) * (x[i] - x[o]):
                break
            kept.pop()
        kept.append(i)
    return np.array(kept)


@pytest.mark.parametrize("n", [300, 5000])
def test_hulls_of_many_points_agree_with_a_chain(n):
    rng = np.random.default_rng(n)
    steps = rng.integers(0, 3, (2, n)) if n == 5000 else rng.random((2, n))  # with and without equal points
    x, y = np.append(np.zeros((2, 1)), np.cumsum(steps, axis=1) / steps.sum(axis=1, keepdims=True), axis=1)
    y = np.sqrt(y)
    found, chain = concave_hull(x, y), _chain(x, y)
    assert np.array_equal(x[found], x[chain])
    assert np.array_equal(y[found], y[chain])
