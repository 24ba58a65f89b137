"""Data frames of every library: opened, read as arrays, and made for people. No word of fairness.

narwhals speaks to all of them, and is loaded when the first frame comes. Eager frames (pandas, polars, pyarrow) are
read in their own library's fastest way: numpy by group code is ten times faster than one expression for all.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError, did_you_mean

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "Factorized",
    "Frame",
    "array_of",
    "column_of",
    "columns_of",
    "constant",
    "factorize",
    "frame_of",
    "frame_of_rows",
    "is_lazy",
    "is_missing",
    "narwhals",
    "opened",
    "refuse_masked",
    "with_column",
]

Frame: TypeAlias = "nw.DataFrame[Any] | nw.LazyFrame[Any]"
Factorized: TypeAlias = tuple[NDArray[np.signedinteger], list[Any]]
"""A number for each row, -1 where the value is missing, and the values that the numbers point to."""

_NARROW = 1 << 16  # whole numbers that lie so near each other are counted, not sorted
_LISTED = 30  # columns that are named one by one


def frame_of(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A pandas frame; without pandas a polars frame; without both a pyarrow table."""
    for package in ("pandas", "polars"):
        try:
            return import_module(package).DataFrame(dict(columns))
        except ImportError:
            continue
    return import_module("pyarrow").table(dict(columns))


