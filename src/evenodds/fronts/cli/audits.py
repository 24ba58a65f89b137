"""What the audit command audits: a policy, a threshold, or a column of decisions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from evenodds.errors import OptionError
from evenodds.evaluation.audit import Audit
from evenodds.evaluation.auditing import audit
from evenodds.evaluation.impact import impact_ratios
from evenodds.fronts.cli.columns import rows_from
from evenodds.fronts.cli.notes import tell_written
from evenodds.fronts.cli.options import groups_of
from evenodds.fronts.cli.outputs import check_outputs, write_text
from evenodds.fronts.cli.people import People, joint_of, people_of
from evenodds.model.columns import labels_of
from evenodds.model.policy import Policy

__all__ = ["audited", "impact_written", "policy_and_data"]


def policy_and_data(given: Mapping[str, Any]) -> tuple[str | None, str]:
    """The files that were named: a policy and people, or people alone where something else decides."""
    files, other = given["files"], [name for name in ("decision", "threshold") if given[name] is not None]
    if len(other) > 1:
        msg = "--decision and --threshold both say what decides: give one of them."
        raise OptionError(msg)
    wanted = 1 if other else 2
    if len(files) != wanted:
        what = "DATA" if other else "POLICY DATA, or DATA with --decision or --threshold"
        count = "1 file was" if len(files) == 1 else f"{len(files)} files were"
        hint = f" Hint: a policy and --{other[0]} both say what decides." if other and len(files) == 2 else ""  # noqa: PLR2004
        msg = f"{count} given: {', '.join(files) or 'none'}. Allowed: {what}.{hint}"
        raise OptionError(msg)
    if given["output_format"] != "ll144" and given["output"]:
        msg = "-o is where --format ll144 is written; other formats go to standard output."
        raise OptionError(msg)
    for name in ("tolerance", "constraints", "before", "reference", "as_json"):
        if given["output_format"] == "ll144" and given[name] not in (None, False):
            msg = f"--{name.removeprefix('as_')} does not go with --format ll144, which has selection rates alone."
            raise OptionError(msg)
    if given["constraints"] is not None and given["tolerance"] is None:
        msg = "--constraints says what a verdict is about, and there is none without --tolerance: give both."
        raise OptionError(msg)
    return (None, files[0]) if other else (files[0], files[1])


def _need(given: Mapping[str, Any], *names: str) -> None:
    for name in names:
        if given[name] is None:
            msg = f"Missing option --{name}. Hint: evenodds audit --help."
            raise OptionError(msg)


def audited(given: dict[str, Any], policy: str | None, data: str) -> Audit:
    """The audit that was asked for."""
    _need(given, "label")
    wanted = {name: given[name] for name in ("confidence", "tolerance")}
    columns = groups_of(given["group"]) if "," in given["group"] else []
    if given["decision"] is not None:
        for name in ("score", "before", "reference"):
            if given[name] is not None:
                msg = f"--{name} is about scores, and --decision needs none: give one of them."
                raise OptionError(msg)
        people, decided = _decided(given, data, given["label"])
        constraints = given["constraints"] or "equalized_odds"
        with rows_from(people.rows, people.where):
            return Audit.of_decisions(**decided, **wanted, constraints=constraints, columns=columns)
    _need(given, "score")
    if policy is None and not math.isfinite(given["threshold"]):
        msg = f"--threshold {given['threshold']} is not allowed. Allowed: a finite number."
        raise OptionError(msg)
    read = Policy.load(policy) if policy is not None else float(given["threshold"])
    orientation = read.orientation if isinstance(read, Policy) else given["orientation"]
    source = click.get_current_context().get_parameter_source("orientation")
    if orientation != given["orientation"] and source is ParameterSource.COMMANDLINE:
        msg = f"--orientation {given['orientation']} is not that of the policy, {orientation}. Hint: leave it out."
        raise OptionError(msg)
    joint = joint_of({**given, "data": data}, orientation=orientation, one_sided="keep")
    reference = given["reference"]
    if reference is not None:
        reference = joint_of({**given, "data": reference}, orientation=orientation, one_sided="keep")
    measured = audit(
        read, joint, confidence=given["confidence"], before=given["before"], reference=reference, columns=columns
    )
    return measured if given["tolerance"] is None else measured.judged(given["tolerance"], given["constraints"])


def impact_written(given: dict[str, Any], data: str) -> None:
    """The table of Local Law 144, as CSV or as a page."""
    _need(given, "decision")
    output = given["output"]
    check_outputs({"-o": output}, data)
    kind = Path(output).suffix.lower() if output else ".csv"
    if kind not in (".csv", ".html"):
        msg = f"-o {output}: the ending says what is written. Allowed: .csv, .html."
        raise OptionError(msg)
    people, decided = _decided(given, data, None)
    with rows_from(people.rows, people.where):
        table = impact_ratios(
            decided["decision_or_odds"],
            decided["group"],
            weight=decided["weight"],
            columns=groups_of(given["group"]),
        )
    text = table.csv() if kind == ".csv" else table.html()
    if not output:
        click.echo(text, nl=False)
        return
    write_text(output, text)
    tell_written(output)


def _decided(given: Mapping[str, Any], data: str, label: str | None) -> tuple[People, dict[str, Any]]:
    """The people of a file, with their decisions, groups, weights and, if it is named, labels."""
    may_lack = label is None  # the tables of Local Law 144 count people without a group as unknown
    people = people_of({**given, "data": data}, number="decision", label=label, groups_may_lack=may_lack)
    table = people.table
    decided: dict[str, Any] = {
        "decision_or_odds": table[given["decision"]].to_numpy(),
        "group": [np.array(table[name].to_pylist(), dtype=object) for name in people.groups],
        "weight": table[people.weight].to_numpy() if people.weight is not None else None,
    }
    if label is not None:
        decided["label"] = labels_of(f"label column {label!r}", table[label].to_numpy(), given["positive_label"])
    return people, decided
