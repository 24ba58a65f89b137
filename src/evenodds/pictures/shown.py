"""How results show themselves in a notebook and as pictures: a figure and a table each, without a script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from html import escape
from typing import Any

import numpy as np

from evenodds.decisions.verification import Verification
from evenodds.evaluation.audit import Audit
from evenodds.evaluation.compare import Comparison
from evenodds.evaluation.frontier import Frontier
from evenodds.evaluation.intervals import Estimate
from evenodds.evaluation.metrics import Metrics
from evenodds.evaluation.outcomes import RATE_NAMES
from evenodds.evaluation.stability import Stability
from evenodds.model.certificate import Certificate
from evenodds.model.policy import Policy
from evenodds.pictures.figures import Figure, audit_figure, curves_figure, frontier_figure
from evenodds.pictures.scene import Series
from evenodds.showing import Shown, cell_text

__all__ = ["figure_of", "html_of"]

_MOST = 40  # rows of a table that is shown beside a figure


@singledispatch
def figure_of(result: Any) -> Figure:
    """The picture of a result."""
    raise NotImplementedError(type(result).__name__)


@figure_of.register
def _(result: Policy) -> Figure:
    return curves_figure(result)


@figure_of.register
def _(result: Audit) -> Figure:
    return audit_figure(result)


@figure_of.register
def _(result: Metrics) -> Figure:
    figures = [(RATE_NAMES[rate], g.group, getattr(g, rate)) for rate in ("fpr", "tpr") for g in result.by_group]
    rows = [(f"{name}: {group}", value, value, value) for name, group, value in figures]
    owners = [group for _, group, _ in figures]
    return _intervals("Rates of each group", "rate", rows, tuple(result.groups), owners)


@figure_of.register
def _(result: Frontier) -> Figure:
    return frontier_figure(result)


@figure_of.register
def _(result: Certificate) -> Figure:
    slopes = zip(result.groups, result.slopes, result.slope_bounds, strict=True)
    rows = [(group, slope, bound, slope) for group, slope, bound in slopes if np.isfinite(slope)]
    return _intervals("Largest slopes, from what no rising curve can fall below", "largest slope", rows, result.groups)


@figure_of.register
def _(result: Comparison) -> Figure:
    names = tuple(row.policy for row in result.rows)
    rows = [(row.policy, row.objective, row.objective, row.objective) for row in result.rows]
    return _intervals(f"{result.objective_name} side by side", result.objective_name, rows, names)


@figure_of.register
def _(result: Stability) -> Figure:
    spread = [(group, of["lipschitz"]) for group, of in result.spread.items()]
    rows = [(group, e.value, e.low, e.high) for group, e in spread if np.isfinite(e.high)]
    title = f"Largest slopes: the middle {result.confidence:g} of {result.draws} fits"
    return _intervals(title, "largest slope", rows, result.policy.groups)


@figure_of.register
def _(result: Verification) -> Figure:
    named = [(one.group if one.outcome == "yes" else f"{one.group}: {one.outcome}", one) for one in result.dice]
    rows = [(name, one.rate, one.low, one.high) for name, one in named]
    groups = tuple(dict.fromkeys(one.group for one in result.dice))
    title = "How often the answer was yes, from where to where chance takes that"
    return _intervals(title, "rate", rows, groups, [one.group for one in result.dice])


def _intervals(
    title: str,
    axis: str,
    rows: list[tuple[str, float, float, float]],
    groups: tuple[str, ...],
    owners: Sequence[str] | None = None,
) -> Figure:
    """Rows with a name, a figure and the ends of its interval; `owners` are their groups where the names are not."""
    owners = [row[0] for row in rows] if owners is None else owners
    series = tuple(
        Series(name, np.array([x]), np.array([i]), kind="intervals", group=group, low=np.array([a]), high=np.array([b]))
        for i, ((name, x, a, b), group) in enumerate(zip(rows, owners, strict=True))
    )
    return Figure(title, axis, "", series, groups, y_names=tuple(row[0] for row in rows))


def _cell(value: Any) -> str:
    """A value of a table; the interval of an estimate stands below it, in small."""
    words = escape(cell_text(value))
    if isinstance(value, Estimate) and not math.isnan(value):
        return f"{words}<br/><small>{value.low:.3f} to {value.high:.3f}</small>"
    return words


def html_of(result: Shown) -> str:
    """A result for a notebook: what it says in a line, its figure, and its table."""
    names, rows = result.table()
    head = "".join(f"<th>{escape(str(name))}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows[:_MOST])
    table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    more = f"<p>and {len(rows) - _MOST:,} rows more: .frame() has them all</p>" if len(rows) > _MOST else ""
    figure = figure_of(result)
    drawn = figure.svg(name=f"{type(result).__name__.lower()}-{id(result):x}") if figure.series else ""
    return (
        f'<div style="max-width:46em"><p><code>{escape(repr(result))}</code></p>'
        f'<div style="max-width:34em">{drawn}</div>'
        f'<table style="border-collapse:separate;border-spacing:.9em .1em">{table}</table>{more}</div>'
    )
