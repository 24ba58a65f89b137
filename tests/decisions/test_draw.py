from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import evenodds as eo

KEY = "ab" * 32
MISSING = "it is missing. Hint: everybody who is drawn for needs an id."
HALF = "it has half a character, a lone surrogate. Hint: read the ids with the encoding that they have."
BAD = [(None, MISSING), (math.nan, MISSING), (pd.NA, MISSING), (pd.NaT, MISSING), ("", MISSING), ("Zo\ud800e", HALF)]


@pytest.fixture(scope="module")
def policy():
    return eo.fit(eo.datasets.credit_risk())


@pytest.mark.parametrize(("bad", "why"), BAD, ids=lambda value: repr(value)[:20])
def test_an_id_that_cannot_be_drawn_for_is_named_with_its_place(policy, bad, why):
    expected = f"id {bad!r} cannot be drawn for (position 1): {why}"
    with pytest.raises(eo.DataError) as drawn:
        eo.draw(["a", bad], key=KEY)
    assert str(drawn.value) == expected
    people = pd.DataFrame({"who": pd.Series(["a", bad], dtype=object), "points": [25, 50], "race": ["white", "white"]})
    with pytest.raises(eo.DataError) as decided:
        eo.decide(policy, people, score="points", group="race", id="who", key=KEY)
    assert str(decided.value) == expected


@pytest.mark.parametrize("kind", ["string", "Int64", "str", "float64", "category"])
def test_a_missing_id_of_any_column(policy, kind):
    who = pd.Series([7, None, 8] if kind in {"Int64", "float64"} else ["a", None, "b"], dtype=kind)
    people = pd.DataFrame({"who": who, "points": 50, "race": "white"})
    with pytest.raises(eo.DataError, match=r"cannot be drawn for \(position 1\): it is missing"):
        eo.decide(policy, people, score="points", group="race", id="who", key=KEY)


def test_bytes_that_are_no_text_in_an_arrow_table(policy):
    who = pa.array([b"a", b"b", b"Zo\xed\xa0\x80e"], pa.binary()).view(pa.string())
    people = pa.table({"who": who, "points": [50.0] * 3, "race": ["white"] * 3})
    with pytest.raises(eo.DataError, match=re.escape(r"(position 2): it is not UTF-8 text.")):
        eo.decide(policy, people, score="points", group="race", id="who", key=KEY)


@pytest.mark.parametrize("bad", ["second|third", "\udcff", None, 2])
def test_a_round_that_is_none(bad):
    with pytest.raises(eo.OptionError) as caught:
        eo.draw(["a"], key=KEY, round=bad)
    assert str(caught.value) == (f"round={bad!r} is not allowed. Allowed: a string of whole characters, without '|'.")


def test_numbers_are_drawn_for_as_text():
    np.testing.assert_array_equal(eo.draw([7, 0, np.int64(8)], key=KEY), eo.draw(["7", "0", "8"], key=KEY))
