"""Each group's ROC: a polyline of thresholds, and the concave hull of it.

A vertex of the ROC is a single threshold: "yes from this score on". A point between two neighbouring vertices gives
the people at one score odds of their own. Whatever a non-decreasing curve can reach lies between the diagonal and the
hull (method of Hardt et al., 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.hull import concave_hull, height
from evenodds.geometry.moments import Moments
from evenodds.geometry.pieces import Floats
from evenodds.model.groups import Group

__all__ = ["LargeRoc", "Point", "Roc", "roc_of"]

_ROCS: WeakKeyDictionary[Group, Roc] = WeakKeyDictionary()  # groups never change, and every stage asks for theirs
_FIRST_LOOK = 4096  # thresholds of a large group that are looked at first
_CUTS = 4  # further thresholds in each gap that may hold a vertex of the hull
_NEAR = 1e-6  # a share of a person that is rounding
_ROUNDING = 1e-13  # of sums of weights in another order


@dataclass(frozen=True)
class Point:
    """A point of the ROC plane.

    >>> Point(0.2, 0.8).distance_to_perfect.__round__(6)
    0.282843
    """

    fpr: float
    tpr: float

    @property
    def distance_to_perfect(self) -> float:
        """Distance from (0, 1)."""
        return float(np.hypot(self.fpr, 1 - self.tpr))


@dataclass(frozen=True, eq=False)
class Roc:
    """One group's ROC polyline.

    Vertex i says yes from `scores[i - 1]` *downwards in rank*: vertex 0 is (0, 0), nobody; vertex i takes the i
    highest scores; the last is (1, 1), everybody.
    """

    scores: Floats
    """Distinct scores, highest first (upward scale)."""
    fpr: Floats
    tpr: Floats

    @cached_property
    def hull_vertices(self) -> NDArray[np.intp]:
        """Which vertices are those of the concave hull."""
        return concave_hull(self.fpr, self.tpr)

    @cached_property
    def hull(self) -> tuple[Floats, Floats]:
        """FPR and TPR of the vertices of the concave hull."""
        return self.fpr[self.hull_vertices], self.tpr[self.hull_vertices]

    @property
    def is_backwards(self) -> bool:
        """Whether the score ranks the group backwards."""
        return self.auc < 0.5  # noqa: PLR2004 a coin

    @cached_property
    def auc(self) -> float:
        """The area under the polyline: the chance that a positive outranks a negative, ties counted half."""
        return float(np.sum(np.diff(self.fpr) * (self.tpr[1:] + self.tpr[:-1])) / 2)

    def height(self, fpr: float) -> float:
        """The highest TPR of the polyline at this FPR."""
        return float(height(self.fpr, self.tpr, fpr))

    def hull_height(self, fpr: float) -> float:
        """The highest TPR that any non-decreasing curve reaches at this FPR."""
        return float(height(*self.hull, fpr))

    def threshold(self, vertex: int) -> float:
        """The score from which on a vertex says yes; for vertex 0, "nobody", beyond the highest score."""
        return float(self.scores[vertex - 1]) if vertex else self.beyond

    @property
    def hull_thresholds(self) -> Floats:
        """The thresholds of the hull's vertices."""
        return np.append(self.beyond, self.scores[self.hull_vertices[1:] - 1])

    @property
    def beyond(self) -> float:
        """A threshold that nobody reaches: as far above the highest score as scores are apart on average.

        Nearer ones could fall on the score itself where curves are moved.
        """
        return _beyond(float(self.scores[-1]), float(self.scores[0]), self.scores.size)

    def nearest_to_perfect(self) -> tuple[float, Point]:
        """The single threshold nearest to (0, 1), and where it lies; of several, the highest score."""
        i = int(np.argmin(np.hypot(self.fpr, 1 - self.tpr)))
        return self.threshold(i), Point(float(self.fpr[i]), float(self.tpr[i]))


