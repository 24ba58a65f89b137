"""A policy explained in one file."""

from __future__ import annotations

from typing import Any

import click

from evenodds.fronts.cli.notes import tell_written
from evenodds.fronts.cli.options import as_json, columns_in_words, data, people_of_a_report, policy_file
from evenodds.fronts.cli.words import WordOption

__all__ = ["report"]


@click.command(short_help="Write a report: what was decided, why, and for whom.")
@policy_file
@data
@people_of_a_report
@click.option("-o", "--output", default="-", help="Where to write: .html or .md; standard output without it.")
@click.option(
    "--format",
    "report_format",
    cls=WordOption,
    words=("html", "markdown"),
    help="The report's; without it, by the output's ending, or html.",
)
@click.option("--before", type=float, metavar="SCORE", help="The single threshold of before; without it, the best one.")
@click.option("--tolerance", type=float, help="The largest difference between groups that is allowed, for a verdict.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How often an interval has the truth.")
@click.option("--title", help="The report's heading.")
@click.option("--about", multiple=True, metavar="FIELD=TEXT", help="For the model card, such as Owner=...; repeatable.")
@as_json
def report(
    *, policy: str, output: str, report_format: str | None, about: tuple[str, ...], as_json: bool, **given: Any
) -> None:
    """Write a report on a policy: what was decided and why, what it does to whom, and when not to use it.

    The HTML is one file that needs no other; a browser's print makes a PDF of it. DATA are the people to measure the
    policy on: those of the fit, or fresh ones. The report says which they are.

    \b
    Example:
      evenodds report policy.json past.csv --score points --group race --label repaid -o report.html
    """
    from evenodds.fronts.cli.outputs import check_outputs, write_text
    from evenodds.fronts.cli.people import joint_of
    from evenodds.fronts.cli.tables import print_json
    from evenodds.model.policy import Policy
    from evenodds.report import format_of, rendered
    from evenodds.report import report as reported
    from evenodds.report.document import plain

    check_outputs({"-o": output}, policy, given["data"])
    kind = "html" if output == "-" and report_format is None else format_of(output, report_format)
    stated = {"Columns": columns_in_words(given), **dict(_field(text) for text in about)}
    read = Policy.load(policy)
    joint = joint_of(given, orientation=read.orientation, one_sided="keep")
    wanted = {name: given[name] for name in ("before", "tolerance", "confidence", "title")}
    document = reported(read, joint, about=stated, **wanted)
    if output != "-":
        write_text(output, rendered(document, kind))
    if as_json:
        print_json(plain(document))
    elif output == "-":
        click.echo(rendered(document, kind), nl=False)
    tell_written(output)


def _field(text: str) -> tuple[str, str]:
    name, equals, words = text.partition("=")
    if not (name.strip() and equals):
        msg = f"{text or repr(text)} is not a field and its text, such as Owner=Credit team"
        raise click.BadParameter(msg, param_hint="--about")
    return name.strip(), words.strip()
