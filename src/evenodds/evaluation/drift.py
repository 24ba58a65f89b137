"""Whether a group's people have changed since a policy was fitted: their scores, and how many are positive."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenodds.evaluation.intervals import Estimate, Sample, critical_value, difference, mean_interval
from evenodds.geometry.pieces import Floats
from evenodds.model.groups import Group
from evenodds.values import Frozen

__all__ = ["Drift", "drift_of", "farthest_moved"]

_BINS = 10
_MEASURES = 3  # of a change: two of the scores, and the share of positives
_FROM_NOBODY = 0.5  # people that an empty bin counts for

_Weighted = tuple[Floats, Floats]
"""Scores in ascending order, and their weights."""


@dataclass(frozen=True)
class Drift:
    """One group's people against those that the policy was fitted on.

    `stability_index` is the population stability index over ten bins of equally many people at the fit (fewer where
    they share scores), `kolmogorov_smirnov` the largest difference of the two distribution functions. Each comes with
    what chance alone stays below if nothing has changed, so that all of an audit do with its confidence.

    See Also
    --------
    audit : Has one for each group as `drift`, where `reference=` is given.
    update : The next policy, where people have changed.

    Examples
    --------
    >>> import evenodds as eo
    >>> past, scores = eo.datasets.compas(), [1, 2, 3, 9, 10]
    >>> now = eo.JointDistribution.from_counts({"Caucasian, Male": (scores, [5, 5, 9, 60, 70], [1, 2, 9, 50, 60])})
    >>> audit = eo.audit(eo.fit(past), now + past, reference=past)
    >>> drift = audit.drift["Caucasian, Male"]
    >>> drift.scores_changed, drift.base_rate_changed, round(drift.kolmogorov_smirnov, 3)
    (True, False, 0.103)
    """

    group: str
    """Its key."""
    stability_index: float
    """The population stability index; 0 where nothing has changed."""
    stability_index_by_chance: float
    """What it stays below by chance alone."""
    kolmogorov_smirnov: float
    """The largest difference of the two distribution functions, from 0 to 1."""
    kolmogorov_smirnov_by_chance: float
    """What it stays below by chance alone."""
    base_rate: Estimate
    """How much the share of positives has risen."""
    distance: Mapping[str, float]
    """By rate ("fpr": among negatives, "tpr": among positives, "selection_rate": among all) the Kolmogorov-Smirnov
    distance. Odds that rise with the score are mixes of thresholds, so no rate of any policy moves by more."""

    @property
    def figures(self) -> dict[str, Estimate]:
        """Each measure with what it would be by chance, and the base rate's change with its interval."""
        return {
            "stability_index": Estimate(self.stability_index, 0.0, self.stability_index_by_chance),
            "kolmogorov_smirnov": Estimate(self.kolmogorov_smirnov, 0.0, self.kolmogorov_smirnov_by_chance),
            "base_rate": self.base_rate,
        }

    @property
    def scores_changed(self) -> bool:
        """Whether either measure of the scores is beyond chance."""
        return (
            self.stability_index > self.stability_index_by_chance
            or self.kolmogorov_smirnov > self.kolmogorov_smirnov_by_chance
        )

    @property
    def base_rate_changed(self) -> bool:
        """Whether the share of positives is beyond chance."""
        return 0.0 not in self.base_rate

    @property
    def changes(self) -> list[str]:
        """What is beyond chance, in words."""
        words = []
        if self.scores_changed:
            words.append(
                "scores differ beyond chance "
                f"(stability index {self.stability_index:.3f}, by chance up to {self.stability_index_by_chance:.3f}; "
                f"Kolmogorov-Smirnov {self.kolmogorov_smirnov:.3f}, by chance up to "
                f"{self.kolmogorov_smirnov_by_chance:.3f})"
            )
        if self.base_rate_changed:
            words.append(f"the share of positives has changed by {self.base_rate}")
        return words


def farthest_moved(drift: Mapping[str, Drift | None], rates: Sequence[str]) -> tuple[str, dict[str, float]]:
    """The rate in which the distances of two groups add up to most, and these two with their distances."""
    known = {group: own for group, own in drift.items() if own is not None}

    def two_largest(rate: str) -> dict[str, float]:
        distances = {group: own.distance[rate] for group, own in known.items()}
        return dict(sorted(distances.items(), key=lambda item: item[1], reverse=True)[:2])

    rate = max(rates, key=lambda rate: sum(two_largest(rate).values()))
    return rate, two_largest(rate)


def drift_of(fresh: Group, fitted: Group, confidence: float, *, groups: int) -> Drift:
    """Compare one group's fresh people with those at the fit; so many groups share the chance of an alarm."""
    from scipy.special import chdtri  # noqa: PLC0415 heavy

    both = (fresh, fitted)
    size = 1 / (1 / fresh.n_effective + 1 / fitted.n_effective)
    everybody = [_everybody(group) for group in both]
    inner = np.unique(_quantiles(*everybody[1], np.arange(1, _BINS) / _BINS))
    shares = np.array(
        [
            np.bincount(np.searchsorted(inner, scores, side="left"), weights, minlength=inner.size + 1) / weights.sum()
            for scores, weights in everybody
        ]
    )
    shares = shares[:, shares.any(axis=0)]  # a bin that nobody ever was in tells nothing
    counted = np.maximum(shares, [[_FROM_NOBODY / group.n_effective] for group in both])
    counted /= counted.sum(axis=1, keepdims=True)
    unlikely = (1 - confidence) / (_MEASURES * groups)
    index = float(np.sum((counted[0] - counted[1]) * np.log(counted[0] / counted[1])))
    bins = shares.shape[1]
    chance = float(chdtri(bins - 1, unlikely)) / size if bins > 1 else 0.0
    critical = critical_value(1 - unlikely)
    return Drift(
        fresh.key,
        index,
        chance,
        _largest_gap(*everybody),
        math.sqrt(-math.log(unlikely / 2) / 2 / size),
        difference(*(mean_interval(_base_rate(group), critical) for group in both)),
        Frozen(_distances(fresh, fitted)),
    )


def _distances(fresh: Group, fitted: Group) -> dict[str, float]:
    """Distances among negatives, positives and all; 1 where there is nobody to compare with."""
    people = {
        "fpr": [(group.by_label[0].points, group.by_label[0].weights) for group in (fresh, fitted)],
        "tpr": [(group.by_label[1].points, group.by_label[1].weights) for group in (fresh, fitted)],
        "selection_rate": [_everybody(group) for group in (fresh, fitted)],
    }
    return {
        rate: _largest_gap(*both) if all(weights.sum() > 0 for _, weights in both) else 1.0
        for rate, both in people.items()
    }


def _everybody(group: Group) -> _Weighted:
    table = group.table
    return table.scores, table.negatives + table.positives


def _base_rate(group: Group) -> Sample:
    rate = group.base_rate
    return Sample(rate, rate * (1 - rate), group.n_effective)


def _quantiles(scores: Floats, weights: Floats, at: Floats) -> Floats:
    sums = np.cumsum(weights)
    return np.asarray(scores[np.minimum(np.searchsorted(sums, at * sums[-1]), scores.size - 1)])


def _largest_gap(one: _Weighted, other: _Weighted) -> float:
    """The Kolmogorov-Smirnov distance: the largest difference of two distribution functions."""
    at = np.union1d(one[0], other[0])
    below = [
        np.append(0.0, np.cumsum(weights) / weights.sum())[np.searchsorted(scores, at, side="right")]
        for scores, weights in (one, other)
    ]
    return float(np.abs(below[0] - below[1]).max())
