"""Intervals for rates that are means of odds, for their differences and ratios, right for small groups too.

Odds are numbers between 0 and 1, and rates are their means. A mean of yes and no alone has Wilson's interval; odds vary
less, so it is drawn with their own variance, shrunk towards that of yes and no where there is little to estimate it
from. Differences and ratios combine the two groups' intervals (Zou and Donner's recovery of variance), so that they
keep what is right about these. All differences between several groups hold at once by the Tukey-Kramer range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_root
from evenodds.values import number_of

__all__ = [
    "Estimate",
    "Pair",
    "Sample",
    "critical_value",
    "difference",
    "interval_confidence",
    "largest",
    "mean_interval",
    "merged",
    "ratio",
    "simultaneous_value",
    "smallest",
    "value_for_verdicts",
]

_PRIOR = 1.0  # people whose odds are all yes or no that the variance is shrunk towards
_RARE = 3.0  # so few yeses (or noes) that their number is as Poisson's
_USED = 0.8  # of the errors that a verdict is allowed
_NODES = 2001  # of the integral for the range of several groups
_FARTHEST = 8.5  # standard deviations over which it is taken


class Estimate(float):
    """A figure with its interval: a number that knows how far it may be off.

    It compares, rounds, adds and formats as its number; only another estimate is equal by its interval too. A figure
    that is not defined is NaN, and its interval all that it could be.

    Parameters
    ----------
    value : float
        The figure.
    low, high : float
        The ends of its interval.

    See Also
    --------
    audit : Every figure of an audit is one.

    Examples
    --------
    >>> rate = Estimate(0.25, 0.2, 0.31)
    >>> print(rate)
    0.2500 [0.2000, 0.3100]
    >>> rate < 0.3, round(rate, 1), f"{rate:.1%}", rate + 0.5, rate.high
    (True, 0.2, '25.0%', 0.75, 0.31)
    """

    __slots__ = ("high", "low")
    low: float
    high: float

    def __new__(cls, value: float, low: float, high: float) -> Self:
        """Make a number that carries its interval."""
        estimate = super().__new__(cls, value)
        object.__setattr__(estimate, "low", float(low))
        object.__setattr__(estimate, "high", float(high))
        return estimate

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"An estimate cannot be changed, and {name} is a part of it."
        raise AttributeError(msg)

    def __reduce__(self) -> tuple[type[Estimate], tuple[float, float, float]]:
        """What a copy is made of."""
        return Estimate, self.row

    @property
    def value(self) -> float:
        """The figure alone."""
        return float(self)

    @property
    def row(self) -> tuple[float, float, float]:
        """The figure and the ends of its interval."""
        return self.value, self.low, self.high

    def __eq__(self, other: object) -> bool:
        return self.row == other.row if isinstance(other, Estimate) else self.value == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"Estimate({self.value!r}, {self.low!r}, {self.high!r})"

    def __str__(self) -> str:
        value = "not defined" if math.isnan(self) else f"{self.value:.4f}"
        return f"{value} [{self.low:.4f}, {self.high:.4f}]"

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def complement(self) -> Estimate:
        """1 less the figure."""
        return Estimate(1 - self.value, 1 - self.high, 1 - self.low)


@dataclass(frozen=True)
class Sample:
    """What a sample of numbers between `lo` and `hi` says of their mean."""

    mean: float
    variance: float
    """Their mean squared distance from the mean."""
    n_effective: float
    """How many there are; Kish's effective number under weights."""
    lo: float = 0.0
    hi: float = 1.0

    @classmethod
    def of(
        cls,
        values: Floats,
        weights: Floats,
        n_effective: float,
        *,
        squares: Floats | None = None,
        lo: float = 0.0,
        hi: float = 1.0,
    ) -> Sample:
        """Sum up weighted numbers; `squares` are sums of squared weights, where these are not just numbers of people.

        Who weighs more may also differ more from the mean. Then the mean varies more than Kish's number of people
        says, and their number is taken to be so much smaller.
        """
        total = float(weights.sum())
        if total <= 0:
            return cls(math.nan, math.nan, 0.0, lo, hi)
        mean = float(weights @ values) / total
        shares = weights / total
        variance = float(shares @ (values - mean) ** 2)
        if squares is not None and variance > 0:
            n_effective = min(n_effective, variance / float(squares / total**2 @ (values - mean) ** 2))
        return cls(mean, variance, n_effective, lo, hi)


