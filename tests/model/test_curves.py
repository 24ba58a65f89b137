from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.model.families import family_of
from shapes import CONTINUOUS, curves, mirrored, mixes, places
from shapes import PUBLISHED as FAMILIES


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
        if family_of(family).p_limits[0] <= p <= family_of(family).p_limits[1]
    ],
)
def test_closed_forms_solve_the_stated_constraints(family, p):
    """The systems are built from the constraints alone; where they are regular, their solution is our curve."""
    curve = eo.Curve(family, 0, 1, p)
    matrix, right = family_of(family).linear_system(p)
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


# -- nodes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1e-250, 1e-9, 1.0, 1e9, 1e18, 1e21, 1e25, 1e290])
def test_lines_bend_whatever_the_unit_of_the_score(step):
    curve = eo.Curve.through(step * np.arange(5), [0, 0.1, 0.2, 0.9, 1])
    assert [odds for _, odds in curve.nodes] == [0, 0.2, 0.9, 1]
    assert curve(1.5 * step) == pytest.approx(0.15)
    assert curve.lipschitz == pytest.approx(0.7 / step)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ((), r"at least one of each; got \(0,\) and \(0,\)"),
        (((0, 0),), r"must run from t0=0.0 to t1=1.0, got 1"),
        (((0, 0), (1, 2)), r"Odds must be from 0 to 1, got 2 at a score of 1"),
        (((0, -1), (1, 1)), r"Odds must be from 0 to 1, got -1 at a score of 0"),
        (((0, 0), (1, 1e308)), r"Odds must be from 0 to 1, got 1e\+308"),
        (((0, 0), (1, np.nan)), r"Odds must be from 0 to 1, got nan"),
        (((0, 0), (np.inf, 1)), r"scores of a curve must be finite, got inf"),
        (((0, 0), (0.5, 0.2), (0.5, 0.4), (1, 1)), r"must rise from one to the next, got 0.5 and then 0.5"),
        (((0, 0), (0.7, 0.2), (0.5, 0.4), (1, 1)), r"must rise from one to the next, got 0.7 and then 0.5"),
        (((0, 0), (0.5, 0.4), (0.7, 0.2), (1, 1)), r"Odds must not fall .*, got 0.4 and then 0.2"),
        (((0, 0), (0.5, 1)), r"must run from t0=0.0 to t1=1.0, got 2, from 0.0 to 0.5"),
        (((0, 0), (1, 0.5)), r"p=0.5 is not the mean odds between the nodes, which is 0.25"),
        ("ab", r"nodes='ab' is not allowed. Allowed: pairs of a score and its odds"),
        (7, r"nodes=7 is not allowed"),
        ([(0, 0, 0)], r"Allowed: pairs"),
        ((("0", 0), (1, 1)), r"scores of a curve must be numbers, got \['0', 1\]"),
        (((10**400, 0), (1, 1)), r"scores of a curve must be numbers"),
        ((([0, 1], 0), (1, 1)), r"scores of a curve must be numbers"),
    ],
    ids=str,
)
def test_nodes_that_make_no_curve(nodes, message):
    with pytest.raises(eo.OptionError, match=message):
        eo.Curve("optimal", 0, 1, 0.5, nodes=nodes)


def test_lines_through_what_is_no_curve():
    for scores, odds, message in [
        ([1, 2], [0.5], r"as many scores as odds, and at least one of each; got \(2,\) and \(1,\)"),
        ([], [], r"at least one of each"),
        ([2, 1], [0, 1], r"must rise"),
        ([1, 2], [1, 0], r"must not fall"),
        ([1, 2], [0, 1.1], r"from 0 to 1, got 1.1"),
        ([-1e308, 1e308], [0, 1], r"got -1e\+308 and then 1e\+308"),
    ]:
        with pytest.raises(eo.OptionError, match=message):
            eo.Curve.through(scores, odds)
    with pytest.raises(eo.OptionError, match=r"must fall \(negative orientation\)"):
        eo.Curve.through([1, 2], [0, 1], orientation="negative")
    with pytest.raises(eo.OptionError, match=r"orientation='up' is not known"):
        eo.Curve.through([1, 2], [0, 1], orientation="up")


def test_nodes_far_from_0_may_be_moved():
    curve = eo.Curve.through([0, 1 / 3, 0.5], [0, 0.5, 1]).moved(1e12)
    assert curve.nodes[0] == (1e12, 0.0)
    assert curve.t1 == 1e12 + 0.5


