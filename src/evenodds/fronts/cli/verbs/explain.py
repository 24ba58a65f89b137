"""One person's odds in words."""

from __future__ import annotations

import click

from evenodds.fronts.cli.notes import answer
from evenodds.fronts.cli.options import as_json, given_once, policy_file

__all__ = ["explain"]


@click.command()
@policy_file
@click.option("--score", type=float, required=True, help="The person's score.")
@click.option(
    "--group",
    required=True,
    **given_once("the values of several columns are"),
    help="The person's group; values of several columns separated by commas.",
)
@click.option("--odds", type=float, multiple=True, help="Odds whose score is wanted too.")
@as_json
def explain(*, policy: str, score: float, group: str, odds: tuple[float, ...], as_json: bool) -> None:
    """Explain one person's odds in words.

    \b
    Example:
      evenodds explain policy.json --score 49.5 --group white
    """
    from dataclasses import asdict

    from evenodds.evaluation.explain import explain as explained
    from evenodds.fronts.cli.tables import print_json
    from evenodds.model.policy import Policy

    read = Policy.load(policy)
    key = group if group in read.groups else ", ".join(part.strip() for part in group.split(","))
    explanation = explained(read, score=score, group=key, odds=odds)
    if as_json:
        print_json({name: value for name, value in asdict(explanation).items() if value is not None})
    else:
        answer(explanation)
