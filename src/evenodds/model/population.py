"""Those whom the people at hand stand for: how far groups may be apart among them.

A fit pins the rates of the people it was fitted on. What is random is how far the population's rates are from these: a
rate is a mean of odds, so it is off by about N(0, s^2 / n). That is asymptotic: right as numbers of people grow. For
any number of people: rising odds are mixes of thresholds, so a rate is off by no more than the largest difference of
two distribution functions, which Dvoretzky, Kiefer, Wolfowitz and Massart (1990) bound whatever the distribution and
however often curves were fitted to the same people.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import OptionError, one_of
from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_root
from evenodds.model.goals import Rate, coefficients
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.rates import rates_of
from evenodds.model.reviewed import Treatment, final_odds_of
from evenodds.showing import people_text

__all__ = [
    "GUARANTEES",
    "WHO",
    "Guarantee",
    "Needed",
    "Population",
    "Spread",
    "chance_within",
    "population_of",
    "spreads_of",
]

Guarantee = Literal["asymptotic", "finite"]
Spread = tuple[float, float]
"""Of how many people a rate is the mean, and the variance of their odds."""
GUARANTEES = ("asymptotic", "finite")
_FARTHEST = 8.5  # standard deviations that count
_STEPS = 4  # of the integral, within the least deviation
_LEAST = 1 / 400  # of the largest deviation: smaller ones are taken for that, which errs to the safe side
_EXACT = 1e-12  # a deviation that is rounding
_UNKNOWN = 0.25  # the largest variance of odds, where there is one person to tell it from
WHO = {"fpr": "negatives", "tpr": "positives", "selection_rate": "people"}


@dataclass(frozen=True)
class Needed:
    """How many people of a group and label a promise takes, and how many there are."""

    group: str
    who: str
    people: float
    needed: float

    def __str__(self) -> str:
        return f"{math.ceil(self.needed):,} {self.who} of group {self.group!r} (there are {people_text(self.people)})"


@dataclass(frozen=True, eq=False)
class Population:
    """What is known of the constrained rates of a population, each array with a row a rate and a column a group."""

    groups: tuple[str, ...]
    rates: tuple[Rate, ...]
    means: Floats
    """The rates of the people at hand."""
    people: Floats
    """Of how many people each is the mean; Kish's effective number under weights."""
    variances: Floats
    """How much their odds vary (n - 1)."""
    exact: NDArray[np.bool_]
    """The groups whose odds are all the same, whoever comes."""
    counted: bool
    """Whether people count once each, and not by weights."""

    @classmethod
    def of(
        cls,
        groups: Sequence[str],
        rates: Sequence[Rate],
        means: Floats,
        spreads: Sequence[Sequence[Spread]],
        slopes: Sequence[float],
        *,
        counted: bool,
    ) -> Population:
        """The population of people with these rates, spreads (see `spreads_of`) and largest slopes."""
        people, variances = np.moveaxis(np.array(spreads), -1, 0)
        return cls(tuple(groups), tuple(rates), means, people, variances, np.array(slopes) == 0, counted)

    @property
    def difference(self) -> float:
        """The largest difference between two groups among the people at hand."""
        return float(np.ptp(self.means, axis=1).max())

    def bound(self, confidence: float, guarantee: Guarantee) -> float:
        """What the population's largest difference does not exceed, with this confidence."""
        one_of("guarantee", guarantee, GUARANTEES)
        if guarantee == "finite":
            return min(self.difference + self._radius(confidence), 1.0)
        deviations = self._deviations
        least = self.difference

        def excess(width: float) -> float:
            return confidence - self._chance(width, deviations)

        # Chance alone adds no more than the margin, and less where rates differ already: seldom the same pair's both.
        most = least + self.margin(confidence)
        short, enough = excess(least), excess(most)
        if short <= 0 or enough >= 0:
            return min(most, 1.0)
        _, width = bracketed_root(excess, (least, short), (most, enough), 1e-12)
        return min(width, 1.0)

    def is_within(self, tolerance: float, confidence: float, guarantee: Guarantee) -> bool:
        """Whether the population's groups are within a tolerance of each other, with this confidence."""
        if guarantee == "finite":
            return self.bound(confidence, guarantee) <= tolerance
        return self._chance(tolerance, self._deviations) >= confidence

    def needed(self, tolerance: float, confidence: float, guarantee: Guarantee) -> list[Needed]:
        """Of whom there are too few for a tolerance, and how many it takes; nobody where no number is enough.

        The least known rates first: people are added there until the promise holds.
        """
        one_of("guarantee", guarantee, GUARANTEES)
        if self.difference >= tolerance:
            return []
        finite = guarantee == "finite"
        spread = self._radii(confidence) if finite else self._deviations

        def excess(log_cap: float) -> float:
            capped = np.minimum(spread, math.exp(log_cap))
            if finite:
                return self.difference + _largest_pair(capped) - tolerance
            return confidence - self._chance(tolerance, capped)

        high = math.log(float(spread.max())) if spread.max() > 0 else 0.0
        if excess(high) <= 0:
            return []
        low = high - 1.0
        while excess(low) > 0:
            low -= 1.0
        cap = math.exp(bracketed_root(excess, (high, excess(high)), (low, excess(low)), 1e-9)[1])
        # Radii and most deviations fall with the root of the number; the least deviation is 1 by it.
        enough = self.people * (spread / cap) ** 2 if finite else np.maximum(self.variances / cap**2, 1 / cap)
        return sorted(
            (
                Needed(group, WHO[rate], float(self.people[r, a]), float(enough[r, a]))
                for r, rate in enumerate(self.rates)
                for a, group in enumerate(self.groups)
                if spread[r, a] > cap * (1 + 1e-9)
            ),
            key=lambda group: group.people / group.needed,
        )

    # -- asymptotic --------------------------------------------------------------------------------------------------

    @property
    def _deviations(self) -> Floats:
        # Odds that happen to be all the same may differ for the next person, unless they are for everybody.
        variances = np.maximum(self.variances, 1 / np.maximum(self.people, 1.0))
        return np.where(self.exact, 0.0, np.sqrt(variances / self.people))

    def _chance(self, tolerance: float, deviations: Floats) -> float:
        """That the population's rates are within a tolerance; negatives and positives are different people."""
        both = zip(self.means, deviations, strict=True)
        return float(np.prod([chance_within(means, own, tolerance) for means, own in both]))

    def margin(self, confidence: float) -> float:
        """By how much more the population's rates may differ than those at hand."""
        deviations = self._deviations
        widest = 2 * _FARTHEST * float(deviations.max())
        if widest == 0 or len(self.groups) == 1:
            return 0.0
        nothing = np.zeros(len(self.groups))

        def excess(width: float) -> float:
            return confidence - float(np.prod([chance_within(nothing, own, width) for own in deviations]))

        _, margin = bracketed_root(excess, (0.0, confidence), (widest, confidence - 1), 1e-12 * widest)
        return margin

    # -- for any number of people ------------------------------------------------------------------------------------

    def _radii(self, confidence: float) -> Floats:
        """How far each rate may be off, all of them at once."""
        if not self.counted:
            msg = (
                "guarantee='finite' is about people who count once each, and these have weights. "
                "Allowed with weights: guarantee='asymptotic'."
            )
            raise OptionError(msg)
        several = 2 * self.means.size  # two sides of each rate of each group
        return np.where(self.exact, 0.0, np.sqrt(math.log(several / (1 - confidence)) / (2 * self.people)))

    def _radius(self, confidence: float) -> float:
        return _largest_pair(self._radii(confidence))


