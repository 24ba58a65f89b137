"""The curves of one family through one point of the ROC plane: as their mean odds p vary, they form a path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats
from evenodds.model.curves import Curve
from evenodds.model.families import Family
from evenodds.model.scale import UPWARD, Scale

__all__ = ["Path", "are_near"]

_NEAR = np.sqrt(2)  # widths within this factor may be of one branch of solutions
_APART = 0.5  # a curve that is narrower than this part of the one beside it is of another branch


@dataclass(frozen=True, eq=False)
class Path:
    """Curves of one family through one point for one group, ordered by p; NaN thresholds where no curve meets it.

    Thresholds are on the upward scale.
    """

    family: Family
    p: Floats
    t0: Floats
    t1: Floats
    at_t0: float | None = None
    scale: Scale = UPWARD
    """Of the curves that it gives."""

    @property
    def lipschitz(self) -> Floats:
        """L_R along the path; NaN where there is no curve."""
        if np.isinf(self.t0).any():
            return np.zeros(self.p.shape)
        with np.errstate(divide="ignore"):
            return np.where(self.width == 0, np.inf, self.family.unit_slope(self.p) / self.width)

    @property
    def width(self) -> Floats:
        """D along the path; NaN where there is no curve."""
        return self.t1 - self.t0

    @property
    def found(self) -> NDArray[np.bool_]:
        """Where a curve was found."""
        return ~np.isnan(self.t0)

    def __len__(self) -> int:
        return int(self.found.sum())

    def among(self, which: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Path:
        """Some of the path's curves."""
        return replace(self, p=self.p[which], t0=self.t0[which], t1=self.t1[which])

    def at(self, i: int) -> Path:
        """The path that is only its i-th curve."""
        return self.among(slice(i, i + 1))

    def changed(self, which: NDArray[np.intp], t0: Floats, width: Floats) -> Path:
        """The path with some of its curves replaced."""
        new_t0, new_t1 = self.t0.copy(), self.t1.copy()
        new_t0[which], new_t1[which] = t0, t0 + width
        return replace(self, t0=new_t0, t1=new_t1)

    def joined(self, more: Path) -> Path:
        """The path together with more curves of it, in order of p."""
        p = np.concatenate([self.p, more.p])
        order = np.argsort(p, kind="stable")
        t0, t1 = (np.concatenate(pair)[order] for pair in ((self.t0, more.t0), (self.t1, more.t1)))
        return replace(self, p=p[order], t0=t0, t1=t1)

    def between(self, p: Floats) -> tuple[Floats, Floats]:
        """Position and width of curves between those of the path; where these are of two branches, of the wider one."""
        t0, width = np.interp(p, self.p, self.t0), np.interp(p, self.p, self.width)
        right = np.searchsorted(self.p, p).clip(min(1, len(self) - 1), len(self) - 1)
        ends = np.stack([np.maximum(right - 1, 0), right])
        wider = np.take_along_axis(ends, self.width[ends].argmax(axis=0)[None], axis=0)[0]
        is_apart = self.width[ends].min(axis=0) < _APART * self.width[wider]
        return np.where(is_apart, self.t0[wider], t0), np.where(is_apart, self.width[wider], width)

    def ends_of_branches(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Where the curve beside one is far narrower, or there is none; and where that is."""
        width = np.where(self.found, self.width, 0.0)
        to_right = np.flatnonzero(width[1:] < _APART * width[:-1])
        to_left = np.flatnonzero(width[:-1] < _APART * width[1:]) + 1
        return np.append(to_right, to_left), np.append(to_right + 1, to_left - 1)

    def __iter__(self) -> Iterator[Curve]:
        return (self.curve(int(i)) for i in np.flatnonzero(self.found))

    def curve(self, i: int) -> Curve:
        """The i-th curve, on the user's own scale."""
        upward = Curve(self.family.name, float(self.t0[i]), float(self.t1[i]), float(self.p[i]), self.at_t0)
        return upward.on(self.scale)


def are_near(width: Floats, other: Floats) -> NDArray[np.bool_]:
    """Whether curves may be of one branch of solutions; not where there is none of them."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(np.log(width / other)) < np.log(_NEAR))
