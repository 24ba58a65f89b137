"""Columns of people's data, checked: numbers that are finite, labels that are 0 or 1, amounts that are not negative."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.errors import DataError, EvenoddsWarning, OptionError
from evenodds.frames import array_of, columns_of, factorize, is_missing, refuse_masked
from evenodds.geometry.pieces import Floats

__all__ = [
    "EMPTY_TABLE",
    "EXACT",
    "HUGE",
    "WORDS_FOR_NOTHING",
    "check_amounts",
    "check_lengths",
    "check_resolution",
    "floats_of",
    "labels_of",
    "numbers_of",
    "rounded",
]

EXACT = 2**53
"""Whole numbers up to it are floats."""
HUGE = 1e150
"""Numbers beyond it cannot be squared and summed."""
WORDS_FOR_NOTHING = frozenset({"", "#n/a", "n/a", "na", "nan", "none", "null"})
"""What other programs write for a value that is not there, in small letters."""
EMPTY_TABLE = "The table is empty. Hint: at least one negative and one positive person in each group are needed."
"""What is said where nobody is given."""
_SHOWN = 5  # values that are listed in a message


def numbers_of(name: str, values: ArrayLike) -> Floats:
    """A 1-D float64 array of finite numbers, or an error that says where it is not."""
    given = _column(name, values)
    numbers = floats_of(name, given).astype(np.float64, copy=False)
    if not np.isfinite(numbers).all():
        bad = np.flatnonzero(~np.isfinite(numbers))
        msg = (
            f"{name} has {bad.size} missing, NaN or infinite value{'s' * (bad.size > 1)} "
            f"(first at position {bad[0]}: {given[bad[0]]}). Hint: drop or repair these rows first."
        )
        raise DataError(msg)
    if given.dtype.kind in "iu" and given.size and max(-int(given.min()), int(given.max())) > EXACT:
        kinds, left = np.unique(given).size, np.unique(numbers).size
        if left < kinds:
            msg = f"{name} has {kinds:,} whole numbers so large that a float tells only {left:,} of them apart. "
            raise DataError(msg + "Hint: subtract a constant.")
    return numbers


def floats_of(name: str, given: NDArray[Any]) -> NDArray[Any]:
    """An array of numbers that a float64 holds; a missing one is NaN. Refuse words, dates and complex numbers."""
    if given.dtype.kind in "biuf":
        with np.errstate(over="ignore"):  # a long double beyond a float64 is infinite, and told as that
            return given if given.dtype.itemsize <= 8 else given.astype(np.float64)  # noqa: PLR2004 a float64's bytes
    if given.dtype != object:
        first = f" (first value {given.flat[0].item()!r:.40})" if given.size else ""
        msg = f"{name} must be numbers, got {given.dtype}{first}."
        raise DataError(msg)
    numbers = np.empty(given.shape)
    for i, value in enumerate(given.flat):
        try:
            numbers.flat[i] = np.nan if is_missing(value) else _number(value)
        except (TypeError, ValueError, OverflowError):
            msg = f"{name} must be numbers, got {value!r:.40} at position {i}."
            raise DataError(msg) from None
    return numbers


def _number(value: Any) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError
    return float(value)


def check_lengths(lengths: Mapping[str, int]) -> None:
    """Refuse columns, given by name and length, that are not all of one length."""
    if len(set(lengths.values())) > 1:
        msg = f"The columns have different lengths: {', '.join(f'{name} {size}' for name, size in lengths.items())}."
        raise DataError(msg)


def check_amounts(name: str, values: Floats) -> None:
    """Refuse weights and counts that are negative, or whose sum or squares are beyond floating-point numbers."""
    if values.size and values.min() < 0:
        bad = np.flatnonzero(values < 0)
        first = f"first at position {bad[0]}: {values[bad[0]]:g}"
        msg = f"{name} has {bad.size} negative value{'s' * (bad.size > 1)} ({first})."
        raise DataError(msg)
    with np.errstate(over="ignore"):
        is_too_large = values.size and values.max() > HUGE / values.size and values.sum() > HUGE
    if is_too_large:
        msg = f"{name} has values up to {values.max():g}, too large to add up. Hint: rescale."
        raise DataError(msg)
    if values.size and 0 < values.max() < 1 / HUGE:
        msg = f"{name} has values up to {values.max():g} only, too small to square. Hint: rescale."
        raise DataError(msg)


def labels_of(
    name: str, values: ArrayLike, positive_label: object = None, *, can_be_named: bool = True
) -> NDArray[np.bool_]:
    """Booleans from 0/1, or from any values of which one is said to be the yes, where somebody can say so."""
    if positive_label is not None:
        return _compared(name, values, positive_label)
    given = _column(name, values)
    if given.dtype == bool:
        return given
    if given.dtype.kind in "iu" and given.size and given.min() >= 0 and given.max() <= 1:
        return given.astype(bool)
    zero, one = _equals(given, 0), _equals(given, 1)
    bad = np.flatnonzero(~(zero | one))
    if bad.size:
        others = _listed(sorted({repr(value) for value in given[bad[:1000]].tolist()}))
        msg = (
            f"{name} must be 0 or 1, got {others} in {bad.size} row{'s' * (bad.size > 1)} (first at position {bad[0]})."
        )
        if can_be_named:
            msg += " Hint: repair these rows, or positive_label= names the value that counts as a yes."
        raise DataError(msg)
    return np.asarray(one, dtype=bool)


def check_resolution(resolution: float | None) -> float:
    """The width that scores are rounded to; 0 where they are not."""
    if resolution is None:
        return 0.0
    if isinstance(resolution, bool) or not isinstance(resolution, (int, float, np.integer, np.floating)):
        msg = (
            f"resolution={resolution!r} is not allowed. Allowed: a number above 0, or None to keep scores as they are."
        )
        raise OptionError(msg)
    if not (1 / HUGE < resolution < HUGE):
        allowed = f"a finite number above 0, between {1 / HUGE:g} and {HUGE:g}"
        msg = f"resolution={resolution!r} is not allowed. Allowed: {allowed}."
        raise OptionError(msg)
    return float(resolution)


def rounded(scores: Floats, resolution: float) -> Floats:
    """The nearest multiples of the resolution, half a step upwards, by the operations that engines have too.

    >>> rounded(np.array([0.24, 0.25, -0.25]), 0.5)
    array([0. , 0.5, 0. ])
    """
    steps = scores * (1 / resolution)  # as polars divides by a constant
    steps += 0.5
    np.floor(steps, out=steps)
    steps *= resolution
    return steps


def _column(name: str, values: Any) -> NDArray[Any]:
    """A 1-D array without masked values."""
    refuse_masked(name, values)
    try:
        given = array_of(values)
    except DataError:
        raise
    except ValueError:
        msg = f"{name} must be one column, got rows of different lengths."
        raise DataError(msg) from None
    if given.ndim != 1:
        msg = f"{name} must be one column, got an array of shape {given.shape}."
        raise DataError(msg)
    return given


def _equals(given: NDArray[Any], number: int) -> NDArray[np.bool_]:
    """Where a column equals a number; an object that will not say, as pandas' NA, does not."""
    if given.dtype != object:
        return np.asarray(given == number)
    return np.array([isinstance(x, (int, float, np.generic)) and bool(x == number) for x in given], dtype=bool)


