"""Places: everybody keeps their odds, and the number of yeses is hardly left to chance."""

from __future__ import annotations

import hashlib
import hmac
import math
import re
from itertools import accumulate, pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import evenodds as eo
from evenodds.decisions.places import handed_out, marked, order_of, start_of

KEY = "ab" * 32
M = 2**53
WORDS = {"score": "points", "group": "race", "id": "who", "key": KEY}
FEW = np.array([0.1, 0.35, 0.0, 0.8, 1.0, 0.25, 0.5, 2**-40, 0.97, 1 - 2**-53, 0.33])
GROUPS = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2])

starts = st.integers(0, M - 1) | st.sampled_from([0, 1, M // 2, M - 1])
some_odds = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 1.0, 1 - 2**-53, 5e-324]), max_size=60)


@pytest.fixture(scope="module")
def policy():
    return eo.fit(eo.datasets.credit_risk())


def cohort(n, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "who": rng.permutation([f"p{i}" for i in range(n)]),
            "points": rng.integers(0, 100, n) / 2,
            "race": rng.choice(["white", "black", "asian", "hispanic"], n),
        }
    )


def as_defined(odds, start):
    """The definition with Python's own whole numbers, which have no end."""
    sums = accumulate((math.floor(one * M) for one in map(float, odds)), initial=0)  # the product is exact
    return [(after - start) // M > (before - start) // M for before, after in pairwise(sums)]


@given(some_odds, starts)
def test_wrapped_sums_are_those_of_whole_numbers_without_end(odds, start):
    assert marked(np.array(odds, dtype=float), start).tolist() == as_defined(odds, start)


@pytest.mark.parametrize("start", [0, 123_456_789_012_345])
def test_a_million_people_whose_sum_leaves_64_bits(start):
    odds = np.random.default_rng(7).random(1_000_000)
    assert int(np.floor(odds * 2**20).sum()) * 2**33 > 2**64
    assert marked(odds, start).tolist() == as_defined(odds, start)


@given(some_odds, starts, st.data())
def test_every_stretch_of_the_order_is_within_one_of_its_expectation(odds, start, data):
    yes = marked(np.array(odds, dtype=float), start)
    first = data.draw(st.integers(0, len(odds)))
    last = data.draw(st.integers(first, len(odds)))
    assert abs(yes[first:last].sum() - math.fsum(odds[first:last])) < 1 + len(odds) / M


@given(some_odds, starts)
def test_certain_odds_leave_nothing_to_chance(odds, start):
    yes = marked(np.array(odds, dtype=float), start)
    assert all(y == one for y, one in zip(yes.tolist(), odds, strict=True) if one in {0.0, 1.0})


def test_counts_over_ten_thousand_keys():
    for round_ in range(10_000):
        yes = marked(FEW, start_of(key=KEY, round=str(round_)))
        assert abs(np.bincount(GROUPS, yes) - np.bincount(GROUPS, FEW)).max() < 1
        assert abs(yes.sum() - FEW.sum()) < 1


def test_everybody_keeps_their_odds():
    """Each person's frequency over 20,000 keys; the chance that a right one fails here is 1 in 10,000."""
    rounds = 20_000
    seen = np.sum([marked(FEW, start_of(key=KEY, round=f"r{i}")) for i in range(rounds)], axis=0)
    certain = (FEW <= 2**-40) | (FEW >= 1 - 2**-40)
    np.testing.assert_array_equal(seen[certain], rounds * (FEW[certain] > 0.5))
    odds, count = FEW[~certain], seen[~certain]
    each = (count - rounds * odds) ** 2 / (rounds * odds * (1 - odds))
    assert each.max() < chi2.isf(1e-4 / odds.size, 1)


@pytest.mark.parametrize("odds", [[0.5], [0.1, 0.35, 0.8], [1 / 3] * 3])
def test_everybody_keeps_their_odds_exactly_over_all_starts(odds):
    """Of the starts, which are 2^53, those that give a person a yes are counted by where the answer changes."""
    weights = [int(one * M) for one in odds]
    sums = list(accumulate(weights, initial=0))
    cuts = sorted({at % M for c in sums for at in (c, c + 1)} | {0, M})
    yes = np.zeros(len(odds), dtype=object)
    for first, last in pairwise(cuts):
        inside = marked(np.array(odds), first)
        np.testing.assert_array_equal(inside, marked(np.array(odds), last - 1))
        yes += (last - first) * inside.astype(object)
    assert yes.tolist() == weights


def test_the_start_is_what_it_is_said_to_be():
    digest = hmac.new(KEY.encode(), b"evenodds/places/v1|2026-05 caf\xc3\xa9", hashlib.sha256).hexdigest()
    assert start_of(key=KEY, round="2026-05 café") == int(digest[:14], 16) >> 3
    spread = np.array([start_of(key=KEY, round=str(i)) for i in range(2_000)]) / M
    assert abs(np.histogram(spread, 10, (0, 1))[0] - 200).max() < 60


def by_hand(policy, people, key=KEY, round_=""):
    """The whole rule once more, row by row, as a sceptic would write it."""
    sign = 1 if policy.orientation == "positive" else -1
    rows = sorted(
        people.to_dict("records"),
        key=lambda row: (str(row["race"]).encode(), sign * row["points"], str(row["who"]).encode()),
    )
    odds = [float(policy.odds([row["points"]], str(row["race"]))[0]) for row in rows]
    digest = hmac.new(key.encode(), f"evenodds/places/v1|{round_}".encode(), hashlib.sha256).digest()
    return {
        row["who"]: int(yes) for row, yes in zip(rows, as_defined(odds, int.from_bytes(digest[:7]) >> 3), strict=True)
    }


@pytest.mark.parametrize("round_", ["", "second"])
def test_decide_follows_the_rule_whatever_the_order_of_rows(policy, round_):
    people = cohort(300)
    known = by_hand(policy, people, round_=round_)
    for seed in range(3):
        shuffled = people.sample(frac=1, random_state=seed)
        decided = eo.decide(policy, shuffled, **WORDS, round=round_, places=True)
        assert list(decided) == [*people, "odds", "decision"]
        assert decided.index.equals(shuffled.index)
        assert decided["decision"].dtype == np.int64
        assert dict(zip(decided["who"], decided["decision"], strict=True)) == known
        exact = policy.odds(decided["points"], decided["race"])
        np.testing.assert_array_equal(decided["odds"], exact)


def test_each_group_is_within_one_of_its_expectation(policy):
    people = cohort(5_000, seed=1)
    for round_ in range(20):
        decided = eo.decide(policy, people, **WORDS, round=str(round_), places=True)
        sums = decided.groupby("race")[["odds", "decision"]].sum()
        assert (sums["odds"] - sums["decision"]).abs().max() < 1
        assert abs(decided["odds"].sum() - decided["decision"].sum()) < 1
        bands = decided.groupby(["race", decided["points"] // 10])[["odds", "decision"]].sum()
        assert (bands["odds"] - bands["decision"]).abs().max() < 1


def test_every_kind_of_frame_decides_alike(policy):
    people = cohort(200)
    expected = eo.decide(policy, people, **WORDS, places=True)["decision"].tolist()
    for frame in (pl.from_pandas(people), pa.Table.from_pandas(people), people.astype({"race": "category"})):
        decided = eo.decide(policy, frame, **WORDS, places=True)
        assert type(decided) is type(frame)
        assert np.asarray(decided["decision"]).tolist() == expected


def test_people_of_one_score_stand_by_the_bytes_of_their_ids():
    ids = ["b", "é", "z", "10", "9", "\U00010000", "\uffff", "B"]
    order = order_of(ids, np.zeros(8, dtype=np.int8), np.array([0.0, -0.0, 0, 0, 0, 0, 0, 0]))
    assert (
        [ids[i] for i in order]
        == sorted(ids, key=str.encode)
        == ["10", "9", "B", "b", "z", "é", "\uffff", "\U00010000"]
    )
    assert order_of([9, 10], np.zeros(2, dtype=np.int8), np.zeros(2)).tolist() == [1, 0]  # as text


def test_groups_stand_by_the_bytes_of_their_keys():
    """Whatever the order in which the policy has them, and over several columns."""
    rng = np.random.default_rng(3)
    sex, race = rng.choice(["m", "f"], 900), rng.choice(["é", "z", "Y"], 900)
    label = rng.integers(0, 2, 900)
    points = rng.normal(50 + 9 * label, 9)
    joint = eo.JointDistribution.from_arrays(score=points, group=[race, sex], label=label)
    policy = eo.fit(joint)
    turned = eo.Policy(
        policy.groups[::-1], policy.group_curves[::-1], policy.score_range, policy.orientation, policy.certificate
    )
    people = pd.DataFrame({"who": np.arange(900), "points": points, "race": race, "sex": sex})
    words = {**WORDS, "group": ["race", "sex"]}
    decided = eo.decide(policy, people, **words, places=True)
    assert decided.equals(eo.decide(turned, people, **words, places=True))
    one = people.assign(race=people["race"] + ", " + people["sex"])
    assert dict(zip(decided["who"], decided["decision"], strict=True)) == by_hand(policy, one)


def test_a_lower_score_that_speaks_for_a_yes_turns_the_order_around():
    """Scores turned over, and the orientation with them, are the same people, who get the same decisions."""
    rng = np.random.default_rng(4)
    race, label = rng.choice(["a", "b"], 600), rng.integers(0, 2, 600)
    points = rng.normal(50 + 9 * label, 9).round()
    up, down = (
        eo.fit(eo.JointDistribution.from_arrays(sign * points, race, label, orientation=way))
        for sign, way in ((1, "positive"), (-1, "negative"))
    )
    people = pd.DataFrame({"who": np.arange(600), "points": points, "race": race})
    turned = people.assign(points=-points)
    expected = eo.decide(up, people, **WORDS, places=True)["decision"].tolist()
    assert 0 < sum(expected) < 600
    assert eo.decide(down, turned, **WORDS, places=True)["decision"].tolist() == expected
    assert by_hand(down, turned) == dict(enumerate(expected))


def test_a_number_of_places_that_the_odds_sum_to(policy):
    people = cohort(300)
    free = eo.decide(policy, people, **WORDS, places=True)
    expected = free["odds"].sum()
    assert expected % 1 > 0.01
    for places in (math.floor(expected), math.ceil(expected), np.int32(expected)):
        assert eo.decide(policy, people, **WORDS, places=places).equals(free)
    for places, hint in (
        (40, "fit the policy with selection_rate=0.133333 for 40 of 300 people"),
        (math.ceil(expected) + 1, "fit the policy with selection_rate="),
        (math.floor(expected) - 1, "fit the policy with selection_rate="),
        (301, "there are only 300 people"),
        (0, "fit the policy with selection_rate=0 for 0 of 300 people"),
    ):
        told = (
            f"places={places} is not what the odds of these 300 people sum to, which is {expected:.6g}. Allowed: "
            f"{math.floor(expected)} or {math.ceil(expected)}, or True for as many as the odds sum to. Hint: {hint}"
        )
        with pytest.raises(eo.OptionError, match=re.escape(told)):
            eo.decide(policy, people, **WORDS, places=places)


def test_odds_that_sum_to_a_whole_number_fill_as_many_places():
    """Tenths do not sum to 1 in binary, but for 10 people there is 1 place, and never 0 or 2 of them."""
    odds, ids, groups, scores = np.full(10, 0.1), list("abcdefghij"), np.zeros(10, dtype=np.int8), np.arange(10.0)
    for round_ in range(200):
        assert handed_out(odds, ids, groups, scores, places=1, key=KEY, round=str(round_)).sum() == 1
    for places in (0, 2):
        with pytest.raises(eo.OptionError, match=re.escape("Allowed: 1, or True")):
            handed_out(odds, ids, groups, scores, places=places, key=KEY)


@pytest.mark.parametrize("bad", [-1, 2.0, 2.5, "3", math.nan, [3], np.float64(3)])
def test_places_that_are_no_number_of_places(policy, bad):
    told = (
        f"places={bad!r} is not allowed. Allowed: a whole number from 0 on, True or None. "
        "Hint: places=True hands out as many as the odds sum to."
    )
    with pytest.raises(eo.OptionError, match=re.escape(told)):
        eo.decide(policy, cohort(5), **WORDS, places=bad)


def test_no_places_are_a_draw_for_each(policy):
    people = cohort(50)
    drawn = eo.decide(policy, people, **WORDS)
    assert list(drawn)[-3:] == ["odds", "draw", "decision"]
    for places in (None, False, np.False_):
        assert eo.decide(policy, people, **WORDS, places=places).equals(drawn)
    assert eo.decide(policy, people, **WORDS, places=np.True_).equals(eo.decide(policy, people, **WORDS, places=True))


def test_somebody_who_stands_twice_is_refused(policy):
    people = cohort(8).assign(who=["a", "b", "c", "b", "b", "d", "d", "e"])
    told = (
        "id 'b' comes 3 times (position 1, position 3, position 4); so does 1 other id. Places are handed out to a "
        "cohort in which everybody stands once. Hint: drop rows that are there twice, or name a column whose values "
        "differ."
    )
    with pytest.raises(eo.DataError) as caught:
        eo.decide(policy, people, **WORDS, places=True)
    assert str(caught.value) == told
    with pytest.raises(eo.DataError, match=r"id '7' comes 8 times \(position 0, .*, position 4, \.\.\.\)\. Places"):
        eo.decide(policy, people.assign(who=7), **WORDS, places=True)
    with pytest.raises(
        eo.DataError, match=r"id 'b' comes 3 times .* In a round everybody is decided for once\. Hint: drop"
    ):
        eo.decide(policy, people, **WORDS)


def test_what_decide_refuses_it_refuses_with_places_too(policy):
    people = cohort(4)
    with pytest.raises(eo.DataError, match=r"cannot be drawn for \(position 2\): it is missing"):
        eo.decide(policy, people.assign(who=["a", "b", None, "d"]), **WORDS, places=True)
    with pytest.raises(eo.DataError, match=r"got LazyFrame\. Hint: collect it\.$"):
        eo.decide(policy, pl.from_pandas(people).lazy(), **WORDS, places=True)
    with pytest.raises(eo.OptionError, match="has a column 'decision' already"):
        eo.decide(policy, people.assign(decision=1), **WORDS, places=True)
    with pytest.raises(eo.OptionError, match="key must be a string of 64"):
        eo.decide(policy, people, **{**WORDS, "key": "secret"}, places=True)
    with pytest.raises(eo.OptionError, match=r"round='a\|b' is not allowed"):
        eo.decide(policy, people, **WORDS, round="a|b", places=True)
    with pytest.raises(eo.DataError, match="1 of 4 rows cannot be given odds"):
        eo.decide(policy, people.assign(points=[1, 2, math.nan, 3]), **WORDS, places=True)
    assert "draw" in eo.decide(policy, people.assign(draw=1), **WORDS, places=True)  # a column of the people's own
    assert not len(eo.decide(policy, people[:0], **WORDS, places=0))


def test_places_and_reviews_do_not_go_together():
    policy = eo.fit(eo.datasets.compas(), review=eo.Review(capacity=0.05, tpr=0.8, fpr=0.2))
    people = pd.DataFrame({"who": ["a"], "points": [5], "group": [policy.groups[0]]})
    with pytest.raises(eo.OptionError, match="places= hands out a yes or a no, and this policy also says review"):
        eo.decide(policy, people, score="points", group="group", id="who", key="00" * 32, places=True)


def test_places_for_other_people_than_those_of_the_fit():
    joint = eo.datasets.credit_risk()
    policy = eo.fit(joint, selection_rate=0.3)
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "who": [f"p{i}" for i in range(400)],
            "points": rng.choice(joint.members[0].scores, 400),
            "race": rng.choice(joint.groups, 400),
        }
    )
    words = {"score": "points", "group": "race", "id": "who", "key": "00" * 32}
    with pytest.raises(eo.OptionError, match="is about the people of its fit, and these are others") as told:
        eo.decide(policy, people, **words, places=120)
    rate = float(str(told.value).split("selection_rate=")[2].split(",")[0])
    nearer = eo.fit(joint, selection_rate=rate).odds(people["points"], people["race"]).sum()
    assert abs(nearer - 120) < abs(policy.odds(people["points"], people["race"]).sum() - 120) / 5
