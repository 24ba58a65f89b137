"""People become groups. Who comes one by one: whole-number scores are counted, all others partitioned and sorted.

The rows are read once, in blocks that fit the cache, by as many threads as there are cores (numpy lets go of Python's
lock); a partition by group and label is followed by a sort of each part, which is all the sorting there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.errors import DataError
from evenodds.geometry import threads
from evenodds.geometry.pieces import Floats
from evenodds.geometry.samples import Sample
from evenodds.geometry.threads import by_threads
from evenodds.model.cells import Cells
from evenodds.model.columns import EMPTY_TABLE, check_amounts, check_lengths, labels_of, numbers_of, rounded
from evenodds.model.groups import Group, sample_of_sorted
from evenodds.model.keys import Codes, GroupLike, encode, owners

__all__ = ["groups_of_cells", "groups_of_counts", "groups_of_people"]

_BLOCK = 1 << 16  # rows at a time
_COUNTED = 1 << 12  # whole numbers over a range below this are counted
_CELLS = 1 << 20  # counts that are worth it
_BYTE = 127  # groups of which two parts each fit a byte
Parts = NDArray[np.uint8] | NDArray[np.uint16]


def groups_of_people(
    names: tuple[str, str, str],
    score: ArrayLike,
    group: GroupLike,
    label: ArrayLike,
    weight: ArrayLike | None,
    *,
    width: float,
    positive_label: object,
    sign: float,
) -> list[Group]:
    """The groups of people given one by one, whose columns are checked; `names` are those of score, label, weight."""
    scores = numbers_of(names[0], score)
    labels = labels_of(names[1], label, positive_label)
    codes, keys = encode(group)
    weights = None if weight is None else numbers_of(names[2], weight)
    lengths = {"score": scores.size, "group": codes.size, "label": labels.size}
    if weights is not None:
        lengths["weight"] = weights.size
    check_lengths(lengths)
    if scores.size == 0:
        raise DataError(EMPTY_TABLE)
    if weights is not None:
        check_amounts(names[2], weights)
        if not weights.any():
            msg = f"{names[2]} is 0 for everybody: nobody is left to fit."
            raise DataError(msg)
    if width:
        scores = rounded(scores, width)
    return _groups_of(scores, codes, labels, weights, keys=keys, sign=sign)


def groups_of_counts(counts: Any, *, sign: float) -> list[Group]:
    """The groups of people who were counted already: a mapping of group -> (scores, negatives, positives)."""
    if not isinstance(counts, Mapping):
        msg = f"The counts must map groups to (scores, negatives, positives), got {type(counts).__name__}."
        raise DataError(msg)
    if not counts:
        msg = "The table is empty: no group was given."
        raise DataError(msg)
    owner = owners(counts)
    groups = []
    for key in sorted(owner):
        entry = counts[owner[key]]
        if not _has_length(entry) or len(entry) != 3:  # noqa: PLR2004 the three columns
            msg = f"Group {key!r} must be given as (scores, negatives, positives), got {_size(entry)}."
            raise DataError(msg)
        names = [f"{column} of group {key!r}" for column in ("score", "negatives", "positives")]
        scores, negatives, positives = (numbers_of(n, column) for n, column in zip(names, entry, strict=True))
        if not scores.size == negatives.size == positives.size:
            msg = (
                f"The columns of group {key!r} have different lengths: "
                f"scores {scores.size}, negatives {negatives.size}, positives {positives.size}."
            )
            raise DataError(msg)
        check_amounts(names[1], negatives)
        check_amounts(names[2], positives)
        groups.append(Group.of_counts(key, sign * scores, negatives, positives))
    return groups


def groups_of_cells(cells: Cells, *, sign: float) -> list[Group]:
    """The groups of people who were counted by the engine that holds them."""
    groups = []
    for code, key in enumerate(cells.keys):
        rows = cells.codes == code
        weights, squares = cells.weights[:, rows], cells.squares[:, rows]
        own = None if np.array_equal(squares, weights) else (squares[0], squares[1])
        groups.append(Group.of_counts(key, sign * cells.scores[rows], weights[0], weights[1], own))
    return groups


def _has_length(entry: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(entry, Sequence) or (isinstance(entry, np.ndarray) and entry.ndim > 0)


def _size(entry: object) -> str:
    return f"{len(entry)} columns" if _has_length(entry) else type(entry).__name__


def _groups_of(
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
    # Part 2 i has the negatives of group i, and part 2 i + 1 its positives.
    part: Parts = codes.astype(np.uint16) if len(keys) > _BYTE else codes.astype(np.uint8)
    np.multiply(part, 2, out=part)
    np.add(part, labels, out=part)
    parts = 2 * len(keys)
    counted = _counted(scores, part, weights, parts)
    if counted is not None:
        samples = _samples_of_counts(sign, *counted)
    else:
        columns = [scores] if weights is None else [scores, weights]
        parted, bounds = _partitioned(columns, part, parts)
        slices = [slice(*ends) for ends in pairwise(bounds)]
        each = by_threads if scores.size > _BLOCK else map  # threads take longer to start than few rows to sort
        samples = list(each(lambda own: _sorted([column[own] for column in parted], sign), slices))
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
    if lo != np.rint(lo) or hi - lo >= _COUNTED:
        return None
    steps = int(hi - lo) + 1
    if steps * parts > _CELLS:
        return None
    ranges = _ranges(scores.size)

    def count(thread: int) -> tuple[Floats, Floats] | None:
        """The sums over a thread's rows; None where one of the scores is no whole number."""
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

    by_thread = [pair for pair in by_threads(count, range(len(ranges))) if pair is not None]
    if len(by_thread) < len(ranges):
        return None
    sums = np.sum([own for own, _ in by_thread], axis=0).reshape(steps, parts)
    squares = None if weights is None else np.sum([own for _, own in by_thread], axis=0).reshape(steps, parts)
    return lo + np.arange(steps, dtype=np.float64), sums, squares


def _samples_of_counts(sign: float, scores: Floats, weights: Floats, squares: Floats | None) -> list[Sample]:
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
    counts = np.stack(
        by_threads(lambda own: sum(np.bincount(part[rows], minlength=parts) for rows in _blocks(own)), ranges)
    )
    bounds = np.append(0, np.cumsum(counts.sum(axis=0)))
    starts = bounds[:-1] + np.cumsum(counts, axis=0) - counts  # of each thread within each part
    parted = [np.empty(part.size) for _ in columns]

    def copy(thread: int) -> None:
        """Copy a thread's rows to where they belong, block by block."""
        fill = starts[thread].tolist()
        for rows in _blocks(ranges[thread], max(_BLOCK, 64 * parts)):
            here = part[rows]
            order = np.argsort(here, kind="stable")  # by radix
            ends = np.append(0, np.cumsum(np.bincount(here, minlength=parts))).tolist()
            for column, out in zip(columns, parted, strict=True):
                values = column[rows].take(order)
                for i, to in enumerate(fill):
                    out[to : to + ends[i + 1] - ends[i]] = values[ends[i] : ends[i + 1]]
            fill = [to + ends[i + 1] - ends[i] for i, to in enumerate(fill)]

    by_threads(copy, range(len(ranges)))
    return parted, bounds.tolist()


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
