"""The CPU time of a fit against the number of rows, log-log, as a picture."""

from __future__ import annotations

import math
from typing import Any

LINES = {  # case: label, colour (Okabe and Ito's, which the colour-blind tell apart), dashes
    "fairlearn_fit": ("fairlearn", "#D55E00", "7 4"),
    "error_parity_fit": ("error-parity", "#0072B2", "2 3"),
    "fit": ("evenodds", "#009E73", ""),
    "sort": ("np.sort", "#777777", "1 4"),
}
WIDTH, HEIGHT = 720, 430
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 30, 60
LETTERS = 16  # how high a line of text is
GROUPS = 4
MANY = 100_000  # rows from which on slopes are told: below, a fit costs about the same whatever the rows

Points = list[tuple[float, float]]


def slope(points: Points) -> float | None:
    """The slope of the least-squares line through the logarithms where rows are many: 1 is linear."""
    many = [(math.log10(x), math.log10(y)) for x, y in points if x >= MANY]
    if len(many) < 2:
        return None
    mx, my = (sum(point[i] for point in many) / len(many) for i in (0, 1))
    return sum((x - mx) * (y - my) for x, y in many) / sum((x - mx) ** 2 for x, _ in many)


def chart(fits: list[dict[str, Any]]) -> str:
    """The picture as SVG."""
    series: dict[str, Points] = {}
    for case in LINES:
        found = [r for r in fits if r["case"] == case and r["kind"] == "float" and r["groups"] == GROUPS and r["cpu"]]
        if found:
            series[case] = sorted((r["rows"], r["cpu"]) for r in found)
    lo, hi = _decades([x for points in series.values() for x, _ in points])
    low, high = _decades([y for points in series.values() for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - lo) / (hi - lo)
        up = (math.log10(y) - low) / (high - low)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"',
        ' font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="18" font-weight="bold" fill="#222">',
        f"CPU seconds to fit, by number of rows ({GROUPS} groups, float scores)</text>",
    ]
    for power in range(low, high + 1):
        _, y = place(10.0**lo, 10.0**power)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e0e0e0"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#444">{10.0**power:g}</text>')
    for power in range(lo, hi + 1):
        x, _ = place(10.0**power, 10.0**low)
        label = f'10<tspan dy="-5" font-size="10">{power}</tspan>'
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle" fill="#444">{label}</text>')
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    told = f"rows (slopes are those from {MANY:,} rows on)"
    parts.append(f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle" fill="#444">{told}</text>')
    taken = -math.inf
    for case, points in sorted(series.items(), key=lambda item: place(*item[1][-1])[1]):
        name, colour, dashes = LINES[case]
        places = [place(*point) for point in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dashes}"/>'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
        x, y = places[-1]
        taken = max(y + 4, taken + LETTERS)  # names from the top down, none on another
        steep = slope(points)
        text = name if steep is None else f"{name}, slope {steep:.2f}"
        parts.append(f'<text x="{x + 10:.1f}" y="{taken:.1f}" fill="{colour}">{text}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _decades(values: list[float]) -> tuple[int, int]:
    """The powers of ten around the values, which are not the same one."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)
