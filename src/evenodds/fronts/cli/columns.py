"""Columns of a file's table as what they are needed for: numbers, names and labels; and errors about their rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evenodds.errors import DataError, EvenoddsError
from evenodds.fronts.cli.spellings import outside_quotes
from evenodds.model.columns import WORDS_FOR_NOTHING

__all__ = ["Rows", "labels", "numbers", "rows_from", "texts"]

_NOTHING = pa.array(sorted(WORDS_FOR_NOTHING))
_PERCENT = re.compile(r"([-+\d.,]+) ?%")
_COMMA = re.compile(r"[-+]?\d*,\d+")

Rows: TypeAlias = "int | NDArray[np.intp]"
"""The number of a table's first row in the file, where the others follow it; else that of each row."""


@contextmanager
def rows_from(rows: Rows, where: str, *, among: int | None = None) -> Iterator[None]:
    """Errors about rows as the file has them, counted from 1; what is quoted stays as it is.

    Of a file that is read in parts, so many rows are known by now.
    """

    def numbered(match: re.Match[str]) -> str:
        place = int(match[1])
        return f"row {place + rows if isinstance(rows, int) else rows[place]}"

    try:
        yield
    except EvenoddsError as error:
        words = outside_quotes(str(error), lambda part: re.sub(r"\b(?:row|position) (\d+)", numbered, part))
        if among is not None:
            words = re.sub(r"^([\d,]+ of )[\d,]+ rows", rf"\g<1>the first {among:,} rows", words)
        msg = f"{where}: {words}"
        raise type(error)(msg) from None


def numbers(table: pa.Table, column: str, *, where: str, first_row: int = 1) -> pa.ChunkedArray:
    """A column as numbers; text that is none is shown with its row, and words for nothing are missing."""
    values = table[column]
    if not _is_text(values):
        return values
    trimmed = pc.utf8_trim_whitespace(values)
    with suppress(pa.ArrowInvalid):
        return trimmed.cast(pa.float64())
    there = _without_words_for_nothing(trimmed)
    try:
        return there.cast(pa.float64())
    except pa.ArrowInvalid:
        for row, text in enumerate(there.to_pylist(), first_row):
            if text is not None and not _is_number(text):
                msg = f"{where}, row {row}: {text!r} in column {column!r} is not a number.{_as_a_number(text)}"
                raise DataError(msg) from None
        raise


def _is_text(values: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_string(values.type) or pa.types.is_large_string(values.type))


def _without_words_for_nothing(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text with nothing in place of NA, N/A, null and the like, as R, pandas, spreadsheets and databases write it."""
    is_nothing = pc.is_in(pc.utf8_lower(values).cast(pa.string()), value_set=_NOTHING)
    return pc.if_else(is_nothing, pa.scalar(None, values.type), values)


def _as_a_number(text: str) -> str:
    """A hint at how a number is written that somebody writes otherwise."""
    if percent := _PERCENT.fullmatch(text):
        return f" Hint: write {percent[1].replace(',', '.')} or a share of 1, without the sign, in all rows."
    return f" Hint: write it with a point, {text.replace(',', '.')}." if _COMMA.fullmatch(text) else ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()  # Python would allow these, and digits of other scripts


def texts(table: pa.Table, column: str) -> pa.ChunkedArray:
    """A column of groups or names; text is taken as it stands but for spaces around it."""
    values = table[column]
    return pc.utf8_trim_whitespace(values) if _is_text(values) else values


def labels(table: pa.Table, column: str, positive_label: str | None, *, where: str) -> pa.ChunkedArray:
    """A column of labels: numbers and truth values where it has such, text where a word is the yes.

    Words for nothing are missing labels, unless such a word is the yes.
    """
    values = texts(table, column)
    if pa.types.is_dictionary(values.type) or pa.types.is_large_string(values.type):
        values = values.cast(pa.string())
    if pa.types.is_float16(values.type):
        values = values.cast(pa.float32())
    is_text = pa.types.is_string(values.type)
    kinds_of_arrow = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
    if not (is_text or any(is_one(values.type) for is_one in kinds_of_arrow)):
        msg = f"{where}: column {column!r} holds {values.type}. Allowed: numbers, truth values or text, as labels are."
        raise DataError(msg)
    if is_text and (positive_label is None or positive_label.lower() not in WORDS_FOR_NOTHING):
        values = _without_words_for_nothing(values)
    if positive_label is not None:
        return values.cast(pa.string())
    if not is_text:
        return values
    lowered = pc.utf8_lower(values)
    kinds = set(pc.unique(lowered).to_pylist()) - {None}
    if kinds <= {"true", "false"}:
        return pc.equal(lowered, "true")
    for kind in (pa.int64(), pa.float64()):  # so that 2 is told as 2, and not as 2.0
        with suppress(pa.ArrowInvalid):
            return values.cast(kind)
    words = ", ".join(repr(word) for word in sorted(set(pc.unique(values).to_pylist()) - {None})[:6])
    msg = f"{where}: column {column!r} has the values {words}. Hint: --positive-label says which is the yes."
    raise DataError(msg)
