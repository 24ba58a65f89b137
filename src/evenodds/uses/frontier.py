"""The price of gentleness: the best objective against the largest slope."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.errors import OptionError, one_of
from evenodds.frames import frame_of
from evenodds.geometry.pieces import Floats
from evenodds.model.budget import best_within
from evenodds.model.curves import CONTINUOUS
from evenodds.model.goals import Cost, constraint_of, objective_of
from evenodds.model.joint import JointDistribution, check_joint
from evenodds.progress import tracked

__all__ = ["Frontier", "frontier"]

_STEPS = 24
_SETTLED = 1e-4  # a loss that nobody notices ends the default list of slopes


@dataclass(frozen=True)
class Frontier:
    """For each slope budget the best objective that a family of curves reaches within it."""

    objective_name: str
    max_slopes: tuple[float, ...]
    objectives: tuple[float, ...]
    losses: tuple[float, ...]
    """What each budget gives up against no budget at all."""

    def frame(self) -> Any:
        """The frontier as a data frame."""
        return frame_of({"max_slope": self.max_slopes, self.objective_name: self.objectives, "loss": self.losses})


def frontier(
    joint: JointDistribution,
    *,
    constraints: str = "equalized_odds",
    objective: str | Cost = "accuracy_score",
    tolerance: float = 0.0,
    curve: str = "linear",
    max_slopes: Sequence[float] | None = None,
) -> Frontier:
    """What each slope budget costs.

    Parameters
    ----------
    joint : JointDistribution
    constraints, objective, tolerance, curve
        As for `fit`; `curve` is a continuous family or "optimal".
    max_slopes : sequence of float, optional
        The budgets; without it 24 from the gentlest that matter to where less than 1e-4 is lost, and infinity.

    Examples
    --------
    >>> import evenodds as eo
    >>> price = eo.frontier(eo.datasets.credit_risk(), max_slopes=[0.05, 0.1, 1, float("inf")])
    >>> [round(value, 7) for value in price.objectives]
    [0.8236691, 0.834173, 0.8395962, 0.8396093]
    """
    check_joint(joint)
    joint, _ = joint.near_zero()
    family = one_of("curve", curve, (*CONTINUOUS, "optimal"))
    constraint = constraint_of(constraints, tolerance)
    goal = objective_of(objective, joint, constraint)

    def gain(slope: float) -> float:
        return goal.gain(best_within(joint, family, slope, goal, constraint)[1])

    unlimited = gain(np.inf)
    slopes = _default_slopes(joint, unlimited, gain) if max_slopes is None else _checked(max_slopes)
    gains = [gain(slope) for slope in tracked(slopes.tolist(), "Pricing")]
    return Frontier(
        goal.name,
        tuple(float(slope) for slope in slopes),
        tuple(goal.reported(value) for value in gains),
        tuple(max(0.0, unlimited - value) for value in gains),
    )


def _checked(max_slopes: Sequence[float]) -> Floats:
    slopes = np.asarray(max_slopes, dtype=np.float64)
    if slopes.ndim != 1 or not slopes.size or not (slopes > 0).all():
        msg = f"max_slopes must be numbers above 0, got {max_slopes!r}."
        raise OptionError(msg)
    return slopes


def _default_slopes(joint: JointDistribution, unlimited: float, gain: Any) -> Floats:
    lo, hi = joint.score_range
    least = 1 / (hi - lo) if hi > lo else 1.0
    most = least
    while unlimited - gain(most) > _SETTLED:
        most *= 2
    return np.append(np.geomspace(least / 2, max(most, least), _STEPS), np.inf)
