"""The stages in order: joint -> budget -> points -> curves through them -> policy. A newcomer reads this first."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evenodds.errors import EvenoddsWarning, OptionError, UnreachableError, one_of
from evenodds.geometry.pieces import Floats
from evenodds.geometry.program import SolverError
from evenodds.model.budget import best_under, best_within, gain_bound, is_small, least_slope, slope_bound
from evenodds.model.certificate import Certificate
from evenodds.model.criteria import CRITERIA, check_criterion, chosen_curves
from evenodds.model.curves import CONTINUOUS, FAMILIES, PUBLISHED, Curve
from evenodds.model.goals import Constraint, Cost, Objective, constraint_of, objective_of
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution, check_joint
from evenodds.model.mixes import gentlest_steps
from evenodds.model.policy import Policy, rates_of
from evenodds.model.pooling import pool_together
from evenodds.model.roc import Point, roc_of
from evenodds.model.solutions import Meeting, Path, p_grid, search_limits
from evenodds.model.target import TargetLike, check_reach, chosen_target

__all__ = ["DEFAULT_MAX_LOSS", "SMALL_GROUP", "Solutions", "fit", "fitted_curves", "solutions", "weaknesses"]

DEFAULT_MAX_LOSS = 0.005
_MATERIAL = 1e-8  # a residual that rounding alone does not explain
SMALL_GROUP = 30  # fewer positives or negatives than this leave rates uncertain by 10 points or more


def fit(
    joint: JointDistribution,
    *,
    constraints: str = "equalized_odds",
    objective: str | Cost = "accuracy_score",
    tolerance: float = 0.0,
    curve: str = "linear",
    criterion: str = "gentlest",
    max_slope: float | None = None,
    max_loss: float | None = None,
    target: TargetLike | None = None,
    keep_individual_odds: bool = False,
) -> Policy:
    """Find a curve for each group so that all groups share the rates that a constraint names.

    Parameters
    ----------
    joint : JointDistribution
        How scores and labels fall within each group.
    constraints : str
        What the groups share: "equalized_odds" (FPR and TPR), "demographic_parity" (the selection rate; alias
        "selection_rate_parity"), or one rate: "true_positive_rate_parity", "false_positive_rate_parity",
        "true_negative_rate_parity", "false_negative_rate_parity".
    objective : str or Cost
        What the policy is best at: "accuracy_score", "balanced_accuracy_score", "closest_to_perfect" (the common
        point nearest to FPR 0 and TPR 1), "selection_rate", "true_positive_rate", "true_negative_rate", or
        evenodds.Cost(false_positive=, false_negative=).
    tolerance : float
        The largest difference between any two groups in each constrained rate.
    curve : str
        The family: "fixed", "linear", "quadratic", "cubic", "quartic", or "optimal", the linear program's own.
    criterion : str
        Which of the curves through a group's point to take: "gentlest", "even_slopes", "smoothest", "robust",
        "fewest_randomized" or "even_randomized".
    max_slope : float, optional
        A budget on every group's largest slope.
    max_loss : float, optional
        Give up at most this much of the objective, measured from the same family without a budget, to make the
        steepest curve as gentle as it can be; 0 is the unlimited optimum, at which some group may keep a hard
        threshold. Without max_slope and target it is 0.005.
    target : (fpr, tpr) or "baseline", optional
        An explicit point for equalised odds; "baseline" is the paper's rule, the best single threshold of the group
        whose best single threshold lies farthest from (0, 1). No budget applies then, unless max_slope is given.
    keep_individual_odds : bool
        Keep every threshold inside the score range, so that every group's odds run from 0 to 1.

    Returns
    -------
    Policy
        Its `certificate` says what is proven about it.

    Examples
    --------
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk(), max_slope=0.1)
    >>> round(policy.certificate.objective, 7), policy.certificate.gap < 1e-9
    (0.834173, True)
    >>> {group: round(curve.lipschitz, 4) for group, curve in policy.curves.items()}
    {'asian': 0.0365, 'black': 0.1, 'hispanic': 0.0736, 'white': 0.0234}
    """
    check_joint(joint)
    solved = _solve(
        joint,
        constraints=constraints,
        objective=objective,
        tolerance=tolerance,
        curve=curve,
        criterion=criterion,
        max_slope=max_slope,
        max_loss=max_loss,
        target=target,
        keep_individual_odds=keep_individual_odds,
    )
    _warn_of_weak_groups(joint)
    certificate = _certified(joint, solved)
    if certificate.residual > _MATERIAL:
        text = (
            f"The rates miss their points by up to {certificate.residual:.1e}: the scores vary too little compared "
            "with their size for thresholds to be exact. Hint: subtract a constant from the scores."
        )
        warnings.warn(text, EvenoddsWarning, stacklevel=2)
    return Policy(joint.groups, solved.curves, joint.score_range, joint.orientation, certificate)


def fitted_curves(joint: JointDistribution, options: Mapping[str, Any]) -> tuple[Curve, ...]:
    """The curves of a fit without its certificate and its warnings, for those who fit many times."""
    return _solve(joint, **{**(fit.__kwdefaults__ or {}), **options}).curves


@dataclass(frozen=True, eq=False)
class _Solved:
    """Points and curves through them, with all that a certificate needs to judge them."""

    people: JointDistribution
    """Those that were searched: their scores are near 0."""
    constraint: Constraint
    goal: Objective
    slope: float
    points: Sequence[Point]
    curves: tuple[Curve, ...]
    unlimited: float
    """What there is to gain without a slope budget."""
    asked: Mapping[str, Any]
    """Options that the certificate repeats."""


def _solve(
    joint: JointDistribution,
    *,
    constraints: str,
    objective: str | Cost,
    tolerance: float,
    curve: str,
    criterion: str,
    max_slope: float | None,
    max_loss: float | None,
    target: TargetLike | None,
    keep_individual_odds: bool,
) -> _Solved:
    """From options to curves: see `fit`."""
    joint, moved_by = joint.near_zero()
    family = one_of("curve", curve, FAMILIES)
    one_of("criterion", criterion, CRITERIA)
    constraint = constraint_of(constraints, tolerance)
    goal = objective_of(objective, joint, constraint)
    loss = _checked_budget(family, constraint, max_slope, max_loss, target)
    _check_family_options(family, criterion, keep_individual_odds=keep_individual_odds)

    unlimited = best_under(joint, family, np.inf, goal, constraint)
    if max_slope is None and target is None and loss > 0:
        slope, points = least_slope(joint, family, goal, constraint, goal.gain(unlimited) - loss)
        needed = slope
    else:
        slope = float("inf") if max_slope is None else float(max_slope)
        needed, points = (slope, unlimited) if np.isinf(slope) else best_within(joint, family, slope, goal, constraint)
    if target is not None:
        needed, points = slope, [chosen_target(joint, target)] * len(joint.members)
    inside = joint.score_range if keep_individual_odds else None
    curves = _curves_through(joint, family, points, criterion, needed, inside)
    asked = {
        "criterion": criterion,
        "max_loss": loss if max_slope is None and target is None else None,
        "costs": objective.scaled if isinstance(objective, Cost) else None,
        "keep_individual_odds": bool(keep_individual_odds),
        "target_given": target is not None,
    }
    moved = tuple(curve.moved(moved_by) for curve in curves) if moved_by else tuple(curves)
    return _Solved(joint, constraint, goal, slope, points, moved, goal.gain(unlimited), asked)


def _curves_through(
    joint: JointDistribution,
    family: str,
    points: Sequence[Point],
    criterion: str,
    slope: float,
    inside: tuple[float, float] | None,
) -> list[Curve]:
    """A curve for each group through its point, within the slope budget and the score range."""
    for member, point in zip(joint.members, points, strict=True):
        check_reach(member.key, roc_of(member), point)
    if family == "optimal":
        return [_optimal(joint, member, point, slope) for member, point in zip(joint.members, points, strict=True)]
    pool_together(joint.members)
    meetings = [
        Meeting(member, family, point, joint.orientation, hard=bool(np.isinf(slope)))
        for member, point in zip(joint.members, points, strict=True)
    ]
    upward = inside if inside is None or joint.orientation == "positive" else (-inside[1], -inside[0])
    paths = chosen_curves(meetings, criterion, steepest=slope, inside=upward)
    curves = [path.curve(0) for path in paths]
    for member, found in zip(joint.members, curves, strict=True):
        if inside is not None and (found.is_threshold or found.is_constant):
            what = "a single threshold" if found.is_threshold else "a lottery"
            msg = (
                f"Group {member.key!r} meets its point only by {what}, whose odds do not run from 0 to 1. "
                "Hint: give up keep_individual_odds, or let a slope budget choose the point."
            )
            raise UnreachableError(msg)
        _check_slope(member.key, found, slope)
    return curves


def _optimal(joint: JointDistribution, member: Group, point: Point, slope: float) -> Curve:
    """The linear program's gentlest curve through a point."""
    try:
        odds, _ = gentlest_steps(member, point)
    except SolverError:
        # The point came from another program and may be outside by that one's tolerance: a hair nearer the diagonal.
        middle = (point.fpr + point.tpr) / 2
        nearer = Point(*(rate + 1e-9 * (middle - rate) for rate in (point.fpr, point.tpr)))
        odds, _ = gentlest_steps(member, nearer)
    sign = 1.0 if joint.orientation == "positive" else -1.0
    found = Curve.through(sign * member.scores, odds, orientation=joint.orientation)
    _check_slope(member.key, found, slope)
    return found


