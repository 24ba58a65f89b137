"""Odds for each row of a file."""

from __future__ import annotations

from typing import Any

import click

from evenodds.fronts.cli.options import check_roles, columns, data, delimiter, file_format, policy_file
from evenodds.fronts.cli.words import WordOption

__all__ = ["apply"]


@click.command(short_help="Give each row its odds of a yes.")
@policy_file
@data
@columns
@click.option("--into", default="odds", show_default=True, metavar="COLUMN", help="The name of the new column.")
@click.option(
    "--on-invalid",
    cls=WordOption,
    words=("raise", "null"),
    default="raise",
    show_default=True,
    help="A row without a known group or a finite score: stop, or leave its odds empty.",
)
@click.option("-o", "--output", default="-", help="Where to write; standard output without it.")
@file_format
@delimiter
def apply(*, policy: str, into: str, on_invalid: str, output: str, **given: Any) -> None:
    """Give each row its odds of a yes, and of a review; files larger than memory stream through.

    \b
    Example:
      evenodds apply policy.json new.csv --score points --group race -o odds.csv
    """
    from evenodds.decisions.apply import apply as applied
    from evenodds.fronts.cli.outputs import check_outputs
    from evenodds.fronts.cli.streams import streamed
    from evenodds.model.policy import Policy

    check_roles({"--into": [into]})
    check_outputs({"-o": output}, policy)
    read = Policy.load(policy)

    def treated(people: Any, score: str, group: list[str]) -> Any:
        return applied(read, people, score=score, group=group, into=into, on_invalid=on_invalid)  # type: ignore[arg-type]

    streamed(treated, [into, *([f"{into}_review"] if read.review else [])], given, output, policy=read)
