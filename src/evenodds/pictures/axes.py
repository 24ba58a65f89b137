"""A picture by matplotlib: Axes in, Axes out.

Lines are told apart by their labels too, which stand beside them instead of in a legend.
"""

from __future__ import annotations

from typing import Any

from evenodds.errors import MissingPackageError
from evenodds.pictures.labels import legend, line_labels
from evenodds.pictures.scene import PALETTE, Scene, Series

__all__ = ["draw"]

_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
_STYLES = {"solid": "-", "dashed": "--", "dotted": ":", "thin": "-"}
_NOBODY = "#808080"


def draw(scene: Scene, ax: Any = None) -> Any:
    """Draw a scene onto Axes, new ones if none are given."""
    if ax is None:
        ax = _new_axes(scene)
    for series in scene.series:
        _draw_series(series, scene, ax)
    ax.set_title(scene.title, loc="left")
    ax.set_xlabel(scene.x)
    ax.set_ylabel(scene.y)
    ax.spines[["top", "right"]].set_visible(False)
    if scene.log_x:
        ax.set_xscale("log")
    if scene.square:
        ax.set_aspect("equal")
        ax.set_xlim(-0.01, 1.01)
        ax.set_ylim(-0.01, 1.01)
    if scene.from_0_to_1:
        ax.set_ylim(-0.04, 1.04)
    if scene.floor is not None:
        ax.set_yticks([tick for tick in ax.get_yticks() if tick >= scene.floor and tick <= ax.get_ylim()[1]])
    if scene.y_names is not None:
        ax.set_yticks(range(len(scene.y_names)), scene.y_names)
        ax.invert_yaxis()
    else:
        _label_lines(scene, ax)
        _legend(scene, ax)
    if scene.zoom is not None:
        _inset(scene, ax)
    return ax


def _new_axes(scene: Scene) -> Any:
    try:
        from matplotlib.figure import Figure as Canvas  # noqa: PLC0415 heavy
    except ImportError:
        msg = "Figures need matplotlib. Hint: pip install 'evenodds[plot]'."
        raise MissingPackageError(msg) from None
    height = 6.0 if scene.square else 1.2 + 0.4 * len(scene.y_names) if scene.y_names else 4.2
    return Canvas(figsize=(6.4 if scene.square else 7.2, height), layout="constrained").add_subplot()


def _colour(group: str | None, scene: Scene) -> str:
    return _NOBODY if group is None else scene.colour_of(group)


def _draw_series(series: Series, scene: Scene, ax: Any) -> None:
    colour = _colour(series.group, scene) if series.group or scene.groups else PALETTE[0]
    mark = _MARKS[scene.place_of(series.group) % len(_MARKS)] if series.group else "o"
    if series.kind == "dots":
        ax.plot(series.x, series.y, mark, color=colour, markersize=7, markeredgecolor="white", zorder=5)
    elif series.kind == "intervals" and series.low is not None and series.high is not None:
        ax.hlines(series.y, series.low, series.high, color=colour, linewidth=2)
        ax.plot(series.x, series.y, mark, color=colour)
    else:
        thin = series.style == "thin"
        width, alpha = (0.8, 0.35) if thin else (1.2 if series.style == "dotted" else 2.0, 1.0)
        ax.plot(series.x, series.y, _STYLES[series.style], color=colour, linewidth=width, alpha=alpha)
        if series.low is not None and series.high is not None:
            ax.fill_between(series.x, series.low, series.high, color=colour, alpha=0.15, linewidth=0)
        if series.shaded_to is not None:
            ax.fill_between(series.x, series.shaded_to, series.y, color=colour, alpha=0.06, linewidth=0)


def _label_lines(scene: Scene, ax: Any) -> None:
    from matplotlib.patheffects import withStroke  # noqa: PLC0415 heavy

    clear = [withStroke(linewidth=3, foreground=ax.get_facecolor())]  # a name is read over any line
    for label in line_labels(scene):
        ax.annotate(
            label.text,
            (label.x, label.y),
            xytext=(5, -4),
            textcoords="offset points",
            color=_colour(label.series.group, scene),
            fontweight="bold",
            fontsize="x-small" if label.small else None,
            path_effects=clear,
        )


def _legend(scene: Scene, ax: Any) -> None:
    """Who has which colour, where there are too many names for the picture itself."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 heavy

    handles = [Line2D([], [], color=colour, label=group) for group, colour in legend(scene).items()]
    if handles:
        ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1), fontsize="x-small", frameon=False)


def _inset(scene: Scene, ax: Any) -> None:
    """A closer look at the part that deserves it."""
    x0, x1, y0, y1 = scene.zoom or (0, 1, 0, 1)
    inset = ax.inset_axes([0.5, 0.08, 0.46, 0.46], xlim=(x0, x1), ylim=(y0, y1))
    for series in scene.series:
        _draw_series(series, scene, inset)
    inset.set_xticks([])
    inset.set_yticks([])
    ax.indicate_inset_zoom(inset, edgecolor=_NOBODY)
