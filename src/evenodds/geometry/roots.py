"""Roots of many monotone functions at once.

A root is kept in a bracket that only ever shrinks, so that it cannot be lost; Chandrupatla's rule (a hybrid of
bisection and inverse quadratic interpolation, Advances in Engineering Software 28, 1997) decides where to look next.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats

__all__ = ["Evaluate", "bracketed_root", "bracketed_roots"]

Evaluate = Callable[[Floats, NDArray[np.intp]], Floats]

_EDGE = 0.05  # the first look is no nearer to an end of the bracket, as a share of it
_STEPS = 200  # bisection alone needs about 60; the bound only guards against a function that is not a function


def bracketed_root(
    function: Callable[[float], float],
    positive: tuple[float, float],
    negative: tuple[float, float],
    tolerance: float,
    *,
    enough: float = 0.0,
) -> tuple[float, float]:
    """The final bracket of the point where one function turns from positive to zero or negative.

    `bracketed_roots` does the same for many functions; for one, plain numbers are several times quicker than arrays.

    Parameters
    ----------
    function : callable x -> value
        Monotone, in either direction.
    positive, negative : (x, value)
        The ends of the bracket; the value is > 0 at the first and <= 0 at the second, on whichever side they lie.
    tolerance : float
        The bracket's width that ends the search; below the spacing of floats the search ends there.
    enough : float
        The search ends too where the value is negative by no more than this.

    Returns
    -------
    positive, negative : float
        The ends of the final bracket.

    Examples
    --------
    >>> bracketed_root(lambda x: 2 - x**2, (0.0, 2.0), (2.0, -2.0), 0.0)[1]
    1.41421356...
    """
    (a, fa), (b, fb) = positive, negative
    fraction, newest_is_a = _first_fraction(fa, fb), False
    for _ in range(_STEPS):
        if abs(b - a) <= max(tolerance, math.ulp(max(abs(a), abs(b)))) or fb >= -enough:
            break
        (near, f_near), (far, f_far) = ((a, fa), (b, fb)) if newest_is_a else ((b, fb), (a, fa))
        x = near + fraction * (far - near)
        if x in (near, far):
            x = near + 0.5 * (far - near)
        value = function(x)
        above = value > 0
        third, f_third, other, f_other = (
            (near, f_near, far, f_far) if above == newest_is_a else (far, f_far, near, f_near)
        )
        if above:
            a, fa = x, value
        else:
            b, fb = x, value
        newest_is_a = above
        fraction = 0.5
        if third != other and value not in (f_other, f_third) and f_other != f_third:
            xi, phi = (x - other) / (third - other), (value - f_other) / (f_third - f_other)
            if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi:  # a power would overflow with an error
                fraction = value / (f_other - value) * f_third / (f_other - f_third) + (third - x) / (
                    other - x
                ) * value / (f_third - value) * f_other / (f_third - f_other)
        least = min(0.5, 0.5 * tolerance / abs(other - x)) if other != x else 0.5
        fraction = min(max(fraction, least), 1 - least) if math.isfinite(fraction) else 0.5
    return a, b


def _first_fraction(value_positive: float, value_negative: float) -> float:
    """Where a straight line between the ends has its root, seen from the second, and not too near either."""
    if not value_positive > value_negative:
        return 0.5
    return min(max(value_negative / (value_negative - value_positive), _EDGE), 1 - _EDGE)


def bracketed_roots(
    evaluate: Evaluate,
    positive: Floats,
    negative: Floats,
    value_positive: Floats,
    value_negative: Floats,
    *,
    tolerance: Floats,
) -> tuple[Floats, Floats]:
    """For each i a bracket of the point where evaluate(x, i) turns from positive to zero or negative.

    Parameters
    ----------
    evaluate : callable (x, i) -> values
        Values at the points x of the functions with the numbers i.
    positive, negative : arrays of shape (n,)
        Ends of the brackets; the value is > 0 at `positive` and <= 0 at `negative`, on whichever side they lie.
    value_positive, value_negative : arrays of shape (n,)
        The values there.
    tolerance : array of shape (n,)
        The bracket's width that ends the search; below the spacing of floats the search ends there.

    Returns
    -------
    positive, negative : arrays of shape (n,)
        The ends of the final brackets; at the second the value is zero or below.

    Examples
    --------
    >>> bracketed_roots(lambda x, i: np.array([2.0, 3.0])[i] - x**2, np.zeros(2), np.full(2, 2.0),
    ...                 np.array([2.0, 3.0]), np.array([-2.0, -1.0]), tolerance=np.zeros(2))[1]
    array([1.41421356, 1.73205081])
    """
    a, b = positive.astype(np.float64), negative.astype(np.float64)  # astype copies
    fa, fb = value_positive.astype(np.float64), value_negative.astype(np.float64)
    # Where in the bracket to look next, from the newest end: first where a straight line has its root.
    fraction = np.full(a.shape, 0.5)
    np.divide(fb, fb - fa, out=fraction, where=fa > fb)
    fraction = np.clip(fraction, _EDGE, 1 - _EDGE)
    newest_is_a = np.zeros(a.shape, bool)
    live = np.arange(a.size)
    for _ in range(_STEPS):
        spacing = np.spacing(np.maximum(np.abs(a[live]), np.abs(b[live])))
        width = np.abs(b[live] - a[live])
        live = live[(width > np.maximum(tolerance[live], spacing)) & (fb[live] != 0)]
        if not live.size:
            break
        near = np.where(newest_is_a[live], a[live], b[live])
        far = np.where(newest_is_a[live], b[live], a[live])
        f_near = np.where(newest_is_a[live], fa[live], fb[live])
        f_far = np.where(newest_is_a[live], fb[live], fa[live])
        x = near + fraction[live] * (far - near)
        stuck = (x == near) | (x == far)
        x = np.where(stuck, near + 0.5 * (far - near), x)
        value = evaluate(x, live)
        above = value > 0
        # The end of the same sign is replaced; `third` is the point that drops out of the bracket.
        same = above == newest_is_a[live]
        third = np.where(same, near, far)
        f_third = np.where(same, f_near, f_far)
        other = np.where(same, far, near)
        f_other = np.where(same, f_far, f_near)
        a[live], fa[live] = np.where(above, x, a[live]), np.where(above, value, fa[live])
        b[live], fb[live] = np.where(above, b[live], x), np.where(above, fb[live], value)
        newest_is_a[live] = above
        fraction[live] = _next_fraction(x, value, other, f_other, third, f_third, tolerance[live])
    return a, b


def _next_fraction(
    x: Floats, fx: Floats, other: Floats, f_other: Floats, third: Floats, f_third: Floats, tolerance: Floats
) -> Floats:
    """Chandrupatla's choice: inverse quadratic interpolation where it is safe, else the middle."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        xi = (x - other) / (third - other)
        phi = (fx - f_other) / (f_third - f_other)
        safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        quadratic = fx / (f_other - fx) * f_third / (f_other - f_third) + (third - x) / (other - x) * fx / (
            f_third - fx
        ) * f_other / (f_third - f_other)
        least = np.minimum(0.5, 0.5 * tolerance / np.abs(other - x))
    fraction = np.where(safe & np.isfinite(quadratic), quadratic, 0.5)
    return np.asarray(np.clip(fraction, least, 1 - least))
