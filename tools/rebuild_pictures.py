"""Draw the two pictures that docs/index.md begins with: cliffs before, slopes after, at the same rates.

Run `python tools/rebuild_pictures.py`; another folder than docs/ may be named. What is drawn is computed from the
bundled credit scores; a test sees that the files are as they would be drawn now.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import evenodds as eo

DOCS = Path(__file__).resolve().parents[1] / "docs"
SIZE = (400, 288)  # as shown where there is room: two beside each other on a page of GitHub
SCORES = (5, 60)  # beyond them nobody's odds change
# Whoever shows the picture says whether the ground is dark; colours of groups are then a little lighter.
STYLE = """<style>
@media (prefers-color-scheme: dark) {
  .ground { fill: #14181e }
  .ink { fill: #e8ecf1 }
  .grid { stroke: #333c47 }
  .name { stroke: #14181e }
  .name, g { filter: brightness(1.35) }
}
</style>"""


def pictures() -> dict[str, str]:
    """Both pictures by the name of their file."""
    joint = eo.datasets.credit_risk()
    slopes = eo.fit(joint)
    target = slopes.certificate.target
    cliffs = eo.fit(joint, curve="fixed", target=target)
    return {
        "cliffs.svg": drawn(cliffs, "Thresholds and coin flips"),
        "slopes.svg": drawn(slopes, "evenodds: the same rates, no cliffs"),
    }


def drawn(policy: eo.Policy, title: str) -> str:
    """The policy's odds, whole as a file: with a size, a ground, and colours for light and dark."""
    figure = eo.plot.curves_figure(policy)
    some = [(line, (line.x >= SCORES[0]) & (line.x <= SCORES[1])) for line in figure.series]
    lines = tuple(replace(line, x=line.x[seen], y=line.y[seen]) for line, seen in some)
    figure = replace(figure, title=title, series=lines)
    head, rest = figure.svg(name="odds").split(">", 1)
    ground = '<rect class="ground" width="100%" height="100%" rx="6" fill="#ffffff"/>'
    return f'{head} width="{SIZE[0]}" height="{SIZE[1]}">{STYLE}{ground}{rest}\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DOCS, help="where to write, docs/ by default")
    folder = parser.parse_args().folder
    for name, text in pictures().items():
        (folder / name).write_text(text, encoding="utf-8")
        print(f"{name}: {len(text):,} characters")


if __name__ == "__main__":
    main()
