from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.uses.explain import score_needed, scores_with
from strategies import curves


@given(curves(), st.floats(0, 1))
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
        ({"odds": [1.5]}, eo.OptionError, r"odds=\[1.5\] is not allowed"),
        ({"joint": 3}, eo.OptionError, "joint= must be a JointDistribution, got int"),
        ({"joint": eo.JointDistribution.from_counts({"x": ([1], [1], [1])})}, eo.DataError, "nobody of group 'white'"),
    ],
)
def test_bad_questions_are_refused(credit, options, error, text):
    with pytest.raises(error, match=text):
        eo.explain(eo.fit(credit, max_slope=0.1), **{"score": 50, "group": "white"} | options)


def test_intersectional_groups_are_named_by_their_values():
    policy = eo.fit(eo.datasets.compas())
    assert eo.explain(policy, score=5, group=("Caucasian", "Male")).group == "Caucasian, Male"
