"""The linear programs over mixes of thresholds.

Rising odds are a mix of thresholds: with d_i the step of the odds at the i-th score, (FPR, TPR) is the sum of
d_i V_i over the vertices V_i of the ROC, the steps sum to at most 1, and a slope budget L caps each step at L times
the gap to the score below. Whatever any rising curve of slope L can do is in here, so these programs are the reference
that every other answer is measured by.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.geometry.program import LinearProgram, SolverError
from evenodds.model.goals import Constraint, Objective
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.roc import Point

__all__ = ["Steps", "best_mixed", "gentlest_steps", "steps_of"]


_ENOUGH_SUPPORTS = 60
_PRECISE = 1e-9  # how far a rate in a program may be off
_FAIR, _UNFAIR = 10.0, 1e4  # a slope between these, in its units, needs no better ones


@dataclass(frozen=True, eq=False)
class Steps:
    """What one group can mix: points of the ROC plane, and how much of each at most."""

    fpr: Floats
    tpr: Floats
    cap: Floats
    whole: bool = False
    """Whether the parts must add up to 1; else the rest is (0, 0), a no for everybody."""


def steps_of(group: Group, slope: float) -> Steps:
    """The thresholds at a group's scores, lowest score first, each capped by the slope budget."""
    roc = group.roc
    gaps = np.diff(group.scores)
    with np.errstate(over="ignore"):
        cap = np.append(1.0, np.minimum(slope * gaps, 1.0) if np.isfinite(slope) else np.ones(gaps.size))
    return Steps(roc.fpr[:0:-1], roc.tpr[:0:-1], cap)


def best_mixed(
    joint: JointDistribution, steps: Sequence[Steps], objective: Objective, constraint: Constraint
) -> list[Point]:
    """The points with the greatest gain that the groups can mix under a constraint.

    If the objective is the distance from (0, 1), that is the foot of (0, 1) on a convex set, found from its farthest
    points in the directions that matter.
    """
    if not objective.is_distance:
        return _farthest(joint, steps, objective, constraint)

    def farthest(direction: Floats) -> Floats:
        by_rate = np.zeros((len(steps), 2))
        by_rate[0] = direction  # all groups share the point, so that of the first will do
        point = _farthest(joint, steps, replace(objective, by_rate=by_rate, is_distance=False), constraint)[0]
        return np.array([point.fpr, point.tpr])

    corners = [farthest(np.array([-1.0, 1.0]))]
    foot = corners[0]
    for _ in range(_ENOUGH_SUPPORTS):
        direction = np.array([0.0, 1.0]) - foot
        corner = farthest(direction)
        if direction @ (corner - foot) <= 1e-11:  # noqa: PLR2004 no corner is nearer
            break
        corners.append(corner)
        foot = _foot(corners)
    return [Point(float(foot[0]), float(foot[1]))] * len(steps)


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
    joint: JointDistribution, steps: Sequence[Steps], objective: Objective, constraint: Constraint
) -> list[Point]:
    sizes = [s.cap.size for s in steps]
    start = np.concatenate([[0], np.cumsum(sizes)])
    count = int(start[-1])
    columns = [np.arange(a, b) for a, b in pairwise(start)]
    weights = np.concatenate(
        [by[0] * s.fpr + by[1] * s.tpr for by, s in zip(objective.by_rate, steps, strict=True)]
        + [np.zeros(len(constraint.rates))]
    )
    caps = np.concatenate([s.cap for s in steps] + [np.ones(len(constraint.rates))])
    program = LinearProgram(weights, np.zeros(weights.size), caps)
    for own, s in zip(columns, steps, strict=True):
        if s.whole:
            program.equal([own], [np.ones(own.size)], [1.0])
        else:
            program.at_most([own], [np.ones(own.size)], [1.0])
    for k, rate in enumerate(constraint.rates):
        for own, s, by in zip(columns, steps, constraint.coefficients(joint, rate), strict=True):
            row = np.append(own, count + k)  # the last column is the greatest value of this rate over the groups
            values = by[0] * s.fpr + by[1] * s.tpr
            if constraint.tolerance == 0:
                program.equal([row], [np.append(values, -1.0)], [0.0])
            else:
                program.at_most([row], [np.append(values, -1.0)], [0.0])
                program.at_most([row], [np.append(-values, 1.0)], [constraint.tolerance])
    answer = program.solve()
    mixed = [answer.x[own] for own in columns]
    rates = [np.clip([m @ s.fpr, m @ s.tpr], 0.0, 1.0).tolist() for m, s in zip(mixed, steps, strict=True)]
    return [Point(fpr, tpr) for fpr, tpr in rates]


def gentlest_steps(
    group: Group, point: Point, *, at_least: float = 0.0, about: float | None = None
) -> tuple[Floats, float]:
    """Odds at the group's scores that meet a point with the least slope of all rising odds, and that slope.

    The slope is what is proven: less what the program's own precision may have added. `at_least` is a slope that is
    known to be no more than the least: gaps over which it leads from 0 to 1 bind nothing, and need no rows. `about` is
    a guess, in whose units the program is written.
    """
    steps = steps_of(group, np.inf)
    n = steps.cap.size
    own = np.arange(n)
    gaps = np.diff(group.scores)
    guess = about or (4 / (gaps.size * float(np.median(gaps))) if gaps.size else 1.0)
    program = LinearProgram(np.append(np.zeros(n), -1.0), np.zeros(n + 1), np.append(steps.cap, np.inf))
    binding = np.flatnonzero(gaps * at_least < 1)
    if binding.size:
        rows = np.column_stack([own[1:][binding], np.full(binding.size, n)])
        values = np.column_stack([np.ones(binding.size), -gaps[binding] * guess])
        program.at_most(rows, values, np.zeros(binding.size))
    program.at_most([own], [np.ones(n)], [1.0])
    program.equal([own, own], [steps.fpr, steps.tpr], [point.fpr, point.tpr])
    try:
        answer = program.solve()
    except SolverError:
        if about or not gaps.size:
            raise
        return gentlest_steps(group, point, at_least=at_least, about=1 / float(gaps.min()))  # as fine as scores are
    slope = -answer.value * guess
    if not (about or _FAIR / _UNFAIR <= -answer.value <= _FAIR or slope <= 0):
        with suppress(SolverError):  # rounding has other ways there
            return gentlest_steps(group, point, at_least=at_least, about=slope)  # in units that suit it better
    step = _exact(np.clip(answer.x[:n], 0, None), steps, point)
    odds = np.clip(np.cumsum(step), 0.0, 1.0)
    return odds, max(slope - _PRECISE * guess * float(np.abs(answer.prices).sum()), at_least)


def _exact(step: Floats, steps: Steps, point: Point) -> Floats:
    """Remove the solver's residual by the two steps that have the most room."""
    miss = np.array([point.fpr - step @ steps.fpr, point.tpr - step @ steps.tpr])
    roomy = np.argsort(step)[-8:]
    best, chosen = 0.0, None
    for i in roomy:
        for j in roomy[roomy > i]:
            matrix = np.array([[steps.fpr[i], steps.fpr[j]], [steps.tpr[i], steps.tpr[j]]])
            area = abs(float(np.linalg.det(matrix)))
            if area > best:
                best, chosen = area, (int(i), int(j), matrix)
    if chosen is None or best < 1e-9:  # noqa: PLR2004 parallel steps cannot be told apart
        return step
    i, j, matrix = chosen
    change = np.linalg.solve(matrix, miss)
    repaired = step.copy()
    repaired[[i, j]] += change
    return repaired if repaired.min() >= 0 and repaired.sum() <= 1 + 1e-12 else step
