"""A picture as data: what is drawn, and not how. One description serves matplotlib, SVG and `.frame()`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenodds.errors import one_of
from evenodds.frames import frame_of
from evenodds.geometry.pieces import Floats
from evenodds.geometry.samples import locked

__all__ = ["PALETTE", "Kind", "Scene", "Series", "Style", "colour_of"]

Kind = Literal["line", "dots", "intervals", "zone"]
Style = Literal["solid", "dashed", "dotted", "thin"]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#7F7F7F")
"""Okabe and Ito's, but for the last two: told apart by the colour-blind, and of different lightness in grey."""
_SHADES = ((0.0, 0.0), (0.4, 0.0), (0.4, 255.0))  # how much of black or white is mixed in when the palette begins anew
_OPTIONAL = ("low", "high", "people", "score")


def colour_of(place: int) -> str:
    """The colour of the group in this place among all groups; beyond eight darker, and then lighter.

    >>> colour_of(0), colour_of(8), colour_of(16)
    ('#0072B2', '#00446b', '#66aad1')
    """
    again, own = divmod(place, len(PALETTE))
    share, towards = _SHADES[again % len(_SHADES)]
    if not share:
        return PALETTE[own]
    parts = (int(PALETTE[own][i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round((1 - share) * part + share * towards):02x}" for part in parts)


@dataclass(frozen=True, eq=False)
class Series:
    """Points that belong together: a line, dots, intervals, or a zone, which is a stretch of x."""

    name: str
    x: Floats
    y: Floats
    kind: Kind = "line"
    style: Style = "solid"
    group: str | None = None
    """Whose colour it has; None for what belongs to nobody."""
    low: Floats | None = None
    high: Floats | None = None
    """The ends of intervals: along x in figures whose y are names, along y in all others."""
    people: Floats | None = None
    """How many people stand behind each point; the figure says in which way."""
    score: Floats | None = None
    """Which score makes each point, where that is neither x nor y."""
    label: str | None = None
    """What stands beside it; its name where that is None."""
    shaded_to: Floats | None = None
    """Heights down to which the space below a line is shaded: all of it is in reach."""

    def __post_init__(self) -> None:
        for name in ("x", "y", *_OPTIONAL, "shaded_to"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, locked(np.array(value, dtype=np.float64)))


@dataclass(frozen=True, eq=False)
class Scene:
    """What one picture shows."""

    title: str
    """What stands above it."""
    x: str
    """What the horizontal axis is."""
    y: str
    """What the vertical axis is; empty where `y_names` says it."""
    series: tuple[Series, ...]
    """Lines, dots, intervals and zones, in the order in which they are drawn."""
    groups: tuple[str, ...]
    """All groups in order, by which colours are given: a group has the same one in every figure."""
    y_names: tuple[str, ...] | None = None
    """Names of y = 0, 1, ... where it is no number."""
    square: bool = False
    """Whether both axes run from 0 to 1 at the same scale."""
    log_x: bool = False
    """Whether x is shown by its logarithm."""
    floor: float | None = None
    """Where y begins to mean something; below it there is room for zones."""
    zoom: tuple[float, float, float, float] | None = None
    """The part that deserves a closer look: x from, x to, y from, y to."""
    from_0_to_1: bool = False
    """Whether y is shown from 0 to 1, however little of that is used."""
    people: str = "people"
    """What the people of a point are."""

    def place_of(self, group: str) -> int:
        """The group's place among all groups, by which its colour is given.

        Parameters
        ----------
        group : str
            Its key.

        Returns
        -------
        int
            From 0 on.
        """
        return self.groups.index(one_of("group", group, self.groups))

    def colour_of(self, group: str) -> str:
        """The group's colour.

        Parameters
        ----------
        group : str
            Its key.

        Returns
        -------
        str
            Such as "#0072B2".
        """
        return colour_of(self.place_of(group))

    @property
    def extent(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """From where to where both axes go."""
        if self.square:
            return (-0.01, 1.01), (-0.01, 1.01)
        x = self._span("x", *(("low", "high") if self.y_names is not None else ()))
        if self.log_x and not 0 < x[0] < x[1]:
            x = (x[0] / 2, 2 * x[0]) if x[0] > 0 else (0.1, 1.0)  # a single number, or none
        elif not x[1] > x[0]:
            room = max(1.0, 1e-3 * abs(x[0]))
            x = (x[0] - room, x[1] + room)
        if self.y_names is not None:
            room = 0.04 * (x[1] - x[0])
            return (max(x[0] - room, min(x[0], 0.0)), min(x[1] + room, max(x[1], 1.0))), (len(self.y_names) - 0.5, -0.5)
        low, high = (0.0, 1.0) if self.from_0_to_1 else self._span("y", "low", "high")
        room = 0.05 * (high - low) or max(0.05 * abs(high), 1e-3)
        return x, (low - room, high + room)

    def _span(self, *names: str) -> tuple[float, float]:
        """The least and the greatest of some numbers of all series."""
        given = [values for series in self.series for name in names if (values := getattr(series, name)) is not None]
        values = np.concatenate([np.zeros(0), *given])
        values = values[np.isfinite(values)]
        return (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)

    def frame(self) -> Any:
        """Its numbers, one row for each point."""
        columns: dict[str, list[Any]] = {name: [] for name in ("series", "group", "x", "y", *_OPTIONAL)}
        for series in self.series:
            size = series.x.size
            columns["series"] += [series.name] * size
            columns["group"] += [series.group or ""] * size
            for name in ("x", "y", *_OPTIONAL):
                values = getattr(series, name)
                columns[name] += [math.nan] * size if values is None else values.tolist()
        return frame_of(columns)
