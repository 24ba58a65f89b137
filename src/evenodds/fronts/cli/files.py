"""Tables in files: CSV, Parquet and Arrow, read whole or some rows at a time, and written the same way.

A CSV has text only; what is needed as a number is read as one, and everything else passes through as it stands.
"""

from __future__ import annotations

import codecs
import csv
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from evenodds.errors import DataError, OptionError, did_you_mean
from evenodds.files import placed
from evenodds.fronts.cli.blocks import tables_of
from evenodds.fronts.cli.lines import CsvWriter
from evenodds.progress import tracked

__all__ = ["Source", "sink"]

_LOG = logging.getLogger(__name__)
_COMPRESSED = (".bz2", ".gz", ".xz", ".zip", ".zst")
_OF_A_SPREADSHEET = (".numbers", ".ods", ".xls", ".xlsb", ".xlsm", ".xlsx")
_NO_TABLE = (*_COMPRESSED, *_OF_A_SPREADSHEET, ".htm", ".html", ".json", ".md", ".onnx", ".pdf", ".sql", ".svg")
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_BLOCK = 1 << 22  # bytes of a CSV at a time
_ROWS = 1 << 16  # rows of a Parquet file at a time
_DELIMITERS = ";\t|,"
_LONGEST = csv.field_size_limit()  # characters of a column's name
_PLAINLY = {
    "larger than field limit": f"the name of a column is longer than {_LONGEST} characters. "
    "Hint: is a quotation mark left open?",
    "new-line character": "its lines end in a carriage return alone. Hint: save it with those of Unix or Windows.",
    "metadata bytes": "it is no Arrow file, or was cut off.",
    "codec can't decode": "it is not UTF-8 text. Hint: save it as UTF-8.",
}  # what the readers say, and what we say instead


