"""Files of any size, read some rows at a time, treated and written."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import pyarrow as pa

from evenodds.decisions.doubles import Doubles
from evenodds.errors import DataError, EvenoddsWarning
from evenodds.fronts.cli.columns import numbers, rows_from, texts
from evenodds.fronts.cli.files import Source, sink
from evenodds.fronts.cli.notes import tell_written
from evenodds.fronts.cli.options import check_roles, groups_of
from evenodds.model.columns import floats_of
from evenodds.model.keys import key_of, other_columns
from evenodds.model.policy import Policy
from evenodds.model.weaknesses import Whereabouts, elsewhere

__all__ = ["streamed"]

_LOG = logging.getLogger(__name__)
_SHOWN = 20  # rows of a block that are looked at for what is wrong with them

Treated = Callable[[pa.Table, str, list[str]], pa.Table]
"""What makes of people, a score and groups a table that has the new columns."""


def streamed(
    treated: Treated,
    new: Sequence[str],
    given: dict[str, Any],
    output: str,
    *,
    policy: Policy,
    who: str | None = None,
    at_once: bool = False,
) -> None:
    """Read some rows, or all at once, treat them, write them; every other column passes through as it stands.

    Scores are compared with those of the policy's fit over the whole file, and not by the rows that are read at once.

    `who` names the column of ids, where people are decided for.
    """
    source = Source.of(given["data"], given["file_format"], given["delimiter"])
    score, groups = given["score"], groups_of(given["group"])
    check_roles({"--score": [score], "--group": groups, "--id": [] if who is None else [who]})
    seen = Whereabouts()
    without = _Without(policy)

    def watched(people: pa.Table, score: str, groups: list[str]) -> pa.Table:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvenoddsWarning)
            results = treated(people, score, groups)
        nonlocal seen
        scores = floats_of(score, people[score].to_numpy())
        seen += Whereabouts.of(policy.score_range, scores)
        without.add(results[new[0]], scores, [people[name] for name in groups])
        return results

    tables = _results(watched, new, source, at_once=at_once, score=score, groups=groups, who=who)
    writer, rows = None, 0
    between = source.delimiter if output == "-" and source.format == "csv" else given["delimiter"]
    with ExitStack() as stack:
        for table, _ in _one_behind(tables):  # of a short file that is wrong at its end nothing is written
            if writer is None:
                writer = stack.enter_context(sink(output, table.schema, given["file_format"], between))
            writer.write_table(table)
            rows += table.num_rows
    for text in [*without.told(rows), *elsewhere(policy.score_range, seen)]:
        warnings.warn(text, EvenoddsWarning, stacklevel=2)
    _LOG.info("Read %s rows from %s.", f"{rows:,}", source.name)
    tell_written(output, rows=rows)


class _Without:
    """The rows that are left without odds."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._rows = self._scores = 0
        self._unknown: set[str] = set()

    def add(self, odds: pa.ChunkedArray, scores: np.ndarray, groups: Sequence[pa.ChunkedArray]) -> None:
        """Some rows more."""
        if not odds.null_count:
            return
        places = np.flatnonzero(odds.is_null().to_numpy(zero_copy_only=False))
        self._rows += places.size
        self._scores += int((~np.isfinite(scores[places])).sum())
        some = places[:_SHOWN].tolist()
        keys = {key_of(tuple(column[row].as_py() for column in groups)) for row in some}
        self._unknown |= keys - set(self._policy.groups)

    def told(self, rows: int) -> list[str]:
        """How many of a file's rows they are, and why."""
        if not self._rows:
            return []
        scores = f"{self._scores:,} without a finite score" if self._scores else ""
        groups = f"{self._rows - self._scores:,} of no group that the policy knows" if self._rows > self._scores else ""
        are = "is" if self._rows == 1 else "are"
        reasons = ", ".join(filter(None, (scores, groups)))
        hint = other_columns(sorted(self._unknown), self._policy.curves) if groups else ""
        return [f"{self._rows:,} of {rows:,} rows {are} left without odds: {reasons}.{hint}"]


def _results(
    treated: Treated,
    new: Sequence[str],
    source: Source,
    *,
    at_once: bool,
    score: str,
    groups: list[str],
    who: str | None,
) -> Iterator[pa.Table]:
    """The tables of a file with their new columns."""
    rows, doubles = 0, Doubles(numbered=True)
    tables = source.batches([score, *groups, *([who] if who else [])])
    for table, is_last in _one_behind(iter([pa.concat_tables(tables)]) if at_once else tables):
        taken = [name for name in new if name in table.column_names]
        if taken:
            hint = "--into takes another name for the new one" if who is None else "rename it first"
            msg = f"{source.name} has a column {taken[0]!r} already. Hint: {hint}."
            raise DataError(msg)
        people = {score: numbers(table, score, where=source.name, first_row=rows + 1)}
        people |= {name: texts(table, name) for name in groups}
        if who:
            people[who] = table[who]
        with rows_from(rows + 1, source.name, among=None if is_last and not rows else rows + table.num_rows):
            results = treated(pa.table(people), score, groups)
        whole = table
        for name in new:
            whole = whole.append_column(name, results[name])
        if who and not at_once:
            _check_distinct(doubles, table[who], whole["draw"], source.name, rows)
        rows += table.num_rows
        yield whole


def _check_distinct(doubles: Doubles, ids: pa.ChunkedArray, draws: pa.ChunkedArray, where: str, before: int) -> None:
    """Refuse an id that was there in an earlier block, which has so many rows before it; `decide` looks within one."""
    names, u = list(map(str, ids.to_pylist())), np.array(draws)
    again = doubles.again(names, u)
    if again.size:
        place = int(again[0])
        first = doubles.number_of(names[place], u[place])
        msg = (
            f"{where}: row {before + place + 1} has the id of row {first + 1}. In a round everybody is decided for "
            "once. Hint: drop rows that are there twice, or name a column whose values differ."
        )
        raise DataError(msg)


def _one_behind(tables: Iterator[pa.Table]) -> Iterator[tuple[pa.Table, bool]]:
    """Each table once what comes after it is there, and whether it is the last."""
    waiting = None
    for table in tables:
        if waiting is not None:
            yield waiting, False
        waiting = table
    if waiting is not None:
        yield waiting, True
