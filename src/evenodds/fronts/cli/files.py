"""Tables in files: CSV, Parquet and Arrow, read whole or some rows at a time, and written the same way.

A CSV has text only; what is needed as a number is read as one, and everything else passes through as it stands.
"""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from evenodds.errors import DataError, EvenoddsError, MissingPackageError, OptionError, did_you_mean
from evenodds.progress import tracked

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORMATS", "Source", "labels", "numbers", "rows_from", "sink", "texts"]

FORMATS = ("csv", "parquet", "arrow")
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
_HINTS = {
    "on_invalid='null' leaves their odds missing": "apply --on-invalid null leaves their odds empty",
    "positive_label=": "--positive-label ",
}
_DELIMITERS = ";\t|,"


def _arrow() -> Any:
    try:
        import pyarrow as pa  # noqa: PLC0415 heavy
        import pyarrow.csv  # noqa: PLC0415 heavy
    except ImportError:
        msg = "Reading and writing tables needs pyarrow. Hint: pip install pyarrow."
        raise MissingPackageError(msg) from None
    return pa


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
        found = given_format or _ENDINGS.get(Path(path).suffix.lower(), "csv" if path == "-" else "")
        if not found:
            msg = f"The format of {path} cannot be told from its name. Hint: --format csv, parquet or arrow."
            raise OptionError(msg)
        return cls(path, found, _delimiter(path, delimiter))

    @property
    def name(self) -> str:
        """What to call it in a message."""
        return "standard input" if self.path == "-" else self.path

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        if self.path == "-":
            if sys.stdin is None:
                msg = "Standard input is closed. Hint: give a file, or pipe one in."
                raise DataError(msg)
            stream = sys.stdin.buffer
            # Parquet and Arrow files are read from their end.
            yield stream if self.format == "csv" else io.BytesIO(stream.read())
        else:
            with Path(self.path).open("rb") as stream:
                yield stream

    def batches(self, needed: Sequence[str], *, only: bool = False) -> Iterator[pa.Table]:
        """The table some rows at a time; with `only`, no columns but those that are needed.

        Whatever is wrong with the file becomes one line that says so.
        """
        pa = _arrow()
        columns = list(dict.fromkeys(needed)) if only else None
        try:
            with self._opened() as stream:
                reader = {"csv": self._csv, "parquet": self._parquet, "arrow": self._ipc}[self.format]
                rows = 0
                for table in reader(pa, stream, needed, columns):
                    rows += table.num_rows
                    yield table
            if not rows:
                msg = f"{self.name} has columns, and no rows."
                raise DataError(msg)
        except (pa.ArrowException, UnicodeDecodeError, csv.Error, OSError) as reason:
            if not str(reason):
                raise
            first = str(reason).splitlines()[0]
            msg = f"{self.name} cannot be read as {self.format}: {first}"
            raise DataError(msg) from None

    def table(self, needed: Sequence[str]) -> pa.Table:
        """The columns that are needed, whole."""
        tables = list(self.batches(needed, only=True))
        return _arrow().concat_tables(tables)

    def _check(self, names: Sequence[str], needed: Sequence[str]) -> None:
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            msg = f"{self.name} has more than one column {twice!r}."
            raise DataError(msg)
        for column in needed:
            if column in names:
                continue
            listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")  # noqa: PLR2004 what a person reads
            other = next((d for d in _DELIMITERS if d in names[0]), None) if len(names) == 1 else None
            hint = f" Hint: --delimiter {other!r}." if other else did_you_mean(column, names)
            msg = f"{self.name} has no column {column!r}. Its columns: {listed}.{hint}"
            raise DataError(msg)

    def _csv(self, pa: Any, stream: BinaryIO, needed: Sequence[str], columns: list[str] | None) -> Iterator[pa.Table]:
        head = stream.readline()
        if not head.strip():
            msg = f"{self.name} is empty."
            raise DataError(msg)
        names = next(csv.reader([head.decode("utf-8-sig")], delimiter=self.delimiter))
        self._check(names, needed)
        options = {
            "read_options": pa.csv.ReadOptions(column_names=names, block_size=_BLOCK, use_threads=False),
            "parse_options": pa.csv.ParseOptions(delimiter=self.delimiter),
            "convert_options": pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=columns,
                strings_can_be_null=True,
                null_values=[""],
                quoted_strings_can_be_null=False,
            ),
        }
        try:
            reader = pa.csv.open_csv(stream, **options)
        except pa.ArrowInvalid as reason:
            if "Empty CSV" not in str(reason):
                raise
            return
        size = None if self.path == "-" else Path(self.path).stat().st_size
        for batch in tracked(reader, self._doing, total=None if size is None else 1 + size // _BLOCK):
            yield pa.Table.from_batches([batch])

    @property
    def _doing(self) -> str:
        return f"Reading {self.name}"

    def _parquet(
        self, pa: Any, stream: BinaryIO, needed: Sequence[str], columns: list[str] | None
    ) -> Iterator[pa.Table]:
        from pyarrow import parquet  # noqa: PLC0415 heavy

        file = parquet.ParquetFile(stream)
        self._check(file.schema_arrow.names, needed)
        rows = file.iter_batches(batch_size=_ROWS, columns=columns)
        for batch in tracked(rows, self._doing, total=1 + file.metadata.num_rows // _ROWS):
            yield pa.Table.from_batches([batch])

    def _ipc(self, pa: Any, stream: BinaryIO, needed: Sequence[str], columns: list[str] | None) -> Iterator[pa.Table]:
        try:
            file = pa.ipc.open_file(stream)
            count = file.num_record_batches
            batches: Any = tracked((file.get_batch(i) for i in range(count)), self._doing, total=count)
        except pa.ArrowInvalid:
            stream.seek(0)
            file = batches = pa.ipc.open_stream(stream)
        self._check(file.schema.names, needed)
        for batch in batches:
            table = pa.Table.from_batches([batch])
            yield table if columns is None else table.select(columns)


def _delimiter(path: str, given: str | None) -> str:
    found = {"\\t": "\t"}.get(given or "", given) or ("\t" if path.lower().endswith(".tsv") else ",")
    if len(found) != 1 or not found.isascii() or found in '"\r\n':
        msg = f"--delimiter {given!r} is not allowed. Allowed: one character, such as ; or \\t for a tab."
        raise OptionError(msg)
    return found


@contextmanager
def sink(path: str, schema: pa.Schema, given_format: str | None, delimiter: str | None) -> Iterator[Any]:
    """Where tables of one schema are written, some rows at a time: a file, or standard output, which is "-".

    A file takes its place when it is whole: what is read may be what is written, and an error leaves nothing half done.
    """
    pa = _arrow()
    found = _ENDINGS.get(Path(path).suffix.lower()) or given_format or "csv"
    file = Path(path)
    whole = file.with_name(f".{file.name}.{os.getpid()}.part") if path != "-" and _is_plain(file) else None
    target: Any = sys.stdout.buffer if path == "-" else str(whole or file)
    try:
        writer = _writer(pa, target, schema, found, _delimiter(path, delimiter))
        try:
            yield writer
        finally:
            writer.close()
        if whole is not None:
            whole.replace(file)
    except pa.ArrowException as reason:
        msg = f"{path} cannot be written as {found}: {str(reason).splitlines()[0]}"
        raise DataError(msg) from None
    finally:
        if whole is not None:
            whole.unlink(missing_ok=True)


def _is_plain(file: Path) -> bool:
    """Whether this is, or will be, an ordinary file, and no pipe or device."""
    return file.is_file() or not file.exists()


def _writer(pa: Any, target: Any, schema: pa.Schema, found: str, delimiter: str) -> Any:
    if found == "csv":
        return pa.csv.CSVWriter(
            target, schema, write_options=pa.csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
        )
    if found == "parquet":
        from pyarrow import parquet  # noqa: PLC0415 heavy

        return parquet.ParquetWriter(target, schema)
    return pa.ipc.new_file(target, schema) if isinstance(target, str) else pa.ipc.new_stream(target, schema)


@contextmanager
def rows_from(first: int, where: str) -> Iterator[None]:
    """Errors about rows as the file has them, counted from 1, and with the options of the command line."""
    try:
        yield
    except EvenoddsError as error:
        text = re.sub(r"\b(?:row|position) (\d+)", lambda found: f"row {int(found[1]) + first}", str(error))
        for python, option in _HINTS.items():
            text = text.replace(python, option)
        msg = f"{where}: {text}"
        raise type(error)(msg) from None


# -- columns -----------------------------------------------------------------------------------------------------------


def numbers(table: pa.Table, column: str, *, where: str, first_row: int = 1) -> pa.ChunkedArray:
    """A column as numbers; text that is none is shown with its row."""
    pa = _arrow()
    import pyarrow.compute as pc  # noqa: PLC0415 heavy

    values = table[column]
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return values
    trimmed = pc.utf8_trim_whitespace(values)
    try:
        return trimmed.cast(pa.float64())
    except pa.ArrowInvalid:
        for row, text in enumerate(trimmed.to_pylist(), first_row):
            if text is not None and not _is_number(text):
                msg = f"{where}, row {row}: {text!r} in column {column!r} is not a number."
                raise DataError(msg) from None
        raise


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # which Python would allow


def texts(table: pa.Table, column: str) -> pa.ChunkedArray:
    """A column of groups or names; text is taken as it stands but for spaces around it."""
    pa = _arrow()
    import pyarrow.compute as pc  # noqa: PLC0415 heavy

    values = table[column]
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    return pc.utf8_trim_whitespace(values) if is_text else values


def labels(table: pa.Table, column: str, positive_label: str | None, *, where: str) -> pa.ChunkedArray:
    """A column of labels: numbers and truth values where it has such, text where a word is the yes."""
    pa = _arrow()
    import pyarrow.compute as pc  # noqa: PLC0415 heavy

    values = texts(table, column)
    if pa.types.is_dictionary(values.type) or pa.types.is_large_string(values.type):
        values = values.cast(pa.string())
    if positive_label is not None:
        return values.cast(pa.string())
    if not pa.types.is_string(values.type):
        return values
    lowered = pc.utf8_lower(values)
    found = set(pc.unique(lowered).to_pylist()) - {None}
    if found <= {"true", "false"}:
        return pc.equal(lowered, "true")
    try:
        return values.cast(pa.float64())
    except pa.ArrowInvalid:
        words = ", ".join(repr(word) for word in sorted(set(pc.unique(values).to_pylist()) - {None})[:6])
        msg = f"{where}: column {column!r} has the values {words}. Hint: --positive-label says which is the yes."
        raise DataError(msg) from None