@pytest.mark.parametrize("value", [10**400, -(10**400), True, None, "1", 1j, [1]], ids=lambda v: str(v)[:8])
def test_no_number_is_told_as_ours(value):
    for name in ("t0", "t1", "p", "at_t0"):
        if value is None and name == "at_t0":
            continue
        for family in ("fixed", "linear", "optimal"):
            with pytest.raises(eo.OptionError, match=f"{name} (must be a number, got|is too large for)"):
                eo.Curve(**{"family": family, "t0": 0, "t1": 1, "p": 0.5} | {name: value})


# -- mixes -------------------------------------------------------------------------------------------------------------


def _sum(mix, r):
    return sum(share * part(r) for share, part in mix.parts)


def _rounding(mix):
    """The distance between floats beside the narrowest part of a mix."""
    widths = [part.width * min(part.p, 1 - part.p) for _, part in mix.parts if not part.is_threshold]
    return 4 * float(np.spacing(max(abs(mix.t0), abs(mix.t1)))) / min(widths, default=1.0)


@given(mixes(jumps=True))
def test_a_mix_is_the_sum_of_its_parts(mix):
    assume(mix.parts)
    r = places(mix)
    assert np.abs(mix(r) - _sum(mix, r)).max() <= 1e-15


@given(mixes(jumps=True))
def test_a_mix_rises_and_never_leaves_0_to_1(mix):
    r = places(mix)
    odds = mix(r) if mix.orientation == "positive" else mix(r)[::-1]
    assert (np.diff(odds) >= -1e-15).all()
    assert odds.min() == 0
    assert odds.max() == 1
    sign = 1 if mix.orientation == "positive" else -1
    assert mix(np.nextafter(mix.t0, -sign * np.inf)) == 0
    assert mix([mix.t1, np.nextafter(mix.t1, sign * np.inf), sign * np.inf]).tolist() == [1, 1, 1]


@given(mixes(("linear", "quadratic")))
def test_the_simple_families_rise_to_one_unit_in_the_last_place(mix):
    odds = mix(places(mix))
    assert (np.diff(odds if mix.orientation == "positive" else odds[::-1]) >= -np.spacing(1.0)).all()


@given(mixes(far=1e3))
def test_mixes_are_exact(mix):
    """Against the polynomials of its parts in rational numbers."""
    for r in places(mix, 5).tolist():
        exact = Fraction(0)
        for share, part in mix.parts or ((1.0, mix),):
            pieces = part.pieces
            i = int(np.searchsorted(pieces.breaks, r, side="right" if pieces.closed == "left" else "left"))
            u = (Fraction(r) - Fraction(float(pieces.origin[i]))) / Fraction(float(pieces.scale[i]))
            exact += Fraction(share) * sum(Fraction(c) * u**k for k, c in enumerate(pieces.coefficients[i].tolist()))
        assert abs(Fraction(float(mix(r))) - exact) <= Fraction(1, 10**15)


@given(mixes())
def test_the_slope_of_a_mix_is_that_of_its_parts(mix):
    assume(mix.parts)
    r = places(mix)
    slopes = sum(share * part.slope(r) for share, part in mix.parts)
    # At a break the pieces have slopes of their own, and the parts take different sides.
    inside = ~np.isin(r, mix.pieces.breaks)
    limit = sum(share * part.pieces.largest_slope() for share, part in mix.parts)
    assert np.abs(mix.slope(r) - slopes)[inside].max() <= 1e-12 * limit
    assert mix.lipschitz <= limit * (1 + 1e-12)
    assert mix.slope(r).max() <= mix.lipschitz * (1 + 1e-12)
    # The largest slope may be that just before a break, where no number is.
    assert mix.slope(r).max() >= mix.lipschitz * (1 - 1e-3 - _rounding(mix))


@given(curves())
def test_the_largest_slope_of_pieces_is_the_familys(curve):
    rounding = np.spacing(abs(curve.t0) + curve.width) / (min(curve.p, 1 - curve.p) * curve.width)
    assert curve.pieces.largest_slope() == pytest.approx(curve.lipschitz, rel=1e-12 + 2 * rounding)


