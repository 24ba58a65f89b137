"""A curve: odds of a yes as a function of the score, for one group.

Curves come from families (see `families`). Two shapes stand at the ends of every family: t0 = t1 is a single threshold,
and t0, t1 at minus and plus infinity is the constant p. A mix is the sum of two curves of a family, each times its
share; it reaches points that no single one of them can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.errors import OptionError, one_of
from evenodds.geometry.pieces import NARROWEST, Floats, Pieces
from evenodds.model import mixture
from evenodds.model.families import Family, family_of
from evenodds.model.nodes import checked_nodes, mean_between, nodes_from_to, steps, straight_lines, without_straight
from evenodds.model.scale import ORIENTATIONS, UPWARD, Orientation, Scale
from evenodds.values import PickledByFields, number_or_infinity

__all__ = ["CERTAIN", "Curve", "is_random"]

_FAR = 1e300  # beyond every threshold
_NOTHING = 1e-15  # a share that is none

CERTAIN = 1e-12
"""Odds nearer than this to 0 or 1 are certain."""


def is_random(odds: Floats) -> NDArray[np.bool_]:
    """Which odds are neither 0 nor 1, so that chance decides."""
    return (odds > CERTAIN) & (odds < 1 - CERTAIN)


@dataclass(frozen=True)
class Curve(PickledByFields):
    """Odds of a yes as a non-decreasing function of the score (non-increasing for negative orientation).

    Call it with scores to get their odds. `fit` finds curves; make one yourself to look at its shape.

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
    parts : two pairs of (share, Curve), optional
        Only for a mix, which `Curve.mixed` makes: t0 and t1 are then its ends, p the mean odds between them.
    orientation : "positive" or "negative"
        Whether a higher score speaks for a yes or against it.

    See Also
    --------
    fit : Find a curve for each group.
    solutions : All curves of a family through one point.
    plot.curves : A picture of a policy's curves.
    odds_distance, individual.threshold_effect : How far apart a curve's odds are at two scores, or within a step.

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
    parts: mixture.Parts | tuple[()] = ()
    orientation: Orientation = field(default="positive", kw_only=True)

    @classmethod
    def through(cls, scores: ArrayLike, odds: ArrayLike, *, orientation: Orientation = "positive") -> Curve:
        """The curve of straight lines through rising odds at rising scores (falling scores for negative orientation).

        Nodes on a straight line between their neighbours are left out. t0 and t1 are the first and the last node:
        beyond them the odds stay as they are there, which need not be 0 and 1.

        Parameters
        ----------
        scores : array of numbers
            Each higher than the one before; each lower for negative orientation.
        odds : array of as many numbers from 0 to 1
            None less than the one before.
        orientation : "positive" or "negative"
            As for `Curve`.

        Returns
        -------
        Curve
            Of the family "optimal"; constant odds have no nodes.

        Examples
        --------
        >>> curve = Curve.through([1, 2, 3, 4, 5], [0, 0, 0.25, 0.5, 0.5])
        >>> curve.nodes, curve.p, curve.lipschitz
        (((2.0, 0.0), (4.0, 0.5)), 0.25, 0.25)
        """
        one_of("orientation", orientation, ORIENTATIONS)
        x, y = checked_nodes(scores, odds, rising=orientation == "positive")
        value = float(y[0])
        x, y = without_straight(x, y)
        if not x.size:
            ends = (-np.inf, np.inf) if orientation == "positive" else (np.inf, -np.inf)
            return cls("optimal", *ends, value, orientation=orientation)
        nodes = tuple(zip(x.tolist(), y.tolist(), strict=True))
        return cls("optimal", x[0], x[-1], mean_between(x, y), nodes=nodes, orientation=orientation)

    @classmethod
    def threshold(cls, score: float, *, orientation: Orientation = "positive") -> Curve:
        """A single threshold: a yes from this score on, which belongs to it.

        Parameters
        ----------
        score : float
            The lowest score with a yes; the highest for negative orientation.
        orientation : "positive" or "negative"
            As for `Curve`.

        Returns
        -------
        Curve
            Its odds jump from 0 to 1, so its largest slope is infinite.

        Examples
        --------
        >>> Curve.threshold(3.0)([2.9, 3.0])
        array([0., 1.])
        """
        return cls("fixed", score, score, 0.0, orientation=orientation)

    @classmethod
    def mixed(cls, parts: Sequence[tuple[float, Curve]]) -> Curve:
        """The sum of two curves of one family, each times its share; the shares sum to 1.

        The parts are continuous curves or single thresholds. A mix rises as they do, and its slope is nowhere more
        than the shares of theirs. A share of 0, or two parts that are the same, give back the single curve.

        Parameters
        ----------
        parts : two pairs of (share, Curve)
            In any order.

        Returns
        -------
        Curve
            Its `parts` are the two.

        Examples
        --------
        >>> mix = Curve.mixed([(0.25, Curve("linear", 10, 20, 0.5)), (0.75, Curve("linear", 30, 45, 0.5))])
        >>> mix([10, 20, 30, 45]), mix.lipschitz
        (array([0.  , 0.25, 0.25, 1.  ]), 0.05)
        >>> mix.t0, mix.t1, [(share, part.t0, part.t1) for share, part in mix.parts]
        (10.0, 45.0, [(0.25, 10.0, 20.0), (0.75, 30.0, 45.0)])
        """
        (first, one), (second, other) = mixture.checked(parts, Curve)
        if first <= _NOTHING or second <= _NOTHING or mixture.are_the_same(one, other):
            return other if first <= _NOTHING else one
        if (*other.upward, other.p) < (*one.upward, one.p):
            first, one, other = second, other, one
        ordered = ((first, one), (1 - first, other))
        t0, t1, p = mixture.ends_and_mean(ordered)
        return cls(one.family, t0, t1, p, parts=ordered, orientation=one.orientation)

    def __post_init__(self) -> None:
        family_of(self.family, "family")
        one_of("orientation", self.orientation, ORIENTATIONS)
        for name in ("t0", "t1", "p", *(["at_t0"] if self.at_t0 is not None else [])):
            object.__setattr__(self, name, number_or_infinity(name, getattr(self, name)))
        if not (isinstance(self.parts, tuple) and not self.parts):
            object.__setattr__(self, "parts", mixture.checked(self.parts, Curve))
        self._check_thresholds()
        self._check_p()
        self._check_nodes()
        mixture.check_sum(self)

    def _check_thresholds(self) -> None:
        start, stop = self.upward
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
        if 0 < self.width < NARROWEST and self.family != "fixed":
            msg = f"The thresholds {self.t0!r} and {self.t1!r} are too near each other for floating-point numbers."
            raise OptionError(msg)

    def _check_p(self) -> None:
        lo, hi = (0.0, 1.0) if self._is_limit or self.parts else self._family.p_limits
        # Without an open interval the knot would fall on a threshold and the curve would jump.
        if not (lo < self.p < hi if self._has_halves else lo <= self.p <= hi):
            allowed = f"above {lo:g} and below {hi:g}" if self._has_halves else f"from {lo:g} to {hi:g}"
            why = "" if self.parts else self._family.why_limits
            msg = f"p={self.p:g} is not allowed for {self._family.with_article}. Allowed: {allowed}{why}."
            raise OptionError(msg)
        if self.at_t0 is not None and not (self.family == "fixed" and not self._is_limit and 0 <= self.at_t0 <= self.p):
            msg = f"at_t0={self.at_t0:g} is not allowed: only a fixed curve has it, between 0 and p={self.p:g}."
            raise OptionError(msg)

    def _check_nodes(self) -> None:
        if (self.nodes is not None) != (self.family == "optimal" and not self._is_limit):
            msg = "An optimal curve has nodes, and no other curve has. Hint: Curve.through(scores, odds) makes one."
            raise OptionError(msg)
        if self.nodes is not None:
            checked = nodes_from_to(self.nodes, self.t0, self.t1, self.p, rising=self.orientation == "positive")
            object.__setattr__(self, "nodes", checked)

    def moved(self, by: float) -> Curve:
        """The same curve for scores that are all higher by so much.

        Parameters
        ----------
        by : float
            What is added to every score.

        Returns
        -------
        Curve
            With other thresholds, and the same slopes.
        """
        return self._with(lambda score: score + by, self.orientation)

    def on(self, scale: Scale) -> Curve:
        """The same curve, which is for scores as they are searched, for people's own.

        Parameters
        ----------
        scale : Scale
            How the two relate.

        Returns
        -------
        Curve
            For people's own scores.
        """
        return self if scale == UPWARD else self._with(scale.own, scale.orientation)

    def _with(self, score_of: Callable[[float], float], orientation: Orientation) -> Curve:
        """The same curve with every score replaced."""
        if self.parts:
            return Curve.mixed([(share, part._with(score_of, orientation)) for share, part in self.parts])  # noqa: SLF001
        nodes = self.nodes and tuple((score_of(score), odds) for score, odds in self.nodes)
        return replace(self, t0=score_of(self.t0), t1=score_of(self.t1), nodes=nodes, orientation=orientation)

    @property
    def scale(self) -> Scale:
        """How its scores relate to those on which a higher one speaks for a yes."""
        return Scale(self.orientation)

    @property
    def _family(self) -> Family:
        return family_of(self.family, "family")

    @property
    def upward(self) -> tuple[float, float]:
        """The thresholds on the scale on which a higher score speaks for a yes."""
        return self.scale.upward(self.t0), self.scale.upward(self.t1)

    @property
    def is_threshold(self) -> bool:
        """Whether this is a single threshold: no odds between 0 and 1."""
        return self.t0 == self.t1

    @property
    def is_constant(self) -> bool:
        """Whether everybody gets the odds p."""
        return bool(np.isinf(self.t0))

    @property
    def _is_limit(self) -> bool:
        """Whether this is one of the two shapes at the ends of every family, which p does not bend."""
        return self.is_threshold or self.is_constant

    @property
    def _has_halves(self) -> bool:
        """Whether two halves meet at a knot, strictly between the thresholds."""
        return self._family.has_knot and not self._is_limit and not self.parts

    @property
    def width(self) -> float:
        """D, the distance between the thresholds."""
        return abs(self.t1 - self.t0)

    @property
    def knot(self) -> float | None:
        """Where the two halves meet with odds p; None where there is no such point."""
        return self.t0 + (1 - self.p) * (self.t1 - self.t0) if self._has_halves else None

    @property
    def area(self) -> float:
        """The integral of the odds from t0 to t1: p D for every family."""
        return 0.0 if self.is_threshold else self.p * self.width

    @cached_property
    def lipschitz(self) -> float:
        """L_R, the largest slope anywhere, as a magnitude; infinite where the odds jump."""
        if self.is_constant:
            return 0.0
        if self.is_threshold or any(part.is_threshold for _, part in self.parts):
            return float("inf")
        if self.parts:
            return self.pieces.largest_slope()
        if self.nodes is not None:
            x, y = np.array(self.nodes).T
            return float(np.abs(np.diff(y) / np.diff(x)).max())
        return float(self._family.unit_slope(self.p)) / self.width

    @cached_property
    def pieces(self) -> Pieces:
        """The curve as piecewise polynomials on the user's own scale."""
        if self.nodes is not None:
            return straight_lines(self.nodes, rising=self.orientation == "positive")
        return self.upward_pieces if self.orientation == "positive" else self.upward_pieces.mirrored()

    @property
    def upward_pieces(self) -> Pieces:
        """The same on the scale on which a higher score speaks for a yes; not for an optimal curve."""
        start, stop = self.upward
        if self.is_constant:
            return steps([], [self.p])
        if self.is_threshold:
            return steps([start], [0.0, 1.0])
        if self.parts:
            (share, one), (_, other) = self.parts
            return one.upward_pieces.blended(other.upward_pieces, share)
        if self.at_t0 is not None:
            return steps([start, np.nextafter(start, np.inf), stop], [0.0, self.at_t0, self.p, 1.0])
        return self._family.layout(start, stop, self.p)

    def __call__(self, r: ArrayLike) -> Floats:
        """Odds at the scores r, which may be infinite."""
        return self.pieces(np.clip(r, -_FAR, _FAR))

    def slope(self, r: ArrayLike) -> Floats:
        """Slope at the scores r, as a magnitude (jumps are not part of it: see `lipschitz`).

        Parameters
        ----------
        r : number or array
            Scores.

        Returns
        -------
        array
            How much the odds change for a change of the score by 1, at each score.

        Examples
        --------
        >>> Curve("linear", t0=20, t1=60, p=0.25).slope([10, 30, 55]).round(4)
        array([0.    , 0.0083, 0.075 ])
        """
        return np.abs(self.pieces.derivative()(r))

    def odds_range(self, score_range: tuple[float, float]) -> list[tuple[float, float]]:
        """The odds that scores within a range can get, as disjoint closed intervals (lo = hi: a single value).

        Parameters
        ----------
        score_range : (low, high)
            The lowest and the highest score.

        Returns
        -------
        list of (float, float)
            In rising order.

        Examples
        --------
        >>> Curve("linear", t0=20, t1=60, p=0.5).odds_range((30, 100)), Curve.threshold(30).odds_range((0, 100))
        ([(0.25, 1.0)], [(0.0, 0.0), (1.0, 1.0)])
        """
        return self.pieces.values_between(*score_range)
