"""Dice: whether as many people got a yes as their odds say, group by group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats
from evenodds.model.keys import Codes

__all__ = ["Dice", "Tally"]

_NONE = 1e-100  # a variance of which whatever is seen is that unlikely
_ROUNDING = 1e-9  # of a mean of odds: sums are taken one after another


@dataclass(frozen=True)
class Dice:
    """How often a group got an answer, beside how often its odds say.

    See Also
    --------
    Verification : Whose `.dice` these are.

    Examples
    --------
    >>> Dice("white", "yes", people=500, rate=0.6, mean_odds=0.476, low=0.407, high=0.545, z=5.55).is_outside
    True
    """

    group: str
    """Its key."""
    outcome: str
    """ "yes", or "review"."""
    people: int
    """How many there are."""
    rate: float
    """How often the answer was published."""
    mean_odds: float
    """The mean of the odds that the policy gives."""
    low: float
    """The lowest rate that chance explains, for all groups at once with the confidence that was asked for."""
    high: float
    """The highest."""
    z: float
    """How many standard deviations the rate is off; NaN with places, where it is hardly left to chance."""

    @property
    def is_outside(self) -> bool:
        """Whether the rate is farther off than chance explains."""
        return not self.low <= self.rate <= self.high


class Tally:
    """Sums over people, some at a time, that dice are judged by."""

    def __init__(self, groups: Sequence[str]) -> None:
        self._groups = tuple(groups)
        self._sums = np.zeros((4, len(self._groups)))

    def add(self, odds: Floats, answered: NDArray[np.bool_], codes: Codes) -> None:
        """People with their odds of an answer, whether they got it, and their group's place."""
        for i, values in enumerate((None, answered, odds, odds * (1 - odds))):
            self._sums[i] += np.bincount(codes, values, len(self._groups))

    @property
    def groups(self) -> int:
        """How many groups there are people of."""
        return int(np.count_nonzero(self._sums[0]))

    def dice(self, outcome: str, *, confidence: float, tests: int, places: bool) -> list[Dice]:
        """What came of it, for each group that has people.

        A draw for each person makes the number of yeses a sum of independent ones, whose variance is the sum of odds
        (1 - odds). Bennett's inequality bounds how far it is off, whatever the odds and however few the people; with
        so many tests each may err that much more seldom. Places leave the number within one of the sum of the odds.
        """
        exponent = math.log(2 * max(tests, 1) / (1 - confidence))
        dice = []
        for group, people, yes, expected, variance in zip(self._groups, *self._sums.tolist(), strict=True):
            if not people:
                continue
            spread = math.sqrt(variance)
            within = 1.0 if places else _farthest(variance, exponent)
            within += _ROUNDING * people
            off = yes - expected if abs(yes - expected) > _ROUNDING * people else 0.0
            z = math.nan if places else off / spread if spread > 0 else math.copysign(math.inf, off) if off else 0.0
            ends = (max((expected - within) / people, 0.0), min((expected + within) / people, 1.0))
            dice.append(Dice(group, outcome, int(people), yes / people, expected / people, *ends, z))
        return dice


def _farthest(variance: float, exponent: float) -> float:
    """The t for which Bennett's inequality, P(sum - mean >= t) <= exp(-v h(t / v)), says exp(-exponent).

    With h(x) = (1 + x) log(1 + x) - x; a sum of independent steps that are at most 1 above their means.

    >>> round(_farthest(100.0, math.log(40)), 3)
    28.366
    """
    if variance < _NONE:
        return 0.0
    wanted = exponent / variance
    x = math.sqrt(2 * wanted) + wanted  # h(x) is at least wanted here, and convex: Newton's steps come down to it
    for _ in range(100):
        step = ((1 + x) * math.log1p(x) - x - wanted) / math.log1p(x)
        x -= step
        if step <= 1e-12 * x:
            break
    return x * variance
