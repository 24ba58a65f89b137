"""The figures to reach: the paper's Table 1, and the least slopes recomputed independently."""

from __future__ import annotations

import json

import numpy as np
import pytest

import evenodds as eo
from evenodds.model.criteria import CRITERIA
from evenodds.report.document import Bullets, Picture, Text
from evenodds.studies import story_of


@pytest.fixture(scope="module")
def study():
    return eo.studies.credit_risk()


def test_the_target_is_the_hispanic_groups_best_threshold(study):
    assert study.baseline.group == "hispanic"
    assert study.baseline.threshold == 30
    assert study.target.fpr == pytest.approx(0.19268521480544, abs=1e-13)
    assert study.target.tpr == pytest.approx(0.82973199222071, abs=1e-13)


def test_published_figures_are_reproduced_to_their_last_digit(study):
    """Within one unit of the last digit printed: the paper truncates some."""
    compared = [row for row in study.published if row.printed_accuracy is not None]
    assert len(compared) == 15
    for row in compared:
        assert abs(row.accuracy - row.printed_accuracy) <= 1e-5, row
        assert abs(row.equalized_odds - row.printed_equalized_odds) <= 1e-7, row
        if row.curve == "fixed":
            assert row.lipschitz == row.printed_lipschitz == float("inf")
        else:
            assert abs(row.lipschitz - row.printed_lipschitz) <= 1e-3, row


# Least L_R at the target over p in [0.05, 0.95]: linear equals the bound of the linear program.
LINEAR = {"white": 0.0231605, "black": 0.0779707, "asian": 0.0547995}
OTHERS = {
    ("quadratic", "white"): 0.032509,
    ("quadratic", "black"): 0.106795,
    ("quadratic", "asian"): 0.076827,
    ("cubic", "white"): 0.032944,
    ("cubic", "black"): 0.110853,
    ("cubic", "asian"): 0.078156,
    ("quartic", "white"): 0.02675,
    ("quartic", "black"): 0.08874,
    ("quartic", "asian"): 0.06327,
}


def test_exact_solutions_are_exact_and_the_gentlest(study):
    exact = {(row.curve, row.group): row for row in study.exact}
    assert len(exact) == 20
    assert max(row.residual for row in study.exact) <= 1e-12
    for group, slope in LINEAR.items():
        assert exact["linear", group].lipschitz == pytest.approx(slope, rel=3e-6)  # the figure has six digits
    for key, slope in OTHERS.items():
        last_digit = 1e-6 if key[0] != "quartic" else 1e-5
        assert exact[key].lipschitz <= slope + last_digit / 2


def test_every_exact_curve_is_gentler_than_the_published_one(study):
    compared = [row for row in study.exact if row.curve != "fixed" and row.group != "hispanic"]
    assert len(compared) == 12
    assert all(row.lipschitz < row.printed_lipschitz + 5e-4 for row in compared)


def test_the_baseline_group_keeps_a_hard_threshold(study):
    own = [row for row in study.exact if row.group == "hispanic"]
    assert len(own) == 5
    for row in own:
        assert (row.t0, row.t1, row.lipschitz) == (30, 30, float("inf"))
    assert [verdict.holds for verdict in study.individual_odds.values()] == 5 * [False]
    assert study.individual_odds["linear"].apart == (
        ("asian", "hispanic"),
        ("black", "hispanic"),
        ("hispanic", "white"),
    )


def test_the_story_has_the_figures_as_recomputed_and_the_corrections(study):
    story = story_of(study)
    words = " ".join(block.words for section in story for block in section.blocks if isinstance(block, Text))
    for told in ("6.23 times as many", "6.6 in the paper", "the odds are 0", "1.03 times", "5.36 times", "3.63 times"):
        assert told in words
    items = [item for section in story for b in section.blocks if isinstance(b, Bullets) for item in b.items]
    assert any("-0.0000634" in item for item in items)
    assert [item.split(":")[0] for item in items[-6:]] == list(CRITERIA)
    assert not [b for section in story for b in section.blocks if isinstance(b, Picture)]
    drawn = [b.name for s in story_of(study, study.figures) for b in s.blocks if isinstance(b, Picture)]
    assert {"study-families_white", "study-families_black", "study-families_asian", "study-solutions"} <= set(drawn)


def test_families_are_drawn_exactly(study):
    for group in ("white", "black", "asian"):
        figure = study.figures[f"families_{group}"]
        assert [s.name for s in figure.series] == ["fixed", "linear", "quadratic", "cubic", "quartic"]
        known = eo.fit(eo.datasets.credit_risk(), curve="cubic", target=study.target).curves[group]
        cubic = next(s for s in figure.series if s.name == "cubic")
        np.testing.assert_allclose(cubic.y, known(cubic.x), atol=1e-12)


def test_plain_json(study):
    told = json.loads(json.dumps(study.as_json(), allow_nan=False))
    assert set(told["target"]) == {"fpr", "tpr"}
    names = {"curve", "group", "t0", "t1", "p", "accuracy", "equalized_odds", "lipschitz", "lipschitz_infinite"}
    for table in ("published", "exact"):
        assert len(told[table]) == 20
        for row in told[table]:
            assert names <= set(row)
            assert row["group"] in {"asian", "black", "hispanic", "white"}
            assert (row["lipschitz"] is None) == row["lipschitz_infinite"]
    assert all(row["residual"] <= 1e-12 for row in told["exact"])
    assert [row["curve"] for row in told["individual_odds"]] == ["fixed", "linear", "quadratic", "cubic", "quartic"]
