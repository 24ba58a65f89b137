"""The command line: it parses, calls, prints and sets the exit code."""

from __future__ import annotations

import click

from evenodds.fronts.cli.endings import Commands, run
from evenodds.fronts.cli.notes import tell_warnings, with_quiet_and_verbose
from evenodds.fronts.cli.verbs.apply import apply
from evenodds.fronts.cli.verbs.audit import audit
from evenodds.fronts.cli.verbs.decide import decide
from evenodds.fronts.cli.verbs.draw_chain import draw_chain
from evenodds.fronts.cli.verbs.draw_key import draw_key
from evenodds.fronts.cli.verbs.explain import explain
from evenodds.fronts.cli.verbs.fit import fit
from evenodds.fronts.cli.verbs.frontier import frontier
from evenodds.fronts.cli.verbs.guide import guide
from evenodds.fronts.cli.verbs.onnx import onnx
from evenodds.fronts.cli.verbs.report import report
from evenodds.fronts.cli.verbs.sql import sql
from evenodds.fronts.cli.verbs.study import study
from evenodds.fronts.cli.verbs.update import update
from evenodds.fronts.cli.verbs.verify import verify

__all__ = ["commands", "main"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="evenodds")
def commands() -> None:
    """Fair odds from the scores of any black-box model.

    A policy gives each group a curve that turns a score into the odds of a yes. DATA is a CSV, Parquet or Arrow
    file; "-" is standard input.

    \b
    Example:
      evenodds fit past.csv --score points --group race,sex --label repaid -o policy.json
      evenodds audit policy.json fresh.csv --score points --group race,sex --label repaid --tolerance 0.05
      evenodds apply policy.json new.csv --score points --group race,sex > odds.csv

    \b
    Tab completion (bash; for zsh and fish put their name in place of bash):
      eval "$(_EVENODDS_COMPLETE=bash_source evenodds)"
    """


_EVERY = (
    apply,
    audit,
    decide,
    draw_chain,
    draw_key,
    explain,
    fit,
    frontier,
    guide,
    onnx,
    report,
    sql,
    study,
    update,
    verify,
)
for _command in _EVERY:
    commands.add_command(with_quiet_and_verbose(_command))


def main() -> None:
    """Run the command line."""
    tell_warnings()
    run(lambda: commands(prog_name="evenodds"))
