"""Pages are Markdown that GitHub shows as it is; this is what is done to them on their way to the site.

The list of a section's pages is its table of contents: a page is added by one line, which people read too.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

SECTIONS = ("index", "how-to", "concepts", "reference")
ENTRY = re.compile(r"^- \[([^\]]+)\]\(([\w-]+)\.md\)", re.MULTILINE)
ROOT_PAGES = {"../README.md": "index.md", "../CHANGELOG.md": "changelog.md"}
NAMED = re.compile(r"\[([\w-]+\.md)\]\(\1(#[\w-]+)?\)")
OUTWARD = re.compile(r"\]\((\.\./[^)#\s]+)")


def listed(markdown: str) -> list[tuple[str, str]]:
    r"""Names and documents of the pages that a section lists.

    >>> listed("See [that](that.md).\n\n- [Audits](audit.md): whether it holds\n- [Odds](odds.md)")
    [('Audits', 'audit'), ('Odds', 'odds')]
    """
    return ENTRY.findall(markdown)


def inward(markdown: str) -> str:
    """Links to files: those outside docs/ to their page on the site where they have one, else to a copy of the file.

    A link that is called as its file is called by the title of the page.

    >>> inward("See [draw.md](draw.md).")
    'See [](draw.md).'
    >>> inward("[map](../ARCHITECTURE.md), [news](../CHANGELOG.md#unreleased)")
    '[map](path:../ARCHITECTURE.md), [news](changelog.md#unreleased)'
    """
    markdown = NAMED.sub(r"[](\1\2)", markdown)
    return OUTWARD.sub(lambda found: "](" + ROOT_PAGES.get(found[1], f"path:{found[1]}"), markdown)


def read(_app: Sphinx, document: str, source: list[str]) -> None:
    """Turn links inward, and write the table of contents below a section's page; the theme shows it beside the page."""
    text = inward(source[0])
    if document in SECTIONS:
        entries = [f"{name} <{page}>" for name, page in listed(text)]
        text += "\n".join(["", "```{toctree}", ":hidden:", "", *entries, "```", ""])
    source[0] = text


def trimmed(_app: Sphinx, tree: nodes.document) -> None:
    """Drop the last, empty line of a doctest, which doctest needs and nobody else."""
    for block in tree.findall(nodes.literal_block):
        block.rawsource = block.astext().rstrip()  # Sphinx colours what is as it was written
        block[:] = [nodes.Text(block.rawsource)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("source-read", read)
    app.connect("doctree-read", trimmed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
