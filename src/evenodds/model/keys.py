"""Group keys: a group is known by a string, one column or several.

A value's key is str(value); the keys of several columns are joined by ", ". Two different values that would share a
key (1 and "1", or ("a, b", "c") and ("a", "b, c")) are an error, since nobody could tell them apart afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError

__all__ = ["Codes", "GroupLike", "encode", "key_of", "owners"]

Codes = NDArray[np.intp]
GroupLike = Any
"""One column or several: too many shapes for a type to help; `encode` says what it takes."""

_JOINER = ", "


def key_of(value: object) -> str:
    """The key of one group value; a tuple is a value of several columns.

    >>> key_of("white"), key_of(3), key_of(("Caucasian", "Male"))
    ('white', '3', 'Caucasian, Male')
    """
    if isinstance(value, tuple):
        return _JOINER.join(str(part) for part in value)
    return str(value)


def encode(group: GroupLike) -> tuple[Codes, tuple[str, ...]]:
    """Codes of the people's groups, and the keys that the codes point into, sorted.

    >>> encode(["white", "asian", "white"])
    (array([1, 0, 1]), ('asian', 'white'))
    >>> encode([["w", "b", "w"], [1, 1, 2]])[1]
    ('b, 1', 'w, 1', 'w, 2')
    """
    columns = _columns(group)
    lengths = {column.size for column in columns}
    if len(lengths) > 1:
        sizes = ", ".join(str(column.size) for column in columns)
        msg = (
            f"The columns of group have different lengths: {sizes}. "
            "Hint: several columns are a list of columns, or a 2-D array with a row for each person."
        )
        raise DataError(msg)
    coded = [_distinct(column) for column in columns]
    codes, values = coded[0][0], [(value,) for value in coded[0][1]]
    for more_codes, more_values in coded[1:]:
        pairs, codes = np.unique(codes * len(more_values) + more_codes, return_inverse=True)
        values = [(*values[pair // len(more_values)], more_values[pair % len(more_values)]) for pair in pairs.tolist()]
    return _by_key(codes, values)


def owners(values: Iterable[object]) -> dict[str, object]:
    """Which value each key stands for; refuse two different values with one key."""
    owner: dict[str, object] = {}
    for value in values:
        first = owner.setdefault(key_of(value), value)
        if first != value:
            msg = (
                f"Two different groups would share the key {key_of(value)!r}: {first!r} and {value!r}. "
                "Hint: rename one of the values."
            )
            raise DataError(msg)
    return owner


def _by_key(codes: Codes, values: Sequence[tuple[object, ...]]) -> tuple[Codes, tuple[str, ...]]:
    """Renumber the codes so that the keys come out sorted; refuse two values with one key."""
    keys = sorted(owners(value[0] if len(value) == 1 else value for value in values))
    position = {key: i for i, key in enumerate(keys)}
    order = np.array([position[key_of(value)] for value in values], dtype=np.intp)
    return order[codes], tuple(keys)


def _columns(group: GroupLike) -> list[NDArray[np.generic]]:
    """One 1-D array for each column of `group`."""
    if isinstance(group, (list, tuple)) and group and all(_is_column(part) for part in group):
        columns = [_as_given(part) for part in group]
    else:
        table = _as_given(group)
        columns = list(table.T) if table.ndim == 2 else [table]  # noqa: PLR2004 a 2-D array is a table
    if not columns or any(column.ndim != 1 for column in columns):
        msg = f"group must be one column or several, got an array of shape {np.shape(columns[0]) if columns else (0,)}."
        raise DataError(msg)
    return columns


def _as_given(values: Any) -> NDArray[Any]:
    """An array whose values are still what they were: numpy would turn [1, "1"] into two equal strings."""
    if np.ma.is_masked(values):
        count = int(np.ma.getmaskarray(values).sum())
        msg = f"group has {count} masked values. Hint: drop these rows, or fill in a group."
        raise DataError(msg)
    array = np.asarray(values)
    if array.dtype.kind in "US" and isinstance(values, (list, tuple)) and not all(isinstance(v, str) for v in values):
        array = np.asarray(values, dtype=object)
    return array


def _is_column(part: Any) -> bool:
    return not isinstance(part, (str, bytes)) and np.ndim(part) > 0


def _distinct(column: NDArray[np.generic]) -> tuple[Codes, list[object]]:
    """Codes and the distinct values; missing values are an error."""
    if column.dtype != object:
        values, codes = np.unique(column, return_inverse=True)
        missing = (
            np.isnan(values) if values.dtype.kind == "f" else np.isnat(values) if values.dtype.kind in "mM" else None
        )
        if missing is not None and missing.any():
            _refuse_missing(int(missing[codes].sum()), int(np.flatnonzero(missing[codes])[0]))
        return codes.astype(np.intp, copy=False), values.tolist()
    table: dict[object, int] = {}
    try:
        codes = np.fromiter((table.setdefault(value, len(table)) for value in column), np.intp, column.size)
    except TypeError:
        msg = "group has values that cannot be told apart (lists or dictionaries). Hint: turn them into strings."
        raise DataError(msg) from None
    gone = [code for value, code in table.items() if _is_missing(value)]
    if gone:
        rows = np.flatnonzero(np.isin(codes, gone))
        _refuse_missing(rows.size, int(rows[0]))
    return codes, list(table)


def _is_missing(value: object) -> bool:
    """None, NaN and NaT, which differ from themselves, and pandas' NA, which will not say whether it does."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except TypeError:
        return True


def _refuse_missing(count: int, first: int) -> None:
    msg = (
        f"group has {count} missing value{'s' * (count > 1)} (first at position {first}). "
        "Hint: drop these rows, or give them a group of their own such as 'unknown'."
    )
    raise DataError(msg)
