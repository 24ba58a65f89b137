"""Published decisions: honest ones pass, and whatever is changed in them is found."""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
import hmac
import io
import json
import math
import pickle
import re
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.decisions.dice import Tally
from evenodds.decisions.doubles import Doubles
from evenodds.decisions.keys import commitment

KEY = "ab" * 32
WORDS = {"score": "points", "group": "race", "id": "who", "key": KEY}
M = 2**53
REVIEW = eo.Review(capacity=0.2, tpr=0.8, fpr=0.2, equal="final")


@pytest.fixture(scope="module")
def policies():
    joint = eo.datasets.credit_risk()
    return {"plain": eo.fit(joint), "review": eo.fit(joint, review=REVIEW, max_slope=0.1), "places": eo.fit(joint)}


def cohort(n=80, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "who": rng.permutation([f"p{i}" for i in range(n)]),
            "points": rng.integers(0, 110, n) / 2,
            "race": rng.choice(["white", "black", "asian", "hispanic"], n),
        }
    )


def asked(kind):
    return {"places": True} if kind == "places" else {}


def published(policies, kind, people):
    """Decisions as they come back from a CSV file."""
    decided = eo.decide(policies[kind], people, **WORDS, **asked(kind))
    return from_csv(decided.to_csv(index=False))


def from_csv(text):
    """As Arrow reads it, to the last bit; not every version of pandas does."""
    return pyarrow.csv.read_csv(io.BytesIO(text.encode())).to_pandas()


def verified(policies, kind, frame, **more):
    return eo.verify(policies[kind], frame, **{**WORDS, **asked(kind), **more})


# -- what is right, computed by other means ----------------------------------------------------------------------------


def number(message):
    return int.from_bytes(hmac.new(KEY.encode(), message.encode(), hashlib.sha256).digest()[:7]) >> 3


