"""The families of curves that turn a score into odds (paper, Section 4; misprints corrected).

A curve is fixed by its thresholds t0 <= t1 and the mean odds p between them. With q = 1 - p, D = t1 - t0 and
x = (r - t0) / D its odds are 0 below t0 and 1 from t1 on, and its area over [t0, t1] is p D. All families but the
quartic are made of two halves that meet with odds p at the knot x = q:

    below the knot   p s(u),      u = x / q
    above the knot   1 - q s(v),  v = (1 - x) / p

with s(u) = u (linear), u^2 (quadratic), 3u^2 - 2u^3 (cubic). The quartic is one polynomial (paper, Equation 4),

    psi_p(x) = (30p - 12) x^2 + (28 - 60p) x^3 + (30p - 15) x^4,

monotone exactly for p in [2/5, 3/5]; it is evaluated from both ends, since psi_p(x) = 1 - psi_q(1 - x), so that its
odds never leave [0, 1] by rounding. The fixed curve (Hardt et al., 2016) is p all the way; on discrete scores it
carries one more number, the odds `at_t0` of the people exactly at t0.

The optimal curve is not of the paper: it is whatever piecewise-linear curve a linear program found, and is given by its
nodes.

Two shapes stand at the ends of every family: t0 = t1 is a single threshold, and t0, t1 at minus and plus infinity
is the constant p.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.errors import OptionError, one_of
from evenodds.geometry.pieces import Floats, Pieces

__all__ = [
    "CERTAIN",
    "CONTINUOUS",
    "FAMILIES",
    "PUBLISHED",
    "Curve",
    "is_random",
    "layout",
    "linear_system",
    "p_limits",
    "unit_slope",
]

CONTINUOUS = ("linear", "quadratic", "cubic", "quartic")
PUBLISHED = ("fixed", *CONTINUOUS)
"""The families of the paper."""
FAMILIES = (*PUBLISHED, "optimal")

# s(u) of the two-piece families, coefficients of u^0, u^1, ...
_HALVES = {"linear": np.array([0.0, 1]), "quadratic": np.array([0.0, 0, 1]), "cubic": np.array([0.0, 0, 3, -2])}
_FAR = 1e300  # beyond every threshold
_NARROW = 1e-300  # below it 1 / width is no number
_STRAIGHT = 1e-9  # a change of slope, relative to the largest, that is none
# The largest slope of s on [0, 1].
_HALF_SLOPE = {"linear": 1.0, "quadratic": 2.0, "cubic": 1.5}


CERTAIN = 1e-12
"""Odds nearer than this to 0 or 1 are certain."""


def is_random(odds: Floats) -> NDArray[np.bool_]:
    """Which odds are neither 0 nor 1, so that chance decides."""
    return (odds > CERTAIN) & (odds < 1 - CERTAIN)


def p_limits(family: str) -> tuple[float, float]:
    """The p for which a family is monotone; beyond them its odds would fall somewhere."""
    return (0.4, 0.6) if family == "quartic" else (0.0, 1.0)


def unit_slope(family: str, p: ArrayLike) -> Floats:
    """L_R times D: the largest slope of a family between thresholds 0 and 1.

    The paper places the maximum at the thresholds or the knot; the cubic's lies in the middle of its steeper half.

    >>> unit_slope("cubic", [0.5, 0.75]), unit_slope("quartic", [0.4, 0.5])
    (array([1.5, 4.5]), array([1.77777778, 1.5       ]))
    """
    at = np.asarray(p, dtype=np.float64)
    if family == "fixed":
        return np.full(at.shape, np.inf)
    if family in _HALVES:
        with np.errstate(divide="ignore"):
            return np.asarray(_HALF_SLOPE[family] * np.maximum(at / (1 - at), (1 - at) / at))
    # psi'' = 0 at x* = 1/2 - b / (2 + 2 sqrt(1 + 3 b^2)), b = 10 p - 5: the paper's root without its 0/0 at p = 1/2.
    b = 10 * at - 5
    x = 0.5 - b / (2 + 2 * np.sqrt(1 + 3 * b**2))
    return np.asarray(x * (1 - x) * ((60 * at - 24) + (60 - 120 * at) * x))


def layout(family: str, t0: ArrayLike, t1: ArrayLike, p: ArrayLike) -> Pieces:
    """Pieces of curves with t0 < t1, for the whole batch that t0, t1 and p span; `fixed` has no `at_t0` here."""
    t0, t1, p = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (t0, t1, p)))
    count, terms = (3, 1) if family == "fixed" else (4, 5 if family == "quartic" else len(_HALVES[family]))
    lo, hi = np.full((*p.shape, count), -np.inf), np.full((*p.shape, count), np.inf)
    origin, scale = np.zeros((*p.shape, count)), np.ones((*p.shape, count))
    coefficients = np.zeros((*p.shape, count, terms))
    coefficients[..., -1, 0] = 1.0
    lo[..., 1], lo[..., -1] = t0, t1
    if family == "fixed":
        coefficients[..., 1, 0] = p
    else:
        lower, upper = coefficients[..., 1, :], coefficients[..., 2, :]  # views, filled in below
        if family == "quartic":
            knot = t0 + (t1 - t0) / 2
            scale[..., 1], scale[..., 2] = t1 - t0, t0 - t1
            lower[..., 2:], upper[..., 2:] = _quartic(p), -_quartic(1 - p)
        else:
            knot = t0 + (1 - p) * (t1 - t0)
            # For p near 0 or 1 the knot may fall on a threshold; that half is then empty and its scale unused.
            scale[..., 1] = np.where(knot > t0, knot - t0, 1.0)
            scale[..., 2] = np.where(knot < t1, knot - t1, 1.0)
            half = _HALVES[family]
            lower[...], upper[...] = p[..., None] * half, (p[..., None] - 1) * half
        upper[..., 0] = 1.0
        lo[..., 2], origin[..., 1], origin[..., 2] = knot, t0, t1
    hi[..., :-1] = lo[..., 1:]
    return Pieces(lo, hi, origin, scale, coefficients)


def _quartic(p: Floats) -> Floats:
    """Coefficients of x^2, x^3 and x^4."""
    return np.stack([6 * (5 * p - 2), 4 * (7 - 15 * p), 15 * (2 * p - 1)], axis=-1)


@dataclass(frozen=True)
class Curve:
    """Odds of a yes as a non-decreasing function of the score (non-increasing for negative orientation).

    Parameters
    ----------
    family : str
        "fixed", "linear", "quadratic", "cubic" or "quartic"; "optimal" is made by `Curve.through`.
    t0, t1 : float
        The odds are 0 below t0 and 1 from t1 on (t1 included). t0 = t1 is a single threshold; t0 = -inf with
        t1 = inf is the constant p. For negative orientation the scale is mirrored, and t0 >= t1.
    p : float
        The mean odds between the thresholds. A single threshold has nothing between; its p is 0, as in the paper.
    at_t0 : float, optional
        Only for "fixed": the odds of people exactly at t0, between 0 and p; without it they are p.
    nodes : tuple of (score, odds), optional
        Only for "optimal": straight lines between them, constant beyond the first and the last.
    orientation : "positive" or "negative"

    Examples
    --------
    >>> curve = Curve("linear", t0=20, t1=60, p=0.25)
    >>> curve([10, 20, 50, 60])
    array([0.  , 0.  , 0.25, 1.  ])
    >>> curve.knot, curve.lipschitz
    (50.0, 0.075)
    >>> Curve("fixed", t0=30, t1=30, p=0).lipschitz
    inf
    """

    family: str
    t0: float
    t1: float
    p: float
    at_t0: float | None = None
    nodes: tuple[tuple[float, float], ...] | None = None
    orientation: Literal["positive", "negative"] = field(default="positive", kw_only=True)

    @classmethod
    def through(
        cls, scores: ArrayLike, odds: ArrayLike, *, orientation: Literal["positive", "negative"] = "positive"
    ) -> Curve:
        """The curve of straight lines through rising odds at rising scores (falling scores for negative orientation).

        Nodes on a straight line between their neighbours are left out. t0 and t1 are the first and the last node:
        beyond them the odds stay as they are there, which need not be 0 and 1.

        >>> curve = Curve.through([1, 2, 3, 4, 5], [0, 0, 0.25, 0.5, 0.5])
        >>> curve.nodes, curve.p, curve.lipschitz
        (((2.0, 0.0), (4.0, 0.5)), 0.25, 0.25)
        """
        x, y = np.asarray(scores, dtype=np.float64), np.asarray(odds, dtype=np.float64)
        slope = np.concatenate([[0.0], np.diff(y) / np.diff(x), [0.0]])
        kept = np.abs(np.diff(slope)) > _STRAIGHT * max(float(np.abs(slope).max()), _STRAIGHT)
        x, y = x[kept], y[kept]
        if not x.size:
            value = float(np.asarray(odds).flat[0])
            ends = (-np.inf, np.inf) if orientation == "positive" else (np.inf, -np.inf)
            return cls("optimal", *ends, value, orientation=orientation)
        area = float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)
        nodes = tuple(zip(x.tolist(), y.tolist(), strict=True))
        return cls("optimal", x[0], x[-1], area / (x[-1] - x[0]), nodes=nodes, orientation=orientation)

    def __post_init__(self) -> None:
        one_of("family", self.family, FAMILIES)
        if (self.nodes is not None) != (self.family == "optimal" and not (self.is_threshold or self.is_constant)):
            msg = "An optimal curve has nodes, and no other curve has. Hint: Curve.through(scores, odds) makes one."
            raise OptionError(msg)
        one_of("orientation", self.orientation, ("positive", "negative"))
        for name in ("t0", "t1", "p", "at_t0"):
            value = getattr(self, name)
            if value is not None or name != "at_t0":
                if not isinstance(value, (int, float, np.integer, np.floating)):
                    msg = f"{name} must be a number, got {value!r}."
                    raise OptionError(msg)
                object.__setattr__(self, name, float(value))
                if np.isnan(value):
                    msg = f"{name} must be a number, got nan."
                    raise OptionError(msg)
        start, stop = self._upward
        if start > stop:
            wanted = "t0 <= t1" if self.orientation == "positive" else "t0 >= t1 (negative orientation)"
            msg = f"The thresholds must satisfy {wanted}, got t0={self.t0:g} and t1={self.t1:g}."
            raise OptionError(msg)
        if np.isinf(start) != np.isinf(stop) or (np.isinf(start) and start == stop):
            msg = f"The thresholds must be finite, or -inf and inf for constant odds; got {self.t0:g} and {self.t1:g}."
            raise OptionError(msg)
        if np.isinf(self.width) and not np.isinf(start):
            msg = f"The thresholds {self.t0:g} and {self.t1:g} are too far apart for floating-point numbers."
            raise OptionError(msg)
        if 0 < self.width < _NARROW and self.family != "fixed":
            msg = f"The thresholds {self.t0!r} and {self.t1!r} are too near each other for floating-point numbers."
            raise OptionError(msg)
        self._check_p()

    def _check_p(self) -> None:
        lo, hi = p_limits(self.family)
        if self.is_threshold or self.is_constant:
            lo, hi = 0.0, 1.0
        # Without an open interval the knot would fall on a threshold and the curve would jump.
        ends = self.family in _HALVES and not (self.is_threshold or self.is_constant)
        if not (lo < self.p < hi if ends else lo <= self.p <= hi):
            allowed = f"{'above' if ends else 'from'} {lo:g} {'and below' if ends else 'to'} {hi:g}"
            why = ": beyond it the quartic's odds would fall as the score rises" if self.family == "quartic" else ""
            msg = f"p={self.p:g} is not allowed for a {self.family} curve. Allowed: {allowed}{why}."
            raise OptionError(msg)
        apart = self.family == "fixed" and not (self.is_threshold or self.is_constant)
        if self.at_t0 is not None and not (apart and 0 <= self.at_t0 <= self.p):
            msg = f"at_t0={self.at_t0:g} is not allowed: only a fixed curve has it, between 0 and p={self.p:g}."
            raise OptionError(msg)

    def moved(self, by: float) -> Curve:
        """The same curve for scores that are all higher by so much."""
        nodes = self.nodes and tuple((score + by, odds) for score, odds in self.nodes)
        return replace(self, t0=self.t0 + by, t1=self.t1 + by, nodes=nodes)

    @property
    def _upward(self) -> tuple[float, float]:
        """The thresholds on the scale on which a higher score speaks for a yes."""
        return (self.t0, self.t1) if self.orientation == "positive" else (-self.t0, -self.t1)

    @property
    def is_threshold(self) -> bool:
        """Whether this is a single threshold: no odds between 0 and 1."""
        return self.t0 == self.t1

    @property
    def is_constant(self) -> bool:
        """Whether everybody gets the odds p."""
        return bool(np.isinf(self.t0))

    @property
    def width(self) -> float:
        """D, the distance between the thresholds."""
        return abs(self.t1 - self.t0)

    @property
    def knot(self) -> float | None:
        """Where the two halves meet with odds p; None where there is no such point."""
        if self.family not in _HALVES or self.is_threshold or self.is_constant:
            return None
        return self.t0 + (1 - self.p) * (self.t1 - self.t0)

    @property
    def area(self) -> float:
        """The integral of the odds from t0 to t1: p D for every family."""
        return 0.0 if self.is_threshold else self.p * self.width

    @property
    def lipschitz(self) -> float:
        """L_R, the largest slope anywhere, as a magnitude; infinite where the odds jump."""
        if self.is_constant:
            return 0.0
        if self.is_threshold:
            return float("inf")
        if self.nodes is not None:
            x, y = np.array(self.nodes).T
            return float(np.abs(np.diff(y) / np.diff(x)).max())
        return float(unit_slope(self.family, self.p)) / self.width

    @cached_property
    def pieces(self) -> Pieces:
        """The curve as piecewise polynomials on the user's own scale."""
        start, stop = self._upward
        if self.is_constant:
            pieces = Pieces.joined(np.zeros(0), origin=[0.0], scale=[1.0], coefficients=[[self.p]])
        elif self.is_threshold:
            pieces = Pieces.joined([start], origin=[0.0] * 2, scale=[1.0] * 2, coefficients=[[0.0], [1.0]])
        elif self.nodes is not None:
            return self._straight_lines(self.nodes)
        elif self.at_t0 is not None:
            # The people exactly at t0 have a piece of their own, as narrow as floats allow.
            pieces = Pieces.joined(
                [start, np.nextafter(start, np.inf), stop],
                origin=[0.0] * 4,
                scale=[1.0] * 4,
                coefficients=[[0.0], [self.at_t0], [self.p], [1.0]],
            )
        else:
            pieces = layout(self.family, start, stop, self.p)
        return pieces if self.orientation == "positive" else pieces.mirrored()

    def _straight_lines(self, nodes: tuple[tuple[float, float], ...]) -> Pieces:
        x, y = np.array(nodes if self.orientation == "positive" else nodes[::-1]).T
        rise = np.concatenate([[0.0], np.diff(y), [0.0]])
        return Pieces.joined(
            x,
            origin=np.append(0.0, x),
            scale=np.concatenate([[1.0], np.diff(x), [1.0]]),
            coefficients=np.column_stack([np.append(y[0], y), rise]),
            closed="left" if self.orientation == "positive" else "right",
        )

    def __call__(self, r: ArrayLike) -> Floats:
        """Odds at the scores r, which may be infinite."""
        return self.pieces(np.clip(r, -_FAR, _FAR))

    def slope(self, r: ArrayLike) -> Floats:
        """Slope at the scores r, as a magnitude (jumps are not part of it: see `lipschitz`)."""
        return np.abs(self.pieces.derivative()(r))

    def odds_range(self, score_range: tuple[float, float]) -> list[tuple[float, float]]:
        """The odds that scores within `score_range` can get, as disjoint closed intervals (lo = hi: a single value)."""
        lo, hi = score_range
        pieces = self.pieces
        met = pieces.closed == "left"
        found: list[tuple[float, float]] = []
        for i in range(pieces.lo.size):
            start, stop = max(pieces.lo[i], lo), min(pieces.hi[i], hi)
            # An interval is met at its closed end even if it only touches the score range there.
            if start > stop or (
                start == stop and pieces.lo[i] != pieces.hi[i] and not self._holds(i, start, closed_left=met)
            ):
                continue
            ends = [self._piece_value(i, end) for end in (start, stop)]
            found.append((min(ends), max(ends)))
        return _merged(found)

    def _holds(self, piece: int, r: float, *, closed_left: bool) -> bool:
        lo, hi = self.pieces.lo[piece], self.pieces.hi[piece]
        return bool(lo <= r < hi if closed_left else lo < r <= hi)

    def _piece_value(self, piece: int, r: float) -> float:
        pieces = self.pieces
        u = (r - pieces.origin[piece]) * pieces.rate[piece]
        return float(np.polynomial.polynomial.polyval(u, pieces.coefficients[piece]))


