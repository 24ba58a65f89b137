"""Columns of a file's table as what they are needed for: numbers, names and labels; and errors about their rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenodds.errors import DataError, EvenoddsError

__all__ = ["Seen", "in_words_of_the_command_line", "labels", "numbers", "rows_from", "texts"]

_QUOTED = re.compile(r"""(?<![\w=.(])((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w))""")
_HINTS = {
    "positive_label=": "--positive-label ",
    "round=": "--round ",
    ", or True for as many": ", or --places for as many",
    "places= hands": "--places hands",
    "places=": "--places-count ",
    "digits=": "--digits ",
    "confidence=": "--confidence ",
    "commitment must": "--commitment must",
    "selection_rate=": "--selection-rate ",
    "id None cannot": "an id cannot",
    "unicodedata.normalize('NFC', id.strip()) repairs it": "repair it in the file",
    "on_invalid='null' leaves their odds missing": "apply --on-invalid null leaves their odds empty",
}


@contextmanager
def rows_from(first: int, where: str) -> Iterator[None]:
    """Errors about rows as the file has them, counted from 1, and with the options of the command line."""
    try:
        yield
    except EvenoddsError as error:
        msg = f"{where}: {in_words_of_the_command_line(str(error), first)}"
        raise type(error)(msg) from None


def in_words_of_the_command_line(text: str, first: int = 0) -> str:
    """A message with rows as the file has them and options as they are typed; what is quoted stays as it is."""

    def told(part: str) -> str:
        part = re.sub(r"\b(?:row|position) (\d+)", lambda match: f"row {int(match[1]) + first}", part)
        for python, option in _HINTS.items():
            part = part.replace(python, option)
        return part

    parts = _QUOTED.split(text)  # every other one is quoted
    return "".join(part if i % 2 else told(part) for i, part in enumerate(parts))


class Seen:
    """Who was drawn for, over all blocks of a file: 16 bytes a person, since files may be larger than memory.

    The same id has the same draw. Two others may share one by chance, but hardly a hash of 64 bits as well: for 1e9
    people the chance of any such pair is below 1e-17.
    """

    def __init__(self) -> None:
        self._draws: list[np.ndarray] = []
        self._hashes: list[np.ndarray] = []

    def add(self, draws: pa.ChunkedArray, ids: pa.ChunkedArray) -> None:
        """Some rows more."""
        self._draws.append(np.array(draws))
        self._hashes.append(np.fromiter(map(hash, ids.to_pylist()), np.int64, len(ids)))

    def check(self, where: str) -> None:
        """Refuse an id that comes in two rows; within a block it was found before."""
        if len(self._draws) < 2:  # noqa: PLR2004 one block
            return
        draws, hashes = np.concatenate(self._draws), np.concatenate(self._hashes)
        order = np.lexsort((hashes, draws))
        same = (np.diff(draws[order]) == 0) & (np.diff(hashes[order]) == 0)
        if same.any():
            pairs = np.sort(np.stack([order[:-1][same], order[1:][same]]), axis=0)
            first, again = pairs[:, np.argmin(pairs[1])] + 1
            msg = (
                f"{where}: row {again} has the id of row {first}. In a round everybody is decided for once. "
                "Hint: drop rows that are there twice, or name a column whose values differ."
            )
            raise DataError(msg)


def numbers(table: pa.Table, column: str, *, where: str, first_row: int = 1) -> pa.ChunkedArray:
    """A column as numbers; text that is none is shown with its row."""
    values = table[column]
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return values
    trimmed = pc.utf8_trim_whitespace(values)
    try:
        return trimmed.cast(pa.float64())
    except pa.ArrowInvalid:
        for row, text in enumerate(trimmed.to_pylist(), first_row):
            if text is not None and not _is_number(text):
                msg = f"{where}, row {row}: {text!r} in column {column!r} is not a number."
                raise DataError(msg) from None
        raise


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()  # Python would allow these, and digits of other scripts


def texts(table: pa.Table, column: str) -> pa.ChunkedArray:
    """A column of groups or names; text is taken as it stands but for spaces around it."""
    values = table[column]
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    return pc.utf8_trim_whitespace(values) if is_text else values


def labels(table: pa.Table, column: str, positive_label: str | None, *, where: str) -> pa.ChunkedArray:
    """A column of labels: numbers and truth values where it has such, text where a word is the yes."""
    values = texts(table, column)
    if pa.types.is_dictionary(values.type) or pa.types.is_large_string(values.type):
        values = values.cast(pa.string())
    if positive_label is not None:
        return values.cast(pa.string())
    if not pa.types.is_string(values.type):
        return values
    lowered = pc.utf8_lower(values)
    kinds = set(pc.unique(lowered).to_pylist()) - {None}
    if kinds <= {"true", "false"}:
        return pc.equal(lowered, "true")
    try:
        return values.cast(pa.float64())
    except pa.ArrowInvalid:
        words = ", ".join(repr(word) for word in sorted(set(pc.unique(values).to_pylist()) - {None})[:6])
        msg = f"{where}: column {column!r} has the values {words}. Hint: --positive-label says which is the yes."
        raise DataError(msg) from None