def merged(parts: Sequence[tuple[Sample, float]]) -> Sample:
    """The sample of several groups together, each with its weight; those without weight do not count."""
    known = [(sample, weight) for sample, weight in parts if weight > 0 and sample.n_effective > 0]
    if not known:
        return Sample(math.nan, math.nan, 0.0)
    shares = np.array([weight for _, weight in known]) / sum(weight for _, weight in known)
    means, variances, numbers = np.array([(s.mean, s.variance, s.n_effective) for s, _ in known]).T
    mean = float(shares @ means)
    number = 1 / float(np.sum(shares**2 / numbers))
    # Within groups, and between them, had other people been there.
    variance = float(np.sum(shares**2 * variances / numbers)) * number + float(shares @ (means - mean) ** 2)
    return Sample(mean, variance, number, min(s.lo for s, _ in known), max(s.hi for s, _ in known))


def interval_confidence(value: object) -> float:
    """The confidence of an interval, checked."""
    return number_of("confidence", value, "a number from 0.5 to 0.9999, such as 0.95", low=0.5, high=0.9999)


def critical_value(confidence: float) -> float:
    """The standard normal's value for a two-sided interval.

    >>> round(critical_value(0.95), 4)
    1.96
    """
    from scipy.special import ndtri  # noqa: PLC0415 heavy

    return float(-ndtri((1 - confidence) / 2))


@cache
def simultaneous_value(confidence: float, groups: int, rates: int = 1) -> float:
    """The value with which the differences of all pairs of groups hold at once, in several independent rates.

    The Tukey-Kramer method: the range of so many standard normals, by sqrt 2. It is exact for groups of one size and
    errs to the safe side for others (Hayter 1984).

    >>> round(simultaneous_value(0.95, 2), 4), round(simultaneous_value(0.95, 4), 3)
    (1.96, 2.569)
    """
    from scipy.special import ndtr  # noqa: PLC0415 heavy

    if groups < 2:  # noqa: PLR2004 a pair
        return critical_value(confidence)
    wanted = float(confidence ** (1 / rates))
    z = np.linspace(-_FARTHEST, _FARTHEST, _NODES)
    density = np.exp(-(z**2) / 2) * (z[1] - z[0]) / math.sqrt(2 * math.pi)

    def excess(width: float) -> float:
        # The chance that all others are within `width` below the highest, which is at z.
        return wanted - groups * float(density @ (ndtr(z) - ndtr(z - width)) ** (groups - 1))

    _, width = bracketed_root(excess, (0.0, wanted), (2 * _FARTHEST, wanted - 1), 1e-10)
    return float(width / math.sqrt(2))


def value_for_verdicts(confidence: float, groups: int, rates: int = 1) -> float:
    """The same with some of the errors that are allowed held back, since variances are only estimates."""
    return simultaneous_value(1 - _USED * (1 - confidence), groups, rates)


