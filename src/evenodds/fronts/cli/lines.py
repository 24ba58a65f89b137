"""Rows as the text of a CSV, in which only those fields are quoted that must be.

Arrow's own writer quotes every text of a table, or none; what came in without quotes shall go out without them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc

from evenodds.errors import DataError

__all__ = ["CsvWriter"]


class CsvWriter:
    """Writes tables of one schema to a file or a stream; a missing value is nothing, an empty text a pair of quotes."""

    def __init__(self, target: Any, schema: pa.Schema, delimiter: str) -> None:
        for field in schema:
            if pa.types.is_nested(field.type):
                msg = f"Column {field.name!r} holds {field.type}, and a CSV has text only. Hint: -o FILE.parquet."
                raise DataError(msg)
        self._opened = Path(target).open("wb") if isinstance(target, str) else None  # noqa: SIM115 closed by __exit__
        self._stream = target if self._opened is None else self._opened
        self._delimiter = delimiter
        names = self._fields(pa.chunked_array([schema.names], pa.string()))
        self._stream.write(delimiter.join(names.to_pylist()).encode() + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._opened is not None:
            self._opened.close()

    def write_table(self, table: pa.Table) -> None:
        """Some rows more."""
        for batch in table.combine_chunks().to_batches():
            if batch.num_rows:
                fields = [self._fields(column) for column in batch.columns]
                rows = pc.binary_join_element_wise(*fields, _large(self._delimiter))
                self._stream.write(b"\n".join(rows.cast(pa.large_binary()).to_pylist()) + b"\n")

    def _fields(self, values: Any) -> Any:
        """A column as fields."""
        if pa.types.is_dictionary(values.type):
            values = values.dictionary_decode() if isinstance(values, pa.Array) else values.cast(values.type.value_type)
        is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
        texts = values.cast(pa.large_string())
        if is_text or pa.types.is_binary(values.type):
            broken = pc.match_substring_regex(texts, f'["\\r\\n{re.escape(self._delimiter)}]')
            doubled = pc.replace_substring(texts, '"', '""')
            quoted = pc.binary_join_element_wise(_large('"'), doubled, _large('"'), _large(""))
            texts = pc.if_else(pc.or_(broken, pc.equal(texts, "")), quoted, texts)
        return pc.fill_null(texts, "")


def _large(text: str) -> Any:
    return pa.scalar(text, pa.large_string())
