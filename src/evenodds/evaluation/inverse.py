"""Curves the other way around: which scores have given odds, and over which stretches of scores odds stay the same."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from evenodds.geometry.roots import bracketed_root
from evenodds.model.curves import Curve

__all__ = ["SAME_ODDS", "Plateau", "plateaus_of", "score_needed", "scores_with"]

SAME_ODDS = 1e-12
"""Odds nearer than this are the same odds."""
_NEAR = 1e-10  # what the score that is found for odds may miss them by


class Plateau(NamedTuple):
    """A stretch of scores that have the same odds; `start` is the score that speaks least for a yes."""

    odds: float
    start: float
    stop: float


def score_needed(curve: Curve, odds: float) -> float | None:
    """The least favourable score that has at least these odds; None where no score has.

    >>> score_needed(Curve("linear", 20, 60, 0.5), 0.75)
    50.0
    """
    own = curve.scale.own
    if curve.is_constant:
        return own(-math.inf) if odds <= curve.p + SAME_ODDS else None
    held = _plateau_at(curve, odds)
    if held is not None:
        return held.start  # before it rounding alone may say the same
    lo, hi = curve.upward
    room = max(1.0, hi - lo, 4 * math.ulp(lo))
    top = float(curve(own(hi + room)))
    if top < odds - SAME_ODDS:
        return None
    level = min(odds, top)  # rounding must not put certainty out of reach

    def short(upward: float) -> float:
        """Above 0 where the odds are too low; never 0, since of a plateau the beginning is wanted."""
        gap = level - float(curve(own(upward)))
        return gap if gap > 0 else -1.0

    if float(curve(own(lo - room))) >= odds - SAME_ODDS:
        return own(-math.inf)
    root = bracketed_root(short, (lo - room, short(lo - room)), (hi + room, -1.0), 0.0)[1]
    # Around 0 floating-point numbers are so dense that a search ends before it is at a threshold of 0.
    breaks = curve.scale.upward(curve.pieces.breaks)
    jumps = [float(at) for at in breaks if np.isfinite(at) and at < root and short(float(at)) < 0]
    return own(min([root, *jumps]))


def scores_with(curve: Curve, odds: float) -> tuple[float, float] | None:
    """Between which scores a curve has these odds, the less favourable first; None where it never has them.

    >>> scores_with(Curve("fixed", 20, 60, 0.5), 0.5), scores_with(Curve("fixed", 20, 60, 0.5), 0.7)
    ((20.0, 60.0), None)
    """
    own = curve.scale.own
    if curve.is_constant:
        return (own(-math.inf), own(math.inf)) if abs(curve.p - odds) <= SAME_ODDS else None
    held = _plateau_at(curve, odds)
    if held is not None:
        return held.start, held.stop
    first = score_needed(curve, odds)
    if first is None or abs(float(curve(first)) - odds) > _NEAR:
        return None  # the odds jump over these, or never get there
    last = score_needed(curve, odds + _NEAR)
    return first, own(math.inf) if last is None else last


def plateaus_of(curve: Curve) -> tuple[Plateau, ...]:
    """The stretches of scores over which a curve's odds stay the same, from no to yes.

    >>> [(plateau.start, plateau.stop) for plateau in plateaus_of(Curve("linear", 20, 60, 0.5))]
    [(-inf, 20.0), (60.0, inf)]
    """
    pieces = curve.pieces
    levels = zip(pieces.lo.tolist(), pieces.hi.tolist(), pieces.coefficients.tolist(), strict=True)
    flat = [(level[0], lo, hi) for lo, hi, level in levels if not any(level[1:])]
    if curve.orientation == "negative":
        flat = [(level, hi, lo) for level, lo, hi in reversed(flat)]
    plateaus: list[Plateau] = []
    for level, start, stop in flat:
        if plateaus and plateaus[-1].stop == start and abs(plateaus[-1].odds - level) <= SAME_ODDS:
            plateaus[-1] = plateaus[-1]._replace(stop=stop)
        else:
            plateaus.append(Plateau(level, start, stop))
    return tuple(plateaus)


def _plateau_at(curve: Curve, odds: float) -> Plateau | None:
    return next((plateau for plateau in plateaus_of(curve) if abs(plateau.odds - odds) <= SAME_ODDS), None)