def mean_interval(sample: Sample, critical: float) -> Estimate:
    """The interval for a mean of bounded numbers.

    Wilson's score interval for as many people as would leave the same variance had they all a plain yes or no. The
    variance is shrunk towards theirs the more, the less yes and no there is in the sample. Where yes is so rare that
    its number is as Poisson's the lower end is Poisson's (Brown, Cai and DasGupta 2001), and likewise for no.

    >>> print(mean_interval(Sample.of(np.array([0.0, 1.0]), np.array([18.0, 2.0]), 20), 1.96))  # yes and no only
    0.1000 [0.0178, 0.3179]
    >>> print(mean_interval(Sample(mean=0.1, variance=0.01, n_effective=20), 1.96))  # odds that vary little
    0.1000 [0.0511, 0.1864]
    """
    from scipy.special import gammaincinv, ndtr, stdtrit  # noqa: PLC0415 heavy

    lo, hi, n = sample.lo, sample.hi, sample.n_effective
    if not n > 0:
        return Estimate(math.nan, lo, hi)
    if hi <= lo:
        return Estimate(sample.mean, sample.mean, sample.mean)
    m = min(max((sample.mean - lo) / (hi - lo), 0.0), 1.0)
    most = m * (1 - m)  # the variance of yes and no
    own = sample.variance / (hi - lo) ** 2 * (n / (n - 1) if n > 1 else 1.0)
    telling = 4 * n * most
    share = min((telling * own / most + _PRIOR) / (telling + _PRIOR), 1.0) if most > 0 else 1.0
    z = -float(stdtrit(n - 1, ndtr(-critical))) if n > 2 else 2 * critical  # noqa: PLR2004 t is wild below
    size = n / share
    middle = (m + z * z / 2 / size) / (1 + z * z / size)
    half = z / (1 + z * z / size) * math.sqrt(most / size + z * z / 4 / size**2)
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    unlikely = 2 * float(ndtr(-critical))
    if m * size <= _RARE:
        low = min(low, float(gammaincinv(m * size, unlikely)) / size if m > 0 else 0.0)
    if (1 - m) * size <= _RARE:
        high = max(high, 1 - (float(gammaincinv((1 - m) * size, unlikely)) / size if m < 1 else 0.0))
    # Rounding must not leave the figure itself outside.
    low, high = min(low, m), max(high, m)
    return Estimate(sample.mean, lo + (hi - lo) * low, lo + (hi - lo) * high)


def difference(one: Estimate, other: Estimate) -> Estimate:
    """One figure less another, of different people.

    >>> print(difference(Estimate(0.5, 0.4, 0.6), Estimate(0.3, 0.2, 0.4)))
    0.2000 [0.0586, 0.3414]
    """
    value = one.value - other.value
    if math.isnan(value):
        return Estimate(math.nan, -1.0, 1.0)
    return Estimate(
        value,
        value - math.hypot(one.value - one.low, other.high - other.value),
        value + math.hypot(one.high - one.value, other.value - other.low),
    )


def ratio(one: Estimate, other: Estimate) -> Estimate:
    """One rate by another, of different people: NaN where both are 0, and without an upper end where that may be.

    >>> print(ratio(Estimate(0.3, 0.25, 0.35), Estimate(0.6, 0.55, 0.65)))
    0.5000 [0.4099, 0.5971]
    """
    a, b = one.value, other.value
    if math.isnan(a) or math.isnan(b) or a == b == 0:
        return Estimate(math.nan, 0.0, math.inf)

    def end(mine: float, its: float, sign: float) -> float:
        below = its * (2 * b - its)
        if below <= 0:  # the other rate may be 0
            return math.inf if sign > 0 else 0.0
        root = max((a * b) ** 2 - mine * (2 * a - mine) * below, 0.0)
        return max((a * b + sign * math.sqrt(root)) / below, 0.0)

    value = a / b if b > 0 else math.inf
    return Estimate(value, min(end(one.low, other.high, -1), value), max(end(one.high, other.low, 1), value))


@dataclass(frozen=True)
class Pair:
    """How far two groups are apart in a rate; the intervals of all pairs hold at once."""

    one: str
    other: str
    difference: Estimate
    ratio: Estimate


def largest(differences: list[Estimate]) -> Estimate:
    """The largest size of differences that hold at once; where one is not defined it may be anything.

    The interval begins at 0 unless some difference is not 0 for sure: it can say that all may be equal.
    """
    sizes = [abs(d.value) for d in differences if not math.isnan(d.value)]
    return Estimate(
        max(sizes) if sizes else math.nan if differences else 0.0,
        max((max(d.low, -d.high, 0.0) + 0.0 for d in differences), default=0.0),  # never -0
        max((max(abs(d.low), abs(d.high)) for d in differences), default=0.0),
    )


def smallest(ratios: list[Estimate]) -> Estimate:
    """The smallest of ratios, to both sides, that hold at once: 1 where all are equal."""
    both = [r for one in ratios for r in (one, _inverse(one))]
    values = [r.value for r in both if not math.isnan(r.value)]
    return Estimate(
        min(values) if values else math.nan if ratios else 1.0,
        min((r.low for r in both), default=1.0),
        min(min((r.high for r in both), default=1.0), 1.0),
    )


def _inverse(one: Estimate) -> Estimate:
    def by(value: float) -> float:
        return math.inf if value == 0 else 1 / value

    return Estimate(by(one.value), by(one.high), by(one.low))
