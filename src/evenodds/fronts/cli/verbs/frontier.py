"""What budgets cost."""

from __future__ import annotations

from typing import Any

import click

from evenodds.fronts.cli.options import as_json, data, goal_options, goal_settings, people_options
from evenodds.fronts.cli.words import WordOption

__all__ = ["frontier"]


@click.command(short_help="Tell what budgets on slopes, or on chance, cost.")
@data
@people_options
@goal_options
@click.option(
    "--against",
    cls=WordOption,
    words=("slope", "randomized"),
    default="slope",
    show_default=True,
    help="What the budgets are on: the largest slope, or the share of people decided by chance.",
)
@click.option("--max-slopes", metavar="L,L,...", help="Budgets against slope; another name for --budgets.")
@click.option("--budgets", metavar="B,B,...", help="The budgets; without it, a range from next to nothing to none.")
@as_json
def frontier(
    *,
    against: str,
    max_slopes: str | None,
    budgets: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """What each budget costs: on the largest slope, or on the share of people who are decided by chance.

    \b
    Example:
      evenodds frontier past.csv --score points --group race --label repaid --max-slopes 0.05,0.1,0.5,inf
      evenodds frontier past.csv --score points --group race --label repaid --against randomized
    """
    from evenodds.evaluation.frontier import frontier as priced
    from evenodds.fronts.cli.people import joint_of
    from evenodds.fronts.cli.tables import print_json, print_table
    from evenodds.report.document import table_of

    slopes = None if max_slopes is None else _numbers("--max-slopes", max_slopes)
    several = None if budgets is None else _numbers("--budgets", budgets)
    joint = joint_of(given, orientation=given["orientation"])
    asked: dict[str, Any] = {"against": against, "max_slopes": slopes, "budgets": several}
    price = priced(joint, **asked, **goal_settings(given))
    names, table = price.table()
    rows = [dict(zip(names, row, strict=True)) for row in table]
    what = {"slope": "the largest slope", "randomized": "the share of people decided by chance"}[against]
    if as_json:
        print_json(rows)
    else:
        print_table(table_of(f"{price.objective_name} against {what}", rows))


def _numbers(name: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        msg = f"{text or repr(text)} is not a list of numbers such as 0.05,0.1,inf"
        raise click.BadParameter(msg, param_hint=name) from None
