"""The rows of a CSV in blocks, each of which ends where a row does.

Arrow reads blocks too, but in a thread of its own, which must not wait for a pipe while Ctrl-C is pressed; and it drops
a line feed in quotes where a block ends before it. So blocks are cut here. Where a row ends is guessed by counting
quotes. Arrow then proves it: one more row is added to the block, and comes out as it went in only if no quote is open.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv

__all__ = ["tables_of"]

_LAST = "\x03"  # "end of text", in every column of the row that is added
_COLUMNS = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


def tables_of(
    stream: BinaryIO, names: Sequence[str], *, delimiter: str, columns: Sequence[str] | None, size: int
) -> Iterator[pa.Table]:
    """The rows that are left in the stream, as text, about `size` bytes at a time; of some columns, or of all."""
    options = {
        "parse_options": pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        "convert_options": pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=columns,
            strings_can_be_null=True,
            null_values=[""],
            quoted_strings_can_be_null=False,
            check_utf8=False,  # which is checked for every format, and told with its row
        ),
    }
    last = delimiter.join([_LAST] * len(names)).encode()
    text, rows = b"", 0
    while read := stream.read(size):
        text += read
        for end in _ends(text):
            table = _parsed(text[:end] + last, names, options, None)
            if table is not None:
                yield table
                rows += table.num_rows
                text = text[end:]
                break
        else:
            if len(text) > 2 * size:
                _parsed(text, names, options, rows)  # which may know better
                msg = f"row {rows + 1} is longer than {size >> 20} MiB. Hint: is a quotation mark left open?"
                raise csv.Error(msg)
    table = _parsed(text + b"\n" + last, names, options, rows)
    if table is None:
        msg = "a quotation mark is opened in the last row, and never closed."
        raise csv.Error(msg)
    yield table


def _ends(text: bytes) -> Iterator[int]:
    """Where the last row ends, if quotes are in pairs before it; then, if one quote before it stands for itself."""
    for odd in (0, 1):
        stop, quotes = len(text), text.count(b'"')
        while (at := text.rfind(b"\n", 0, stop)) >= 0:
            quotes -= text.count(b'"', at, stop)
            if quotes % 2 == odd:
                yield at + 1
                break
            stop = text.rfind(b'"', 0, at)  # up to which all line breaks have as many before them
            quotes -= 1


def _parsed(text: bytes, names: Sequence[str], options: dict[str, Any], rows: int | None) -> pa.Table | None:
    """The rows but for the one that was added; None if that is not there.

    What Arrow refuses is told if it is known how many rows came before, and else no more than that it ends wrong.
    """
    whole = pa.csv.ReadOptions(column_names=names, block_size=len(text) + 1, use_threads=False)
    try:
        table = pa.csv.read_csv(pa.BufferReader(text), read_options=whole, **options)
    except pa.ArrowInvalid as reason:
        if rows is None:
            return None
        found = _COLUMNS.search(str(reason))
        if found is None:
            raise
        row, expected, got = map(int, found.groups())
        msg = f"row {rows + row} has {got} column{'s' * (got > 1)}, and {expected} are expected."
        raise csv.Error(msg) from None
    count = table.num_rows - 1
    if count < 0 or table.slice(count).to_pylist()[0] != dict.fromkeys(table.column_names, _LAST):
        return None
    return table.slice(0, count)
