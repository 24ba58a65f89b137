"""Figures as SVG: text that every browser draws, with nothing loaded, and the numbers that hovering shows.

Colours stand in attributes, so that a file on its own is whole; a page's style may change those of `ink`, `grid` and
`name` for a dark background.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.pictures.labels import line_labels, shortened
from evenodds.pictures.scene import PALETTE, Scene, Series
from evenodds.showing import round_number

__all__ = ["View", "hover_data", "svg_of"]

WIDTH = 480
_HEIGHT = 320
_SQUARE = 470
_TICKS = 6  # of an axis, about
_ROW = 34  # the height of a row that has a name
_LEFT, _RIGHT, _TOP, _BOTTOM = 28, 16, 12, 44
_TITLE = 26  # the room for a title
_LETTER = 7.0  # about the width of one
_LONGEST = 30  # letters of a name beside an axis
_INSET = (0.52, 0.5, 0.46, 0.42)  # of the picture: left, top, width, height
_INK, _GRID, _NOBODY, _DOT = "#222222", "#d9d9d9", "#808080", "#505050"
_DASHES = {"dashed": "6 4", "dotted": "2 4"}
_WIDTHS = {"solid": 2.2, "dashed": 1.8, "dotted": 1.4, "thin": 0.8}
_SAME_PLACE = 0.01  # points nearer than this cannot be told apart
_STRAIGHT = 1e-6  # points nearer to the line between their neighbours are not needed to draw it
_COMPARED = 12  # lines that are read off side by side
_PLAIN = (1e-4, 1e13)  # numbers that are written without a power of ten
_FINE = 1e-6  # of the picture: how finely numbers are told apart
_MARKS = (  # around (0, 0), for groups in their order
    "M-5,0A5,5 0 1,0 5,0A5,5 0 1,0 -5,0Z",
    "M-4.5,-4.5H4.5V4.5H-4.5Z",
    "M0,-5.5L5.5,4.5H-5.5Z",
    "M0,-6L6,0L0,6L-6,0Z",
    "M0,5.5L5.5,-4.5H-5.5Z",
    "M-2,-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
    "M-6,-4L-4,-6L0,-2L4,-6L6,-4L2,0L6,4L4,6L0,2L-4,6L-6,4L-2,0Z",
    "M0,-6L1.8,-1.9L6,-1.9L2.7,0.9L3.9,5.2L0,2.8L-3.9,5.2L-2.7,0.9L-6,-1.9L-1.8,-1.9Z",
)


@dataclass(frozen=True)
class View:
    """A rectangle of the drawing, and which part of the numbers it shows."""

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]
    log_x: bool = False

    def across(self, x: Any) -> Any:
        """Where a number lies from left to right."""
        lo, hi = (math.log(end) for end in self.x) if self.log_x else self.x
        return self.left + self.width * ((np.log(x) if self.log_x else np.asarray(x)) - lo) / (hi - lo)

    def down(self, y: Any) -> Any:
        """Where a number lies from top to bottom."""
        return self.top + self.height * (1 - (np.asarray(y) - self.y[0]) / (self.y[1] - self.y[0]))


def svg_of(scene: Scene, *, name: str = "figure", titled: bool = True) -> str:
    """An SVG element; `name` tells its parts from those of others on the same page."""
    height = _height(scene) + (_TITLE if titled else 0)
    main, *closer = _views(scene, titled=titled)
    described = escape(f"{scene.title}: {scene.y or 'groups'} by {scene.x}", quote=True)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{described}"'
    parts = [f'{head} font-family="system-ui, Segoe UI, Helvetica, Arial, sans-serif" font-size="13">']
    if titled:
        size = min(14.0, WIDTH / (0.62 * max(len(scene.title), 1)))  # a long title is small, and not cut off
        words = escape(scene.title)
        parts.append(
            f'<text class="ink" x="8" y="19" font-weight="600" font-size="{size:.1f}" fill="{_INK}">{words}</text>'
        )
    parts += _axes(scene, main)
    parts += _contents(scene, main, f"{name}-main")
    parts += _names(scene, main)
    for number, view in enumerate(closer):
        parts += _closer(scene, main, view, f"{name}-closer{number}")
    return "".join([*parts, "</svg>"])


# -- where things lie --------------------------------------------------------------------------------------------------


def _height(scene: Scene) -> int:
    if scene.y_names is not None:
        return _TOP + _BOTTOM + _ROW * len(scene.y_names)
    return _SQUARE if scene.square else _HEIGHT


def _views(scene: Scene, *, titled: bool) -> list[View]:
    """The whole picture, and the part that deserves a closer look."""
    across, up = scene.extent
    if scene.y_names is not None:
        left = 14 + _LETTER * min(max(map(len, scene.y_names), default=0), _LONGEST)
    else:
        left = _LEFT + _LETTER * max((len(words) for _, words in _labelled(_ticks(up, log=False), math.inf)), default=1)
    top = _TOP + (_TITLE if titled else 0)
    main = View(left, top, WIDTH - left - _RIGHT, _height(scene) - _TOP - _BOTTOM, across, up, scene.log_x)
    if scene.zoom is None:
        return [main]
    x0, x1, y0, y1 = scene.zoom
    at = _INSET
    corner = (main.left + at[0] * main.width, main.top + at[1] * main.height, at[2] * main.width, at[3] * main.height)
    return [main, View(*corner, (x0, x1), (y0, y1))]


def _ticks(ends: tuple[float, float], *, log: bool) -> list[float]:
    """Round numbers between the ends."""
    lo, hi = min(ends), max(ends)
    if log:
        powers = range(math.floor(math.log10(lo)), math.ceil(math.log10(hi)) + 1)
        steps = (1, 2, 5) if len(powers) < _TICKS else (1,)
        ticks = [step * 10.0**power for power in powers for step in steps]
        ticks = [tick for tick in ticks if lo <= tick <= hi]
        if len(ticks) > 1:
            return ticks
    step = round_number(0.75 * (hi - lo) / _TICKS)
    return [float(f"{k * step:.14g}") for k in range(math.ceil(lo / step - 1e-9), math.floor(hi / step + 1e-9) + 1)]


def _labelled(ticks: Sequence[float], width: float) -> list[tuple[float, str]]:
    """Ticks with their numbers, in as many digits as tell them apart, and no more of them than there is room for."""
    texts: list[str] = []
    for digits in range(3, 17):
        texts = [_number(tick, digits) for tick in ticks]
        if len(set(texts)) == len(texts):
            break
    longest = max(map(len, texts), default=1)
    crowded = len(texts) * (_LETTER * longest + 12) / width
    return list(zip(ticks, texts, strict=True))[:: max(1, math.ceil(crowded))]


# -- what is drawn -----------------------------------------------------------------------------------------------------


def _axes(scene: Scene, view: View) -> list[str]:
    right, bottom = view.left + view.width, view.top + view.height
    parts = []
    for tick, words in _labelled(_ticks(view.x, log=view.log_x), view.width):
        x = f"{float(view.across(tick)):.1f}"
        parts.append(f'<path class="grid" d="M{x},{view.top:.1f}V{bottom:.1f}" stroke="{_GRID}"/>')
        parts.append(_text(x, bottom + 16, words, "middle"))
    if scene.y_names is not None:
        for place, name in enumerate(scene.y_names):
            y = float(view.down(place))
            words = _text(view.left - 8, y + 4, shortened(name, _LONGEST), "end")
            parts.append(f"<g><title>{escape(name)}</title>{words}</g>")
    else:
        least = -math.inf if scene.floor is None else scene.floor
        for tick, words in _labelled([tick for tick in _ticks(view.y, log=False) if tick >= least], math.inf):
            y = float(view.down(tick))
            parts.append(f'<path class="grid" d="M{view.left:.1f},{y:.1f}H{right:.1f}" stroke="{_GRID}"/>')
            parts.append(_text(view.left - 6, y + 4, words, "end"))
        middle = view.top + view.height / 2
        turned = f'transform="rotate(-90 14 {middle:.1f})"'
        parts.append(_text(14, middle, scene.y, "middle", turned))
    parts.append(_text(view.left + view.width / 2, bottom + 36, scene.x, "middle"))
    return parts


def _text(x: float | str, y: float, words: str, anchor: str, more: str = "") -> str:
    x = x if isinstance(x, str) else f"{x:.1f}"
    return (
        f'<text class="ink" x="{x}" y="{y:.1f}" text-anchor="{anchor}" fill="{_INK}"{" " * bool(more)}{more}>'
        f"{escape(words)}</text>"
    )


def _number(value: float, digits: int) -> str:
    if not value or not _PLAIN[0] <= abs(value) < _PLAIN[1]:
        return f"{value:.{digits}g}"
    text = f"{value:,.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _contents(scene: Scene, view: View, name: str) -> list[str]:
    clip = f'<clipPath id="{name}">{_rect(view.left, view.top, view.width, view.height)}</clipPath>'
    inside = [part for series in scene.series for part in _series(series, scene, view)]
    return [clip, f'<g clip-path="url(#{name})">', *inside, "</g>"]


def _rect(left: float, top: float, width: float, height: float, more: str = "") -> str:
    return f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"{more}/>'


def _colour(series: Series, scene: Scene) -> str:
    if series.group is None:
        return (
            PALETTE[0] if not scene.groups and series.style == "solid" else _NOBODY if series.kind == "line" else _DOT
        )
    return scene.colour_of(series.group)


def _series(series: Series, scene: Scene, view: View) -> list[str]:
    colour = _colour(series, scene)
    x, y = view.across(series.x), view.down(series.y)
    if series.kind == "dots":
        return [_mark(series, scene, colour, a, b) for a, b in zip(x, y, strict=True)]
    if series.kind == "intervals" and series.low is not None and series.high is not None:
        ends = zip(view.across(series.low), view.across(series.high), y, strict=True)
        lines = [f'<path d="M{a:.1f},{b:.1f}H{c:.1f}" stroke="{colour}" stroke-width="2.2"/>' for a, c, b in ends]
        return [*lines, *(_mark(series, scene, colour, a, b) for a, b in zip(x, y, strict=True) if math.isfinite(a))]
    parts = []
    for high, low, opacity in ((series.high, series.low, 0.15), (series.y, series.shaded_to, 0.06)):
        if high is not None and low is not None:
            around = np.concatenate([view.down(high), view.down(low)[::-1]])
            path = _path(np.concatenate([x, x[::-1]]), around)
            parts.append(f'<path d="{path}Z" fill="{colour}" fill-opacity="{opacity}"/>')
    dashes = f' stroke-dasharray="{_DASHES[series.style]}"' if series.style in _DASHES else ""
    faint = ' stroke-opacity="0.35"' if series.style == "thin" else ""
    parts.append(
        f'<path d="{_path(x, y)}" fill="none" stroke="{colour}" stroke-width="{_WIDTHS[series.style]}" '
        f'stroke-linejoin="round"{dashes}{faint}/>'
    )
    return parts


def _mark(series: Series, scene: Scene, colour: str, x: float, y: float) -> str:
    shape = _MARKS[scene.place_of(series.group) % len(_MARKS)] if series.group else _MARKS[0]
    kind = "mark" if series.group else "mark ink"
    return f'<path class="{kind}" d="{shape}" transform="translate({x:.1f} {y:.1f})" fill="{colour}" stroke="#ffffff"/>'


def _path(x: Floats, y: Floats) -> str:
    """A line through the points, without those that change nothing."""
    finite = np.isfinite(x) & np.isfinite(y)
    at = x[finite] + 1j * y[finite]
    if not at.size:
        return ""
    at = at[np.append(True, np.abs(np.diff(at)) > _SAME_PLACE)]
    if at.size > 2:  # noqa: PLR2004 a line has two ends
        before, across = at[1:-1] - at[:-2], at[2:] - at[:-2]
        beside = np.abs(before.real * across.imag - before.imag * across.real)
        along = before.real * across.real + before.imag * across.imag
        straight = (beside <= _STRAIGHT * np.abs(across)) & (along > 0) & (along < np.abs(across) ** 2)
        at = at[np.concatenate([[True], ~straight, [True]])]
    return "M" + "L".join(f"{point.real:.1f},{point.imag:.1f}" for point in at.tolist())


def _names(scene: Scene, view: View) -> list[str]:
    """Names beside the lines, away from the picture's right end."""
    parts = []
    for label in line_labels(scene):
        x, y = float(view.across(label.x)), float(view.down(label.y))
        ends = x + 6 + _LETTER * len(label.text) > view.left + view.width
        anchor, beside = ("end", -6) if ends else ("start", 6)
        small = ' font-size="10"' if label.small else ""
        parts.append(
            f'<text class="name" x="{x + beside:.1f}" y="{y + 4:.1f}" text-anchor="{anchor}" font-weight="600" '
            f'fill="{_colour(label.series, scene)}" stroke="#ffffff" stroke-width="3" paint-order="stroke"{small}>'
            f"{escape(label.text)}</text>"
        )
    return parts