class Oracle:
    """The definition, a row at a time."""

    def __init__(self, policy, kind):
        self.policy, self.kind, self.known = policy, kind, {}

    def odds(self, row, outcome):
        asked_for = row.points, row.race, outcome
        if asked_for not in self.known:
            self.known[asked_for] = float(self.policy.odds(row.points, row.race, outcome=outcome))
        return self.known[asked_for]

    def is_right(self, frame):
        rows = list(frame.itertuples())
        if max(Counter(row.who for row in rows).values()) > 1:
            return False
        if self.kind == "places":
            return self._are_places(rows)
        return all(self._is_right(row) for row in rows)

    def _is_right(self, row):
        u, yes = number(f"evenodds/draw/v1||{row.who}") / M, self.odds(row, "yes")
        right = int(u < yes)
        if self.kind == "review":
            review = self.odds(row, "review")
            right = "yes" if u < yes else "review" if u < yes + review else "no"
            if row.odds_review != review:
                return False
        return (row.odds, row.draw, row.decision) == (yes, u, right)

    def _are_places(self, rows):
        start, before = number("evenodds/places/v1|"), 0
        for row in sorted(rows, key=lambda row: (row.race, row.points, row.who)):
            odds = self.odds(row, "yes")
            after = before + math.floor(odds * M)
            if (row.odds, row.decision) != (odds, (after - start) // M > (before - start) // M):
                return False
            before = after
        return True


# -- changes -----------------------------------------------------------------------------------------------------------


def other(rng, values, own):
    return rng.choice([value for value in values if value != own])


def changed(rng, frame, what):
    """A copy with one change, and the place of the row that has it, None where rows move."""
    row = int(rng.integers(len(frame)))
    if what == "deleted":
        return frame.drop(index=row).reset_index(drop=True), None
    if what == "doubled":
        at = int(rng.integers(len(frame) + 1))
        parts = [frame.iloc[:at], frame.iloc[[row]], frame.iloc[at:]]
        return pd.concat(parts, ignore_index=True), None
    out = frame.copy()
    own = out.loc[row, what]
    if what in {"odds", "odds_review", "draw"}:
        value = [
            rng.random(),
            np.nextafter(own, 2),
            np.nextafter(own, -1),
            math.nan,
            other(rng, [*frame[what], 2], own),
        ]
    elif what == "decision":
        every = ["yes", "review", "no", "perhaps"] if isinstance(own, str) else [0, 1, 7]
        value = [other(rng, every, own)]
    elif what == "who":
        value = [f"{own}x", other(rng, frame["who"].tolist(), own), own.upper()]
    elif what == "points":
        value = [other(rng, (np.arange(110) / 2).tolist(), own), own + 1e-9]
    else:
        value = [other(rng, ["white", "black", "asian", "hispanic"], own)]
    out.loc[row, what] = value[rng.integers(len(value))]
    return out, row


ALWAYS = ["odds", "odds_review", "draw", "decision", "who", "doubled"]  # seen whatever the row


@pytest.mark.parametrize(("kind", "changes"), [("plain", 1000), ("review", 300), ("places", 300)])
def test_every_single_change_is_found(policies, kind, changes):
    """Of those that can be: a score that moves where odds are flat changes nothing that is published."""
    rng = np.random.default_rng(5)
    frame = published(policies, kind, cohort())
    oracle = Oracle(policies[kind], kind)
    assert oracle.is_right(frame)
    seen = Counter()
    for _ in range(changes):
        what = str(rng.choice([*frame.columns, "deleted", "doubled"]))
        other_frame, row = changed(rng, frame, what)
        found = verified(policies, kind, other_frame)
        assert found.passed == oracle.is_right(other_frame), (what, row)
        if what in ALWAYS and not (kind == "places" and what == "who"):
            assert not found.passed, (what, row)
        if row is not None and kind != "places" and not found.passed:
            assert (found.wrong, found.first.position) == (1, row)
        if what == "doubled":
            assert found.doubled == 1
        seen[what, found.passed] += 1
    assert seen["points", False] > 0.3 * seen["points", True]
    assert seen["race", False] > 0.5 * seen["race", True]
    if kind == "places":
        assert seen["deleted", False] > 10  # who had odds of 0 or 1 moves nobody
    else:
        assert not seen["deleted", False]  # nobody's decision depends on who else is there


@pytest.mark.parametrize("kind", ["plain", "review", "places"])
@pytest.mark.parametrize("seed", range(3))
def test_honest_decisions_pass_in_every_library(policies, kind, seed):
    people = cohort(500, seed)
    decided = eo.decide(policies[kind], people, **WORDS, **asked(kind), round="May")
    for frame in (
        decided.sample(frac=1, random_state=seed),
        pl.from_pandas(decided),
        pa.Table.from_pandas(decided),
        decided.assign(who=decided["who"].astype("category")),
    ):
        found = verified(policies, kind, frame, round="May")
        assert found.passed
        assert found.rows == 500
        assert found.wrong == found.unjudged == found.doubled == 0
        assert found.first is None
    assert not verified(policies, kind, decided).passed  # the round of none


def test_truth_values_numbers_and_names_of_ones_own(policies):
    decided = eo.decide(policies["plain"], cohort().assign(who=range(80)), **WORDS)
    renamed = decided.rename(columns={"odds": "chance", "draw": "u", "decision": "approved"})
    renamed["approved"] = renamed["approved"] == 1
    names = {"odds": "chance", "draw": "u", "decision": "approved"}
    assert verified(policies, "plain", renamed, **names).passed
    renamed.loc[3, "approved"] = ~renamed.loc[3, "approved"]
    first = verified(policies, "plain", renamed, **names).first
    assert [one.column for one in first.differences] == ["approved"]
    assert (first.position, first.id) == (3, "3")


@pytest.mark.parametrize("policy", [{"orientation": "negative"}], ids=["negative"])
def test_places_of_a_policy_of_negative_orientation(policy):
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 2000)
    score, group = rng.normal(-label, 1).round(2), rng.choice(["a", "b"], 2000)
    fitted = eo.fit(eo.JointDistribution.from_arrays(score, group, label, **policy))
    people = pd.DataFrame({"who": [f"p{i}" for i in range(2000)], "points": score, "race": group})
    decided = eo.decide(fitted, people, **WORDS, places=True)
    assert eo.verify(fitted, decided.iloc[::-1], **WORDS, places=True).passed
    total = int(decided["decision"].sum())
    assert eo.verify(fitted, decided, **WORDS, places=total).passed
    found = eo.verify(fitted, decided, **WORDS, places=3)
    assert not found.passed
    assert found.wrong == 0
    assert f"There were 3 places, and {total:,} people got one." in str(found)


