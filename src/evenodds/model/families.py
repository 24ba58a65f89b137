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

The optimal curve is not of the paper: it is the best piecewise-linear curve of all that rise, and is given by its
nodes.

A family is an object that says what its curves look like; searches, criteria and reports ask it, and never its name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.errors import OptionError, one_of
from evenodds.geometry.pieces import Floats, Pieces
from evenodds.geometry.roots import bracketed_roots
from evenodds.geometry.samples import Sample

__all__ = ["CHOICES", "CONTINUOUS", "FAMILIES", "PUBLISHED", "Family", "choice_of", "family_of", "where_unit_odds_are"]

_P_MIN, _P_MAX = 0.05, 0.95  # beyond these p the thresholds of some families run off to infinity


@dataclass(frozen=True)
class Family(ABC):
    """What the curves of one family have in common."""

    name: str
    is_continuous: ClassVar[bool] = True
    """Whether odds rise without a jump, so that a slope budget can hold."""
    has_path: ClassVar[bool] = True
    """Whether a point is met by a whole path of curves, one for each p, among which a criterion chooses."""
    has_knot: ClassVar[bool] = False
    """Whether two halves meet with odds p."""
    p_limits: ClassVar[tuple[float, float]] = (0.0, 1.0)
    """The p for which the family is monotone; beyond them its odds would fall somewhere."""
    why_limits: ClassVar[str] = ""
    """What is added to a message about p beyond the limits."""
    is_hard: ClassVar[bool] = False
    """Whether nobody is decided by chance: one threshold a group."""

    @property
    def is_straight(self) -> bool:
        """Whether a symmetric curve is a straight ramp, whose rates are sums over scores."""
        return False

    @property
    def with_article(self) -> str:
        """The family's name as a sentence has it."""
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name} curve"

    @cached_property
    def symmetric_slope(self) -> float:
        """The largest slope of the curve with p = 1/2 between thresholds 0 and 1."""
        return float(self.unit_slope(0.5))

    @property
    def search_limits(self) -> tuple[float, float]:
        """The p that are searched."""
        lo, hi = self.p_limits
        return max(lo, _P_MIN), min(hi, _P_MAX)

    def p_grid(self, steps: int = 18) -> Floats:
        """2 steps + 1 values of p over the limits, 1/2 exactly in the middle."""
        _, hi = self.search_limits
        return np.asarray(0.5 + (hi - 0.5) * np.arange(-steps, steps + 1) / steps)

    def smooth_p(self) -> Floats | None:
        """The p at which the family's curves have no kink: None where all have none, empty where each has one."""
        return np.zeros(0)

    @abstractmethod
    def unit_slope(self, p: ArrayLike) -> Floats:
        """L_R times D: the largest slope between thresholds 0 and 1."""

    @abstractmethod
    def layout(self, t0: ArrayLike, t1: ArrayLike, p: ArrayLike) -> Pieces:
        """Pieces of curves with t0 < t1, for the whole batch that t0, t1 and p span."""

    def unit_roughness(self, p: Floats) -> Floats:
        """The integral of the squared second derivative between thresholds 0 and 1, where the family is smooth."""
        raise NotImplementedError

    def linear_system(self, p: float) -> tuple[Floats, Floats]:
        """The linear system M c = b that the coefficients solve between thresholds 0 and 1 (paper, Appendix C).

        Each row is one stated constraint: values at both ends, slopes where the family is smooth, odds p at the knot
        q = 1 - p from both sides, and (cubic, quartic) the area p. The unknowns are the coefficients of x^0, x^1, ...
        of the lower piece, then of the upper one; the quartic has one piece only.

        The cubic's system is singular at p = 1/2: its area constraint says (1 - 2p) * slope at the knot = 0, so it
        forces a flat knot for every other p and says nothing at p = 1/2, where the closed form is one solution of many.

        >>> matrix, right = family_of("linear").linear_system(0.25)
        >>> np.linalg.solve(matrix, right).round(6)
        array([ 0.      ,  0.333333, -2.      ,  3.      ])
        """
        raise NotImplementedError


def _blank(t0: ArrayLike, t1: ArrayLike, p: ArrayLike, count: int, terms: int) -> tuple[Floats, Floats, Floats, Pieces]:
    """Pieces that are 0 up to t0 and 1 from t1 on, and still empty between."""
    start, stop, mean = np.broadcast_arrays(*(np.asarray(a, dtype=np.float64) for a in (t0, t1, p)))
    shape = (*mean.shape, count)
    lo, hi = np.full(shape, -np.inf), np.full(shape, np.inf)
    lo[..., 1], lo[..., -1] = start, stop
    coefficients = np.zeros((*shape, terms))
    coefficients[..., -1, 0] = 1.0
    return start, stop, mean, Pieces(lo, hi, np.zeros(shape), np.ones(shape), coefficients)


