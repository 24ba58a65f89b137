"""Tables for a terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import click
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from evenodds.report.document import Bullets, Section, Text, shown
from evenodds.report.document import Table as Rows

__all__ = ["print_json", "print_sections", "print_table"]

_NARROWEST = 120  # columns that the studies' tables need when the output is not a terminal


class _Console(Console):
    """A console that leaves a closed pipe to those who know its exit code: rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def _console() -> Console:
    console = _Console(highlight=False)
    return console if console.is_terminal else _Console(highlight=False, width=max(console.width, _NARROWEST))


def print_table(table: Rows) -> None:
    """Print one table."""
    _console().print(_rows(table))


def print_json(value: Any) -> None:
    """Print plain JSON, which has no infinity and no NaN: "inf", "-inf" and null stand for them."""
    click.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return None if math.isnan(value) else value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


def print_sections(sections: Sequence[Section]) -> None:
    """Print sections of a document: headings, paragraphs and tables; what cannot be printed is left out."""
    console = _console()
    for section in sections:
        console.rule(f"[bold]{escape(section.title)}", align="left")
        for block in section.blocks:
            if isinstance(block, Text):
                console.print(escape(block.words) + "\n")
            elif isinstance(block, Bullets):
                for item in block.items:
                    console.print(Padding(f"- {escape(item)}", (0, 0, 0, 2)))
                console.print()
            elif isinstance(block, Rows):
                console.print(_rows(block))


def _rows(block: Rows) -> Table:
    table = Table(title=escape(block.title), title_justify="left", title_style="bold")
    for column in block.columns:
        justify: Literal["left", "right"] = "left" if column.kind == "text" else "right"
        table.add_column(escape(column.name), justify=justify, overflow="fold")  # nothing is cut off
    for row in block.rows:
        cells = (shown(value, column.kind) for value, column in zip(row, block.columns, strict=True))
        table.add_row(*(escape(cell) for cell in cells))
    return table