def test_a_biased_draw_with_decisions_that_match_it(policies):
    """Draws of one group are squared, so that it has more yeses: every one of them is found."""
    decided = eo.decide(policies["plain"], cohort(4000), **WORDS)
    favoured = decided["race"] == "white"
    decided.loc[favoured, "draw"] **= 2
    decided["decision"] = (decided["draw"] < decided["odds"]).astype(int)
    found = verified(policies, "plain", decided)
    assert found.wrong_draws == favoured.sum()
    assert found.wrong_odds == 0
    assert 0 < found.wrong_decisions < found.wrong_draws
    assert found.suspicious == ("white",)
    white = next(one for one in found.dice if one.group == "white")
    assert white.z > 4
    assert "in 'white' the rate is farther from the mean odds than chance explains" in str(found)


def test_a_wrong_key_or_round(policies):
    decided = eo.decide(policies["plain"], cohort(1000), **WORDS)
    for wrong in ({"key": "cd" * 32}, {"round": "second"}):
        found = verified(policies, "plain", decided, **wrong)
        assert not found.passed
        assert found.wrong_draws == found.wrong == 1000
        assert "Every draw is wrong. Hint: is it the key of these decisions, and the round?" in str(found)
        assert not found.suspicious  # the dice were honest all the same
    places = eo.decide(policies["plain"], cohort(1000), **WORDS, places=True)
    assert not verified(policies, "places", places, key="cd" * 32).passed


def test_dice_by_group(policies):
    decided = eo.decide(policies["review"], cohort(3000), **WORDS)
    found = verified(policies, "review", decided, confidence=0.99)
    table = found.frame()
    assert table["outcome"].tolist() == ["yes"] * 4 + ["review"] * 4
    for one in found.dice:
        own = decided[decided["race"] == one.group]
        odds = own["odds"] if one.outcome == "yes" else own["odds_review"]
        spread = math.sqrt((odds * (1 - odds)).sum())
        assert one.people == len(own)
        assert one.rate == (own["decision"] == one.outcome).mean()
        assert one.mean_odds == pytest.approx(odds.mean(), abs=1e-12)
        assert one.z == pytest.approx(((own["decision"] == one.outcome).sum() - odds.sum()) / spread, abs=1e-9)
        t = (one.high - one.mean_odds) * len(own)  # where Bennett's bound is what each side may err by
        x = t / spread**2
        bound = math.exp(-(spread**2) * ((1 + x) * math.log1p(x) - x))
        assert 2 * 8 * bound == pytest.approx(0.01, rel=1e-4)
        assert not one.is_outside
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 our own bytes


@given(odds=st.lists(st.floats(0, 1), min_size=1, max_size=60), confidence=st.sampled_from([0.5, 0.8, 0.95, 0.999]))
def test_honest_dice_are_doubted_no_more_often_than_said(odds, confidence):
    """The chance of each number of yeses is computed exactly, by adding one person after another."""
    odds = np.array(odds)
    tally = Tally(("a",))
    tally.add(odds, np.zeros(odds.size, dtype=bool), np.zeros(odds.size, dtype=np.int64))
    (dice,) = tally.dice("yes", confidence=confidence, tests=1, places=False)
    chances = np.ones(1)
    for one in odds.tolist():
        chances = np.append(chances * (1 - one), 0.0) + np.append(0.0, chances * one)
    rates = np.arange(odds.size + 1) / odds.size
    outside = (rates < dice.low) | (rates > dice.high)
    assert chances[outside].sum() <= 1 - confidence + 1e-12


def test_dishonest_dice_are_doubted(policies):
    """Four standard deviations too many yeses in one group are seen, with the usual confidence."""
    people = cohort(2000)
    odds = eo.apply(policies["plain"], people, score="points", group="race")["odds"]
    rng = np.random.default_rng(4)
    for group in ("white", "asian"):
        own = (people["race"] == group).to_numpy()
        spread = math.sqrt((odds * (1 - odds))[own].sum())
        drawn = rng.random(2000) < odds
        too_few = np.flatnonzero(own & ~drawn)[: round(odds[own].sum() + 4 * spread - drawn[own].sum())]
        drawn[too_few] = True
        found = verified(policies, "plain", people.assign(odds=odds, draw=0.5, decision=drawn.astype(int)))
        assert found.suspicious == (group,)


