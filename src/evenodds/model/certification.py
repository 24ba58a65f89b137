"""The certificate of final curves: everything is recomputed from them, and bounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenodds.model.bounds import POOLED, Bounds
from evenodds.model.certificate import Certificate, Scored
from evenodds.model.comparisons import SEARCH, Before, Change
from evenodds.model.goals import Cost
from evenodds.model.joint import JointDistribution
from evenodds.model.one_threshold import best_for_everybody, one_threshold_within
from evenodds.model.population import spreads_of
from evenodds.model.rates import randomized_share, rates_of
from evenodds.model.request import GivenPoint, LossBudget, Request
from evenodds.model.review import Reviews
from evenodds.model.reviewed import SOME_SCORES, Reviewed, Reviewing
from evenodds.model.roc import Point
from evenodds.model.solve import Solved

__all__ = ["certified", "certified_with_reviews"]


def certified(
    joint: JointDistribution,
    solved: Solved,
    asked: Request,
    scored: Scored | None,
    change: Change | None,
    before: Before | None,
) -> Certificate:
    """The certificate of a curve for each group; what was asked may be less strict than what they were found for."""
    request, goal, curves, assurance = solved.request, solved.goal, solved.curves, asked.assurance
    reached = tuple(rates_of(curve, member) for curve, member in zip(curves, joint.members, strict=True))
    slopes = tuple(curve.lipschitz for curve in curves)
    bounds = Bounds(
        solved.people, goal, request.constraint, solved.slope, solved.points, reached, slopes, solved.unlimited
    )
    gain_bound, slope_bounds = bounds.pooled()
    bound_by = POOLED
    if solved.proven is not None:
        gain_bound, bound_by = max(solved.proven, bounds.gain), SEARCH
    certificate = Certificate(
        **_common_fields(joint, solved, reached, scored),
        tolerance=asked.constraint.tolerance,
        slopes=slopes,
        slope_bounds=tuple(slope_bounds),
        objective_bound=goal.reported(gain_bound),
        bound_by=bound_by,
        curve=request.family.name,
        max_randomized=request.randomized.max_randomized if request.randomized else None,
        max_randomized_by_group=request.randomized.max_randomized_by_group if request.randomized else None,
        selection_rate=request.constraint.selection_rate,
        max_loss=request.budget.loss if isinstance(request.budget, LossBudget) else None,
        keep_individual_odds=request.keep_individual_odds,
        target_given=isinstance(request.budget, GivenPoint),
        mixes=tuple(group for group, curve in zip(joint.groups, curves, strict=True) if curve.parts),
        randomized=(),
        spreads=(),
        one_threshold=None,
        before=None,
        confidence=assurance.confidence if assurance else None,
        guarantee=assurance.guarantee if assurance else None,
        sample_tolerance=request.constraint.tolerance if assurance else None,
        change=change,
    )

    def later() -> dict[str, Any]:
        """What few look at, all of it at once, so that the people can be let go of."""
        return {
            "randomized": tuple(map(randomized_share, joint.members, curves)),
            "spreads": spreads_of(joint, curves, request.constraint.rates),
            "one_threshold": one_threshold_within(joint, asked, goal),
            "before": before or best_for_everybody(joint, goal, request.constraint.selection_rate),
            **_tightest(solved, bounds, gain_bound, bound_by, slope_bounds),
        }

    return certificate.with_program(later)


def certified_with_reviews(joint: JointDistribution, reviews: Reviews, scored: Scored | None) -> Certificate:
    """The certificate of two curves for each group, between which people are reviewed."""
    request, goal, review = reviews.request, reviews.goal, reviews.review
    pairs = list(zip(reviews.curves, reviews.upper, strict=True))
    treatments = [Reviewing(curve, upper, review) for curve, upper in pairs]
    rates = [treatment.rates(member) for treatment, member in zip(treatments, joint.members, strict=True)]
    common = _common_fields(joint, reviews, tuple(point for point, _ in rates), scored)
    counts = tuple(figures[:2] for figures in common["people"])
    return Certificate(
        **common,
        tolerance=request.constraint.tolerance,
        slopes=tuple(treatment.lipschitz for treatment in treatments),
        slope_bounds=(0.0,) * len(pairs),
        objective_bound=goal.reported(max(reviews.bound, goal.gain(tuple(point for point, _ in rates)))),
        bound_by="linear program" if reviews.has_every_score else SOME_SCORES,
        spreads=spreads_of(joint, treatments, request.constraint.rates),
        one_threshold=one_threshold_within(joint, request, goal),
        before=best_for_everybody(joint, goal),
        randomized=tuple(randomized_share(member, *pair) for member, pair in zip(joint.members, pairs, strict=True)),
        reviewed=Reviewed(review, joint.groups, tuple(share for _, share in rates), counts),
    )


def _common_fields(
    joint: JointDistribution, solved: Solved | Reviews, reached: tuple[Point, ...], scored: Scored | None
) -> dict[str, Any]:
    """What the certificates of policies with and without reviews say alike."""
    request, goal, points = solved.request, solved.goal, solved.points
    return {
        "constraints": request.constraint.name,
        "objective_name": goal.name,
        "max_slope": solved.slope,
        "target": points[0] if request.constraint.one_point else None,
        "groups": joint.groups,
        "asked": tuple(points),
        "reached": reached,
        "objective": goal.reported(goal.gain(reached)),
        "unlimited": goal.reported(solved.unlimited),
        "smaller_is_better": goal.smaller_is_better,
        "resolution": joint.resolution,
        "people": tuple(map(joint.figures_of, joint.members)),
        "criterion": request.criterion,
        "costs": request.objective.scaled if isinstance(request.objective, Cost) else None,
        "weighted": not joint.is_counted,
        "scored": scored,
    }


def _tightest(
    solved: Solved, bounds: Bounds, gain_bound: float, bound_by: str, slope_bounds: Sequence[float]
) -> dict[str, Any]:
    """The fields of a certificate that are bounds, as tight as they get."""
    # Thresholds have no slopes that could be bounded.
    if not solved.request.family.is_hard and bounds.can_be_tightened(gain_bound, slope_bounds):
        if solved.proven is None:
            gain_bound, bound_by = bounds.tightest_gain(gain_bound)
        slope_bounds = bounds.tightest_slopes(slope_bounds)
    return {
        "objective_bound": solved.goal.reported(gain_bound),
        "bound_by": bound_by,
        "slope_bounds": tuple(slope_bounds),
    }
