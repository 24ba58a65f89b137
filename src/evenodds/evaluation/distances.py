"""How far apart people are: Euclidean, Hamming and Gower's distances, as the paper's Appendix A defines them.

Rows are compared block by block, so that what is needed beside the answer stays small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError, OptionError, one_of
from evenodds.evaluation.features import Feature, features_of, stacked
from evenodds.geometry.pieces import Floats
from evenodds.values import number_of

__all__ = ["METRICS", "People", "euclidean", "gower", "hamming", "people_of"]

METRICS = ("euclidean", "gower", "hamming")
_BLOCK = 1 << 22  # pairs at a time

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

    Returns
    -------
    array
        A row for each row of X, and a column for each of Z.

    See Also
    --------
    individual.gower : For columns that are not all numbers, and for missing values.

    Examples
    --------
    >>> euclidean([[0, 0], [3, 4]])
    array([[0., 5.],
           [5., 0.]])
    """
    return _matrix("euclidean", X, Z)


def hamming(X: Any, Z: Any = None) -> Floats:  # noqa: N803 as scikit-learn has it
    """Hamming distances between rows: in how many columns they differ.

    Parameters
    ----------
    X, Z : data frame, or array of shape (n, k)
        Distances are from rows of X to rows of Z; without Z, to those of X.

    Returns
    -------
    array
        A row for each row of X, and a column for each of Z.

    See Also
    --------
    individual.gower : Where numbers may differ by little or much.

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

    The similarity is the mean over columns of `1 - |difference| / range` for numbers and of 1 or 0, equal or not, for
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

    Returns
    -------
    array
        A row for each row of X, and a column for each of Z.

    See Also
    --------
    individual.euclidean, individual.hamming : Where all columns are numbers, or none.
    individual.scorer_lipschitz, individual.report : What distances are for.

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
    distances = _METRICS[one_of("metric", metric, METRICS)]
    features = features_of(X, categorical)
    return People(features[0].values.size, distances(features, ranges))


def _matrix(metric: str, X: Any, Z: Any, **options: Any) -> Floats:  # noqa: N803
    if Z is None:
        people = people_of(metric, X, **options)
        count, others = people.count, slice(0, people.count)
    else:
        upper, lower = (features_of(table, options.get("categorical")) for table in (X, Z))
        count, both = upper[0].values.size, stacked(upper, lower)
        people = People(both[0].values.size, _METRICS[metric](both, options.get("ranges")))
        others = slice(count, people.count)
    matrix = np.empty((count, others.stop - others.start))
    step = max(_BLOCK // matrix.shape[1], 1)
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        matrix[rows] = people.between(rows, others)
    return matrix


# -- metrics -----------------------------------------------------------------------------------------------------------


def _complete(
    metric: str, features: Sequence[Feature], column_of: Callable[[Feature], Floats], ranges: object
) -> Floats:
    """Columns side by side; refuse missing values (NaN) and ranges, for which only Gower's distance has a use."""
    if ranges is not None:
        msg = f"ranges= belongs to Gower's distance; the {metric} distance has none."
        raise OptionError(msg)
    columns = []
    for feature in features:
        columns.append(column_of(feature))
        if np.isnan(columns[-1]).any():
            rule = f"for which the {metric} distance has no rule. Hint: gower has."
            msg = f"Column {feature.name!r} has missing values, {rule}"
            raise DataError(msg)
    return np.column_stack(columns)


def _by_scipy(metric: str, rows: Floats, others: Floats) -> Floats:
    from scipy.spatial.distance import cdist  # noqa: PLC0415 heavy

    return np.asarray(cdist(rows, others, metric))


def _euclidean(features: Sequence[Feature], ranges: Mapping[Any, float] | None) -> Between:
    def numbers(feature: Feature) -> Floats:
        if feature.numbers is None:
            hint = "which the Euclidean distance needs. Hint: gower takes both."
            msg = f"Column {feature.name!r} is not a number, {hint}"
            raise DataError(msg)
        return feature.numbers

    table = _complete("Euclidean", features, numbers, ranges)
    # Times a power of 2: squares of numbers up to 1 cannot overflow, and no digit changes.
    power = math.frexp(float(np.abs(table).max()))[1]
    table = np.ldexp(table, -power)

    def between(rows: Rows, others: Rows) -> Floats:
        with np.errstate(over="ignore"):  # some are farther apart than floats reach
            return np.ldexp(_by_scipy("euclidean", table[rows], table[others]), power)

    return between


def _hamming(features: Sequence[Feature], ranges: Mapping[Any, float] | None) -> Between:
    def codes(feature: Feature) -> Floats:
        numbers = feature.codes()
        return np.where(numbers < 0, np.nan, numbers)

    table = _complete("Hamming", features, codes, ranges)

    def between(rows: Rows, others: Rows) -> Floats:
        # scipy's is the share of columns that differ, and ours their number.
        return np.rint(len(features) * _by_scipy("hamming", table[rows], table[others]))

    return between


def _gower(features: Sequence[Feature], ranges: Any) -> Between:
    if ranges is not None and not isinstance(ranges, Mapping):
        msg = f"ranges={ranges!r} is not allowed. Allowed: a dictionary of columns and their ranges."
        raise OptionError(msg)
    known = dict(ranges or {})
    numbers, discrete = [], []
    for feature in features:
        if feature.numbers is None:
            codes = feature.codes()
            discrete.append((codes, None if (codes >= 0).all() else codes >= 0))
            continue
        there = ~np.isnan(feature.numbers)
        power = math.frexp(float(np.nanmax(np.abs(feature.numbers), initial=0.0)))[1]
        values = np.where(there, np.ldexp(feature.numbers, -power), 0.0)  # a power of 2 changes no digit
        span = float(np.ptp(values[there])) if there.any() else 0.0
        if feature.name in known:
            allowed = f"for column {feature.name!r} at least what its values run over"
            given = number_of("ranges", known.pop(feature.name), allowed, low=0, above=True)
            wanted = math.ldexp(given, -power)
            if wanted < span:
                msg = f"ranges: column {feature.name!r} runs over {math.ldexp(span, power):g}, more than {given:g}."
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


_METRICS: Mapping[str, Callable[[Sequence[Feature], Mapping[Any, float] | None], Between]] = {
    "euclidean": _euclidean,
    "gower": _gower,
    "hamming": _hamming,
}
