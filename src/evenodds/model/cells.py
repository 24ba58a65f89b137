"""People counted by the engine that holds them: one GROUP BY, and only its table is ever fetched.

A cell is a group and a score; it says how many people of each label have them. The table also counts what cannot be
used, so that nothing is dropped silently, and one pass over the data is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.errors import DataError, OptionError
from evenodds.frames import Frame, array_of, columns_of, constant, factorize, narwhals
from evenodds.geometry.pieces import Floats
from evenodds.model.columns import EMPTY_TABLE, HUGE, check_amounts
from evenodds.model.keys import Codes, encode

__all__ = ["Cells", "Columns", "check_group_kinds", "check_numeric", "counted", "names_of", "plain", "query"]


def names_of(group: Any) -> tuple[Any, ...]:
    """The names of one group column, or of several."""
    names = tuple(group) if isinstance(group, (list, tuple)) else (group,)
    if not names:
        msg = "group names no column. Hint: one name, or a list of several."
        raise OptionError(msg)
    return names


@dataclass(frozen=True)
class Columns:
    """The names of a frame's columns."""

    score: str
    group: tuple[str, ...]
    label: str
    weight: str | None = None

    @classmethod
    def named(cls, score: str, group: str | Sequence[str], label: str, weight: str | None) -> Columns:
        """Group may be one name or several."""
        return cls(score, names_of(group), label, weight)

    @property
    def all(self) -> tuple[str, ...]:
        return (self.score, *self.group, self.label, *([] if self.weight is None else [self.weight]))


@dataclass(frozen=True, eq=False)
class Cells:
    """Weights of negatives and positives (rows 0 and 1) by group and score, and the sums of their squares."""

    codes: Codes
    keys: tuple[str, ...]
    scores: Floats
    weights: Floats
    squares: Floats


def check_group_kinds(frame: Frame, group: Sequence[str]) -> None:
    """Refuse groups whose text differs from library to library, such as dates."""
    nw = narwhals()
    schema = frame.collect_schema()
    for name in group:
        kind = schema[name]
        is_number = kind.is_integer() or kind.is_float()
        if not (is_number or kind in (nw.Boolean, nw.Object, nw.String, nw.Categorical, nw.Enum)):
            msg = (
                f"The group column {name!r} holds {kind}; groups are strings, whole numbers, booleans or categories. "
                "Hint: turn it into strings."
            )
            raise DataError(msg)


def query(frame: Frame, columns: Columns, resolution: float, positive_label: object) -> Any:
    """The one aggregation, not run yet."""
    nw = narwhals()
    schema = frame.collect_schema()
    if columns.weight is not None:
        check_numeric(frame, "weight", columns.weight)
    raw = nw.col(columns.score).cast(nw.Float64)
    steps = raw
    if resolution:
        steps = ((raw * constant(frame, 1 / resolution) + 0.5).floor() * constant(frame, resolution)).cast(nw.Float64)
    score = nw.when(raw.is_finite()).then(steps).otherwise(nw.lit(None, nw.Float64))
    yes, no = _yes_and_no(frame, schema[columns.label], columns.label, positive_label)
    selected = [score.alias("score"), nw.when(yes | no).then(nw.lit(0)).otherwise(nw.lit(1)).alias("bad_label")]
    for i, name in enumerate(columns.group):
        selected.append(plain(frame, name).alias(f"group{i}"))
    weight = nw.lit(1.0)
    if columns.weight is not None:
        given = nw.col(columns.weight).cast(nw.Float64)
        usable = given.is_finite() & (given >= 0) & (given <= HUGE)
        weight = nw.when(usable).then(given).otherwise(nw.lit(0.0))
        selected.append(nw.when(usable).then(nw.lit(0)).otherwise(nw.lit(1)).alias("bad_weight"))
    for name, is_label in (("no", no), ("yes", yes)):
        selected.append(nw.when(is_label).then(weight).otherwise(nw.lit(0.0)).alias(name))
        if columns.weight is not None:
            selected.append(nw.when(is_label).then(weight * weight).otherwise(nw.lit(0.0)).alias(f"{name}_squared"))
    keys = [*(f"group{i}" for i in range(len(columns.group))), "score"]
    rows = frame.lazy().select(*selected)
    sums = [name for name in rows.collect_schema().names() if name not in keys]
    return rows.group_by(*keys).agg(nw.len().alias("people"), *(nw.col(name).sum() for name in sums))


