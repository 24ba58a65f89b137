from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds.geometry.roots import bracketed_root, bracketed_roots


@given(st.lists(st.floats(0.01, 0.99), min_size=1, max_size=20), st.integers(1, 9))
def test_finds_the_roots_of_monotone_functions(roots, power):
    root = np.array(roots)
    _, found = bracketed_roots(
        lambda x, i: root[i] ** power - x**power,
        np.zeros(root.size),
        np.ones(root.size),
        root**power,
        root**power - 1,
        tolerance=np.zeros(root.size),
    )
    assert found == pytest.approx(root, abs=1e-12)


def test_keeps_to_the_left_end_of_a_flat_stretch():
    """Positive before 1, zero from 1 to 2, negative after: the root is where it first is not positive."""
    ends = np.array([0.0]), np.array([3.0]), np.array([1.0]), np.array([-1.0])
    above, below = bracketed_roots(
        lambda x, _: np.clip(1 - x, 0, None) - np.clip(x - 2, 0, None), *ends, tolerance=np.zeros(1)
    )
    assert 1 <= below[0] <= 2
    assert above[0] <= 1


@pytest.mark.parametrize("jump", [1e-300, 0.1, np.nextafter(1, 0)])
def test_a_jump_is_bracketed_to_neighbouring_floats(jump):
    above, below = bracketed_roots(
        lambda x, _: np.where(x < jump, 1.0, -1.0),
        np.zeros(1),
        np.ones(1),
        np.ones(1),
        -np.ones(1),
        tolerance=np.zeros(1),
    )
    assert above[0] < jump <= below[0]
    assert below[0] - above[0] <= 2 * np.spacing(1.0)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.sampled_from([1.0, 0.5, 1e-300, 0.0, -1e-9, -1.0, -1e300])), max_size=6),
    st.sampled_from([0.0, 1e-6]),
)
def test_one_function_as_well_as_many_whatever_its_steps(steps, tolerance):
    """Staircases with level and with huge steps: where values are equal nothing may be divided by."""
    falling = sorted(value for _, value in steps)[::-1]
    places = sorted(place for place, _ in steps)

    def function(x):
        return next((v for at, v in zip(places[::-1], falling[::-1], strict=True) if x >= at), 1.0) if x < 1 else -1.0

    above, below = bracketed_root(function, (-1.0, 1.0), (2.0, -1.0), tolerance)
    assert function(above) > 0 >= function(below)
    assert abs(below - above) <= max(tolerance, 1e-15) or function(below) == 0
    many = bracketed_roots(
        lambda x, _: np.array([function(float(x[0]))]),
        *(np.array([end]) for end in (-1.0, 2.0, 1.0, -1.0)),
        tolerance=np.array([tolerance]),
    )
    assert function(float(many[0][0])) > 0 >= function(float(many[1][0]))
