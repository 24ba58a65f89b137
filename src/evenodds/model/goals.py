"""What is wanted: which rates the groups shall share, and what a policy is good at, as linear functions of the rates.

Whatever is asked here is linear in each group's (FPR, TPR), but for `closest_to_perfect`, which is a distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenodds.errors import OptionError, one_of
from evenodds.geometry.pieces import Floats
from evenodds.model.joint import JointDistribution
from evenodds.model.roc import Point
from evenodds.values import number_of

__all__ = [
    "CONSTRAINTS",
    "OBJECTIVES",
    "Constraint",
    "Cost",
    "Objective",
    "Rate",
    "check_objective",
    "coefficients",
    "constraint_of",
    "objective_of",
]

Rate = Literal["fpr", "tpr", "selection_rate"]

_ALIASES = {"selection_rate_parity": "demographic_parity"}
_RATES: dict[str, tuple[Rate, ...]] = {
    "equalized_odds": ("fpr", "tpr"),
    "demographic_parity": ("selection_rate",),
    "true_positive_rate_parity": ("tpr",),
    "false_positive_rate_parity": ("fpr",),
    "true_negative_rate_parity": ("fpr",),
    "false_negative_rate_parity": ("tpr",),
}
CONSTRAINTS = (*_RATES, *_ALIASES)
_ALWAYS = ("accuracy_score", "balanced_accuracy_score")
_NOT_WITH_EQUALIZED_ODDS = ("selection_rate", "true_positive_rate", "true_negative_rate")
OBJECTIVES = (*_ALWAYS, "closest_to_perfect", *_NOT_WITH_EQUALIZED_ODDS)


@dataclass(frozen=True)
class Cost:
    """An objective: what a wrong yes and a wrong no cost. Scaled so that the dearer error costs 1.

    The objective is then the mean cost a person, and smaller is better.

    Parameters
    ----------
    false_positive : float
        What a yes to somebody with label 0 costs, such as a loan that is not paid back; 0 or more.
    false_negative : float
        What a no to somebody with label 1 costs; 0 or more. One of the two must cost something.

    See Also
    --------
    fit : Takes one as `objective`.

    Examples
    --------
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk(), objective=eo.Cost(false_positive=5, false_negative=1))
    >>> round(policy.certificate.objective, 4)
    0.0799
    >>> Cost(false_positive=5, false_negative=1).scaled
    (1.0, 0.2)
    """

    false_positive: float
    false_negative: float

    def __post_init__(self) -> None:
        for name in ("false_positive", "false_negative"):
            cost = number_of(name, getattr(self, name), "a number from 0 on, what such an error costs", low=0.0)
            object.__setattr__(self, name, cost)
        if self.false_positive == self.false_negative == 0:
            msg = "false_positive=0 and false_negative=0 is not allowed: one of the errors must cost something."
            raise OptionError(msg)

    @property
    def scaled(self) -> tuple[float, float]:
        """Both costs, divided by the dearer one."""
        dearer = max(self.false_positive, self.false_negative)
        return self.false_positive / dearer, self.false_negative / dearer


@dataclass(frozen=True)
class Constraint:
    """Which rates may differ between any two groups by no more than the tolerance."""

    name: str
    rates: tuple[Rate, ...]
    tolerance: float
    selection_rate: float | None = None
    """The share of yeses over everybody, where that is asked for too."""

    @property
    def one_point(self) -> bool:
        """Whether all groups meet in one point."""
        return self.name == "equalized_odds" and self.tolerance == 0

    @property
    def takes_a_program(self) -> bool:
        """Whether the best points are those of a linear program: two conditions on points that may differ."""
        return not self.one_point and (len(self.rates) > 1 or self.selection_rate is not None)


def coefficients(joint: JointDistribution, rate: Rate) -> Floats:
    """Rows (by FPR, by TPR), one for each group, of a constrained rate."""
    if rate == "selection_rate":
        return np.array([[1 - member.base_rate, member.base_rate] for member in joint.members])
    return np.tile([1.0, 0.0] if rate == "fpr" else [0.0, 1.0], (len(joint.members), 1))


def constraint_of(name: object, tolerance: float, selection_rate: float | None = None) -> Constraint:
    """The constraint by its name; aliases are resolved."""
    known = one_of("constraints", name, CONSTRAINTS)
    name = _ALIASES.get(known, known)
    return Constraint(name, _RATES[name], tolerance, selection_rate)


@dataclass(frozen=True, eq=False)
class Objective:
    """A linear function of the groups' rates, or the distance from (0, 1) of their common point.

    `gain` is what the search makes as large as it can; `reported` is the figure people know: the same, or, for costs
    and distances, its negative.
    """

    name: str
    constant: float
    by_rate: Floats
    """Rows (by FPR, by TPR), one for each group."""
    shares: Floats
    """Each group's negatives and positives as shares of everybody: times the rates, the share of yeses."""
    smaller_is_better: bool = False
    is_distance: bool = False

    def gain(self, points: Sequence[Point]) -> float:
        """What is made as large as possible, at these points."""
        if self.is_distance:
            return -points[0].distance_to_perfect
        return self.constant + float(sum(c @ (p.fpr, p.tpr) for c, p in zip(self.by_rate, points, strict=True)))

    def common_gain(self, fpr: Floats, tpr: Floats) -> Floats:
        """The gain where all groups share a point."""
        if self.is_distance:
            return -np.hypot(fpr, 1 - tpr)
        by_fpr, by_tpr = self.by_rate.sum(axis=0)
        return np.asarray(self.constant + by_fpr * fpr + by_tpr * tpr)

    def reported(self, gain: float) -> float:
        """The figure that people know."""
        return 0.0 - gain if self.smaller_is_better else gain