def test_places_are_within_one_yes_of_the_odds(policies):
    decided = eo.decide(policies["places"], cohort(3000), **WORDS, places=True)
    found = verified(policies, "places", decided)
    assert not found.suspicious
    assert all(math.isnan(one.z) for one in found.dice)
    rows = decided.index[(decided["race"] == "white") & (decided["decision"] == 0)][:2]
    decided.loc[rows, "decision"] = 1
    found = verified(policies, "places", decided)
    assert found.suspicious == ("white",)
    assert found.wrong_decisions == 2
    assert found.wrong_draws == 0


# -- digits ------------------------------------------------------------------------------------------------------------


def test_fewer_digits_are_told_and_can_be_allowed_for(policies):
    decided = eo.decide(policies["plain"], cohort(400), **WORDS)
    for digits in (4, 9):
        significant = from_csv(decided.to_csv(index=False, float_format=f"%.{digits}g"))
        for rounded in (decided.round({"odds": digits, "draw": digits}), significant):
            found = verified(policies, "plain", rounded)
            assert not found.passed
            assert f"as if written with {digits} decimal places. Hint: digits={digits} compares them so." in str(found)
            found = verified(policies, "plain", rounded, digits=digits)
            assert found.passed
            assert f"(odds and draws to {digits} decimal places)" in str(found)
            assert not verified(policies, "plain", rounded, digits=digits + 2).passed
            rounded.loc[7, "draw"] += 2 * 10.0**-digits
            assert verified(policies, "plain", rounded, digits=digits).first.position == 7
    flipped = decided.assign(decision=1 - decided["decision"])
    assert verified(policies, "plain", flipped, digits=3).wrong_decisions == 400


def test_rounding_is_told_whatever_was_rounded(policies):
    decided = eo.decide(policies["plain"], cohort(2000), **WORDS)
    placed = eo.decide(policies["places"], cohort(2000), **WORDS, places=True)
    for digits in (4, 6, 12, 15):
        for kind, frame in (("plain", decided), ("places", placed)):
            found = verified(policies, kind, frame.assign(odds=frame["odds"].round(digits)))
            assert f"Hint: digits={digits} compares them so." in found.reason
            assert verified(policies, kind, frame.assign(odds=frame["odds"].round(digits)), digits=digits).passed


def test_scores_that_were_rounded_after_they_were_used_are_told(policies):
    rng = np.random.default_rng(0)
    people = cohort(3000).assign(points=rng.uniform(0, 60, 3000))
    decided = eo.decide(policies["plain"], people, **WORDS)
    assert verified(policies, "plain", decided).passed
    for digits in (0, 2, 6):
        told = f"right for scores that were rounded to {digits} decimal place"
        found = verified(policies, "plain", decided.assign(points=decided["points"].round(digits)))
        assert found.wrong_odds > 1000
        assert told in found.reason
    everything = from_csv(decided.to_csv(index=False, float_format="%.6f"))
    for digits in (None, 6):
        assert "rounded to 6 decimal places" in verified(policies, "plain", everything, digits=digits).reason
    tampered = decided.assign(odds=decided["odds"] + 0.01 * (decided["odds"] < 0.9))
    assert not verified(policies, "plain", tampered).reason


def test_ids_that_lost_their_zeros_are_told(policies):
    people = cohort(3000).assign(who=[f"{i:05d}" for i in range(9500, 12500)])
    frame = from_csv(eo.decide(policies["plain"], people, **WORDS).to_csv(index=False))
    assert frame["who"].dtype == "int64"
    found = verified(policies, "plain", frame)
    assert found.wrong_draws == 500
    assert "ids with zeros in front, such as '09500', which were read as numbers here" in found.reason


def test_what_is_behind_wrong_places(policies):
    people = cohort(3000)
    placed = eo.decide(policies["places"], people, **WORDS, places=True)
    uncertain = placed.index[(placed["odds"] > 0.1) & (placed["odds"] < 0.9)]
    found = verified(policies, "places", placed.drop(index=uncertain[3]))
    assert found.wrong_decisions > 10
    assert "one person too few or too many" in found.reason
    drawn = eo.decide(policies["plain"], people, **WORDS)
    found = verified(policies, "places", drawn)
    assert "those of a draw for each person, not of places. Hint: leave places out." in found.reason


