from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds.geometry.pieces import Pieces
from strategies import curves


@given(curves(), st.floats(-10, 10), st.floats(0, 10))
def test_integral_agrees_with_quadrature(curve, start, length):
    stop = start + length
    nodes, weights = np.polynomial.legendre.leggauss(5)
    cuts = np.unique(np.clip([start, *curve.pieces.breaks, stop], start, stop))
    total = sum((b - a) / 2 * weights @ curve(a + (b - a) * (nodes + 1) / 2) for a, b in pairwise(cuts))
    assert curve.pieces.integral(start, stop) == pytest.approx(total, abs=1e-9)


@given(curves(), st.lists(st.floats(-1e3, 1e3), min_size=1))
def test_mirrored_is_the_function_of_minus_r(curve, at):
    r = np.array(at)
    mirrored = curve.pieces.mirrored()
    assert np.array_equal(mirrored(-r), curve(r))
    assert mirrored.closed == "right"
    twice = mirrored.mirrored()
    assert np.array_equal(twice(r), curve(r))


def test_the_closed_end_decides_at_a_jump():
    left = Pieces.joined([0.0], origin=[0, 0], scale=[1, 1], coefficients=[[0], [1]])
    right = Pieces.joined([0.0], origin=[0, 0], scale=[1, 1], coefficients=[[0], [1]], closed="right")
    assert left(0.0) == 1
    assert right(0.0) == 0


@given(curves(), st.floats(-1e3, 1e3))
def test_times_affine(curve, r):
    product = curve.pieces.times_affine(2.0, -0.5)
    assert product(r) == pytest.approx(float(curve(r)) * (2 - 0.5 * r), abs=1e-9)


def test_the_derivative_of_constants_is_zero():
    steps = Pieces.joined([0.0], origin=[0, 0], scale=[1, 1], coefficients=[[0], [1]])
    assert np.array_equal(steps.derivative()([-1, 0, 1]), np.zeros(3))
