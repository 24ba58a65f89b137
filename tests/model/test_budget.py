"""Slope budgets, constraints and objectives against linear programs written on their own (tests/populations.py)."""

from __future__ import annotations

import numpy as np
import pytest

import evenodds as eo
from evenodds.geometry.hull import height
from evenodds.model.budget import best_under
from evenodds.model.families import family_of
from evenodds.model.goals import constraint_of, objective_of
from evenodds.model.reach import reach_of
from populations import PARITIES, best_accuracy, population
from strategies import alone

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")

CREDIT = {
    np.inf: 0.8396093,
    1: 0.8395962,
    0.5: 0.8394221,
    0.2: 0.8376064,
    0.1: 0.8341730,
    0.05: 0.8236691,
    0.03: 0.8015436,
}
COMPAS = {np.inf: 0.6366040, 1: 0.6366040, 0.5: 0.6350422, 0.3: 0.6308849}


@pytest.fixture(scope="module")
def credit():
    return eo.datasets.credit_risk()


@pytest.fixture(scope="module")
def compas():
    return eo.datasets.compas()


@pytest.mark.parametrize(
    ("name", "slope", "accuracy"),
    [("credit", *row) for row in CREDIT.items()] + [("compas", *row) for row in COMPAS.items()],
)
def test_the_figures_to_reach(name, slope, accuracy, request):
    joint = request.getfixturevalue(name)
    policy = eo.fit(joint, max_slope=slope)
    told = policy.certificate
    assert told.objective == pytest.approx(accuracy, abs=1e-7)
    assert told.residual <= 1e-12
    assert all(curve.lipschitz <= slope * (1 + 1e-9) for curve in policy.curves.values())
    assert told.objective_bound == pytest.approx(best_accuracy(joint, slope, "equalized_odds", 0), abs=1e-9)
    lo, hi = policy.score_range
    if all(lo <= curve.t0 and curve.t1 <= hi for curve in policy.curves.values()) and np.isfinite(slope):
        assert eo.metrics(policy, joint).individual_odds.holds
    if name == "credit" and slope >= 0.05:
        assert all(lo <= curve.t0 and curve.t1 <= hi for curve in policy.curves.values())


@pytest.mark.parametrize("slope", [1, 0.2, 0.1, 0.05, 0.03])
def test_keep_individual_odds(credit, slope):
    policy = eo.fit(credit, max_slope=slope, keep_individual_odds=True)
    assert eo.metrics(policy, credit).individual_odds.holds
    assert policy.certificate.residual <= 1e-12
    assert max(policy.certificate.slopes) <= slope * (1 + 1e-9)
    assert policy.certificate.objective == pytest.approx(CREDIT[slope], abs=1e-7)


@pytest.mark.parametrize("family", ["linear", "cubic"])
@pytest.mark.parametrize("middle", [8, 32])
def test_thresholds_that_must_stay_inside_cost_no_more_than_they_have_to(family, middle):
    """Without the promise the curve would begin below the lowest score, or end above the highest."""
    scores = np.arange(40.0)
    chance = 1 / (1 + np.exp(-(scores - middle) / 4))
    joint = eo.JointDistribution.from_counts({"a": (scores, 100 * (1 - chance), 100 * chance)})
    slope = float(family_of(family).unit_slope(0.5)) / 30
    free = eo.fit(joint, curve=family, max_slope=slope)
    assert not 0 <= free.curves["a"].t0 < free.curves["a"].t1 <= 39
    policy = eo.fit(joint, curve=family, max_slope=slope, keep_individual_odds=True)
    curve = policy.curves["a"]
    assert all(-1e-9 <= part.t0 < part.t1 <= 39 + 1e-9 for _, part in curve.parts or ((1.0, curve),))
    assert curve.lipschitz <= slope * (1 + 1e-9)
    every = np.stack([eo.Curve(family, start, start + 30, 0.5)(scores) for start in np.linspace(0, 9, 91)])
    best = (every @ chance + (1 - every) @ (1 - chance)).max() / 40
    assert best - 1e-9 <= policy.certificate.objective <= free.certificate.objective + 1e-9


