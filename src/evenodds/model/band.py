"""The gentlest curve that leaves nobody to chance but those in a band of scores."""

from __future__ import annotations

import numpy as np

from evenodds.geometry.hull import concave_hull
from evenodds.geometry.pieces import Floats
from evenodds.geometry.program import LinearProgram, SolverError
from evenodds.model.curves import Curve
from evenodds.model.groups import Group
from evenodds.model.lottery import Band
from evenodds.model.nodes import shares_at
from evenodds.model.roc import Point

__all__ = ["gentlest_in"]

_MOST = 400  # scores of a band at which odds are looked for, evenly by rank


def gentlest_in(group: Group, point: Point, least: Band, room: Band) -> Curve:
    """The gentlest curve of straight lines that meets a point, 0 below and 1 above the scores of a band.

    `least` are the scores that it takes, `room` those that it may take. Where these are many the curve bends at some of
    them only.
    """
    scores = group.scores
    certain = _steps(group, point, least)
    if least.share == 0:
        return Curve.through(scores, certain)
    low, high = scores.size - room.last, scores.size - room.first  # ascending: chance decides from low to high - 1
    below, above = max(low - 1, 0), min(high, scores.size - 1)
    places = np.arange(below, above + 1)
    if places.size > _MOST:
        bends = np.flatnonzero(np.diff(certain))
        some = np.linspace(below, above, _MOST).astype(np.intp)
        places = np.unique(np.concatenate([some, bends, bends + 1]))
        places = places[(places >= below) & (places <= above)]
    at, inside = scores[places], slice(below, above + 1)
    held = [weights[inside] for weights in group.class_conditional]
    shares = np.stack([shares_at(scores[inside], own, at) * own.sum() if own.any() else 0 * at for own in held])
    yes = group.class_conditional[:, above + 1 :].sum(axis=1)
    try:
        odds = _gentlest(at, shares, np.array([point.fpr, point.tpr]) - yes, fixed=(low > 0, high < scores.size))
    except SolverError:  # no more than rounding stands in the way of what is known to be there
        return Curve.through(scores, certain)
    return Curve.through(at, odds)


def _steps(group: Group, point: Point, band: Band) -> Floats:
    """Odds at a group's scores that meet a point with the vertices of a band: few steps, and level between them.

    Straight above the point the hull has an edge, and straight below it, so that it is a mix of four vertices at most.
    """
    roc = group.roc
    vertices = np.arange(band.first, band.last + 1)
    fpr, tpr = roc.fpr[vertices], roc.tpr[vertices]
    u, v = fpr + tpr, tpr - fpr
    here, height = point.fpr + point.tpr, point.tpr - point.fpr
    found: list[tuple[float, int]] = []
    levels = []
    for border in (concave_hull(fpr, tpr), concave_hull(tpr, fpr)):
        right = int(np.clip(np.searchsorted(u[border], here), min(1, border.size - 1), border.size - 1))
        left = max(right - 1, 0)
        run = u[border[right]] - u[border[left]]
        share = float(np.clip((here - u[border[left]]) / run, 0.0, 1.0)) if run > 0 else 0.0
        levels.append((1 - share) * v[border[left]] + share * v[border[right]])
        found += [(1 - share, int(vertices[border[left]])), (share, int(vertices[border[right]]))]
    part = (height - levels[1]) / (levels[0] - levels[1]) if levels[0] > levels[1] else 1.0
    part = float(np.clip(part, 0.0, 1.0))
    steps = np.zeros(group.scores.size + 1)
    for (share, vertex), times in zip(found, (part, part, 1 - part, 1 - part), strict=True):
        steps[group.scores.size - vertex] += share * times
    odds = np.clip(np.cumsum(steps)[:-1], 0.0, 1.0)
    odds[group.scores.size - band.first :] = 1.0
    return odds


def _gentlest(at: Floats, shares: Floats, rates: Floats, *, fixed: tuple[bool, bool]) -> Floats:
    """Odds at some scores with the least slope, that sum to the rates; 0 and 1 at the ends that are fixed."""
    count = at.size
    span = float(at[-1] - at[0]) or 1.0
    gaps = np.diff(at) / span
    low, high = np.zeros(count + 1), np.ones(count + 1)
    high[-1] = 1 / float(gaps.min()) if gaps.size else 1.0
    if fixed[0]:
        high[0] = 0.0
    if fixed[1]:
        low[count - 1] = 1.0
    program = LinearProgram(np.append(np.zeros(count), -1.0), low, high)
    own = np.arange(count)
    steps = np.column_stack([own[:-1], own[1:]])
    program.at_most(steps, np.tile([1.0, -1.0], (count - 1, 1)), np.zeros(count - 1))
    slopes = np.column_stack([np.full(count - 1, -1.0), np.ones(count - 1), -gaps])
    program.at_most(np.column_stack([steps, np.full(count - 1, count)]), slopes, np.zeros(count - 1))
    program.equal(np.tile(own, (2, 1)), shares, rates)
    return np.maximum.accumulate(np.clip(program.solve().x[:count], 0.0, 1.0)) + 0.0  # no -0
