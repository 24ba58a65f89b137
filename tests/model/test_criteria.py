"""Each criterion by its own measure, against every other criterion's answer and against dense enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import evenodds as eo
from evenodds.model.criteria import CRITERIA
from evenodds.model.families import family_of
from evenodds.model.measures import randomized_fraction, roughness, score_sensitivity
from evenodds.model.path import Path
from strategies import search_of

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")

TARGETS = {"credit": (0.2, 0.75), "compas": (0.3, 0.5)}


@pytest.fixture(scope="module", params=["credit", "compas"])
def data(request):
    joint = eo.datasets.credit_risk() if request.param == "credit" else eo.datasets.compas()
    return joint, TARGETS[request.param]


def _path(curve, joint):
    sign = 1 if joint.orientation == "positive" else -1
    return Path(
        family_of(curve.family),
        np.array([curve.p]),
        np.array([sign * curve.t0]),
        np.array([sign * curve.t1]),
        "positive",
    )


def _measures(policy, joint):
    """Each criterion's own measure of a policy: smaller is better."""
    singles = {"gentlest": [], "smoothest": [], "robust": [], "fewest_randomized": []}
    for member in joint.members:
        path = _path(policy.curves[member.key], joint)
        singles["gentlest"].append(float(path.lipschitz[0]))
        singles["smoothest"].append(float(roughness(path)[0]))
        singles["robust"].append(float(score_sensitivity(path, member)[0]))
        singles["fewest_randomized"].append(float(randomized_fraction(path, member)[0]))
    told = {name: tuple(values) for name, values in singles.items()}
    slopes, shares = singles["gentlest"], singles["fewest_randomized"]
    told["even_slopes"] = (max(slopes) - min(slopes), max(slopes))
    told["even_randomized"] = (max(shares) - min(shares), max(shares))
    return told


@pytest.mark.parametrize("family", ["linear", "cubic"])
def test_each_criterion_is_the_best_by_its_own_measure(data, family):
    joint, target = data
    usable = [c for c in CRITERIA if c != "smoothest" or family == "cubic"]
    policies = {c: eo.fit(joint, target=target, curve=family, criterion=c) for c in usable}
    measured = {c: _measures(policy, joint) for c, policy in policies.items()}
    for criterion, policy in policies.items():
        assert policy.certificate.residual <= 1e-12
        own = measured[criterion][criterion]
        for other in usable:
            theirs = measured[other][criterion]
            if criterion in ("even_slopes", "even_randomized"):
                assert own[0] <= theirs[0] + 1e-9, (criterion, other)
            else:
                assert all(a <= b * (1 + 1e-7) + 1e-12 for a, b in zip(own, theirs, strict=True)), (criterion, other)


def test_even_slopes_against_dense_enumeration():
    joint = eo.datasets.credit_risk()
    target = eo.Point(0.2, 0.75)
    policy = eo.fit(joint, target=target, criterion="even_slopes")
    slopes = list(policy.certificate.slopes)
    paths = [
        search_of(m, "linear", target).paths({0: family_of("linear").p_grid(150)})[0].lipschitz for m in joint.members
    ]
    # Any choice has a largest slope of at least `level`, and each group's nearest slope to it can be had.
    level = max(np.nanmin(path) for path in paths)
    best = min(
        max(level, *near) - min(near)
        for near in [
            [float(path[np.nanargmin(np.abs(path - v))]) for path in paths] for v in np.geomspace(level, 3 * level, 400)
        ]
    )
    assert max(slopes) - min(slopes) <= best + 1e-9
    assert max(slopes) - min(slopes) <= 1e-6
    assert max(slopes) == pytest.approx(level, rel=1e-3)


def test_even_randomized_against_dense_enumeration():
    joint = eo.datasets.compas()
    target = eo.Point(0.3, 0.5)
    shares = []
    for member in joint.members:
        path = search_of(member, "linear", target).paths({0: family_of("linear").p_grid(60)})[0]
        shares.append(np.unique(randomized_fraction(path, member).round(12)))
    best = min(max(pick) - min(pick) for pick in itertools.product(*shares))
    measured = eo.metrics(eo.fit(joint, target=target, criterion="even_randomized"), joint)
    own = [figures.randomized for figures in measured.by_group]
    assert max(own) - min(own) <= best + 1e-9


@pytest.mark.parametrize("criterion", CRITERIA)
def test_criteria_keep_to_the_budget(data, criterion):
    joint, _ = data
    policy = eo.fit(joint, curve="cubic", criterion=criterion, max_loss=0.01)
    assert max(policy.certificate.slopes) <= policy.certificate.max_slope * (1 + 1e-9)
    assert policy.certificate.residual <= 1e-12
    assert policy.certificate.loss == pytest.approx(0.01, abs=1e-6)


def test_roughness_is_the_integral_of_the_squared_second_derivative():
    for family, p in [("cubic", 0.3), ("cubic", 0.5), ("quartic", 0.45), ("quadratic", 0.5)]:
        curve = eo.Curve(family, 2, 12, p)
        second = curve.pieces.derivative().derivative()
        total = 0.0
        nodes, weights = np.polynomial.legendre.leggauss(8)
        for a, b in itertools.pairwise(curve.pieces.breaks):
            total += (b - a) / 2 * weights @ second(a + (b - a) * (nodes + 1) / 2) ** 2
        assert roughness(Path(family_of(family), np.array([p]), np.array([2.0]), np.array([12.0]), "positive"))[
            0
        ] == pytest.approx(total)


