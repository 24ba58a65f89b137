"""Policies side by side: thresholds without fairness, fixed randomisation, and every curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import numpy as np

from evenodds.evaluation.deciders import named_policies
from evenodds.evaluation.metrics import metrics_of
from evenodds.model.curves import Curve
from evenodds.model.families import FAMILIES, family_of
from evenodds.model.fit import fitted_curves
from evenodds.model.goals import Cost, Objective, objective_of
from evenodds.model.joint import JointDistribution, check_joint
from evenodds.model.one_threshold import best_threshold
from evenodds.model.policy import Policy
from evenodds.model.request import Request
from evenodds.model.reviewed import Treatment
from evenodds.model.roc import Point
from evenodds.showing import Shown, text_table
from evenodds.values import names_of

__all__ = ["Compared", "Comparison", "compare"]


@dataclass(frozen=True)
class Compared:
    """One way to decide, and what it does."""

    policy: str
    objective: float
    equalized_odds_difference: float
    demographic_parity_difference: float
    largest_slope: float
    randomized: float
    """The share of people whose odds are neither 0 nor 1."""
    individual_odds: bool
    individual_odds_share: float


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Ways to decide, side by side; `print` shows a table.

    See Also
    --------
    compare : Makes one.

    Examples
    --------
    >>> import evenodds as eo
    >>> table = eo.compare(eo.datasets.compas(), curves=["linear"])
    >>> print(table)
      policy            accuracy_score  odds differ by  selection differs by   slope  by chance
      one threshold             0.6561          0.2384                0.2726     inf          0
      group thresholds          0.6582          0.4316                0.4254     inf          0
      linear                    0.6316        ...                    0.04833  0.3092      0.568
    """

    objective_name: str
    """What the policies are best at."""
    rows: tuple[Compared, ...]
    """One for each policy: its name, the objective, how far groups differ, the largest slope, who is left to chance."""

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """A row for each policy."""
        return [field.name for field in fields(Compared)], [astuple(row) for row in self.rows]

    def __repr__(self) -> str:
        return f"Comparison({', '.join(f'{row.policy} {row.objective:.4g}' for row in self.rows)})"

    def __str__(self) -> str:
        names = ("policy", self.objective_name, "odds differ by", "selection differs by", "slope", "by chance")
        rows = [astuple(row)[: len(names)] for row in self.rows]
        return text_table(names, rows)


def compare(
    joint: JointDistribution,
    *,
    curves: Sequence[str] = FAMILIES,
    constraints: str = "equalized_odds",
    objective: str | Cost = "accuracy_score",
    tolerance: float = 0.0,
    max_slope: float | None = None,
    max_loss: float | None = None,
    selection_rate: float | None = None,
    policies: Mapping[str, Policy] | None = None,
) -> Comparison:
    """Compare one threshold for all, a threshold for each group, and fair policies of several curves.

    Parameters
    ----------
    joint : JointDistribution
        The people that all of them are fitted to, and measured on.
    curves : sequence of str
        The families to fit. A slope budget applies to all but "fixed", whose odds jump.
    constraints, objective, tolerance, max_slope, max_loss, selection_rate
        As for `fit`; thresholds that are best whatever groups get do not keep to a selection rate either.
    policies : mapping of names to policies, optional
        Policies that are there already, measured on the same people.

    Returns
    -------
    Comparison
        A row for each: `.rows`, `.frame()`, `.plot()`.

    See Also
    --------
    fit : One of them, with its certificate.
    frontier : What each slope budget costs.
    metrics : What one policy does to each group.

    Examples
    --------
    >>> import evenodds as eo
    >>> table = eo.compare(eo.datasets.credit_risk(), curves=["fixed", "linear"])
    >>> for row in table.rows:
    ...     print(f"{row.policy:17} {row.objective:.4f} {row.equalized_odds_difference:.3f} {row.largest_slope:.3g}")
    one threshold     0.8765 0.223 inf
    group thresholds  0.8773 0.317 inf
    fixed             0.8396 0.000 inf
    linear            0.8346 0.000 0.106
    """
    check_joint(joint)
    families = [family_of(curve, "curves") for curve in names_of("curves", curves)]
    shared = {
        "constraints": constraints, "objective": objective, "tolerance": tolerance, "selection_rate": selection_rate,
    }  # fmt: skip
    budget = {"max_slope": max_slope, "max_loss": max_loss}
    # All is checked before the first fit.
    requested = {f.name: shared | {"curve": f.name} | (budget if f.is_continuous else {}) for f in families}
    for options in (shared | budget, *requested.values()):
        Request.of(**options)
    named = named_policies("policies", policies)
    for policy in named.values():
        policy.check_orientation(joint.orientation)
        policy.check_knows(joint.groups)
    goal = objective_of(objective, joint)
    rows = []
    if not goal.is_distance:
        rows = [
            _row("one threshold", joint, goal, _one_threshold(joint, goal)),
            _row("group thresholds", joint, goal, _group_thresholds(joint, goal)),
        ]
    rows += [_row(name, joint, goal, fitted_curves(joint, options)) for name, options in requested.items()]
    for name, policy in named.items():
        rows.append(_row(name, joint, goal, [policy.treatments[group] for group in joint.groups]))
    return Comparison(goal.name, tuple(rows))


def _one_threshold(joint: JointDistribution, goal: Objective) -> list[Curve]:
    """The single threshold for everybody with the greatest gain."""
    return [Curve.threshold(best_threshold(joint, goal)).on(joint.scale)] * len(joint.members)


def _group_thresholds(joint: JointDistribution, goal: Objective) -> tuple[Curve, ...]:
    """Each group's own single threshold with the greatest gain."""
    thresholds = []
    for member, by in zip(joint.members, goal.by_rate, strict=True):
        roc = member.roc
        vertex = int(np.argmax(by[0] * roc.fpr + by[1] * roc.tpr))
        thresholds.append(Curve.threshold(roc.threshold(vertex)).on(joint.scale))
    return tuple(thresholds)


def _row(name: str, joint: JointDistribution, goal: Objective, curves: Sequence[Treatment]) -> Compared:
    measured = metrics_of(dict(zip(joint.groups, curves, strict=True)), joint, joint.score_range)
    points = [Point(figures.fpr, figures.tpr) for figures in measured.by_group]
    return Compared(
        policy=name,
        objective=goal.reported(goal.gain(points)),
        equalized_odds_difference=measured.equalized_odds_difference,
        demographic_parity_difference=measured.demographic_parity_difference,
        largest_slope=max(figures.lipschitz for figures in measured.by_group),
        randomized=measured.randomized,
        individual_odds=measured.individual_odds.holds,
        individual_odds_share=measured.individual_odds.share,
    )
