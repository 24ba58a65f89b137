"""The help of every command, as the command line prints it, in place of a mark on a page."""

from __future__ import annotations

from collections.abc import Iterator

import click
from sphinx.application import Sphinx

from evenodds.fronts.cli import commands

MARK = "<!-- commands -->"
WIDTH = 80  # of a line of help


def helps(command: click.Command = commands, *before: str) -> Iterator[tuple[str, str]]:
    """Each command as it is typed, with its help; the program itself first."""
    names = (*before, command.name if before else "evenodds")
    context = click.Context(command, info_name=" ".join(map(str, names)), terminal_width=WIDTH, max_content_width=WIDTH)
    yield " ".join(map(str, names)), command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield from helps(found, *map(str, names))


def written(_app: Sphinx, _document: str, source: list[str]) -> None:
    """Put the help where the mark is."""
    if MARK in source[0]:
        sections = [f"## {name}\n\n```text\n{text}\n```\n" for name, text in helps()]
        source[0] = source[0].replace(MARK, "\n".join(sections))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("source-read", written)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
