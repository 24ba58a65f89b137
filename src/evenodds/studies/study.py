"""What both studies begin with, the published curves, and end with, figures of a policy of our own."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from importlib.resources import files

from evenodds.evaluation.auditing import audit
from evenodds.evaluation.frontier import frontier
from evenodds.model.curves import Curve
from evenodds.model.joint import JointDistribution
from evenodds.model.policy import Policy
from evenodds.pictures.figures import (
    Figure,
    audit_figure,
    curves_figure,
    densities_figure,
    frontier_figure,
    roc_figure,
    score_rates_figure,
)

__all__ = ["figures_of", "published_curves"]


def figures_of(
    policy: Policy, joint: JointDistribution, more: Mapping[str, Figure], against: Mapping[str, Policy] | None = None
) -> dict[str, Figure]:
    """What is to be seen of a policy and its people, with more behind its curves."""
    return {
        "roc": roc_figure(joint, policy),
        "curves": curves_figure(policy, joint=joint, against=against),
        **more,
        "frontier": frontier_figure(frontier(joint), chosen=policy, people=joint.total),
        "score_rates": score_rates_figure(joint),
        "densities": densities_figure(joint, policy),
        "audit": audit_figure(audit(policy, joint)),
    }


def published_curves(name: str, unrounded_p: Mapping[tuple[str, str], float]) -> Iterator[tuple[Curve, dict[str, str]]]:
    """The curves of a bundled table with the rows as printed; p is printed with three digits, and some need more."""
    with (files(__package__) / name).open(encoding="utf-8") as table:
        for row in csv.DictReader(table):
            p = unrounded_p.get((row["curve"], row["group"]), float(row["p"]))
            yield Curve(row["curve"], float(row["t0"]), float(row["t1"]), p), row