def test_the_smoothest_quadratic_is_the_one_without_a_kink():
    policy = eo.fit(eo.datasets.credit_risk(), target=(0.2, 0.75), curve="quadratic", criterion="smoothest")
    assert all(curve.p == 0.5 for curve in policy.curves.values())


@pytest.mark.parametrize("side", ["above", "below"])
def test_the_gentlest_curve_may_lie_a_small_step_beside_one_half(side):
    """On one side only, and nearer than the next p of the first look: the steeper side must not hide it."""
    scores = np.array([5.0, 7, 8, 12, 15, 16, 21, 23])
    negatives, positives = np.array([12, 7, 5, 4, 8, 3, 4, 1]), np.array([1, 12, 12, 8, 17, 9, 24, 21])
    target = eo.Point(0.0438, 0.1643)
    if side == "below":  # who changes yes for no, and up for down, has 1 - p for p
        scores, negatives, positives = -scores[::-1], positives[::-1], negatives[::-1]
        target = eo.Point(1 - target.tpr, 1 - target.fpr)
    joint = eo.JointDistribution.from_counts({"a": (scores, negatives, positives)})
    chosen = eo.fit(joint, target=target, curve="cubic").curves["a"]
    listed = eo.solutions(joint, target=target, curve="cubic", p=np.linspace(0.45, 0.55, 101)).paths["a"]
    slopes = [curve.lipschitz for curve in listed]
    assert slopes[50] > min(slopes) * (1 + 1e-3)  # p = 1/2
    assert min(slopes[0], slopes[-1]) > slopes[50]
    assert chosen.lipschitz <= min(slopes) * (1 + 1e-6)


def test_of_curves_that_randomize_as_few_people_the_gentlest_is_taken():
    """The stretch of p with the fewest people is narrow here, and the slope changes by percents along it."""
    rng = np.random.default_rng(20)
    scores = np.unique(rng.normal(size=160).round(3))
    chance = 1 / (1 + np.exp(-1.5 * scores))
    joint = eo.JointDistribution.from_counts({"a": (scores, 100 * (1 - chance), 100 * chance)})
    asked = {"target": (0.17687, 0.6132), "curve": "linear"}

    def people(curve):
        return int(((curve(scores) > 0) & (curve(scores) < 1)).sum())  # 100 of them have each score

    chosen = eo.fit(joint, criterion="fewest_randomized", **asked).curves["a"]
    listed = list(eo.solutions(joint, p=np.linspace(0.45, 0.55, 401), **asked).paths["a"])
    fewest = min(people(curve) for curve in listed)
    assert people(chosen) == fewest
    assert chosen.lipschitz <= min(curve.lipschitz for curve in listed if people(curve) == fewest) * (1 + 1e-3)


def test_negative_orientation_chooses_the_mirror_image():
    scores = np.arange(12.0)
    counts = {"a": (scores, 100 - 7 * scores, 10 + 8 * scores), "b": (scores, 80 - 6 * scores, 20 + 5 * scores)}
    mirrored = {key: (-s, n, p) for key, (s, n, p) in counts.items()}
    up, down = (
        eo.JointDistribution.from_counts(counts),
        eo.JointDistribution.from_counts(mirrored, orientation="negative"),
    )
    for options in [{"criterion": c, "curve": "cubic"} for c in CRITERIA] + [
        {"curve": "optimal"},
        {"keep_individual_odds": True},
    ]:
        one, two = eo.fit(up, **options), eo.fit(down, **options)
        for group in up.groups:
            assert two.curves[group](-scores) == pytest.approx(one.curves[group](scores), abs=1e-9)


@pytest.mark.parametrize("criterion", [c for c in CRITERIA if c != "smoothest"])
@pytest.mark.parametrize("target", [(0.3, 0.5), (0.4, 0.4), "baseline"])
def test_curves_without_a_choice_are_the_same_by_every_criterion(criterion, target):
    """Fixed randomisation, lotteries and thresholds have one curve each, whatever the criterion."""
    joint = eo.datasets.compas()
    plain = eo.fit(joint, target=target, curve="fixed")
    assert eo.fit(joint, target=target, curve="fixed", criterion=criterion).group_curves == plain.group_curves


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_group_with_a_hard_threshold_keeps_it(criterion):
    joint = eo.datasets.credit_risk()
    policy = eo.fit(joint, target="baseline", curve="cubic", criterion=criterion)
    assert policy.curves["hispanic"].is_threshold
    assert policy.certificate.residual <= 1e-12
    others = [policy.curves[group].lipschitz for group in ("asian", "black", "white")]
    assert np.isfinite(others).all()
    if criterion == "even_slopes":
        assert max(others) == pytest.approx(min(others), rel=1e-6)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_lotteries_have_nothing_to_choose(criterion):
    policy = eo.fit(eo.datasets.compas(), target=(0.4, 0.4), curve="cubic", criterion=criterion)
    assert all(curve.is_constant for curve in policy.curves.values())