@given(mixes(far=1e3, jumps=True))
def test_ends_mean_and_area_of_a_mix(mix):
    assume(mix.parts)
    lo, hi = sorted((mix.t0, mix.t1))
    assert (lo, hi) == (mix.pieces.breaks[0], mix.pieces.breaks[-1])
    assert mix.width == hi - lo
    # Knots are rounded to floats, and the area of the pieces with them.
    assert mix.p == pytest.approx(mix.pieces.integral(lo, hi) / (hi - lo), abs=1e-9 + _rounding(mix))
    assert mix.area == pytest.approx(mix.p * mix.width)
    assert mix.knot is None
    assert not mix.is_threshold
    assert not mix.is_constant
    assert np.isinf(mix.lipschitz) == any(part.is_threshold for _, part in mix.parts)
    assert mix.parts[1][0] == 1 - mix.parts[0][0]
    assert {part.family for _, part in mix.parts} == {mix.family}


@given(mixes(jumps=True), st.floats(-1e6, 1e6))
def test_a_mix_in_the_mirror_and_moved(mix, by):
    r = places(mix, 20)
    if mix.orientation == "positive":
        mirror = mirrored(mix)
        assert np.array_equal(mirror(-r), mix(r))
        assert mirror.lipschitz == mix.lipschitz
        assert (mirror.t0, mirror.t1, mirror.p) == (-mix.t0, -mix.t1, mix.p)
    moved = mix.moved(by)
    assert moved.orientation == mix.orientation
    if moved.parts and mix.parts:
        assert {part for _, part in moved.parts} == {part.moved(by) for _, part in mix.parts}


def test_mixes_are_values_too():
    mix = eo.Curve.mixed(((0.25, eo.Curve("cubic", 0, 1, 0.5)), (0.75, eo.Curve("cubic", 2, 3, 0.4))))
    turned = eo.Curve.mixed([(0.75, eo.Curve("cubic", 2, 3, 0.4)), (0.25, eo.Curve("cubic", 0, 1, 0.5))])
    assert mix == turned
    assert len({mix, turned}) == 1
    assert pickle.loads(pickle.dumps(mix)) == mix  # noqa: S301 our own bytes
    assert mix != eo.Curve("cubic", mix.t0, mix.t1, mix.p)
    assert eo.Curve("cubic", mix.t0, mix.t1, mix.p, parts=mix.parts) == mix
    assert eo.Curve("linear", 0, 1, 0.5).parts == ()


def test_mixes_of_one_curve_are_that_curve():
    one, other = eo.Curve("linear", 0, 1, 0.5), eo.Curve("linear", 2, 3, 0.5)
    assert eo.Curve.mixed([(1, one), (0, other)]) == one
    assert eo.Curve.mixed([(5e-16, one), (1, other)]) == other
    assert eo.Curve.mixed([(0.3, one), (0.7, one)]) == one
    cuts = [eo.Curve("linear", 2, 2, p) for p in (0, 0.5)]
    assert eo.Curve.mixed([(0.3, cuts[0]), (0.7, cuts[1])]).is_threshold
    assert eo.Curve.mixed([(0.3, one), (0.7, other)]).moved(1e20).is_threshold


