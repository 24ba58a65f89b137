"""Figures with intervals, of a policy, a threshold or decisions."""

from __future__ import annotations

import sys
from typing import Any

import click

from evenodds.fronts.cli.notes import answer, tell
from evenodds.fronts.cli.options import as_json, people_of_an_audit, words_for
from evenodds.fronts.cli.words import WordOption

__all__ = ["audit"]


@click.command(short_help="Measure a policy, a threshold or decisions on fresh people.")
@click.argument("files", nargs=-1, metavar="[POLICY] DATA")
@people_of_an_audit
@click.option("--decision", metavar="COLUMN", help="In place of a policy: the decisions in DATA, 0 or 1, or odds.")
@click.option("--threshold", type=float, metavar="SCORE", help="In place of a policy: a yes from this score on.")
@click.option("--tolerance", type=float, help="Exit with 1 if two groups differ by more than this for sure.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How often an interval has the truth.")
@click.option("--before", type=float, metavar="SCORE", help="The single threshold of before, for comparison.")
@click.option(
    "--reference", metavar="DATA", help="The people of the fit, of the same columns: how far have others drifted?"
)
@click.option(
    "--constraints",
    **words_for("constraints"),
    help="In place of the policy's: what the verdict is about.",
)
@click.option(
    "--format",
    "output_format",
    cls=WordOption,
    words=("text", "json", "ll144"),
    default="text",
    show_default=True,
    help="ll144: selection rates and impact ratios, as New York City's Local Law 144 asks for.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write ll144 here: .csv or .html.")
@as_json
def audit(**given: Any) -> None:
    """Measure a policy, a threshold or anybody's decisions on fresh people, every figure with an interval.

    Groups that the policy does not know, or that lack a label, are named and leave the verdict open. The exit code is 1
    if the verdict is "fail"; "undecided" is no failure, and is said.

    \b
    Example:
      evenodds audit policy.json fresh.csv --score points --group race --label repaid --tolerance 0.05
      evenodds audit fresh.csv --decision approved --group race,sex --label repaid --tolerance 0.05
      evenodds audit fresh.csv --decision hired --group sex,race --format ll144 -o impact.html
    """
    from evenodds.fronts.cli.audits import audited, impact_written, policy_and_data
    from evenodds.fronts.cli.tables import print_json

    policy, data = policy_and_data(given)
    if given["output_format"] == "ll144":
        impact_written(given, data)
        return
    measured = audited(given, policy, data)
    verdict = measured.verdict
    if given["as_json"] or given["output_format"] == "json":
        said = None if verdict is None else {"outcome": str(verdict), "reasons": list(verdict.reasons)}
        print_json({"verdict": said, "confidence": given["confidence"], "figures": measured.rows()})
    else:
        answer(measured)
    if verdict is None:
        tell("No verdict, since no tolerance was given. Hint: --tolerance.")
    if verdict == "fail":
        sys.exit(1)
