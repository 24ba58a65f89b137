"""How far apart people are: Euclidean, Hamming and Gower's distances, as the paper's Appendix A defines them.

Rows are compared block by block, so that what is needed beside the answer stays small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError, EvenoddsError, OptionError, one_of
from evenodds.frames import array_of, coded, columns_of, is_missing, refuse_masked
from evenodds.geometry.pieces import Floats
from evenodds.values import number_of

__all__ = ["METRICS", "People", "euclidean", "gower", "hamming", "people_of"]

METRICS = ("euclidean", "gower", "hamming")
_BLOCK = 1 << 22  # pairs at a time
_EXACT = 2**53  # whole numbers below this are floats

Rows = slice | NDArray[np.intp]
Between = Callable[[Rows, Rows], Floats]


@dataclass(frozen=True, eq=False)
class People:
    """People whose distances can be asked for, some rows against others."""

    count: int
    between: Between
    """The distances of some rows to other rows."""

    def blocks(self) -> list[slice]:
        """Rows some at a time, so that their distances to all after them are not too many at once."""
        blocks, start = [], 0
        while start < self.count:
            stop = min(start + max(_BLOCK // (self.count - start), 1), self.count)
            blocks.append(slice(start, stop))
            start = stop
        return blocks

    def among(self, own: NDArray[np.intp]) -> People:
        """Some of the people, with the same metric."""
        return People(own.size, lambda rows, others: self.between(own[rows], own[others]))


def euclidean(X: Any, Z: Any = None) -> Floats:  # noqa: N803 as scikit-learn has it
    """Euclidean distances between rows: the root of the sum of squared differences. Columns must be numbers.

    Parameters
    ----------
    X, Z : data frame, or array of shape (n, k)
        Distances are from rows of X to rows of Z; without Z, to those of X.

    Examples
    --------
    >>> euclidean([[0, 0], [3, 4]])
    array([[0., 5.],
           [5., 0.]])
    """
    return _matrix("euclidean", X, Z)


def hamming(X: Any, Z: Any = None) -> Floats:  # noqa: N803 as scikit-learn has it
    """Hamming distances between rows: in how many columns they differ.

    Examples
    --------
    >>> hamming([[3, 1, 1, 1, 0, 1, 4, 2]], [[3, 0, 2, 0, 0, 0, 4, 1]])  # the paper's example
    array([[5.]])
    """
    return _matrix("hamming", X, Z)


def gower(
    X: Any,  # noqa: N803 as scikit-learn has it
    Z: Any = None,  # noqa: N803
    *,
    categorical: Sequence[Any] | None = None,
    ranges: Mapping[Any, float] | None = None,
) -> Floats:
    """Gower's distances between rows of mixed columns: sqrt(1 - similarity).

    The similarity is the mean over columns of 1 - |difference| / range for numbers and of 1 or 0, equal or not, for
    all else. A column in which either of two people has no value does not count for them; two people without a common
    column have no distance (NaN). On complete rows this is a metric; with missing values the triangle inequality may
    fail, since each pair is compared by columns of its own.

    Parameters
    ----------
    X, Z : data frame, or array of shape (n, k)
        Without Z, distances are between rows of X. In a frame, numbers are numbers and all else (text, categories,
        booleans) is discrete; in an array of objects likewise.
    categorical : sequence, optional
        Columns of numbers that are discrete all the same: names, or positions in an array.
    ranges : mapping of column -> float, optional
        Ranges of columns; without it those of X and Z together.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [20, 60, 30], "home": ["rent", "own", "rent"]})
    >>> gower(people).round(4)
    array([[0.    , 1.    , 0.3536],
           [1.    , 0.    , 0.9354],
           [0.3536, 0.9354, 0.    ]])
    """
    return _matrix("gower", X, Z, categorical=categorical, ranges=ranges)


def people_of(
    metric: str,
    X: Any,  # noqa: N803 as scikit-learn has it
    *,
    categorical: Sequence[Any] | None = None,
    ranges: Mapping[Any, float] | None = None,
) -> People:
    """People of a table, with a metric between them."""
    made = _METRICS[one_of("metric", metric, METRICS)]
    columns = _columns(X, categorical)
    return People(columns[0].values.size, made(columns, ranges))


def _matrix(metric: str, X: Any, Z: Any, **options: Any) -> Floats:  # noqa: N803
    if Z is None:
        people = people_of(metric, X, **options)
        count, others = people.count, slice(0, people.count)
    else:
        columns, rest = (_columns(table, options.get("categorical")) for table in (X, Z))
        count, both = columns[0].values.size, _stacked(columns, rest)
        people = People(both[0].values.size, _METRICS[metric](both, options.get("ranges")))
        others = slice(count, people.count)
    matrix = np.empty((count, others.stop - others.start))
    step = max(_BLOCK // matrix.shape[1], 1)
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        matrix[rows] = people.between(rows, others)
    return matrix


# -- columns -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Column:
    """One column: its values, and what they are as numbers, NaN for what is missing, if that is what they are."""

    name: Any
    values: NDArray[Any]
    numbers: Floats | None = None

    def codes(self) -> tuple[NDArray[np.signedinteger], bool]:
        """The values by number, -1 for what is missing, and whether something is."""
        try:
            codes, _ = coded(self.values)
        except DataError:
            msg = (
                f"Column {self.name!r} has values that cannot be told apart, such as lists. Hint: turn them into text."
            )
            raise DataError(msg) from None
        return codes, bool(codes.size and codes.min() < 0)


def _columns(table: Any, categorical: Sequence[Any] | None) -> list[_Column]:
    """The columns of a frame or an array, numbers told from all else."""
    refuse_masked("X", table)
    native = _native_columns(table)
    if native is not None:
        found = [_frame_column(column) for column in native]
    else:
        array = _array(table)
        found = [_array_column(i, array[:, i]) for i in range(array.shape[1])]
    if not found or not found[0].values.size:
        msg = "X is empty: distances need at least one row and one column."
        raise DataError(msg)
    discrete = _names(categorical, [column.name for column in found])
    return [replace(column, numbers=None) if column.name in discrete else column for column in found]


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


def _frame_column(column: Any) -> _Column:
    if column.dtype.is_temporal():
        _refuse_times(column.name)
    if column.dtype.is_decimal():
        return _array_column(column.name, np.array([*column.to_list(), None], dtype=object)[:-1])
    if column.dtype.is_numeric():
        values = array_of(column.to_native())
        return _Column(column.name, values, _numbers(column.name, values))
    values = np.array([*column.to_list(), None], dtype=object)[:-1]
    # A column of objects may hold numbers; text, categories and truth values never are.
    return _array_column(column.name, values) if str(column.dtype) == "Object" else _Column(column.name, values)


def _array_column(name: Any, values: NDArray[Any]) -> _Column:
    if values.dtype.kind in "mM":
        _refuse_times(name)
    if values.dtype.kind in "iuf":
        return _Column(name, values, _numbers(name, values))
    if values.dtype == object and all(is_missing(value) or _is_number(value) for value in values):
        try:
            numbers = np.array([np.nan if is_missing(value) else float(value) for value in values])
        except OverflowError:
            numbers = np.array([np.inf])
        return _Column(name, values, _numbers(name, numbers))
    return _Column(name, values.astype(object))


def _refuse_times(name: Any) -> NoReturn:
    msg = f"Column {name!r} has dates or times, which have no distance here. Hint: turn them into numbers."
    raise DataError(msg)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.number, Decimal)) and not isinstance(value, (bool, np.bool_))


def _numbers(name: Any, values: NDArray[Any]) -> Floats:
    """Values as floats; large whole numbers less the smallest, so that their differences stay exact."""
    if values.dtype.kind in "iu" and values.size:
        lowest = values.min()
        if int(values.max()) - int(lowest) < _EXACT:
            return np.asarray((values - lowest).astype(np.float64))
    numbers = np.asarray(values, dtype=np.float64)
    if np.isinf(numbers).any():
        msg = f"Column {name!r} has infinite values."
        raise DataError(msg)
    return numbers


def _stacked(upper: list[_Column], lower: list[_Column]) -> list[_Column]:
    """The columns of two tables, one below the other."""
    names = [[column.name for column in table] for table in (upper, lower)]
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
        both.append(_Column(one.name, values, None if one.numbers is None else _numbers(one.name, values)))
    return both


# -- metrics -----------------------------------------------------------------------------------------------------------


def _complete(metric: str, column: _Column, *, missing: bool) -> None:
    if missing:
        msg = (
            f"Column {column.name!r} has missing values, for which the {metric} distance has no rule. Hint: gower has."
        )
        raise DataError(msg)


def _euclidean(columns: Sequence[_Column], ranges: Mapping[Any, float] | None) -> Between:
    _refuse_ranges("Euclidean", ranges)
    values = []
    for column in columns:
        if column.numbers is None:
            msg = f"Column {column.name!r} is not a number, which the Euclidean distance needs. Hint: gower takes both."
            raise DataError(msg)
        _complete("Euclidean", column, missing=bool(np.isnan(column.numbers).any()))
        values.append(column.numbers)
    # Times a power of 2: squares of numbers up to 1 cannot overflow, and no digit changes.
    power = math.frexp(max(float(np.abs(value).max()) for value in values))[1]
    values = [np.ldexp(value, -power) for value in values]

    def between(rows: Rows, others: Rows) -> Floats:
        total = np.zeros((values[0][rows].size, values[0][others].size))
        for value in values:
            apart = np.subtract.outer(value[rows], value[others])
            total += np.square(apart, out=apart)
        with np.errstate(over="ignore"):  # some are farther apart than floats reach
            return np.ldexp(np.sqrt(total, out=total), power)

    return between


def _refuse_ranges(metric: str, ranges: object) -> None:
    if ranges is not None:
        msg = f"ranges= belongs to Gower's distance; the {metric} distance has none."
        raise OptionError(msg)


def _hamming(columns: Sequence[_Column], ranges: Mapping[Any, float] | None) -> Between:
    _refuse_ranges("Hamming", ranges)
    values = []
    for column in columns:
        codes, missing = column.codes()
        _complete("Hamming", column, missing=missing)
        values.append(codes)

    def between(rows: Rows, others: Rows) -> Floats:
        total = np.zeros((values[0][rows].size, values[0][others].size))
        for value in values:
            total += np.not_equal.outer(value[rows], value[others])
        return total

    return between


def _gower(columns: Sequence[_Column], ranges: Any) -> Between:
    if ranges is not None and not isinstance(ranges, Mapping):
        msg = f"ranges={ranges!r} is not allowed. Allowed: a dictionary of columns and their ranges."
        raise OptionError(msg)
    known = dict(ranges or {})
    numbers, discrete = [], []
    for column in columns:
        if column.numbers is None:
            codes, some_missing = column.codes()
            discrete.append((codes, codes >= 0 if some_missing else None))
            continue
        there = ~np.isnan(column.numbers)
        power = math.frexp(float(np.nanmax(np.abs(column.numbers), initial=0.0)))[1]
        values = np.where(there, np.ldexp(column.numbers, -power), 0.0)  # a power of 2 changes no digit
        span = float(np.ptp(values[there])) if there.any() else 0.0
        if column.name in known:
            allowed = f"for column {column.name!r} at least what its values run over"
            given = number_of("ranges", known.pop(column.name), allowed, low=0, above=True)
            wanted = math.ldexp(given, -power)
            if wanted < span:
                msg = f"ranges: column {column.name!r} runs over {math.ldexp(span, power):g}, more than {given:g}."
                raise OptionError(msg)
            span = wanted
        numbers.append((values, span or 1.0, None if there.all() else there))
    if known:
        msg = f"ranges: there is no column of numbers {next(iter(known))!r}."
        raise OptionError(msg)

    def between(rows: Rows, others: Rows) -> Floats:
        first = numbers[0][0] if numbers else discrete[0][0]
        total = np.zeros((first[rows].size, first[others].size))
        counted: Floats | int = 0
        for value, span, there in numbers:
            apart = np.subtract.outer(value[rows], value[others])
            np.abs(apart, out=apart)
            apart /= span
            counted = _add(total, apart, counted, there, rows, others)
        for codes, there in discrete:
            counted = _add(total, np.not_equal.outer(codes[rows], codes[others]), counted, there, rows, others)
        with np.errstate(invalid="ignore"):  # people without a common column have no distance
            total /= counted
        # Rounding must not take a similarity of 1 beyond it.
        return np.sqrt(np.maximum(total, 0.0, out=total), out=total)

    return between


def _add(
    total: Floats,
    apart: NDArray[Any],
    counted: Floats | int,
    there: NDArray[np.bool_] | None,
    rows: Rows,
    others: Rows,
) -> Floats | int:
    """Add one column's differences where both people have a value, and to the number of columns that count."""
    if there is None:
        total += apart
        return counted + 1
    both = np.logical_and.outer(there[rows], there[others])
    total += apart * both
    return counted + both


_METRICS: Mapping[str, Callable[[Sequence[_Column], Mapping[Any, float] | None], Between]] = {
    "euclidean": _euclidean,
    "gower": _gower,
    "hamming": _hamming,
}
