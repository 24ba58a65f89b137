"""Columns by number: every library's way gives the same numbers as a plain dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from engines import needed
from evenodds.frames import columns_of, factorize

pd, pl, pa = needed("pandas"), needed("polars"), needed("pyarrow")

VALUES = {
    "words": st.one_of(st.none(), st.sampled_from(["a", "b", "ä", "", "a, b"])),
    "whole": st.one_of(st.none(), st.integers(-3, 3)),
    "large": st.one_of(st.none(), st.integers(-(2**62), 2**62)),
    "truth": st.one_of(st.none(), st.booleans()),
    "floats": st.one_of(st.none(), st.sampled_from([0.5, -1.0, 1e300])),
}


def _chunked(array):
    """In two parts, as tables that were joined are."""
    return pa.chunked_array([array[:2], array[2:]], array.type)


MAKERS = {
    "objects": lambda v: np.array([*v, None], dtype=object)[:-1],
    "pandas object": lambda v: pd.Series(v, dtype=object),
    "pandas": pd.Series,
    "pandas category": lambda v: pd.Series(v, dtype="category"),
    "polars": pl.Series,
    "polars category": lambda v: pl.Series(v, dtype=pl.Categorical),
    "arrow": lambda v: _chunked(pa.array(v)),
    "arrow dictionary": lambda v: _chunked(pa.array(v)).dictionary_encode(),
}


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("kind", VALUES)
@given(data=st.data())
def test_numbers_lead_back_to_the_values(maker, kind, data):
    values = data.draw(st.lists(VALUES[kind], min_size=1, max_size=12).filter(lambda v: any(x is not None for x in v)))
    if maker == "polars category" and kind != "words":
        return  # its categories are words
    if maker in ("pandas", "pandas category") and kind in ("whole", "large", "truth") and None in values:
        return  # pandas makes floats or objects of them before we see them
    made = MAKERS[maker](values)
    codes, found = factorize((columns_of(made) or [made])[0])
    assert [None if code < 0 else found[code] for code in codes.tolist()] == values


@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "u8", "i4", "f4", "?"])
def test_arrays_of_every_width(dtype):
    column = np.array([1, 0, 1, 1], dtype=dtype)
    codes, found = factorize(column)
    assert [found[code] for code in codes] == column.tolist()
    assert codes.dtype == np.int8


def test_small_numbers_that_lie_far_apart():
    column = np.array([-100, 100, 27], dtype=np.int8)
    codes, found = factorize(column)
    assert [found[code] for code in codes] == column.tolist()


def test_lazy_columns_are_refused():
    with pytest.raises(eo.DataError, match=r"A lazy table .* has no rows yet. Hint: collect it"):
        eo.JointDistribution.from_arrays([1.0], pl.LazyFrame({"g": ["a"]}), [1])


def test_values_that_cannot_be_told_apart():
    column = np.empty(2, dtype=object)
    column[:] = [["a"], ["b"]]
    with pytest.raises(eo.DataError, match="cannot be told apart"):
        factorize(column)