def check_objective(objective: object, constraint: Constraint) -> None:
    """Refuse an objective that is not known, or that has no meaning under a constraint."""
    if isinstance(objective, Cost):
        return
    name = one_of("objective", objective, OBJECTIVES)
    if name == "selection_rate" and constraint.selection_rate is not None:
        msg = f"objective='selection_rate' is what selection_rate={constraint.selection_rate:g} says already."
        raise OptionError(msg)
    if name == "closest_to_perfect" and not constraint.one_point:
        msg = (
            "objective='closest_to_perfect' is defined for one common point: constraints='equalized_odds' and "
            f"tolerance=0, got {constraint.name!r} and {constraint.tolerance:g}."
        )
        raise OptionError(msg)
    if name in _NOT_WITH_EQUALIZED_ODDS and constraint.name == "equalized_odds":
        allowed = ", ".join((*_ALWAYS, "closest_to_perfect"))
        msg = (
            f"objective={name!r} has a trivial answer under equalized_odds. Allowed: {allowed}, or evenodds.Cost(...)."
        )
        raise OptionError(msg)


def objective_of(objective: str | Cost, joint: JointDistribution) -> Objective:
    """The objective by its name, or from costs, for this population; it was checked."""
    negatives = np.array([member.negative_total for member in joint.members])
    positives = np.array([member.positive_total for member in joint.members])
    everybody = joint.total
    shares = np.column_stack([negatives, positives]) / everybody
    if isinstance(objective, Cost):
        wrong_yes, wrong_no = objective.scaled
        by_rate = np.column_stack([-wrong_yes * negatives, wrong_no * positives]) / everybody
        constant = -wrong_no * float(positives.sum()) / everybody
        return Objective("cost", constant, by_rate, shares, smaller_is_better=True)
    zero = np.zeros(len(joint.members))
    if objective == "closest_to_perfect":
        return Objective(objective, 0.0, 0 * shares, shares, smaller_is_better=True, is_distance=True)
    false_share, true_share = negatives / negatives.sum(), positives / positives.sum()
    constant, by_fpr, by_tpr = {
        "accuracy_score": (float(negatives.sum()) / everybody, -negatives / everybody, positives / everybody),
        "balanced_accuracy_score": (0.5, -false_share / 2, true_share / 2),
        "selection_rate": (0.0, negatives / everybody, positives / everybody),
        "true_positive_rate": (0.0, zero, true_share),
        "true_negative_rate": (1.0, -false_share, zero),
    }[objective]
    return Objective(objective, constant, np.column_stack([by_fpr, by_tpr]), shares)
