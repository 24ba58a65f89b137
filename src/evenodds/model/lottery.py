"""Few people left to chance: the best points of policies that decide no more people by chance than a budget allows.

Rising odds are 0 up to some score, 1 from some score on, and chance decides between: an interval of scores in each
group, from vertex a to vertex b of its ROC. With that interval the group reaches the convex hull of the vertices from a
to b, at the price of the people between. Which intervals are best is found by branch and bound. A node bounds each
group's a and b; the hull from the lowest a to the highest b holds all that its intervals reach, and the best points in
these hulls bound what they gain. The budget and the constraint narrow the intervals first: what begins left of a vertex
must end before the budget is spent, and groups that share rates must be where the others are. A node whose best points
turn out to be within the budget is solved; any other is split where it spends most.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import count
from typing import NamedTuple

import numpy as np

from evenodds.geometry.overlap import OUTSIDE, Polygon, best_in_all, highest_on_line, nearest_in_all, polygon_of
from evenodds.geometry.pieces import Floats
from evenodds.geometry.program import SolverError
from evenodds.model.goals import Constraint, Objective, coefficients
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.lp import best_mixed
from evenodds.model.roc import Point
from evenodds.model.thresholds import best_thresholds

__all__ = ["Band", "Lottery", "RandomizedBudget", "Side", "best_with_few", "least_band", "least_randomized", "sides_of"]

_NODES, _PROGRAMS = 6000, 500  # that are looked at; where each takes a linear program
_COLUMNS = 6000  # of such programs together, one for each group
_WORK, _LEAST = 200_000_000, 500  # vertices in all nodes together, and nodes however many vertices there are
_FIRST, _FIRST_PROGRAMS = 200, 50  # the same until some points are given up to be found
_SMALLER = (0.0, 0.25, 0.5)  # of a budget: where a search ends early less may be easier to find
_SAME = 1e-12  # rates and shares that differ by no more are equal
_TIE = 1e-12  # a gain that is more by no more is not
_PASSES = 3  # of narrowing, one after the other
_KEPT = 4096  # hulls of a group that are kept
_HALVINGS = 14  # of a budget that is searched for


@dataclass(frozen=True)
class RandomizedBudget:
    """The largest share of people who are decided by chance: of everybody, and in each group."""

    max_randomized: float | None
    max_randomized_by_group: float | None = None


class Band(NamedTuple):
    """The vertices of a group's ROC between which chance decides, and the share of everybody who stand there."""

    first: int
    last: int
    share: float


@dataclass(frozen=True, eq=False)
class Lottery:
    """A point for each group, the least band that reaches it, and what no other points within the budget gain."""

    points: tuple[Point, ...]
    bands: tuple[Band, ...]
    room: tuple[Band, ...]
    """The same bands, widened as far as the budget allows: where gentler curves may be looked for."""
    gain: float
    bound: float


class _Interval(NamedTuple):
    """All intervals that begin from `first` to `first_most`, and end from `last_least` to `last`."""

    first: int
    first_most: int
    last_least: int
    last: int

    @property
    def is_empty(self) -> bool:
        return self.first > self.first_most or self.last_least > self.last


_Node = tuple[_Interval, ...]


class Side:
    """One group's ROC: where its vertices are, how many people are above each, and what they reach together."""

    def __init__(self, group: Group, shares: Floats, rates: Sequence[Floats]) -> None:
        self.fpr, self.tpr = group.roc.fpr, group.roc.tpr
        both = np.stack([self.fpr, self.tpr])
        self.rates = [by @ both for by in rates]
        self.above = shares @ both
        """The share of everybody who are in this group, and from a vertex's threshold on."""
        self.size = self.fpr.size
        self.total = float(shares.sum())
        self.hull = lru_cache(_KEPT)(self._hull)

    def _hull(self, first: int, last: int) -> Polygon:
        return polygon_of(self.fpr[first : last + 1], self.tpr[first : last + 1])

    def band(self, point: Point) -> Band:
        """The fewest people with whom a point is reached.

        The point is in the hull of some vertices if the line between two of them passes above it, and one below. Lines
        pass above if one to the right is seen under no smaller a slope than one to the left. The more vertices, the
        greater the greatest and the smaller the least slope, so for each begin the first sufficient end is looked up.
        """
        u, v = self.fpr + self.tpr, self.tpr - self.fpr
        here, height = point.fpr + point.tpr, point.tpr - point.fpr
        start, stop = int(np.searchsorted(u, here - OUTSIDE)), int(np.searchsorted(u, here + OUTSIDE, "right"))
        at = v[start:stop]
        if at.size and np.abs(at - height).min() <= _SAME:
            vertex = start + int(np.abs(at - height).argmin())
            return Band(vertex, vertex, 0.0)
        to_left, to_right = here - u[:start][::-1], u[stop:] - here
        nothing = Band(0, self.size - 1, np.inf)
        if not to_left.size or not to_right.size:
            return nothing
        needed = np.zeros(to_left.size, np.intp)
        for sign, level in ((1.0, height - OUTSIDE), (-1.0, height + OUTSIDE)):
            if at.size and (sign * (at - level)).max() >= 0:
                continue  # a vertex straight above, or below
            left = np.minimum.accumulate(sign * (level - v[:start][::-1]) / to_left)
            right = np.maximum.accumulate(sign * (v[stop:] - level) / to_right)
            needed = np.maximum(needed, np.searchsorted(right, left))
        reached = needed < to_right.size
        if not reached.any():
            return nothing
        end = stop + np.minimum(needed, to_right.size - 1)
        cost = np.where(reached, self.above[end] - self.above[:start][::-1], np.inf)
        best = int(cost.argmin())
        return Band(start - 1 - best, int(end[best]), float(cost[best]))


