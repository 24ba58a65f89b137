"""A curve in words."""

from __future__ import annotations

import math

from evenodds.model.curves import Curve

__all__ = ["describe", "kind_of"]


def describe(curve: Curve) -> str:
    """A curve in words.

    >>> describe(Curve("linear", 20, 60, 0.5)), describe(Curve("fixed", 30, 30, 0))
    ('linear from 20 to 60, p 0.5, slope at most 0.025', 'single threshold at 30: the odds jump from 0 to 1')
    >>> describe(Curve.mixed([(0.25, Curve("cubic", 10, 20, 0.5)), (0.75, Curve("cubic", 20, 40, 0.5))]))
    'mix of two cubic curves: 0.25 from 10 to 20, 0.75 from 20 to 40, slope at most 0.05625'
    """
    if curve.is_constant:
        return f"odds {curve.p:.4g} for everybody"
    if curve.is_threshold:
        return f"single threshold at {curve.t0:g}: the odds jump from 0 to 1"
    if curve.nodes is not None:
        ends = f"from {curve.nodes[0][1]:.4g} at {curve.t0:.6g} to {curve.nodes[-1][1]:.4g} at {curve.t1:.6g}"
        count = len(curve.nodes) - 1
        return f"{count} straight line{'s' * (count > 1)} {ends}, slope at most {curve.lipschitz:.4g}"
    slope = "the odds jump" if math.isinf(curve.lipschitz) else f"slope at most {curve.lipschitz:.4g}"
    if curve.parts:
        parts = ", ".join(f"{share:.4g} {_where(part)}" for share, part in curve.parts)
        return f"{kind_of(curve)}: {parts}, {slope}"
    return f"{curve.family} from {curve.t0:.6g} to {curve.t1:.6g}, p {curve.p:.4g}, {slope}"


def kind_of(curve: Curve) -> str:
    """What a curve is, in a word or two.

    >>> kind_of(Curve("linear", 20, 60, 0.5))
    'linear'
    """
    if curve.is_threshold:
        return "threshold"
    if not curve.parts:
        return curve.family
    hard = all(part.is_threshold for _, part in curve.parts)
    return "mix of two " + ("thresholds" if hard else f"{curve.family} curves")


def _where(part: Curve) -> str:
    return f"at {part.t0:.6g}" if part.is_threshold else f"from {part.t0:.6g} to {part.t1:.6g}"
