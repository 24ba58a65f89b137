"""The paper's second study: slopes of the published curves, and results on the true records."""

from __future__ import annotations

import math

import pytest

import evenodds as eo

CURVES = ("linear", "quadratic", "cubic", "quartic")


@pytest.fixture(scope="module")
def study():
    return eo.studies.compas()


def test_printed_slopes_follow_from_the_printed_parameters_but_for_the_misprint(study):
    compared = [row for row in study.published if row.printed_lipschitz is not None]
    assert len(compared) == 15
    for row in compared:
        if (row.curve, row.group) == ("quadratic", "Caucasian, Male"):
            assert row.lipschitz == pytest.approx(0.197, abs=5e-4)
            assert "0.197" in row.note
        elif row.curve == "fixed":
            assert math.isinf(row.lipschitz)
        else:
            assert row.lipschitz == pytest.approx(row.printed_lipschitz, abs=1e-3), row


def test_base_rates_are_those_of_the_records(study):
    assert min(study.base_rates.values()) == pytest.approx(0.35, abs=0.01)
    assert max(study.base_rates.values()) == pytest.approx(0.54, abs=0.01)


def test_results_share_their_rates_and_reach_the_known_accuracies(study):
    for family in ("fixed", "linear", "quadratic", "cubic", "quartic"):
        rows = [row for row in study.results if row.curve == family]
        assert len(rows) == 4
        assert max(row.fpr for row in rows) - min(row.fpr for row in rows) < 1e-10
        assert max(row.tpr for row in rows) - min(row.tpr for row in rows) < 1e-10
    known = {math.inf: 0.6366040, 1.0: 0.6366040, 0.5: 0.6350422, 0.3: 0.6308849}
    found = {row.max_slope: row.accuracy for row in study.budgets}
    assert {slope: found[slope] for slope in known} == pytest.approx(known, abs=6e-8)


@pytest.mark.parametrize("name", ["compas", "credit_risk"])
def test_each_criterion_is_best_by_its_own_measure(name):
    study = getattr(eo.studies, name)()
    rows = {row.criterion: row for row in study.criteria}
    assert set(rows) == {"gentlest", "even_slopes", "smoothest", "robust", "fewest_randomized", "even_randomized"}
    for criterion, measure in (
        ("gentlest", "largest_slope"),
        ("even_slopes", "slope_difference"),
        ("fewest_randomized", "randomized"),
        ("even_randomized", "randomized_difference"),
    ):
        best = min(getattr(row, measure) for row in study.criteria)
        assert getattr(rows[criterion], measure) <= best + 1e-9
    assert len({round(row.accuracy, 9) for row in study.criteria}) == 1
    assert all(row.use_it for row in study.criteria)


def test_a_study_becomes_a_folder(study, tmp_path):
    written = eo.studies.write_study(study, tmp_path / "study")
    names = {file.name for file in written}
    assert {"published.csv", "results.csv", "criteria.csv", "roc.png", "roc.svg", "audit.png", "report.html"} <= names
    assert "families_caucasian_male.svg" in names
    assert all(file.stat().st_size for file in written)
    page = (tmp_path / "study" / "report.html").read_text()
    for told in (
        "P(Y=0, R&gt;r)",
        "Table 2 prints 0.254",
        "even_randomized",
        "When to use which",
        "The policy: model card",
    ):
        assert told in page


def test_the_introductions_applicants():
    low, middle, high = eo.studies.credit_risk().applicants
    assert (low.score, middle.score, high.score) == (24.5, 25.0, 49.5)
    assert middle.default_rate / high.default_rate == pytest.approx(6.23, abs=0.005)
    assert low.default_rate / middle.default_rate == pytest.approx(1.03, abs=0.005)
    assert low.published_fixed == 0
    assert middle.published_fixed == high.published_fixed == 0.5
    assert high.published_quartic / middle.published_quartic == pytest.approx(4.3, abs=0.05)
    assert high.exact_linear / middle.exact_linear == pytest.approx(3.63, abs=0.01)
    times = [getattr(high, f"published_{one}") / getattr(middle, f"published_{one}") for one in CURVES]
    assert min(times) == pytest.approx(4.307, abs=0.0005)  # 4.32 with the quartic's p as printed, with three digits
    printed = eo.Curve("quartic", 7.5, 63.5, 0.468)
    assert printed(49.5) / printed(25) == pytest.approx(4.32, abs=0.005)
    assert max(times) == pytest.approx(5.36, abs=0.005)
