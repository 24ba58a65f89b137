"""Hypothesis strategies for curves, single ones of every family and mixes of two, and policies that have a mix."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

import evenodds as eo
from evenodds.model.families import CONTINUOUS, PUBLISHED, family_of
from evenodds.model.rates import rates_of

__all__ = ["CONTINUOUS", "PUBLISHED", "curves", "mirrored", "mixes", "of_curves", "places", "with_mixes"]


def _p_of(family: str) -> st.SearchStrategy[float]:
    lo, hi = family_of(family).p_limits
    return st.floats(max(lo, 0.01), min(hi, 0.99))


@st.composite
def curves(draw: st.DrawFn, families: tuple[str, ...] = CONTINUOUS) -> eo.Curve:
    """A curve with t0 < t1 of any width, anywhere."""
    family = draw(st.sampled_from(families))
    p = draw(_p_of(family))
    t0 = draw(st.floats(-1e3, 1e3))
    width = draw(st.floats(1e-3, 1e3))
    return eo.Curve(family, t0, t0 + width, p)


@st.composite
def mixes(
    draw: st.DrawFn, families: tuple[str, ...] = CONTINUOUS, *, far: float = 1e6, jumps: bool = False
) -> eo.Curve:
    """Two curves of a family that overlap, touch, lie within or beside each other, of widths from 1e-6 to 1e6.

    With `jumps` either may be a single threshold. For every other mix the orientation is negative.
    """
    family = draw(st.sampled_from(families))
    t0 = round(draw(st.floats(-far, far)), 9)  # thresholds nearer than floats can tell are refused
    width = 10.0 ** draw(st.floats(-6, 6))
    other_width = width * 10.0 ** draw(st.floats(-3, 0))
    how = draw(st.sampled_from(["same start", "same end", "touch", "within", "over the end", "beside"]))
    share = draw(st.floats(0.05, 0.95))
    start = {
        "same start": t0,
        "same end": t0 + width - other_width,
        "touch": t0 + width,
        "within": t0 + share * (width - other_width),
        "over the end": t0 + width - share * other_width,
        "beside": t0 + width * (1 + share),
    }[how]
    ends = [(t0, t0 + width), (start, t0 + width if how == "same end" else start + other_width)]
    single = draw(st.sampled_from([(), (0,), (1,), (0, 1)])) if jumps else ()
    parts = []
    for place, (lo, hi) in enumerate(ends):
        at = (lo, lo, 0.0) if place in single else (lo, hi, draw(_p_of(family)))
        parts.append(eo.Curve(family, *at))
    weight = draw(st.one_of(st.floats(0.01, 0.99), st.sampled_from([0.5, 1e-6, 1 - 1e-6, 1e-12, 1 - 1e-12])))
    mix = eo.Curve.mixed([(weight, parts[0]), (1 - weight, parts[1])])
    return mirrored(mix) if draw(st.booleans()) else mix


def mirrored(curve: eo.Curve) -> eo.Curve:
    """The same curve for scores that point the other way."""
    if curve.parts:
        return eo.Curve.mixed([(share, mirrored(part)) for share, part in curve.parts])
    other = "negative" if curve.orientation == "positive" else "positive"
    return eo.Curve(curve.family, -curve.t0, -curve.t1, curve.p, orientation=other)


def places(curve: eo.Curve, count: int = 300) -> np.ndarray:
    """Scores between all breaks of a curve, at them, and beside them, ascending."""
    breaks = curve.pieces.breaks
    between = [np.linspace(lo, hi, count) for lo, hi in pairwise(breaks)]
    beside = [np.nextafter(breaks, end) for end in (-np.inf, np.inf)]
    beyond = breaks[[0, -1]] + np.array([-1, 1]) * max(1.0, curve.width)
    return np.unique(np.concatenate([*between, breaks, *beside, beyond]))


def with_mixes(policy: eo.Policy, joint: eo.JointDistribution, mixes: dict[str, eo.Curve]) -> eo.Policy:
    """The policy with mixes for some groups, and a certificate of what its curves now do to these people."""
    curves = tuple(mixes.get(group, curve) for group, curve in policy.curves.items())
    reached = tuple(rates_of(curve, member) for curve, member in zip(curves, joint.members, strict=True))
    certificate = replace(
        policy.certificate,
        asked=reached,
        reached=reached,
        target=None,
        tolerance=1.0,
        slopes=tuple(curve.lipschitz for curve in curves),
        max_slope=max(curve.lipschitz for curve in curves),
        mixes=tuple(mixes),
    )
    return replace(policy, group_curves=curves, certificate=certificate)


def of_curves(policy: eo.Policy, curves: dict[str, eo.Curve], upper: tuple[eo.Curve, ...] = ()) -> eo.Policy:
    """A policy of these groups and curves; its certificate is filled with what another one says of its first group."""
    groups, orientation = tuple(curves), next(iter(curves.values())).orientation
    names = ("asked", "reached", "slopes", "slope_bounds", "people")
    many = {name: getattr(policy.certificate, name)[:1] * len(curves) for name in names}
    none = {"spreads": (), "randomized": (), "before": None, "mixes": tuple(g for g in groups if curves[g].parts)}
    certificate = replace(policy.certificate, groups=groups, **many, **none)
    return eo.Policy(groups, tuple(curves.values()), (-1e6, 1e6), orientation, certificate, upper)
