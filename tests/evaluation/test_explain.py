from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.evaluation.inverse import plateaus_of, score_needed, scores_with
from shapes import curves, mirrored, mixes


@st.composite
def any_curves(draw):
    """Curves of every family, with plateaus and jumps, in both orientations."""
    kind = draw(st.sampled_from(["smooth", "fixed", "optimal", "mix"]))
    if kind == "smooth":
        return draw(curves())
    if kind == "mix":
        return draw(mixes(far=1e3, jumps=True))
    sign = draw(st.sampled_from([1, -1]))
    orientation = "positive" if sign > 0 else "negative"
    t0, width = draw(st.integers(-50, 50)), draw(st.integers(1, 40))
    if kind == "fixed":
        p = draw(st.floats(0.01, 0.99))
        at_t0 = draw(st.none() | st.floats(0, 1).map(lambda share: share * p))
        return eo.Curve("fixed", sign * t0, sign * (t0 + width), p, at_t0, orientation=orientation)
    steps = draw(st.lists(st.integers(0, 3), min_size=3, max_size=8).filter(any))
    odds = np.cumsum(steps) / (sum(steps) + draw(st.integers(0, 2)))
    return eo.Curve.through(sign * (t0 + 2.0 * np.arange(odds.size)), odds, orientation=orientation)


@given(any_curves(), st.floats(0, 1))
def test_the_score_needed_is_the_least_that_suffices(curve, odds):
    sign = 1 if curve.orientation == "positive" else -1
    at = score_needed(curve, odds)
    if at is None:
        assert curve(sign * math.inf) < odds
    elif math.isinf(at):
        assert curve(-sign * math.inf) >= odds - 1e-12
    else:
        assert curve(at) >= odds - 1e-9
        before = at - sign * 1e-6 * max(1.0, curve.width, abs(at))
        assert curve(before) <= odds + 1e-9


@given(any_curves(), st.integers(0, 40), st.integers(0, 3))
@example(eo.Curve("fixed", 0.0, 1.0, 0.5, at_t0=0.25), 0, 0)  # odds that one score has, and that score is 0
def test_plateaus_are_found_from_end_to_end(curve, step, part):
    if curve.family not in ("fixed", "optimal") or curve.is_constant:
        return
    sign = 1 if curve.orientation == "positive" else -1
    score = curve.t0 + sign * step * (1, 0.5, 0.25, 2)[part]
    odds = float(curve(score))
    found = scores_with(curve, odds)
    assert found is not None
    grid = np.unique(np.concatenate([np.linspace(-120, 120, 9601), [score, curve.t0, curve.t1]]))
    held = grid[np.abs(curve(grid) - odds) <= 1e-10]
    lo, hi = sorted(found)
    assert lo - 1e-6 <= held.min()
    assert hi + 1e-6 >= held.max()
    assert lo == -math.inf or lo >= held.min() - 0.025 - 1e-6
    assert hi == math.inf or hi <= held.max() + 0.025 + 1e-6


@given(mixes(far=1e3, jumps=True))
def test_the_plateau_of_a_mix_is_found_from_end_to_end(mix):
    assume(min((share for share, _ in mix.parts), default=1) > 1e-9)  # else its odds are certain
    sign = 1 if mix.orientation == "positive" else -1
    for plateau in plateaus_of(mix)[1:-1]:
        assert score_needed(mix, plateau.odds) == plateau.start
        assert scores_with(mix, plateau.odds) == (plateau.start, plateau.stop)
        assert mix(plateau.start) == plateau.odds
        assert mix(np.nextafter(plateau.stop, -sign * np.inf)) == plateau.odds
        # What two roundings make of it is the same plateau.
        assert score_needed(mix, plateau.odds + 1e-15) == plateau.start
        assert score_needed(mix, plateau.odds - 1e-15) == plateau.start
    assert score_needed(mix, 1.0) == mix.t1
    assert scores_with(mix, 0.0) == (-sign * math.inf, mix.t0)
    assert scores_with(mix, 1.0) == (mix.t1, sign * math.inf)


