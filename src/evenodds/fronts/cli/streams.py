"""Files of any size, read some rows at a time, treated and written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pyarrow as pa

from evenodds.errors import DataError
from evenodds.fronts.cli.columns import Seen, numbers, rows_from, texts
from evenodds.fronts.cli.files import Source, sink
from evenodds.fronts.cli.notes import tell_written
from evenodds.fronts.cli.options import check_roles, groups_of

__all__ = ["streamed"]

Treated = Callable[[pa.Table, str, list[str]], pa.Table]
"""What makes of people, a score and groups a table that has the new columns."""


def streamed(
    treated: Treated,
    new: Sequence[str],
    given: dict[str, Any],
    output: str,
    *,
    also: str | None = None,
    at_once: bool = False,
) -> None:
    """Read some rows, or all at once, treat them, write them; every other column passes through as it stands."""
    source = Source.of(given["data"], given["file_format"], given["delimiter"])
    score, groups = given["score"], groups_of(given["group"])
    check_roles({"--score": [score], "--group": groups, "--id": [] if also is None else [also]})
    tables = _results(treated, new, source, at_once=at_once, score=score, groups=groups, also=also)
    writer, rows = None, 0
    with ExitStack() as stack:
        for table in _one_behind(tables):
            if writer is None:
                writer = stack.enter_context(sink(output, table.schema, given["file_format"], given["delimiter"]))
            writer.write_table(table)
            rows += table.num_rows
    tell_written(output, rows=rows)


def _results(
    treated: Treated,
    new: Sequence[str],
    source: Source,
    *,
    at_once: bool,
    score: str,
    groups: list[str],
    also: str | None,
) -> Iterator[pa.Table]:
    """The tables of a file with their new columns."""
    rows, seen = 0, Seen()
    tables = source.batches([score, *groups, *([also] if also else [])])
    for table in [pa.concat_tables(tables)] if at_once else tables:
        taken = [name for name in new if name in table.column_names]
        if taken:
            msg = f"{source.name} has a column {taken[0]!r} already. Hint: rename it first."
            raise DataError(msg)
        people = {score: numbers(table, score, where=source.name, first_row=rows + 1)}
        people |= {name: texts(table, name) for name in groups}
        if also:
            people[also] = table[also]
        with rows_from(rows + 1, source.name):
            results = treated(type(table).from_pydict(people), score, groups)
        whole = table
        for name in new:
            whole = whole.append_column(name, results[name])
        if also and "draw" in new:
            seen.add(whole["draw"], table[also])
        rows += table.num_rows
        yield whole
    seen.check(source.name)


def _one_behind(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Each table once it is known what comes after it: of a short file that is wrong at its end nothing is written."""
    waiting = None
    for table in tables:
        if waiting is not None:
            yield waiting
        waiting = table
    if waiting is not None:
        yield waiting
