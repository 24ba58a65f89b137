"""How far a curve's odds are apart: at two scores, and at most at any two that lie within a step of each other."""

from __future__ import annotations

import math
import warnings
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from evenodds.errors import OptionError
from evenodds.geometry.pieces import Floats
from evenodds.model.curves import Curve
from evenodds.values import number_of

__all__ = ["odds_distance", "threshold_effect"]

_STRAIGHT = 2  # coefficients of a straight line
_NEGLIGIBLE = 1e-9  # of a curve's width


def odds_distance(curve: Curve, one: ArrayLike, other: ArrayLike) -> Floats:
    """The paper's classification odds distance (Definition 2): how far apart the odds at two scores are.

    Parameters
    ----------
    curve : Curve
        The curve of one group, such as `policy.curves["white"]`.
    one, other : number or array
        Scores.

    Returns
    -------
    array
        From 0 to 1, one for each pair of scores.

    See Also
    --------
    individual.threshold_effect : The largest that a small difference of score can make.
    individual.report : By how far people are apart, not only their scores.

    Examples
    --------
    >>> odds_distance(Curve("linear", 20, 60, 0.5), 30, [30, 40, 100])
    array([0.  , 0.25, 0.75])
    """
    _check_curve(curve)
    return np.abs(curve(one) - curve(other))


def threshold_effect(curve: Curve, within: float) -> float:
    """The largest change of odds that a change of score by `within` can make: the threshold effect.

    At most `within` times the curve's L_R, and 1 where the odds jump from 0 to 1.

    Parameters
    ----------
    curve : Curve
        The curve of one group, such as `policy.curves["white"]`.
    within : float
        A difference of score, such as what a score is known to err by.

    Returns
    -------
    float
        From 0 to 1.

    See Also
    --------
    odds_distance : The difference of odds between two scores.

    Examples
    --------
    >>> threshold_effect(Curve("linear", 20, 60, 0.5), 4), threshold_effect(Curve("fixed", 30, 30, 0), 0.001)
    (0.1, 1.0)
    """
    _check_curve(curve)
    within = number_of("within", within, "a number from 0 on, a change of score", low=0)
    if curve.is_constant or within == 0:
        return 0.0
    if within > curve.width:  # from one end to the other
        return float(abs(curve(math.inf) - curve(-math.inf)))
    breaks = curve.pieces.breaks
    pairs = [(b, _snapped(b + within, breaks)) for b in breaks] + [(_snapped(b - within, breaks), b) for b in breaks]
    changes = [
        abs(far - near) for a, b in pairs for near, far in zip(_around(curve, a), _around(curve, b), strict=True)
    ]
    if curve.pieces.coefficients.shape[-1] > _STRAIGHT:
        # Between these the change is a polynomial of degree 4, whose slope has 3 roots.
        ends = np.unique([a for a, _ in pairs])
        inner = [_turning_points(curve, within, a, b) for a, b in pairwise(ends) if b - a > _NEGLIGIBLE * curve.width]
        at = np.concatenate([*inner, ends])
        changes += np.abs(curve(at + within) - curve(at)).tolist()
    return min(max(changes), within * curve.lipschitz)  # which rounding must not exceed


def _check_curve(curve: object) -> None:
    """Refuse what is no curve."""
    if not isinstance(curve, Curve):
        msg = f"The first argument must be a Curve, got {type(curve).__name__}. Hint: policy.curves[group]."
        raise OptionError(msg)


def _snapped(score: float, breaks: Floats) -> float:
    """A break, if a score is one but for rounding."""
    nearest = float(breaks[np.argmin(np.abs(breaks - score))])
    return nearest if abs(nearest - score) <= 4 * math.ulp(max(abs(nearest), abs(score))) else score


def _around(curve: Curve, score: float) -> tuple[float, float, float]:
    """The odds just below a score, at it, and just above it."""
    below, at, above = curve(np.array([math.nextafter(score, -math.inf), score, math.nextafter(score, math.inf)]))
    return float(below), float(at), float(above)


def _turning_points(curve: Curve, within: float, a: float, b: float) -> Floats:
    x = a + (b - a) * (1 - np.cos(np.pi * (np.arange(5) + 0.5) / 5)) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a change of lower degree fits badly by definition
        change = np.polynomial.Polynomial.fit(x, curve(x + within) - curve(x), 4)
    roots = change.deriv().roots()
    real = roots.real[np.abs(roots.imag) < 1e-6 * (b - a)]  # a double root, but for rounding
    return np.asarray(real[(real > a) & (real < b)])
