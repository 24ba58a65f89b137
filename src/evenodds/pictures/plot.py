"""Figures by matplotlib: Axes in, Axes out. What a function draws, its namesake `..._figure` returns as a value.

Such a `Figure` has the numbers as `.frame()`, and draws itself by `.plot(ax)` and `.svg()`. Colours are told apart by
the colour-blind (Okabe and Ito's palette); a group has the same one in every figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenodds.evaluation.audit import Audit
from evenodds.evaluation.frontier import Frontier
from evenodds.model.curves import Curve
from evenodds.model.joint import JointDistribution
from evenodds.model.policy import Policy
from evenodds.model.solutions import Solutions
from evenodds.pictures.figures import (
    Figure,
    audit_figure,
    curves_figure,
    densities_figure,
    frontier_figure,
    roc_figure,
    score_rates_figure,
    solutions_figure,
)

__all__ = [
    "Figure",
    "audit",
    "audit_figure",
    "curves",
    "curves_figure",
    "densities",
    "densities_figure",
    "frontier",
    "frontier_figure",
    "roc",
    "roc_figure",
    "score_rates",
    "score_rates_figure",
    "solutions",
    "solutions_figure",
]


def roc(joint: JointDistribution, policy: Policy | None = None, *, ax: Any = None) -> Any:
    """Each group's ROC; with a policy also what its slope budget leaves in reach, the points chosen, and a closer look.

    >>> import evenodds as eo
    >>> joint = eo.datasets.credit_risk()
    >>> axes = eo.plot.roc(joint, eo.fit(joint))
    >>> sorted(set(eo.plot.roc_figure(joint).frame()["group"]))
    ['', 'asian', 'black', 'hispanic', 'white']
    """
    return roc_figure(joint, policy).plot(ax)


def curves(
    policy: Policy,
    *,
    joint: JointDistribution | None = None,
    against: Mapping[str, Policy] | None = None,
    ax: Any = None,
) -> Any:
    """Each group's odds by score; other policies, such as the fixed one, dashed beside them.

    With `joint` the figure's `.frame()` also has how many people are near each score.
    """
    return curves_figure(policy, joint=joint, against=against).plot(ax)


def solutions(solutions: Solutions, group: str, *, chosen: Curve | None = None, ax: Any = None) -> Any:
    """All curves of a family that meet one point for a group, and the one that was chosen."""
    return solutions_figure(solutions, group, chosen=chosen).plot(ax)


def frontier(frontier: Frontier, *, ax: Any = None) -> Any:
    """The best objective against the slope budget."""
    return frontier_figure(frontier).plot(ax)


def score_rates(joint: JointDistribution, *, confidence: float = 0.95, ax: Any = None) -> Any:
    """The share of positives by score, with intervals."""
    return score_rates_figure(joint, confidence=confidence).plot(ax)


def densities(joint: JointDistribution, policy: Policy | None = None, *, ax: Any = None) -> Any:
    """How the scores of each group fall, and over which of them a policy decides by chance."""
    return densities_figure(joint, policy).plot(ax)


def audit(audit: Audit, *, rates: Sequence[str] = ("fpr", "tpr"), ax: Any = None) -> Any:
    """Each group's rates with their intervals."""
    return audit_figure(audit, rates=rates).plot(ax)
