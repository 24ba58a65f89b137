"""A report as one HTML file: everything it needs is in it, and the browser is told to load nothing else.

The content security policy allows the page's own style and script by their hashes, and nothing besides: whatever a
group is called, it is text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby

from evenodds.evaluation.intervals import Estimate
from evenodds.pictures.labels import legend
from evenodds.pictures.svg import hover_data
from evenodds.report.document import (
    Block,
    Bullets,
    Cell,
    Code,
    Document,
    KeyFigure,
    KeyFigures,
    Kind,
    Picture,
    Table,
    Text,
    interval,
    shown,
)

__all__ = ["fragment_of", "html_of"]

_CODE = ' class="code"'
_HOVERING = re.compile(r"<script.*?</script>", re.DOTALL)  # numbers that the page's own script shows
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")


@cache
def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def html_of(document: Document) -> str:
    """The document as HTML."""
    style, script = _asset("page.css"), _asset("page.js")
    allowed = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    numbered = [(f"section-{i}", section) for i, section in enumerate(document.sections, 1)]
    listed = "".join(f'<li><a href="#{anchor}">{escape(section.title)}</a></li>' for anchor, section in numbered)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{allowed}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(document.title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        f'<header><h1>{escape(document.title)}</h1><p class="lead">{escape(document.lead)}</p></header>',
        f'<nav aria-label="Contents"><ol>{listed}</ol></nav>',
        "<main>",
    ]
    for anchor, section in numbered:
        parts.append(f'<section id="{anchor}"><h2>{escape(section.title)}</h2>')
        parts += _blocks(section.blocks)
        parts.append("</section>")
    parts += ["</main>", f"<script>{script}</script>", "</body>", "</html>"]
    return "\n".join(parts) + "\n"


def fragment_of(document: Document) -> str:
    """The document for a notebook: its sections alone, without a script."""
    parts = [f"<h2>{escape(document.title)}</h2><p>{escape(document.lead)}</p>"]
    for section in document.sections:
        parts += [f"<h3>{escape(section.title)}</h3>", *_blocks(section.blocks)]
    return _HOVERING.sub("", "\n".join(parts))


def _blocks(blocks: Sequence[Block]) -> Iterator[str]:
    """Neighbouring figures stand beside each other."""
    for drawn, together in groupby(blocks, lambda block: isinstance(block, Picture)):
        if drawn:
            yield '<div class="plots">'
            yield from (_picture(block) for block in together if isinstance(block, Picture))
            yield "</div>"
        else:
            yield from map(_block, together)


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return f"<p>{escape(block.words)}</p>"
    if isinstance(block, Bullets):
        return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in block.items) + "</ul>"
    if isinstance(block, KeyFigures):
        return '<dl class="figures">' + "".join(map(_key_figure, block.items)) + "</dl>"
    if isinstance(block, Code):
        return f"<details><summary>{escape(block.title)}</summary><pre>{escape(block.text)}</pre></details>"
    assert isinstance(block, Table)  # noqa: S101 pictures are drawn elsewhere
    return _table(block)


def _key_figure(item: KeyFigure) -> str:
    return (
        f'<div><dt>{escape(item.name)}</dt><dd class="value">{escape(item.value)}</dd>'
        f'<dd class="note">{escape(item.note)}</dd></div>'
    )


def _table(table: Table) -> str:
    """A table that scrolls by itself where the page is narrow."""
    kinds = [' class="n"' if column.kind != "text" else "" for column in table.columns]
    head = "".join(f'<th scope="col"{k}>{escape(c.name)}</th>' for c, k in zip(table.columns, kinds, strict=True))
    body = "".join(
        "<tr>" + "".join(_cell(v, c.kind, k) for v, c, k in zip(row, table.columns, kinds, strict=True)) + "</tr>"
        for row in table.rows
    )
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    named = escape(table.title or "table", quote=True)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{named}"><table>{caption}'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{note}"
    )


def _cell(value: Cell, kind: Kind, style: str) -> str:
    if isinstance(value, Estimate):
        return f"<td{style}>{escape(shown(value.value, kind))}<small>{escape(interval(value, kind))}</small></td>"
    text = shown(value, kind)
    return f"<td{_CODE if _FINGERPRINT.fullmatch(text) else style}>{escape(text)}</td>"


def _picture(picture: Picture) -> str:
    figure = picture.figure
    drawing = figure.svg(name=picture.name, titled=False).replace("<svg ", '<svg tabindex="0" ', 1)
    data = json.dumps(hover_data(figure), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    safe = data.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    swatch = '<svg viewBox="0 0 10 10" aria-hidden="true"><circle cx="5" cy="5" r="4.5" fill="{}"/></svg>'
    listed = "".join(f"<li>{swatch.format(colour)}{escape(group)}</li>" for group, colour in legend(figure).items())
    return (
        f'<figure id="{escape(picture.name, quote=True)}"><figcaption><strong>{escape(figure.title)}</strong>'
        f"{escape(picture.caption)}</figcaption>{drawing}"
        + (f'<ul class="legend">{listed}</ul>' if listed else "")
        + '<div class="told" role="status" hidden></div><button type="button">Numbers as CSV</button>'
        f'<script type="application/json">{safe}</script></figure>'
    )
