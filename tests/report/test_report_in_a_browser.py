"""Reports as a person sees them: a real browser opens them without a network."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

import evenodds as eo
from browser import Browser

WIDE = {"viewport": {"width": 1200, "height": 900}}
PHONE = {"viewport": {"width": 375, "height": 800}}


@pytest.fixture(scope="module")
def browser():
    found = Browser()
    yield found
    found.stop()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """The reports of both studies, and one on a policy measured on fresh people."""
    home = tmp_path_factory.mktemp("reports")
    for name in ("credit_risk", "compas"):
        eo.studies.write_study(getattr(eo.studies, name)(), home / name)
    rng = np.random.default_rng(0)
    group, label = rng.choice(["a", "<b>bold</b>"], 4000), rng.integers(0, 2, 4000)
    score = rng.normal(10 * label, 10)
    half = np.arange(4000) < 2000
    fitted, fresh = (eo.JointDistribution.from_arrays(score[h], group[h], label[h]) for h in (half, ~half))
    (home / "fresh").mkdir()
    eo.report(eo.fit(fitted), fresh, home / "fresh" / "report.html", tolerance=0.1)
    return {name: home / name / "report.html" for name in ("credit_risk", "compas", "fresh")}


@pytest.mark.parametrize("name", ["credit_risk", "compas", "fresh"])
@pytest.mark.parametrize(
    "options", [WIDE, {**WIDE, "color_scheme": "dark"}, PHONE, {**PHONE, "has_touch": True}],
    ids=["light", "dark", "phone", "touch"],
)  # fmt: skip
def test_it_opens_without_a_network_a_request_or_a_complaint(browser, reports, name, options):
    with browser.opened(reports[name], **options) as page:
        assert page.complaints == []
        assert page.requests == [reports[name].as_uri()]
        figures = page.locator("figure")
        assert figures.count() >= 6
        for i in range(figures.count()):
            box = figures.nth(i).locator("svg").first.bounding_box()
            assert box["width"] > 250
            assert box["height"] > 80
        # Wide tables scroll by themselves; the page does not.
        assert page.evaluate("document.documentElement.scrollWidth") <= options["viewport"]["width"]
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(18, 22, 27)" if options.get("color_scheme") == "dark" else "rgb(255, 255, 255)")


def _hover(page, figure, across=0.5, up=0.5):
    figure.scroll_into_view_if_needed()
    box = figure.locator("svg").first.bounding_box()
    page.mouse.move(box["x"] + across * box["width"], box["y"] + (1 - up) * box["height"])
    return figure.locator(".told")


def test_hovering_over_curves_gives_score_odds_and_people(browser, reports):
    joint = eo.datasets.credit_risk()
    policy = eo.fit(joint)
    with browser.opened(reports["credit_risk"], **WIDE) as page:
        figure = page.locator("figure#curves")
        told = _hover(page, figure)
        assert told.is_visible()
        text = told.inner_text()
        score = float(re.search(r"score ([\d.]+)", text)[1])
        assert 20 < score < 80
        for group in policy.groups:
            odds, people = re.search(rf"^\s*{group}: ([\d.]+) \(([\d,.]+)\)", text, re.MULTILINE).groups()
            assert float(odds) == pytest.approx(float(policy.odds(score, group)), abs=2e-3)
            member = next(m for m in joint.members if m.key == group)
            near = (member.negatives + member.positives)[np.abs(member.scores - score) <= 0.75].sum()
            assert 0 < float(people.replace(",", "")) <= near + 1
        assert "people within 0.5 of this score" in text
        page.mouse.move(5, 5)
        assert told.is_hidden()
        assert page.complaints == []


@pytest.mark.parametrize("name", ["credit_risk", "compas", "fresh"])
def test_every_figure_answers_the_pointer(browser, reports, name):
    with browser.opened(reports[name], **WIDE) as page:
        figures = page.locator("figure")
        assert figures.count() >= 6
        for i in range(figures.count()):
            figure = figures.nth(i)
            # Somewhere on the way across each figure there is something to tell, be it a line or a single point.
            answers = set()
            for across in np.linspace(0.12, 0.96, 15):
                for up in (0.25, 0.55, 0.85):
                    told = _hover(page, figure, across, up)
                    if told.is_visible():
                        answers.add(told.inner_text())
                        box, frame = told.bounding_box(), figure.bounding_box()
                        assert box["x"] >= frame["x"] - 1
                        assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
                if len(answers) > 1:
                    break
            assert answers, figure.get_attribute("id")
        assert page.complaints == []


def test_the_roc_tells_thresholds_and_people_also_in_its_closer_look(browser, reports):
    with browser.opened(reports["credit_risk"], **WIDE) as page:
        figure = page.locator("figure#roc")
        box = figure.locator("svg").bounding_box()
        found = []
        for across, down in ((0.2, 0.35), (0.7, 0.7)):
            figure.scroll_into_view_if_needed()
            box = figure.locator("svg").bounding_box()
            for step in range(-12, 13):
                page.mouse.move(box["x"] + across * box["width"], box["y"] + (down + step * 0.02) * box["height"])
                told = figure.locator(".told")
                if told.is_visible() and "threshold at a score of" in told.inner_text():
                    found.append(told.inner_text())
                    break
        assert len(found) == 2
        for text in found:
            assert re.search(r"false positive rate: [\d.]+", text)
            assert re.search(r"true positive rate: [\d.]+", text)
            assert re.search(r"[\d,]+ people who get a yes", text)


def test_the_arrow_keys_walk_along_a_figure(browser, reports):
    with browser.opened(reports["compas"], **WIDE) as page:
        for name in ("curves", "roc"):
            svg = page.locator(f"figure#{name} svg").first
            told = page.locator(f"figure#{name} .told")
            svg.focus()
            seen = []
            for _ in range(3):
                page.keyboard.press("PageDown")
                seen.append(told.inner_text())
            assert len(set(seen)) == 3
            page.keyboard.press("ArrowLeft")
            assert told.inner_text() not in seen
            page.keyboard.press("Escape")
            assert told.is_hidden()


def test_a_finger_serves_too(browser, reports):
    with browser.opened(reports["compas"], **PHONE, has_touch=True) as page:
        svg = page.locator("figure#curves svg").first
        svg.scroll_into_view_if_needed()
        box = svg.bounding_box()
        page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert "score" in page.locator("figure#curves .told").inner_text()


def test_numbers_are_saved_as_they_are_drawn(browser, reports, tmp_path):
    with browser.opened(reports["compas"], **WIDE) as page:
        with page.expect_download() as download:
            page.locator("figure#curves button").click()
        assert download.value.suggested_filename == "curves.csv"
        download.value.save_as(tmp_path / "curves.csv")
        first, *others = page.requests
        assert first == reports["compas"].as_uri()
        assert [request for request in others if not request.startswith("blob:")] == []
    with (tmp_path / "curves.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    policy = eo.fit(eo.datasets.compas())
    for group in policy.groups:
        own = [(float(row["x"]), float(row["y"])) for row in rows if row["series"] == group]
        assert len(own) > 100
        for score, odds in own:
            assert odds == pytest.approx(float(policy.odds(score, group)), abs=1e-4)


def test_group_names_are_text(browser, reports):
    with browser.opened(reports["fresh"], **WIDE) as page:
        assert page.locator("main b:not(.told b)").count() == 0
        assert "<b>bold</b>" in page.locator("main").inner_text()


@pytest.mark.parametrize("name", ["credit_risk", "compas"])
def test_it_prints(browser, reports, name, tmp_path):
    with browser.opened(reports[name], **WIDE) as page:
        page.pdf(path=tmp_path / "report.pdf", format="A4")
        assert (tmp_path / "report.pdf").read_bytes().count(b"/Type /Page\n") > 5
        page.emulate_media(media="print")
        assert page.locator("nav").is_hidden()
        assert page.locator("figure button").first.is_hidden()
        # Nothing is wider than the paper: 210 mm less its margins, at 96 dots per inch.
        page.set_viewport_size({"width": 688, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= 688