def test_ramps_that_do_not_meet_leave_a_plateau_between_them():
    mix = eo.Curve.mixed([(0.25, eo.Curve("linear", 10, 20, 0.5)), (0.75, eo.Curve("linear", 50, 60, 0.5))])
    assert [(found.odds, found.start, found.stop) for found in plateaus_of(mix)[1:-1]] == [(0.25, 20, 50)]


@pytest.mark.parametrize("turned", [False, True], ids=["upward", "downward"])
def test_words_for_a_mix(turned):
    def parts(*ends):
        return [eo.Curve("quadratic", *end, 0.5 if end[0] < end[1] else 0) for end in ends]

    def told(share, *ends, score=40):
        one, other = parts(*ends)
        mix = eo.Curve.mixed([(share, one), (1 - share, other)])
        mix = mirrored(mix) if turned else mix
        certificate = eo.fit(eo.datasets.credit_risk()).certificate
        policy = eo.Policy(("a", "b"), (mix, mix), (-100, 100), mix.orientation, certificate)
        return str(eo.explain(policy, score=-score if turned else score, group="a", odds=[0.25, 0.75]))

    sign = "-" if turned else ""
    text = told(0.25, (10, 20), (50, 60))
    assert "odds of a yes in group 'a' are 25 %" in text
    assert f"With one point {'less' if turned else 'more'} they would be the same" in text
    assert f"The group's odds rise from {sign}10 to {sign}20, then rise from {sign}50 to {sign}60; between" in text
    assert "between they stay at 25 %" in text
    lo, hi = (-50, -20) if turned else (20, 50)
    assert f"The same odds are given from {lo} to {hi} in group 'b'" in text
    assert "The group has odds of 50 % at" in text
    text = told(0.25, (10, 10), (50, 60), score=5)
    assert f"odds jump at {sign}10, then rise from {sign}50 to {sign}60; between they stay at 25 %" in text
    assert f"The group has odds of 25 % at {sign}10, 50 % at" in text
    assert f"jump at {sign}10, then jump at {sign}50; between they stay at 25 %" in told(0.25, (10, 10), (50, 50))
    assert "between they stay" not in told(0.25, (10, 40), (30, 60))
    assert "between they stay" not in told(0.25, (10, 30), (30, 60))


def test_words_for_two_thresholds_and_for_those_at_the_lower(credit):
    text = str(eo.explain(eo.fit(credit, curve="fixed"), score=30, group="asian"))
    assert "The group's odds jump at 30, then jump at 40; between they stay at 47.71 %" in text


def test_scores_of_any_size():
    assert score_needed(eo.Curve("fixed", 1e17, 1e17, 0), 1.0) == 1e17
    assert scores_with(eo.Curve("fixed", 1e17, 1e17, 0), 0.0) == (-math.inf, 1e17)


@given(curves(), st.floats(-10, 110))
def test_a_curve_has_the_odds_that_it_has(curve, score):
    found = scores_with(curve, float(curve(score)))
    assert found is not None
    lo, hi = sorted(found)
    room = 1e-6 * max(1.0, abs(score), curve.width)
    assert lo - room <= score <= hi + room


@pytest.fixture(scope="module")
def credit():
    return eo.datasets.credit_risk()


def test_the_same_odds_in_other_groups_are_the_same_odds(credit):
    policy = eo.fit(credit)
    found = eo.explain(policy, score=25, group="white", odds=[0.75])
    assert set(found.same_odds) == {"asian", "black", "hispanic"}
    for group, (lo, hi) in found.same_odds.items():
        assert policy.odds((lo + hi) / 2, group) == pytest.approx(found.odds, abs=1e-8)
    assert policy.odds(found.needed[0.75], "white") == pytest.approx(0.75)
    assert found.with_one_more == pytest.approx(float(policy.odds(26, "white")))
    assert found.slope == pytest.approx(policy.curves["white"].lipschitz)
    assert found.rank is None
    assert found.fixed_odds is None


