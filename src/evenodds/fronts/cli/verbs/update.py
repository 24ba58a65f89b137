"""The next policy, near the one in use."""

from __future__ import annotations

from typing import Any

import click

from evenodds.fronts.cli.notes import answer, is_quiet, tell_written
from evenodds.fronts.cli.options import as_json, data, force, people_options, policy_file

__all__ = ["update"]


@click.command(short_help="Find the next policy, near the one in use.")
@policy_file
@data
@people_options
@click.option("--max-change", type=float, required=True, help="The largest change of anybody's odds: above 0, up to 1.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Write the new policy here; else only tell of it."
)
@force
@as_json
def update(*, policy: str, max_change: float, output: str | None, force: bool, as_json: bool, **given: Any) -> None:
    """Find the best policy on new people whose odds are near those of the policy in use.

    What the policy promised is asked of the people in DATA, of odds that change by at most --max-change, for anybody
    and at any score. Told are the largest change, the least that would keep the promise, by how much the groups differ
    under the policy in use, and whether that is more than chance explains: if it is not, nothing had to change.

    \b
    Example:
      evenodds update policy.json fresh.csv --score points --group race --label repaid --max-change 0.05 -o new.json
    """
    from dataclasses import asdict

    from evenodds.fronts.cli.outputs import check_outputs, check_policy_place, write_text
    from evenodds.fronts.cli.people import joint_of
    from evenodds.fronts.cli.tables import print_json
    from evenodds.model.policy import Policy
    from evenodds.model.storage import written
    from evenodds.model.update import update as updated

    check_outputs({"-o": output}, policy, given["data"], may_replace=("-o",))
    check_policy_place(output, force=force)
    read = Policy.load(policy)
    new = updated(read, joint_of(given, orientation=read.orientation), max_change=max_change)
    if output:
        write_text(output, written(new.document))
    change = new.certificate.change
    if as_json and change is not None and output != "-":
        figures = {**asdict(change), "is_warranted": change.is_warranted}
        print_json({"constraints": new.certificate.constraints, **figures, "fingerprint": new.document["fingerprint"]})
    elif output != "-" and not (output and is_quiet()):
        answer(new)
    tell_written(output)
