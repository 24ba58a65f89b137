"""From a request to curves: the budget's points, and a curve through each group's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenodds.errors import UnreachableError
from evenodds.geometry.program import SolverError
from evenodds.geometry.stack import Stack
from evenodds.model.band import gentlest_in
from evenodds.model.budget import Chosen, best_under, least_slope
from evenodds.model.criteria import chosen_curves
from evenodds.model.curves import Curve
from evenodds.model.goals import Objective, objective_of
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.lottery import RandomizedBudget, best_with_few, least_randomized
from evenodds.model.mix import gentlest_mix
from evenodds.model.rates import rates_of
from evenodds.model.reach import ON_CURVE, reach_of, reaches_inside, reaches_of, refined
from evenodds.model.request import GivenPoint, LossBudget, Request, SlopeBudget
from evenodds.model.roc import Point
from evenodds.model.scale import Scale
from evenodds.model.search import CurveSearch
from evenodds.model.supports import gentlest_of_all
from evenodds.model.target import check_reach, chosen_target
from evenodds.model.thresholds import best_thresholds
from evenodds.values import rounded_up

__all__ = ["MATERIAL", "Solved", "solved_within"]

MATERIAL = 1e-8
"""A residual that rounding alone does not explain."""


@dataclass(frozen=True, eq=False)
class Solved:
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
    proven: float | None = None
    """What a search of its own has proven that nobody gains more than; None where bounds are proven by others."""


def solved_within(joint: JointDistribution, request: Request) -> Solved:
    """From a request to curves that keep to its tolerance at the fit."""
    people, scale = joint.searched
    goal = objective_of(request.objective, people)
    unlimited = best_under(people, request.family, np.inf, goal, request.constraint)
    if request.family.is_hard:
        return _solved_by_thresholds(people, scale, request, goal, unlimited)
    if request.randomized is not None:
        return _solved_with_few(people, scale, request, goal, unlimited, request.randomized)
    return _solved_by_curves(people, scale, request, goal, unlimited)


def _solved_by_curves(
    joint: JointDistribution, scale: Scale, request: Request, goal: Objective, unlimited: Chosen
) -> Solved:
    """The points that the budget asks for, and the curves of the family through them that the criterion wants."""
    gain = goal.gain(unlimited.points)
    chosen = _chosen(joint, request, goal, unlimited)
    curves = _curves_through(joint, request, chosen)
    if request.keep_individual_odds and None in curves:
        if isinstance(request.budget, GivenPoint):
            raise UnreachableError(_why_not_inside(joint, curves))
        chosen = _chosen_inside(joint, request, goal, gain)
        curves = _curves_through(joint, request, chosen)
    met = [curve for curve in curves if curve is not None]
    if len(met) < len(curves):
        raise UnreachableError(_why_not(joint, request, chosen, curves.index(None)))
    own = tuple(curve.on(scale) for curve in met)
    if isinstance(request.budget, (SlopeBudget, GivenPoint)):
        slope = request.budget.slope
    else:  # what was found, with what rounding added
        slope = max(chosen.slope, *(curve.lipschitz for curve in own))
    return Solved(request, joint, goal, slope, chosen.points, own, gain)


def _solved_by_thresholds(
    joint: JointDistribution, scale: Scale, request: Request, goal: Objective, unlimited: Chosen
) -> Solved:
    """The best thresholds; a constant where nothing else is within the tolerance."""
    hard = best_thresholds(joint, goal, request.constraint)
    if hard.constant:
        curves = [Curve("fixed", -np.inf, np.inf, float(hard.constant == "yes"))] * len(joint.members)
    else:
        every = zip(joint.members, hard.scores, hard.points, strict=True)
        curves = [_hard(member, score, point) for member, score, point in every]
    own = tuple(curve.on(scale) for curve in curves)
    return Solved(request, joint, goal, np.inf, hard.points, own, goal.gain(unlimited.points), hard.bound)


def _hard(member: Group, score: float, point: Point) -> Curve:
    """One threshold; a no for everybody where there is one score only, since no other tells how far above it is."""
    nobody = member.score_count == 1 and point.fpr == point.tpr == 0
    return Curve("fixed", -np.inf, np.inf, 0.0) if nobody else Curve.threshold(score)


def _solved_with_few(
    joint: JointDistribution,
    scale: Scale,
    request: Request,
    goal: Objective,
    unlimited: Chosen,
    budget: RandomizedBudget,
) -> Solved:
    """The best points with few people decided by chance, and the gentlest curves that leave no others to it."""
    lottery = best_with_few(joint, goal, request.constraint, budget)
    if lottery is None:
        raise UnreachableError(_too_many_randomized(joint, goal, request, budget))
    every = zip(joint.members, lottery.points, lottery.bands, lottery.room, strict=True)
    own = tuple(gentlest_in(*one).on(scale) for one in every)
    most = goal.gain(unlimited.points)
    return Solved(request, joint, goal, np.inf, lottery.points, own, most, min(lottery.bound, max(most, lottery.gain)))


def _too_many_randomized(joint: JointDistribution, goal: Objective, request: Request, budget: RandomizedBudget) -> str:
    """What to say where so few people decided by chance are not enough for a share of yeses."""
    given = [(name, share) for name, share in vars(budget).items() if share is not None]
    asked = " and ".join(f"{name}={share:g}" for name, share in given)
    least = least_randomized(joint, goal, request.constraint, budget)
    enough_shares = [f"{name}={rounded_up(share):g}, most of it for group {group!r}" for name, share, group in least]
    enough = f" The least found that would do: {', or '.join(enough_shares)}." if enough_shares else ""
    return (
        f"No policy was found with selection_rate={request.constraint.selection_rate:g} and {asked}.{enough} "
        "Hint: allow more people to be decided by chance, or a tolerance, or give up selection_rate."
    )


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
    named = isinstance(request.budget, GivenPoint) and request.budget.target != "baseline"
    hard = np.isinf(slope) and not request.keep_individual_odds and not named
    search = CurveSearch(joint, family, chosen.points, hard=hard)
    inside = joint.score_range if request.keep_individual_odds else None
    paths = chosen_curves(search, request.criterion, steepest=slope, inside=inside)
    curves: list[Curve | None] = []
    for i, (member, path) in enumerate(zip(joint.members, paths, strict=True)):
        if path is not None:
            curves.append(path.curve(0))
            continue
        reach = (chosen.reaches[i] if chosen.reaches is not None else None) or reach_of(member, family, slope)
        if inside is not None and reach.has_diagonal:
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
    return curve if max(abs(reached.fpr - point.fpr), abs(reached.tpr - point.tpr)) <= MATERIAL else None


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
    if len(joint.groups) == 1:
        who = f"Group {joint.groups[0]!r} alone stands"
    elif guilty:
        who = f"Group {' or '.join(guilty)} stands"
    else:
        who = f"More than one of {', '.join(map(repr, joint.groups))} stand"
    budget = f" of slope at most {slope:.6g}" if isinstance(request.budget, SlopeBudget) else ""
    asked = request.constraint.selection_rate
    places = f" at selection_rate={asked:g}" if asked is not None else ""
    or_that = "" if asked is None else ", another selection_rate"
    return (
        f"No point was found that all groups reach{places} by curves{budget} with thresholds inside the score range: "
        f"{who} in the way. Hint: allow a larger slope or a tolerance{or_that}, or give up keep_individual_odds."
    )
