"""The verdict on a policy: whether groups are within a tolerance of each other, as far as the people can tell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, Self

import numpy as np

from evenodds.evaluation.intervals import Estimate, Pair, Sample, largest
from evenodds.evaluation.outcomes import RATE_WORDS
from evenodds.model.population import WHO
from evenodds.showing import people_text

__all__ = ["Verdict", "verdict_on"]

_TOO_NEAR = 1e-4  # a difference that is as good as the tolerance
_NAMED = 3  # groups of which it is said how many people it takes
_LEAST = 1.0  # a group whose odds happen to be all the same varies as if one person more had others


class Verdict(str):
    """A verdict is "pass", "fail" or "undecided", with its reasons; true only if it is "pass".

    It is a string that compares as its word.

    Parameters
    ----------
    outcome : "pass", "fail" or "undecided"
        The word.
    reasons : sequence of str
        Sentences.

    See Also
    --------
    Audit.passed : Gives one.

    Examples
    --------
    >>> import evenodds as eo
    >>> people = eo.datasets.compas()
    >>> verdict = eo.audit(eo.fit(people), people, tolerance=0.15).verdict
    >>> verdict == "pass", bool(verdict), verdict
    (True, True, Verdict('pass': No two groups differ by more than 0.1117.))
    """

    __slots__ = ("reasons",)
    reasons: tuple[str, ...]

    def __new__(cls, outcome: Literal["pass", "fail", "undecided"], reasons: Sequence[str]) -> Self:
        """Make a string that carries reasons."""
        verdict = super().__new__(cls, outcome)
        verdict.reasons = tuple(reasons)
        return verdict

    def __bool__(self) -> bool:
        return self == "pass"

    def __getnewargs__(self) -> tuple[str, tuple[str, ...]]:  # type: ignore[override]
        """What a copy is made of."""
        return str(self), self.reasons

    def __repr__(self) -> str:
        return f"Verdict({str(self)!r}: {' '.join(self.reasons)})"


def verdict_on(
    pairs: Sequence[tuple[str, Pair]],
    tolerance: float,
    open_ends: Sequence[str],
    samples: Mapping[tuple[str, str], Sample],
    critical: float,
) -> Verdict:
    """Judge pairs of groups, each in a rate; `open_ends` are reasons not to say "pass".

    `samples` say by rate and group what it is the mean of, and `critical` with which value intervals were drawn.
    """
    over = [
        f"The {_whose(rate, pair)} differs by {_size(pair.difference)}."
        for rate, pair in pairs
        if largest([pair.difference]).low > tolerance
    ]
    if over:
        return Verdict("fail", over)
    spread = largest([pair.difference for _, pair in pairs])
    if spread.high > tolerance:
        far, unsure = _farthest(pairs), max(pairs, key=lambda of_rate: largest([of_rate[1].difference]).high)
        who = _whose(*far) if far is unsure else f"{_whose(*far)}; least certain: {_whose(*unsure)}"
        needed = _people_needed(pairs, tolerance, samples, critical)
        more = f"The largest difference is {spread} ({who}), the tolerance {tolerance:g}: {needed}"
        return Verdict("undecided", [*open_ends, more])
    if open_ends:
        return Verdict("undecided", open_ends)
    return Verdict("pass", [f"No two groups differ by more than {spread.high:.4f}."])


def _farthest(pairs: Sequence[tuple[str, Pair]]) -> tuple[str, Pair]:
    """The rate and the pair of groups that differ most."""
    return max(pairs, key=lambda of_rate: np.nan_to_num(abs(of_rate[1].difference.value)))


def _whose(rate: str, pair: Pair) -> str:
    return f"{RATE_WORDS[rate]} of {pair.one!r} and {pair.other!r}"


def _people_needed(
    pairs: Sequence[tuple[str, Pair]],
    tolerance: float,
    samples: Mapping[tuple[str, str], Sample],
    critical: float,
) -> str:
    """How many people of whom would settle what is open, if they are as those at hand."""
    needed: dict[tuple[str, str], float] = {}
    far = _farthest(pairs)
    # One pair that is too far apart is a "fail"; for a "pass" all pairs must be near enough.
    for rate, pair in [far] if abs(far[1].difference) > tolerance else pairs:
        size = largest([pair.difference])
        if size.high <= tolerance or math.isnan(size):
            continue
        margin = abs(tolerance - size.value)
        if margin < _TOO_NEAR:
            return "no number of people settles it, since the groups differ by about as much."
        for group in (pair.one, pair.other):
            # Intervals of two groups of this precision are as wide as the margin.
            sample = samples[rate, group]
            variance = max(sample.variance, _LEAST / max(sample.n_effective, 1.0))
            people = 2 * variance * (critical / margin) ** 2
            if people > sample.n_effective:
                needed[rate, group] = max(people, needed.get((rate, group), 0.0))
    if not needed:
        return "it takes more people."
    outcome = "fail" if abs(far[1].difference) > tolerance else "pass"
    first = sorted(needed, key=lambda key: samples[key].n_effective / needed[key])
    named = [
        f"{_rounded_up(needed[key]):,} {WHO[key[0]]} of {key[1]!r} (there are {people_text(samples[key].n_effective)})"
        for key in first[:_NAMED]
    ]
    more = f"; and more of {len(first) - _NAMED} others besides" if len(first) > _NAMED else ""
    return f"it takes about {'; '.join(named)}{more} to settle it, probably as {outcome!r}."


def _rounded_up(people: float) -> int:
    """To two digits that count: more of them would claim to know more than anybody does."""
    unit = int(10 ** max(math.floor(math.log10(people)) - 1, 0))
    return math.ceil(people / unit) * unit


def _size(estimate: Estimate) -> str:
    """A difference without its sign, and its interval."""
    return str(estimate if estimate.value >= 0 else Estimate(-estimate.value, -estimate.high, -estimate.low))
