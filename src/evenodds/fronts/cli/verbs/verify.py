"""Published decisions, computed again."""

from __future__ import annotations

import sys
from typing import Any

import click

from evenodds.fronts.cli.notes import answer, typed
from evenodds.fronts.cli.options import as_json, columns, delimiter, file_format

__all__ = ["verify"]


@click.command(short_help="Check published decisions one by one.")
@click.argument("data", metavar="DECISIONS")
@click.option("--policy", required=True, type=click.Path(), help="The policy that the decisions were made by.")
@columns
@click.option("--id", "who", required=True, metavar="COLUMN", help="Who a row is.")
@click.option(
    "--key-file", type=click.Path(dir_okay=False), required=True, help="A file with the key of these decisions."
)
@click.option("--round", "round_", default="", help="The round that they were made in.")
@click.option("--places", is_flag=True, help="Places were handed out: DECISIONS is the whole cohort, without draws.")
@click.option("--places-count", type=click.IntRange(min=0), metavar="K", help="The same, and there were K of them.")
@click.option("--commitment", metavar="SHA256", help="What was published of the key beforehand; another key's fails.")
@click.option("--odds", default="odds", show_default=True, metavar="COLUMN", help="The published odds of a yes.")
@click.option("--draw", default="draw", show_default=True, metavar="COLUMN", help="The published draw.")
@click.option("--decision", default="decision", show_default=True, metavar="COLUMN", help="The published decision.")
@click.option("--digits", type=int, metavar="N", help="Decimal places of odds and draws; without it, every bit.")
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="How sure to be before dice are doubted."
)
@file_format
@delimiter
@as_json
def verify(*, as_json: bool, **given: Any) -> None:
    """Check published decisions one by one: odds, draws and decisions are computed again, and compared.

    Told are the first wrong row, how many there are, ids that come twice, and whether as many people of each group got
    a yes as their odds say. The exit code is 1 if anything is wrong, an id comes twice, or the
    key is not the one that was committed to. Files larger than memory
    stream through; with --places DECISIONS is read into memory.

    \b
    Example:
      evenodds verify decided.csv --policy policy.json --key-file key.txt --score points --group race --id name
      evenodds verify placed.csv --policy policy.json --key-file key.txt --score points --group race --id name --places
    """
    from evenodds.fronts.cli.tables import print_json
    from evenodds.fronts.cli.verifications import verified

    verification = verified(given)
    if as_json:
        print_json(verification.as_json())
    else:
        answer(typed(str(verification)))
    if not verification.passed:
        sys.exit(1)
