"""A bound from above by a concave polyline: exact, or drawn by tangents and more closely where somebody looks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenodds.geometry.envelope import Polyline
from evenodds.geometry.hull import concave_hull
from evenodds.geometry.pieces import Floats
from evenodds.model.roc import Point

__all__ = ["Tangents", "UpperBound", "concave"]

_MORE = 16  # tangents that are drawn in addition around a point


@dataclass(frozen=True, eq=False)
class Tangents:
    """Tangents to a blurred pooled ROC at the points of some ramps of one width, with falling t0."""

    t0: Floats
    width: float
    rates: Floats
    """(FPR, TPR) of the ramps, of shape (2, n)."""
    shares: Floats
    """Of people within each ramp: as t0 falls, FPR and TPR rise by these, so they are the tangent's direction."""

    @classmethod
    def at(cls, t0: Floats, width: float, rates: Floats, shares: Floats) -> Tangents:
        """Tangents at ramps whose rates and shares are rounded: none below 0, and no rate above 1."""
        return cls(t0, width, np.clip(rates, 0, 1), np.maximum(shares, 0))

    @property
    def bound(self) -> UpperBound:
        """The polyline through the meetings of neighbouring tangents."""
        return UpperBound(_through_meetings(self.rates, self.shares), self)

    def with_more(self, more: Tangents) -> Tangents:
        """These tangents and others."""
        order = np.argsort(-np.concatenate([self.t0, more.t0]), kind="stable")
        t0 = np.concatenate([self.t0, more.t0])[order]
        rates = np.concatenate([self.rates, more.rates], axis=1)[:, order]
        shares = np.concatenate([self.shares, more.shares], axis=1)[:, order]
        return Tangents(t0, self.width, rates, shares)

    def between(self, near: Point) -> Floats:
        """Where ramps begin at which more tangents around a point may be drawn."""
        t0 = self.t0
        at = int(np.clip(np.searchsorted(self.rates[0], near.fpr), 1, t0.size - 1))
        ends = t0[max(at - 2, 0)], t0[min(at + 1, t0.size - 1)]
        return np.setdiff1d(np.linspace(*ends, _MORE)[1:-1], t0)[::-1]


@dataclass(frozen=True, eq=False)
class UpperBound:
    """A concave polyline that no rising curve of a slope exceeds.

    Of many scores it is drawn by tangents to the blurred pooled ROC; else it is exact.
    """

    polyline: Polyline
    tangents: Tangents | None = None

    @property
    def is_exact(self) -> bool:
        """Whether it cannot be drawn more closely."""
        return self.tangents is None


def concave(x: Floats, y: Floats) -> Polyline:
    """The hull of rising rates and of the diagonal's ends; rounding must not let it fall."""
    x, y = (np.maximum.accumulate(np.clip(np.concatenate([[0.0], z, [1.0]]), 0, 1)) for z in (x, y))
    kept = concave_hull(x, y)
    return x[kept], y[kept]


def _through_meetings(rates: Floats, shares: Floats) -> Polyline:
    """The polyline through the meetings of neighbouring tangents."""
    (x, y), (by_x, by_y) = rates, shares
    falls, rises = by_x[:-1] * by_y[1:], by_y[:-1] * by_x[1:]
    ahead = falls - rises  # <= 0, as the slope falls
    dx, dy = np.diff(x), np.diff(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        along = (dx * by_y[1:] - dy * by_x[1:]) / ahead
    # Between two tangents of one slope a concave line is straight.
    straight = (np.abs(ahead) <= 1e-12 * (falls + rises)) | ~np.isfinite(along)
    along[straight] = 0.0
    meet_x = np.clip(x[:-1] + along * by_x[:-1], x[:-1], x[1:])
    meet_y = np.clip(y[:-1] + along * by_y[:-1], y[:-1], y[1:])
    xs, ys = np.empty(2 * x.size - 1), np.empty(2 * x.size - 1)
    xs[::2], ys[::2], xs[1::2], ys[1::2] = x, y, meet_x, meet_y
    return concave(xs, ys)