@dataclass(frozen=True)
class Source:
    """A table that is read: a file, or standard input, which is "-"."""

    path: str
    format: str
    delimiter: str

    @classmethod
    def of(cls, path: str, given_format: str | None, delimiter: str | None) -> Source:
        """The format is told by the name's ending unless it is given; standard input is CSV unless it is."""
        if path != "-":
            if not path:
                msg = "'' is not the name of a file."
                raise DataError(msg)
            file = Path(path)
            if not file.exists():
                msg = f"There is no file {path}."
                raise DataError(msg)
            if file.is_dir():
                msg = f"{path} is a folder, and not a file."
                raise DataError(msg)
            if file.is_file() and not file.stat().st_size:
                msg = f"{path} is empty."
                raise DataError(msg)
        file_format = given_format or _ENDINGS.get(Path(path).suffix.lower(), "csv" if path == "-" else "")
        if not file_format:
            hint = "--format csv, parquet or arrow"
            if Path(path).suffix.lower() in _COMPRESSED:
                hint = f"unpack it, and give it as standard input: gunzip -c {path} | evenodds ... -"
            elif Path(path).suffix.lower() in _OF_A_SPREADSHEET:
                hint = "save it as CSV UTF-8, and give that"
            msg = f"The format of {path} cannot be told from its name. Hint: {hint}."
            raise OptionError(msg)
        return cls(path, file_format, _delimiter(path, delimiter))

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return "standard input" if self.path == "-" else self.path

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        if self.path == "-" and sys.stdin is None:
            msg = "Standard input is closed. Hint: give a file, or pipe one in."
            raise DataError(msg)
        if self.format == "csv":
            with nullcontext(sys.stdin.buffer) if self.path == "-" else Path(self.path).open("rb") as stream:
                yield stream
            return
        # Arrow's own files: its threads may outlive Python, and must not hold anything of it then.
        if self.path != "-":
            with pa.OSFile(self.path) as file:
                yield file
            return
        whole = pa.BufferOutputStream()  # Parquet and Arrow files are read from their end
        while part := sys.stdin.buffer.read1(_BLOCK):  # type: ignore[union-attr]
            whole.write(part)
        if not whole.tell():
            msg = f"{self.name} is empty."
            raise DataError(msg)
        yield pa.BufferReader(whole.getvalue())

    def batches(self, needed: Sequence[str], *, only: bool = False) -> Iterator[pa.Table]:
        """The table some rows at a time; with `only`, no columns but those that are needed.

        Whatever is wrong with the file becomes one line that says so.
        """
        columns = list(dict.fromkeys(needed)) if only else None
        try:
            with self._opened() as stream:
                reader = {"csv": self._csv, "parquet": self._parquet, "arrow": self._ipc}[self.format]
                rows = 0
                for table in reader(stream, needed, columns):
                    self._check_text(table, rows + 1)
                    rows += table.num_rows
                    if table.num_rows:
                        yield table
            if not rows:
                msg = f"{self.name} has columns, and no rows."
                raise DataError(msg)
        except (pa.ArrowException, UnicodeDecodeError, csv.Error, OSError) as reason:
            if not str(reason):
                raise
            refused = reason.errno if isinstance(reason, OSError) else None
            first = os.strerror(refused) if refused else str(reason).splitlines()[0]
            trouble = next((words for sign, words in _PLAINLY.items() if sign in first), first)
            msg = f"{self.name} cannot be read as {self.format}: {trouble}"
            raise DataError(msg) from None

    def table(self, needed: Sequence[str]) -> pa.Table:
        """The columns that are needed, whole."""
        table = pa.concat_tables(self.batches(needed, only=True))
        _LOG.info("Read %s rows of %s from %s.", f"{table.num_rows:,}", ", ".join(needed), self.name)
        return table

    def _check(self, names: Sequence[str], read: Sequence[str], needed: Sequence[str]) -> None:
        """Refuse a table that lacks what is needed, or has two columns of one name among those that are read."""
        twice = next((name for name in read if names.count(name) > 1), None)
        if twice is not None:
            msg = f"{self.name} has more than one column {twice!r}. Hint: rename one of them, or leave it out."
            raise DataError(msg)
        lacking = list(dict.fromkeys(column for column in needed if column not in names))
        if not lacking:
            return
        listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")  # noqa: PLR2004 what a person reads
        other = next((d for d in _DELIMITERS if d in names[0]), None) if len(names) == 1 else None
        hint = f" Hint: --delimiter {other!r}." if other else did_you_mean(lacking, names)
        named = " and no column ".join(map(repr, lacking))
        msg = f"{self.name} has no column {named}. Its columns: {listed}.{hint}"
        raise DataError(msg)

    def _check_text(self, table: pa.Table, first_row: int) -> None:
        """Refuse text that is no UTF-8, which Parquet and Arrow files may hold unseen, with its row."""
        for column in table.column_names:
            try:
                table[column].validate(full=True)
            except pa.ArrowInvalid:
                for row, value in enumerate(table[column].cast(pa.binary()).to_pylist(), first_row):
                    if value is not None and _is_not_text(value):
                        msg = (
                            f"{self.name}, row {row}: '{value.decode('utf-8', 'backslashreplace'):.80}' in column "
                            f"{column!r} is not UTF-8 text. Hint: save the file as UTF-8."
                        )
                        raise DataError(msg) from None
                raise

    def _csv_names(self, stream: BinaryIO) -> list[str]:
        """The columns' names: the first line that is not blank, and the lines after it while a quote is open."""
        head = first = stream.readline(_BLOCK)
        while head and not head.removeprefix(codecs.BOM_UTF8).strip():
            head = stream.readline(_BLOCK)
        if not head:
            msg = f"{self.name} has nothing but blank lines." if first else f"{self.name} is empty."
            raise DataError(msg)

        def lines() -> Iterator[str]:
            yield head.decode("utf-8-sig")
            for line in stream:
                yield line.decode()
            msg = "a quotation mark is opened among the names of the columns, and never closed."
            raise csv.Error(msg)

        names = next(csv.reader(lines(), delimiter=self.delimiter))
        if len(head) == _BLOCK:
            msg = f"its first line is longer than {_BLOCK >> 20} MiB."
            raise csv.Error(msg)
        return names

    def _csv(self, stream: BinaryIO, needed: Sequence[str], columns: list[str] | None) -> Iterator[pa.Table]:
        names = self._csv_names(stream)
        self._check(names, columns or names, needed)
        size = None if self.path == "-" else Path(self.path).stat().st_size
        blocks = tables_of(stream, names, delimiter=self.delimiter, columns=columns, size=_BLOCK)
        yield from tracked(blocks, self._doing, total=None if size is None else 1 + size // _BLOCK)

    @property
    def _doing(self) -> str:
        return f"Reading {self.name}"

    def _parquet(self, stream: Any, needed: Sequence[str], columns: list[str] | None) -> Iterator[pa.Table]:
        from pyarrow import parquet  # noqa: PLC0415 heavy

        file = parquet.ParquetFile(stream)
        self._check(file.schema_arrow.names, columns or file.schema_arrow.names, needed)
        rows = file.iter_batches(batch_size=_ROWS, columns=columns)
        for batch in tracked(rows, self._doing, total=1 + file.metadata.num_rows // _ROWS):
            yield pa.Table.from_batches([batch])

    def _ipc(self, stream: Any, needed: Sequence[str], columns: list[str] | None) -> Iterator[pa.Table]:
        try:
            file = pa.ipc.open_file(stream)
            count = file.num_record_batches
            batches: Any = tracked((file.get_batch(i) for i in range(count)), self._doing, total=count)
        except pa.ArrowInvalid:
            stream.seek(0)
            file = batches = pa.ipc.open_stream(stream)
        self._check(file.schema.names, columns or file.schema.names, needed)
        for batch in batches:
            table = pa.Table.from_batches([batch])
            yield table if columns is None else table.select(columns)


def _delimiter(path: str, given: str | None) -> str:
    usual = "\t" if path.lower().endswith(".tsv") else ","
    mark = usual if given is None else {"\\t": "\t"}.get(given, given)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n':
        msg = f"--delimiter {given!r} is not allowed. Allowed: one character, such as ; or \\t for a tab."
        raise OptionError(msg)
    return mark


def _is_not_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return True
    return False


@contextmanager
def sink(path: str, schema: pa.Schema, given_format: str | None, delimiter: str | None) -> Iterator[Any]:
    """Where tables of one schema are written, some rows at a time: a file, or standard output, which is "-".

    What is read may be what is written: a file takes its place when it is whole.
    """
    ending = Path(path).suffix.lower()
    if ending in _NO_TABLE:
        msg = f"-o {path}: no {ending} is written. Hint: -o {Path(path).with_suffix('.csv')}, .parquet or .arrow."
        raise OptionError(msg)
    file_format = _ENDINGS.get(ending) or given_format or "csv"
    between = _delimiter(path, delimiter)
    try:
        if path != "-":
            with placed(path) as part, _writer(str(part), schema, file_format, between) as writer:
                yield writer
            return
        with _writer(sys.stdout.buffer, schema, file_format, between) as writer:
            yield writer
    except pa.ArrowException as reason:
        msg = f"{path} cannot be written as {file_format}: {str(reason).splitlines()[0]}"
        raise DataError(msg) from None


def _writer(target: Any, schema: pa.Schema, file_format: str, delimiter: str) -> Any:
    if file_format == "csv":
        return CsvWriter(target, schema, delimiter)
    if file_format == "parquet":
        from pyarrow import parquet  # noqa: PLC0415 heavy

        return parquet.ParquetWriter(target, schema)
    return pa.ipc.new_file(target, schema) if isinstance(target, str) else pa.ipc.new_stream(target, schema)
