from __future__ import annotations

import numpy as np
from hypothesis import given
from scipy.spatial import ConvexHull

from evenodds.geometry.hull import height
from evenodds.model.regions import common_region, roc_of
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


@given(joints(min_groups=2))
def test_the_common_region_is_the_lowest_hull_everywhere(joint):
    x, y = common_region(joint)
    at = np.linspace(0, 1, 101)
    lowest = np.min([height(*roc_of(member).hull, at) for member in joint.members], axis=0)
    assert np.abs(height(x, y, at) - lowest).max() < 1e-12
