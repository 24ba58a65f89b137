"""Where curves stand: the places at which blurred ROCs are looked at (see `reach`).

A trace is the way of curves of one width and shape as they move from beyond the highest score to below the lowest. For
the linear curve its kinks are where either end meets a score; arcs are looked at in some places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats
from evenodds.geometry.samples import expected
from evenodds.geometry.stack import Bounds, Stack
from evenodds.model.families import Family
from evenodds.model.groups import Group

__all__ = [
    "FEW_SCORES",
    "LADDER",
    "PLACES",
    "Gentler",
    "Placed",
    "Traces",
    "has_ladder",
    "inside_traces",
    "is_sparse",
    "kinks",
    "ladder_traces",
    "least_width",
    "one_trace",
    "own_trace",
    "some_scores",
]

LADDER = 4.0 ** (np.arange(1, 7) / 6)
"""How many times wider the gentler curves are whose blurred ROC may stick out."""
_NARROW = 1e-9  # of the score range: no curve need be narrower
PLACES = 64
"""Floating-point numbers over which a curve must at least extend."""
FEW_SCORES = 300
"""Scores whose kinks make the first vertices of an arc, and of gentler curves."""
_FEW_ROUGHLY = 100  # the same in a first search
_FEW_RAMPS = 2000  # scores up to which the linear curve's polyline has all its vertices
_SMOOTH = 500  # scores within a ramp that make the blurred ROC smooth
_SAME = 1e-12  # of the width: curves nearer to each other are at one place
_ARC = 16  # places along an arc, over a curve's width
_FIRST_LOOK = 64  # scores that make the first vertices of a smooth one
_FEW_INSIDE = 60  # scores whose kinks count where thresholds are bound
_INSIDE_WIDTHS = 6  # from the budget's own width to the whole score range
_INSIDE_P = 2  # shapes to each side of p = 1/2
_HALF = 0.5  # p of a symmetric curve
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Placed:
    """The thresholds and the shape of a curve; t0 = t1 is a single threshold."""

    t0: float
    t1: float
    p: float


@dataclass(frozen=True, eq=False)
class Traces:
    """Curves, trace after trace; along each trace their positions fall."""

    t0: Floats
    t1: Floats
    p: Floats
    trace: Index
    """The number of the trace that each curve lies on."""
    exact: NDArray[np.bool_]
    """Whether the blurred ROC is straight between a curve and its neighbours, so that none is missed between them."""
    begins: NDArray[np.bool_]
    """Whether a curve begins at a score; else it ends at one, or is between those that do."""

    @classmethod
    def along(cls, scores: Floats, widths: Floats, *, exact: bool, middles: Floats | None = None) -> Traces:
        """The symmetric curves of some widths that begin or end at one of the scores: one trace for each width.

        With `middles` also those whose middle is at one of these places.
        """
        room = _room(scores, widths[:, None])
        held = np.broadcast_to(scores, room.shape)
        starts, stops = [held, scores - room], [scores + room, held]
        if middles is not None:
            half = _room(middles, widths[:, None]) / 2
            starts, stops = [*starts, middles - half], [*stops, middles + half]
        t0, t1 = np.concatenate(starts, axis=1), np.concatenate(stops, axis=1)
        order = np.argsort(-t0, axis=1, kind="stable")
        t0, t1 = np.take_along_axis(t0, order, axis=1), np.take_along_axis(t1, order, axis=1)
        count, each = t0.shape
        trace = np.repeat(np.arange(count), each)
        p, is_exact = np.full(t0.size, _HALF), np.full(t0.size, exact)
        traces = cls(t0.ravel(), t1.ravel(), p, trace, is_exact, (order < scores.size).ravel())
        if exact:
            return traces
        # Two curves at one place would hide the arc beside them from those who look closer.
        apart = np.column_stack([np.ones(count, bool), np.diff(t0, axis=1) < -_SAME * widths[:, None]])
        return traces.among(apart.ravel())

    @classmethod
    def none(cls) -> Traces:
        """No curve."""
        no_number, no_truth = np.zeros(0), np.zeros(0, bool)
        return cls(no_number, no_number, no_number, np.zeros(0, np.intp), no_truth, no_truth)

    @classmethod
    def concatenated(cls, several: Sequence[Traces]) -> Traces:
        """Curves one after the other, whose traces keep their numbers."""
        return cls(*(np.concatenate([getattr(part, field.name) for part in several]) for field in fields(cls)))

    @classmethod
    def joined(cls, several: Sequence[Traces]) -> Traces:
        """Traces of several kinds one after the other, numbered throughout."""
        parts = [part for part in several if part.size]
        if len(parts) < 2:  # noqa: PLR2004 nothing to join
            return parts[0] if parts else cls.none()
        starts = np.cumsum([0, *(int(part.trace[-1]) + 1 for part in parts[:-1])]).tolist()
        return cls.concatenated(
            [replace(part, trace=part.trace + start) for part, start in zip(parts, starts, strict=True)]
        )

    def among(self, which: Index | NDArray[np.bool_]) -> Traces:
        """Some of the curves."""
        return Traces(*(getattr(self, field.name)[which] for field in fields(self)))

    @property
    def size(self) -> int:
        """How many curves there are."""
        return self.t0.size

    def rates(self, family: Family, stack: Stack, bounds: Bounds) -> Floats:
        """(FPR, TPR) of the curves, of shape (2, n)."""
        if family.is_straight and (self.p == _HALF).all():
            return stack.ramps(self.t0, self.t1, bounds)
        pieces = family.layout(self.t0, self.t1, self.p)
        return expected(pieces.coefficients, stack.local(pieces, bounds, quick=True))


@dataclass(frozen=True, eq=False)
class Gentler:
    """Curves that are some times as wide as the budget asks for, and begin or end at a score."""

    score: Floats
    wider: Floats
    begins: NDArray[np.bool_]

    @classmethod
    def none(cls) -> Gentler:
        """No curve."""
        return cls(np.zeros(0), np.zeros(0), np.zeros(0, bool))

    def placed(self, width: float) -> Traces:
        """The curves under another budget, each on a trace of its own."""
        room = _room(self.score, self.wider * width)
        t0 = np.where(self.begins, self.score, self.score - room)
        t1 = np.where(self.begins, self.score + room, self.score)
        count = self.score.size
        return Traces(t0, t1, np.full(count, _HALF), np.arange(count), np.ones(count, bool), self.begins)


def own_trace(group: Group, family: Family, width: float, *, roughly: bool) -> Traces:
    """The places at which the ROC is looked at that is blurred as the budget allows; a first search looks at few."""
    sparse = is_sparse(group, family, width)
    if family.is_straight:
        few = _FEW_ROUGHLY if roughly else _FIRST_LOOK if sparse else None
        scores = group.scores if few is None else some_scores(group, few)
    else:
        scores = _along(group, some_scores(group, _FEW_ROUGHLY if roughly else FEW_SCORES), width)
    return Traces.along(scores, np.array([width]), exact=not sparse, middles=_middles(group, family, width))


def ladder_traces(group: Group, family: Family, width: float) -> Traces:
    """The same for gentler curves: they have smaller dents, so some of many scores are enough."""
    if family.is_straight:
        return Traces.along(some_scores(group, FEW_SCORES // 2), LADDER * width, exact=True)
    scores = _along(group, some_scores(group, _FEW_ROUGHLY), width)
    return Traces.along(scores, LADDER * width, exact=False, middles=_middles(group, family, width))


def _along(group: Group, scores: Floats, width: float) -> Floats:
    """Scores, and places between them where these are too far apart to follow an arc."""
    lo, hi = group.ends
    more = int(np.clip(_ARC * (hi - lo) / width, _ARC, 4 * _ARC))
    # A curve that is wider than the scores has all of them before its middle, or after, in most places.
    places = (np.linspace(lo, hi, more), np.linspace(lo - width, lo, _ARC) if width > hi - lo else np.zeros(0))
    return np.unique(np.concatenate([scores, *places]))


def _middles(group: Group, family: Family, width: float) -> Floats | None:
    """Where the middle of curves is looked at too: an arc bends as it passes the scores, if it is wider than these."""
    lo, hi = group.ends
    return np.linspace(lo, hi, _ARC) if width > hi - lo and not family.is_straight else None


def one_trace(t0: Floats, t1: Floats, p: float = _HALF, *, exact: bool = True) -> Traces:
    """Curves with these thresholds, as a single trace."""
    count = t0.size
    no = np.zeros(count, bool)
    return Traces(t0, t1, np.full(count, p), np.zeros(count, np.intp), no | exact, no)


def inside_traces(group: Group, family: Family, slope: float, inside: tuple[float, float]) -> Traces:
    """Curves of several widths and shapes whose thresholds both stay between two scores."""
    lo, hi = inside
    scores = some_scores(group, _FEW_INSIDE)
    looks = []
    for p in family.p_grid(_INSIDE_P).tolist():
        # Where all scores are the same any width does.
        own = least_width(group, family, slope, p) if group.score_count > 1 else float(family.unit_slope(p)) / slope
        least = max(own, PLACES * float(np.spacing(max(abs(lo), abs(hi)))))
        if least > (hi - lo) * (1 + 1e-12):
            continue
        for width in np.geomspace(least, hi - lo, _INSIDE_WIDTHS).tolist() if least < hi - lo else [hi - lo]:
            narrow = width == least and has_ladder(group)
            t0, t1 = kinks(group.scores if narrow else scores, width)
            within = (t0 >= lo) & (t1 <= hi)
            t0, t1 = np.concatenate([[hi - width], t0[within], [lo]]), np.concatenate([[hi], t1[within], [lo + width]])
            looks.append(one_trace(t0, t1, p, exact=False))
    return Traces.joined(looks)


def least_width(group: Group, family: Family, slope: float, p: float = 0.5) -> float:
    """The width of a curve with this slope, or one that is as good as narrower ones.

    A curve that fits into every gap between scores is a threshold. A wider curve is gentler, so what it reaches is
    within the budget too.
    """
    lo, hi = group.ends
    enough = _NARROW * (hi - lo) if group.is_large else min(group.least_gap, max(hi - lo, 1.0)) / 2
    unit = family.symmetric_slope if p == _HALF else float(family.unit_slope(p))
    return max(unit / slope, enough)


def has_ladder(group: Group) -> bool:
    """Whether gentler curves may stick out: of many scores the blurred ROC has no dents to speak of."""
    return group.score_count <= _FEW_RAMPS


def is_sparse(group: Group, family: Family, width: float) -> bool:
    """Whether a blurred ROC is looked at in some places only: it is an arc, or has too many kinks for more."""
    if not family.is_straight:
        return True
    lo, hi = group.ends
    return group.score_count > _FEW_RAMPS and width * group.score_count > _SMOOTH * (hi - lo)


def some_scores(group: Group, count: int) -> Floats:
    """So many of the group's scores, evenly by rank within each label, the ends among them."""
    places = (np.linspace(0, s.size - 1, min(count, s.size)).astype(np.intp) for s in group.score_lists)
    return np.unique(np.concatenate([s[at] for s, at in zip(group.score_lists, places, strict=True)]))


def kinks(scores: Floats, width: float) -> tuple[Floats, Floats]:
    """The thresholds of curves, falling, of which either end meets one of the scores.

    Where floating-point numbers are too far apart for the width, curves are as much wider as it takes; and everywhere
    by so little that rounding makes none of them steeper.
    """
    room = _room(scores, width)
    t0, t1 = np.concatenate([scores, scores - room]), np.concatenate([scores + room, scores])
    _, first = np.unique(t0, return_index=True)
    return t0[first[::-1]], t1[first[::-1]]


def _room(scores: Floats, width: Floats | float) -> Floats:
    """The width of curves at scores: where floating-point numbers are too far apart for it, as much as it takes."""
    place = np.spacing(np.abs(scores) + width)
    return np.asarray(np.maximum(width + 4 * place, PLACES * place))