def test_the_default_gives_up_at_most_half_a_point_for_the_least_slope(credit):
    """The least slope that allows it, by bisection against an independent linear program."""
    policy = eo.fit(credit)
    unlimited = best_accuracy(credit, np.inf, "equalized_odds", 0)
    assert unlimited == pytest.approx(0.8396093, abs=1e-7)
    assert unlimited - policy.certificate.objective <= 0.005 + 1e-9
    lo, hi = 0.05, 0.2
    while hi / lo > 1 + 1e-5:
        middle = np.sqrt(lo * hi)
        enough = best_accuracy(credit, middle, "equalized_odds", 0) >= unlimited - 0.005
        lo, hi = (lo, middle) if enough else (middle, hi)
    assert hi == pytest.approx(0.10622, rel=1e-4)
    assert max(policy.certificate.slopes) == pytest.approx(hi, rel=1e-4)
    assert policy == eo.fit(credit, max_loss=0.005)


def test_no_loss_is_the_unlimited_optimum(credit):
    assert eo.fit(credit, max_loss=0).certificate.objective == pytest.approx(0.8396093, abs=1e-7)
    assert eo.fit(credit, max_loss=0).certificate.loss == 0


@pytest.mark.parametrize("family", ["linear", "quadratic", "cubic", "quartic", "optimal"])
def test_every_family_keeps_to_its_budget(compas, family):
    policy = eo.fit(compas, curve=family, max_loss=0.004)
    told = policy.certificate
    assert told.loss == pytest.approx(0.004, abs=1e-6)
    assert told.residual <= (1e-9 if family == "optimal" else 1e-12)
    assert max(told.slopes) <= told.max_slope * (1 + (1e-6 if family == "optimal" else 1e-9))
    assert told.objective <= told.objective_bound + 1e-12
    for group, curve in policy.curves.items():
        assert curve.lipschitz >= told.slope_bound[group] * (1 - 1e-6)


