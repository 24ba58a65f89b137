"""Results show themselves: as text, as frames, as pictures, and in a notebook without a script."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import evenodds as eo
from engines import needed


@pytest.fixture(scope="module")
def results():
    joint = eo.datasets.credit_risk()
    policy = eo.fit(joint)
    people = pd.DataFrame({"who": range(40), "points": 30, "race": "white"})
    words = {"score": "points", "group": "race", "id": "who", "key": "00" * 32}
    return {
        "policy": policy,
        "certificate": policy.certificate,
        "audit": eo.audit(policy, joint, tolerance=0.05),
        "frontier": eo.frontier(joint, max_slopes=[0.05, 0.1, np.inf]),
        "comparison": eo.compare(joint, curves=["fixed", "linear"]),
        "stability": eo.stability(joint, draws=4),
        "metrics": eo.metrics(policy, joint),
        "verification": eo.verify(policy, eo.decide(policy, people, **words), **words),
    }


NAMES = ["policy", "certificate", "audit", "frontier", "comparison", "stability", "metrics", "verification"]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_a_figure_and_a_table_without_a_script(results, name):
    page = results[name]._repr_html_()
    assert "<script" not in page
    assert not re.search(r"\son\w+=|javascript:|https?://(?!www.w3.org)", page)
    tree = ET.fromstring(page.replace("&nbsp;", " "))  # noqa: S314 our own
    assert tree.find(".//{http://www.w3.org/2000/svg}svg") is not None
    names, rows = results[name].table()
    assert [cell.text for cell in tree.findall(".//th")] == list(names)
    assert len(tree.findall(".//tbody/tr")) == len(rows)
    assert len(repr(results[name])) < 200
    assert "\n" not in repr(results[name])


def test_a_notebook_shows_the_intervals_of_an_audit(results):
    audit = results["audit"]
    tree = ET.fromstring(audit._repr_html_().replace("&nbsp;", " "))  # noqa: S314 our own
    names = [cell.text for cell in tree.findall(".//th")]
    for figures, row in zip(audit.by_group, tree.findall(".//tbody/tr"), strict=True):
        cells = dict(zip(names, row, strict=True))
        for rate in ("fpr", "tpr", "selection_rate", "precision"):
            estimate = getattr(figures, rate)
            assert cells[rate].text == f"{estimate.value:.4g}"
            assert cells[rate].find("small").text == f"{estimate.low:.3f} to {estimate.high:.3f}"
        assert cells["people"].find("small") is None
    with pytest.warns(eo.EvenoddsWarning, match="Group 'b' has 0 negatives"):
        one_sided = eo.Audit.of_decisions([1, 0, 1, 1], list("aabb"), [1, 0, 1, 1])
    assert "<td>not defined</td>" in one_sided._repr_html_()


@pytest.mark.parametrize("name", NAMES)
def test_every_result_is_a_frame_and_a_picture(results, name):
    needed("pandas")
    matplotlib = needed("matplotlib")
    matplotlib.use("Agg")
    frame = results[name].frame()
    assert len(frame) > 0
    axes = results[name].plot()
    assert axes.has_data()
    assert results[name].plot(axes) is axes


def test_a_policy_is_a_row_for_each_group(results):
    policy = results["policy"]
    frame = policy.frame().set_index("group")
    for group, curve in policy.curves.items():
        assert frame.loc[group, "t0"] == curve.t0
        assert frame.loc[group, "lipschitz"] == curve.lipschitz
        assert frame.loc[group, "tpr"] == policy.certificate.points[group].tpr


def test_tables_as_text(results):
    told = str(results["comparison"]).splitlines()
    names = "policy accuracy_score odds differ by selection differs by slope by chance"
    assert " ".join(told[0].split()) == names
    assert told[1].startswith("  one threshold ")
    assert str(results["frontier"]).splitlines()[1].split() == ["max_slope", "accuracy_score", "loss"]
    assert "Verdict: pass" in str(results["audit"])
    told = str(results["metrics"]).splitlines()
    assert told[0].startswith("4 groups, 174,047 people; accuracy over everybody 0.83")
    assert " ".join(told[1].split()) == "group people FPR TPR accuracy selected precision by chance slope"
    assert [line.split()[0] for line in told[2:6]] == ["asian", "black", "hispanic", "white"]
    assert told[6].startswith("Between groups: equalized odds difference 0.0000, ")
    assert told[7].startswith("Individual odds hold")
    frame = results["metrics"].frame().set_index("group")
    assert frame.loc["white", "tpr"] == results["metrics"].groups["white"].tpr


def test_many_rows_and_jumps_and_names_of_any_kind():
    counts = {f"<b>{i}</b>": ([1, 2, 3], [5, 3, 1], [1, 3, 5]) for i in range(45)}
    with pytest.warns(eo.EvenoddsWarning):
        policy = eo.fit(eo.JointDistribution.from_counts(counts), curve="fixed")
    page = policy._repr_html_()
    assert "and 5 rows more: .frame() has them all" in page
    assert "<b>" not in page
    assert "<table" in policy.certificate._repr_html_()  # slopes that are infinite are not drawn


def test_a_report_in_a_notebook(results):
    document = eo.report(results["policy"], eo.datasets.credit_risk())
    page = document._repr_html_()
    assert "<script" not in page
    assert "<svg" in page
    assert repr(document) == "Document('Fair odds: a report on a policy', 11 sections)"
    assert str(document).startswith("# Fair odds: a report on a policy")


def test_an_estimate_is_a_number():
    rate = eo.Estimate(0.25, 0.2, 0.31)
    assert rate == 0.25
    assert rate < 0.3
    assert max(rate, 0.1) is rate
    assert rate + 1 == 1.25
    assert round(rate, 1) == 0.2
    assert f"{rate:.1%}" == "25.0%"
    assert f"{rate}" == str(rate) == "0.2500 [0.2000, 0.3100]"
    assert rate == eo.Estimate(0.25, 0.2, 0.31) != eo.Estimate(0.25, 0.2, 0.4)
    assert np.mean([rate, 0.75]) == 0.5
    with pytest.raises(AttributeError, match="cannot be changed"):
        rate.low = 0.0
