"""Which options are for whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from evenodds.fronts.cli.options import as_json, words_in
from evenodds.fronts.cli.words import Word

if TYPE_CHECKING:
    from evenodds.report.document import Table
    from evenodds.studies import Advice

__all__ = ["guide"]


@click.command(short_help="Choose the options of a fit by what is asked for.")
@click.argument(
    "case",
    required=False,
    metavar="[CASE]",
    shell_complete=Word(words_in("evenodds.studies.cases.CASES")).shell_complete,  # cases have other names, too
)
@as_json
def guide(*, case: str | None, as_json: bool) -> None:
    """Which options are for me: who asks for what, the lines to run, and what they cost.

    Without CASE, a table of all cases; with one of its names, that case in full. Every figure is computed on the
    bundled data as you ask.

    \b
    Example:
      evenodds guide
      evenodds guide lender
    """
    from evenodds.fronts.cli.tables import print_json, print_table
    from evenodds.studies import advice
    from evenodds.studies import guide as guided

    if case is not None:
        advised = advice(case)
        if as_json:
            print_json(advised.as_json())
        else:
            click.echo(str(advised))
        return
    every = guided()
    if as_json:
        print_json([one.as_json() for one in every.cases])
        return
    print_table(_cases_table(every.cases))
    click.echo("evenodds guide CASE, such as guide lender, has the lines to run, and when not to take them.")


def _cases_table(cases: Sequence[Advice]) -> Table:
    """A row for each case; lines are broken where they belong, so that nothing is torn apart in a terminal."""
    from textwrap import fill

    from evenodds.report.document import Cell, table_of

    rows: list[dict[str, Cell]] = [
        {
            "case": one.case.name,
            "for whom": fill(one.case.who, 20),
            "options of fit": one.case.flags.replace(" --", "\n--") or "none",
            "one threshold ->\nthese options": (
                f"{one.objective_name}\n{one.before:.4f} -> {one.after:.4f}\n({one.case.people.name})"
            ),
            "groups\ndiffer by": f"{one.difference_before:.3f} -> {one.difference:.3f}",
            "by chance\n(worst\ngroup)": f"{one.randomized:.1%}\n({one.worst_randomized:.1%})",
            "steepest\na point": one.slope,
        }
        for one in cases
    ]
    return table_of("Which options are for me", rows, {"steepest\na point": "slope"})