CASES = [
    (seed, list(PARITIES)[seed % 4], [0.0, 0.0, 0.02, 0.1][seed // 4 % 4], [np.inf, 3.0, 0.7][seed // 2 % 3])
    for seed in range(24)
]


def _check(seed, constraint, tolerance, slope, families=("optimal", "linear")):
    joint = population(seed)
    best = best_accuracy(joint, slope, constraint, tolerance)
    for family in (*families, *(["fixed"] if np.isinf(slope) else [])):
        budget = {} if family == "fixed" else {"max_slope": slope}
        policy = eo.fit(joint, constraints=constraint, tolerance=tolerance, curve=family, **budget)
        told, measured = policy.certificate, eo.metrics(policy, joint)
        if family != "linear":
            assert told.objective == pytest.approx(best, abs=1e-9), family
        assert told.objective <= best + 1e-9
        assert told.objective_bound >= best - 1e-9
        assert best - told.objective <= told.gap + 1e-9
        apart = {
            "equalized_odds": measured.equalized_odds_difference,
            "demographic_parity": measured.demographic_parity_difference,
            "true_positive_rate_parity": measured.true_positive_rate_difference,
            "false_positive_rate_parity": measured.false_positive_rate_difference,
        }
        assert apart[constraint] <= tolerance + 1e-9
        assert max(told.slopes) <= slope * (1 + 1e-6)


@pytest.mark.parametrize(("seed", "constraint", "tolerance", "slope"), CASES)
def test_random_populations_against_the_linear_program(seed, constraint, tolerance, slope):
    _check(seed, constraint, tolerance, slope)


@pytest.mark.guarantee
@pytest.mark.parametrize("seed", range(200))
def test_guarantee_two_hundred_populations(seed):
    for constraint in PARITIES:
        for tolerance in (0.0, 0.05):
            _check(seed, constraint, tolerance, np.inf, families=("optimal",))


@pytest.mark.parametrize("slope", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("seed", range(6))
def test_the_blurred_roc_lies_between_what_it_bounds(seed, slope):
    """Below the linear program's region, which lies below the pooled one; no curve is traced from prefix sums alone."""
    for member in population(seed).members:
        x, y = reach_of(member, family_of("linear"), slope).upper
        assert (np.diff(x) >= 0).all()
        assert (np.diff(y) >= 0).all()
        above = alone(member).pooled.upper_bounds(slope)[0].polyline
        assert (height(*above, x + 1e-9) >= y - 1e-9).all()  # rounding moves vertical runs to either side
        smooth = reach_of(member, family_of("quartic"), slope).upper
        assert smooth[0][-1] == smooth[1][-1] == 1
        assert (height(*above, smooth[0] + 1e-9) >= smooth[1] - 1e-9).all()


def test_pooling_is_isotonic_regression():
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415

    for member in population(3).members:
        weight = member.negatives + member.positives
        fitted = IsotonicRegression().fit_transform(member.scores, member.positives / weight, sample_weight=weight)
        at = np.append(member.scores, np.inf)
        share, _ = alone(member).pooled.sums_below(at, np.array([0, at.size]))
        positives = np.diff(share[1]) * member.positive_total
        assert positives / weight == pytest.approx(fitted, abs=1e-9)
        assert np.diff(share[0]) * member.negative_total + positives == pytest.approx(weight, abs=1e-9)


@pytest.mark.parametrize(
    "objective",
    ["balanced_accuracy_score", "closest_to_perfect", eo.Cost(false_positive=5, false_negative=1)],
    ids=str,
)
def test_objectives_reach_the_linear_programs_optimum(credit, objective):
    values = {f: eo.fit(credit, objective=objective, curve=f, max_slope=0.1).certificate for f in ("linear", "optimal")}
    assert values["linear"].objective == pytest.approx(values["optimal"].objective, abs=1e-9)
    for told in values.values():
        assert told.gap <= 1e-9


@pytest.mark.parametrize("costs", [(0, 1), (1, 0), (1e9, 1), (1, 1e9)])
@pytest.mark.parametrize("family", ["fixed", "linear", "cubic", "optimal"])
def test_extreme_costs(credit, costs, family):
    policy = eo.fit(credit, objective=eo.Cost(*costs), curve=family)
    assert 0 <= policy.certificate.objective <= 1e-6


@pytest.mark.parametrize("objective", ["selection_rate", "true_positive_rate", "true_negative_rate"])
@pytest.mark.parametrize(
    "constraint", ["demographic_parity", "true_positive_rate_parity", "false_positive_rate_parity"]
)
def test_trivial_objectives_of_one_rate_get_their_trivial_answer(credit, objective, constraint):
    told = eo.fit(credit, objective=objective, constraints=constraint, max_loss=0).certificate
    assert told.objective == pytest.approx(1)


def test_aliases_and_complements_are_the_same_constraint(compas):
    same = [("demographic_parity", "selection_rate_parity")]
    same += [("true_positive_rate_parity", "false_negative_rate_parity")]
    same += [("false_positive_rate_parity", "true_negative_rate_parity")]
    for one, two in same:
        assert eo.fit(compas, constraints=one).group_curves == eo.fit(compas, constraints=two).group_curves


def _tiny(seed=0, groups=2):
    rng = np.random.default_rng(seed)
    return {f"g{g}": (rng.normal(size=2), [1, 0], [0, 1]) for g in range(groups)}


@pytest.mark.parametrize("family", ["fixed", "linear", "quadratic", "cubic", "quartic", "optimal"])
def test_odd_populations_get_an_answer_or_a_clear_error(family):
    shapes = {
        "two rows a group": _tiny(),
        "one group": {"a": (np.arange(20.0), np.arange(20.0)[::-1] + 1, np.arange(20.0) + 1)},
        "crossing rocs": {"a": ([1, 2, 3], [60, 38, 2], [55, 5, 40]), "b": ([1, 2, 3], [55, 25, 20], [2, 40, 58])},
        "one score for everybody": {"a": ([7], [5], [5]), "b": ([7], [3], [9])},
        "backwards": {"a": ([1, 2, 3], [20, 30, 50], [50, 30, 20]), "b": ([1, 2, 3], [50, 30, 20], [20, 30, 50])},
        "perfect": {"a": ([1, 2], [50, 0], [0, 50]), "b": ([1, 2], [40, 0], [0, 60])},
    }
    for name, counts in shapes.items():
        joint = eo.JointDistribution.from_counts(counts)
        policy = eo.fit(joint, curve=family)
        assert policy.certificate.residual <= 1e-9, name
        assert eo.metrics(policy, joint).equalized_odds_difference <= 1e-9, name
        assert policy.certificate.gap <= 1, name


def test_fifty_groups():
    rng = np.random.default_rng(5)
    counts = {}
    for g in range(50):
        scores = np.sort(rng.normal(size=60))
        chance = 1 / (1 + np.exp(-1.5 * scores))
        counts[f"g{g:02}"] = (scores, 100 * (1 - chance), 100 * chance)
    policy = eo.fit(eo.JointDistribution.from_counts(counts))
    assert policy.certificate.residual <= 1e-12
    assert len(policy.curves) == 50


@pytest.mark.parametrize(("rows", "bound_by"), [(12_000, "linear program"), (24_000, "pooled ROC")])
def test_large_tables_are_bounded_by_the_pooled_roc(rows, bound_by):
    rng = np.random.default_rng(6)
    score, label = rng.normal(size=rows), rng.random(rows)
    joint = eo.JointDistribution.from_arrays(score, rng.integers(0, 2, rows), label < 1 / (1 + np.exp(-2 * score)))
    told = eo.fit(joint).certificate
    assert told.bound_by == bound_by
    assert 0 <= told.gap < 0.02


def test_the_certificate_in_words(credit):
    told = str(eo.fit(credit, max_slope=0.1).certificate)
    assert "Asked: the same false and true positive rate in every group, fpr 0.270630 and tpr 0.878994" in told
    assert "no rising curves with slopes of at most 0.1 get above 0.834173" in told
    assert "To be expected of new people of the same kind, not proven" in told
    parity = str(eo.fit(credit, constraints="demographic_parity", tolerance=0.05).certificate)
    assert "the same selection rate in every group to within 0.05." in parity
    cost = str(eo.fit(credit, objective=eo.Cost(1, 2)).certificate)
    assert "get below" in cost


@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
@pytest.mark.parametrize("family", ["linear", "quadratic", "cubic", "quartic"])
@pytest.mark.parametrize("seed", [2, 13])
def test_budgets_so_steep_that_a_curve_fits_between_scores_cost_nothing(seed, family):
    """Such a curve traces the ROC itself, where positions that differ have the same false positive rate."""
    joint = population(seed)
    gap = min(np.diff(member.scores).min() for member in joint.members)
    steep = [2 / gap, 1e6 / gap, 1e15, 1e20]
    price = eo.frontier(joint, curve=family, max_slopes=[*steep, np.inf])
    assert price.losses == pytest.approx([0.0] * 5, abs=1e-12)
    told = eo.fit(joint, curve=family, max_slope=2e3 / gap).certificate
    assert told.objective == pytest.approx(price.objectives[-1], abs=1e-9)
    assert told.residual < 1e-9
    assert max(told.slopes) <= 2e3 / gap * (1 + 1e-9)
    assert len(eo.frontier(joint, curve=family).max_slopes) == 25


@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
@pytest.mark.parametrize("seed", [0, 4, 8])
def test_a_budget_also_has_what_gentler_ones_reach(seed):
    """On jagged data a wider ramp may reach more than the steepest one allowed, since it fills dents of the ROC."""
    joint = population(seed)
    constraint = constraint_of("equalized_odds", 0.0)
    goal = objective_of("accuracy_score", joint)
    linear = family_of("linear")
    for slope in (0.5, 2.0, 8.0):
        alone = goal.gain(best_under(joint, linear, slope, goal, constraint).points)
        gentler = goal.gain(best_under(joint, linear, 0.64 * slope, goal, constraint).points)
        told = eo.fit(joint, max_slope=slope).certificate
        assert told.objective >= max(alone, gentler) - 1e-9
        assert told.objective <= told.objective_bound + 1e-9
        assert max(told.slopes) <= slope * (1 + 1e-9)
        assert eo.frontier(joint, max_slopes=[slope]).objectives[0] == pytest.approx(told.objective, abs=1e-9)