@dataclass(frozen=True)
class _Halves(Family):
    """Two scaled copies of one half s(u), the upper one turned by half a turn."""

    half: tuple[float, ...]
    """Coefficients of u^0, u^1, ... of s."""
    half_slope: float
    """The largest slope of s on [0, 1]."""
    roughness: float | None = None
    """The integral of s''^2 over [0, 1], for families whose curves may have no kink."""
    smooth_at: tuple[float, ...] | None = ()
    """The p at which the halves have one slope at the knot; None for all p."""
    has_knot: ClassVar[bool] = True

    @property
    def is_straight(self) -> bool:
        return len(self.half) == 2  # noqa: PLR2004 a straight line has two coefficients

    def smooth_p(self) -> Floats | None:
        return None if self.smooth_at is None else np.array(self.smooth_at)

    def unit_slope(self, p: ArrayLike) -> Floats:
        """The larger of the two halves': p/q below the knot and q/p above it, times the half's own.

        >>> family_of("cubic").unit_slope([0.5, 0.75])
        array([1.5, 4.5])
        """
        at = np.asarray(p, dtype=np.float64)
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(self.half_slope * np.maximum(at / (1 - at), (1 - at) / at))

    def layout(self, t0: ArrayLike, t1: ArrayLike, p: ArrayLike) -> Pieces:
        start, stop, mean, pieces = _blank(t0, t1, p, 4, len(self.half))
        knot = start + (1 - mean) * (stop - start)
        # For p near 0 or 1 the knot may fall on a threshold; that half is then empty and its scale unused.
        pieces.scale[..., 1] = np.where(knot > start, knot - start, 1.0)
        pieces.scale[..., 2] = np.where(knot < stop, knot - stop, 1.0)
        half = np.array(self.half)
        pieces.coefficients[..., 1, :] = mean[..., None] * half
        pieces.coefficients[..., 2, :] = (mean[..., None] - 1) * half
        return _closed(pieces, start, knot, stop)

    def unit_roughness(self, p: Floats) -> Floats:
        """12 (p^2/q^3 + q^2/p^3) for the cubic."""
        q = 1 - p
        return np.asarray((self.roughness or np.nan) * (p**2 / q**3 + q**2 / p**3))

    def linear_system(self, p: float) -> tuple[Floats, Floats]:
        terms, q = len(self.half), 1 - p
        none = np.zeros(terms)

        def lower(row: Floats) -> Floats:
            return np.concatenate([row, none])

        def upper(row: Floats) -> Floats:
            return np.concatenate([none, row])

        start, knot, end = (_value_row(x, terms) for x in (0, q, 1))
        rows = [(lower(start), 0.0), (lower(knot), p), (upper(knot), p), (upper(end), 1.0)]
        if not self.is_straight:
            rows += [(lower(_slope_row(0, terms)), 0.0), (upper(_slope_row(1, terms)), 0.0)]
        if self.smooth_at is None:
            at_knot = _slope_row(q, terms)
            rows.append((lower(at_knot) - upper(at_knot), 0.0))
            rows.append((lower(_area_row(0, q, terms)) + upper(_area_row(q, 1, terms)), p))
        return np.stack([row for row, _ in rows]), np.array([right for _, right in rows])


@dataclass(frozen=True)
class _Quartic(Family):
    """One polynomial from t0 to t1."""

    p_limits: ClassVar[tuple[float, float]] = (0.4, 0.6)
    why_limits: ClassVar[str] = ": beyond it the quartic's odds would fall as the score rises"

    def smooth_p(self) -> Floats | None:
        return None

    def unit_slope(self, p: ArrayLike) -> Floats:
        """Psi' where psi'' = 0: at x* = 1/2 - b / (2 + 2 sqrt(1 + 3 b^2)), b = 10 p - 5.

        That is the paper's root without its 0/0 at p = 1/2.

        >>> family_of("quartic").unit_slope([0.4, 0.5])
        array([1.77777778, 1.5       ])
        """
        at = np.asarray(p, dtype=np.float64)
        b = 10 * at - 5
        x = 0.5 - b / (2 + 2 * np.sqrt(1 + 3 * b**2))
        return np.asarray(x * (1 - x) * ((60 * at - 24) + (60 - 120 * at) * x))

    def layout(self, t0: ArrayLike, t1: ArrayLike, p: ArrayLike) -> Pieces:
        start, stop, mean, pieces = _blank(t0, t1, p, 4, 5)
        pieces.scale[..., 1], pieces.scale[..., 2] = stop - start, start - stop
        pieces.coefficients[..., 1, 2:] = self._coefficients(mean)
        pieces.coefficients[..., 2, 2:] = -self._coefficients(1 - mean)
        return _closed(pieces, start, start + (stop - start) / 2, stop)

    @staticmethod
    def _coefficients(p: Floats) -> Floats:
        """Of x^2, x^3 and x^4."""
        return np.stack([6 * (5 * p - 2), 4 * (7 - 15 * p), 15 * (2 * p - 1)], axis=-1)

    def unit_roughness(self, p: Floats) -> Floats:
        c2, c3, c4 = 60 * p - 24, 168 - 360 * p, 360 * p - 180
        return np.asarray(c2**2 + c2 * c3 + (c3**2 + 2 * c2 * c4) / 3 + c3 * c4 / 2 + c4**2 / 5)

    def linear_system(self, p: float) -> tuple[Floats, Floats]:
        rows = [row(x, 5) for x in (0, 1) for row in (_value_row, _slope_row)]
        return np.stack([*rows, _area_row(0, 1, 5)]), np.array([0.0, 0.0, 1.0, 0.0, p])


