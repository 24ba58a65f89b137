"""What rising odds of any kind can do under a slope budget: exactly, and without a linear program.

Rising odds are a mix of thresholds: with d_i the step of the odds at the i-th score, (FPR, TPR) is the sum of d_i V_i
over the vertices V_i of the ROC, the steps sum to at most 1, and a slope budget L caps each step at L times the gap to
the score below. In any direction of the ROC plane the farthest such point is a fractional knapsack: steps are taken by
falling value, each as far as its cap allows. The region of all these points is convex; its border is drawn vertex by
vertex where it is looked at, until the farthest point beyond an edge is the edge itself, which proves it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenodds.geometry.envelope import Polyline
from evenodds.geometry.hull import height
from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_root
from evenodds.model.goals import Constraint, Objective
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.roc import Point
from evenodds.model.target import best_below_lines

__all__ = ["Border", "best_of_all", "gentlest_of_all"]

_ON_EDGE = 1e-15  # how far beyond an edge a point may lie and still count as on it, relative to what is compared
_BESIDE = 1e-12  # an FPR this near to a vertex may be the vertex
_ROUNDS = 200  # of which some ten are needed
_FINEST = 1e-12  # relative, of a slope
_FLAT = 1e-6  # times 1 / score range: where the search begins unless something is proven
_LOWER, _NO_SLOPE = 4.0, -600.0  # of a slope's logarithm: how far down to look next, and where to stop


class Border:
    """The upper border of what a group's rising odds reach with slopes of at most `slope`, drawn where it is asked for.

    `like` is the border under a similar slope, whose directions are looked into first.
    """

    def __init__(self, group: Group, slope: float, like: Border | None = None) -> None:
        roc = group.roc
        self._fpr, self._tpr = roc.fpr[:0:-1], roc.tpr[:0:-1]  # of a yes from each score on, the lowest first
        with np.errstate(over="ignore"):
            self._cap = np.append(1.0, np.minimum(slope * np.diff(group.scores), 1.0))
        lottery = np.array([-1.0, 1.0])
        self._x, self._y, self._towards = [0.0, 1.0], [0.0, 1.0], [lottery, lottery]
        for direction in like._towards[1:-1] if like is not None else ():  # noqa: SLF001 its own class
            self._look(direction)

    @property
    def polyline(self) -> Polyline:
        """The vertices that are known."""
        return np.array(self._x), np.array(self._y)

    def _farthest(self, direction: Floats) -> Floats:
        """The steps of the odds at each score whose point is farthest in a direction."""
        value = direction[0] * self._fpr + direction[1] * self._tpr
        order = np.argsort(-value, kind="stable")
        room = np.clip(1.0 - (np.cumsum(self._cap[order]) - self._cap[order]), 0.0, 1.0)
        steps = np.empty(order.size)
        steps[order] = np.where(value[order] > 0, np.minimum(self._cap[order], room), 0.0)
        return steps

    def _point(self, steps: Floats) -> tuple[float, float]:
        """(FPR, TPR) of odds that rise by these steps."""
        return min(float(steps @ self._fpr), 1.0), min(float(steps @ self._tpr), 1.0)

    def _look(self, direction: Floats) -> bool:
        """Add the farthest point in a direction, if it is beyond the edge there; whether it was."""
        x, y = self._point(self._farthest(direction))
        at = int(np.searchsorted(np.add(self._x, self._y), x + y))
        if not 0 < at < len(self._x):
            return False
        run, rise = self._x[at] - self._x[at - 1], self._y[at] - self._y[at - 1]
        above, right = run * (y - self._y[at - 1]), rise * (x - self._x[at - 1])
        if above - right <= _ON_EDGE * (abs(above) + abs(right)):
            return False
        self._x.insert(at, x)
        self._y.insert(at, y)
        self._towards.insert(at, direction)
        return True

    def settle(self, fpr: float) -> bool:
        """Draw the border around an FPR until it is exact there; whether it has changed."""
        changed = False
        for _ in range(_ROUNDS):
            more = [self._look(self._normal(i)) for i in self._edges(fpr)]
            if not any(more):
                break
            changed = True
        return changed

    def _edges(self, fpr: float) -> list[int]:
        """The edges above an FPR: two at a vertex."""
        x = self._x
        return [i for i in range(len(x) - 1, 0, -1) if x[i - 1] - _BESIDE <= fpr <= x[i] + _BESIDE]

    def _normal(self, edge: int) -> Floats:
        return np.array([self._y[edge - 1] - self._y[edge], self._x[edge] - self._x[edge - 1]])

    def height(self, fpr: float) -> float:
        """The highest TPR at an FPR."""
        self.settle(fpr)
        return float(height(*self.polyline, fpr))

    def odds_at(self, point: Point) -> Floats:
        """Odds at each score that meet a point of the border: a mix of those at the ends of its edge."""
        self.settle(point.fpr)
        along, at = np.add(self._x, self._y), point.fpr + point.tpr
        edge = int(np.clip(np.searchsorted(along, at), 1, along.size - 1))
        share = float(np.clip((at - along[edge - 1]) / (along[edge] - along[edge - 1]), 0, 1))
        ends = [self._steps_of(i) for i in (edge - 1, edge)]
        return np.clip(np.cumsum((1 - share) * ends[0] + share * ends[1]), 0.0, 1.0)

    def _steps_of(self, vertex: int) -> Floats:
        """The steps of the odds at each score whose point is a vertex."""
        if 0 < vertex < len(self._x) - 1:
            return self._farthest(self._towards[vertex])
        steps = np.zeros(self._cap.size)  # a yes for nobody
        if vertex:
            steps[0] = 1.0  # from the lowest score on: for everybody
        return steps


def best_of_all(
    joint: JointDistribution,
    slope: float,
    objective: Objective,
    constraint: Constraint,
    like: Sequence[Border] | None = None,
) -> tuple[list[Point], list[Border]]:
    """The points with the greatest gain that rising odds of slopes of at most `slope` reach under a constraint."""
    borders = [Border(group, slope, like[i] if like else None) for i, group in enumerate(joint.members)]
    points: list[Point] | None = None
    while True:
        points = best_below_lines(joint, [border.polyline for border in borders], objective, constraint, points)
        has_changed = [border.settle(point.fpr) for border, point in zip(borders, points, strict=True)]
        if not any(has_changed):
            return points, borders


def gentlest_of_all(group: Group, point: Point, *, at_least: float, at_most: float) -> tuple[Floats, float]:
    """Odds at the group's scores that meet a point with the least slope of all rising odds, and that slope.

    It is known to lie between two slopes; steeper ones than over the narrowest gap between scores gain nothing.
    """
    if group.score_count == 1:
        return np.array([(point.fpr + point.tpr) / 2]), 0.0
    at_most = min(at_most, 1 / float(np.diff(group.scores).min()))
    at_least = min(max(at_least, _FLAT / (group.ends[1] - group.ends[0])), at_most)
    last: Border | None = None

    def short(log_slope: float) -> float:
        nonlocal last
        last = Border(group, float(np.exp(log_slope)), last)
        return point.tpr - last.height(point.fpr) - _ON_EDGE

    lo, hi = np.log(at_least), np.log(at_most)
    most = short(hi)
    while (least := short(lo)) <= 0 and lo > _NO_SLOPE:
        lo, hi, most = lo - _LOWER, lo, least
    if most <= 0:
        _, hi = bracketed_root(short, (lo, least), (hi, most), _FINEST)
    slope = float(np.exp(hi))
    return Border(group, slope, last).odds_at(point), slope
