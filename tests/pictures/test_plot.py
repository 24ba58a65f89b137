from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

import evenodds as eo
from evenodds.geometry import samples
from evenodds.pictures import figures
from evenodds.pictures.scene import PALETTE
from shapes import with_mixes

mpl.use("agg")


@pytest.fixture(scope="module")
def joint():
    return eo.datasets.credit_risk()


@pytest.fixture(scope="module")
def policy(joint):
    return eo.fit(joint)


@pytest.fixture(scope="module")
def every(joint, policy):
    """A picture of each kind."""
    audit = eo.audit(policy, joint)
    solutions = eo.solutions(joint, target="baseline", curve="linear")
    return {
        "roc": lambda **o: eo.plot.roc(joint, policy, **o),
        "curves": lambda **o: eo.plot.curves(policy, against={"fixed": eo.fit(joint, curve="fixed")}, **o),
        "solutions": lambda **o: eo.plot.solutions(solutions, "white", chosen=policy.curves["white"], **o),
        "frontier": lambda **o: eo.plot.frontier(eo.frontier(joint), **o),
        "score_rates": lambda **o: eo.plot.score_rates(joint, **o),
        "densities": lambda **o: eo.plot.densities(joint, policy, **o),
        "audit": lambda **o: eo.plot.audit(audit, **o),
    }


@pytest.fixture(scope="module")
def values(joint, policy):
    """What each of them draws, as a value."""
    solutions = eo.solutions(joint, target="baseline", curve="linear")
    return {
        "roc": eo.plot.roc_figure(joint, policy),
        "curves": eo.plot.curves_figure(policy, against={"fixed": eo.fit(joint, curve="fixed")}),
        "solutions": eo.plot.solutions_figure(solutions, "white", chosen=policy.curves["white"]),
        "frontier": eo.plot.frontier_figure(eo.frontier(joint)),
        "score_rates": eo.plot.score_rates_figure(joint),
        "densities": eo.plot.densities_figure(joint, policy),
        "audit": eo.plot.audit_figure(eo.audit(policy, joint)),
    }


KINDS = ("roc", "curves", "solutions", "frontier", "score_rates", "densities", "audit")


@pytest.mark.parametrize("kind", KINDS)
def test_axes_in_axes_out_with_their_numbers(every, values, kind, tmp_path):
    ax = Canvas().add_subplot()
    assert every[kind](ax=ax) is ax
    frame = values[kind].frame()
    assert list(frame.columns) == ["series", "group", "x", "y", "low", "high", "people", "score"]
    assert len(frame)
    new = every[kind]()
    new.figure.savefig(tmp_path / "one.png", dpi=80)
    new.figure.savefig(tmp_path / "one.svg")
    assert (tmp_path / "one.png").stat().st_size > 5000
    assert new.get_title(loc="left")


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_draws_itself_and_leaves_nothing_on_the_axes(every, values, kind):
    figure = values[kind]
    ax = Canvas().add_subplot()
    assert figure.plot(ax) is ax
    assert not hasattr(ax, "frame")
    assert not hasattr(ax.figure, "frame")
    one, other = (
        [line.get_xydata().tolist() for line in drawn.lines if np.isfinite(line.get_xydata()).all()]
        for drawn in (figure.plot(), every[kind]())
    )
    assert one == other
    assert figure.svg(titled=False).startswith("<svg ")


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_has_the_same_colour_everywhere(every, joint, kind):
    ax = every[kind]()
    colours = {g: PALETTE[i] for i, g in enumerate(joint.groups)}
    told = {text.get_text().partition(" (")[0]: text.get_color() for text in ax.texts}  # some with how many they are
    labels = {group: colour for group, colour in told.items() if group in colours}
    for group, colour in labels.items():
        assert colour == colours[group]
    assert set(labels) == (set(joint.groups) if kind in ("roc", "curves", "score_rates", "densities") else set())


def test_the_roc_is_the_roc(joint, policy):
    drawn = {s.name: s for s in figures.roc_figure(joint, policy).series}
    white = next(m for m in joint.members if m.key == "white")
    for score in (25, 30, 50):
        above = white.scores >= score
        fpr, tpr = (
            white.negatives[above].sum() / white.negative_total,
            white.positives[above].sum() / white.positive_total,
        )
        assert np.hypot(drawn["white"].x - fpr, drawn["white"].y - tpr).min() < 1e-12
    point = policy.certificate.points["white"]
    dot = drawn["all groups, chosen"]
    assert (dot.x[0], dot.y[0]) == pytest.approx((point.fpr, point.tpr), abs=1e-12)
    selected = sum(m.negative_total * point.fpr + m.positive_total * point.tpr for m in joint.members)
    assert dot.people[0] == pytest.approx(selected)
    apart = eo.fit(joint, constraints="demographic_parity")
    names = {s.name for s in figures.roc_figure(joint, apart).series if s.kind == "dots"}
    assert names == {f"{group}, chosen" for group in joint.groups}
    fewer = replace(joint, members=joint.members[1:])  # others than those of the fit, of whom one group is missing
    shifted = {s.name for s in figures.roc_figure(fewer, eo.fit(joint, curve="cubic")).series if s.kind == "dots"}
    assert shifted == {"all groups, chosen"}


