"""What was asked, parsed and checked once: every way in reads its options here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenodds.errors import OptionError
from evenodds.model.criteria import check_criterion
from evenodds.model.families import CONTINUOUS, Family, choice_of
from evenodds.model.goals import Constraint, Cost, check_objective, constraint_of
from evenodds.model.lottery import RandomizedBudget
from evenodds.model.options import DEFAULT_MAX_LOSS, OPTIONS
from evenodds.model.population import Guarantee
from evenodds.model.reviewer import Review, check_review
from evenodds.model.roc import Point

__all__ = [
    "Assurance",
    "Budget",
    "GivenPoint",
    "LossBudget",
    "Request",
    "SlopeBudget",
    "TargetLike",
    "Unlimited",
    "target_of",
]

_WITH_FEW_RANDOMIZED = ("linear", "optimal")
_NOT_WITH_FEW_RANDOMIZED = {
    "criterion": "of the curves that leave few to chance the gentlest is taken",
    "max_slope": "the fewer people are decided by chance, the steeper the curves",
    "max_loss": "it gives up some of the objective for gentler curves, which leave more people to chance",
    "target": "it names the point, and the budget chooses it",
    "keep_individual_odds": "it binds the thresholds, and so does the budget",
}

TargetLike = Point | Sequence[float] | str


@dataclass(frozen=True)
class Unlimited:
    """The best points, however steep."""


@dataclass(frozen=True)
class SlopeBudget:
    """The best points that curves reach which are no steeper than this."""

    slope: float


@dataclass(frozen=True)
class LossBudget:
    """The gentlest curves that give up no more of the objective than this."""

    loss: float


@dataclass(frozen=True)
class GivenPoint:
    """Curves through a point that was named, no steeper than a slope, which may be infinite."""

    target: Point | Literal["baseline"]
    slope: float


@dataclass(frozen=True)
class Assurance:
    """How sure the tolerance shall be to hold for the population, and what that rests on."""

    confidence: float
    guarantee: Guarantee


Budget = Unlimited | SlopeBudget | LossBudget | GivenPoint


@dataclass(frozen=True)
class Request:
    """What a policy shall do."""

    constraint: Constraint
    objective: str | Cost
    family: Family
    criterion: str
    budget: Budget
    keep_individual_odds: bool = False
    assurance: Assurance | None = None
    randomized: RandomizedBudget | None = None
    review: Review | None = None

    @classmethod
    def of(cls, **given: Any) -> Request:
        """Parse the options of a fit; those that are not given have their defaults.

        >>> Request.of(max_slope=0.1).budget, Request.of(curve="fixed").budget, Request.of().budget
        (SlopeBudget(slope=0.1), Unlimited(), LossBudget(loss=0.005))
        """
        unknown = sorted(set(given) - set(OPTIONS))
        if unknown:
            msg = f"{unknown[0]!r} is no option of a fit. Allowed: {', '.join(OPTIONS)}."
            raise OptionError(msg)
        asked = {name: given.get(name, option.default) for name, option in OPTIONS.items()}
        # An objective may be a Cost; what it may be depends on the constraint, and is checked below.
        values = {name: value if name == "objective" else OPTIONS[name].checked(value) for name, value in asked.items()}
        if values["review"] is not None:
            values = check_review(values)
        family = choice_of(values["curve"])
        constraint = constraint_of(values["constraints"], values["tolerance"], values["selection_rate"])
        if constraint.selection_rate is not None and family.is_hard:
            msg = (
                "selection_rate= asks for an exact share of yeses, which thresholds alone rarely have. "
                "Hint: curve='fixed' or 'linear', or give up selection_rate."
            )
            raise OptionError(msg)
        check_objective(values["objective"], constraint)
        check_criterion(values["criterion"], family)
        if values["keep_individual_odds"] and not family.has_path:
            msg = (
                "keep_individual_odds=True needs odds that run from 0 to 1 without a gap, and "
                f"{family.with_article}'s may not. Allowed with it: {', '.join(CONTINUOUS)}."
            )
            raise OptionError(msg)
        randomized = _randomized(family, values)
        # A loss for gentler curves leaves more people to chance, which is not what these ask for.
        gentle = randomized is None and values["criterion"] != "fewest_randomized"
        budget = _budget(family, constraint, values["max_slope"], values["max_loss"], values["target"], gentle=gentle)
        assurance = _assurance(constraint, values["confidence"], values["guarantee"])
        return cls(
            constraint=constraint,
            objective=values["objective"],
            family=family,
            criterion=values["criterion"],
            budget=budget,
            keep_individual_odds=values["keep_individual_odds"],
            assurance=assurance,
            randomized=randomized,
            review=values["review"],
        )


def _randomized(family: Family, values: Mapping[str, Any]) -> RandomizedBudget | None:
    """How many may be decided by chance; refuse what does not go with that."""
    names = [name for name in ("max_randomized", "max_randomized_by_group") if values[name] is not None]
    if not names:
        return None
    asked = f"{names[0]}={values[names[0]]:g}"
    if family.is_hard:
        msg = f"{asked} says how many may be decided by chance, and with curve='threshold' nobody is: give one of them."
        raise OptionError(msg)
    if family.name not in _WITH_FEW_RANDOMIZED:
        allowed = ", ".join(_WITH_FEW_RANDOMIZED)
        msg = f"{asked} needs curves of straight lines, not {family.with_article}. Allowed: {allowed}."
        raise OptionError(msg)
    for name, why in _NOT_WITH_FEW_RANDOMIZED.items():
        if OPTIONS[name].is_given(values[name]):
            msg = f"{asked} does not go with {name}={values[name]!r}: {why}."
            raise OptionError(msg)
    return RandomizedBudget(values["max_randomized"], values["max_randomized_by_group"])


def _assurance(constraint: Constraint, confidence: float | None, guarantee: Guarantee) -> Assurance | None:
    """What was asked for new people; refuse it without a tolerance."""
    if confidence is None:
        if OPTIONS["guarantee"].is_given(guarantee):
            msg = (
                f"guarantee={guarantee!r} is what a confidence rests on, and none is asked for. Hint: confidence=0.95."
            )
            raise OptionError(msg)
        return None
    if constraint.tolerance == 0:
        msg = (
            f"confidence={confidence:g} is about a tolerance for new people, and tolerance is 0: their rates are never "
            "quite equal. Hint: tolerance=0.05."
        )
        raise OptionError(msg)
    return Assurance(confidence, guarantee)


def _budget(
    family: Family,
    constraint: Constraint,
    max_slope: float | None,
    max_loss: float | None,
    target: TargetLike | None,
    *,
    gentle: bool,
) -> Budget:
    """The one budget there is; refuse those that conflict. Where none is given some loss is, if it shall be gentle."""
    if max_slope is not None and max_loss is not None:
        msg = f"Give max_slope or max_loss, and not both; got max_slope={max_slope:g} and max_loss={max_loss:g}."
        raise OptionError(msg)
    slope = np.inf if max_slope is None else max_slope
    if not family.is_continuous and (np.isfinite(slope) or max_loss):
        jumps = f"{family.with_article.capitalize()} jumps, so no slope budget can hold."
        msg = f"{jumps} Hint: curve='linear', or leave out the budget."
        raise OptionError(msg)
    if target is not None:
        if family.is_hard:
            msg = "target= names a point, and a threshold for each group rarely meets it. Hint: curve='fixed'."
            raise OptionError(msg)
        if not constraint.one_point:
            msg = (
                "target= names one point for all groups: it goes with constraints='equalized_odds' and tolerance=0, "
                f"got {constraint.name!r} and {constraint.tolerance:g}."
            )
            raise OptionError(msg)
        if constraint.selection_rate is not None:
            msg = "selection_rate= and target= both name the point: give one of them."
            raise OptionError(msg)
        if max_loss is not None:
            msg = "max_loss= chooses the point, and target= names it: give one of them. Hint: max_slope goes with both."
            raise OptionError(msg)
        return GivenPoint(target_of(target), slope)
    if max_slope is not None:
        return SlopeBudget(slope) if np.isfinite(slope) else Unlimited()
    loss = max_loss if max_loss is not None else DEFAULT_MAX_LOSS if family.is_continuous and gentle else 0.0
    return LossBudget(loss) if loss > 0 else Unlimited()


def target_of(target: TargetLike) -> Point | Literal["baseline"]:
    """A point that somebody named, checked: "baseline", or an explicit (fpr, tpr)."""
    if isinstance(target, Point):
        target = (target.fpr, target.tpr)
    if isinstance(target, str):
        if target != "baseline":
            msg = f"target={target!r} is not known. Allowed: (fpr, tpr), two rates between 0 and 1, or 'baseline'."
            raise OptionError(msg)
        return "baseline"
    try:
        fpr, tpr = (float(rate) for rate in target)
    except (OverflowError, TypeError, ValueError):
        msg = f"target={target!r} is not a point. Allowed: (fpr, tpr), two rates between 0 and 1, or 'baseline'."
        raise OptionError(msg) from None
    if not (0 <= fpr <= 1 and 0 <= tpr <= 1):
        msg = f"target=({fpr:g}, {tpr:g}) is not a pair of rates. Allowed: (fpr, tpr), each between 0 and 1."
        raise OptionError(msg)
    return Point(fpr, tpr)
