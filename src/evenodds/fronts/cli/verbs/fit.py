"""A policy from people whose outcome is known."""

from __future__ import annotations

import warnings
from typing import Any

import click

from evenodds.errors import EvenoddsWarning
from evenodds.fronts.cli.notes import answer, is_quiet, tell_written
from evenodds.fronts.cli.options import (
    as_json,
    columns_in_words,
    data,
    fit_options,
    fit_settings,
    force,
    people_options,
)

__all__ = ["fit"]


@click.command(short_help="Find a curve for each group, with rates that all share.")
@data
@people_options
@fit_options
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="Write the policy here (- is standard output); without it, say it in words.",
)
@click.option("--report", type=click.Path(dir_okay=False), help="Write a report on the policy here: .html or .md.")
@force
@as_json
def fit(*, output: str | None, report: str | None, force: bool, as_json: bool, **given: Any) -> None:
    """Find a curve for each group so that all groups share the rates asked for.

    \b
    Example:
      evenodds fit past.csv --score points --group race --label repaid --max-slope 0.1 -o policy.json
    """
    from evenodds.fronts.cli.outputs import check_outputs, check_policy_place, write_text
    from evenodds.fronts.cli.people import joint_of
    from evenodds.model.fit import fit as fitted
    from evenodds.model.storage import written

    check_outputs({"-o": output, "--report": report}, given["data"], may_replace=("-o",))
    check_policy_place(output, force=force)
    if report:
        from evenodds.report import format_of, rendered
        from evenodds.report import report as reported

        kind = format_of(report, None)  # refused before the work is done
    settings = fit_settings(given)
    joint = joint_of(given, orientation=given["orientation"])
    policy = fitted(joint, **settings)
    if len(joint.groups) == 1:
        msg = f"All are of one group, {joint.groups[0]!r}, so that there is nothing to make equal."
        warnings.warn(msg, EvenoddsWarning, stacklevel=2)
    if report:  # first, so that no policy is there if it fails
        document = reported(policy, joint, about={"Columns": columns_in_words(given)})
        write_text(report, rendered(document, kind))
    if output:
        write_text(output, written(policy.document))
    if as_json and output != "-":
        click.echo(written(policy.document), nl=False)
    elif output != "-" and not (output and is_quiet()):
        answer(policy)
    for path in (output, report):
        tell_written(path)
