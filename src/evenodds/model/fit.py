"""The stages in order: joint -> budget -> points -> curves through them -> policy. A newcomer reads this first."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenodds.errors import EvenoddsWarning, UnreachableError
from evenodds.geometry.program import SolverError
from evenodds.geometry.stack import Stack
from evenodds.model.bounds import POOLED, Bounds
from evenodds.model.budget import Chosen, best_under, least_slope
from evenodds.model.certificate import Certificate
from evenodds.model.criteria import chosen_curves
from evenodds.model.curves import Curve
from evenodds.model.goals import Cost, Objective, objective_of
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution, check_joint
from evenodds.model.mix import gentlest_mix
from evenodds.model.policy import Policy, rates_of
from evenodds.model.reach import ON_CURVE, reach_of, reaches_inside, reaches_of, refined
from evenodds.model.request import GivenPoint, LossBudget, Request, SlopeBudget, TargetLike
from evenodds.model.roc import Point
from evenodds.model.search import CurveSearch
from evenodds.model.supports import gentlest_of_all
from evenodds.model.target import check_reach, chosen_target

__all__ = ["SMALL_GROUP", "fit", "fitted_curves", "weaknesses"]

_MATERIAL = 1e-8  # a residual that rounding alone does not explain
_BROKEN = 1e-6  # a promise that is missed by more is broken
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
        Give up at most this much of the objective, measured from the best without a budget, which is the same for all
        families, to make the steepest curve as gentle as it can be; 0 is that best itself, at which some group may
        keep a hard threshold. Without max_slope and target it is 0.005.
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
    request = Request.of(
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
    solved = _solve(joint, request)
    _warn_of_weak_groups(joint)
    certificate = _certified(joint, solved)
    _check_promises(request, certificate)
    return Policy(joint.groups, solved.curves, joint.score_range, joint.orientation, certificate)


def fitted_curves(joint: JointDistribution, options: Mapping[str, Any]) -> tuple[Curve, ...]:
    """The curves of a fit without its certificate and its warnings, for those who fit many times."""
    return _solve(joint, Request.of(**options)).curves


@dataclass(frozen=True, eq=False)
class _Solved:
    """Points and curves through them, with all that a certificate needs to judge them."""

    request: Request
    people: JointDistribution
    """Those that were searched: their scores are near 0."""
    goal: Objective
    slope: float
    points: Sequence[Point]
    curves: tuple[Curve, ...]
    unlimited: float
    """What there is to gain without a slope budget."""


def _solve(joint: JointDistribution, request: Request) -> _Solved:
    """From a request to curves."""
    joint, scale = joint.searched
    goal = objective_of(request.objective, joint)
    unlimited = best_under(joint, request.family, np.inf, goal, request.constraint)
    gain = goal.gain(unlimited.points)
    chosen = _chosen(joint, request, goal, unlimited)
    curves = _curves_through(joint, request, chosen)
    if request.keep_individual_odds and None in curves:
        if isinstance(request.budget, GivenPoint):
            raise UnreachableError(_why_not_inside(joint, curves))
        chosen = _chosen_inside(joint, request, goal, gain)
        curves = _curves_through(joint, request, chosen)
    found = [curve for curve in curves if curve is not None]
    if len(found) < len(curves):
        raise UnreachableError(_why_not(joint, request, chosen, curves.index(None)))
    own = tuple(curve.on(scale) for curve in found)
    if isinstance(request.budget, (SlopeBudget, GivenPoint)):
        slope = request.budget.slope
    else:  # what was found, with what rounding added
        slope = max(chosen.slope, *(curve.lipschitz for curve in own))
    return _Solved(request, joint, goal, slope, chosen.points, own, gain)


def _chosen(joint: JointDistribution, request: Request, goal: Objective, unlimited: Chosen) -> Chosen:
    """A point for each group, as the budget asks for."""
    family, budget, constraint = request.family, request.budget, request.constraint
    if isinstance(budget, GivenPoint):
        point = chosen_target(joint, budget.target)
        for member in joint.members:
            check_reach(member.key, member.roc, point)
        points = [point] * len(joint.members)
        reaches = None
        if family.has_path:
            reaches = refined(reaches_of(joint.members, joint.stack, family, budget.slope), joint.stack, points)
        return Chosen(budget.slope, points, reaches)
    if isinstance(budget, SlopeBudget):
        return best_under(joint, family, budget.slope, goal, constraint)
    if isinstance(budget, LossBudget):
        return least_slope(joint, family, goal, constraint, goal.gain(unlimited.points), budget.loss) or unlimited
    return unlimited


def _chosen_inside(joint: JointDistribution, request: Request, goal: Objective, unlimited: float) -> Chosen:
    """The same where thresholds are bound to the score range, and the best points of all do not allow that."""
    family, budget, constraint = request.family, request.budget, request.constraint
    inside = joint.score_range
    slope = budget.slope if isinstance(budget, SlopeBudget) else np.inf
    try:
        best = best_under(joint, family, slope, goal, constraint, inside=inside)
    except SolverError:
        raise UnreachableError(_nothing_in_common(joint, request, slope)) from None
    if not isinstance(budget, LossBudget):
        return best
    if goal.gain(best.points) < unlimited - budget.loss:
        lost = unlimited - goal.gain(best.points)
        msg = (
            f"keep_individual_odds=True costs {lost:.3g} of {goal.name} at least, more than max_loss={budget.loss:g}. "
            f"Hint: max_loss={lost * 1.02:.3g}, or give up keep_individual_odds."
        )
        raise UnreachableError(msg)
    return least_slope(joint, family, goal, constraint, unlimited, budget.loss, inside=inside) or best


def _curves_through(joint: JointDistribution, request: Request, chosen: Chosen) -> list[Curve | None]:
    """A curve for each group through its point, within the slope budget and the score range; None where there is none.

    A single curve of the family is taken where one does, and the gentlest mix of two where none does.
    """
    family, slope = request.family, chosen.slope
    if not family.has_path and family.is_continuous:
        floors = joint.pooled.slope_bounds(chosen.points, [slope] * len(joint.members))
        every = zip(joint.members, chosen.points, floors, strict=True)
        return [_optimal(group, point, slope, floor) for group, point, floor in every]
    hard = np.isinf(slope) and not request.keep_individual_odds
    search = CurveSearch(joint, family, chosen.points, hard=hard)
    inside = joint.score_range if request.keep_individual_odds else None
    paths = chosen_curves(search, request.criterion, steepest=slope, inside=inside)
    curves: list[Curve | None] = []
    for i, (member, path) in enumerate(zip(joint.members, paths, strict=True)):
        if path is not None:
            curves.append(path.curve(0))
            continue
        reach = (chosen.reaches[i] if chosen.reaches is not None else None) or reach_of(member, family, slope)
        if inside is not None and reach.rising:
            reach = reaches_inside([member], Stack([member.by_label]), family, slope, inside)[0]
        point = chosen.points[i]
        floor = float(search.slope_floor[i])
        curves.append(gentlest_mix(point, reach, slope, floor=floor, inside=inside))
    return curves


def _optimal(group: Group, point: Point, slope: float, floor: float) -> Curve | None:
    """The gentlest of all rising curves through a point; None where it would be steeper than allowed."""
    if abs(point.tpr - point.fpr) <= ON_CURVE:
        return Curve("optimal", -np.inf, np.inf, (point.fpr + point.tpr) / 2)
    odds, _ = gentlest_of_all(group, point, at_least=floor, at_most=slope)
    curve = Curve.through(group.scores, odds)
    reached = rates_of(curve, group)
    return curve if max(abs(reached.fpr - point.fpr), abs(reached.tpr - point.tpr)) <= _MATERIAL else None


def _why_not(joint: JointDistribution, request: Request, chosen: Chosen, which: int) -> str:
    """What to say of a group that does not reach its point within the slope budget."""
    member, point = joint.members[which], chosen.points[which]
    least = joint.pooled.searched_bound(which, point, np.inf)
    return (
        f"Group {member.key!r} was not found to reach the point (fpr={point.fpr:.6g}, tpr={point.tpr:.6g}) with "
        f"{request.family.with_article}, or a mix of two, of slope at most max_slope={chosen.slope:.6g}; no rising "
        f"curve does with less than {least:.6g}. Hint: raise max_slope, or let the target be chosen."
    )


def _why_not_inside(joint: JointDistribution, curves: Sequence[Curve | None]) -> str:
    group = joint.groups[list(curves).index(None)]
    return (
        f"Group {group!r} cannot meet the target with thresholds inside the score range. "
        "Hint: let the target be chosen, or give up keep_individual_odds."
    )


def _nothing_in_common(joint: JointDistribution, request: Request, slope: float) -> str:
    """Which group stands in the way of a common point with thresholds inside the score range."""
    inside = joint.score_range
    guilty = []
    for left_out in joint.members if len(joint.members) > 1 else ():
        others = replace(joint, members=tuple(m for m in joint.members if m is not left_out))
        goal = objective_of("balanced_accuracy_score", others)
        try:
            best_under(others, request.family, slope, goal, request.constraint, inside=inside)
        except SolverError:
            continue
        guilty.append(repr(left_out.key))
    who = (
        f"Group {' or '.join(guilty)} stands"
        if guilty
        else f"More than one of {', '.join(map(repr, joint.groups))} stand"
    )
    budget = f" of slope at most {slope:.6g}" if isinstance(request.budget, SlopeBudget) else ""
    return (
        f"No point was found that all groups reach by curves{budget} with thresholds inside the score range: {who} in "
        "the way. Hint: allow a larger slope or a tolerance, or give up keep_individual_odds."
    )


def _certified(joint: JointDistribution, solved: _Solved) -> Certificate:
    """Recompute everything from the final curves, and bound it."""
    request, goal, slope = solved.request, solved.goal, solved.slope
    points, curves = solved.points, solved.curves
    reached = tuple(rates_of(c, member) for c, member in zip(curves, joint.members, strict=True))
    slopes = tuple(c.lipschitz for c in curves)
    bounds = Bounds(solved.people, goal, request.constraint, slope, points, reached, slopes, solved.unlimited)
    gain_bound, slope_bounds = bounds.pooled()
    certificate = Certificate(
        constraints=request.constraint.name,
        tolerance=request.constraint.tolerance,
        objective_name=goal.name,
        max_slope=slope,
        target=points[0] if request.constraint.one_point else None,
        groups=joint.groups,
        asked=tuple(points),
        reached=reached,
        slopes=slopes,
        slope_bounds=tuple(slope_bounds),
        objective=goal.reported(bounds.gain),
        objective_bound=goal.reported(gain_bound),
        unlimited=goal.reported(solved.unlimited),
        smaller_is_better=goal.smaller_is_better,
        bound_by=POOLED,
        resolution=joint.resolution,
        people=tuple(map(joint.figures_of, joint.members)),
        criterion=request.criterion,
        max_loss=request.budget.loss if isinstance(request.budget, LossBudget) else None,
        costs=request.objective.scaled if isinstance(request.objective, Cost) else None,
        keep_individual_odds=request.keep_individual_odds,
        target_given=isinstance(request.budget, GivenPoint),
        mixes=tuple(group for group, curve in zip(joint.groups, curves, strict=True) if curve.parts),
    )
    if not bounds.can_be_tightened(gain_bound, slope_bounds):
        return certificate

    def tighter() -> dict[str, Any]:
        best, bound_by = bounds.tightest_gain(gain_bound)
        slopes = tuple(bounds.tightest_slopes(slope_bounds))
        return {"objective_bound": goal.reported(best), "bound_by": bound_by, "slope_bounds": slopes}

    return certificate.tightened_by(tighter)


def _check_promises(request: Request, certificate: Certificate) -> None:
    """Refuse curves that rounding has spoilt, and warn where it is felt: scores that vary little for their size."""
    why = "the scores vary too little compared with their size for thresholds to be exact"
    hint = "Hint: subtract a constant from the scores."
    broken = []
    if max(certificate.slopes) > certificate.max_slope * (1 + _BROKEN):
        broken.append(f"a slope of {max(certificate.slopes):.6g} exceeds max_slope={certificate.max_slope:.6g}")
    if isinstance(request.budget, LossBudget) and certificate.loss > request.budget.loss + _BROKEN:
        broken.append(f"{certificate.loss:.6g} of the objective is lost, more than max_loss={request.budget.loss:g}")
    if certificate.difference > request.constraint.tolerance + _BROKEN:
        broken.append(
            f"rates differ by {certificate.difference:.6g} between groups, more than "
            f"tolerance={request.constraint.tolerance:g}"
        )
    if broken:
        msg = f"Not kept: {'; '.join(broken)}. The reason: {why}. {hint}"
        raise UnreachableError(msg)
    if certificate.residual > _MATERIAL:
        text = f"The rates miss their points by up to {certificate.residual:.1e}: {why}. {hint}"
        warnings.warn(text, EvenoddsWarning, stacklevel=3)


def _warn_of_weak_groups(joint: JointDistribution) -> None:
    for member in joint.members:
        for text in weaknesses(member):
            warnings.warn(text, EvenoddsWarning, stacklevel=3)


def weaknesses(member: Group) -> list[str]:
    """What makes a group's rates doubtful: too few people, or a score that ranks them backwards."""
    found = []
    negatives, positives = (side.n_effective for side in member.by_label)
    if min(negatives, positives) < SMALL_GROUP:
        found.append(
            f"Group {member.key!r} is very small: {negatives:g} negatives and {positives:g} positives. "
            "Its rates on other people may differ a lot from those it was fitted on."
        )
    if member.roc.is_backwards:
        found.append(
            f"The score ranks group {member.key!r} backwards: its AUC is {member.roc.auc:.4f}, below 1/2. "
            "Little but the diagonal is in its reach, and in that of every policy that treats all groups alike. "
            "Hint: check orientation=, or the score itself."
        )
    return found
