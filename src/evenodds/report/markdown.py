"""A report as Markdown: text and tables; figures are named, since they cannot be drawn in it."""

from __future__ import annotations

import re

from evenodds.report.document import Block, Bullets, Code, Document, KeyFigures, Picture, Table, Text, shown

__all__ = ["markdown_of"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|&~])")


def markdown_of(document: Document) -> str:
    """The document as Markdown."""
    parts = [f"# {_safe(document.title)}", _safe(document.lead)]
    for section in document.sections:
        parts.append(f"## {_safe(section.title)}")
        parts += [_block(block) for block in section.blocks]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return _safe(block.words)
    if isinstance(block, Bullets):
        return "\n".join(f"- {_safe(item)}" for item in block.items)
    if isinstance(block, KeyFigures):
        return "\n".join(
            f"- **{_safe(item.value)}** {_safe(item.name)}" + (f" ({_safe(item.note)})" if item.note else "")
            for item in block.items
        )
    if isinstance(block, Picture):
        return f"*Figure, in the HTML report: {_safe(block.figure.title)}. {_safe(block.caption)}*"
    if isinstance(block, Code):
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", block.text))])
        return f"{_safe(block.title)}:\n\n{fence}json\n{block.text.rstrip()}\n{fence}"
    return _table(block)


def _table(table: Table) -> str:
    head = "| " + " | ".join(_safe(column.name) for column in table.columns) + " |"
    rule = "|" + "|".join("---" if column.kind == "text" else "---:" for column in table.columns) + "|"
    rows = [
        "| " + " | ".join(_safe(shown(v, c.kind)) for v, c in zip(row, table.columns, strict=True)) + " |"
        for row in table.rows
    ]
    parts = [f"**{_safe(table.title)}**" if table.title else "", "\n".join([head, rule, *rows]), _safe(table.note)]
    return "\n\n".join(part for part in parts if part)


def _safe(text: str) -> str:
    """Text that means itself: no mark-up from a group's name, and one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
