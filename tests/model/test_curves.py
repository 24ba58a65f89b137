from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.model.curves import linear_system, p_limits
from strategies import CONTINUOUS, FAMILIES, curves


def _dense(curve, n=20001):
    return np.linspace(curve.t0 - 0.2 * curve.width, curve.t1 + 0.2 * curve.width, n)


@given(curves(FAMILIES))
def test_odds_rise_from_0_to_1(curve):
    odds = curve(_dense(curve))
    assert odds.min() >= 0
    assert odds.max() <= 1
    assert (np.diff(odds) >= -1e-15).all()
    assert curve(curve.t0 - 1e-3 * curve.width) == 0
    assert curve(curve.t1) == 1


@given(curves())
def test_continuous_with_the_slope_it_states(curve):
    """No step between neighbouring scores is larger than L_R allows, and some step comes close to it."""
    r = _dense(curve)
    steps = np.diff(curve(r)) / np.diff(r)
    assert steps.max() <= curve.lipschitz * (1 + 1e-6)
    assert steps.max() >= curve.lipschitz * (1 - 1e-2)


@given(curves())
def test_slope_is_the_derivative(curve):
    r = _dense(curve, 501)
    h = 1e-6 * curve.width
    inside = np.abs(r[:, None] - curve.pieces.breaks).min(axis=1) > 2 * h
    central = (curve(r + h) - curve(r - h)) / (2 * h)
    assert np.abs(central - curve.slope(r))[inside].max() <= 1e-4 * curve.lipschitz
    # The knot is rounded to a float, and the slopes of the halves with it.
    rounding = np.spacing(np.abs(r).max()) / (min(curve.p, 1 - curve.p) * curve.width)
    assert curve.slope(r).max() <= curve.lipschitz * (1 + 1e-12 + 2 * rounding)


@given(curves(FAMILIES))
def test_area_is_p_times_the_width(curve):
    assert curve.area == pytest.approx(curve.p * curve.width)
    assert curve.pieces.integral(curve.t0, curve.t1) == pytest.approx(curve.area, rel=1e-9)


@given(curves())
def test_odds_are_p_at_the_knot(curve):
    if curve.family == "quartic":
        assert curve.knot is None
    else:
        assert curve.t0 <= curve.knot <= curve.t1
        assert curve(curve.knot) == pytest.approx(curve.p, abs=1e-9)


@given(curves(FAMILIES), st.floats(-1e3, 1e3))
def test_negative_orientation_is_the_mirror_image(curve, r):
    mirror = eo.Curve(curve.family, -curve.t0, -curve.t1, curve.p, orientation="negative")
    assert mirror.t0 > mirror.t1
    assert mirror(-r) == curve(r)
    assert mirror.slope(-r) == pytest.approx(float(curve.slope(r)))
    assert mirror.lipschitz == curve.lipschitz
    assert mirror(mirror.t1) == 1


@pytest.mark.parametrize(
    ("family", "p"),
    [
        (family, p)
        for family in CONTINUOUS
        for p in np.arange(0.05, 0.96, 0.05).round(2)
        if p_limits(family)[0] <= p <= p_limits(family)[1]
    ],
)
def test_closed_forms_solve_the_stated_constraints(family, p):
    """The systems are built from the constraints alone; where they are regular, their solution is our curve."""
    curve = eo.Curve(family, 0, 1, p)
    matrix, right = linear_system(family, p)
    if family == "cubic" and p == 0.5:
        # Singular: the area says (1 - 2p) * slope at the knot = 0, which is nothing at p = 1/2.
        assert np.linalg.matrix_rank(matrix) == len(right) - 1
        assert matrix @ _cubic(p) == pytest.approx(right, abs=1e-12)
        return
    unknowns = np.linalg.solve(matrix, right)
    x = np.linspace(0, 1, 101)
    if family == "quartic":
        solved = np.polynomial.polynomial.polyval(x, unknowns)
    else:
        lower, upper = np.split(unknowns, 2)
        solved = np.where(
            x < 1 - p, np.polynomial.polynomial.polyval(x, lower), np.polynomial.polynomial.polyval(x, upper)
        )
    assert curve(x) == pytest.approx(solved, abs=1e-9)


def _cubic(p):
    """The cubic's coefficients as the paper prints them, its misprints corrected."""
    return np.array(
        [
            0,
            0,
            3 * p / (1 - p) ** 2,
            2 * p / (p - 1) ** 3,
            (p**3 + 3 * p**2 - 5 * p + 2) / p**3,
            -6 * (p**2 - 2 * p + 1) / p**3,
            3 * (p**2 - 3 * p + 2) / p**3,
            2 * (p - 1) / p**3,
        ]
    )


@pytest.mark.parametrize("p", [0.1, 0.37, 0.5, 0.8])
def test_the_corrected_cubic_of_the_paper_is_ours(p):
    lower, upper = np.split(_cubic(p), 2)
    x = np.linspace(0, 1, 50)
    printed = np.where(
        x < 1 - p, np.polynomial.polynomial.polyval(x, lower), np.polynomial.polynomial.polyval(x, upper)
    )
    assert eo.Curve("cubic", 0, 1, p)(x) == pytest.approx(printed, abs=1e-9)


@pytest.mark.parametrize("p", [0.39, 0.61])
def test_the_quartic_falls_somewhere_beyond_its_limits(p):
    x = np.linspace(0, 1, 10001)
    psi = (30 * p - 12) * x**2 + (28 - 60 * p) * x**3 + (30 * p - 15) * x**4
    assert np.diff(psi).min() < 0
    with pytest.raises(eo.OptionError, match=r"p=0\.\d+ is not allowed for a quartic curve. Allowed: from 0.4 to 0.6"):
        eo.Curve("quartic", 0, 1, p)