def _closer(scene: Scene, main: View, view: View, name: str) -> list[str]:
    """The closer look, and what of the whole it shows."""
    x0, y0 = float(main.across(view.x[0])), float(main.down(view.y[1]))
    size = (float(main.across(view.x[1])) - x0, float(main.down(view.y[0])) - y0)
    seen = _rect(x0, y0, *size, f' fill="none" stroke="{_NOBODY}"')
    ground = _rect(view.left, view.top, view.width, view.height, f' class="ground" fill="#ffffff" stroke="{_NOBODY}"')
    return [seen, ground, *_contents(scene, view, name)]


# -- what hovering shows -----------------------------------------------------------------------------------------------


def hover_data(scene: Scene) -> dict[str, Any]:
    """What a page needs to answer a pointer: where the numbers lie, and the numbers.

    Lines that are functions of one x are read off side by side ("across"); otherwise the nearest point is ("point").
    """
    lines = [s for s in scene.series if _is_compared(s)]
    across = not scene.square and scene.y_names is None and 0 < len(lines) <= _COMPARED
    shown = [s for s in scene.series if _is_compared(s) or s.kind in ("dots", "intervals")]
    views = _views(scene, titled=False)
    steps = {"x": _FINE * abs(views[0].x[1] - views[0].x[0]), "y": _FINE * abs(views[0].y[1] - views[0].y[0])}
    if views[0].log_x:
        steps["x"] = _FINE * views[0].x[0]
    steps |= {"low": steps["x" if scene.y_names else "y"], "high": steps["x" if scene.y_names else "y"]}
    steps |= {"people": 0.01, "score": 0.0}
    return {
        "mode": "across" if across else "point",
        "views": [
            {
                "box": [v.left, v.top, v.width, v.height],
                "x": list(v.x),
                "y": list(v.y),
                "log": v.log_x,
                "decimals": [_decimals(v.x), _decimals(v.y)],
            }
            for v in views
        ],
        "x": scene.x,
        "y": scene.y or "group",
        "people": scene.people,
        "names": None if scene.y_names is None else list(scene.y_names),
        "series": [_hover_series(s, scene, steps) for s in shown],
    }


def _decimals(ends: tuple[float, float]) -> int:
    """How many decimals tell numbers apart on an axis."""
    return max(0, 3 - math.floor(math.log10(abs(ends[1] - ends[0]))))


def _is_compared(series: Series) -> bool:
    return series.kind == "line" and series.style != "dotted"


def _hover_series(series: Series, scene: Scene, steps: Mapping[str, float]) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": series.name,
        "kind": series.kind,
        "style": series.style,
        "colour": _colour(series, scene),
    }
    for name, step in steps.items():
        values = getattr(series, name)
        if values is not None:
            data[name] = [_rounded(value, step) for value in values.tolist()]
    return data


def _rounded(value: float, step: float) -> float | None:
    """As many digits as tell a step of this size; JSON has no infinity and no NaN."""
    if not math.isfinite(value):
        return None
    return round(value, -math.floor(math.log10(step))) if step else value
