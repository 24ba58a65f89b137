from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds.geometry.envelope import best_below
from evenodds.geometry.hull import height
from strategies import joints


def _lowest_everywhere(polylines, at):
    return np.min([height(x, y, at) for x, y in polylines], axis=0)


@given(joints(min_groups=1, max_groups=4), st.floats(0.01, 1), st.floats(0.01, 1))
def test_no_point_of_a_dense_grid_is_better(joint, by_x, by_y):
    polylines = [member.roc.hull for member in joint.members]
    x, y = best_below(polylines, lambda x, y: by_y * y - by_x * x)
    assert y == pytest.approx(float(_lowest_everywhere(polylines, np.array([x]))[0]), abs=1e-12)
    at = np.unique(np.concatenate([np.linspace(0, 1, 2001), *(p[0] for p in polylines)]))
    assert by_y * y - by_x * x >= (by_y * _lowest_everywhere(polylines, at) - by_x * at).max() - 1e-12


@given(joints(min_groups=1, max_groups=4))
def test_nearest_to_perfect(joint):
    polylines = [member.roc.hull for member in joint.members]
    x, y = best_below(polylines, lambda x, y: -np.hypot(x, 1 - y), (0.0, 1.0))
    at = np.unique(np.concatenate([np.linspace(0, 1, 5001), *(p[0] for p in polylines)]))
    assert np.hypot(x, 1 - y) <= np.hypot(at, 1 - _lowest_everywhere(polylines, at)).min() + 1e-9


def test_many_vertices():
    rng = np.random.default_rng(0)
    polylines = []
    for _ in range(5):
        x = np.append(0, np.cumsum(rng.random(50_000)))
        x /= x[-1]
        polylines.append((x, x ** rng.uniform(0.2, 0.4)))
    x, y = best_below(polylines, lambda x, y: y - x)
    at = np.unique(np.concatenate([p[0] for p in polylines]))
    assert y - x >= (_lowest_everywhere(polylines, at) - at).max() - 1e-12


@given(joints(min_groups=2, max_groups=4), st.floats(0.01, 1), st.integers(1, 40))
def test_vertices_that_differ_by_rounding_hide_no_crossing(joint, by_x, ulps):
    exact = [member.roc.hull for member in joint.members]
    doubled = [tuple(np.repeat(z, 2) + [0, ulps * 1e-17] * z.size for z in line) for line in exact]
    one, two = (best_below(lines, lambda x, y: y - by_x * x) for lines in (exact, doubled))
    assert two[1] - by_x * two[0] == pytest.approx(one[1] - by_x * one[0], abs=1e-12)


@given(st.floats(1e-15, 1e-6), st.floats(0.1, 0.9), st.floats(0.05, 0.95))
def test_a_crossing_of_upright_lines_is_above_neither(run, rise, share):
    """One of two lines that cross far to the left is almost upright: an ulp of x is worth more than that of y."""
    upright = np.array([0.0, run, 1.0]), np.array([0.0, rise, 1.0])
    level = np.array([0.0, 0.0, 1.0]), np.array([0.0, share * rise, 1.0])
    x, y = best_below([upright, level], lambda x, y: y - x)
    assert y <= min(float(height(*line, x)) for line in (upright, level))
