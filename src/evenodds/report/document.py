"""A report as plain data: sections of text, tables and figures. How they look is somebody else's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from evenodds.evaluation.intervals import Estimate
from evenodds.pictures.figures import Figure

__all__ = [
    "Block",
    "Bullets",
    "Cell",
    "Code",
    "Column",
    "Document",
    "KeyFigure",
    "KeyFigures",
    "Kind",
    "Picture",
    "Section",
    "Table",
    "Text",
    "interval",
    "plain",
    "shown",
    "table_of",
]

Cell = str | float | bool | Estimate | None
Kind = Literal["text", "percent", "points", "rate", "thousandths", "number", "count", "slope", "tiny"]

_MANY = 100  # people of whom tenths are not counted
_WHOLE = 1e-6  # sums of weights that are nearer than this to a whole number are one


@dataclass(frozen=True)
class Column:
    """A column of a table, and how its values are shown."""

    name: str
    kind: Kind = "text"
    key: str = ""
    """What machines call it, where its name alone does not tell it from another column."""


@dataclass(frozen=True)
class Table:
    """Values in rows; what each column holds is said once."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    words: str


@dataclass(frozen=True)
class Bullets:
    """Short statements."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class KeyFigure:
    """A number that one remembers."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class KeyFigures:
    """The numbers that matter most."""

    items: tuple[KeyFigure, ...]


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with its name on the page and what to see in it."""

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True)
class Code:
    """Text for machines, folded until it is asked for."""

    title: str
    text: str


Block = Table | Text | Bullets | KeyFigures | Picture | Code


@dataclass(frozen=True, eq=False)
class Section:
    """What belongs under one heading."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, eq=False)
class Document:
    """A whole report."""

    title: str
    lead: str
    """One sentence below the title."""
    sections: tuple[Section, ...]

    def __repr__(self) -> str:
        return f"Document({self.title!r}, {len(self.sections)} sections)"

    def __str__(self) -> str:
        return str(import_module("evenodds.report.markdown").markdown_of(self))

    def _repr_html_(self) -> str:
        return str(import_module("evenodds.report.html").fragment_of(self))

    def blocks(self, kind: type[Any]) -> list[Any]:
        """Every block of a kind, in order."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, kind)]


def table_of(
    title: str, rows: Sequence[Mapping[str, Cell]], kinds: Mapping[str, Kind] | None = None, note: str = ""
) -> Table:
    """A table of rows that have the same names; words are text, numbers are numbers unless `kinds` says more.

    >>> table_of("Slopes", [{"group": "a", "largest_slope": 0.5}]).columns[1]
    Column(name='largest slope', kind='number', key='')
    """
    known = kinds or {}
    first = rows[0]
    columns = tuple(
        Column(
            name.replace("_", " ") if name.islower() else name,
            known.get(name, "text" if isinstance(first[name], str) else "number"),
        )
        for name in first
    )
    return Table(title, columns, tuple(tuple(row.values()) for row in rows), note)


def shown(value: Cell, kind: Kind = "text") -> str:
    """A value as people read it.

    >>> shown(0.2751, "percent"), shown(Estimate(0.25, 0.2, 0.31), "percent"), shown(float("inf"), "slope")
    ('27.5 %', '25.0 % [20.0, 31.0]', 'jump')
    >>> shown(174047.0, "count"), shown(-0.0312, "points"), shown(None)
    ('174,047', '-3.1', '')
    """
    if isinstance(value, Estimate):
        return f"{shown(value.value, kind)} {interval(value, kind)}"
    if value is None or isinstance(value, (bool, str)):
        return _WORDS.get(value, str(value))
    if math.isnan(value):
        return "not defined"
    if kind == "slope" and math.isinf(value):
        return "jump"
    return _bare(value, kind) + (" %" if kind == "percent" else "")


_WORDS: dict[Any, str] = {None: "", True: "yes", False: "no"}


def interval(value: Estimate, kind: Kind) -> str:
    """An estimate's interval alone."""
    return f"[{_bare(value.low, kind)}, {_bare(value.high, kind)}]"


def _bare(value: float, kind: Kind) -> str:
    if kind == "count":
        whole = abs(value - round(value)) <= _WHOLE or abs(value) >= _MANY
        return f"{value:,.0f}" if whole else f"{value:,.1f}"
    if kind in ("percent", "points"):
        value *= 100
    return format(value, _FORMATS.get(kind, ".6g"))


_FORMATS = {"percent": ".1f", "points": "+.1f", "rate": ".4f", "thousandths": ".3f", "slope": ".4g", "tiny": ".1e"}


def plain(document: Document) -> dict[str, Any]:
    """The document for machines: values as they are, figures without their points."""
    return {
        "title": document.title,
        "lead": document.lead,
        "sections": [
            {"title": section.title, "blocks": [_plain(block) for block in section.blocks]}
            for section in document.sections
        ],
    }


def _plain(block: Block) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"text": block.words}
    if isinstance(block, Bullets):
        return {"items": list(block.items)}
    if isinstance(block, KeyFigures):
        return {"figures": [{"name": item.name, "value": item.value, "note": item.note} for item in block.items]}
    if isinstance(block, Picture):
        return {"figure": block.name, "title": block.figure.title, "caption": block.caption}
    if isinstance(block, Code):
        return {"title": block.title, "code": block.text}
    names = [column.key or column.name for column in block.columns]
    rows = [dict(zip(names, map(_number, row), strict=True)) for row in block.rows]
    return {"table": block.title, "rows": rows, "note": block.note}


def _number(value: Cell) -> Any:
    return {"value": value.value, "low": value.low, "high": value.high} if isinstance(value, Estimate) else value