def test_two_thresholds_jump_twice():
    mix = eo.Curve.mixed([(0.25, eo.Curve("linear", 1, 1, 0)), (0.75, eo.Curve("linear", 3, 3, 0))])
    assert mix([0, 1, 2, 3, 4]).tolist() == [0, 0.25, 0.25, 1, 1]
    assert (mix.p, mix.lipschitz, mix.width) == (0.25, np.inf, 2)
    assert mix.odds_range((0, 9)) == [(0, 0), (0.25, 0.25), (1, 1)]
    assert mix.odds_range((2, 9)) == [(0.25, 0.25), (1, 1)]
    half = eo.Curve.mixed([(0.25, eo.Curve("linear", 1, 1, 0)), (0.75, eo.Curve("linear", 3, 5, 0.5))])
    assert half.odds_range((0, 9)) == [(0, 0), (0.25, 1)]
    assert half.odds_range((0, 4)) == [(0, 0), (0.25, 0.625)]
    down = mirrored(half)
    assert down.odds_range((-4, 0)) == [(0, 0), (0.25, 0.625)]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (7, r"parts=7 is not allowed. Allowed: two pairs of a share and a curve. Hint: Curve.mixed"),
        ([], r"Allowed: two pairs"),
        ([(1, "one")], r"Allowed: two pairs"),
        ([(0.5, eo.Curve("linear", 0, 1, 0.5))], r"Allowed: two pairs"),
        ([(0.5, eo.Curve("linear", 0, 1, 0.5)), (0.5, "two")], r"Allowed: two pairs"),
        ([(0.5, eo.Curve("linear", 0, 1, 0.5))] * 3, r"Allowed: two pairs"),
        ([(0.5, eo.Curve("linear", 0, 1, 0.5)), (0.4, eo.Curve("linear", 2, 3, 0.5))], r"got 0.5 and 0.4"),
        ([(1.5, eo.Curve("linear", 0, 1, 0.5)), (-0.5, eo.Curve("linear", 2, 3, 0.5))], r"from 0 to 1.* -0.5"),
        ([(np.nan, eo.Curve("linear", 0, 1, 0.5)), (0.5, eo.Curve("linear", 2, 3, 0.5))], r"must be a number, got nan"),
        ([("x", eo.Curve("linear", 0, 1, 0.5)), (0.5, eo.Curve("linear", 2, 3, 0.5))], r"must be a number, got 'x'"),
        (
            [(0.5, eo.Curve("linear", 0, 1, 0.5)), (0.5, eo.Curve("cubic", 2, 3, 0.5))],
            r"of one family and orientation, got linear \(positive\) and cubic \(positive\)",
        ),
        (
            [(0.5, eo.Curve("linear", 0, 1, 0.5)), (0.5, eo.Curve("linear", 3, 2, 0.5, orientation="negative"))],
            r"got linear \(positive\) and linear \(negative\)",
        ),
        ([(0.5, eo.Curve("fixed", 0, 1, 0.5)), (0.5, eo.Curve("fixed", 2, 3, 0.5))], r"got fixed"),
        ([(0.5, eo.Curve.through([0, 1], [0, 1])), (0.5, eo.Curve.through([1, 2], [0, 1]))], r"got optimal"),
        ([(0.5, eo.Curve("linear", -np.inf, np.inf, 0.5)), (0.5, eo.Curve("linear", 2, 3, 0.5))], r"got constant"),
        (
            [
                (0.5, eo.Curve.mixed([(0.5, eo.Curve("linear", 0, 1, 0.5)), (0.5, eo.Curve("linear", 2, 3, 0.5))])),
                (0.5, eo.Curve("linear", 2, 3, 0.5)),
            ],
            r"got a mix",
        ),
        (
            [(0.5, eo.Curve("linear", -1e308, -9e307, 0.5)), (0.5, eo.Curve("linear", 9e307, 1e308, 0.5))],
            r"too far apart",
        ),
    ],
)
def test_what_cannot_be_mixed(parts, message):
    with pytest.raises(eo.OptionError, match=message):
        eo.Curve.mixed(parts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"family": "cubic"}, r"must be two different cubic curves"),
        ({"family": "fixed"}, r"must be two different fixed curves"),
        ({"family": "optimal"}, r"An optimal curve has nodes"),
        ({"t0": 0.5}, r"run from 0.0 to 3.0 with mean odds of 0.5, got t0=0.5, t1=3.0 and p=0.5"),
        ({"t1": 4}, r"got t0=0.0, t1=4.0"),
        ({"p": 0.4}, r"and p=0.4"),
        ({"p": 2}, r"p=2 is not allowed"),
        ({"at_t0": 0.1}, r"only a fixed curve has it"),
        ({"nodes": ((0, 0), (3, 1))}, r"no other curve has"),
        ({"shares": (0.5, 0.5 + 1e-12)}, r"sum to exactly 1"),
        ({"shares": (0.0, 1.0)}, r"must be above 0"),
        ({"parts": None}, r"parts=None is not allowed"),
        ({"parts": np.array([0.5, 0.5])}, r"Allowed: two pairs"),
        ({"parts": [[0.5, 1], [0.5, 2]]}, r"Allowed: two pairs"),
    ],
    ids=str,
)
def test_parts_that_do_not_fit_the_curve(change, message):
    one, other = eo.Curve("linear", 0, 1, 0.5), eo.Curve("linear", 2, 3, 0.5)
    shares = change.pop("shares", (0.5, 0.5))
    whole = {"family": "linear", "t0": 0, "t1": 3, "p": 0.5, "parts": ((shares[0], one), (shares[1], other))}
    with pytest.raises(eo.OptionError, match=message):
        eo.Curve(**whole | change)
