"""Files of any size, read some rows at a time, treated and written."""

from __future__ import annotations

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
from evenodds.model.weaknesses import elsewhere, outside

__all__ = ["streamed"]

Treated = Callable[[pa.Table, str, list[str]], pa.Table]
"""What makes of people, a score and groups a table that has the new columns."""


def streamed(
    treated: Treated,
    new: Sequence[str],
    given: dict[str, Any],
    output: str,
    *,
    score_range: tuple[float, float],
    who: str | None = None,
    at_once: bool = False,
) -> None:
    """Read some rows, or all at once, treat them, write them; every other column passes through as it stands.

    Scores are compared with the range of the fit over the whole file, and not by the rows that are read at once.

    `who` names the column of ids, where people are decided for.
    """
    source = Source.of(given["data"], given["file_format"], given["delimiter"])
    score, groups = given["score"], groups_of(given["group"])
    check_roles({"--score": [score], "--group": groups, "--id": [] if who is None else [who]})
    seen = np.zeros(2)  # scores outside the range, and all

    def watched(people: pa.Table, score: str, groups: list[str]) -> pa.Table:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvenoddsWarning)
            results = treated(people, score, groups)
        seen[:] += outside(score_range, floats_of(score, people[score].to_numpy()))
        return results

    tables = _results(watched, new, source, at_once=at_once, score=score, groups=groups, who=who)
    writer, rows = None, 0
    with ExitStack() as stack:
        for table in _one_behind(tables):
            if writer is None:
                writer = stack.enter_context(sink(output, table.schema, given["file_format"], given["delimiter"]))
            writer.write_table(table)
            rows += table.num_rows
    for text in elsewhere(score_range, *seen.tolist()):
        warnings.warn(text, EvenoddsWarning, stacklevel=2)
    tell_written(output, rows=rows)


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
    for table in [pa.concat_tables(tables)] if at_once else tables:
        taken = [name for name in new if name in table.column_names]
        if taken:
            msg = f"{source.name} has a column {taken[0]!r} already. Hint: rename it first."
            raise DataError(msg)
        people = {score: numbers(table, score, where=source.name, first_row=rows + 1)}
        people |= {name: texts(table, name) for name in groups}
        if who:
            people[who] = table[who]
        with rows_from(rows + 1, source.name):
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


def _one_behind(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Each table once it is known what comes after it: of a short file that is wrong at its end nothing is written."""
    waiting = None
    for table in tables:
        if waiting is not None:
            yield waiting
        waiting = table
    if waiting is not None:
        yield waiting
