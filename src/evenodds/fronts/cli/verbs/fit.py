"""A policy from people whose outcome is known."""

from __future__ import annotations

from typing import Any

import click

from evenodds.fronts.cli.notes import is_quiet, tell_written
from evenodds.fronts.cli.options import (
    as_json,
    data,
    fit_options,
    fit_settings,
    force,
    joint_of,
    people_options,
    told_columns,
)

__all__ = ["fit"]


@click.command()
@data
@people_options
@fit_options
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the policy here; without it, print it.")
@click.option("--report", type=click.Path(dir_okay=False), help="Write a report on the policy here: .html or .md.")
@force
@as_json
def fit(*, output: str | None, report: str | None, force: bool, as_json: bool, **given: Any) -> None:
    """Find a curve for each group so that all groups share the rates asked for.

    \b
    Example:
      evenodds fit past.csv --score points --group race --label repaid --max-slope 0.1 -o policy.json
    """
    from evenodds.fronts.cli.outputs import check_outputs, check_policy_place, placed
    from evenodds.model.fit import fit as fitted
    from evenodds.model.storage import written

    check_outputs({"-o": output, "--report": report}, given["data"])
    check_policy_place(output, force=force)
    if report:
        from evenodds.report import format_of, rendered
        from evenodds.report import report as reported

        kind = format_of(report, None)  # refused before the work is done
    settings = fit_settings(given)
    joint = joint_of(given, orientation=given["orientation"])
    policy = fitted(joint, **settings)
    if output:
        with placed(output) as part:
            policy.save(part)
    if report:
        document = reported(policy, joint, about={"Columns": told_columns(given)})
        with placed(report) as part:
            part.write_text(rendered(document, kind), encoding="utf-8")
    if as_json:
        click.echo(written(policy.document), nl=False)
    elif not (output and is_quiet()):
        click.echo(str(policy))
    for path in (output, report):
        tell_written(path)
