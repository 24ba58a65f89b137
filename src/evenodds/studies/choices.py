"""What both studies compare: slope budgets, and criteria for choosing among the curves through one point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenodds.evaluation.frontier import frontier
from evenodds.evaluation.metrics import metrics_of
from evenodds.model.criteria import WHEN_TO_USE
from evenodds.model.fit import fitted_curves
from evenodds.model.joint import JointDistribution
from evenodds.model.policy import Policy
from evenodds.progress import tracked

__all__ = ["Budget", "Choice", "budgets", "choices"]


@dataclass(frozen=True)
class Budget:
    """The best accuracy with slopes of at most `max_slope` for every group."""

    max_slope: float
    accuracy: float
    loss: float


@dataclass(frozen=True)
class Choice:
    """One criterion: which curves it takes, and when that is wanted."""

    criterion: str
    largest_slope: float
    slope_difference: float
    randomized: float
    """The share of people whose odds are neither 0 nor 1."""
    randomized_difference: float
    accuracy: float
    use_it: str


def budgets(joint: JointDistribution, slopes: Sequence[float]) -> tuple[Budget, ...]:
    """What each slope budget costs."""
    price = frontier(joint, max_slopes=slopes)
    return tuple(map(Budget, price.max_slopes, price.objectives, price.losses))


def choices(joint: JointDistribution, policy: Policy) -> tuple[Choice, ...]:
    """Every criterion for cubic curves through a policy's point, which all of them meet exactly."""
    rows = []
    for criterion, when in tracked(list(WHEN_TO_USE.items()), "Comparing criteria"):
        asked = {"curve": "cubic", "criterion": criterion, "target": policy.certificate.target}
        curves = dict(zip(joint.groups, fitted_curves(joint, asked), strict=True))
        measured = metrics_of(curves, joint, joint.score_range)
        rows.append(
            Choice(
                criterion,
                max(g.lipschitz for g in measured.by_group),
                measured.spread("lipschitz"),
                measured.randomized,
                measured.spread("randomized"),
                measured.accuracy,
                when,
            )
        )
    return tuple(rows)
