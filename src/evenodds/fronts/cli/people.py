"""People in a table: each column as what it is needed for, and whoever lacks something named, or left out if asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenodds.errors import DataError
from evenodds.fronts.cli.columns import labels, numbers, rows_from, texts
from evenodds.fronts.cli.notes import tell
from evenodds.model.columns import labels_of

__all__ = ["people_of"]

_FINITE = ("score", "weight", "decision")


def people_of(
    table: pa.Table,
    where: str,
    *,
    number: Mapping[str, str],
    groups: Sequence[str],
    label: str | None,
    positive_label: str | None,
    drop_incomplete: bool,
    groups_may_lack: bool = False,
) -> pa.Table:
    """The columns that are needed, of people who have all of them.

    `number` names the columns of numbers by what they are. Whatever is wrong with any column is told at once. Where
    groups may be missing, nobody is incomplete for that.
    """
    reads: dict[str, Callable[[], pa.ChunkedArray]] = {
        **{name: partial(numbers, table, name, where=where) for name in number.values()},
        **{name: partial(texts, table, name) for name in groups},
    }
    roles = {**{name: what for what, name in number.items()}, **dict.fromkeys(groups, "group")}
    if label is not None:
        reads[label], roles[label] = partial(_labels, table, label, positive_label, where), "label"
    found, troubles = _read(reads)
    asked = [name for name in found if not (groups_may_lack and roles[name] == "group")]
    lacking = {name: _missing(found[name], roles[name]) for name in asked}
    incomplete = np.logical_or.reduce([np.zeros(table.num_rows, dtype=bool), *lacking.values()])
    if not incomplete.any() and not troubles:
        return pa.table(found)
    told = f"{where}: {_told(lacking, roles, incomplete)}"
    if incomplete.all():
        troubles.append(f"{told}, and nobody is left.")
    elif incomplete.any() and not drop_incomplete:
        troubles.append(f"{told}. Hint: repair these rows, or --drop-incomplete leaves them out.")
    if troubles:
        raise DataError(" ".join(troubles))
    tell(f"{told}; these rows are left out.")
    return pa.table(found).filter(pa.array(~incomplete))


def _read(reads: Mapping[str, Callable[[], pa.ChunkedArray]]) -> tuple[dict[str, pa.ChunkedArray], list[str]]:
    """The columns that can be read, and what is wrong with the others."""
    found, troubles = {}, []
    for name, read in reads.items():
        try:
            found[name] = read()
        except DataError as error:
            troubles.append(str(error))
    return found, troubles


def _labels(table: pa.Table, label: str, positive_label: str | None, where: str) -> pa.ChunkedArray:
    """Labels; values that are neither 0 nor 1 are refused, those that are missing are not."""
    values = labels(table, label, positive_label, where=where)
    if positive_label is None and not pa.types.is_boolean(values.type):
        there = pc.if_else(pc.fill_null(_is_nan(values), True), 0, values)
        with rows_from(1, where):
            labels_of(f"label column {label!r}", there.to_numpy())
    return values


def _missing(values: pa.ChunkedArray, role: str) -> np.ndarray:
    """Which rows have nothing in a column: no score, too, where it is no finite number."""
    missing = pc.is_null(values)
    if role in _FINITE:
        finite = pc.is_finite(values) if pa.types.is_floating(values.type) else pc.is_valid(values)
        missing = pc.invert(pc.fill_null(finite, False))
    elif pa.types.is_floating(values.type):
        missing = pc.is_null(values, nan_is_null=True)
    elif role == "group" and (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        missing = pc.fill_null(pc.equal(values, ""), True)
    return np.asarray(missing.to_numpy(zero_copy_only=False) if isinstance(missing, pa.Array) else missing.to_numpy())


def _is_nan(values: pa.ChunkedArray) -> Any:
    return pc.is_nan(values) if pa.types.is_floating(values.type) else pc.is_null(values)


def _told(lacking: Mapping[str, np.ndarray], roles: Mapping[str, str], incomplete: np.ndarray) -> str:
    """How many rows lack what, and which is the first of each."""
    reasons = []
    for name, missing in lacking.items():
        if missing.any():
            what = f"a finite {roles[name]}" if roles[name] in _FINITE else f"a {roles[name]}"
            first = int(np.flatnonzero(missing)[0]) + 1
            reasons.append(f"{int(missing.sum()):,} without {what} in {name!r} (the first is row {first})")
    count = int(incomplete.sum())
    return f"{count:,} of {incomplete.size:,} rows {'is' if count == 1 else 'are'} incomplete: {', '.join(reasons)}"