def test_words_that_are_none(policies):
    frame = eo.decide(policies["review"], cohort(200), **WORDS)
    found = verified(policies, "review", frame.assign(decision=frame["decision"].str.capitalize()))
    assert found.wrong == 200
    assert found.reason.startswith("200 decisions are none of 'no', 'review' and 'yes', such as '")


# -- rows that cannot be judged ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("points", math.nan, "its score is missing, NaN or infinite"),
        ("points", math.inf, "its score is missing, NaN or infinite"),
        ("race", None, "it has no group"),
        ("who", None, "it has no id"),
        ("who", " p", "its id cannot be drawn for, since an id must be without spaces at its ends and NFC"),
        (
            "who",
            "Zoe\u0301",
            "its id cannot be drawn for, since an id must be without spaces at its ends and NFC-normali",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["plain", "review", "places"])
def test_rows_that_cannot_be_judged(policies, kind, column, value, why):
    frame = published(policies, kind, cohort())
    frame = frame.astype({"who": object, "race": object})
    frame.loc[4, column] = value
    found = verified(policies, kind, frame)
    assert not found.passed
    assert found.unjudged == 1
    assert re.search(
        rf"1 row cannot be judged, and should have no decision; the first is row 4( \(.*\))?: {why}", str(found)
    )
    if kind != "places":
        assert found.wrong == 1
        assert all(one.right is None for one in found.first.differences if one.column == "decision")
        # Nothing is published for somebody who cannot be decided for: that is as it should be.
        empty = [name for name in ("odds", "odds_review", "decision", "draw") if name in frame]
        frame["decision"] = frame["decision"].astype(object)
        frame.loc[4, empty] = None
        if column != "who":
            frame.loc[4, "draw"] = eo.draw([frame.loc[4, "who"]], key=KEY)[0]
        else:
            frame.loc[4, ["odds", "odds_review"][: len(empty) - 2]] = found_odds(policies[kind], frame.loc[4])
        found = verified(policies, kind, frame)
        assert found.passed
        assert found.unjudged == 1


def found_odds(policy, row):
    outcomes = ["yes"] if policy.review is None else ["yes", "review"]
    return [float(policy.odds(row["points"], row["race"], outcome=outcome)) for outcome in outcomes]


def test_ids_that_come_again_are_named(policies):
    decided = eo.decide(policies["plain"], cohort(100), **WORDS)
    twice = pd.concat([decided, decided.iloc[[3, 9, 3]]], ignore_index=True)
    found = verified(policies, "plain", twice)
    assert (found.doubled, found.wrong, found.passed) == (3, 0, False)
    assert found.doubled_ids == (decided.loc[3, "who"], decided.loc[9, "who"])
    assert (
        "Failed, though odds, draws and decisions of all 103 rows are right.\n3 rows have ids that were there before"
        in str(found)
    )
    assert repr(found) == "Verification(failed, 103 rows, 3 doubled)"
    mixed = pd.DataFrame({"who": pd.Series([7, "7"], dtype=object), "points": 20.0, "race": "white"})
    each = [eo.decide(policies["plain"], mixed.iloc[[i]], **WORDS) for i in (0, 1)]  # together they are refused
    assert verified(policies, "plain", pd.concat(each, ignore_index=True)).doubled == 1


def test_doubles_over_many_blocks():
    rng = np.random.default_rng(0)
    doubles, seen = Doubles(), set()
    for size in rng.integers(0, 400, 60):
        ids = [f"p{i}" for i in rng.integers(0, 60_000, size)]
        expected = []
        for place, one in enumerate(ids):
            if one in seen:
                expected.append(place)
            seen.add(one)
        draws = np.array([int(one[1:]) / 60_000 for one in ids])
        assert doubles.again(ids, draws).tolist() == expected
    held = [array for run in doubles._runs for array in run]  # noqa: SLF001 what it keeps is the promise
    shown = sum(array.size for array in held) // 2
    assert sum(array.nbytes for array in held) == 16 * shown
    assert len(held) < 2 * 12


