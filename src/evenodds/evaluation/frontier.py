"""The price of gentleness, and of leaving fewer people to chance: the best objective against a budget on either."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from evenodds.errors import OptionError, one_of
from evenodds.model.budget import best_under
from evenodds.model.goals import Cost, objective_of
from evenodds.model.joint import JointDistribution, check_joint
from evenodds.model.lottery import Lottery, RandomizedBudget, best_with_few, sides_of
from evenodds.model.options import OPTIONS
from evenodds.model.request import Request
from evenodds.progress import tracked
from evenodds.showing import Shown, text_table

__all__ = ["Frontier", "frontier"]

Against = Literal["slope", "randomized"]
_OPTION = {"slope": "max_slope", "randomized": "max_randomized"}
_SLOPES = 24  # that are priced unless others are asked for, and infinity besides
_SHARES = 17  # the same against "randomized"
_SETTLED = 1e-4  # a loss that nobody notices ends the default list of slopes
_DOUBLINGS = 40  # of the gentlest slope, at the most


@dataclass(frozen=True, repr=False)
class Frontier(Shown):
    """For each budget the best objective found within it.

    Of slopes: that a family of curves reaches. Of the share of people decided by chance: that any rising curves reach.

    See Also
    --------
    frontier : Makes one.
    plot.frontier : Draws it.

    Examples
    --------
    >>> import evenodds as eo
    >>> print(eo.frontier(eo.datasets.compas(), max_slopes=[0.1, 0.2]))
    Frontier(2 slope budgets, accuracy_score 0.5917 to 0.6221)
      max_slope  accuracy_score     loss
            0.1          0.5917  0.04487
            0.2          0.6221  0.01446
    """

    objective_name: str
    """What the policies are best at."""
    budgets: tuple[float, ...]
    """The budgets, in the order in which they were given."""
    objectives: tuple[float, ...]
    """The best objective found within each budget."""
    losses: tuple[float, ...]
    """What each budget gives up against no budget at all."""
    against: Against = "slope"
    """What the budgets are on: "slope", or "randomized", the share of people decided by chance."""
    bounds: tuple[float, ...] = ()
    """What nobody can better within each budget, where that is proven along with it: against "randomized"."""

    @property
    def max_slopes(self) -> tuple[float, ...]:
        """The slope budgets."""
        return self._of("slope")

    @property
    def max_randomized(self) -> tuple[float, ...]:
        """The budgets on the share of people who are decided by chance."""
        return self._of("randomized")

    def _of(self, kind: Against) -> tuple[float, ...]:
        if kind != self.against:
            msg = f"This frontier is against {self.against!r}, not {kind!r}. Hint: .budgets has them either way."
            raise OptionError(msg)
        return self.budgets

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Each budget, what it reaches, and what it loses."""
        columns = [self.budgets, self.objectives, self.losses, *([self.bounds] if self.bounds else [])]
        names = (_OPTION[self.against], self.objective_name, "loss", *(["bound"] if self.bounds else []))
        return names, list(zip(*columns, strict=True))

    def __repr__(self) -> str:
        lo, hi = (f"{end:.4g}" for end in (min(self.objectives), max(self.objectives)))
        budgets = {"slope": "slope budgets", "randomized": "budgets on chance"}[self.against]
        return f"Frontier({len(self.budgets)} {budgets}, {self.objective_name} {lo} to {hi})"

    def __str__(self) -> str:
        return f"{self!r}\n{text_table(*self.table())}"


