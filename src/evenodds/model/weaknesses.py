"""What makes groups' rates doubtful: too few people, or a score that ranks them backwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice

from evenodds.model.groups import Group

__all__ = ["SMALL_GROUP", "weaknesses"]

SMALL_GROUP = 30  # fewer positives or negatives than this leave rates uncertain by 10 points or more
_LISTED = 6  # groups that a warning names


def weaknesses(members: Sequence[Group]) -> list[str]:
    """What makes groups' rates doubtful: too few people, or a score that ranks them backwards. One text for each."""
    found = []
    sizes = {m.key: tuple(side.n_effective for side in m.by_label) for m in members}
    small = sorted((group for group, size in sizes.items() if min(size) < SMALL_GROUP), key=lambda g: min(sizes[g]))
    if small:
        told = {group: "{:g} negatives and {:g} positives".format(*sizes[group]) for group in small}
        are, their, they = ("is", "Its", "it was") if len(small) == 1 else ("are", "Their", "they were")
        found.append(
            f"{_named_groups(told, are, 'very small')} {their} rates on other people may differ a lot from those "
            f"{they} fitted on."
        )
    backward = sorted((m for m in members if m.roc.is_backwards), key=lambda m: m.roc.auc)
    if backward:
        told = {m.key: f"{m.roc.auc:.4f}" for m in backward}
        are, their = ("is", "its") if len(backward) == 1 else ("are", "their")
        what = "ranked backwards by the score, with an AUC below 1/2"
        found.append(
            f"{_named_groups(told, are, what)} Little but the diagonal is in {their} reach, "
            "and in that of every policy that treats all groups alike. Hint: check orientation=, or the score itself."
        )
    return found


def _named_groups(told: Mapping[str, str], are: str, what: str) -> str:
    """Groups of which something is said, with a figure each; the first of many, since nobody reads them all."""
    if len(told) == 1:
        ((group, figure),) = told.items()
        return f"Group {group!r} {are} {what}: {figure}."
    some = [f"{group!r} with {figure}" for group, figure in islice(told.items(), _LISTED)]
    more = f"; and {len(told) - _LISTED} more" if len(told) > _LISTED else ""
    return f"{len(told)} groups {are} {what}: {'; '.join(some)}{more}."
