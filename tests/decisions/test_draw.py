from __future__ import annotations

import decimal
import enum
import hashlib
import hmac
import math
import re
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import chisquare, kstest

import evenodds as eo
from evenodds.decisions.keys import chain, commitment

KEY = "ab" * 32
MISSING = "it is missing. Hint: everybody who is drawn for needs an id."
HALF = "it has half a character, a lone surrogate. Hint: read the ids with the encoding that they have."
EMPTY = "it is empty. Hint: everybody who is drawn for needs an id."
FLOAT = (
    "it is a float, which programs write in different ways (7.0, 7, 7e0). "
    "Hint: make whole numbers or strings of the ids."
)
TRUTH = "it is a boolean, which programs write in different ways (True, true, 1). Hint: name a column of ids."
NUL = "it has the character U+0000, which not every engine can hold. Hint: take it out."
ENDS = (
    "an id must be without spaces at its ends and NFC-normalised. "
    "Hint: unicodedata.normalize('NFC', id.strip()) repairs it."
)
OTHER = "it is of type {}. Allowed: strings and whole numbers. Hint: make strings of the ids."
BAD = [
    *((missing, MISSING) for missing in (None, math.nan, np.float64("nan"), pd.NA, pd.NaT)),
    ("", EMPTY),
    ("Zo\ud800e", HALF),
    *((number, FLOAT) for number in (7.0, np.float32(0.5), math.inf)),
    *((truth, TRUTH) for truth in (True, np.False_)),
    *((text, NUL) for text in ("a\0b", "\0", "é\0")),
    *((text, ENDS) for text in (" a", "a\t", "a\n", "e\u0301", "\u00a0é")),
    (b"a", OTHER.format("bytes")),
    (uuid.UUID(int=7), OTHER.format("UUID")),
    (np.datetime64("2026-05-01"), OTHER.format("datetime64")),
]


@pytest.fixture(scope="module")
def policy():
    return eo.fit(eo.datasets.credit_risk())


@pytest.mark.parametrize(("bad", "why"), BAD, ids=lambda value: repr(value)[:20])
def test_an_id_that_cannot_be_drawn_for_is_named_with_its_place(policy, bad, why):
    expected = f"id {bad!r} cannot be drawn for (position 1): {why}"
    with pytest.raises(eo.DataError) as drawn:
        eo.draw(["a", bad], key=KEY)
    assert str(drawn.value) == expected
    with pytest.raises(eo.DataError) as drawn:
        eo.draw(np.array(["a", bad], dtype=object), key=KEY)
    assert str(drawn.value) == expected
    people = pd.DataFrame({"who": pd.Series(["a", bad], dtype=object), "points": [25, 50], "race": ["white", "white"]})
    with pytest.raises(eo.DataError) as decided:
        eo.decide(policy, people, score="points", group="race", id="who", key=KEY)
    assert str(decided.value) == expected


@pytest.mark.parametrize("kind", ["string", "Int64", "str", "category"])
def test_a_missing_id_of_any_column(policy, kind):
    who = pd.Series([7, None, 8] if kind == "Int64" else ["a", None, "b"], dtype=kind)
    people = pd.DataFrame({"who": who, "points": 50, "race": "white"})
    with pytest.raises(eo.DataError, match=r"cannot be drawn for \(position 1\): it is missing"):
        eo.decide(policy, people, score="points", group="race", id="who", key=KEY)


def test_bytes_that_are_no_text_in_an_arrow_table(policy):
    who = pa.array([b"a", b"b", b"Zo\xed\xa0\x80e"], pa.binary()).view(pa.string())
    people = pa.table({"who": who, "points": [50.0] * 3, "race": ["white"] * 3})
    with pytest.raises(eo.DataError, match=re.escape(r"(position 2): it is not UTF-8 text.")):
        eo.decide(policy, people, score="points", group="race", id="who", key=KEY)


@pytest.mark.parametrize("bad", ["second|third", "\udcff", "\0", None, 2])
def test_a_round_that_is_none(bad):
    with pytest.raises(eo.OptionError) as caught:
        eo.draw(["a"], key=KEY, round=bad)
    assert str(caught.value) == (
        f"round={bad!r} is not allowed. Allowed: a string without '|', U+0000 and lone surrogates."
    )