def _check_slope(group: str, curve: Curve, slope: float) -> None:
    if curve.lipschitz > slope * (1 + 1e-6):  # the program's own tolerance; the families keep 1e-9
        needed = "a jump" if np.isinf(curve.lipschitz) else f"a slope of {curve.lipschitz:.6g}"
        msg = f"Group {group!r} needs {needed} to reach its point, more than max_slope={slope:.6g}."
        raise UnreachableError(msg)


def _certified(joint: JointDistribution, solved: _Solved) -> Certificate:
    """Recompute everything from the final curves, and bound it."""
    constraint, goal, slope = solved.constraint, solved.goal, solved.slope
    points, curves = solved.points, solved.curves
    reached = tuple(rates_of(c, member) for c, member in zip(curves, joint.members, strict=True))
    gain = goal.gain(reached)
    bound, by = gain_bound(solved.people, slope, goal, constraint, achieved=gain)
    small = is_small(joint)
    bounds = tuple(
        slope_bound(member, point, achieved=c.lipschitz, small=small)
        for member, point, c in zip(solved.people.members, points, curves, strict=True)
    )
    return Certificate(
        constraints=constraint.name,
        tolerance=constraint.tolerance,
        objective_name=goal.name,
        max_slope=slope,
        target=points[0] if constraint.one_point else None,
        groups=joint.groups,
        asked=tuple(points),
        reached=reached,
        slopes=tuple(c.lipschitz for c in curves),
        slope_bounds=bounds,
        objective=goal.reported(gain),
        objective_bound=goal.reported(bound),
        unlimited=goal.reported(solved.unlimited),
        smaller_is_better=goal.smaller_is_better,
        bound_by=by,
        resolution=joint.resolution,
        people=tuple(member.figures(joint.orientation) for member in joint.members),
        **solved.asked,
    )