@dataclass(frozen=True)
class _Fixed(Family):
    """One lottery for everybody between the thresholds (Hardt et al., 2016)."""

    is_continuous: ClassVar[bool] = False
    has_path: ClassVar[bool] = False

    def unit_slope(self, p: ArrayLike) -> Floats:
        return np.full(np.shape(p), np.inf)

    def layout(self, t0: ArrayLike, t1: ArrayLike, p: ArrayLike) -> Pieces:
        """Without `at_t0`."""
        start, stop, mean, pieces = _blank(t0, t1, p, 3, 1)
        pieces.coefficients[..., 1, 0] = mean
        pieces.hi[..., 0], pieces.hi[..., 1] = start, stop
        return pieces


@dataclass(frozen=True)
class _Threshold(_Fixed):
    """Fixed randomisation without any: a yes from one score on."""

    is_hard: ClassVar[bool] = True

    @property
    def with_article(self) -> str:
        return "a threshold"


@dataclass(frozen=True)
class _Optimal(Family):
    """Straight lines through nodes: the best of all rising odds."""

    has_path: ClassVar[bool] = False

    def unit_slope(self, p: ArrayLike) -> Floats:
        msg = f"The slopes of {self.with_article} are between its nodes; they do not follow from p={p!r}."
        raise OptionError(msg)

    def layout(self, t0: ArrayLike, t1: ArrayLike, p: ArrayLike) -> Pieces:
        msg = f"{self.with_article.capitalize()} has nodes; t0={t0!r}, t1={t1!r} and p={p!r} do not say what it is."
        raise OptionError(msg)


def _closed(pieces: Pieces, start: Floats, knot: Floats, stop: Floats) -> Pieces:
    """The lower half counted from t0 and the upper one from t1, so that rounding never lets odds leave [0, 1]."""
    pieces.coefficients[..., 2, 0] = 1.0
    pieces.lo[..., 2], pieces.origin[..., 1], pieces.origin[..., 2] = knot, start, stop
    pieces.hi[..., :-1] = pieces.lo[..., 1:]
    return pieces


def _value_row(x: float, terms: int) -> Floats:
    """The row of a linear system for the value of a polynomial."""
    return np.asarray(x ** np.arange(terms), dtype=np.float64)


def _slope_row(x: float, terms: int) -> Floats:
    """The same for its slope."""
    powers = np.arange(terms)
    return np.asarray(powers * x ** np.maximum(powers - 1, 0), dtype=np.float64)


def _area_row(start: float, stop: float, terms: int) -> Floats:
    """The same for its area between two places."""
    powers = np.arange(1, terms + 1)
    return np.asarray((stop**powers - start**powers) / powers)


_ALL: Mapping[str, Family] = MappingProxyType(
    {
        family.name: family
        for family in (
            _Fixed("fixed"),
            _Halves("linear", half=(0.0, 1.0), half_slope=1.0),
            _Halves("quadratic", half=(0.0, 0.0, 1.0), half_slope=2.0, roughness=4.0, smooth_at=(0.5,)),
            _Halves("cubic", half=(0.0, 0.0, 3.0, -2.0), half_slope=1.5, roughness=12.0, smooth_at=None),
            _Quartic("quartic"),
            _Optimal("optimal"),
        )
    }
)
FAMILIES = tuple(_ALL)
PUBLISHED = tuple(name for name, family in _ALL.items() if family.has_path or not family.is_continuous)
"""The families of the paper."""
_THRESHOLD = _Threshold("threshold")
CHOICES = (*FAMILIES, _THRESHOLD.name)
"""What may be asked for: a family, or thresholds alone, whose curves are fixed ones with nobody between t0 and t1."""
CONTINUOUS = tuple(name for name, family in _ALL.items() if family.has_path)
"""Those of them whose odds do not jump."""


def family_of(name: object, option: str = "curve") -> Family:
    """The family of a name.

    >>> family_of("cubic").smooth_p() is None, family_of("quadratic").smooth_p()
    (True, array([0.5]))
    """
    return _ALL[one_of(option, name, FAMILIES)]


def choice_of(name: object) -> Family:
    """What was asked for with curve=.

    >>> choice_of("threshold").is_hard, choice_of("fixed").is_hard
    (True, False)
    """
    return _THRESHOLD if one_of("curve", name, CHOICES) == _THRESHOLD.name else family_of(name)


def where_unit_odds_are(family: Family, odds: float, p: Floats, *, within: float = 0.0) -> Floats:
    """The x at which curves of a family between thresholds 0 and 1 have these odds, as exactly as asked for."""
    at_zero = Sample(np.zeros(1))

    def excess(x: Floats, i: NDArray[np.intp]) -> Floats:
        return at_zero.expectation(family.layout(-x, 1 - x, p[i])) - odds

    ones = np.ones(p.size)
    return bracketed_roots(excess, ones, 0 * ones, (1 - odds) * ones, -odds * ones, tolerance=within * ones)[1]