def test_numbers_are_drawn_for_as_text():
    known = eo.draw(["7", "0", "-8", "1" * 30], key=KEY)
    for numbers in ([7, 0, -8, int("1" * 30)], [np.int8(7), np.uint64(0), np.int64(-8), "1" * 30]):
        np.testing.assert_array_equal(eo.draw(numbers, key=KEY), known)
    for kind in (np.int8, np.int64, object, "U5"):
        np.testing.assert_array_equal(eo.draw(np.array([7, 0, -8], dtype=kind), key=KEY), known[:3])
    np.testing.assert_array_equal(eo.draw(pd.Series([7, 0, -8]), key=KEY), known[:3])
    with pytest.raises(eo.DataError, match=r"\(position 1\): it has thousands of digits\. Hint: give it as a string"):
        eo.draw([1, 10**5000], key=KEY)
    for other in (np.array([7.0]), np.array([True]), np.array(["2026-05-01"], dtype="M8[ns]"), np.array([b"a"])):
        with pytest.raises(eo.DataError, match=r"cannot be drawn for \(position 0\): it is "):
            eo.draw(other, key=KEY)


def test_every_draw_is_what_it_is_said_to_be():
    """Beside Python's own hmac: ids of every kind, more of them than are hashed at a time."""
    some = [f"p{i}" for i in range(70_000)]
    for ids in (
        some,
        [*some, "é", "\U0001f600", "x" * 100, "a|b", 'O\'Neil \\ "x"'],
        iter(some[:3]),
        tuple(some[:3]),
        [],
    ):
        held = list(ids) if not isinstance(ids, list) else ids
        digests = (hmac.digest(KEY.encode(), f"evenodds/draw/v1|r 1|{one}".encode(), "sha256") for one in held)
        known = [(int.from_bytes(digest[:7]) >> 3) / 2**53 for digest in digests]
        assert eo.draw(held, key=KEY, round="r 1").tolist() == known


@pytest.mark.parametrize(
    ("bad", "got"),
    [
        ("AB" * 32, "one with upper-case letters, which reads as the same key and would draw differently under one"),
        ("aB" * 32, "one with upper-case letters"),
        (
            "ab" * 31,
            "62 characters. Hint: give the key itself, all of it; evenodds draw-key makes a new one,",
        ),
        ("ab" * 32 + "\n", "one with spaces or a line end around it. Hint: key.strip() takes these away."),
        ("é" * 64, "one with other characters"),
        ("\u212a" * 64, "one with other characters"),
        (b"ab" * 32, "bytes"),
        (7, "int"),
    ],
)
def test_a_key_that_is_none(policy, bad, got):
    people = pd.DataFrame({"who": ["a", None], "points": [25, 50], "race": "white"})
    words = {"score": "points", "group": "race", "id": "who"}
    for call in (
        lambda: eo.draw(["a", None], key=bad),
        lambda: eo.decide(policy, people, **words, key=bad),
        lambda: eo.decide(policy, people, **words, key=bad, places=True),
        lambda: commitment(bad),
        lambda: chain(2, last=bad),
    ):
        with pytest.raises(eo.OptionError) as caught:
            call()
        assert str(caught.value).startswith(f"key must be a string of 64 lower-case hexadecimal digits, got {got}")


def test_a_chain_ends_in_the_last_key_and_each_is_the_commitment_of_the_next():
    keys = chain(5, last=KEY)
    assert keys[-1] == KEY
    assert [hashlib.sha256(key.encode()).hexdigest() for key in keys[1:]] == keys[:-1]
    assert chain(1, last=KEY) == [KEY]
    assert len({*chain(3), *chain(3)}) == 6
    for bad in (0, -1, 2.0, True, "3"):
        with pytest.raises(eo.OptionError, match=r"rounds=.* is not allowed\. Allowed: a whole number from 1 on\."):
            chain(bad)


