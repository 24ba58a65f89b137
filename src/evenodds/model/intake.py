"""People one by one become groups: whole-number scores are counted, all others partitioned and sorted.

The rows are read once, in blocks that fit the cache, by as many threads as there are cores (numpy lets go of Python's
lock); a partition by group and label is followed by a sort of each part, which is all the sorting there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry import threads
from evenodds.geometry.pieces import Floats
from evenodds.geometry.samples import Sample
from evenodds.geometry.threads import by_threads
from evenodds.model.groups import Group, sample_of_sorted
from evenodds.model.keys import Codes

__all__ = ["groups_of"]

_BLOCK = 1 << 16  # rows at a time
_COUNTED = 1 << 12  # whole numbers over a range of at most this are counted
_CELLS = 1 << 20  # counts that are worth it
Parts = NDArray[np.uint8] | NDArray[np.uint16]


def groups_of(
    scores: Floats,
    codes: Codes,
    labels: NDArray[np.bool_],
    weights: Floats | None,
    *,
    keys: Sequence[str],
    sign: float,
) -> list[Group]:
    """The groups of people, in the order of the keys; scores are multiplied by the sign."""
    if weights is not None and not weights.all():
        kept = weights > 0
        scores, codes, labels, weights = scores[kept], codes[kept], labels[kept], weights[kept]
    wide = len(keys) > 127  # noqa: PLR2004 two parts a group fit a byte
    part: Parts = codes.astype(np.uint16) if wide else codes.astype(np.uint8)
    np.multiply(part, 2, out=part)
    np.add(part, labels, out=part)
    counted = _counted(scores, part, weights, 2 * len(keys))
    if counted is not None:
        samples = _of_counts(sign, *counted)
    else:
        columns = [scores] if weights is None else [scores, weights]
        parted, bounds = _partitioned(columns, part, 2 * len(keys))
        each = by_threads if scores.size > _BLOCK else map  # threads take longer to start than few rows to sort
        samples = list(
            each(
                lambda i: _sorted([column[bounds[i] : bounds[i + 1]] for column in parted], sign), range(2 * len(keys))
            )
        )
    return [Group(key, (samples[2 * i], samples[2 * i + 1])) for i, key in enumerate(keys)]


def _ranges(rows: int) -> list[range]:
    """The rows of each thread."""
    count = threads.THREADS if rows > 4 * _BLOCK else 1
    cuts = np.linspace(0, rows, count + 1).astype(int).tolist()
    return [range(a, b) for a, b in pairwise(cuts)]


def _blocks(rows: range, size: int = _BLOCK) -> list[slice]:
    return [slice(start, min(start + size, rows.stop)) for start in range(rows.start, rows.stop, size)]


# -- whole numbers -----------------------------------------------------------------------------------------------------


def _counted(
    scores: Floats, part: Parts, weights: Floats | None, parts: int
) -> tuple[Floats, Floats, Floats | None] | None:
    """If all scores are whole numbers near each other: the numbers, weights by number and part, and their squares."""
    first = scores[:_BLOCK]
    if not (first == np.rint(first)).all():
        return None
    lo, hi = float(scores.min()), float(scores.max())
    steps = int(hi - lo) + 1 if hi - lo < _COUNTED else _CELLS
    if lo != np.rint(lo) or steps * parts > _CELLS:
        return None
    ranges = _ranges(scores.size)

    def count(thread: int) -> tuple[Floats, Floats] | None:
        sums, squares = np.zeros(steps * parts), np.zeros(steps * parts if weights is not None else 0)
        for rows in _blocks(ranges[thread]):
            offset = scores[rows] - lo
            cell = offset.astype(np.intp)
            if not (cell == offset).all():
                return None
            cell *= parts
            cell += part[rows]
            if weights is None:
                sums += np.bincount(cell, minlength=sums.size)
            else:
                sums += np.bincount(cell, weights[rows], minlength=sums.size)
                squares += np.bincount(cell, weights[rows] ** 2, minlength=sums.size)
        return sums, squares

    found = [one for one in by_threads(count, range(len(ranges))) if one is not None]
    if len(found) < len(ranges):
        return None
    sums = np.sum([one[0] for one in found], axis=0).reshape(steps, parts)
    squares = None if weights is None else np.sum([one[1] for one in found], axis=0).reshape(steps, parts)
    return lo + np.arange(steps, dtype=np.float64), sums, squares


def _of_counts(sign: float, scores: Floats, weights: Floats, squares: Floats | None) -> list[Sample]:
    """The samples of people who were counted by score, one for each part."""
    scores, weights = (scores, weights.T) if sign > 0 else (-scores[::-1], weights[::-1].T)
    if squares is not None:
        squares = squares.T if sign > 0 else squares[::-1].T
    samples = []
    for i, own in enumerate(weights):
        there = np.flatnonzero(own)
        more = None if squares is None else squares[i, there]
        samples.append(Sample(scores[there], own[there], squares=more, counted=squares is None))
    return samples


# -- all others --------------------------------------------------------------------------------------------------------


def _partitioned(columns: Sequence[Floats], part: Parts, parts: int) -> tuple[list[Floats], list[int]]:
    """The columns part by part, and where the parts begin and end."""
    ranges = _ranges(part.size)
    counts = (
        np.stack(
            by_threads(
                lambda t: sum(np.bincount(part[rows], minlength=parts) for rows in _blocks(ranges[t])),
                range(len(ranges)),
            )
        )
        if part.size
        else np.zeros((1, parts), dtype=int)
    )
    bounds = np.append(0, np.cumsum(counts.sum(axis=0)))
    starts = bounds[:-1] + np.cumsum(counts, axis=0) - counts  # of each thread within each part
    found = [np.empty(part.size) for _ in columns]

    def copy(thread: int) -> None:
        fill = starts[thread].tolist()
        for rows in _blocks(ranges[thread], max(_BLOCK, 64 * parts)):
            here = part[rows]
            order = np.argsort(here, kind="stable")  # by radix
            ends = np.append(0, np.cumsum(np.bincount(here, minlength=parts))).tolist()
            for column, out in zip(columns, found, strict=True):
                values = column[rows].take(order)
                for i, to in enumerate(fill):
                    out[to : to + ends[i + 1] - ends[i]] = values[ends[i] : ends[i + 1]]
            fill = [to + ends[i + 1] - ends[i] for i, to in enumerate(fill)]

    by_threads(copy, range(len(ranges)))
    return found, bounds.tolist()


def _sorted(columns: Sequence[Floats], sign: float) -> Sample:
    """A part's people in order, upwards, with their weights."""
    scores, *rest = columns
    if sign < 0:
        np.negative(scores, out=scores)
    if rest:
        order = np.argsort(scores)
        scores[:] = scores[order]
        rest[0][:] = rest[0][order]
    else:
        scores.sort()
    sample = sample_of_sorted(scores, rest[0] if rest else None)
    if not sample.is_few:
        _ = sample.strides  # made now, while threads are at work
    return sample
