"""Rates over people drawn again from those at hand: the bootstrap."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from evenodds.errors import OptionError
from evenodds.evaluation.intervals import Estimate
from evenodds.evaluation.outcomes import RATES, outcomes_of
from evenodds.geometry.pieces import Floats
from evenodds.model.groups import Group
from evenodds.model.reviewed import Treatment
from evenodds.progress import tracked
from evenodds.values import whole_number_of

__all__ = ["RandomLike", "generator_of", "percentiles", "resampled_rates"]

RandomLike = int | np.random.Generator | np.random.RandomState | None

_AT_ONCE = 50  # draws


def generator_of(rng: object) -> np.random.Generator:
    """Where random numbers come from: a seed, numpy's Generator or RandomState, or None for new ones each time."""
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, np.random.RandomState):
        return np.random.default_rng(rng.randint(0, 1 << 32, size=4, dtype=np.uint32))
    if rng is None:
        return np.random.default_rng()
    try:
        return np.random.default_rng(whole_number_of("rng", rng))
    except OptionError as reason:
        msg = f"{str(reason).removesuffix('.')}, a Generator, a RandomState, or None."
        raise OptionError(msg) from None


def resampled_rates(
    curves: Mapping[str, Treatment], members: Sequence[Group], draws: int, rng: np.random.Generator
) -> dict[tuple[str, str], Floats]:
    """By group and rate, its values over draws of each group's people, labels and all; NaN without one of a label."""
    cells = []
    for member in members:
        outcomes = outcomes_of(member, curves[member.key])
        (no, no_mass), (yes, yes_mass) = outcomes.negatives.cells(), outcomes.positives.cells()
        mass = np.concatenate([no_mass, yes_mass])
        if mass.size:
            cells.append((member.key, no, yes, mass / mass.sum(), max(round(outcomes.n_effective), 1)))
    samples: dict[tuple[str, str], list[Floats]] = {}
    blocks = [min(_AT_ONCE, draws - start) for start in range(0, draws, _AT_ONCE)]
    for block in tracked(blocks, "Resampling"):
        for key, no, yes, shares, people in cells:
            counts = rng.multinomial(people, shares, size=block)
            drawn = counts[:, : no.size], counts[:, no.size :]
            sizes = [side.sum(axis=1) for side in drawn]
            false, true = drawn[0] @ no, drawn[1] @ yes  # expected yeses
            with np.errstate(divide="ignore", invalid="ignore"):
                rates = (false / sizes[0], true / sizes[1], (sizes[0] - false + true) / people, (false + true) / people)
            for name, values in zip(RATES, rates, strict=True):
                samples.setdefault((key, name), []).append(values)
    return {key: np.concatenate(values) for key, values in samples.items()}


def percentiles(values: Floats, confidence: float) -> Estimate:
    """The median, and between which values a share of `confidence` lies; NaN are left out."""
    known = values[~np.isnan(values)]
    if not known.size:
        return Estimate(math.nan, math.nan, math.nan)
    # No means of two neighbours: thresholds may be infinite.
    low, middle, high = np.quantile(known, [(1 - confidence) / 2, 0.5, (1 + confidence) / 2], method="inverted_cdf")
    return Estimate(float(middle), float(low), float(high))
