"""The rows of a CSV in blocks, each of which ends where a row does.

Arrow can read blocks too, but in a thread of its own: while that waits for a pipe nobody hears Ctrl-C. It also drops a
line feed in quotes where a block ends before it. So blocks are cut here. Where a row ends is guessed by counting
quotes, and proven by Arrow: one more row is added to the block, and comes out as it went in only if no quote is open.
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
_COLUMNS = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)(.*)")
_OPEN_QUOTE = "Hint: is a quotation mark left open?"


def tables_of(
    stream: BinaryIO, names: Sequence[str], *, delimiter: str, columns: Sequence[str] | None, size: int
) -> Iterator[pa.Table]:
    """The rows that are left in the stream, as text, about `size` bytes at a time; of some columns, or of all."""
    pa.enable_signal_handlers(False)  # Arrow's own may make an error of Ctrl-C while a block is parsed
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
    while read := _read(stream, size):
        text += read
        for end in _ends(text):
            table = _parsed(text[:end] + last, names, options)
            if isinstance(table, pa.Table) and _is_whole(table):
                yield table.slice(0, table.num_rows - 1)
                rows += table.num_rows - 1
                text = text[end:]
                break
        else:
            if len(text) > 2 * size:
                _rows_of(_parsed(text[: text.rfind(b"\n") + 1], names, options), rows)
                msg = f"row {rows + 1} is longer than {size >> 20} MiB. {_OPEN_QUOTE}"
                raise csv.Error(msg)
    table = _rows_of(_parsed(text + b"\n" + last, names, options), rows)
    if not _is_whole(table):
        msg = f"a quotation mark is opened in row {rows + table.num_rows}, and never closed."
        raise csv.Error(msg)
    yield table.slice(0, table.num_rows - 1)


def _read(stream: Any, size: int) -> bytes:
    """As `stream.read`, which does not hear Ctrl-C between the parts that a pipe gives."""
    parts = []
    while size > 0 and (part := stream.read1(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _ends(text: bytes) -> Iterator[int]:
    """Where the last row ends, if quotes are in pairs before it; then, if one quote before it stands for itself."""
    for odd in (0, 1):
        stop, quotes = len(text), text.count(b'"')
        while stop >= 0 and (at := text.rfind(b"\n", 0, stop)) >= 0:
            quotes -= text.count(b'"', at, stop)
            if quotes % 2 == odd:
                yield at + 1
                break
            stop = text.rfind(b'"', 0, at)  # all line breaks after it have as many quotes before them
            quotes -= 1


def _parsed(text: bytes, names: Sequence[str], options: dict[str, Any]) -> pa.Table | pa.ArrowInvalid:
    """The rows of a text, or what Arrow has against them."""
    whole = pa.csv.ReadOptions(column_names=names, block_size=len(text) + 1, use_threads=False)
    try:
        return pa.csv.read_csv(_of_arrow(text), read_options=whole, **options)
    except pa.ArrowInvalid as reason:
        return reason


def _of_arrow(text: bytes) -> Any:
    """A text in Arrow's own memory: its threads may outlive Python, and must not hold anything of it then."""
    copied = pa.BufferOutputStream()
    copied.write(text)
    return pa.BufferReader(copied.getvalue())


def _is_whole(table: pa.Table) -> bool:
    """Whether the row that was added is there."""
    return bool(table.slice(table.num_rows - 1).to_pylist() == [dict.fromkeys(table.column_names, _LAST)])


def _rows_of(table: pa.Table | pa.ArrowInvalid, before: int) -> pa.Table:
    """The rows, or an error in our words that counts those before them."""
    if isinstance(table, pa.Table):
        return table
    match = _COLUMNS.search(str(table))
    if match is None:
        raise table
    row, expected, got = (int(number) for number in match.groups()[:3])
    hint = f" {_OPEN_QUOTE}" if match[4].count('"') % 2 else ""
    msg = f"row {before + row} has {got} column{'s' * (got > 1)}, and {expected} are expected.{hint}"
    raise csv.Error(msg)