@dataclass(frozen=True, eq=False)
class Solutions:
    """For each group the whole path of curves through one point."""

    target: Point
    groups: tuple[str, ...]
    group_paths: tuple[Path, ...]

    @property
    def paths(self) -> Mapping[str, Path]:
        """Each group's path."""
        return MappingProxyType(dict(zip(self.groups, self.group_paths, strict=True)))

    def __repr__(self) -> str:
        lengths = ", ".join(f"{group} {len(path)}" for group, path in self.paths.items())
        return f"Solutions(fpr {self.target.fpr:.6g}, tpr {self.target.tpr:.6g}; curves: {lengths})"


def solutions(
    joint: JointDistribution, *, target: TargetLike, curve: str = "linear", p: ArrayLike | None = None
) -> Solutions:
    """Every curve of a family that meets the target, for each group.

    Parameters
    ----------
    joint : JointDistribution
    target : (fpr, tpr) or "baseline"
    curve : str
        One of the paper's families: "fixed", "linear", "quadratic", "cubic", "quartic".
    p : array, optional
        The mean odds between the thresholds at which the path is wanted; 37 values over the family's range without
        it. A group whose target is a vertex of its ROC, or on the diagonal, has one curve only.

    Examples
    --------
    >>> import evenodds as eo
    >>> found = eo.solutions(eo.datasets.credit_risk(), target="baseline", curve="cubic")
    >>> found
    Solutions(fpr 0.192685, tpr 0.829732; curves: asian 37, black 37, hispanic 1, white 37)
    >>> [round(curve.width, 1) for curve in found.paths["white"]][::9]
    [812.3, 47.0, 45.5, 60.2, 718.8]
    """
    check_joint(joint)
    family = one_of("curve", curve, PUBLISHED)
    if family == "fixed" and p is not None:
        msg = "p cannot be chosen for a fixed curve: of all its solutions the one with p nearest 1/2 is given."
        raise OptionError(msg)
    at = p_grid(family) if p is None else _checked_p(p, family)
    point = chosen_target(joint, target)
    near, moved_by = joint.near_zero()
    upward = moved_by if joint.orientation == "positive" else -moved_by
    paths = []
    for member in near.members:
        check_reach(member.key, roc_of(member), point)
        meeting = Meeting(member, family, point, joint.orientation)
        path = meeting.single() or meeting.path(at)
        paths.append(replace(path, t0=path.t0 + upward, t1=path.t1 + upward))
    return Solutions(point, joint.groups, tuple(paths))


