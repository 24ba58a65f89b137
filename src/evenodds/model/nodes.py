"""The nodes of a curve of straight lines or steps: checked, as pieces, and who is between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from evenodds.errors import OptionError
from evenodds.geometry.pieces import NARROWEST, Floats, Pieces
from evenodds.model.groups import Group

__all__ = [
    "apart_enough",
    "checked_nodes",
    "mean_between",
    "nodes_from_to",
    "shares_at",
    "shares_by_label",
    "steps",
    "straight_lines",
    "within_slope",
    "without_straight",
]

Nodes = tuple[tuple[float, float], ...]
_SAME = 1e-9  # means nearer than this say the same
_STRAIGHT = 1e-9  # a change of slope, relative to the larger, that is none; odds so near a line lie on it
_APART = 1e-9  # of the narrowest curve's width: no slope can be told between scores that are nearer


def nodes_from_to(nodes: object, t0: float, t1: float, p: float, *, rising: bool) -> Nodes:
    """Nodes, checked, that run from t0 to t1 with mean odds of p."""
    x, y = checked_nodes(*_columns_of(nodes), rising=rising)
    start, stop = float(x[0]), float(x[-1])
    if x.size < 2 or (start, stop) != (t0, t1):  # noqa: PLR2004 a line has two ends
        msg = f"The nodes must run from t0={t0!r} to t1={t1!r}, got {x.size}, from {start!r} to {stop!r}."
        raise OptionError(msg)
    # Nodes that were moved are rounded, and p is not.
    rounded = 8 * float(np.spacing(np.abs(x).max())) / abs(t1 - t0)
    if abs(mean_between(x, y) - p) > _SAME + rounded:
        msg = f"p={p:g} is not the mean odds between the nodes, which is {mean_between(x, y):g}."
        raise OptionError(msg)
    return tuple(zip(x.tolist(), y.tolist(), strict=True))


def _columns_of(nodes: object) -> tuple[list[object], list[object]]:
    """The scores and the odds of pairs of both."""
    try:
        pairs = [(score, odds) for score, odds in nodes]  # type: ignore[attr-defined]  # whatever else is refused
    except (TypeError, ValueError):
        msg = f"nodes={nodes!r} is not allowed. Allowed: pairs of a score and its odds."
        raise OptionError(msg) from None
    return [score for score, _ in pairs], [odds for _, odds in pairs]


def checked_nodes(scores: object, odds: object, *, rising: bool) -> tuple[Floats, Floats]:
    """Scores that rise (or fall) from one to the next, and their odds, which rise from 0 to 1 at most."""
    x, y = _array("scores", scores), _array("odds", odds)
    if x.ndim != 1 or x.shape != y.shape or not x.size:
        msg = f"A curve needs as many scores as odds, and at least one of each; got {x.shape} and {y.shape}."
        raise OptionError(msg)
    if not np.isfinite(x).all():
        msg = f"The scores of a curve must be finite, got {x[~np.isfinite(x)][0]:g}."
        raise OptionError(msg)
    with np.errstate(over="ignore"):
        gaps = np.diff(x) if rising else -np.diff(x)
    is_wide = (gaps >= NARROWEST) & np.isfinite(gaps)
    if not is_wide.all():
        one, other = x[np.argmin(is_wide) :][:2].tolist()
        way = "rise" if rising else "fall (negative orientation)"
        msg = f"The scores of a curve must {way} from one to the next, got {one!r} and then {other!r}."
        raise OptionError(msg)
    allowed = (y >= 0) & (y <= 1)
    if not allowed.all():
        msg = f"Odds must be from 0 to 1, got {y[~allowed][0]:g} at a score of {x[~allowed][0]:g}."
        raise OptionError(msg)
    falls = np.diff(y) < 0
    if falls.any():
        one, other = y[np.argmax(falls) :][:2].tolist()
        msg = f"Odds must not fall where scores speak more for a yes, got {one!r} and then {other!r}."
        raise OptionError(msg)
    return x, y


def _array(name: str, values: object) -> Floats:
    try:
        array = np.array(values)
    except (TypeError, ValueError):  # lists of different lengths
        array = np.array(None)
    if array.dtype.kind not in "iuf":
        msg = f"The {name} of a curve must be numbers, got {values!r}."
        raise OptionError(msg)
    return array.astype(np.float64)


def without_straight(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The nodes at which a line bends; none where all odds are the same."""
    if (y == y[0]).all():
        return x[:0], y[:0]
    kept = np.ones(x.size, bool)
    # Beyond the first and the last bend odds stay as they are there.
    kept[: max(int(np.argmax(y > y[0])) - 1, 0)] = False
    kept[int(np.argmax(y >= y[-1])) + 1 :] = False
    inner = np.arange(1, x.size - 1)
    line = y[inner - 1] + (x[inner] - x[inner - 1]) / (x[inner + 1] - x[inner - 1]) * (y[inner + 1] - y[inner - 1])
    slope = np.diff(y) / np.diff(x)
    bends = np.abs(np.diff(slope)) > _STRAIGHT * np.maximum(slope[1:], slope[:-1])
    # Over a wide gap even a slight bend takes odds off the line between their neighbours, and then it counts.
    kept[inner] &= bends | (np.abs(y[inner] - line) > _STRAIGHT)
    return x[kept], y[kept]


