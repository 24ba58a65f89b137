"""Curves that are chosen for all groups together: slopes, or shares left to chance, as even as they get."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_roots
from evenodds.model.curves import CERTAIN
from evenodds.model.measures import TIE, best_of, randomized_fraction
from evenodds.model.path import Path
from evenodds.model.search import CurveSearch

__all__ = ["DENSE", "Allowed", "even_curves"]

DENSE = 60
"""Steps of p to each side of 1/2 where groups are compared with each other."""

Allowed = Callable[[Path], NDArray[np.bool_]]


def even_curves(
    search: CurveSearch, gentle: Sequence[Path | None], criterion: str, steepest: float, allowed: Allowed
) -> list[Path | None]:
    """Least difference of a measure between the groups, then the least measure.

    Groups that have but one curve, and for slopes an infinite one, cannot be evened out: their curve stays. Those that
    no single curve serves are left out.
    """
    paths = {i: path for i, path in enumerate(gentle) if path is not None}
    many = [i for i in paths if search.singles[i] is None]
    for i, dense in search.paths({i: search.family.p_grid(DENSE) for i in many}, steepest).items():
        paths[i] = dense.among(allowed(dense)).joined(paths[i])
    chosen: dict[int, Path] = {}
    if paths and criterion == "even_slopes":
        chosen = _even_slopes(search, paths, allowed)
    elif paths:
        values = {i: randomized_fraction(path, search.groups[i]) for i, path in paths.items()}
        lo, hi = _narrowest_window(list(values.values()))
        for i, path in paths.items():
            inside = np.flatnonzero((values[i] >= lo) & (values[i] <= hi))
            chosen[i] = path.at(int(inside[best_of(path.among(inside), values[i][inside])]))
    return [chosen.get(i) for i in range(len(gentle))]


def _narrowest_window(values: Sequence[Floats]) -> tuple[float, float]:
    """The narrowest interval that holds a value of each group; of several the lowest."""
    flat = np.concatenate(values)
    owner = np.repeat(np.arange(len(values)), [value.size for value in values])
    order = np.argsort(flat, kind="stable")
    flat, owner = flat[order], owner[order]
    seen = np.zeros(len(values), int)
    missing, start = len(values), 0
    best = (np.inf, 0.0, 0.0)
    for stop in range(flat.size):
        missing -= seen[owner[stop]] == 0
        seen[owner[stop]] += 1
        while missing == 0:
            width = float(flat[stop] - flat[start])
            if width < best[0] - CERTAIN:
                best = (width, float(flat[start]), float(flat[stop]))
            seen[owner[start]] -= 1
            missing += seen[owner[start]] == 0
            start += 1
    return best[1], best[2]


def _even_slopes(search: CurveSearch, paths: Mapping[int, Path], allowed: Allowed) -> dict[int, Path]:
    """Bring every group to the slope of the group that cannot be gentler, or as near to it as it gets.

    The largest slope is at least the greatest of the groups' least ones; at that level the others follow their paths
    to the same slope, by a root in p between two neighbouring curves of which one is gentler and one is not.
    """
    least = [float(path.lipschitz.min()) for path in paths.values()]
    if np.isinf(least).all():
        return {i: path.at(0) for i, path in paths.items()}
    level = max(slope for slope in least if np.isfinite(slope))
    result = {}
    for i, path in paths.items():
        value = path.lipschitz
        below = np.flatnonzero(value <= level * (1 + TIE))
        if not below.size:  # a single threshold
            result[i] = path.at(0)
            continue
        nearest = path.at(int(below[best_of(path.among(below), level - value[below])]))
        crossing = np.flatnonzero((value[:-1] - level) * (value[1:] - level) < 0)
        if level - nearest.lipschitz[0] > TIE * level and crossing.size:
            nearest = _at_slope(search, i, path, crossing, level, allowed) or nearest
        result[i] = nearest
    return result


def _at_slope(
    search: CurveSearch, which: int, path: Path, crossing: NDArray[np.intp], level: float, allowed: Allowed
) -> Path | None:
    """The curve of a given slope between neighbours of a path; of several the one with p nearest 1/2."""
    gentle = path.lipschitz <= level
    positive = np.where(gentle[crossing], path.p[crossing + 1], path.p[crossing])
    negative = np.where(gentle[crossing], path.p[crossing], path.p[crossing + 1])

    def excess(p: Floats, _: NDArray[np.intp]) -> Floats:
        slope = search.follow({which: path}, {which: p})[which].lipschitz
        return np.where(np.isnan(slope), 1.0, slope - level)

    ends = [np.interp(p, path.p, path.lipschitz) - level for p in (positive, negative)]
    _, p = bracketed_roots(excess, positive, negative, ends[0], ends[1], tolerance=np.full(crossing.size, 1e-13))
    curves = search.follow({which: path}, {which: np.sort(p)})[which]
    curves = curves.among(curves.found)
    close = np.flatnonzero((np.abs(curves.lipschitz - level) <= 1e-6 * level) & allowed(curves))
    return curves.at(int(close[np.argmin(np.abs(curves.p[close] - 0.5))])) if close.size else None
