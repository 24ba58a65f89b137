"""The paper's case studies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from evenodds.fronts.cli.endings import Commands
from evenodds.fronts.cli.notes import tell
from evenodds.fronts.cli.options import as_json

__all__ = ["study"]


@click.group(cls=Commands)
def study() -> None:
    """Recompute a case study of the paper on the bundled data."""


_study_folder = click.option(
    "-o", "--output", metavar="FOLDER", help="Write the tables (CSV), the figures (SVG, PNG) and report.html here too."
)


@study.command()
@_study_folder
@as_json
def credit(*, output: str | None, as_json: bool) -> None:
    """Credit scores of four groups: the published solutions, exact ones, and slope budgets beside them.

    \b
    Example:
      evenodds study credit -o credit-study
    """
    from evenodds.studies import credit_risk as recomputed

    _tell_study(recomputed, output, as_json=as_json)


@study.command()
@_study_folder
@as_json
def compas(*, output: str | None, as_json: bool) -> None:
    """COMPAS scores by race and sex: the published curves' slopes, and all results on the true records.

    \b
    Example:
      evenodds study compas -o compas-study
    """
    from evenodds.studies import compas as recomputed

    _tell_study(recomputed, output, as_json=as_json)


def _tell_study(recomputed: Callable[[], Any], folder: str | None, *, as_json: bool) -> None:
    """Print a study, and write its folder if one is given."""
    from evenodds.fronts.cli.outputs import check_folder
    from evenodds.fronts.cli.tables import print_json, print_sections
    from evenodds.studies import story_of, write_study

    check_folder(folder)
    result = recomputed()
    if folder is not None:  # first, since whoever reads what is printed may have enough of it
        written = write_study(result, folder)
        tell(f"{len(written)} files written to {folder}; report.html has it all.")
    if as_json:
        print_json(result.as_json())
    else:
        print_sections(story_of(result))
        click.echo(f"Computed in {result.seconds:.2f} s.")
