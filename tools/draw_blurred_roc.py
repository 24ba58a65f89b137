"""Draw docs/blurred-roc.svg: what a small group reaches by thresholds, by ramps of a slope, and by mixes of two ramps.

Run `python tools/draw_blurred_roc.py`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import evenodds as eo
from evenodds.model.families import family_of
from evenodds.model.reach import reach_of
from evenodds.pictures.scene import Scene, Series
from evenodds.pictures.svg import svg_of

FILE = Path(__file__).resolve().parents[1] / "docs" / "blurred-roc.svg"
PEOPLE, SLOPE, PLACES = 60, 0.12, 2000


def main() -> None:
    rng = np.random.default_rng(3)
    label = np.arange(PEOPLE) % 2
    score = (50 + 12 * label + rng.normal(0, 12, PEOPLE)).round()
    (group,) = eo.JointDistribution.from_arrays(score, ["small"] * PEOPLE, label).members
    half = 0.5 / SLOPE
    middles = np.linspace(score.max() + half, score.min() - half, PLACES)
    odds = np.array([eo.Curve("linear", middle - half, middle + half, 0.5)(group.scores) for middle in middles])
    blurred = [odds @ side / side.sum() for side in (group.negatives, group.positives)]
    names = ("one threshold", f"one ramp of slope {SLOPE:g}", "mixes of two such ramps")
    series = (
        Series(names[0], group.roc.fpr, group.roc.tpr, style="thin", group=names[0]),
        Series(names[1], *blurred, group=names[1]),
        Series(names[2], *reach_of(group, family_of("linear"), SLOPE).upper, style="dashed", group=names[2]),
    )
    title = f"A group of {PEOPLE} people"
    scene = Scene(title, "false positive rate", "true positive rate", series, names, square=True)
    head, rest = svg_of(scene).split(">", 1)
    paper = '<rect width="100%" height="100%" fill="#ffffff"/>'  # pages may be dark, and the ink is not
    FILE.write_text(f"{head}>{paper}{rest}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
