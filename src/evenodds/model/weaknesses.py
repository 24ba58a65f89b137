"""What makes figures doubtful: too few people, a score that ranks them backwards, or scores of another scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution

__all__ = ["SMALL_GROUP", "backwards", "elsewhere", "elsewhere_of", "outside", "weaknesses"]

SMALL_GROUP = 30  # fewer positives or negatives than this leave rates uncertain by 10 points or more
_LISTED = 6  # groups that a warning names
_SOME = 20  # scores that tell a scale


def weaknesses(members: Sequence[Group]) -> list[str]:
    """What makes groups' rates doubtful: too few people, or a score that ranks them backwards. One text for each."""
    texts = []
    sizes = {m.key: tuple(side.n_effective for side in m.by_label) for m in members}
    small = sorted((group for group, size in sizes.items() if min(size) < SMALL_GROUP), key=lambda g: min(sizes[g]))
    if small:
        counted = all(side.counted for m in members if m.key in small for side in m.by_label)
        worth = "" if counted else "the equal of "  # by Kish's formula
        figures = {group: worth + "{:g} negatives and {:g} positives".format(*sizes[group]) for group in small}
        are, their, they = ("is", "Its", "it was") if len(small) == 1 else ("are", "Their", "they were")
        texts.append(
            f"{_named_groups(figures, are, 'very small')} {their} rates on other people may differ a lot from those "
            f"{they} fitted on."
        )
    backward = sorted((m for m in members if m.roc.is_backwards), key=lambda m: m.roc.auc)
    if backward:
        their = "its" if len(backward) == 1 else "their"
        texts.append(
            f"{backwards({m.key: m.roc.auc for m in backward})} Little but the diagonal is in {their} reach, and "
            "in that of every policy that treats all groups alike. Hint: check the orientation, or the score itself."
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


def elsewhere(score_range: tuple[float, float], out: float, total: float, people: float | None = None) -> list[str]:
    """That most scores are not where those of the fit were, as points in place of probabilities are not.

    So many are `out` of the range, of a `total`; of `people` scores are known, where weights do not say of how many.
    """
    if (total if people is None else people) < _SOME or 2 * out <= total:
        return []
    where = "lie outside those of the fit, which go from {:g} to {:g}".format(*score_range)  # yes for all, or nobody
    return [f"{out:,.10g} of {total:,.10g} scores {where}. Hint: are they on the same scale, and of the same model?"]


def outside(score_range: tuple[float, float], scores: Floats, weights: Floats | None = None) -> tuple[float, float]:
    """How many finite scores are not where those of the fit were, and how many there are."""
    low, high = score_range
    finite = np.isfinite(scores)
    out = finite & ((scores < low) | (scores > high))
    return (int(out.sum()), int(finite.sum())) if weights is None else (float(weights @ out), float(weights @ finite))


def elsewhere_of(score_range: tuple[float, float], joint: JointDistribution) -> list[str]:
    """The same of all people of a joint distribution."""
    members = (*joint.members, *joint.one_sided)
    tables = [member.table for member in members]
    scores = joint.scale.own(np.concatenate([table.scores for table in tables]))
    weights = np.concatenate([table.negatives + table.positives for table in tables])
    people = sum(side.n_effective for member in members for side in member.by_label)
    return elsewhere(score_range, *outside(score_range, scores, weights), people)


def _named_groups(figures: Mapping[str, str], are: str, trouble: str) -> str:
    """Groups of which something is said, with a figure each; the first of many, since nobody reads them all."""
    if len(figures) == 1:
        ((group, figure),) = figures.items()
        return f"Group {group!r} {are} {trouble}: {figure}."
    some = [f"{group!r} with {figure}" for group, figure in islice(figures.items(), _LISTED)]
    more = f"; and {len(figures) - _LISTED} more" if len(figures) > _LISTED else ""
    return f"{len(figures)} groups {are} {trouble}: {'; '.join(some)}{more}."