def frame_of_rows(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """The same from rows, each with a value for every name."""
    return frame_of({name: [row[i] for row in rows] for i, name in enumerate(names)})


def narwhals() -> Any:
    """narwhals, loaded when it is needed: it costs as much as half of numpy."""
    return import_module("narwhals")


def opened(frame: Any, columns: Sequence[str]) -> Frame:
    """A frame of any library behind narwhals' face; refuse what is no frame, or lacks one of the columns."""
    nw = narwhals()
    try:
        table = nw.from_native(frame, pass_through=True)
        names = table.collect_schema().names() if isinstance(table, (nw.DataFrame, nw.LazyFrame)) else None
    except nw.exceptions.NarwhalsError as reason:  # such as two columns of one name
        msg = f"The frame cannot be read: {reason}"
        raise DataError(msg) from None
    if names is None:
        msg = (
            f"The frame must be a pandas, polars, pyarrow, DuckDB, PySpark, Dask or Ibis table, "
            f"got {type(frame).__name__}. Hint: arrays go to JointDistribution.from_arrays and policy.odds."
        )
        raise DataError(msg)
    for column in columns:
        if not isinstance(cast("Any", column), Hashable):
            msg = f"A column is given by its name, got {type(column).__name__}. Hint: the name, not the values."
            raise DataError(msg)
        if names.count(column) != 1:
            trouble = "no column" if column not in names else "more than one column"
            hint = did_you_mean(column, names) if column not in names else ""
            shown = ", ".join(map(str, names[:_LISTED])) + (", ..." if len(names) > _LISTED else "")
            msg = f"The frame has {trouble} {column!r}. Its columns: {shown}.{hint}"
            raise DataError(msg)
    return cast("Frame", table)


def column_of(frame: Any, name: str) -> Any:
    """A column of a frame in memory; by its name, which in pandas may be a number, and not by its place."""
    return frame.get_column(name)


def is_lazy(frame: Frame) -> bool:
    """Whether rows are fetched only when asked for."""
    return isinstance(frame, narwhals().LazyFrame)


def constant(frame: Frame, value: float) -> Any:
    """A number for an expression, to its last bit.

    Ibis writes numbers into its SQL as decimals, which DuckDB may read one bit off; as text they are read exactly.
    """
    nw = narwhals()
    return nw.lit(repr(value)).cast(nw.Float64) if frame.implementation.is_ibis() else nw.lit(value)


def columns_of(table: Any) -> list[Any] | None:
    """The columns of an eager frame, or the one column of a series; None for anything else, such as an array."""
    if isinstance(table, (np.ndarray, list, tuple, str, bytes, int, float, bool, type(None), Mapping, np.generic)):
        return None
    nw = narwhals()
    opened_table = nw.from_native(table, allow_series=True, pass_through=True)
    if isinstance(opened_table, nw.Series):
        return [opened_table]
    if isinstance(opened_table, nw.DataFrame):
        return list(opened_table.iter_columns())
    if isinstance(opened_table, nw.LazyFrame):
        msg = f"A lazy table ({type(table).__name__}) has no rows yet. Hint: collect it, or use from_frame and apply."
        raise DataError(msg)
    return None


def array_of(values: Any) -> NDArray[Any]:
    """An array of a column's values; a missing number becomes NaN."""
    refuse_masked("An array", values)
    columns = columns_of(values)
    if columns is None or len(columns) != 1:
        return np.asarray(values)
    (column,) = columns
    nw = narwhals()
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        # Straight to numpy where nothing is missing; else through floats, which have a NaN for it.
        if column.dtype.is_decimal() and column.implementation.is_pyarrow():
            column = column.cast(nw.String)  # Arrow makes a float of a decimal that is a bit off, and of its text none
        whole = column.null_count() == 0 and column.dtype != nw.String and not column.dtype.is_decimal()
        array = column.to_numpy() if whole else column.cast(nw.Float64).to_numpy()
        return np.asarray(array if array.dtype != object else array.astype(np.float64))
    return np.asarray(column.to_numpy())


def refuse_masked(what: str, values: Any, hint: str = "drop or fill these rows first") -> None:
    """Refuse an array with masked values, which numpy would use as if they were data."""
    if np.ma.is_masked(values):
        count = int(np.ma.getmaskarray(values).sum())
        msg = f"{what} has {count} masked values. Hint: {hint}."
        raise DataError(msg)


def with_column(frame: Frame, name: str, values: NDArray[Any]) -> Any:
    """A native frame with one column more, of numbers or of words; NaN becomes the library's own missing value."""
    nw = narwhals()
    native = frame.to_native()
    if frame.implementation.is_pandas():
        # Not copied, and with the frame's own index, by which pandas would align it.
        wider = native.copy(deep=False)
        wider[name] = import_module("pandas").Series(values, index=native.index, copy=False)
        return wider
    if frame.implementation.is_pandas_like():
        return native.assign(**{name: values})
    kind = {"f": nw.Float64, "O": nw.String}.get(values.dtype.kind, nw.Int64)
    given = values.tolist() if kind == nw.String else values
    column = nw.new_series(name, given, kind, backend=frame.implementation)
    if values.dtype.kind == "f" and np.isnan(values).any():
        column = column.to_frame().select(nw.when(~nw.col(name).is_nan()).then(nw.col(name)).alias(name))[name]
    return frame.with_columns(column).to_native()


# -- columns as numbers ------------------------------------------------------------------------------------------------


_UNHASHABLE = "A column has values that cannot be told apart (lists or dictionaries). Hint: turn them into strings."


def factorize(column: Any) -> Factorized:
    """A column's values by number: an array, or a column that `columns_of` gave.

    >>> factorize(np.array([7, 5, 7]))
    (array([1, 0, 1], dtype=int8), [5, 7])
    >>> factorize(np.array(["b", None, "a"], dtype=object))
    (array([ 0, -1,  1], dtype=int8), ['b', 'a'])
    """
    if isinstance(column, np.ndarray):
        return _factorize_objects(column) if column.dtype == object else _factorize_array(column)
    family = column.implementation
    nw = narwhals()
    if column.null_count() == 0 and (column.dtype.is_integer() or column.dtype == nw.Boolean):
        return _factorize_array(np.asarray(column.to_numpy()))
    native = column.to_native()
    if family.is_polars():
        return _factorize_polars(native)
    if family.is_pyarrow():
        return _factorize_arrow(native)
    if family.is_pandas_like():
        return _factorize_pandas(native)
    return _factorize_objects(column.to_numpy().astype(object))  # pragma: no cover  no such library is known


def _smallest(codes: NDArray[Any], count: int) -> NDArray[np.signedinteger]:
    """The same numbers in as few bytes as will do."""
    for kind in (np.int8, np.int16, np.int32):
        if count <= np.iinfo(kind).max:
            return codes.astype(kind, copy=False)
    return codes.astype(np.int64, copy=False)


def _factorize_array(column: NDArray[Any]) -> Factorized:
    if column.dtype == bool:
        return column.view(np.int8), [False, True]
    if column.dtype.kind in "iu" and column.size:
        lo, hi = int(column.min()), int(column.max())
        if hi - lo < _NARROW:
            if column.dtype.kind == "u":  # which numpy counts only where it fits a signed number
                offsets = (column - column.dtype.type(lo)).astype(np.int64, copy=False)
            else:
                offsets = column if lo == 0 else np.subtract(column, lo, dtype=np.int64)
            present = np.flatnonzero(np.bincount(offsets))
            rank = np.zeros(hi - lo + 1, dtype=np.int64)
            rank[present] = np.arange(present.size)
            return _smallest(rank, present.size).take(offsets), [lo + i for i in present.tolist()]
    values, codes = np.unique(column, return_inverse=True)
    return _without_missing(_smallest(codes, values.size), values.tolist())


def _factorize_objects(column: NDArray[Any]) -> Factorized:
    table: dict[Any, int] = {}
    try:
        codes = np.fromiter((table.setdefault(value, len(table)) for value in column), np.int64, column.size)
    except TypeError:
        raise DataError(_UNHASHABLE) from None
    return _without_missing(_smallest(codes, len(table)), list(table))


def _without_missing(codes: NDArray[np.signedinteger], values: list[Any]) -> Factorized:
    """-1 for rows whose value is none, such as a NaN among the values."""
    kept = np.array([not is_missing(value) for value in values], dtype=bool)
    if kept.all():
        return codes, values
    rank = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(codes.dtype)  # the last is for code -1
    return rank[codes], [value for value, k in zip(values, kept, strict=True) if k]


def is_missing(value: object) -> bool:
    """None, NaN and NaT, which differ from themselves, and pandas' NA, which will not say whether it does."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124
    except (TypeError, ArithmeticError):  # a signalling NaN among decimals
        return True
    except ValueError:  # an array in a cell
        return False


def _factorize_pandas(column: Any) -> Factorized:
    if hasattr(column, "cat"):
        return column.cat.codes.to_numpy(), column.cat.categories.tolist()
    try:
        codes, values = column.factorize()
    except TypeError:
        raise DataError(_UNHASHABLE) from None
    return _without_missing(_smallest(codes, len(values)), values.tolist())


def _factorize_arrow(column: Any) -> Factorized:
    arrow = import_module("pyarrow")
    try:
        encoded = column if arrow.types.is_dictionary(column.type) else column.dictionary_encode()
    except NotImplementedError:  # Arrow's own is one
        raise DataError(_UNHASHABLE) from None
    whole = encoded.unify_dictionaries().combine_chunks() if hasattr(encoded, "chunks") else encoded
    indices = whole.indices.cast(arrow.int64()).fill_null(-1) if whole.null_count else whole.indices
    codes = indices.to_numpy(zero_copy_only=False)
    try:
        values = whole.dictionary.to_pylist()
    except UnicodeDecodeError as reason:  # Arrow holds any bytes as text, and looks at them only now
        msg = f"A column has {reason.object!r:.80}, which is not UTF-8 text."
        raise DataError(msg) from None
    return _without_missing(_smallest(codes, len(values)), values)


def _factorize_polars(column: Any) -> Factorized:
    polars = import_module("polars")
    if column.dtype == polars.String:
        column = column.cast(polars.Categorical)
    if column.dtype not in (polars.Categorical, polars.Enum):
        return _factorize_objects(np.array([*column.to_list(), None], dtype=object)[:-1])
    kinds = column.unique().drop_nulls()
    physical = column.to_physical()
    if column.null_count():
        physical = physical.cast(polars.Int64).fill_null(-1)
    codes, numbers = _factorize_array(physical.to_numpy())
    names = dict(zip(kinds.to_physical().to_list(), kinds.to_list(), strict=True))
    if numbers and numbers[0] == -1:
        return codes - np.int8(1), [names[number] for number in numbers[1:]]
    return codes, [names[number] for number in numbers]
