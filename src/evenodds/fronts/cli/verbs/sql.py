"""A policy as SQL."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from evenodds.errors import OptionError
from evenodds.fronts.cli.notes import tell_written
from evenodds.fronts.cli.options import check_roles, columns, groups_of, policy_file, words_in
from evenodds.fronts.cli.words import WordOption

__all__ = ["sql"]


@click.command(short_help="Write a policy as SQL, with odds and decisions.")
@policy_file
@click.option(
    "--dialect",
    required=True,
    cls=WordOption,
    words=words_in("evenodds.exports.dialects.DIALECTS"),
    same={"postgresql": "postgres"},
    elsewhere={"pyspark": "spark", "databricks": "spark"},
    help="Whose SQL.",
)
@click.option("--table", required=True, metavar="TABLE", help="Where the people are, such as people or schema.people.")
@columns
@click.option("--id", "who", metavar="COLUMN", help="Who a row is: also write draws and decisions.")
@click.option("--round", "round_", default="", help="Tells repeated lotteries for the same people apart.")
@click.option("--kinds", metavar="COLUMN=KIND[,...]", help="Group columns that hold no text: boolean or float.")
@click.option("--into", default="odds", show_default=True, metavar="COLUMN", help="The name of the odds.")
@click.option("--draw", default="draw", show_default=True, metavar="COLUMN", help="The name of the draw.")
@click.option("--decision", default="decision", show_default=True, metavar="COLUMN", help="The name of the decision.")
@click.option(
    "--pads",
    default="evenodds_pads",
    show_default=True,
    metavar="TABLE",
    help="The table that holds the pads of the key.",
)
@click.option("-o", "--output", default="-", help="Where to write; standard output without it.")
def sql(*, policy: str, group: str, who: str | None, round_: str, kinds: str | None, output: str, **given: Any) -> None:
    """Write a policy as SQL: everybody in a table with their odds, and with --id their draw and decision.

    The same rule to the last bit, where the people are. The text holds no key: draws read its pads from a table
    of one row (docs/sql.md says how to fill it). Snowflake's and BigQuery's text was never run, only parsed.

    \b
    Example:
      evenodds sql policy.json --dialect duckdb --table people --score points --group race,sex -o odds.sql
      evenodds sql policy.json --dialect postgres --table people --score points --group race,sex --id name
    """
    from evenodds.exports.sql import to_sql
    from evenodds.fronts.cli.outputs import check_outputs, write_text
    from evenodds.model.policy import Policy

    check_outputs({"-o": output}, policy)
    groups = groups_of(group)
    check_roles({"--score": [given["score"]], "--group": groups, "--id": [] if who is None else [who]})
    if who is None:
        for name in ("draw", "decision"):
            if click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE:
                msg = f"--{name} names a column that is written with --id only. Hint: leave it out, or --id."
                raise OptionError(msg)
    text = to_sql(
        Policy.load(policy), group=groups, id=who, round=round_, kinds=_kinds(kinds) if kinds else None, **given
    )
    write_text(output, text)
    tell_written(output)


def _kinds(text: str) -> dict[str, str]:
    """Columns and what they hold."""
    kinds = {}
    for pair in groups_of(text):
        name, equals, kind = pair.rpartition("=")
        if not (name and equals):
            msg = f"--kinds {text} is not allowed. Allowed: columns and what they hold, such as veteran=boolean."
            raise OptionError(msg)
        kinds[name] = kind
    return kinds
