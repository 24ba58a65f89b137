"""The linear program of the best points in several convex polygons, one for each group, that satisfy a constraint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from evenodds.geometry.envelope import Polyline
from evenodds.geometry.pieces import Floats
from evenodds.geometry.program import LinearProgram, columns_of
from evenodds.model.goals import Constraint, Objective, coefficients
from evenodds.model.joint import JointDistribution
from evenodds.model.roc import Point

__all__ = ["best_mixed", "nearest_to_perfect"]

_ENOUGH_SUPPORTS = 60


def best_mixed(
    joint: JointDistribution, corners: Sequence[Polyline], objective: Objective, constraint: Constraint
) -> list[Point]:
    """The points with the greatest gain that mixes of each group's corners (FPR, TPR) reach under a constraint.

    If the objective is the distance from (0, 1), that is the foot of (0, 1) on a convex set, found from its farthest
    points in the directions that matter.
    """
    if not objective.is_distance:
        return _farthest(joint, corners, objective, constraint)

    def farthest(direction: Floats) -> Floats:
        by_rate = np.zeros((len(corners), 2))
        by_rate[0] = direction  # all groups share the point, so that of the first will do
        point = _farthest(joint, corners, replace(objective, by_rate=by_rate, is_distance=False), constraint)[0]
        return np.array([point.fpr, point.tpr])

    foot = nearest_to_perfect(farthest)
    return [Point(float(foot[0]), float(foot[1]))] * len(corners)


def nearest_to_perfect(farthest: Callable[[Floats], Floats]) -> Floats:
    """The point nearest to (0, 1) of a convex set that is known by its farthest points in any direction."""
    known = [farthest(np.array([-1.0, 1.0]))]
    foot = known[0]
    for _ in range(_ENOUGH_SUPPORTS):
        direction = np.array([0.0, 1.0]) - foot
        corner = farthest(direction)
        if direction @ (corner - foot) <= 1e-11:  # noqa: PLR2004 no corner is nearer
            break
        known.append(corner)
        foot = _foot(known)
    return foot


def _foot(corners: Sequence[Floats]) -> Floats:
    """The point nearest to (0, 1) on the segments between corners."""
    best = corners[0]
    perfect = np.array([0.0, 1.0])
    for i, a in enumerate(corners):
        for b in corners[:i]:
            along = b - a
            length = along @ along
            share = np.clip((perfect - a) @ along / length, 0, 1) if length > 0 else 0.0
            foot = a + share * along
            if np.linalg.norm(perfect - foot) < np.linalg.norm(perfect - best):
                best = foot
    return best


def _farthest(
    joint: JointDistribution, corners: Sequence[Polyline], objective: Objective, constraint: Constraint
) -> list[Point]:
    """The points with the greatest linear gain: a column for the share of each corner, and one for each rate."""
    columns = columns_of(fpr.size for fpr, _ in corners)
    count = sum(own.size for own in columns)
    weights = [by[0] * fpr + by[1] * tpr for by, (fpr, tpr) in zip(objective.by_rate, corners, strict=True)]
    rates = len(constraint.rates)
    size = count + rates
    program = LinearProgram(np.concatenate([*weights, np.zeros(rates)]), np.zeros(size), np.ones(size))
    for own in columns:
        program.equal([own], [np.ones(own.size)], [1.0])
    for k, rate in enumerate(constraint.rates):
        for own, (fpr, tpr), by in zip(columns, corners, coefficients(joint, rate), strict=True):
            # The last columns are the greatest value of each rate over the groups.
            program.level(own, by[0] * fpr + by[1] * tpr, count + k, constraint.tolerance)
    if constraint.selection_rate is not None:
        yeses = [by[0] * fpr + by[1] * tpr for by, (fpr, tpr) in zip(objective.shares, corners, strict=True)]
        program.equal([np.arange(count)], [np.concatenate(yeses)], [constraint.selection_rate])
    answer = program.solve()
    mixed = [answer.x[own] for own in columns]
    rated = [np.clip([m @ fpr, m @ tpr], 0.0, 1.0).tolist() for m, (fpr, tpr) in zip(mixed, corners, strict=True)]
    return [Point(fpr, tpr) for fpr, tpr in rated]
