"""Names beside lines: where each stands so that it is told from the others, whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.pictures.scene import Scene, Series

__all__ = ["Label", "legend", "line_labels", "shortened"]

_LABELLED = 12  # lines that get a label of their own
_LETTER = 0.019  # the width of one, of the picture
_LONGEST = 32  # letters
_CROWDED = 2.5  # names as wide as this many pictures leave no place to stand
_HEIGHT = 0.07  # of a name
_DOT = 0.02  # the width of a dot
_BEYOND = 0.15  # how far a name may run on: the last part of the picture is not searched for a place


def shortened(text: str, longest: int = _LONGEST) -> str:
    """A name that is cut where it would be too long."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


@dataclass(frozen=True, eq=False)
class Label:
    """What stands beside a line, and where."""

    series: Series
    text: str
    x: float
    y: float
    small: bool = False


def line_labels(scene: Scene) -> list[Label]:
    """A label for each group's line, where other lines and other names are farthest, and for each zone at its end.

    None if there are too many, or no place for one of them.
    """
    zones = [s for s in scene.series if s.kind == "zone"]
    lines = [s for s in scene.series if s.kind == "line" and s.style == "solid" and s.group]
    texts = [shortened(series.label or series.name) for series in lines]
    if not 0 < len(lines) <= _LABELLED or _LETTER * sum(map(len, texts)) > _CROWDED:
        return []
    grid = np.linspace(max(s.x.min() for s in lines), min(s.x.max() for s in lines), 80)[4:-12]
    heights = np.array([np.interp(grid, s.x, s.y) for s in lines])
    (left, right), (bottom, top) = scene.extent
    scale = top - bottom

    def across_of(x: Floats) -> Floats:
        return np.asarray(np.log(x / left) / np.log(right / left) if scene.log_x else (x - left) / (right - left))

    across = across_of(grid)
    dots = [s for s in scene.series if s.kind == "dots" and s.x.size == 1]  # of policies, and not of people
    taken = [(float(across_of(s.x)[0]) - _DOT / 2, (float(s.y[0]) - bottom) / scale, _DOT) for s in dots]
    labels = [Label(s, shortened(s.group or ""), float(s.x[1]), float(s.y[1]), small=True) for s in zones]
    for i, (series, text) in enumerate(zip(lines, texts, strict=True)):
        up = (heights[i] - bottom) / scale
        others = np.abs(np.delete(heights, i, axis=0) - heights[i]) / scale
        room = np.minimum(others.min(axis=0) if others.size else np.ones(grid.size), 0.1)
        width = _LETTER * len(text)
        covers = np.zeros(grid.size, dtype=bool)
        for x, y, wide in taken:
            covers |= (across < x + wide) & (x < across + width) & (np.abs(up - y) < _HEIGHT)
        at = int(np.argmax(room - covers - 0.5 * (across + width > 1 + _BEYOND) - 0.02 * np.abs(up - 0.5)))
        if covers[at]:  # one name would stand on another, wherever it stands
            return []
        taken.append((float(across[at]), float(up[at]), width))
        labels.append(Label(series, text, float(grid[at]), float(heights[i, at])))
    return labels


def legend(scene: Scene) -> dict[str, str]:
    """Groups and their colours, where no name stands beside a line."""
    named = {label.series.group for label in line_labels(scene)}
    if scene.y_names is not None:
        return {}
    return {s.group: scene.colour_of(s.group) for s in scene.series if s.group and s.group not in named}