def straight_lines(nodes: Nodes, *, rising: bool) -> Pieces:
    """The lines between nodes, and constant odds beyond the first and the last."""
    x, y = np.array(nodes if rising else nodes[::-1]).T
    rise = np.concatenate([[0.0], np.diff(y), [0.0]])
    return Pieces.joined(
        x,
        origin=np.append(0.0, x),
        scale=np.concatenate([[1.0], np.diff(x), [1.0]]),
        coefficients=np.column_stack([np.append(y[0], y), rise]),
        closed="left" if rising else "right",
    )


def steps(at: Sequence[float], odds: Sequence[float]) -> Pieces:
    """Odds that are constant between the scores at which they jump; from a score on, which belongs to what follows."""
    count = len(odds)
    return Pieces.joined(
        np.array(at, dtype=np.float64),
        origin=[0.0] * count,
        scale=[1.0] * count,
        coefficients=[[constant] for constant in odds],
    )


def mean_between(x: Floats, y: Floats) -> float:
    """The mean of the lines from the first node to the last."""
    return float(np.sum(np.diff(x) / 2 * (y[1:] + y[:-1])) / (x[-1] - x[0]))


def within_slope(at: Floats, odds: Floats, slope: float) -> Floats:
    """Odds that rise, and no steeper than allowed, where a linear program was off by its precision."""
    rising = np.maximum.accumulate(np.clip(odds, 0.0, 1.0)) + 0.0  # no -0
    if np.isinf(slope):
        return np.asarray(rising)
    most = (slope * np.diff(at)).tolist()  # that odds may rise from one score to the next
    capped = zip(rising.tolist()[1:], most, strict=True)
    return np.array(list(accumulate(capped, _capped, initial=float(rising[0]))))


def _capped(before: float, wanted: tuple[float, float]) -> float:
    """The next odds: as they are wanted, but above those before by no more than they may rise."""
    odds, most = wanted
    return min(odds, before + most)


def apart_enough(scores: Floats, slope: float) -> Floats:
    """Those of ascending scores between which a slope budget can be told: they are the nodes of a linear program."""
    least = _APART * min(1 / slope, scores[-1] - scores[0]) if np.isfinite(slope) else 0.0
    return np.asarray(scores[np.append(True, np.diff(scores) > least)])


def shares_by_label(group: Group, nodes: Floats) -> Floats:
    """The shares of a group's negatives and of its positives at the nodes, a row each."""
    return np.stack([shares_at(side.points, side.weights, nodes) for side in group.by_label])


def shares_at(points: Floats, weights: Floats, nodes: Floats) -> Floats:
    """The shares of people at the nodes; who is between two of them counts for both, as odds on a straight line do."""
    after = np.clip(np.searchsorted(nodes, points, side="right"), 1, max(nodes.size - 1, 1))
    before = after - 1
    gap = np.diff(nodes)[before] if nodes.size > 1 else np.ones(points.size)
    part = np.clip((points - nodes[before]) / gap, 0.0, 1.0)
    held = np.bincount(before, weights * (1 - part), minlength=nodes.size)
    if nodes.size > 1:
        held = held + np.bincount(after, weights * part, minlength=nodes.size)
    return np.asarray(held / held.sum())