def counted(frame: Frame, columns: Columns, resolution: float, positive_label: object) -> Cells:
    """Run the query, refuse what cannot be used, and hand over the cells."""
    table = query(frame, columns, resolution, positive_label).collect()
    if not table.shape[0]:
        raise DataError(EMPTY_TABLE)
    number = {name: array_of(table[name].to_native()) for name in table.columns if not name.startswith("group")}
    people = number["people"].astype(np.float64)
    finite = np.isfinite(number["score"])
    _refuse(people[~finite].sum(), f"score column {columns.score!r}", "missing, NaN or infinite")
    for i, name in enumerate(columns.group):
        missing = factorize((columns_of(table[f"group{i}"].to_native()) or [])[0])[0] < 0
        _refuse(people[missing].sum(), f"group column {name!r}", "missing")
    wanted = "missing or other than 0 and 1" if positive_label is None else "missing"
    _refuse(number["bad_label"].sum(), f"label column {columns.label!r}", wanted)
    if columns.weight is not None:
        trouble = "missing, NaN, infinite or negative"
        _refuse(number["bad_weight"].sum(), f"weight column {columns.weight!r}", trouble)
    codes, keys = encode([table[f"group{i}"].to_native() for i in range(len(columns.group))])
    weights = np.stack([number["no"], number["yes"]]).astype(np.float64)
    if columns.weight is not None:
        check_amounts(f"weight column {columns.weight!r}", weights.ravel())
    if positive_label is not None and not weights[1].any():
        msg = f"positive_label={positive_label!r} does not occur in label column {columns.label!r}."
        raise DataError(msg)
    squares = weights if columns.weight is None else np.stack([number["no_squared"], number["yes_squared"]])
    return Cells(codes, keys, number["score"].astype(np.float64), weights, squares)


def check_numeric(frame: Frame, role: str, name: str) -> None:
    """Refuse a column of words or dates where numbers are needed."""
    kind = frame.collect_schema()[name]
    if not (kind.is_numeric() or kind in (narwhals().Boolean, narwhals().Object)):
        msg = f"The {role} column {name!r} holds {kind}, not numbers."
        raise DataError(msg)


def plain(frame: Frame, name: str) -> Any:
    """A column as an expression; categories as the words that they stand for, but for Dask, where they need not be."""
    nw = narwhals()
    column = nw.col(name)
    is_category = frame.collect_schema()[name] in (nw.Categorical, nw.Enum)
    return column.cast(nw.String) if is_category and not frame.implementation.is_dask() else column


def _yes_and_no(frame: Frame, kind: Any, name: str, positive_label: object) -> tuple[Any, Any]:
    """Expressions for a yes and a no; a missing label is neither."""
    nw = narwhals()
    column = plain(frame, name)
    if positive_label is not None:
        _check_kind(frame, kind, name, positive_label)
        there = ~column.is_null() & ~column.is_nan() if kind.is_float() else ~column.is_null()
        return (column == positive_label) & there, (column != positive_label) & there
    if kind == nw.Boolean:
        return column, ~column
    if not kind.is_numeric():
        msg = (
            f"The label column {name!r} holds {kind}; labels are 0 and 1, or booleans. "
            "Hint: positive_label= names the value that counts as a yes."
        )
        raise DataError(msg)
    return column == 1, column == 0


def _check_kind(frame: Frame, kind: Any, name: str, positive_label: object) -> None:
    """Refuse a word for numbers, a number for words and several values, which engines compare each in its own way."""
    nw = narwhals()
    if kind == nw.Object or (kind == nw.Categorical and frame.implementation.is_dask()):
        return  # pandas' own objects, which are compared as they are
    is_several = isinstance(positive_label, (list, tuple, set, dict, np.ndarray))
    if is_several or isinstance(positive_label, str) != (kind in (nw.String, nw.Categorical, nw.Enum)):
        msg = f"positive_label={positive_label!r} does not occur in label column {name!r}, which holds {kind}."
        raise DataError(msg)


def _refuse(count: float, what: str, trouble: str) -> None:
    if count:
        msg = f"The {what} has {int(count):,} values that are {trouble}. Hint: drop or repair these rows first."
        raise DataError(msg)
