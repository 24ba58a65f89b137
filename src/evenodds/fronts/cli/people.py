"""People in a table: each column as what it is needed for, and whoever lacks something named, or left out if asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenodds.errors import DataError
from evenodds.fronts.cli.columns import Rows, labels, numbers, rows_from, texts
from evenodds.fronts.cli.files import Source
from evenodds.fronts.cli.notes import tell
from evenodds.fronts.cli.options import check_roles, groups_of
from evenodds.model.columns import labels_of
from evenodds.model.joint import JointDistribution, OneSided
from evenodds.model.scale import Orientation

__all__ = ["People", "joint_of", "people_of"]

_FINITE = ("score", "weight", "decision")


@dataclass(frozen=True)
class People:
    """The people of a file: the columns that are needed, of those who have all of them."""

    where: str
    """The file, as messages call it."""
    table: pa.Table
    rows: Rows
    """Where they stand in the file."""
    groups: list[str]
    weight: str | None


def joint_of(given: Mapping[str, Any], *, orientation: str, one_sided: OneSided = "refuse") -> JointDistribution:
    """The people of a file with a score and a label, as a joint distribution."""
    people = people_of(given, number="score", label=given["label"])
    with rows_from(people.rows, people.where):
        return JointDistribution.from_frame(
            people.table,
            score=given["score"],
            group=people.groups,
            label=given["label"],
            weight=people.weight,
            orientation=cast("Orientation", orientation),  # checked there
            resolution=given["resolution"],
            positive_label=given["positive_label"],
            one_sided=one_sided,
        )


def people_of(given: Mapping[str, Any], *, number: str, label: str | None, groups_may_lack: bool = False) -> People:
    """The people of the file that was given, by the columns that were named.

    `number` is what they are judged by, "score" or "decision". Whatever is wrong with any column is told at once. Where
    groups may be missing, nobody is incomplete for that.
    """
    source = Source.of(given["data"], given["file_format"], given["delimiter"])
    groups, weight, positive_label = groups_of(given["group"]), given["weight"], given["positive_label"]
    names = {number: [given[number]], "group": groups, "label": _some(label), "weight": _some(weight)}
    check_roles({f"--{role}": columns for role, columns in names.items()})
    roles = {name: role for role in (number, "weight", "group", "label") for name in names[role]}
    table = source.table([name for columns in names.values() for name in columns])
    found, troubles = _read(table, roles, positive_label, source.name)
    asked = [name for name in found if not (groups_may_lack and roles[name] == "group")]
    lacking = {name: _missing(found[name], roles[name]) for name in asked}
    incomplete = np.logical_or.reduce([np.zeros(table.num_rows, dtype=bool), *lacking.values()])
    if not incomplete.any() and not troubles:
        return People(source.name, pa.table(found), 1, groups, weight)
    lack = f"{source.name}: {_lack_in_words(lacking, roles, incomplete)}"
    if incomplete.all():
        troubles.append(f"{lack}, and nobody is left.")
    elif incomplete.any() and not given["drop_incomplete"]:
        troubles.append(f"{lack}. Hint: repair these rows, or --drop-incomplete leaves them out.")
    if troubles:
        raise DataError(" ".join(troubles))
    tell(f"{lack}; these rows are left out.")
    complete = pa.table(found).filter(pa.array(~incomplete))
    return People(source.name, complete, np.flatnonzero(~incomplete) + 1, groups, weight)


def _some(name: str | None) -> list[str]:
    return [] if name is None else [name]


def _read(
    table: pa.Table, roles: Mapping[str, str], positive_label: str | None, where: str
) -> tuple[dict[str, pa.ChunkedArray], list[str]]:
    """The columns that can be read, each as what it is needed for, and what is wrong with the others."""
    found, troubles = {}, []
    for name, role in roles.items():
        try:
            if role == "group":
                found[name] = texts(table, name)
            elif role == "label":
                found[name] = _labels(table, name, positive_label, where)
            else:
                found[name] = numbers(table, name, where=where)
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


def _lack_in_words(lacking: Mapping[str, np.ndarray], roles: Mapping[str, str], incomplete: np.ndarray) -> str:
    """How many rows lack what, and which is the first of each."""
    reasons = []
    for name, missing in lacking.items():
        if missing.any():
            what = f"a finite {roles[name]}" if roles[name] in _FINITE else f"a {roles[name]}"
            first = int(np.flatnonzero(missing)[0]) + 1
            reasons.append(f"{int(missing.sum()):,} without {what} in {name!r} (the first is row {first})")
    count = int(incomplete.sum())
    return f"{count:,} of {incomplete.size:,} rows {'is' if count == 1 else 'are'} incomplete: {', '.join(reasons)}"