def _merged(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Join intervals that touch, ascending."""
    joined: list[tuple[float, float]] = []
    for lo, hi in sorted(intervals):
        if joined and lo <= joined[-1][1] + 1e-12:
            joined[-1] = (joined[-1][0], max(hi, joined[-1][1]))
        else:
            joined.append((lo, hi))
    return joined


def linear_system(family: str, p: float) -> tuple[Floats, Floats]:
    """The linear system M c = b that a family's coefficients solve between thresholds 0 and 1 (paper, Appendix C).

    Each row is one stated constraint: values at both ends, slopes where the family is smooth, odds p at the knot
    q = 1 - p from both sides, and (cubic, quartic) the area p. The unknowns are the coefficients of x^0, x^1, ... of
    the lower piece, then of the upper one; the quartic has one piece only.

    The cubic's system is singular at p = 1/2: its area constraint says (1 - 2p) * slope at the knot = 0, so it forces
    a flat knot for every other p and says nothing at p = 1/2, where the closed form is one solution of many.

    Examples
    --------
    >>> matrix, right = linear_system("linear", 0.25)
    >>> np.linalg.solve(matrix, right).round(6)
    array([ 0.      ,  0.333333, -2.      ,  3.      ])
    """
    one_of("family", family, CONTINUOUS)
    q = 1 - p
    n = {"linear": 2, "quadratic": 3, "cubic": 4, "quartic": 5}[family]
    powers = np.arange(n)

    def value(x: float) -> Floats:
        return np.asarray(x**powers, dtype=np.float64)

    def slope(x: float) -> Floats:
        return np.asarray(powers * x ** np.maximum(powers - 1, 0), dtype=np.float64)

    def area(start: float, stop: float) -> Floats:
        return np.asarray((stop ** (powers + 1) - start ** (powers + 1)) / (powers + 1))

    if family == "quartic":
        return np.stack([value(0), slope(0), value(1), slope(1), area(0, 1)]), np.array([0.0, 0.0, 1.0, 0.0, p])
    none = np.zeros(n)

    def lower(row: Floats) -> Floats:
        return np.concatenate([row, none])

    def upper(row: Floats) -> Floats:
        return np.concatenate([none, row])

    rows = [(lower(value(0)), 0.0), (lower(value(q)), p), (upper(value(q)), p), (upper(value(1)), 1.0)]
    if family in ("quadratic", "cubic"):
        rows += [(lower(slope(0)), 0.0), (upper(slope(1)), 0.0)]
    if family == "cubic":
        rows += [(lower(slope(q)) - upper(slope(q)), 0.0), (lower(area(0, q)) + upper(area(q, 1)), p)]
    return np.stack([row for row, _ in rows]), np.array([right for _, right in rows])
