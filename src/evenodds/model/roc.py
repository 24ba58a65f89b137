"""A group's ROC: a polyline of thresholds, and the concave hull of it.

A vertex of the ROC is a single threshold: "yes from this score on". A point between two neighbouring vertices gives
the people at one score odds of their own. Whatever a non-decreasing curve can reach lies between the diagonal and the
hull (method of Hardt et al., 2016).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry import samples
from evenodds.geometry.hull import concave_hull, height
from evenodds.geometry.pieces import Floats
from evenodds.geometry.samples import Sample

__all__ = ["Point", "Roc"]

_FIRST_LOOK = 4096  # thresholds that are looked at first
_CUTS = 4  # further thresholds in each gap that may hold a vertex of the hull
_NEAR = 1e-6  # a share of a person that is rounding
_ROUNDING = 1e-13  # of sums of weights in another order


@dataclass(frozen=True)
class Point:
    """A point of the ROC plane.

    Examples
    --------
    >>> round(Point(0.2, 0.8).distance_to_perfect, 6)
    0.282843
    """

    fpr: float
    """The false positive rate: the share of people with label 0 who get a yes."""
    tpr: float
    """The true positive rate: the share of people with label 1 who get a yes."""

    @property
    def distance_to_perfect(self) -> float:
        """Distance from (0, 1)."""
        return float(np.hypot(self.fpr, 1 - self.tpr))


@dataclass(frozen=True, eq=False)
class Roc:
    """The ROC of sorted negatives and positives; its vertices are listed only if asked for.

    >>> roc = Roc(Sample(np.array([1.0, 2, 3]), np.array([4.0, 3, 1])), Sample(np.array([1.0, 2, 3]),
    ...           np.array([1.0, 3, 4])))
    >>> roc.fpr, roc.tpr, round(roc.auc, 6)
    (array([0.   , 0.125, 0.5  , 1.   ]), array([0.   , 0.5  , 0.875, 1.   ]), 0.757812)
    """

    negatives: Sample
    positives: Sample

    # -- the polyline: vertex 0 is nobody, vertex i the i highest scores, the last everybody ---------------------------

    @cached_property
    def _listed(self) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
        """Distinct scores, highest first, and how many of the negatives and the positives are below each."""
        every = np.concatenate([self.negatives.points, self.positives.points])
        order = np.argsort(every, kind="stable")  # merges the two
        every = every[order]
        first = np.flatnonzero(np.append(True, every[1:] > every[:-1]))[::-1]
        negatives = np.append(0, np.cumsum(order < self.negatives.size))[first]
        return every[first], negatives, first - negatives

    @property
    def scores(self) -> Floats:
        """Distinct scores, highest first."""
        return self._listed[0]

    @cached_property
    def _vertices(self) -> Floats:
        scores, *below = self._listed
        rates = np.zeros((2, scores.size + 1))
        for side, own, rate in zip((self.negatives, self.positives), below, rates, strict=True):
            rate[1:] = side.above(own)
        return rates

    @property
    def fpr(self) -> Floats:
        """FPR of every vertex."""
        return np.asarray(self._vertices[0])

    @property
    def tpr(self) -> Floats:
        """TPR of every vertex."""
        return np.asarray(self._vertices[1])

    def rates_from(self, scores: Floats) -> Floats:
        """(FPR, TPR) of single thresholds, of shape (2, n)."""
        sides = (self.negatives, self.positives)
        return np.stack([side.above(np.searchsorted(side.points, scores)) for side in sides])

    def threshold(self, vertex: int) -> float:
        """The score from which on a vertex says yes; for vertex 0, "nobody", beyond the highest score."""
        return float(self.scores[vertex - 1]) if vertex else self.beyond

    @cached_property
    def beyond(self) -> float:
        """A threshold that nobody reaches: as far above the highest score as scores are apart on average.

        Nearer ones could fall on the score itself where curves are moved.
        """
        sides = (self.negatives.points, self.positives.points)
        lo, hi = min(float(side[0]) for side in sides), max(float(side[-1]) for side in sides)
        many = sides[0].size + sides[1].size
        count = many if many > samples.FEW else self.scores.size
        next_number = float(np.nextafter(hi, np.inf))
        return max(hi + (hi - lo) / (count - 1), next_number) if hi > lo else next_number

    def nearest_to_perfect(self) -> tuple[float, Point]:
        """The single threshold nearest to (0, 1), and where it lies; of several, the highest score."""
        i = int(np.argmin(np.hypot(self.fpr, 1 - self.tpr)))
        return self.threshold(i), Point(float(self.fpr[i]), float(self.tpr[i]))

    # -- the hull ------------------------------------------------------------------------------------------------------

    @property
    def hull(self) -> tuple[Floats, Floats]:
        """FPR and TPR of the vertices of the concave hull."""
        return self._hull[1:]

    @property
    def hull_thresholds(self) -> Floats:
        """The thresholds of the hull's vertices, of which the first is beyond all scores."""
        return self._hull[0]

    @cached_property
    def _hull(self) -> tuple[Floats, Floats, Floats]:
        """Thresholds, FPR and TPR of the hull.

        Every vertex but the ends is the threshold of a positive. Between two thresholds that were looked at no vertex
        lies above and to the left of the corner that both span, so a gap whose corner is below the hull need not be
        opened.
        """
        at = self.positives.points
        edges = np.arange(at.size)[:: max(1, at.size // _FIRST_LOOK)]
        edges = np.unique(np.searchsorted(at, at[edges]))  # the first of equal scores
        fpr, tpr = self._rates_at(edges)
        # Gaps from one position to another, with the FPR at their upper and the TPR at their lower end.
        lower, upper = edges, np.append(edges[1:], at.size)
        left, top = np.append(fpr[1:], 0.0), tpr
        vertices = np.zeros(0, np.intp), np.zeros(0), np.zeros(0)
        new = edges, fpr, tpr
        while new[0].size:
            vertices = _on_hull(*(np.concatenate(pair) for pair in zip(vertices, new, strict=True)))
            x, y = (np.concatenate([[0.0], z[::-1], [1.0]]) for z in vertices[1:])
            opened = upper - lower > 1
            if not opened.any():
                break
            opened[opened] = height(x, y, left[opened]) < top[opened] - 1e-15
            lower, upper, left, top = (z[opened] for z in (lower, upper, left, top))
            cuts = lower[:, None] + (upper - lower)[:, None] * np.arange(1, _CUTS) // _CUTS
            tied = at[cuts] == at[np.maximum(cuts - 1, 0)]
            cuts[tied] = np.maximum(
                np.searchsorted(at, at[cuts[tied]]), np.broadcast_to(lower[:, None], cuts.shape)[tied]
            )
            fpr, tpr = self._rates_at(cuts.ravel()).reshape(2, *cuts.shape)
            fresh = cuts > lower[:, None]
            new = cuts[fresh], fpr[fresh], tpr[fresh]
            lower, upper = np.column_stack([lower, cuts]), np.column_stack([cuts, upper])
            left, top = np.column_stack([fpr, left]), np.column_stack([top, tpr])
            inside = upper > lower
            lower, upper, left, top = (z[inside] for z in (lower, upper, left, top))
        scores, fpr, tpr = at[vertices[0]][::-1], *(z[::-1] for z in vertices[1:])
        if fpr[-1] < 1 or tpr[-1] < 1:
            lowest = min(float(at[0]), float(self.negatives.points[0]))
            scores, fpr, tpr = np.append(scores, lowest), np.append(fpr, 1.0), np.append(tpr, 1.0)
        return np.append(self.beyond, scores), np.append(0.0, fpr), np.append(0.0, tpr)

    def _rates_at(self, position: NDArray[np.intp]) -> Floats:
        """(FPR, TPR) of the thresholds of some positives."""
        below = np.searchsorted(self.negatives.points, self.positives.points[position])
        return np.stack([self.negatives.above(below), self.positives.above(position)])

    def hull_height(self, fpr: float) -> float:
        """The highest TPR that any non-decreasing curve reaches at this FPR."""
        return float(height(*self.hull, fpr))

    # -- figures -------------------------------------------------------------------------------------------------------

    @cached_property
    def auc(self) -> float:
        """The area under the polyline: the chance that a positive outranks a negative, ties counted half."""
        first, last = (
            np.searchsorted(self.negatives.points, self.positives.points, side) for side in ("left", "right")
        )
        beaten = (self.negatives.below(first) + self.negatives.below(last)) / 2
        weights = self.positives.given
        return float(beaten.mean() if weights is None else beaten @ weights / self.positives.total)

    @property
    def is_backwards(self) -> bool:
        """Whether the AUC is below 1/2: some thousand thresholds tell, unless it is very near."""
        step = max(1, self.positives.size // _FIRST_LOOK)
        if step > 1:
            fpr, tpr = self.rates_from(self.positives.points[::-step])
            x, y = np.concatenate([[0.0], fpr, [1.0]]), np.concatenate([[0.0], tpr])
            if np.diff(x) @ y >= 0.5:  # noqa: PLR2004 a coin; steps below the polyline
                return False
        return self.auc < 0.5  # noqa: PLR2004 a coin

    def height(self, fpr: float) -> float:
        """The highest TPR of the polyline at this FPR: on the edge that crosses a negative.

        Edges are level, but for positives at the same score.
        """
        if fpr >= 1:
            return 1.0
        negatives, positives = self.negatives, self.positives
        crossed = min(max(int(np.ceil(self._crossed(fpr))) - 1, 0), negatives.size - 1)
        score = negatives.points[crossed]
        n, m = (
            [float(side.above(np.searchsorted(side.points, score, end))) for end in ("left", "right")]
            for side in (negatives, positives)
        )
        share = min(max((fpr - n[1]) / (n[0] - n[1]), 0.0), 1.0)
        return m[1] + share * (m[0] - m[1])

    def _crossed(self, fpr: float) -> float:
        """How many negatives stay below the threshold at this FPR; a share of a person is the one being crossed."""
        below = (1 - fpr) * self.negatives.total
        if self.negatives.given is None:
            whole = round(below)
            return whole if abs(below - whole) < _NEAR else below
        off = _ROUNDING * self.negatives.total
        left, right = np.searchsorted(self.negatives.sums, [below - off, below + off])
        return float(left) if left < right else left - 0.5


def _on_hull(position: NDArray[np.intp], fpr: Floats, tpr: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Those of some thresholds that are vertices of their hull; positions ascend, so that rates fall."""
    position, first = np.unique(position, return_index=True)
    fpr, tpr = fpr[first], tpr[first]
    x, y = (np.concatenate([[0.0], z[::-1], [1.0]]) for z in (fpr, tpr))
    kept = concave_hull(x, y)
    kept = np.sort(position.size - kept[(kept > 0) & (kept < x.size - 1)])
    if kept.size == 0:
        kept = np.arange(position.size)[:1]  # the lowest threshold, which is (1, 1) or near
    return position[kept], fpr[kept], tpr[kept]
