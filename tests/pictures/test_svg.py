"""Figures as SVG: well-formed whatever groups are called, and the same line with fewer points."""

from __future__ import annotations

import itertools
import json
import math
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.pictures import figures
from evenodds.pictures.labels import legend, line_labels
from evenodds.pictures.svg import _path, _ticks, hover_data, svg_of

HOSTILE = "</script><script>alert(1)</script>&\"'"


def _joint(names=("a", "b"), n=2000):
    rng = np.random.default_rng(0)
    group, label = rng.integers(0, len(names), n), rng.integers(0, 2, n)
    score = rng.normal(label * (1 + 0.3 * group), 1)
    return eo.JointDistribution.from_arrays(score, np.array(names)[group], label)


def _every(joint):
    policy = eo.fit(joint)
    group = joint.groups[0]
    return {
        "roc": figures.roc_figure(joint, policy),
        "curves": figures.curves_figure(policy, joint=joint, against={"fixed": eo.fit(joint, curve="fixed")}),
        "solutions": figures.solutions_figure(
            eo.solutions(joint, target=policy.certificate.target), group, chosen=policy.curves[group], joint=joint
        ),
        "frontier": figures.frontier_figure(eo.frontier(joint), chosen=policy, people=joint.total),
        "score_rates": figures.score_rates_figure(joint),
        "densities": figures.densities_figure(joint, policy),
        "audit": figures.audit_figure(eo.audit(policy, joint)),
        "families": figures.families_figure("All", {c.family: c for c in policy.group_curves}, policy.score_range),
    }


@pytest.fixture(scope="module")
def every():
    return _every(_joint(("a", HOSTILE)))


KINDS = ("roc", "curves", "solutions", "frontier", "score_rates", "densities", "audit", "families")


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_well_formed_and_within_its_frame(every, kind):
    root = ET.fromstring(svg_of(every[kind], name=kind))  # noqa: S314 our own text
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    assert root.attrib["aria-label"]
    texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
    assert every[kind].title in {text.text for text in texts}
    for text in texts:
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 <= float(text.attrib["y"]) <= height
    drawn = [path.attrib["d"] for path in root.iter("{http://www.w3.org/2000/svg}path")]
    assert drawn
    for path in drawn:
        assert "nan" not in path
        assert "inf" not in path


@pytest.mark.parametrize("kind", KINDS)
def test_what_hovering_shows_is_what_the_frame_has(every, kind):
    figure = every[kind]
    told = json.loads(json.dumps(hover_data(figure), allow_nan=False))
    drawn = {series.name: series for series in figure.series}
    # Everything but lines that only guide the eye, and what is shaded.
    expected = {series.name for series in figure.series if series.style != "dotted" and series.kind != "zone"}
    assert {series["name"] for series in told["series"]} == expected != set()
    view = told["views"][0]
    fine = {axis: 2e-6 * abs(view[axis][1] - view[axis][0]) for axis in ("x", "y")}
    along = fine["x" if told["names"] else "y"]
    fine |= {"low": along, "high": along, "people": 0.01, "score": 1e-9}
    for series in told["series"]:
        for name in ("x", "y", "low", "high", "people", "score"):
            own = getattr(drawn[series["name"]], name)
            assert (name in series) == (own is not None)
            if own is not None:
                shown = np.array([np.nan if value is None else value for value in series[name]])
                np.testing.assert_allclose(shown, own, rtol=0, atol=fine[name], equal_nan=True)
    for view in told["views"]:
        assert view["x"][0] < view["x"][1]
        assert view["box"][2] > 0


def test_hovering_compares_lines_or_finds_the_nearest_point(every):
    modes = {kind: hover_data(figure)["mode"] for kind, figure in every.items()}
    assert modes["curves"] == modes["score_rates"] == modes["densities"] == modes["frontier"] == "across"
    assert modes["roc"] == modes["audit"] == modes["solutions"] == "point"


def test_people_near_a_score_are_counted(every):
    joint = _joint(("a", HOSTILE))
    figure = every["curves"]
    reach = 0.005 * (joint.score_range[1] - joint.score_range[0])
    for member in joint.members:
        series = next(s for s in figure.series if s.name == member.key)
        people = member.negatives + member.positives
        for at in (0, 99, 180, series.x.size - 1):
            near = np.abs(member.scores - series.x[at]) <= reach * (1 + 1e-12)
            assert series.people[at] == pytest.approx(people[near].sum(), abs=1e-9)
    roc = next(s for s in every["roc"].series if s.name == "a")
    a = joint.members[list(joint.groups).index("a")]
    for at in (5, 100):
        assert roc.people[at] == pytest.approx((a.negatives + a.positives)[a.scores >= roc.score[at]].sum())