def _compared(name: str, values: ArrayLike, positive_label: object) -> NDArray[np.bool_]:
    """Where a column equals the label that counts as a yes, which must occur in it."""
    column = (columns_of(values) or [_column(name, values)])[0]
    codes, kinds = factorize(column)
    if (codes < 0).any():
        gone = np.flatnonzero(codes < 0)
        msg = f"{name} has {gone.size} missing value{'s' * (gone.size > 1)} (first at position {gone[0]})."
        raise DataError(msg)
    is_array = getattr(positive_label, "ndim", 0) > 0  # which would compare entry by entry
    yes = [] if is_array else [i for i, kind in enumerate(kinds) if kind == positive_label]
    if not yes:
        msg = f"positive_label={positive_label!r} does not occur in {name}. Its values: {_listed(map(repr, kinds))}."
        raise DataError(msg)
    others = [repr(kind) for i, kind in enumerate(kinds) if i != yes[0]]
    if len(others) > 1:
        msg = f"In {name} {len(others)} values count as a no beside the yes, {positive_label!r}: {_listed(others)}."
        warnings.warn(msg, EvenoddsWarning, stacklevel=2)
    return np.asarray(codes == yes[0])


def _listed(words: Iterable[str]) -> str:
    """The first of some words."""
    every = list(words)
    return ", ".join(every[:_SHOWN]) + (", ..." if len(every) > _SHOWN else "")
