"""The people between some of a group's scores: what curves can do there, so that a program over few bounds them all.

A program with odds at some scores, the nodes, finds curves that are straight between them. Let the mean odds of the
negatives and of the positives in each gap between two nodes be variables of their own, which are held only to what the
means of every rising curve keep: then its optimum is a bound for all rising curves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats
from evenodds.geometry.program import LinearProgram
from evenodds.model.groups import Group

__all__ = ["Gaps"]

_LABELS = 2
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Gaps:
    """A group's people at its nodes, and in the gaps between them label by label: so are its columns, too."""

    shares: Floats
    """Of the negatives and of the positives, a row each."""
    least: Floats
    """By how much a rising curve's mean odds of the positives may be below those of the negatives in each gap, and"""
    most: Floats
    """above: as parts of what it rises over the gap."""
    before: Floats
    """How far the people of a label are from the node before them, on average; a row for each label."""
    behind: Floats
    """And from the node behind them."""

    @classmethod
    def of(cls, group: Group, at: Floats) -> Gaps:
        """The gaps between these nodes."""
        count = at.size - 1
        shares, above = np.zeros((_LABELS, at.size + _LABELS * count)), []
        before, behind = np.zeros((_LABELS, count)), np.zeros((_LABELS, count))
        is_node = np.isin(group.scores, at)
        inner = group.scores[~is_node]
        place = np.searchsorted(at, inner) - 1
        for y, weights in enumerate(group.class_conditional):
            held = weights[~is_node]
            within = np.bincount(place, held, minlength=count)
            shares[y, : at.size] = weights[is_node]
            shares[y, at.size + y * count : at.size + (y + 1) * count] = within
            total, until = np.cumsum(held), np.concatenate([[0.0], np.cumsum(within)])[place]
            with np.errstate(invalid="ignore", divide="ignore"):
                above.append(1 - (total - until) / within[place])  # the part of the gap's people above a score
                before[y] = np.bincount(place, held * (inner - at[place]), minlength=count) / within
                behind[y] = np.bincount(place, held * (at[place + 1] - inner), minlength=count) / within
        least, most = np.full(count, -1.0), np.full(count, 1.0)
        both = np.isfinite(above[0]) & np.isfinite(above[1])
        if both.any():  # a rising curve is a mixture of steps, and a step behind a score leads to such a difference
            differs = (above[1] - above[0])[both]
            known = np.unique(place[both])
            least[known], most[known] = 0.0, 0.0
            np.minimum.at(least, place[both], differs)
            np.maximum.at(most, place[both], differs)
        return cls(shares, least, most, before, behind)

    def bound(self, program: LinearProgram, *parts: Index) -> None:
        """Rows for a curve, which is a sum of parts: in each gap its mean odds lie between those of the nodes."""
        low, high, means = self._columns(parts)
        count = self.least.size
        plus, minus = np.ones((count, len(parts))), -np.ones((count, len(parts)))
        for mean in means:
            program.at_most(np.column_stack([*low, *mean]), np.hstack([plus, minus]), np.zeros(count))
            program.at_most(np.column_stack([*mean, *high]), np.hstack([plus, minus]), np.zeros(count))
        columns = np.column_stack([*means[1], *means[0], *high, *low])
        for sign, furthest in ((1, self.most), (-1, -self.least)):
            rise = np.broadcast_to(furthest[:, None], plus.shape)
            program.at_most(columns, np.hstack([sign * plus, sign * minus, -rise, rise]), np.zeros(count))

    def bound_slope(self, program: LinearProgram, slope: float, *parts: Index) -> None:
        """Rows for a curve with a slope budget: its mean odds are not far from those of either node."""
        low, high, means = self._columns(parts)
        for mean, before, behind in zip(means, self.before, self.behind, strict=True):
            known = np.flatnonzero(np.isfinite(before))  # gaps that have people of the label
            signs = np.repeat([[1.0, -1.0]], len(parts), axis=1).repeat(known.size, axis=0)
            for more, less, far in ((mean, low, before), (high, mean, behind)):
                program.at_most(np.column_stack([*more, *less])[known], signs, slope * far[known])

    def _columns(self, parts: Sequence[Index]) -> tuple[list[Index], list[Index], list[list[Index]]]:
        """The columns of the nodes before and behind the gaps, and of the means in them by label, part by part."""
        count = self.least.size
        nodes = [own[: count + 1] for own in parts]
        means = [[own[count + 1 + y * count : count + 1 + (y + 1) * count] for own in parts] for y in range(_LABELS)]
        return [own[:-1] for own in nodes], [own[1:] for own in nodes], means