@pytest.mark.parametrize("frame", [pd.DataFrame, pa.table, pl.DataFrame])
def test_somebody_who_stands_twice_in_a_round_is_refused(policy, frame):
    words = {"score": "points", "group": "race", "id": "who", "key": KEY}
    people = frame({"who": ["a", "b", "c", "b"], "points": [25, 50, 50, 50], "race": ["white"] * 4})
    with pytest.raises(eo.DataError) as caught:
        eo.decide(policy, people, **words)
    assert str(caught.value) == (
        "id 'b' comes 2 times (position 1, position 3). In a round everybody is decided for once. "
        "Hint: drop rows that are there twice, or name a column whose values differ."
    )


# -- chance ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def million():
    """The draws of 0 to 999,999 with one key: what is tested of them is the same in every run."""
    return eo.draw(range(1_000_000), key=KEY)


def test_draws_of_a_million_are_uniform(million):
    """By chi-square over 1,000 bins and by Kolmogorov and Smirnov; bits of the tail by chi-square, too."""
    counts = np.bincount((million * 1000).astype(int), minlength=1000)
    assert chisquare(counts).pvalue > 0.001
    assert kstest(million, "uniform").pvalue > 0.001
    low = (million * 2**53).astype(np.uint64) & np.uint64(1023)
    assert chisquare(np.bincount(low.astype(int), minlength=1024)).pvalue > 0.001
    assert million.min() >= 0
    assert million.max() < 1


def test_neighbours_have_nothing_to_do_with_each_other(million):
    """Of n draws without a link the correlation has a standard error of 1 / sqrt(n)."""
    for lag in (1, 2, 10):
        assert abs(np.corrcoef(million[:-lag], million[lag:])[0, 1]) < 4 / math.sqrt(million.size)
    other = eo.draw(range(100_000), key=KEY, round="second")
    assert abs(np.corrcoef(million[:100_000], other)[0, 1]) < 4 / math.sqrt(100_000)
    squares = np.bincount((million[:-1] * 32).astype(int) * 32 + (million[1:] * 32).astype(int), minlength=1024)
    assert chisquare(squares).pvalue > 0.001


def test_realised_rates_are_the_odds_up_to_binomial_error(policy, million):
    rng = np.random.default_rng(0)
    scores, race = rng.choice(np.arange(0, 100, 2.5), million.size), rng.choice(policy.groups, million.size)
    odds = policy.odds(scores, race)
    yes = million < odds
    for group in policy.groups:
        held = race == group
        error = math.sqrt((odds[held] * (1 - odds[held])).sum())
        assert abs(yes[held].sum() - odds[held].sum()) < 4 * error
    for one in (0.01, 0.25, 0.5, 0.9):
        assert abs((million < one).mean() - one) < 4 * math.sqrt(one * (1 - one) / million.size)


class Who(str, enum.Enum):  # noqa: UP042 whose str() is its name
    A = "a"


def test_ids_that_are_not_several(policy):
    assert eo.draw([Who.A], key=KEY) == eo.draw(["a"], key=KEY)
    for bad in ("alice", b"alice", 5, None, {"a": 1}, pd.DataFrame({"a": [1]}), np.array([["a"]])):
        with pytest.raises(eo.DataError, match=r"ids must be a list, an array or a column of ids, got .* a list"):
            eo.draw(bad, key=KEY)
    for cell in (np.array([1, 2]), decimal.Decimal("sNaN"), [1]):
        with pytest.raises(eo.DataError, match=r"cannot be drawn for \(position 0\)"):
            eo.draw([cell], key=KEY)
    people = pd.DataFrame({5: ["a"], "points": [25], "race": ["white"]})
    named = eo.decide(policy, people, score="points", group="race", id=5, key=KEY)  # pandas names columns by anything
    assert named["draw"].tolist() == eo.draw(["a"], key=KEY).tolist()
    assert eo.verify(policy, named, score="points", group="race", id=5, key=KEY).passed
    with pytest.raises(eo.OptionError, match="must be a Policy, got str"):
        eo.decide("x", people, score="points", group="race", id="who", key=KEY, places=True)