class LargeRoc(Roc):
    """The ROC of a large group, read from its sorted negatives and positives; vertices are made only if asked for."""

    def __init__(self, group: Group) -> None:
        assert group.sides is not None  # noqa: S101 large groups have them
        self._set("_group", ref(group))  # a weak one: the group is the key that this is remembered by
        self._set("negatives", group.sides[0])
        self._set("positives", group.sides[1])

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)  # the base is frozen

    _group: ref[Group]
    negatives: Moments
    positives: Moments

    @cached_property
    def _vertices(self) -> Roc:
        group = self._group()
        assert group is not None  # noqa: S101 whoever asks has it
        return _roc_of_table(group)

    @property
    def scores(self) -> Floats:
        return self._vertices.scores

    @property
    def fpr(self) -> Floats:
        return self._vertices.fpr

    @property
    def tpr(self) -> Floats:
        return self._vertices.tpr

    @property
    def hull_vertices(self) -> NDArray[np.intp]:
        return self._vertices.hull_vertices

    @cached_property
    def hull(self) -> tuple[Floats, Floats]:
        """FPR and TPR of the vertices of the concave hull."""
        return self._hull[1:]

    @property
    def hull_thresholds(self) -> Floats:
        return np.append(self.beyond, self._hull[0])

    @property
    def beyond(self) -> float:
        sides = (self.negatives.points, self.positives.points)
        lo, hi = min(float(side[0]) for side in sides), max(float(side[-1]) for side in sides)
        return _beyond(lo, hi, sides[0].size + sides[1].size)

    @cached_property
    def _hull(self) -> tuple[Floats, Floats, Floats]:
        """Thresholds, FPR and TPR of the hull.

        Every vertex is the threshold of a positive. Between two thresholds that were looked at no vertex lies above
        and to the left of the corner that both span, so a gap whose corner is below the hull need not be opened.
        """
        at = self.positives.points
        edges = np.unique(np.searchsorted(at, at[:: max(1, at.size // _FIRST_LOOK)]))  # the first of equal scores
        fpr, tpr = self._rates_at(edges)
        # Gaps from one position to another, with the FPR at their upper and the TPR at their lower end.
        lower, upper = edges, np.append(edges[1:], at.size)
        left, top = np.append(fpr[1:], 0.0), tpr
        vertices = np.zeros(0, np.intp), np.zeros(0), np.zeros(0)
        new = edges, fpr, tpr
        while new[0].size:
            vertices = _on_hull(*(np.concatenate(pair) for pair in zip(vertices, new, strict=True)))
            x, y = (np.concatenate([[0.0], z[::-1], [1.0]]) for z in vertices[1:])
            opened = (upper - lower > 1) & (height(x, y, left) < top - 1e-15)
            lower, upper, left, top = (z[opened] for z in (lower, upper, left, top))
            cuts = lower[:, None] + (upper - lower)[:, None] * np.arange(1, _CUTS) // _CUTS
            tied = at[cuts] == at[np.maximum(cuts - 1, 0)]
            cuts[tied] = np.maximum(
                np.searchsorted(at, at[cuts[tied]]), np.broadcast_to(lower[:, None], cuts.shape)[tied]
            )
            fpr, tpr = self._rates_at(cuts.ravel()).reshape(2, *cuts.shape)
            new = tuple(z.ravel()[(cuts > lower[:, None]).ravel()] for z in (cuts, fpr, tpr))
            lower, upper = np.column_stack([lower, cuts]), np.column_stack([cuts, upper])
            left, top = np.column_stack([fpr, left]), np.column_stack([top, tpr])
            inside = upper > lower
            lower, upper, left, top = (z[inside] for z in (lower, upper, left, top))
        scores, fpr, tpr = at[vertices[0]][::-1], *(z[::-1] for z in vertices[1:])
        if fpr[-1] < 1 or tpr[-1] < 1:
            lowest = min(float(at[0]), float(self.negatives.points[0]))
            scores, fpr, tpr = np.append(scores, lowest), np.append(fpr, 1.0), np.append(tpr, 1.0)
        return scores, np.append(0.0, fpr), np.append(0.0, tpr)

    def _rates_at(self, position: NDArray[np.intp]) -> Floats:
        """(FPR, TPR) of the thresholds of some positives."""
        at = self.positives.points[position]
        sides = (self.negatives.before(np.searchsorted(self.negatives.points, at)), self.positives.before(position))
        return 1 - np.concatenate(sides)

    def rates_from(self, scores: Floats) -> Floats:
        """(FPR, TPR) of single thresholds, of shape (2, n)."""
        sides = (self.negatives, self.positives)
        return np.concatenate([1 - side.before(np.searchsorted(side.points, scores)) for side in sides])

    @cached_property
    def auc(self) -> float:
        """The area under the polyline."""
        first, last = (
            np.searchsorted(self.negatives.points, self.positives.points, side) for side in ("left", "right")
        )
        below = (self.negatives.before(first) + self.negatives.before(last))[0] / 2
        weights = self.positives.given
        return float(below.mean()) if weights is None else float(np.average(below, weights=weights[0]))

    @property
    def is_backwards(self) -> bool:
        """Whether the AUC is below 1/2: some hundred thresholds tell, unless it is very near."""
        step = max(1, self.positives.points.size // _FIRST_LOOK)
        fpr, tpr = self.rates_from(self.positives.points[::-step])
        x, y = np.concatenate([[0.0], fpr, [1.0]]), np.concatenate([[0.0], tpr, [1.0]])
        low = float(np.sum(np.diff(x) * y[:-1]))  # steps below the polyline
        return low < 0.5 and self.auc < 0.5  # noqa: PLR2004 a coin

    def height(self, fpr: float) -> float:
        """The highest TPR of the polyline at this FPR."""
        return float(self._top(np.array(fpr)))

    def _top(self, at: Floats) -> Floats:
        return np.where(at >= 1, 1.0, self._height(at, np.ceil(self._crossed(at)) - 1))

    def _crossed(self, fpr: Floats) -> Floats:
        """How many negatives stay below the threshold at this FPR; a share of a person is the one being crossed."""
        below = 1 - fpr
        if self.negatives.given is None:
            count = below * self.negatives.points.size
            whole = np.rint(count)
            return np.where(np.abs(count - whole) < _NEAR, whole, count)
        sums = self.negatives.sums[0]
        left, right = np.searchsorted(sums, below - _ROUNDING), np.searchsorted(sums, below + _ROUNDING)
        return np.where(left < right, left, left - 0.5)

    def _height(self, fpr: Floats, crossed: Floats) -> Floats:
        """The TPR on the edge that crosses a negative: level, but for positives at the same score."""
        negatives, positives = self.negatives, self.positives
        score = negatives.points[np.clip(crossed, 0, negatives.points.size - 1).astype(np.intp)]
        n, m = (
            [side.before(np.searchsorted(side.points, score, end))[0] for end in ("left", "right")]
            for side in (negatives, positives)
        )
        share = np.clip((fpr - (1 - n[1])) / (n[1] - n[0]), 0, 1)
        return np.asarray(1 - m[1] + share * (m[1] - m[0]))


def _on_hull(position: NDArray[np.intp], fpr: Floats, tpr: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Those of some thresholds that are vertices of their hull; positions ascend, so that rates fall."""
    position, first = np.unique(position, return_index=True)
    fpr, tpr = fpr[first], tpr[first]
    x, y = (np.concatenate([[0.0], z[::-1], [1.0]]) for z in (fpr, tpr))
    kept = concave_hull(x, y)
    kept = np.sort(position.size - kept[(kept > 0) & (kept < x.size - 1)])
    if not position.size or kept.size == 0:
        kept = np.arange(position.size)[:1]  # the lowest threshold, which is (1, 1) or near
    return position[kept], fpr[kept], tpr[kept]


def _beyond(lowest: float, highest: float, count: int) -> float:
    return highest + (highest - lowest) / (count - 1) if highest > lowest else float(np.nextafter(highest, np.inf))


def roc_of(group: Group) -> Roc:
    """The ROC polyline of a group.

    >>> from evenodds.model.groups import Table
    >>> table = Table(np.array([1.0, 2, 3]), np.array([4.0, 3, 1]), np.array([1.0, 3, 4]))
    >>> roc = roc_of(Group.of_table("a", table, (8, 8)))
    >>> roc.fpr, roc.tpr, round(roc.auc, 6)
    (array([0.   , 0.125, 0.5  , 1.   ]), array([0.   , 0.5  , 0.875, 1.   ]), 0.757812)
    """
    known = _ROCS.get(group)
    if known is not None:
        return known
    roc = _ROCS[group] = LargeRoc(group) if group.is_large else _roc_of_table(group)
    return roc


def _roc_of_table(group: Group) -> Roc:
    # Counted first and divided afterwards, so that whole counts give rates without a drift.
    counts = (group.negatives, group.negative_total), (group.positives, group.positive_total)
    fpr, tpr = (np.minimum(np.append(0.0, np.cumsum(count[::-1])) / total, 1.0) for count, total in counts)
    fpr[-1] = tpr[-1] = 1.0
    return Roc(group.scores[::-1], fpr, tpr)