def test_rank_and_share_are_those_of_the_people(credit):
    policy = eo.fit(credit, target="baseline")
    white = next(member for member in credit.members if member.key == "white")
    everybody = white.negatives + white.positives
    found = eo.explain(policy, score=49.5, group="white", joint=credit)
    below = everybody[white.scores < 49.5].sum() + everybody[white.scores == 49.5].sum() / 2
    assert found.rank == pytest.approx(below / everybody.sum())
    assert (found.fixed.t0, found.fixed.t1) == (25, 50)
    assert found.fixed_odds == pytest.approx(0.5006207, abs=1e-6)


def test_words_for_every_kind_of_curve(credit):
    policy = eo.fit(credit, target="baseline")
    hard = str(eo.explain(policy, score=29, group="hispanic", joint=credit))
    assert "With one point more they would be 100 %" in hard
    assert "threshold at 30, and says no" in hard
    assert "No score gives these odds in group 'hispanic'" in str(eo.explain(policy, score=40, group="white"))
    assert "from 30 on in group 'hispanic'" in str(eo.explain(policy, score=90, group="white"))
    lottery = eo.fit(credit, target=(0.4, 0.4))
    text = str(eo.explain(lottery, score=40, group="white", joint=credit))
    assert "at every score in group 'black'" in text
    assert "No score of the group has odds of 50 % or 90 % or 100 %" in text
    assert "gives everybody 40 %" in text


def test_negative_orientation_is_told_downwards():
    rng = np.random.default_rng(0)
    group, label = rng.choice(list("ab"), 2000), rng.integers(0, 2, 2000)
    score = rng.normal(-10 * label, 10)
    joint = eo.JointDistribution.from_arrays(score, group, label, orientation="negative")
    policy = eo.fit(joint)
    at = (policy.curves["a"].t0 + policy.curves["a"].t1) / 2
    found = eo.explain(policy, score=at, group="a", joint=joint)
    assert found.with_one_more == pytest.approx(float(policy.odds(at - 1, "a")))
    assert found.with_one_more > found.odds
    assert found.rank == pytest.approx((score[group == "a"] > at).mean())
    assert "one point less" in str(found)
    assert policy.odds(found.needed[0.9], "a") == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"score": math.nan}, eo.OptionError, "score=nan is not allowed"),
        ({"score": "x"}, eo.OptionError, "score='x' is not allowed"),
        ({"group": "purple"}, eo.UnknownGroupError, "does not know the group 'purple'"),
        ({"odds": [1.5]}, eo.OptionError, "odds=1.5 is not allowed"),
        ({"odds": 0.7}, eo.OptionError, "odds=0.7 is not allowed"),
        ({"score": 10**400}, eo.OptionError, "score=1000"),
        ({"score": np.complex128(1)}, eo.OptionError, "is not allowed"),
        ({"joint": 3}, eo.OptionError, "joint= must be a JointDistribution, got int"),
        ({"joint": eo.JointDistribution.from_counts({"x": ([1], [1], [1])})}, eo.DataError, "nobody of group 'white'"),
    ],
)
def test_bad_questions_are_refused(credit, options, error, text):
    with pytest.raises(error, match=text):
        eo.explain(eo.fit(credit, max_slope=0.1), **{"score": 50, "group": "white"} | options)


def test_people_whose_scores_do_not_allow_the_rates_have_no_fixed_odds():
    sharp = eo.JointDistribution.from_counts({"a": ([0, 1], [90, 10], [10, 90])})
    blunt = eo.JointDistribution.from_counts({"a": ([0, 1], [60, 40], [40, 60])})
    found = eo.explain(eo.fit(sharp), score=1, group="a", joint=blunt)
    assert found.fixed is None
    assert found.rank == 0.75


def test_intersectional_groups_are_named_by_their_values():
    policy = eo.fit(eo.datasets.compas())
    assert eo.explain(policy, score=5, group=("Caucasian", "Male")).group == "Caucasian, Male"


@pytest.mark.parametrize("score", [-5, 500])
def test_a_score_that_nobody_had_is_said_to_be_one(score):
    told = str(eo.explain(eo.fit(eo.datasets.credit_risk()), score=score, group="white"))
    assert "Nobody at the fit had such a score: they went from 0 to 100." in told
    assert "more" not in told