def test_a_single_threshold():
    for family in FAMILIES:
        curve = eo.Curve(family, 30, 30, 0)
        assert curve([29.999, 30]).tolist() == [0, 1]
        assert curve.lipschitz == np.inf
        assert curve.area == 0
        assert curve.knot is None
        assert curve.is_threshold
        down = eo.Curve(family, 30, 30, 0, orientation="negative")
        assert down([30.001, 30]).tolist() == [0, 1]


def test_constant_odds():
    for family in FAMILIES:
        curve = eo.Curve(family, -np.inf, np.inf, 0.3)
        assert curve([-1e9, 0, 1e9]).tolist() == [0.3, 0.3, 0.3]
        assert curve.lipschitz == 0
        assert curve.odds_range((0, 1)) == [(0.3, 0.3)]


def test_people_exactly_at_t0():
    curve = eo.Curve("fixed", 10, 20, 0.6, 0.25)
    assert curve([9.99, 10, np.nextafter(10, 11), 19.99, 20]).tolist() == [0, 0.25, 0.6, 0.6, 1]
    assert curve.odds_range((0, 100)) == [(0, 0), (0.25, 0.25), (0.6, 0.6), (1, 1)]
    down = eo.Curve("fixed", -10, -20, 0.6, 0.25, orientation="negative")
    assert down([-9.99, -10, -10.01, -20]).tolist() == [0, 0.25, 0.6, 1]


def test_thresholds_beyond_the_scores_randomise_a_crisp_scorer():
    curve = eo.Curve("linear", -1, 3, 0.5)
    assert curve([0, 1]).tolist() == [0.25, 0.5]
    assert curve.odds_range((0, 1)) == [(0.25, 0.5)]


def test_odds_range_of_a_threshold_at_the_end_of_the_scores():
    assert eo.Curve("linear", 10, 10, 0).odds_range((0, 10)) == [(0, 0), (1, 1)]
    assert eo.Curve("linear", 0, 0, 0).odds_range((0, 10)) == [(1, 1)]
    assert eo.Curve("linear", 0, 0, 0, orientation="negative").odds_range((0, 10)) == [(0, 0), (1, 1)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("linaer", 0, 1, 0.5), r"family='linaer' is not known.*did you mean 'linear'\?"),
        (("linear", 2, 1, 0.5), r"must satisfy t0 <= t1, got t0=2 and t1=1"),
        (("linear", 0, 1, 0.0), r"p=0 is not allowed for a linear curve. Allowed: above 0 and below 1"),
        (("fixed", 0, 1, 1.5), r"p=1.5 is not allowed for a fixed curve. Allowed: from 0 to 1"),
        (("linear", np.nan, 1, 0.5), r"t0 must be a number, got nan"),
        (("linear", None, 1, 0.5), r"t0 must be a number, got None"),
        (("linear", "0", 1, 0.5), r"t0 must be a number, got '0'"),
        (("linear", -1e308, 1e308, 0.5), r"too far apart for floating-point numbers"),
        (("fixed", 3, 3, 0.5, 0.2), r"at_t0=0.2 is not allowed"),
        (("optimal", 0, 1, 0.5), r"An optimal curve has nodes, and no other curve has"),
        (("linear", -np.inf, 1, 0.5), r"must be finite, or -inf and inf for constant odds; got -inf and 1"),
        (("linear", 0, 1, 0.5, 0.2), r"at_t0=0.2 is not allowed: only a fixed curve has it"),
        (("fixed", 0, 1, 0.5, 0.7), r"at_t0=0.7 is not allowed.*between 0 and p=0.5"),
    ],
)
def test_bad_parameters(arguments, message):
    with pytest.raises(eo.OptionError, match=message):
        eo.Curve(*arguments)


def test_thresholds_the_wrong_way_round_for_negative_orientation():
    with pytest.raises(eo.OptionError, match=r"t0 >= t1 \(negative orientation\)"):
        eo.Curve("linear", 1, 2, 0.5, orientation="negative")


@given(curves())
def test_infinite_scores_have_certain_odds(curve):
    assert curve([-np.inf, np.inf]).tolist() == [0, 1]


def test_straight_lines_through_nodes():
    curve = eo.Curve.through([1, 2, 4, 5], [0.1, 0.2, 0.2, 0.9])
    assert curve([0, 1, 1.5, 3, 4.5, 9]) == pytest.approx([0.1, 0.1, 0.15, 0.2, 0.55, 0.9])
    assert curve.lipschitz == pytest.approx(0.7)
    down = eo.Curve.through([-1, -2, -4, -5], [0.1, 0.2, 0.2, 0.9], orientation="negative")
    assert down([0, -1, -1.5, -3, -4.5, -9]) == pytest.approx([0.1, 0.1, 0.15, 0.2, 0.55, 0.9])
    assert (down.t0, down.t1, down.lipschitz) == pytest.approx((-1, -5, 0.7))
    assert curve.odds_range((0, 9)) == [pytest.approx((0.1, 0.9))]
    assert eo.Curve.through([1, 2], [0.3, 0.3])([0, 5]).tolist() == [0.3, 0.3]


def test_curves_are_values():
    assert eo.Curve("linear", 0, 1, 0.5) == eo.Curve("linear", 0.0, 1.0, 0.5)
    assert len({eo.Curve("linear", 0, 1, 0.5), eo.Curve("linear", 0, 1, 0.5)}) == 1
