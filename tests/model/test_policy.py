from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.model.description import describe
from shapes import mixes, places, with_mixes


@pytest.fixture(scope="module")
def policy():
    return eo.fit(eo.datasets.credit_risk(), target=(0.2, 0.8))


def test_odds_by_group_and_by_code_agree(policy):
    rng = np.random.default_rng(0)
    score = rng.uniform(0, 100, 1000)
    codes = rng.integers(0, 4, 1000)
    names = np.array(policy.groups)[codes]
    by_group = policy.odds(score, names)
    assert np.array_equal(by_group, policy.odds(score, codes=codes))
    assert np.array_equal(by_group, [policy.curves[g](s) for s, g in zip(score, names, strict=True)])


@given(st.floats(0, 100))
def test_one_score_and_one_group(score):
    policy = eo.fit(eo.datasets.compas(), target=(0.3, 0.5))
    odds = policy.odds(score, "Caucasian, Male")
    assert odds.shape == ()
    assert odds == policy.odds([score], [["Caucasian"], ["Male"]])[0]
    assert odds == policy.odds(score, ("Caucasian", "Male"))
    assert policy.odds([], codes=[]).shape == (0,)


def test_a_policy_is_a_value(policy):
    again = eo.fit(eo.datasets.credit_risk(), target=(0.2, 0.8))
    assert policy == again
    assert copy.deepcopy(policy) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy  # noqa: S301 our own bytes
    with pytest.raises(AttributeError):
        policy.groups = ()
    with pytest.raises(TypeError):
        policy.curves["white"] = None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"score": [1.0], "group": ["green"]},
            r"does not know the group 'green'. Known: 'asian', 'black', 'hispanic', 'white'",
        ),
        ({"score": [np.nan, 1], "group": "white"}, r"score has 1 NaN or infinite value \(first at position 0\)"),
        ({"score": [1.0]}, r"Give group or codes, one of them; got neither"),
        ({"score": ["a"], "group": "white"}, r"score must be numbers"),
        ({"score": [1.0], "group": "white", "codes": [0]}, r"Give group or codes, one of them; got both"),
        ({"score": [1.0], "codes": [4]}, r"does not know the group with code 4. Known: 0 to 3"),
        ({"score": [1.0], "codes": [-1]}, r"does not know the group with code -1"),
        ({"score": [1.0], "codes": [0.5]}, r"codes must be integers"),
        ({"score": [1.0, 2.0, 3.0], "group": ["white", "black"]}, r"different lengths: \(3,\) and \(2,\)"),
        ({"score": [1.0], "group": [None]}, r"group has 1 missing value"),
    ],
)
def test_bad_questions(policy, arguments, message):
    with pytest.raises(eo.EvenoddsError, match=message):
        policy.odds(**arguments)


def test_many_groups_are_not_all_listed():
    counts = {f"g{g:02}": ([1, 2, 3], [50, 30, 20 + g], [20, 30, 50]) for g in range(25)}
    policy = eo.fit(eo.JointDistribution.from_counts(counts))
    assert "... and 5 groups more" in str(policy)
    with pytest.raises(eo.UnknownGroupError, match=r"'g19', ... \(25 in all\)"):
        policy.odds(1, "x")
    assert "straight lines from" in str(eo.fit(eo.JointDistribution.from_counts(counts), curve="optimal"))


def test_it_says_what_it_is(policy):
    assert repr(policy) == "Policy(4 groups, linear, loss 0.0396, largest slope 0.04159 (hispanic))"
    assert "white: linear from 11.5313 to 66.92" in str(policy)
    hard = eo.fit(eo.datasets.credit_risk(), target="baseline")
    assert "hispanic: single threshold at 30: the odds jump from 0 to 1" in str(hard)
    lottery = eo.fit(eo.datasets.credit_risk(), target=(0.5, 0.5))
    assert "odds 0.5 for everybody" in str(lottery)


def test_odds_of_what_is_no_number_are_refused():
    policy = eo.fit(eo.datasets.credit_risk())
    for score, message in [
        (np.array(["2020-01-01"], "datetime64[ns]"), "score must be numbers, got datetime64"),
        ([1j], "score must be numbers, got complex128"),
        (["25"], "score must be numbers, got <U2"),
        (np.array(["25"], object), "score must be numbers, got '25' at position 0"),
        ([10**400], "score must be numbers"),
        (np.array(["1e400"], np.longdouble), "score has 1 NaN or infinite value"),
        (np.ma.masked_equal([1.0, 2.0], 2.0), "1 masked value"),
    ]:
        with pytest.raises(eo.DataError, match=message):
            policy.odds(score, "white")


def test_as_many_groups_as_scores_or_one():
    policy = eo.fit(eo.datasets.credit_risk())
    assert policy.odds(25, ["white", "black"]).shape == (2,)
    assert policy.odds([[25, 30]], "white").shape == (1, 2)
    assert policy.odds(25, "white").shape == ()
    for score, group in (([[1.0], [2.0]], ["white", "white"]), ([1.0], ["white", "black"]), ([1.0, 2.0], ["white"])):
        with pytest.raises(eo.DataError, match="different lengths"):
            policy.odds(score, group)
    with pytest.raises(eo.DataError, match="different lengths"):
        policy.odds([1.0], codes=[])


@given(mixes(jumps=True))
def test_a_policy_gives_the_odds_of_its_mixes(policy, mix):
    mixed = eo.Policy(("a", "b"), (mix, mix.moved(1.0)), (0, 100), mix.orientation, policy.certificate)
    at = places(mix, 20)
    for group, curve in mixed.curves.items():
        odds = mixed.odds(at, group)
        assert np.array_equal(odds, curve(at))
        assert np.array_equal(odds, mixed.odds(at, codes=np.full(at.size, mixed.groups.index(group))))
        assert ((odds >= 0) & (odds <= 1)).all()
    assert pickle.loads(pickle.dumps(mixed)) == mixed  # noqa: S301 our own bytes


def test_it_says_what_a_mix_is_made_of(policy):
    def mix(*ends):
        parts = [eo.Curve("linear", *end, 0.5 if end[0] < end[1] else 0) for end in ends]
        return eo.Curve.mixed([(0.62, parts[0]), (0.38, parts[1])])

    joint = eo.datasets.credit_risk()
    mixed = with_mixes(policy, joint, {"white": mix((10, 20), (30, 50))})
    assert "white: mix of two linear curves: 0.62 from 10 to 20, 0.38 from 30 to 50, slope at most 0.062" in str(mixed)
    assert "A mix of two curves: 'white'" in str(mixed)
    assert repr(mixed).startswith("Policy(4 groups, linear, ")
    assert (
        describe(mix((10, 10), (30, 50))) == "mix of two linear curves: 0.62 at 10, 0.38 from 30 to 50, the odds jump"
    )
    assert describe(mix((10, 10), (30, 30))) == "mix of two thresholds: 0.62 at 10, 0.38 at 30, the odds jump"
    assert describe(eo.Curve.through([1, 2], [0, 1])) == "1 straight line from 0 at 1 to 1 at 2, slope at most 1"