def frontier(
    joint: JointDistribution,
    *,
    constraints: str = "equalized_odds",
    objective: str | Cost = "accuracy_score",
    tolerance: float = 0.0,
    curve: str = "linear",
    against: Against = "slope",
    max_slopes: Sequence[float] | None = None,
    budgets: Sequence[float] | None = None,
) -> Frontier:
    """What each budget costs: on the largest slope, or on the share of people who are decided by chance.

    Parameters
    ----------
    joint : JointDistribution
        How scores and labels fall within each group.
    constraints, objective, tolerance, curve
        As for `fit`; `curve` is a continuous family or "optimal".
    against : "slope" or "randomized"
        What the budgets are on.
    max_slopes : sequence of float, optional
        The slope budgets; another name for `budgets`.
    budgets : sequence of float, optional
        Slopes, or shares of everybody. Without it against "slope" 24 of them, from the gentlest that matter to where
        less than 1e-4 is lost, and infinity; against "randomized" 17, from nobody to where nothing is lost.

    Returns
    -------
    Frontier
        What each budget reaches and loses: `.frame()`, `.plot()`.

    See Also
    --------
    fit : The policy for one of these budgets, `max_slope` or `max_randomized`.
    compare : Families of curves and thresholds side by side.
    plot.frontier : A picture of it.

    Examples
    --------
    >>> import evenodds as eo
    >>> price = eo.frontier(eo.datasets.credit_risk(), max_slopes=[0.05, 0.1, 1, float("inf")])
    >>> [round(value, 7) for value in price.objectives]
    [0.8236691, 0.834173, 0.8395962, 0.8396093]
    >>> price = eo.frontier(eo.datasets.credit_risk(), against="randomized", tolerance=0.02, budgets=[0, 0.01, 0.1])
    >>> [round(value, 7) for value in price.objectives]
    [0.8148986, 0.8197853, 0.8555717]
    """
    check_joint(joint)
    one_of("against", against, _OPTION)
    if max_slopes is not None and (against != "slope" or budgets is not None):
        msg = "max_slopes= are the budgets against 'slope'. Hint: give budgets= alone."
        raise OptionError(msg)
    if against == "randomized":
        return _against_chance(joint, constraints, objective, tolerance, curve, budgets)
    name, slopes_asked = ("budgets", budgets) if max_slopes is None else ("max_slopes", max_slopes)
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
    slopes = (
        _default_slopes(joint, unlimited, gain) if slopes_asked is None else _checked(name, "max_slope", slopes_asked)
    )
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


def _against_chance(
    joint: JointDistribution,
    constraints: str,
    objective: str | Cost,
    tolerance: float,
    curve: str,
    budgets: Sequence[float] | None,
) -> Frontier:
    """What less chance costs."""
    request = Request.of(
        constraints=constraints, objective=objective, tolerance=tolerance, curve=curve, max_randomized=0.0
    )
    joint, _ = joint.searched
    goal = objective_of(request.objective, joint)
    unlimited = goal.gain(best_under(joint, request.family, np.inf, goal, request.constraint).points)

    sides = sides_of(joint, goal, request.constraint)

    @cache
    def priced(share: float) -> Lottery:
        lottery = best_with_few(joint, goal, request.constraint, RandomizedBudget(share), sides)
        assert lottery is not None  # noqa: S101 a yes for everybody leaves nobody to chance
        return lottery

    if budgets is None:
        enough = sum(band.share for band in priced(1.0).bands)
        shares = np.linspace(0.0, enough, _SHARES).tolist()
    else:
        shares = _checked("budgets", "max_randomized", budgets)
    lotteries = {share: priced(share) for share in tracked(sorted(set(shares)), "Pricing")}
    # What less chance reaches, more does too, where a search had to end early.
    gains = [lottery.gain for lottery in lotteries.values()]
    best = dict(zip(lotteries, np.maximum.accumulate(gains).tolist(), strict=True))
    return Frontier(
        goal.name,
        tuple(shares),
        tuple(goal.reported(best[share]) for share in shares),
        tuple(max(0.0, unlimited - best[share]) for share in shares),
        "randomized",
        tuple(goal.reported(max(best[share], lotteries[share].bound)) for share in shares),
    )


def _checked(name: str, option: str, budgets: object) -> list[float]:
    several = [budgets] if isinstance(budgets, str) or not isinstance(budgets, Iterable) else list(budgets)
    if not several:
        msg = f"{name}=[] is not allowed. Allowed: one budget or more."
        raise OptionError(msg)
    allowed = replace(OPTIONS[option], name=name, default=np.inf)
    return [float(allowed.checked(budget)) for budget in several]


def _default_slopes(joint: JointDistribution, unlimited: float, gain: Callable[[float], float]) -> list[float]:
    lo, hi = joint.score_range
    least = 1 / (hi - lo) if hi > lo else 1.0
    most = least
    for _ in range(_DOUBLINGS):
        if unlimited - gain(most) <= _SETTLED:
            break
        most *= 2
    return [*np.geomspace(least / 2, max(most, least), _SLOPES).tolist(), np.inf]
