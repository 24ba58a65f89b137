"""What makes figures doubtful: too few people, a score that ranks them backwards, or scores of another scale."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.model.columns import WORDS_FOR_NOTHING
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.keys import JOINER

__all__ = ["SMALL_GROUP", "Whereabouts", "backwards", "elsewhere", "elsewhere_of", "weaknesses"]

SMALL_GROUP = 30  # fewer positives or negatives than this leave rates uncertain by 10 points or more
_LISTED = 6  # groups that a warning names
_SOME = 20  # scores that tell a scale
_NARROW = 0.02  # of the range of the fit: scores that lie no farther apart are hardly of its scale
_NOBODYS = WORDS_FOR_NOTHING | {"?"}  # what people are called of whom a column does not tell the group


def weaknesses(members: Sequence[Group]) -> list[str]:
    """What makes groups' rates doubtful: too few people, or a score that ranks them backwards. One text for each."""
    texts = []
    sizes = {m.key: tuple(side.n_effective for side in m.by_label) for m in members}
    small = sorted((group for group, size in sizes.items() if min(size) < SMALL_GROUP), key=lambda g: min(sizes[g]))
    if small:
        counted = all(side.counted for m in members if m.key in small for side in m.by_label)
        worth = "" if counted else "the equal of "  # by Kish's formula
        figures = {group: worth + "{:g} negatives and {:g} positives".format(*sizes[group]) for group in small}
        are, their = ("is", "Its") if len(small) == 1 else ("are", "Their")
        texts.append(
            f"{_named_groups(figures, are, 'very small')} {their} rates may be very different on other people."
        )
    backward = sorted((m for m in members if m.roc.is_backwards), key=lambda m: m.roc.auc)
    if backward:
        their = "its" if len(backward) == 1 else "their"
        texts.append(
            f"{backwards({m.key: m.roc.auc for m in backward})} Little but the diagonal is in {their} reach, and "
            "in that of every policy that treats all groups alike. Hint: check the orientation, or the score itself."
        )
    return texts + _doubtful_names([member.key for member in members])


def _doubtful_names(keys: Iterable[str]) -> list[str]:
    """That groups are named as what is missing often is, or as others but for capitals.

    >>> _doubtful_names(["white", "White", "black"])
    ["Groups 'White' and 'white' differ in capitals only. Hint: are they one group?"]
    """
    texts, alike = [], defaultdict(list)
    for key in sorted(keys):
        alike[key.casefold()].append(key)
    for some in alike.values():
        if len(some) > 1:
            names = " and ".join(map(repr, some[:_LISTED]))
            texts.append(f"Groups {names} differ in capitals only. Hint: are they one group?")
    unknown = [key for some in alike.values() for key in some if _NOBODYS & set(key.casefold().split(JOINER))]
    if unknown:
        names = ", ".join(map(repr, unknown[:_LISTED])) + (", ..." if len(unknown) > _LISTED else "")
        are = "Group {} is" if len(unknown) == 1 else "Groups {} are"
        texts.append(
            f"{are.format(names)} named as what is not known often is. Hint: leave such people out, or say that they "
            "are a group."
        )
    return texts


def backwards(auc: Mapping[str, float]) -> str:
    """That these groups are ranked backwards.

    >>> backwards({"a": 0.25})
    "Group 'a' is ranked backwards by the score, with an AUC below 1/2: 0.2500."
    """
    are = "is" if len(auc) == 1 else "are"
    figures = {group: f"{value:.4f}" for group, value in auc.items()}
    return _named_groups(figures, are, "ranked backwards by the score, with an AUC below 1/2")


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where finite scores lie: how many outside those of the fit, how many in all, and from where to where."""

    out: float = 0.0
    total: float = 0.0
    low: float = np.inf
    high: float = -np.inf

    @classmethod
    def of(cls, score_range: tuple[float, float], scores: Floats, weights: Floats | None = None) -> Whereabouts:
        """Of some scores; weights say how many people have them."""
        low, high = score_range
        finite = np.isfinite(scores)
        if not finite.any():
            return cls()
        there = scores[finite]
        out = finite & ((scores < low) | (scores > high))
        counts = (out.sum(), finite.sum()) if weights is None else (weights @ out, weights @ finite)
        return cls(*map(float, (*counts, there.min(), there.max())))

    def __add__(self, other: Whereabouts) -> Whereabouts:
        """Of both."""
        ends = min(self.low, other.low), max(self.high, other.high)
        return Whereabouts(self.out + other.out, self.total + other.total, *ends)


def elsewhere(score_range: tuple[float, float], where: Whereabouts, people: float | None = None) -> list[str]:
    """That scores are not where those of the fit were, as points in place of probabilities are not, nor these there.

    Of so many people scores are known, where weights do not say of how many.
    """
    low, high = score_range
    if (where.total if people is None else people) < _SOME:
        return []
    those = (
        f"those of the fit, which go from {low:g} to {high:g}. Hint: are they on the same scale, and of the same model?"
    )
    if 2 * where.out > where.total:
        return [f"{where.out:,.10g} of {where.total:,.10g} scores lie outside {those}"]  # yes for all, or nobody
    if 0 < where.high - where.low < _NARROW * (high - low):
        ends = f"{where.low:g} and {where.high:g}"
        return [f"All {where.total:,.10g} scores lie between {ends}, next to each other among {those}"]
    return []


def elsewhere_of(score_range: tuple[float, float], joint: JointDistribution) -> list[str]:
    """The same of all people of a joint distribution."""
    members = (*joint.members, *joint.one_sided)
    tables = [member.table for member in members]
    scores = joint.scale.own(np.concatenate([table.scores for table in tables]))
    weights = np.concatenate([table.negatives + table.positives for table in tables])
    people = sum(side.n_effective for member in members for side in member.by_label)
    return elsewhere(score_range, Whereabouts.of(score_range, scores, weights), people)


def _named_groups(figures: Mapping[str, str], are: str, trouble: str) -> str:
    """Groups of which something is said, with a figure each; the first of many, since nobody reads them all."""
    if len(figures) == 1:
        ((group, figure),) = figures.items()
        return f"Group {group!r} {are} {trouble}: {figure}."
    some = [f"{group!r} with {figure}" for group, figure in islice(figures.items(), _LISTED)]
    more = f"; and {len(figures) - _LISTED} more" if len(figures) > _LISTED else ""
    return f"{len(figures)} groups {are} {trouble}: {'; '.join(some)}{more}."
