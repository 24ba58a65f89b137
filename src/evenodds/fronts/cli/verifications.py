"""What the verify command verifies: a file of decisions, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from evenodds.decisions.published import NOT_WORDS, Published
from evenodds.decisions.verification import Verification
from evenodds.decisions.verify import Verifier
from evenodds.errors import DataError
from evenodds.fronts.cli.columns import numbers, rows_from, texts
from evenodds.fronts.cli.files import Source
from evenodds.fronts.cli.options import check_roles, groups_of
from evenodds.fronts.cli.outputs import read_key
from evenodds.model.policy import Policy

__all__ = ["verified"]


def verified(given: Mapping[str, Any]) -> Verification:
    """The verification that was asked for; rows are counted from 1."""
    columns = Published(
        given["score"], tuple(groups_of(given["group"])), given["who"], given["odds"], given["draw"], given["decision"]
    )
    places = given["places"] if given["places_count"] is None else given["places_count"]
    at_once = places is not False
    policy = Policy.load(given["policy"])
    _check_roles(columns, review=policy.review is not None, places=at_once)
    key = read_key(given["key_file"])  # it may be public by now: nobody is warned of who can read it
    source = Source.of(given["data"], given["file_format"], given["delimiter"])
    with rows_from(0, "verify"):
        verifier = Verifier(
            policy,
            columns,
            key=key,
            round=given["round_"],
            places=places,
            digits=given["digits"],
            confidence=given["confidence"],
            commitment=given["commitment"],
            first=1,
        )
    rows = 0
    tables = _batches(source, verifier, columns.draw)
    for table in [pa.concat_tables(tables)] if at_once else tables:
        people = _typed(table, columns, source, rows, words=policy.review is not None)
        with rows_from(rows + 1, source.name):
            verifier.add(people)
        rows += table.num_rows
    with rows_from(0, source.name):
        return verifier.result()


def _check_roles(columns: Published, *, review: bool, places: bool) -> None:
    roles = {
        "--score": [columns.score],
        "--group": columns.group,
        "--id": [columns.id],
        "--odds": columns.values(review=review),
        "--draw": [] if places else [columns.draw],
        "--decision": [columns.decision],
    }
    check_roles(roles)


def _batches(source: Source, verifier: Verifier, draw: str) -> Iterator[pa.Table]:
    """The columns that are needed, some rows at a time."""
    try:
        yield from source.batches(verifier.needed, only=True)
    except DataError as error:
        if f"has no column {draw!r}" in str(error):
            msg = f"{error} Hint: --places, if places were handed out; else --draw names the column of draws."
        elif "_review'" in str(error):
            msg = f"{error} Hint: the policy has reviews. Is it the policy of these decisions?"
        else:
            raise
        raise DataError(msg) from None


def _typed(table: pa.Table, columns: Published, source: Source, rows: int, *, words: bool) -> pa.Table:
    """A table whose columns are what they are needed for."""
    typed = {}
    for name in table.column_names:
        if name in columns.group or (words and name == columns.decision):
            typed[name] = texts(table, name)
        elif name == columns.id:
            typed[name] = table[name]
        elif name == columns.decision and _are_truth_values(table[name]):
            typed[name] = pc.equal(pc.utf8_lower(texts(table, name)), "true")
        else:
            typed[name] = _numbers(table, name, columns, where=source.name, first_row=rows + 1)
    return pa.table(typed)


def _numbers(table: pa.Table, name: str, columns: Published, *, where: str, first_row: int) -> pa.ChunkedArray:
    try:
        return numbers(table, name, where=where, first_row=first_row)
    except DataError as error:
        if name != columns.decision:
            raise
        msg = f"{error} {NOT_WORDS}"
        raise DataError(msg) from None


def _are_truth_values(values: pa.ChunkedArray) -> bool:
    """Whether a column of text is how some programs write truth values."""
    if not pa.types.is_string(values.type):
        return False
    words = {word.strip().lower() for word in pc.unique(values).to_pylist() if word is not None}
    return bool(words) and words <= {"true", "false"}
