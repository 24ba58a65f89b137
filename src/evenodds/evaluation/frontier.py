"""The price of gentleness: the best objective against the largest slope."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from evenodds.errors import OptionError
from evenodds.model.budget import best_under
from evenodds.model.goals import Cost, objective_of
from evenodds.model.joint import JointDistribution, check_joint
from evenodds.model.options import OPTIONS
from evenodds.model.request import Request
from evenodds.progress import tracked
from evenodds.showing import Shown, text_table

__all__ = ["Frontier", "frontier"]

_STEPS = 24
_SETTLED = 1e-4  # a loss that nobody notices ends the default list of slopes
_DOUBLINGS = 40  # of the gentlest slope, at the most


@dataclass(frozen=True, repr=False)
class Frontier(Shown):
    """For each slope budget the best objective found that a family of curves reaches within it."""

    objective_name: str
    max_slopes: tuple[float, ...]
    objectives: tuple[float, ...]
    losses: tuple[float, ...]
    """What each budget gives up against no budget at all."""

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Each budget, what it reaches, and what it loses."""
        rows = list(zip(self.max_slopes, self.objectives, self.losses, strict=True))
        return ("max_slope", self.objective_name, "loss"), rows

    def __repr__(self) -> str:
        lo, hi = (f"{end:.4g}" for end in (min(self.objectives), max(self.objectives)))
        return f"Frontier({len(self.max_slopes)} slope budgets, {self.objective_name} {lo} to {hi})"

    def __str__(self) -> str:
        return f"{self!r}\n{text_table(*self.table())}"


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
    joint, _ = joint.searched
    request = Request.of(
        constraints=constraints, objective=objective, tolerance=tolerance, curve=curve, max_slope=np.inf
    )
    if not request.family.is_continuous:
        msg = f"{request.family.with_article.capitalize()} jumps, so no slope budget can hold. Hint: curve='linear'."
        raise OptionError(msg)
    goal = objective_of(request.objective, joint)

    @cache
    def gain(slope: float) -> float:
        return goal.gain(best_under(joint, request.family, slope, goal, request.constraint).points)

    unlimited = gain(np.inf)
    slopes = _default_slopes(joint, unlimited, gain) if max_slopes is None else _checked(max_slopes)
    own = {slope: gain(slope) for slope in tracked(sorted(set(slopes)), "Pricing")}
    # What a gentler budget reaches is within a steeper one, where dents let its own curves reach less.
    best = dict(zip(own, np.maximum.accumulate(list(own.values())).tolist(), strict=True))
    gains = [best[slope] for slope in slopes]
    return Frontier(
        goal.name,
        tuple(slopes),
        tuple(goal.reported(value) for value in gains),
        tuple(max(0.0, unlimited - value) for value in gains),
    )


def _checked(max_slopes: object) -> list[float]:
    slopes = [max_slopes] if isinstance(max_slopes, str) or not isinstance(max_slopes, Iterable) else list(max_slopes)
    if not slopes:
        msg = "max_slopes=[] is not allowed. Allowed: one budget or more."
        raise OptionError(msg)
    allowed = replace(OPTIONS["max_slope"], name="max_slopes", default=np.inf)
    return [float(allowed.checked(slope)) for slope in slopes]


def _default_slopes(joint: JointDistribution, unlimited: float, gain: Callable[[float], float]) -> list[float]:
    lo, hi = joint.score_range
    least = 1 / (hi - lo) if hi > lo else 1.0
    most = least
    for _ in range(_DOUBLINGS):
        if unlimited - gain(most) <= _SETTLED:
            break
        most *= 2
    return [*np.geomspace(least / 2, max(most, least), _STEPS).tolist(), np.inf]
