"""The verdict on a policy: whether groups are within a tolerance of each other, as far as the people can tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from evenodds.evaluation.intervals import Estimate, Pair, largest

__all__ = ["Verdict", "verdict_on"]


class Verdict(str):
    """A verdict is "pass", "fail" or "undecided", with its reasons; true only if it is "pass"."""

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


def verdict_on(pairs: Sequence[tuple[str, Pair]], tolerance: float, open_ends: Sequence[str]) -> Verdict:
    """Judge pairs of groups, each in a rate that is named; `open_ends` are reasons not to say "pass"."""
    over = [
        f"The {rate} of {pair.one!r} and {pair.other!r} differs by {_size(pair.difference)}."
        for rate, pair in pairs
        if largest([pair.difference]).low > tolerance
    ]
    if over:
        return Verdict("fail", over)
    spread = largest([pair.difference for _, pair in pairs])
    if spread.high > tolerance:
        rate, pair = max(pairs, key=lambda named: largest([named[1].difference]).high)
        who = f"{rate} of {pair.one!r} and {pair.other!r} least certain"
        more = f"The largest difference is {spread} ({who}), the tolerance {tolerance:g}: it takes more people."
        return Verdict("undecided", [*open_ends, more])
    if open_ends:
        return Verdict("undecided", open_ends)
    return Verdict("pass", [f"No two groups differ by more than {spread.high:.4f}."])


def _size(estimate: Estimate) -> str:
    return str(estimate if estimate.value >= 0 else Estimate(-estimate.value, -estimate.high, -estimate.low))
