"""The gentlest curve that leaves nobody to chance but those in a band of scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.hull import concave_hull
from evenodds.geometry.pieces import Floats
from evenodds.geometry.program import LinearProgram, SolverError
from evenodds.model.curves import Curve
from evenodds.model.groups import Group
from evenodds.model.lottery import Band
from evenodds.model.nodes import shares_at
from evenodds.model.roc import Point

__all__ = ["gentlest_in", "gentlest_pair_in"]

_MOST = 400  # scores of a band at which odds are looked for, evenly by rank


def gentlest_in(group: Group, point: Point, least: Band, room: Band) -> Curve:
    """The gentlest curve of straight lines that meets a point, 0 below and 1 above the scores of a band.

    `least` are the scores that it takes, `room` those that it may take. Where these are many the curve bends at some of
    them only.
    """
    certain = _steps(group, point, least)
    if least.share == 0:
        return Curve.through(group.scores, certain)
    curves = _gentlest_in(group, [point], room, np.flatnonzero(np.diff(certain)))
    # No more than rounding can stand in the way of what is known to be there.
    return curves[0] if curves is not None else Curve.through(group.scores, certain)


def gentlest_pair_in(group: Group, points: tuple[Point, Point], room: Band) -> tuple[Curve, Curve] | None:
    """The same for two curves of which the first is never above the second; None where there are none."""
    curves = _gentlest_in(group, points, room, np.zeros(0, np.intp))
    return (curves[0], curves[1]) if curves is not None else None


def _gentlest_in(group: Group, points: Sequence[Point], room: Band, bends: NDArray[np.intp]) -> list[Curve] | None:
    scores = group.scores
    low, high = scores.size - room.last, scores.size - room.first  # ascending: chance decides from low to high - 1
    below, above = max(low - 1, 0), min(high, scores.size - 1)
    places = np.arange(below, above + 1)
    if places.size > _MOST:
        some = np.linspace(below, above, _MOST).astype(np.intp)
        places = np.unique(np.concatenate([some, bends, bends + 1]))
        places = places[(places >= below) & (places <= above)]
    at, inside = scores[places], slice(below, above + 1)
    by_label = [weights[inside] for weights in group.class_conditional]
    shares = np.stack([shares_at(scores[inside], own, at) * own.sum() if own.any() else 0 * at for own in by_label])
    yes = group.class_conditional[:, above + 1 :].sum(axis=1)
    rates = [np.array([point.fpr, point.tpr]) - yes for point in points]
    try:
        odds = _gentlest(at, shares, rates, fixed=(low > 0, high < scores.size))
    except SolverError:
        return None
    return [Curve.through(at, own) for own in odds]


def _steps(group: Group, point: Point, band: Band) -> Floats:
    """Odds at a group's scores that meet a point with the vertices of a band: few steps, and level between them.

    Straight above the point the hull has an edge, and straight below it, so that it is a mix of four vertices at most.
    """
    roc = group.roc
    vertices = np.arange(band.first, band.last + 1)
    fpr, tpr = roc.fpr[vertices], roc.tpr[vertices]
    u, v = fpr + tpr, tpr - fpr
    here, height = point.fpr + point.tpr, point.tpr - point.fpr
    mixed: list[tuple[float, int]] = []
    levels = []
    for border in (concave_hull(fpr, tpr), concave_hull(tpr, fpr)):
        right = int(np.clip(np.searchsorted(u[border], here), min(1, border.size - 1), border.size - 1))
        left = max(right - 1, 0)
        run = u[border[right]] - u[border[left]]
        share = float(np.clip((here - u[border[left]]) / run, 0.0, 1.0)) if run > 0 else 0.0
        levels.append((1 - share) * v[border[left]] + share * v[border[right]])
        mixed += [(1 - share, int(vertices[border[left]])), (share, int(vertices[border[right]]))]
    part = (height - levels[1]) / (levels[0] - levels[1]) if levels[0] > levels[1] else 1.0
    part = float(np.clip(part, 0.0, 1.0))
    steps = np.zeros(group.scores.size + 1)
    for (share, vertex), times in zip(mixed, (part, part, 1 - part, 1 - part), strict=True):
        steps[group.scores.size - vertex] += share * times
    odds = np.clip(np.cumsum(steps)[:-1], 0.0, 1.0)
    odds[group.scores.size - band.first :] = 1.0
    return odds


def _gentlest(at: Floats, shares: Floats, rates: Sequence[Floats], *, fixed: tuple[bool, bool]) -> list[Floats]:
    """Odds at some scores with the least slope, that sum to the rates; 0 and 1 at the ends that are fixed.

    Of several curves each is nowhere above the next.
    """
    count, curves = at.size, len(rates)
    gaps = np.diff(at) / (float(at[-1] - at[0]) or 1.0)
    slope = curves * count  # the last column
    low, high = np.zeros(slope + 1), np.ones(slope + 1)
    high[slope] = 1 / float(gaps.min()) if gaps.size else 1.0
    program = LinearProgram(np.append(np.zeros(slope), -1.0), low, high)
    columns = np.arange(slope).reshape(curves, count)
    for own, sums in zip(columns, rates, strict=True):
        if fixed[0]:
            high[own[0]] = 0.0
        if fixed[1]:
            low[own[-1]] = 1.0
        program.rising(own)
        rises = np.column_stack([np.full(count - 1, -1.0), np.ones(count - 1), -gaps])
        program.at_most(np.column_stack([own[:-1], own[1:], np.full(count - 1, slope)]), rises, np.zeros(count - 1))
        program.equal(np.tile(own, (2, 1)), shares, sums)
    for lower, upper in pairwise(columns):
        program.at_most(np.column_stack([lower, upper]), np.tile([1.0, -1.0], (count, 1)), np.zeros(count))
    odds = program.solve().x[:slope].reshape(curves, count)
    return [np.maximum.accumulate(np.clip(own, 0.0, 1.0)) + 0.0 for own in odds]  # no -0
