"""The command line: it parses, calls, prints and sets the exit code."""

from __future__ import annotations

import sys

import click

from evenodds.errors import EvenoddsError

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="evenodds")
def commands() -> None:
    """Fair odds from the scores of any black-box model.

    A policy gives each group a curve that turns a score into the odds of a yes.

    \b
    Example:
      evenodds study credit
    """


@commands.group()
def study() -> None:
    """Recompute a case study of the paper on the bundled data."""


@study.command()
@click.option("--json", "as_json", is_flag=True, help="Print plain JSON instead of tables.")
def credit(*, as_json: bool) -> None:
    """Credit scores of four groups: the published solutions, and exact ones beside them.

    \b
    Example:
      evenodds study credit --json > credit.json
    """
    import json  # noqa: PLC0415  what a command needs loads when it runs: --help stays quick

    from evenodds.studies import credit_risk  # noqa: PLC0415

    result = credit_risk()
    if as_json:
        click.echo(json.dumps(result.as_json(), indent=2, allow_nan=False))
    else:
        from evenodds.fronts.cli.tables import print_credit_risk  # noqa: PLC0415

        print_credit_risk(result)


def main() -> None:
    """Run the command line: exit code 2 and one line on bad input, never a traceback."""
    try:
        commands(prog_name="evenodds")
    except (EvenoddsError, OSError) as error:
        click.echo(f"evenodds: {error}", err=True)
        sys.exit(2)