@given(st.lists(st.tuples(st.floats(0, 480), st.floats(0, 320)), min_size=2, max_size=40), st.integers(1, 30))
def test_points_that_are_left_out_lie_on_the_line(corners, between):
    """However finely a polyline is cut, what is drawn passes every point of it to within rounding."""
    at = np.array(corners)
    share = np.linspace(0, 1, between + 1)[:-1, None]
    fine = np.concatenate([a + share * (b - a) for a, b in itertools.pairwise(at)] + [at[-1:]])
    found = np.array([[float(x) for x in pair.split(",")] for pair in _path(fine[:, 0], fine[:, 1])[1:].split("L")])
    for point in fine:
        a, b = found[:-1], found[1:]
        if not len(a):
            assert np.hypot(*(found[0] - point)) < 0.1
            continue
        along = np.sum((b - a) ** 2, axis=1)
        share = np.clip(np.sum((point - a) * (b - a), axis=1) / np.where(along > 0, along, 1), 0, 1)
        assert np.hypot(*(a + share[:, None] * (b - a) - point).T).min() < 0.12  # a tenth is what is written


def test_jumps_are_drawn_upright():
    joint = eo.datasets.credit_risk()
    text = svg_of(figures.curves_figure(eo.fit(joint, curve="fixed")))
    lines = [re.findall(r"[ML]([\d.]+),([\d.]+)", d) for d in re.findall(r'd="(M[^"]+)" fill="none"', text)]
    assert len(lines) == 4
    for line in lines:
        points = [(float(x), float(y)) for x, y in line]
        assert any(abs(a[0] - b[0]) <= 0.11 and abs(a[1] - b[1]) > 50 for a, b in itertools.pairwise(points))


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_few_round_and_inside(lo, width):
    hi = lo + width
    if hi - lo < 1e-9 * abs(lo):
        return
    ticks = _ticks((lo, hi), log=False)
    assert 2 <= len(ticks) <= 14
    assert (np.diff(ticks) > 0).all()
    assert min(ticks) >= lo - 1e-6 * width
    assert max(ticks) <= hi + 1e-6 * width


@given(st.floats(1e-6, 1e3), st.floats(1.5, 1e6))
def test_ticks_of_a_logarithmic_axis(lo, times):
    ticks = _ticks((lo, lo * times), log=True)
    assert len(ticks) >= 2
    assert all(lo * (1 - 1e-6) <= tick <= lo * times * (1 + 1e-6) for tick in ticks)


def test_names_do_not_cover_each_other():
    rng = np.random.default_rng(1)
    group, label = rng.integers(0, 2, 4000), rng.integers(0, 2, 4000)
    low = eo.JointDistribution.from_arrays(
        rng.beta(0.2 + 0.2 * label + 0.1 * group, 3), np.array(["Female", "Male"])[group], label
    )
    for joint in (eo.datasets.credit_risk(), eo.datasets.compas(), low):
        policy = eo.fit(joint)
        drawn = (figures.curves_figure(policy), figures.roc_figure(joint, policy), figures.densities_figure(joint))
        for figure in drawn:
            labels = line_labels(figure)
            assert len(labels) == len(joint.groups)
            boxes = []
            for label in labels:
                x, y = (
                    (at - ends[0]) / np.ptp(ends) for at, ends in zip((label.x, label.y), figure.extent, strict=True)
                )
                boxes.append((x, y, 0.015 * len(label.text)))
            for i, (x, y, w) in enumerate(boxes):
                for u, v, z in boxes[:i]:
                    assert x + w < u or u + z < x or abs(y - v) > 0.03


def test_lines_that_are_crowded_have_a_legend_instead_of_names_upon_each_other():
    rng = np.random.default_rng(0)
    names = np.array(["African-American", "Asian", "Caucasian", "Hispanic", "Native American", "Other"])
    group, score = rng.choice(6, 3600, p=[0.5, 0.02, 0.33, 0.09, 0.01, 0.05]), rng.integers(1, 11, 3600).astype(float)
    label = (rng.random(3600) < 0.15 + 0.06 * score).astype(int)
    joint = eo.JointDistribution.from_arrays(score, names[group], label)
    figure = figures.score_rates_figure(joint)
    assert line_labels(figure) == []
    assert list(legend(figure)) == list(joint.groups)


def test_many_groups_have_a_legend_instead_of_names():
    many = _joint(tuple(f"group {i:02}" for i in range(14)), n=6000)
    figure = figures.score_rates_figure(many)
    assert line_labels(figure) == []
    assert list(legend(figure)) == list(many.groups)
    assert len(set(legend(figure).values())) == 14  # each of another colour
    assert legend(figures.score_rates_figure(_joint())) == {}
    wordy = _joint(tuple(f"group number {i:02} of a long list" for i in range(9)), n=6000)
    assert line_labels(figures.score_rates_figure(wordy)) == []
    shown = figure.plot().get_legend()
    assert [text.get_text() for text in shown.get_texts()] == list(many.groups)