def _largest_pair(radii: Floats) -> float:
    """The largest sum of two groups' in one rate."""
    return float(np.sort(radii, axis=1)[:, -2:].sum(axis=1).max()) if radii.shape[1] > 1 else 0.0


def chance_within(means: Floats, deviations: Floats, width: float) -> float:
    """The chance that independent normal numbers all lie within a width of each other.

    One of them is the least, at z, and all others lie between z and z + width (as for the studentized range).

    >>> round(chance_within(np.zeros(2), np.ones(2), 1.96 * 2**0.5), 4)
    0.95
    """
    from scipy.special import ndtr  # noqa: PLC0415 heavy

    largest = float(deviations.max())
    if largest <= _EXACT:
        return float(np.ptp(means) <= width + _EXACT)
    own = np.maximum(deviations, _LEAST * largest)[:, None]
    at = means[:, None]
    # The integrand is smooth and vanishes at both ends, so that equal steps are as good as any rule. The least of the
    # numbers is above none of them.
    lo, hi = float((at - _FARTHEST * own).min()), float((at + _FARTHEST * own).min())
    z = np.linspace(lo, hi, math.ceil(_STEPS * (hi - lo) / float(own.min())) + 1)
    density = np.exp(-(((z - at) / own) ** 2) / 2) / (own * math.sqrt(2 * math.pi))
    between = ndtr((z + width - at) / own) - ndtr((z - at) / own)
    ones = np.ones((1, z.size))
    before = np.cumprod(np.concatenate([ones, between[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([ones, between[:0:-1]]), axis=0)[::-1]
    return min(float((density * before * after).sum()) * float(z[1] - z[0]), 1.0)


def population_of(joint: JointDistribution, treatments: Sequence[Treatment], rates: Sequence[Rate]) -> Population:
    """What people say of the population that they are a sample of, under some curves."""
    points = np.array([[point.fpr, point.tpr] for point in map(rates_of, treatments, joint.members)])
    means = np.array([(coefficients(joint, rate) * points).sum(axis=1) for rate in rates])
    slopes = [treatment.lipschitz for treatment in treatments]
    spreads = spreads_of(joint, treatments, rates)
    return Population.of(joint.groups, rates, means, spreads, slopes, counted=joint.is_counted)


def spreads_of(
    joint: JointDistribution, treatments: Sequence[Treatment], rates: Sequence[Rate]
) -> tuple[tuple[Spread, ...], ...]:
    """By rate and group, how many people it is the mean of and how much their final odds vary."""
    return tuple(tuple(map(partial(_spread_of, rate), treatments, joint.members)) for rate in rates)


def _spread_of(rate: Rate, treatment: Treatment, group: Group) -> Spread:
    """Of how many people a rate is the mean, and the variance of their final odds (n - 1).

    Where people have weights, and who weighs more also differs more, they tell as much as fewer people.
    """
    labels = {"fpr": (0,), "tpr": (1,), "selection_rate": (0, 1)}[rate]
    sides = [group.by_label[label] for label in labels]
    odds = np.concatenate(
        [
            final_odds_of(treatment, treatment.scale.own(side.points), label)
            for label, side in zip(labels, sides, strict=True)
        ]
    )
    weights = np.concatenate([side.weights for side in sides])
    total = float(weights.sum())
    off = (odds - float(weights @ odds) / total) ** 2
    variance = float(weights @ off) / total
    people = total
    if not all(side.counted for side in sides):
        squares = np.concatenate([side.square_sums for side in sides]) / total**2
        people = 1 / float(squares.sum())
        if variance > 0:
            people = min(people, variance / float(squares @ off))
    return people, variance * people / (people - 1) if people > 1 else _UNKNOWN
