"""The columns that groups are combinations of, such as race and sex: what they are called, and each group's values."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from evenodds.errors import EvenoddsWarning, OptionError
from evenodds.model.keys import JOINER, parts_of
from evenodds.values import names_of

__all__ = ["columns_of_keys"]

KeyColumns = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]
"""The names of the columns, and for each key its values in them; both are empty where groups are no combinations."""

_NONE: KeyColumns = ((), ())


def columns_of_keys(
    keys: Sequence[str], columns: Sequence[str], known: Mapping[str, tuple[str, ...]] | None = None
) -> KeyColumns:
    """The columns of groups, named as asked; each key's values are read from the key where they are not known.

    >>> columns_of_keys(["Caucasian, Female", "Caucasian, Male"], ["race", "sex"])
    (('race', 'sex'), (('Caucasian', 'Female'), ('Caucasian', 'Male')))
    >>> columns_of_keys(["asian", "white"], [])
    ((), ())
    """
    columns = names_of("columns", columns)
    parts = [] if known is None else [known[key] for key in keys]
    if known is None or ({len(values) for values in parts} == {1} and len(columns) > 1):  # joined by somebody else
        parts = _read(keys, columns)
    counts = {len(values) for values in parts}
    if len(counts) != 1 or counts == {1}:
        return _NONE
    (count,) = counts
    if columns and len(columns) != count:
        raise OptionError(_misnamed(columns, count, keys[0]))
    return tuple(columns) or tuple(f"column {i + 1}" for i in range(count)), tuple(parts)


def _read(keys: Sequence[str], columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Keys as the values of several columns; none, with a warning, where they can be read in more than one way."""
    count = len(columns) or min((len(key.split(JOINER)) for key in keys), default=1)
    if count == 1:
        return []
    readings = {key: parts_of(key, count) for key in keys}
    for key, ways in readings.items():
        if not ways:
            raise OptionError(_misnamed(columns, len(key.split(JOINER)), key))
        if len(ways) > 1:
            two = "; or ".join(" and ".join(map(repr, way)) for way in ways[:2])
            text = (
                f"The group {key!r} can be read as {count} columns in more than one way: {two}. So there are no "
                f"figures by each column alone. Hint: values without {JOINER!r}; or Audit.of_decisions, which is given "
                "the columns themselves."
            )
            warnings.warn(text, EvenoddsWarning, stacklevel=5)
            return []
    return [ways[0] for ways in readings.values()]


def _misnamed(columns: Sequence[str], count: int, key: str) -> str:
    return f"columns={list(columns)!r} does not name the {count} columns of groups such as {key!r}."
