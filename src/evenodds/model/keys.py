"""Group keys: a group is known by a string, one column or several.

A value's key is str(value); the keys of several columns are joined by ", ". Two different values that would share a
key (1 and "1", or ("a, b", "c") and ("a", "b, c")) are an error, since nobody could tell them apart afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError
from evenodds.frames import columns_of, factorize, refuse_masked

__all__ = [
    "JOINER",
    "MISSING",
    "UNKNOWN",
    "Codes",
    "GroupLike",
    "check_keys",
    "encode",
    "get_indexer",
    "key_of",
    "other_columns",
    "owners",
    "parts_by_key",
    "parts_of",
]

Codes = NDArray[np.signedinteger]
GroupLike = Any
"""One column or several: too many shapes for a type to help; `encode` says what it takes."""

UNKNOWN, MISSING = -1, -2
"""Codes of a group that is not known, and of a missing value."""
JOINER = ", "
"""Between the values of several columns."""
_FEW = 1 << 20  # values that are ticked off one by one; more are sorted
_BLOCK = 1 << 16  # codes at a time
_COLUMNS = 6  # whose orders are tried
_MOST = 1000  # groups: more are a continuous column by mistake


def key_of(value: object) -> str:
    """The key of one group value; a tuple is a value of several columns.

    >>> key_of("white"), key_of(3), key_of(("Caucasian", "Male"))
    ('white', '3', 'Caucasian, Male')
    """
    if isinstance(value, tuple):
        return JOINER.join(str(part) for part in value)
    return str(value)


def check_keys(keys: Iterable[str]) -> None:
    """Refuse keys that no file can hold."""
    for key in keys:
        try:
            key.encode()
        except UnicodeEncodeError:
            msg = (
                f"The group {key!r} has half a character, a lone surrogate. "
                "Hint: read the groups with the encoding that they have."
            )
            raise DataError(msg) from None


def parts_of(key: str, columns: int) -> list[tuple[str, ...]]:
    """Every way to read a key as the keys of several columns: more than one where a value holds the joiner itself.

    >>> parts_of("Caucasian, Male", 2), parts_of("a, b, c", 2)
    ([('Caucasian', 'Male')], [('a', 'b, c'), ('a, b', 'c')])
    """
    words = key.split(JOINER)
    cuts = combinations(range(1, len(words)), columns - 1)
    return [tuple(JOINER.join(words[i:j]) for i, j in zip((0, *cut), (*cut, len(words)), strict=True)) for cut in cuts]


def other_columns(keys: Iterable[str], known: Collection[str]) -> str:
    """A hint, where keys may be unknown since the columns of the group are not those of the fit, or in another order.

    >>> other_columns(["Male, Caucasian"], {"Caucasian, Male"})
    " Hint: 'Caucasian, Male' is known: give the group's columns in the order of the fit."
    >>> other_columns(["Male"], {"Caucasian, Male", "Caucasian, Female"})
    " Hint: the groups of the fit seem to be combinations of 2 columns, and 'Male' of 1."
    """
    every = list(keys)
    for key in every:
        words = key.split(JOINER)
        if 1 < len(words) <= _COLUMNS:
            for order in permutations(words):
                if (other := JOINER.join(order)) in known:
                    return f" Hint: {other!r} is known: give the group's columns in the order of the fit."
    columns = {key.count(JOINER) + 1 for key in known}
    of_others = {key.count(JOINER) + 1 for key in every} - columns
    if len(columns) == 1 and of_others:
        count, differs = columns.pop(), min(of_others)
        key = next(key for key in every if key.count(JOINER) + 1 == differs)
        several = f"combinations of {count} columns" if count > 1 else "of 1 column"
        return f" Hint: the groups of the fit seem to be {several}, and {key!r} of {differs}."
    return ""


def parts_by_key(group: GroupLike) -> dict[str, tuple[str, ...]]:
    """Of what each key of people's groups is made, column by column; a joiner within a value stays where it is.

    >>> parts_by_key([["a, b", "a"], ["c", "d"]])
    {'a, d': ('a', 'd'), 'a, b, c': ('a, b', 'c')}
    """
    _, values = _combined(_columns(group))
    return {key_of(value): tuple(str(part) for part in _tuple(value)) for value in values}


def encode(group: GroupLike) -> tuple[Codes, tuple[str, ...]]:
    """Codes of the people's groups, and the keys that the codes point into, sorted.

    >>> encode(["white", "asian", "white"])
    (array([1, 0, 1], dtype=int8), ('asian', 'white'))
    >>> encode([["w", "b", "w"], [1, 1, 2]])[1]
    ('b, 1', 'w, 1', 'w, 2')
    """
    codes, values = _combined(_columns(group))
    if codes.size and codes.min() < 0:
        gone = codes < 0
        count = int(gone.sum())
        msg = (
            f"group has {count} missing value{'s' * (count > 1)} (first at position {int(gone.argmax())}). "
            "Hint: drop these rows, or give them a group of their own such as 'unknown'."
        )
        raise DataError(msg)
    if len(values) > _MOST:
        shown = ", ".join(repr(key_of(value)) for value in values[:3])
        msg = (
            f"group has {len(values):,} different values ({shown}, ...), more than {_MOST:,}: it looks continuous. "
            "Hint: name the column that holds the groups, or cut this one into bands."
        )
        raise DataError(msg)
    keys = sorted(owners(values))
    position = {key: i for i, key in enumerate(keys)}
    order = np.array([position[key_of(value)] for value in values], dtype=codes.dtype)
    sorted_already = bool((order == np.arange(order.size)).all())
    return (codes if sorted_already else order[codes]), tuple(keys)


def get_indexer(group: GroupLike, known: Sequence[str]) -> Codes:
    """Positions of the people's groups among the known keys; UNKNOWN or MISSING where there is none.

    >>> get_indexer(["white", None, "green"], ["asian", "white"])
    array([ 1, -2, -1], dtype=int8)
    """
    codes, values = _combined(_columns(group))
    owners(values)
    position = {key: i for i, key in enumerate(known)}
    positions = [position.get(key_of(value), UNKNOWN) for value in values]
    return np.array([*positions, MISSING], dtype=np.min_scalar_type(-max(len(known), 2)))[codes]


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


def _combined(columns: Sequence[Any]) -> tuple[Codes, list[Any]]:
    """Codes of the combinations that occur, -1 where a part is missing, and the combinations."""
    pairs = [factorize(column) for column in columns]
    lengths = [codes.size for codes, _ in pairs]
    if len(set(lengths)) > 1:
        msg = (
            f"The columns of group have different lengths: {', '.join(map(str, lengths))}. "
            "Hint: several columns are a list of columns, or a 2-D array with a row for each person."
        )
        raise DataError(msg)
    codes, values = pairs[0]
    codes, kept = _present(codes, len(values))
    values = [values[i] for i in kept]
    for more_codes, more_values in pairs[1:]:
        both = codes.astype(np.int64) * len(more_values) + more_codes
        both[(codes < 0) | (more_codes < 0)] = -1
        codes, kept = _present(both, len(values) * len(more_values))
        split = [divmod(i, len(more_values)) for i in kept]
        values = [(*_tuple(values[first]), more_values[second]) for first, second in split]
    return codes, values


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _present(codes: Codes, size: int) -> tuple[Codes, list[int]]:
    """Codes of those values only that a row has, and which values these are; -1 stays -1."""
    kept = _occurring(codes, size)
    if kept.size == size:
        return codes, kept.tolist()
    if size > _FEW:
        return np.where(codes < 0, -1, np.searchsorted(kept, codes)), kept.tolist()
    rank = np.full(size + 1, -1, dtype=codes.dtype)  # the last entry is for code -1
    rank[kept] = np.arange(kept.size)
    return rank[codes], kept.tolist()


def _occurring(codes: Codes, size: int) -> Codes:
    """The codes from 0 on that occur, sorted."""
    if size > _FEW:
        distinct = np.unique(codes)
        return np.asarray(distinct[distinct >= 0])
    seen = np.zeros(size + 1, dtype=bool)  # the last entry is for code -1
    for start in range(0, codes.size, _BLOCK):
        seen[codes[start : start + _BLOCK]] = True
        if seen[:-1].all():
            break
    return np.flatnonzero(seen[:-1])


def _columns(group: GroupLike) -> list[Any]:
    """One column for each column of `group`, as `factorize` takes them."""
    if isinstance(group, (list, tuple)) and group and all(_is_column(part) for part in group):
        return [column for part in group for column in _one_column(part)]
    return _one_column(group)


def _one_column(part: Any) -> list[Any]:
    columns = columns_of(part)
    if columns is not None:
        return columns
    table = _as_given(part)
    arrays = list(table.T) if table.ndim == 2 else [table]  # noqa: PLR2004 a 2-D array is a table
    if not arrays or any(array.ndim != 1 for array in arrays):
        msg = f"group must be one column or several, got an array of shape {np.shape(table)}."
        raise DataError(msg)
    return arrays


def _as_given(values: Any) -> NDArray[Any]:
    """An array whose values are still what they were: numpy would turn [1, "1"] into two equal strings."""
    refuse_masked("group", values, "drop these rows, or fill in a group")
    array = np.asarray(values)
    if array.dtype.kind in "US" and isinstance(values, (list, tuple)) and not all(isinstance(v, str) for v in values):
        array = np.asarray(values, dtype=object)
    return array


def _is_column(part: Any) -> bool:
    return not isinstance(part, (str, bytes)) and hasattr(part, "__len__") and getattr(part, "ndim", 1) > 0