# -- options -----------------------------------------------------------------------------------------------------------


def _checked_budget(
    family: str,
    constraint: Constraint,
    max_slope: float | None,
    max_loss: float | None,
    target: TargetLike | None,
) -> float:
    """The loss that may be given up; refuse budgets that are no numbers, or that conflict."""
    if max_slope is not None and max_loss is not None:
        msg = f"Give max_slope or max_loss, and not both; got max_slope={max_slope!r} and max_loss={max_loss!r}."
        raise OptionError(msg)
    if max_slope is not None and not (_is_number(max_slope) and max_slope > 0):
        msg = f"max_slope={max_slope!r} is not allowed. Allowed: a number above 0, the largest change of odds a point."
        raise OptionError(msg)
    if max_loss is not None and not (_is_number(max_loss) and max_loss >= 0 and np.isfinite(max_loss)):
        msg = f"max_loss={max_loss!r} is not allowed. Allowed: a number from 0 on, how much of the objective may go."
        raise OptionError(msg)
    if target is not None and not constraint.one_point:
        msg = (
            "target= names one point for all groups: it goes with constraints='equalized_odds' and tolerance=0, "
            f"got {constraint.name!r} and {constraint.tolerance:g}."
        )
        raise OptionError(msg)
    if target is not None and max_loss is not None:
        msg = "max_loss= chooses the point, and target= names it: give one of them. Hint: max_slope goes with both."
        raise OptionError(msg)
    if family == "fixed" and ((max_slope is not None and np.isfinite(max_slope)) or max_loss):
        msg = "A fixed curve jumps, so no slope budget can hold. Hint: curve='linear', or leave out the budget."
        raise OptionError(msg)
    if max_loss is not None:
        return float(max_loss)
    return 0.0 if family == "fixed" else DEFAULT_MAX_LOSS


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _check_family_options(family: str, criterion: str, *, keep_individual_odds: bool) -> None:
    check_criterion(criterion, family)
    if keep_individual_odds and family not in CONTINUOUS:
        msg = (
            f"keep_individual_odds=True needs odds that run from 0 to 1 without a gap, and a {family} curve's may not. "
            f"Allowed with it: {', '.join(CONTINUOUS)}."
        )
        raise OptionError(msg)


def _checked_p(p: ArrayLike, family: str) -> Floats:
    lo, hi = search_limits(family)
    try:
        at = np.unique(np.asarray(p, dtype=np.float64))
    except (TypeError, ValueError):
        at = np.zeros(0)
    if not at.size or not ((at >= lo) & (at <= hi)).all():
        msg = f"p must be between {lo:g} and {hi:g} for a {family} curve, got {np.asarray(p)!r}."
        raise OptionError(msg)
    return at


def _warn_of_weak_groups(joint: JointDistribution) -> None:
    for member in joint.members:
        for text in weaknesses(member):
            warnings.warn(text, EvenoddsWarning, stacklevel=3)


def weaknesses(member: Group) -> list[str]:
    """What makes a group's rates doubtful: too few people, or a score that ranks them backwards."""
    found = []
    negatives, positives = member.people
    if min(negatives, positives) < SMALL_GROUP:
        found.append(
            f"Group {member.key!r} is very small: {negatives:g} negatives and {positives:g} positives. "
            "Its rates on other people may differ a lot from those it was fitted on."
        )
    if roc_of(member).is_backwards:
        found.append(
            f"The score ranks group {member.key!r} backwards: its AUC is {roc_of(member).auc:.4f}, below 1/2. "
            "Little but the diagonal is in its reach, and in that of every policy that treats all groups alike. "
            "Hint: check orientation=, or the score itself."
        )
    return found