def _read_off(data, name, x):
    """What the page shows of a line at x: between its points."""
    series = next(s for s in data["series"] if s["name"] == name)
    return np.interp(x, series["x"], series["y"])


@pytest.mark.parametrize(("scale", "offset"), [(1, 0), (0.01, 700), (1e-3, 700), (1, 1e6), (1e-15, 0), (1e5, 0)])
@pytest.mark.parametrize("family", ["linear", "quartic"])
def test_odds_are_read_off_to_the_third_digit_whatever_the_scale(scale, offset, family):
    rng = np.random.default_rng(0)
    group, label = rng.choice(["a", "b"], 400), rng.integers(0, 2, 400)
    score = rng.normal(label, 1) * scale + offset
    joint = eo.JointDistribution.from_arrays(score, group, label)
    policy = eo.fit(joint, curve=family)
    figure = figures.curves_figure(policy, joint=joint)
    data = hover_data(figure)
    at = np.linspace(*policy.score_range, 333)
    for key in policy.groups:
        np.testing.assert_allclose(_read_off(data, key, at), policy.odds(at, key), atol=1e-3)
    labels = re.findall(r'text-anchor="middle"[^>]*>([^<]+)<', svg_of(figure))[:-1]
    assert len(set(labels)) == len(labels) > 1  # numbers below the axis are told apart


@pytest.mark.parametrize("constant", [-1e9, -1.0, -0.5, 0.0, 5.0, 1e9])
def test_one_score_is_drawn(constant):
    joint = eo.JointDistribution.from_counts({"a": ([constant], [40], [60]), "b": ([constant], [50], [50])})
    policy = eo.fit(joint, target=(0.5, 0.5))
    for figure in (
        figures.curves_figure(policy, joint=joint),
        figures.densities_figure(joint, policy),
        figures.score_rates_figure(joint),
    ):
        ET.fromstring(svg_of(figure))  # noqa: S314 our own text
        data = hover_data(figure)
        assert data["views"][0]["x"][0] < constant < data["views"][0]["x"][1]
        assert len(data["series"]) == 2


def test_two_scores_make_lines_and_not_zones():
    joint = eo.JointDistribution.from_counts({"a": ([0, 1], [40, 10], [10, 60]), "b": ([0, 1], [50, 10], [20, 50])})
    for figure in (figures.densities_figure(joint, eo.fit(joint)), figures.score_rates_figure(joint)):
        data = hover_data(figure)
        assert data["mode"] == "across"
        assert {s["name"] for s in data["series"]} == {"a", "b"}
        assert {label.text.partition(" ")[0] for label in line_labels(figure)} == {"a", "b"}


def test_odds_that_hardly_differ_are_drawn_between_0_and_1():
    joint = eo.datasets.credit_risk()
    figure = figures.curves_figure(eo.fit(joint, target=(1 - 1e-12, 1 - 1e-13)))
    assert hover_data(figure)["views"][0]["y"] == pytest.approx([-0.05, 1.05])


def test_few_scores_are_drawn_one_by_one():
    joint = eo.datasets.compas()
    figure = figures.densities_figure(joint)
    for member, series in zip(joint.members, figure.series, strict=True):
        np.testing.assert_array_equal(series.x, np.arange(1, 11))
        np.testing.assert_allclose(series.people, member.negatives + member.positives)
        np.testing.assert_allclose(series.y, series.people / member.total)
    down = eo.JointDistribution.from_counts({"a": ([1, 2, 4], [1, 2, 3], [3, 2, 1])}, orientation="negative")
    series = figures.densities_figure(down).series[0]
    np.testing.assert_array_equal(series.x, [1, 2, 4])
    np.testing.assert_array_equal(series.people, [4, 4, 4])


@pytest.mark.parametrize("slopes", [[0.1], [0.1, math.inf], [math.inf], [0.1, 0.1]], ids=str)
def test_a_frontier_of_one_slope_is_drawn_too(slopes):
    price = eo.frontier(eo.datasets.compas(), max_slopes=slopes)
    text = figures.frontier_figure(price).svg()
    assert "nan" not in text
    ET.fromstring(text)  # noqa: S314 our own text
    assert "<table" in price._repr_html_()
    data = hover_data(figures.frontier_figure(price))
    assert 0 < data["views"][0]["x"][0] < data["views"][0]["x"][1]


def test_what_less_chance_costs_is_drawn():
    frontier = eo.frontier(eo.datasets.compas(), against="randomized")
    figure = figures.frontier_figure(frontier, people=1000)
    (line,) = figure.series
    assert (line.x.tolist(), line.y.tolist()) == (list(frontier.max_randomized), list(frontier.objectives))
    assert line.people.tolist() == [1000 * loss for loss in frontier.losses]
    text = svg_of(figure)
    assert "What less chance costs" in text
    assert "largest share of people decided by chance" in text
    assert figure.plot().get_xlabel() == "largest share of people decided by chance"