def test_curves_and_jumps_are_drawn_where_they_are(joint, policy):
    drawn = {s.name: s for s in figures.curves_figure(policy).series}
    for group, curve in policy.curves.items():
        np.testing.assert_array_equal(drawn[group].y, curve(drawn[group].x))
    hard = figures.curves_figure(eo.fit(joint, target="baseline"))
    jump = next(s for s in hard.series if s.name == "hispanic")
    near = np.abs(jump.x - 30) < 0.001
    assert {0.0, 1.0} <= set(jump.y[near])


@pytest.fixture(scope="module")
def mixed(joint, policy):
    mix = eo.Curve.mixed([(0.3, eo.Curve("cubic", 10, 11, 0.5)), (0.7, eo.Curve("cubic", 30, 80, 0.4))])
    return with_mixes(policy, joint, {"white": mix})


def test_a_mix_is_drawn_where_it_bends_and_beside_its_parts(joint, mixed):
    mix = mixed.curves["white"]
    white = next(s for s in figures.curves_figure(mixed).series if s.name == "white")
    np.testing.assert_array_equal(white.y, mix(white.x))
    assert ((white.x > 10) & (white.x < 11)).sum() > 40  # however narrow a part is
    drawn = figures.mix_figure(mixed, "white", joint=joint)
    assert [s.name for s in drawn.series] == ["part 1, 30 %", "part 2, 70 %", "mix"]
    one, other, both = drawn.series
    np.testing.assert_allclose(0.3 * one.y + 0.7 * other.y, both.y, atol=1e-15)
    assert both.people.sum() > 0
    assert (both.x.min(), both.x.max()) == (3, 87)
    zones = {s.name: s for s in figures.densities_figure(joint, mixed).series if s.kind == "zone"}
    assert zones["white: decided by chance"].x.tolist() == [10, 80]


def test_reach_is_concave_and_holds_the_chosen_points(joint, mixed):
    for policy in (eo.fit(joint), mixed):
        drawn = {s.name: s for s in figures.roc_figure(joint, policy).series}
        budget = policy.certificate.max_slope
        assert set(policy.certificate.points) == set(joint.groups)
        for group, point in policy.certificate.points.items():
            reach = drawn[f"{group}, slope at most {budget:.3g}"]
            assert (np.diff(np.diff(reach.y) / np.maximum(np.diff(reach.x), 1e-300)) <= 1e-6).all()
            assert point.tpr <= np.interp(point.fpr, reach.x, reach.y) + 1e-4
    hard = [(0.5, eo.Curve("linear", 20, 20, 0)), (0.5, eo.Curve("linear", 50, 50, 0))]
    jumps = with_mixes(eo.fit(joint), joint, {"white": eo.Curve.mixed(hard)})
    names = {s.name for s in figures.roc_figure(joint, jumps).series if s.style == "dashed"}
    assert names == {"white, mixes of two thresholds"}


def test_rates_and_densities_count_everybody(joint):
    for member, series in zip(joint.members, figures.score_rates_figure(joint).series, strict=True):
        assert series.people.sum() == pytest.approx(member.total)
        assert series.people @ series.y == pytest.approx(member.positive_total)
        assert (series.low <= series.y + 1e-12).all()
        assert (series.y <= series.high + 1e-12).all()
        assert (np.diff(series.x) > 0).all()
    for member, series in zip(joint.members, figures.densities_figure(joint).series, strict=True):
        assert series.people.sum() == pytest.approx(member.total)


def test_large_groups_and_negative_orientation(monkeypatch):
    rng = np.random.default_rng(0)
    group, label = rng.choice(list("ab"), 3000), rng.integers(0, 2, 3000)
    monkeypatch.setattr(samples, "FEW", 100)
    joint = eo.JointDistribution.from_arrays(rng.normal(-10 * label, 10), group, label, orientation="negative")
    policy = eo.fit(joint)
    for figure in (
        eo.plot.roc_figure(joint, policy),
        eo.plot.curves_figure(policy),
        eo.plot.score_rates_figure(joint),
        eo.plot.densities_figure(joint, policy),
    ):
        assert figure.plot() is not None
        assert len(figure.frame())
    first = figures.curves_figure(policy).series[0]
    assert (np.diff(first.y) <= 1e-12).all()
    rates = figures.score_rates_figure(joint).series[0]
    assert rates.y[0] > rates.y[-1]


