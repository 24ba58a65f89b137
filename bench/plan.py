"""What is measured: parts, each of them comparisons, each of them jobs that are measured in turn."""

from __future__ import annotations

from typing import Any

from job import Job

Comparisons = list[list[Job]]
PER_GROUP = 30  # people at least, however small a run shall be
OWN_ODDS = (
    "odds_by_codes",
    "odds_by_group",
    "apply_pandas_integers",
    "apply_pandas_categories",
    "apply_polars_integers",
    "apply_polars_categories",
    "draw_by_position",
)
OPTIONS: tuple[
    dict[str, Any], ...
] = (  # the defaults, which are linear and gentlest, come first: the others are compared with them
    {},
    *({"curve": curve} for curve in ("fixed", "quadratic", "cubic", "quartic")),
    {"tolerance": 0.05},
    *({"criterion": criterion} for criterion in ("even_slopes", "robust", "fewest_randomized", "even_randomized")),
    {"curve": "cubic", "criterion": "smoothest"},
)


def plan(*, full: bool, most: int = 10_000_000) -> dict[str, Comparisons]:
    """Every comparison of a run, by part; in each of them the first job is what others are compared with.

    Parameters
    ----------
    full : bool
        The largest sizes too, and what takes long.
    most : int
        Larger sizes are cut to this one.
    """

    def sizes(*rows: int, large: int | None = None) -> list[int]:
        wanted = [*rows, large] if full and large else rows
        return sorted({min(size, most) for size in wanted})

    def in_groups(rows: int, groups: int, **options: Any) -> Job:
        return Job("fit", max(min(rows, most), PER_GROUP * groups), groups=groups, options=options)

    many: tuple[dict[str, Any], ...] = ({}, {"curve": "cubic"}, {"tolerance": 0.05})
    thousands, large = (100_000, 1_000_000), 10_000_000
    parts = {
        "fit": [
            [Job(case, rows, kind) for case in _fit_cases(rows, kind)]
            for rows in sizes(300, 1000, 3000, 10_000, 30_000, *thousands, large=large)
            for kind in ("float", "integer", "weighted")
            if kind != "weighted" or rows >= thousands[0]
        ],
        "options": [
            [Job("fit", rows, options=options) for options in OPTIONS] for rows in sizes(1000, 10_000, large=1_000_000)
        ],
        "groups": [
            [
                in_groups(100_000, 4),
                *(in_groups(100_000, groups, **options) for groups in (50, 200) for options in many),
            ],
            [in_groups(1_000_000, groups) for groups in (4, 2, 8, 50)],
        ],
        "optimal": [[in_groups(100_000, 2), in_groups(100_000, 2, curve="optimal")]] * full,
        "resolve": [[Job("resolve", options=options) for options in OPTIONS]],
        "stability": [[Job("one_fit"), Job("stability", options={"draws": 200})]],
        "odds": [
            [Job(case, rows) for case in (*OWN_ODDS, "error_parity_odds", "fairlearn_odds")]
            for rows in sizes(*thousands, large=large)
        ],
        "draws": [
            [Job(case, rows) for case in ("draw_by_position", "draw_by_id", "decide_by_id")]
            for rows in sizes(*thousands)
        ],
        "audit": [[Job("audit", rows)] for rows in sizes(*thousands, large=large)],
    }
    return {part: comparisons for part, comparisons in parts.items() if comparisons}


def _fit_cases(rows: int, kind: str) -> list[str]:
    """A fit beside its peers (fairlearn takes no weights into account) and, where they matter, the machine's limits."""
    peers = [] if kind == "weighted" else ["error_parity_fit", "fairlearn_fit"]
    limits = ["sort", "argsort"] if rows >= 100_000 else []
    return ["fit", *peers, *limits]
