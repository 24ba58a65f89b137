"""Figures by matplotlib: Axes in, Axes out, each with a `.frame()` that has its numbers.

Colours are told apart by the colour-blind (Okabe and Ito's palette), lines also by their labels, which stand beside
them instead of in a legend; a group has the same colour in every figure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenodds.errors import MissingPackageError
from evenodds.evaluation.audit import Audit
from evenodds.evaluation.frontier import Frontier
from evenodds.model.curves import Curve
from evenodds.model.fit import Solutions
from evenodds.model.joint import JointDistribution
from evenodds.model.policy import Policy
from evenodds.pictures import figures
from evenodds.pictures.figures import PALETTE, Figure, Series
from evenodds.pictures.labels import legend, line_labels

__all__ = ["audit", "curves", "densities", "draw_figure", "frontier", "roc", "score_rates", "solutions"]

_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
_STYLES = {"solid": "-", "dashed": "--", "dotted": ":", "thin": "-"}
_NOBODY = "#808080"


def roc(joint: JointDistribution, policy: Policy | None = None, *, ax: Any = None) -> Any:
    """Each group's ROC; with a policy also what its slope budget leaves in reach, the points chosen, and a closer look.

    >>> import evenodds as eo
    >>> joint = eo.datasets.credit_risk()
    >>> axes = eo.plot.roc(joint, eo.fit(joint))
    >>> sorted(set(axes.frame()["group"]))
    ['', 'asian', 'black', 'hispanic', 'white']
    """
    return draw_figure(figures.roc_figure(joint, policy), ax)


def curves(
    policy: Policy,
    *,
    joint: JointDistribution | None = None,
    against: Mapping[str, Policy] | None = None,
    ax: Any = None,
) -> Any:
    """Each group's odds by score; other policies, such as the fixed one, dashed beside them.

    With `joint` the figure's `.frame()` also has how many people are near each score.
    """
    return draw_figure(figures.curves_figure(policy, joint=joint, against=against), ax)


def solutions(found: Solutions, group: str, *, chosen: Curve | None = None, ax: Any = None) -> Any:
    """All curves of a family that meet one point for a group, and the one that was chosen."""
    return draw_figure(figures.solutions_figure(found, group, chosen=chosen), ax)


def frontier(found: Frontier, *, ax: Any = None) -> Any:
    """The best objective against the slope budget."""
    return draw_figure(figures.frontier_figure(found), ax)


def score_rates(joint: JointDistribution, *, confidence: float = 0.95, ax: Any = None) -> Any:
    """The share of positives by score, with intervals."""
    return draw_figure(figures.score_rates_figure(joint, confidence=confidence), ax)


def densities(joint: JointDistribution, policy: Policy | None = None, *, ax: Any = None) -> Any:
    """How the scores of each group fall, and over which of them a policy decides by chance."""
    return draw_figure(figures.densities_figure(joint, policy), ax)


def audit(found: Audit, *, rates: Sequence[str] = ("fpr", "tpr"), ax: Any = None) -> Any:
    """Each group's rates with their intervals."""
    return draw_figure(figures.audit_figure(found, rates=rates), ax)


def draw_figure(figure: Figure, ax: Any = None) -> Any:
    """Draw a figure onto Axes, new ones if none are given."""
    if ax is None:
        ax = _new_axes(figure)
    for series in figure.series:
        _draw(series, figure, ax)
    ax.set_title(figure.title, loc="left")
    ax.set_xlabel(figure.x)
    ax.set_ylabel(figure.y)
    ax.spines[["top", "right"]].set_visible(False)
    if figure.log_x:
        ax.set_xscale("log")
    if figure.square:
        ax.set_aspect("equal")
        ax.set_xlim(-0.01, 1.01)
        ax.set_ylim(-0.01, 1.01)
    if figure.from_0_to_1:
        ax.set_ylim(-0.04, 1.04)
    if figure.floor is not None:
        ax.set_yticks([tick for tick in ax.get_yticks() if tick >= figure.floor and tick <= ax.get_ylim()[1]])
    if figure.y_names is not None:
        ax.set_yticks(range(len(figure.y_names)), figure.y_names)
        ax.invert_yaxis()
    else:
        _label_lines(figure, ax)
        _legend(figure, ax)
    if figure.zoom is not None:
        _inset(figure, ax)
    ax.frame = figure.frame
    return ax


def _new_axes(figure: Figure) -> Any:
    try:
        from matplotlib.figure import Figure as Canvas  # noqa: PLC0415 heavy
    except ImportError:
        msg = "Figures need matplotlib. Hint: pip install 'evenodds[plot]'."
        raise MissingPackageError(msg) from None
    height = 6.0 if figure.square else 1.2 + 0.4 * len(figure.y_names) if figure.y_names else 4.2
    return Canvas(figsize=(6.4 if figure.square else 7.2, height), layout="constrained").add_subplot()


def _colour(group: str | None, figure: Figure) -> str:
    return _NOBODY if group is None else figure.colour_of(group)


def _draw(series: Series, figure: Figure, ax: Any) -> None:
    colour = _colour(series.group, figure) if series.group or figure.groups else PALETTE[0]
    mark = _MARKS[figure.place_of(series.group) % len(_MARKS)] if series.group else "o"
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


def _label_lines(figure: Figure, ax: Any) -> None:
    from matplotlib.patheffects import withStroke  # noqa: PLC0415 heavy

    clear = [withStroke(linewidth=3, foreground=ax.get_facecolor())]  # a name is read over any line
    for label in line_labels(figure):
        ax.annotate(
            label.text,
            (label.x, label.y),
            xytext=(5, -4),
            textcoords="offset points",
            color=_colour(label.series.group, figure),
            fontweight="bold",
            fontsize="x-small" if label.small else None,
            path_effects=clear,
        )


def _legend(figure: Figure, ax: Any) -> None:
    """Who has which colour, where there are too many names for the picture itself."""
    from matplotlib.lines import Line2D  # noqa: PLC0415 heavy

    handles = [Line2D([], [], color=colour, label=group) for group, colour in legend(figure).items()]
    if handles:
        ax.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.02, 1), fontsize="x-small", frameon=False)


def _inset(figure: Figure, ax: Any) -> None:
    """A closer look at the part that deserves it."""
    x0, x1, y0, y1 = figure.zoom or (0, 1, 0, 1)
    inset = ax.inset_axes([0.5, 0.08, 0.46, 0.46], xlim=(x0, x1), ylim=(y0, y1))
    for series in figure.series:
        _draw(series, figure, inset)
    inset.set_xticks([])
    inset.set_yticks([])
    ax.indicate_inset_zoom(inset, edgecolor=_NOBODY)