def least_band(group: Group, shares: Floats, point: Point) -> Band:
    """The fewest people of a group with whom chance reaches a point; infinitely many where it is out of reach.

    `shares` are the group's negatives and positives as shares of everybody.
    """
    return Side(group, shares, ()).band(point)


def sides_of(joint: JointDistribution, objective: Objective, constraint: Constraint) -> list[Side]:
    """Each group's ROC, which keeps the hulls of its vertices: several searches, each with its budget, share them."""
    by = [coefficients(joint, rate) for rate in constraint.rates]
    return [Side(group, objective.shares[i], [rows[i] for rows in by]) for i, group in enumerate(joint.members)]


class _Search:
    """Branch and bound over the intervals that chance decides in."""

    def __init__(
        self,
        joint: JointDistribution,
        objective: Objective,
        constraint: Constraint,
        budget: RandomizedBudget,
        sides: Sequence[Side],
    ) -> None:
        self._joint, self._objective, self._constraint = joint, objective, constraint
        self._sides = sides
        self._everybody = np.inf if budget.max_randomized is None else budget.max_randomized
        by_group = np.inf if budget.max_randomized_by_group is None else budget.max_randomized_by_group
        self._own = [by_group * side.total for side in self._sides]
        self._is_unsure = False  # whether a program had trouble, so that nothing is proven
        self.bound = np.inf
        """What nobody gains more than within the budget, once it was searched."""
        if constraint.one_point:
            vertices = sum(side.size for side in self._sides)
            self._looks, self._first_looks = max(min(_NODES, _WORK // vertices), _LEAST), _FIRST
        else:
            self._looks = max(min(_PROGRAMS, _COLUMNS // len(self._sides)), _FIRST_PROGRAMS)
            self._first_looks = _FIRST_PROGRAMS
        self._by_fpr, self._by_tpr = map(float, objective.by_rate.sum(axis=0))
        self._negatives, self._positives = map(float, objective.shares.sum(axis=0))

    def best(self, *, first: bool = False) -> Lottery | None:
        """The best points, or the first that are within the budget; None where none were found."""
        known, affordable = self._thresholds()
        waiting: list[tuple[float, int, _Node, list[Band]]] = []
        order = count()
        looks = self._first_looks if first else self._looks
        fresh: Iterator[_Node] = iter([tuple(_Interval(0, s.size - 1, 0, s.size - 1) for s in self._sides)])
        while True:
            for node in fresh:
                narrow = self._narrowed(node)
                points = None if narrow is None else self._best_points(narrow)
                if narrow is None or points is None:
                    continue
                looks -= 1
                gain = self._objective.gain(points)
                if gain <= known + _TIE:
                    continue
                bands = [side.band(point) for side, point in zip(self._sides, points, strict=True)]
                if self._affords(bands):
                    known, affordable = gain, (tuple(points), tuple(bands))
                else:
                    heapq.heappush(waiting, (-gain, next(order), narrow, bands))
            if not waiting or -waiting[0][0] <= known + _TIE or looks <= 0 or (first and affordable):
                break
            _, _, node, bands = heapq.heappop(waiting)
            fresh = self._split(node, bands)
        self.bound = np.inf if self._is_unsure else max(known, -waiting[0][0]) if waiting else known
        if affordable is None:
            return None
        points, least = affordable
        return Lottery(points, least, self._widened(least), known, self.bound)

    def _thresholds(self) -> tuple[float, tuple[tuple[Point, ...], tuple[Band, ...]] | None]:
        """The best that leaves nobody to chance, to begin with."""
        if self._constraint.selection_rate is not None:
            return -np.inf, None
        hard = best_thresholds(self._joint, self._objective, self._constraint)
        every = zip(self._sides, hard.points, strict=True)
        return hard.gain, (hard.points, tuple(side.band(point) for side, point in every))

    def _affords(self, bands: Sequence[Band]) -> bool:
        own = all(band.share <= most + _SAME for band, most in zip(bands, self._own, strict=True))
        return own and sum(band.share for band in bands) <= self._everybody + _SAME

    def _widened(self, bands: Sequence[Band]) -> tuple[Band, ...]:
        """What is left of the budget goes to the groups by their size, and to both ends of a band alike."""
        spare = max(self._everybody - sum(band.share for band in bands), 0.0)
        spare = min(spare, 1.0) / sum(side.total for side in self._sides)
        wide = []
        for side, band, own in zip(self._sides, bands, self._own, strict=True):
            more = min(spare * side.total, own - band.share)
            first = int(np.searchsorted(side.above, side.above[band.first] - more / 2))
            most = side.above[first] + band.share + more
            last = max(int(np.searchsorted(side.above, most, "right")) - 1, band.last)
            wide.append(Band(first, last, float(side.above[last] - side.above[first])))
        return tuple(wide)

    def _least(self, node: _Node) -> list[float]:
        """Of each group, the share of everybody whom every interval of the node leaves to chance."""
        every = zip(self._sides, node, strict=True)
        return [
            max(0.0, float(side.above[interval.last_least] - side.above[interval.first_most]))
            for side, interval in every
        ]

    def _narrowed(self, node: _Node) -> _Node | None:
        """The same intervals without those that the constraint or the budget rules out; None where none are left."""
        for _ in range(_PASSES):
            before = node
            shared = self._where_rates_are(node)
            if any(interval.is_empty for interval in shared):
                return None
            least = self._least(shared)
            spare = self._everybody - sum(least)
            if spare < -_SAME:
                return None
            node = tuple(
                _within(side.above, interval, min(needed + spare, own) + _SAME)
                for side, interval, needed, own in zip(self._sides, shared, least, self._own, strict=True)
            )
            if any(interval.is_empty for interval in node):
                return None
            if node == before:
                break
        return node

    def _where_rates_are(self, node: _Node) -> _Node:
        """Each group's intervals reach rates that all others' do, up to the tolerance."""
        slack = self._constraint.tolerance + _SAME
        for k in range(len(self._constraint.rates)):
            every = list(zip(self._sides, node, strict=True))
            low = max(float(side.rates[k][interval.first]) for side, interval in every) - slack
            high = min(float(side.rates[k][interval.last]) for side, interval in every) + slack
            node = tuple(
                interval._replace(
                    first_most=min(interval.first_most, int(np.searchsorted(side.rates[k], high, "right")) - 1),
                    last_least=max(interval.last_least, int(np.searchsorted(side.rates[k], low))),
                )
                for side, interval in every
            )
        return node

    def _best_points(self, node: _Node) -> Sequence[Point] | None:
        """The best points in the hulls of all that the intervals reach; None where the constraint allows none."""
        hulls = [side.hull(interval.first, interval.last) for side, interval in zip(self._sides, node, strict=True)]
        if self._constraint.one_point:
            asked = self._constraint.selection_rate
            if asked is None and self._objective.is_distance:
                point = nearest_in_all(hulls)
            elif asked is None:
                point = best_in_all(hulls, self._by_fpr, self._by_tpr)
            else:  # of points with one share of yeses every objective likes the highest best
                point = highest_on_line(hulls, self._negatives, self._positives, asked)
            return None if point is None else [Point(*point)] * len(hulls)
        try:
            return best_mixed(self._joint, [hull.corners for hull in hulls], self._objective, self._constraint)
        except SolverError as trouble:
            self._is_unsure = self._is_unsure or not trouble.is_infeasible
            return None

    def _split(self, node: _Node, bands: Sequence[Band]) -> Iterator[_Node]:
        """The node's intervals in parts: those of the group that spends most beyond what it must."""
        excess = [band.share - needed for band, needed in zip(bands, self._least(node), strict=True)]
        for i in np.argsort(-np.array(excess), kind="stable").tolist():
            parts = _parts(self._sides[i].above, node[i], bands[i])
            if parts:
                return (tuple(part if j == i else interval for j, interval in enumerate(node)) for part in parts)
        return iter(())


def _within(above: Floats, interval: _Interval, most: float) -> _Interval:
    """Only intervals with so many people."""
    first = max(interval.first, int(np.searchsorted(above, above[interval.last_least] - most)))
    last = min(interval.last, int(np.searchsorted(above, above[interval.first_most] + most, "right")) - 1)
    return _Interval(first, min(interval.first_most, last), max(interval.last_least, first), last)


def _parts(above: Floats, interval: _Interval, band: Band) -> list[_Interval]:
    """Intervals in two or three parts; none where there is one interval only."""
    first, first_most, last_least, last = interval
    if first == first_most and last_least == last:
        return []
    if first_most >= last_least:  # they need not overlap: left of a vertex, right of it, or around it
        a, b = max(first, band.first), min(last, band.last)
        if b - a < 2:  # noqa: PLR2004 no vertex between
            a, b = first, last
        if b - a < 2:  # noqa: PLR2004 two neighbours: one of them, or the edge between
            return [_Interval(a, a, a, a), _Interval(b, b, b, b), _Interval(a, a, b, b)]
        middle = min(max(int(np.searchsorted(above, (above[a] + above[b]) / 2)), a + 1), b - 1)
        parts = [
            _Interval(first, min(first_most, middle), last_least, middle),
            _Interval(max(first, middle), first_most, max(last_least, middle), last),
            _Interval(first, min(first_most, middle - 1), max(last_least, middle + 1), last),
        ]
        return [part for part in parts if not part.is_empty]
    begins, ends = above[first_most] - above[first], above[last] - above[last_least]
    if (begins >= ends and first_most > first) or last_least == last:
        middle = (first + first_most) // 2
        return [interval._replace(first_most=middle), interval._replace(first=middle + 1)]
    middle = (last_least + last) // 2
    return [interval._replace(last=middle), interval._replace(last_least=middle + 1)]


def best_with_few(
    joint: JointDistribution,
    objective: Objective,
    constraint: Constraint,
    budget: RandomizedBudget,
    sides: Sequence[Side] | None = None,
) -> Lottery | None:
    """The points with the greatest gain that a constraint allows, with few people decided by chance.

    A yes for everybody and a no for everybody leave nobody to chance, so that there always are some unless a share of
    yeses is asked for. Whoever asks for several budgets makes `sides` once, by `sides_of`.
    """
    sides = sides_of(joint, objective, constraint) if sides is None else sides
    search = _Search(joint, objective, constraint, budget, sides)
    best = search.best()
    if constraint.selection_rate is None or (best and best.bound <= best.gain + _TIE) or search.bound == -np.inf:
        return best
    # What is found with less of the budget is within it.
    parts = [_part_of(budget, part) for part in _SMALLER]
    smaller = [_Search(joint, objective, constraint, part, sides).best(first=True) for part in parts]
    found = [one for one in (best, *smaller) if one is not None]
    most = max(found, key=lambda one: one.gain, default=None)
    return None if most is None else replace(most, bound=max(search.bound, most.gain))


def _part_of(budget: RandomizedBudget, part: float) -> RandomizedBudget:
    return RandomizedBudget(*(None if share is None else part * share for share in vars(budget).values()))


def least_randomized(
    joint: JointDistribution, objective: Objective, constraint: Constraint, budget: RandomizedBudget
) -> list[tuple[str, float, str]]:
    """Of each budget the least found that allows any policy beside the other, and the group that needs most of it.

    Nothing of a budget with which the other stands in the way, whatever it is.
    """
    sides = sides_of(joint, objective, constraint)

    def tried(name: str, share: float) -> Lottery | None:
        return _Search(joint, objective, constraint, replace(budget, **{name: share}), sides).best(first=True)

    least = []
    for name in (field.name for field in fields(budget) if getattr(budget, field.name) is not None):
        low, high, lottery = 0.0, 1.0, tried(name, 1.0)
        for _ in range(_HALVINGS if lottery else 0):
            middle = (low + high) / 2
            closer = tried(name, middle)
            low, high, lottery = (low, middle, closer) if closer else (middle, high, lottery)
        if lottery:
            shares = [band.share for band in lottery.bands]
            least.append((name, high, joint.groups[shares.index(max(shares))]))
    return least
