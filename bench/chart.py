"""The cost of a fit against the number of rows, log-log, as a picture."""

from __future__ import annotations

import math

LINES = {  # case: label, colour (Okabe and Ito's, which the colour-blind tell apart), dashes
    "fairlearn_fit": ("fairlearn", "#D55E00", "7 4"),
    "error_parity_fit": ("error-parity", "#0072B2", "2 3"),
    "fit": ("evenodds", "#009E73", ""),
    "sort": ("np.sort", "#777777", "1 4"),
}
WIDTH, HEIGHT = 720, 430
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 30, 60
SECONDS = (1e-3, 1e3)
GROUPS = 4


def slope(points: list[tuple[float, float]]) -> float:
    """The slope of the least-squares line through the logarithms: 1 is linear."""
    xs, ys = ([math.log10(p[i]) for p in points] for i in (0, 1))
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / sum((x - mx) ** 2 for x in xs)


def chart(results: list[dict]) -> str:
    """The picture as SVG."""
    series = {}
    for case in LINES:
        found = [r for r in results if r["case"] == case and r["kind"] == "float" and r["groups"] == GROUPS]
        if found:
            series[case] = sorted((r["rows"], r["seconds"]) for r in found)
    rows = sorted({x for points in series.values() for x, _ in points})
    lo, hi = math.log10(rows[0]), math.log10(rows[-1])
    low, high = (math.log10(s) for s in SECONDS)

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - lo) / (hi - lo)
        up = (math.log10(y) - low) / (high - low)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif"',
        ' font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="18" font-weight="bold" fill="#222">',
        f"Seconds to fit, by number of rows ({GROUPS} groups, float scores)</text>",
    ]
    for power in range(int(low), int(high) + 1):
        _, y = place(rows[0], 10.0**power)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e0e0e0"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#444">{10.0**power:g}</text>')
    for x_value in rows:
        x, _ = place(x_value, SECONDS[0])
        label = f'10<tspan dy="-5" font-size="10">{round(math.log10(x_value))}</tspan>'
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle" fill="#444">{label}</text>')
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle" fill="#444">rows</text>')
    for case, points in series.items():
        name, colour, dashes = LINES[case]
        places = [place(*point) for point in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dashes}"/>'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places]
        x, y = places[-1]
        parts.append(f'<text x="{x + 10:.1f}" y="{y + 4:.1f}" fill="{colour}">{name}, slope {slope(points):.2f}</text>')
    return "\n".join([*parts, "</svg>", ""])