def test_without_matplotlib_the_message_says_what_to_install(joint, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(eo.MissingPackageError, match=r"pip install 'evenodds\[plot\]'"):
        eo.plot.score_rates(joint)


def test_people_of_fewer_groups_than_the_policy_keep_their_colours(joint, policy):
    fewer = replace(joint, members=joint.members[1:])
    for figure in (figures.densities_figure(fewer, policy), figures.roc_figure(fewer, policy)):
        assert figure.groups == policy.groups
        assert f'fill="{PALETTE[3]}"' in figure.svg()  # the fourth group's, who are the third of these people
        assert figure.plot().get_title(loc="left") == figure.title


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda own: eo.plot.roc(own.policy), "The first argument must be a JointDistribution, got Policy"),
        (lambda own: eo.plot.roc(own.joint, 3), "policy= must be a Policy, got int"),
        (
            lambda own: eo.plot.roc(eo.datasets.compas(), own.policy),
            "does not know the groups 'African-American, Female'",
        ),
        (
            lambda own: eo.plot.roc(turned(own.joint), own.policy),
            "The policy has positive orientation, the data negative",
        ),
        (
            lambda own: eo.plot.densities(eo.datasets.compas(), own.policy),
            "does not know the groups 'African-American, Female'",
        ),
        (
            lambda own: eo.plot.densities(turned(own.joint), own.policy),
            "The policy has positive orientation, the data negative",
        ),
        (lambda own: eo.plot.curves(own.joint), "The first argument must be a Policy, got JointDistribution"),
        (
            lambda own: eo.plot.curves(own.policy, against=own.policy),
            "against must map names to policies, such as .* got Policy",
        ),
        (lambda own: eo.plot.curves(own.policy, against={"old": 3}), r"against\['old'\] must be a Policy, got int"),
        (lambda own: eo.plot.score_rates(own.joint, confidence=2), "confidence=2 is not allowed"),
        (
            lambda own: eo.plot.audit(eo.audit(own.policy, own.joint), rates=["fpt"]),
            "rates='fpt' is not known.* did you mean 'fpr'",
        ),
        (lambda own: eo.plot.audit(eo.audit(own.policy, own.joint), rates=[]), r"rates=\[\] is not allowed"),
        (lambda own: eo.plot.audit(eo.audit(own.policy, own.joint), rates=3), "rates=3 is not allowed"),
        (
            lambda own: eo.plot.solutions(eo.solutions(own.joint, target="baseline", p=[0.5]), "wight"),
            "group='wight' is not known.* did you mean 'white'",
        ),
        (
            lambda own: eo.plot.frontier_figure(eo.frontier(own.joint, budgets=[0.1]), people="all"),
            "people='all' is not",
        ),
        (
            lambda own: eo.plot.frontier_figure(eo.frontier(own.joint, budgets=[0.1]), chosen=3),
            "chosen= must be a Policy",
        ),
        (lambda own: eo.plot.frontier(own.policy), "must be what evenodds.frontier returns, got Policy"),
        (lambda own: eo.plot.audit(own.policy), "must be what evenodds.audit returns, got Policy"),
        (lambda own: eo.plot.solutions(own.policy, "white"), "must be what evenodds.solutions returns, got Policy"),
        (lambda own: eo.studies.story_of(own.policy), "must be what studies.credit_risk or .* returns, got Policy"),
        (
            lambda own: eo.studies.write_study(own.policy, "x"),
            "must be what studies.credit_risk or .* returns, got Pol",
        ),
        (lambda own: eo.plot.roc_figure(own.joint).colour_of("wight"), "group='wight' is not known"),
    ],
)
def test_bad_input_is_one_clear_line(joint, policy, call, message):
    with pytest.raises(eo.EvenoddsError, match=message):
        call(SimpleNamespace(joint=joint, policy=policy))


def test_groups_of_one_label_only_are_not_drawn():
    counts = {"a": ([1, 2], [4, 4], [3, 5]), "b": ([1, 2], [4, 4], [0, 0])}
    joint = eo.JointDistribution.from_counts(counts, one_sided="keep")
    for draw in (figures.roc_figure, figures.score_rates_figure, figures.densities_figure):
        assert {series.group for series in draw(joint).series} - {None} == {"a"}


def turned(joint):
    counts = {member.key: (-member.scores, member.negatives, member.positives) for member in joint.members}
    return eo.JointDistribution.from_counts(counts, orientation="negative")


def test_one_rate_may_stand_for_itself(joint, policy):
    audit = eo.audit(policy, joint)
    assert figures.audit_figure(audit, rates="tpr").y_names == figures.audit_figure(audit, rates=["tpr"]).y_names