def test_honest_files_with_scores_of_every_kind():
    """Numbers without a sign, truth values and decimals are the same scores, in whatever order places go by them."""
    rng = np.random.default_rng(0)
    n = 400
    label, group = rng.integers(0, 2, n), rng.choice(["a", "b"], n)
    score = np.clip(rng.poisson(4 - 2 * label), 0, 9)
    fitted = eo.fit(eo.JointDistribution.from_arrays(score, group, label, orientation="negative"), curve="fixed")
    people = pd.DataFrame({"who": [f"p{i}" for i in range(n)], "points": score.astype(float), "race": group})
    expected = eo.decide(fitted, people, **WORDS, places=True)["decision"].tolist()
    for kind in ("uint8", "uint16", "int8", "int64", "float32", "UInt8"):
        decided = eo.decide(fitted, people.astype({"points": kind}), **WORDS, places=True)
        assert decided["decision"].tolist() == expected, kind
        assert eo.verify(fitted, from_csv(decided.to_csv(index=False)), **WORDS, places=True).passed
    truth = people.assign(points=people["points"] > 3)
    assert eo.verify(fitted, eo.decide(fitted, truth, **WORDS, places=True), **WORDS, places=True).passed


def test_decimals_are_read_to_the_last_bit(policies):
    texts = [f"{i}.{j:03d}" for i in range(15, 50) for j in (1, 112, 333, 567, 999)]
    people = pd.DataFrame({"who": [f"p{i}" for i in range(len(texts))], "race": "white", "points": map(float, texts)})
    table = pa.Table.from_pandas(people, preserve_index=False)
    decimals = pa.array([decimal.Decimal(text) for text in texts], pa.decimal128(7, 3))
    exact = table.set_column(table.column_names.index("points"), "points", decimals)
    odds = eo.apply(policies["plain"], exact, score="points", group="race")["odds"].to_pylist()
    assert odds == policies["plain"].odds([float(text) for text in texts], "white").tolist()


def test_nothing_published_of_somebody_who_cannot_be_judged(policies):
    for kind in ("plain", "review"):
        frame = published(policies, kind, cohort()).astype({"decision": object})
        frame.loc[4, "points"] = math.nan
        frame.loc[4, [name for name in ("odds", "odds_review", "draw", "decision") if name in frame]] = None
        assert verified(policies, kind, frame).passed


def test_odd_cells_are_refused_in_words(policies):
    frame = published(policies, "review", cohort()).astype({"race": object, "decision": object})
    lists = pd.Series([["white"]] * len(frame), dtype=object)
    for bad in (frame.assign(race=lists), frame.assign(decision=lists)):
        with pytest.raises(eo.DataError, match="values that cannot be told apart"):
            verified(policies, "review", bad)
    dates = frame.assign(decision=[dt.date(2026, 1, 1)] * len(frame))
    assert json.dumps(verified(policies, "review", dates).as_json())
    broken = pa.array([b"\xff"] * len(frame)).cast(pa.binary()).view(pa.string())
    table = pa.Table.from_pandas(frame.drop(columns="race"), preserve_index=False).append_column("race", broken)
    with pytest.raises(eo.DataError, match="not UTF-8 text"):
        verified(policies, "review", table)
    who = pa.array([b"p1", b"Zo\xed\xa0\x80e"]).view(pa.string())
    two = pa.Table.from_pandas(frame.head(2), preserve_index=False)
    table = two.set_column(two.column_names.index("who"), "who", who)
    assert verified(policies, "review", table).first_unjudged.endswith("since it is not UTF-8 text")


# -- bad input ---------------------------------------------------------------------------------------------------------


def test_a_group_that_is_not_known_is_an_error_that_tells_the_rest(policies):
    frame = published(policies, "plain", cohort())
    frame.loc[[5, 8], "race"] = "martian"
    frame.loc[2, "decision"] = 1 - frame.loc[2, "decision"]
    with pytest.raises(eo.UnknownGroupError) as caught:
        verified(policies, "plain", frame)
    assert str(caught.value) == (
        "2 rows are of a group that the policy does not know (the first is row 5). The policy does not know the group "
        "'martian'. Known: 'asian', 'black', 'hispanic', 'white'. Of the other 78 rows 1 are wrong. Hint: is it the "
        "policy of these decisions, and are these the columns of its groups?"
    )


