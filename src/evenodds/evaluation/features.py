"""What people are compared by: the columns of a table, numbers told from all else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError, EvenoddsError, OptionError
from evenodds.frames import array_of, columns_of, factorize, is_missing, refuse_masked
from evenodds.geometry.pieces import Floats
from evenodds.model.columns import EXACT

__all__ = ["Feature", "features_of", "stacked"]


@dataclass(frozen=True, eq=False)
class Feature:
    """One column: its values, and what they are as numbers, NaN for what is missing, if that is what they are."""

    name: Any
    values: NDArray[Any]
    numbers: Floats | None = None

    def codes(self) -> NDArray[np.signedinteger]:
        """The values by number, -1 for what is missing."""
        try:
            return factorize(self.values)[0]
        except DataError:
            msg = (
                f"Column {self.name!r} has values that cannot be told apart, such as lists. Hint: turn them into text."
            )
            raise DataError(msg) from None


def features_of(table: Any, categorical: Sequence[Any] | None) -> list[Feature]:
    """The columns of a frame or an array, numbers told from all else."""
    refuse_masked("X", table)
    native = _native_columns(table)
    if native is not None:
        features = [_frame_feature(column) for column in native]
    else:
        array = _array(table)
        features = [_array_feature(i, array[:, i]) for i in range(array.shape[1])]
    if not features or not features[0].values.size:
        msg = "X is empty: distances need at least one row and one column."
        raise DataError(msg)
    discrete = _names(categorical, [feature.name for feature in features])
    return [replace(feature, numbers=None) if feature.name in discrete else feature for feature in features]


def _native_columns(table: Any) -> list[Any] | None:
    try:
        return columns_of(table)
    except EvenoddsError:
        raise
    except Exception as reason:  # noqa: BLE001 such as two columns of one name, which each library refuses by itself
        msg = f"X cannot be read: {reason}"
        raise DataError(msg) from None


def _array(table: Any) -> NDArray[Any]:
    try:
        array = np.asarray(table)
    except ValueError:
        array = np.zeros(0)
    if array.ndim != 2:  # noqa: PLR2004 rows and columns
        msg = (
            f"X must have rows and columns, all rows of one length; got {type(table).__name__} of shape {array.shape}."
        )
        raise DataError(msg)
    return array


def _names(categorical: Sequence[Any] | None, known: list[Any]) -> set[Any]:
    """Which columns are discrete all the same."""
    if categorical is None:
        return set()
    wanted = [categorical] if isinstance(categorical, str) else categorical
    if not isinstance(wanted, (list, tuple, set, np.ndarray)):
        msg = f"categorical={categorical!r} is not allowed. Allowed: a list of columns."
        raise OptionError(msg)
    for name in wanted:
        if name not in known:
            msg = f"categorical={categorical!r}: there is no column {name!r}. Columns: {', '.join(map(str, known))}."
            raise OptionError(msg)
    return set(wanted)


def _frame_feature(column: Any) -> Feature:
    if column.dtype.is_temporal():
        _refuse_times(column.name)
    if column.dtype.is_decimal():
        return _array_feature(column.name, np.array([*column.to_list(), None], dtype=object)[:-1])
    if column.dtype.is_numeric():
        values = array_of(column.to_native())
        return Feature(column.name, values, _numbers(column.name, values))
    values = np.array([*column.to_list(), None], dtype=object)[:-1]
    # A column of objects may hold numbers; text, categories and truth values never are.
    return _array_feature(column.name, values) if str(column.dtype) == "Object" else Feature(column.name, values)


def _array_feature(name: Any, values: NDArray[Any]) -> Feature:
    if values.dtype.kind in "mM":
        _refuse_times(name)
    if values.dtype.kind in "iuf":
        return Feature(name, values, _numbers(name, values))
    if values.dtype == object and all(is_missing(value) or _is_number(value) for value in values):
        try:
            numbers = np.array([np.nan if is_missing(value) else float(value) for value in values])
        except OverflowError:
            numbers = np.array([np.inf])
        return Feature(name, values, _numbers(name, numbers))
    return Feature(name, values.astype(object))


def _refuse_times(name: Any) -> NoReturn:
    msg = f"Column {name!r} has dates or times, which have no distance here. Hint: turn them into numbers."
    raise DataError(msg)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number, Decimal)) and not isinstance(value, (bool, np.bool_))


def _numbers(name: Any, values: NDArray[Any]) -> Floats:
    """Values as floats; large whole numbers less the smallest, so that their differences stay exact."""
    if values.dtype.kind in "iu" and values.size:
        lowest = values.min()
        if int(values.max()) - int(lowest) < EXACT:
            return np.asarray((values - lowest).astype(np.float64))
    numbers = np.asarray(values, dtype=np.float64)
    if np.isinf(numbers).any():
        msg = f"Column {name!r} has infinite values."
        raise DataError(msg)
    return numbers


def stacked(upper: list[Feature], lower: list[Feature]) -> list[Feature]:
    """The columns of two tables, one below the other."""
    names = [[feature.name for feature in table] for table in (upper, lower)]
    if names[0] != names[1]:
        shown = " and ".join(", ".join(map(str, some)) for some in names)
        msg = f"X and Z must have the same columns, got {shown}."
        raise DataError(msg)
    both = []
    for one, other in zip(upper, lower, strict=True):
        if (one.numbers is None) != (other.numbers is None):
            msg = f"Column {one.name!r} has numbers in one table and other values in the other."
            raise DataError(msg)
        values = np.concatenate([one.values, other.values])
        both.append(Feature(one.name, values, None if one.numbers is None else _numbers(one.name, values)))
    return both
