from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds.geometry.pieces import Pieces
from evenodds.geometry.piecewise import PiecewiseStack
from shapes import curves, mixes, places


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


def test_what_only_one_of_two_changes_keeps_its_own_variable():
    ramp = Pieces.joined([2, 4], origin=[0, 2, 0], scale=[1, 2, 1], coefficients=[[0, 0], [0, 1], [1, 0]])
    step = Pieces.joined([3.0], origin=[0, 0], scale=[1, 1], coefficients=[[0], [1]])
    blended = ramp.blended(step, 0.25)
    assert blended.breaks.tolist() == [2, 3, 4]
    assert blended.origin.tolist() == [0, 2, 2, 0]
    assert blended.coefficients.tolist() == [[0, 0], [0, 0.25], [0.75, 0.25], [1, 0]]
    assert blended([1, 2.5, 3, 3.5, 9]).tolist() == [0, 0.0625, 0.875, 0.9375, 1]


def test_two_that_change_are_counted_from_the_nearer_certainty():
    ramps = [
        Pieces.joined([lo, hi], origin=[0, lo, 0], scale=[1, hi - lo, 1], coefficients=[[0, 0], [0, 1], [1, 0]])
        for lo, hi in ((0.0, 8.0), (0.0, 4.0), (4.0, 8.0))
    ]
    low, high = ramps[0].blended(ramps[1], 0.5), ramps[0].blended(ramps[2], 0.5)
    assert (low.origin[1], low.scale[1], low.coefficients[1].tolist()) == (0, 4, [0, 0.75])
    assert (high.origin[2], high.scale[2], high.coefficients[2].tolist()) == (8, -4, [1, -0.75])


def test_breaks_nearer_than_floats_can_tell_do_no_harm():
    tiny = [Pieces.joined([at, 1], origin=[0, at, 0], scale=[1, 1, 1], coefficients=[[0, 0], [0, 1], [1, 0]])
            for at in (0.0, 5e-324)]  # fmt: skip
    blended = tiny[0].blended(tiny[1], 0.5)
    assert blended([0, 5e-324, 0.25, 2]).tolist() == [0, 0, 0.25, 1]


@given(st.lists(mixes(jumps=True), min_size=1, max_size=4))
def test_a_bundle_of_mixes_has_the_bits_of_each(found):
    members = [curve.pieces for curve in found]
    assert max(pieces.lo.size for pieces in members) <= 7
    at = np.concatenate([places(curve, 7) for curve in found])
    which = np.arange(at.size) % len(members)
    expected = np.array([members[i](r) for i, r in zip(which, at, strict=True)])
    assert np.array_equal(PiecewiseStack(members).values(at, which), expected)


@given(mixes(jumps=True))
def test_moving_on_to_moments_keeps_local_variables_small(mix):
    """Every piece is evaluated within the unit of its variable, or is constant."""
    pieces = mix.pieces
    for lo, hi, origin, scale, coefficients in zip(
        pieces.lo, pieces.hi, pieces.origin, pieces.scale, pieces.coefficients, strict=True
    ):
        if coefficients[1:].any():
            assert max(abs(lo - origin), abs(hi - origin)) <= abs(scale) * (1 + 1e-12)