def test_bad_input_is_refused(policies):
    frame = published(policies, "plain", cohort())
    policy = policies["plain"]
    for name in ("who", "points", "race", "odds", "draw", "decision"):
        with pytest.raises(eo.DataError, match=f"The frame has no column '{name}'"):
            eo.verify(policy, frame.drop(columns=name), **WORDS)
    with pytest.raises(eo.DataError, match="no column 'odds_review'"):
        verified(policies, "review", frame)
    numbered = frame.rename(columns={"odds": 5, "decision": 6}).drop(columns=6)  # pandas names columns by numbers too
    with pytest.raises(eo.DataError, match="no column 6"):
        eo.verify(policy, numbered, **WORDS, odds=5, decision=6)
    with pytest.raises(eo.DataError, match="There are no rows to verify"):
        eo.verify(policy, frame.iloc[:0], **WORDS)
    with pytest.raises(eo.DataError, match=r"None of the 80 rows can be judged; the first is row 0 .*: its score is"):
        eo.verify(policy, frame.assign(points=math.nan), **WORDS)
    with pytest.raises(eo.OptionError, match="key must be a string of 64"):
        eo.verify(policy, frame, **{**WORDS, "key": "ab"})
    with pytest.raises(eo.OptionError, match=r"round='a\|b' is not allowed"):
        eo.verify(policy, frame, **WORDS, round="a|b")
    with pytest.raises(eo.OptionError, match="digits=0 is not allowed"):
        eo.verify(policy, frame, **WORDS, digits=0)
    with pytest.raises(eo.OptionError, match="confidence=1 is not allowed"):
        eo.verify(policy, frame, **WORDS, confidence=1)
    with pytest.raises(
        eo.DataError, match=r"takes frames in memory \(pandas, polars, pyarrow\), got polars's LazyFrame"
    ):
        eo.verify(policy, pl.from_pandas(frame).lazy(), **WORDS)
    with pytest.raises(eo.OptionError, match="must be a Policy, got float"):
        eo.verify(0.5, frame, **WORDS)
    with pytest.raises(eo.OptionError, match="this policy also says review"):
        eo.verify(policies["review"], frame, **WORDS, places=True)
    with pytest.raises(eo.DataError, match=r"decision column 'decision' must be numbers.* Hint: decisions are 0 and 1"):
        eo.verify(policy, frame.assign(decision="yes"), **WORDS)
    with pytest.raises(eo.DataError, match="The odds column 'odds' holds String, not numbers"):
        eo.verify(policy, pl.from_pandas(frame.assign(odds="high")), **WORDS)


def test_the_commitment_that_was_published(policies):
    frame = published(policies, "plain", cohort())
    assert verified(policies, "plain", frame, commitment=commitment(KEY)).passed
    assert "as committed" in str(verified(policies, "plain", frame, commitment=f" {commitment(KEY).upper()}\n"))
    other = verified(policies, "plain", frame, commitment="0" * 64)
    assert not other.passed
    assert other.wrong == 0
    assert f"The key is not the one that was committed to: {'0' * 64} was published." in str(other)
    of_file = hashlib.sha256(f"{KEY}\n".encode()).hexdigest()
    assert "the SHA-256 of a file with this key and a line end" in str(
        verified(policies, "plain", frame, commitment=of_file)
    )
    for bad in ("", "ab", "g" * 64, 7):
        with pytest.raises(eo.OptionError, match="commitment must be 64 hexadecimal digits"):
            verified(policies, "plain", frame, commitment=bad)


def test_scores_of_single_precision_are_told(policies):
    people = cohort(200).assign(points=lambda frame: (frame["points"] + 0.1).astype("float32"))
    frame = eo.decide(policies["plain"], people, **WORDS)
    assert verified(policies, "plain", frame).passed
    text = from_csv(frame.to_csv(index=False))  # writes 20.1 for the float32 nearest to it
    found = verified(policies, "plain", text)
    assert found.wrong_odds > 50
    assert "All of these odds are right for scores of single precision (float32)" in str(found)
    assert verified(policies, "plain", text.astype({"points": "float32"})).passed


def test_what_is_told_of_one_row(policies):
    frame = published(policies, "review", cohort())
    row = int(frame.index[frame["decision"] == "review"][0])
    frame.loc[row, "decision"] = "no"
    found = verified(policies, "review", frame)
    (difference,) = found.first.differences
    assert (difference.column, difference.published, difference.right) == ("decision", "no", "review")
    assert f"The first is row {row} (id {frame.loc[row, 'who']!r}): decision 'no' is published" in str(found)
    assert repr(found) == "Verification(failed, 1 of 80 rows wrong)"
    with pytest.raises(AttributeError):
        found.rows = 3
