"""Small groups have ROCs full of dents, and a fit must bridge them: what it reaches, from below and from above.

The figures of `jagged_optima.csv` come from an independent linear program, all others from tests/oracles.py.
"""

from __future__ import annotations

import csv
import itertools
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import evenodds as eo
from evenodds.model.families import family_of
from evenodds.model.reach import reaches_inside
from oracles import (
    blurred_points,
    hull,
    hull_height,
    hull_optimum,
    largest_slopes,
    lp_optimum,
    measured,
    roc_points,
    single_curve_misses,
    small_population,
    unit_odds,
)
from populations import PARITIES, best_accuracy

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")

FAMILIES = ("fixed", "linear", "quadratic", "cubic", "quartic", "optimal")
CONTINUOUS = FAMILIES[1:5]
TOLERANCES = (0.0, 0.01, 0.05, 0.2)


def _table():
    with Path(__file__).parents[1].joinpath("data", "jagged_optima.csv").open(encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [{name: float(value) for name, value in row.items()} for row in rows]


ROWS = _table()
SOME = [row for row in ROWS if row["seed"] in (3, 6, 9, 12, 14)]  # every number of groups, tolerance and budget


@cache
def jagged(seed: int) -> eo.JointDistribution:
    """One group of 4,000 people and one to four of 120."""
    count = [2, 3, 4, 5][seed % 4]
    rng = np.random.default_rng(seed)
    sizes = [4000] + [120] * (count - 1)
    group = np.repeat([f"g{i}" for i in range(count)], sizes)
    label = rng.random(group.size) < 0.25
    raw = rng.normal(0, 1, group.size) + 1.8 * label - 1.5 + 0.3 * (group == "g1")
    return eo.JointDistribution.from_arrays(np.round(1 / (1 + np.exp(-raw)), 3), group, label)


def keeps_its_promises(policy, joint, *, slope=math.inf, constraint="equalized_odds", tolerance=0.0):
    """Recompute from the rows what a policy promises, and return its accuracy."""
    found = measured(policy, joint)
    assert found.accuracy == pytest.approx(policy.certificate.objective, abs=1e-9)
    assert found.apart(constraint) <= tolerance + 1e-9
    for odds in found.odds:
        assert odds.min() >= 0
        assert odds.max() <= 1
        assert np.diff(odds).min(initial=0) >= -1e-15
    if math.isfinite(slope):
        assert largest_slopes(policy, joint).max() <= slope * (1 + 1e-9)
    return found.accuracy


def _check_row(row):
    joint, slope, tolerance = jagged(int(row["seed"])), row["max_slope"], row["tolerance"]
    assert len(joint.groups) == row["groups"]
    for family in ("linear", "optimal"):
        policy = eo.fit(joint, curve=family, max_slope=slope, tolerance=tolerance)
        reached = keeps_its_promises(policy, joint, slope=slope, tolerance=tolerance)
        assert reached <= row["accuracy_lp"] + 1e-9, family
        least = row["accuracy_hull"] if family == "linear" else row["accuracy_lp"]
        assert reached >= least - 1e-7, family


def _name(row):
    return f"seed {row['seed']:g}, tolerance {row['tolerance']:g}, slope {row['max_slope']:g}"


@pytest.mark.parametrize("row", SOME, ids=_name)
def test_mixes_of_two_curves_reach_the_hull(row):
    _check_row(row)


@pytest.mark.guarantee
@pytest.mark.parametrize("row", [row for row in ROWS if row not in SOME], ids=_name)
def test_guarantee_mixes_of_two_curves_reach_the_hull(row):
    _check_row(row)


@pytest.mark.parametrize("seed", range(4))
def test_the_oracles_agree(seed):
    """Two programs in other columns have one optimum, and no mix of ramps gets above it."""
    joint = small_population(seed)
    constraint, tolerance = list(PARITIES)[seed], TOLERANCES[seed]
    for slope in (0.5, 3.0, math.inf):
        best = best_accuracy(joint, slope, constraint, tolerance)
        assert lp_optimum(joint, slope, constraint, tolerance) == pytest.approx(best, abs=1e-10)
        assert hull_optimum(joint, slope, constraint, tolerance) <= best + 1e-10


# -- no budget: every family has one optimum, the linear program's -----------------------------------------------------


def _check_unlimited(seed, constraint, tolerance, families=FAMILIES):
    joint = small_population(seed)
    best = best_accuracy(joint, math.inf, constraint, tolerance)
    assert hull_optimum(joint, math.inf, constraint, tolerance) == pytest.approx(best, abs=1e-9)
    for family in families:
        budget = {} if family == "fixed" else {"max_slope": math.inf}
        policy = eo.fit(joint, constraints=constraint, tolerance=tolerance, curve=family, **budget)
        assert policy.certificate.objective == pytest.approx(best, abs=1e-9), family
        assert policy.certificate.objective_bound >= best - 1e-9
        reached = keeps_its_promises(policy, joint, constraint=constraint, tolerance=tolerance)
        assert reached == pytest.approx(best, abs=1e-9), family


@pytest.mark.parametrize(
    ("seed", "constraint", "tolerance"),
    [(seed, *case) for seed, case in enumerate(itertools.product(PARITIES, TOLERANCES))],
)
def test_without_a_budget_every_family_reaches_the_linear_programs_optimum(seed, constraint, tolerance):
    _check_unlimited(seed, constraint, tolerance, ("fixed", CONTINUOUS[seed % 5 % 4], "optimal"))


@pytest.mark.guarantee
@pytest.mark.parametrize("seed", range(300))
def test_guarantee_without_a_budget_every_family_reaches_the_linear_programs_optimum(seed):
    for i, (constraint, tolerance) in enumerate(itertools.product(PARITIES, TOLERANCES)):
        _check_unlimited(seed, constraint, tolerance, FAMILIES[(seed + i) % 2 :: 2])  # each family 150 times


@pytest.mark.parametrize("family", FAMILIES)
def test_no_loss_is_no_budget(family):
    joint = small_population(1)
    best = best_accuracy(joint, math.inf, "equalized_odds", 0.05)
    policy = eo.fit(joint, curve=family, max_loss=0, tolerance=0.05)
    assert keeps_its_promises(policy, joint, tolerance=0.05) == pytest.approx(best, abs=1e-9)
    assert policy.certificate.loss <= 1e-9


# -- budgets -----------------------------------------------------------------------------------------------------------


def _check_default(seed, families=("linear",)):
    """Half a point is measured from what anybody can do without a budget."""
    joint = small_population(seed)
    constraint, tolerance = list(PARITIES)[seed % 4], TOLERANCES[seed // 4 % 4]
    asked = {"constraints": constraint, "tolerance": tolerance}
    fixed = eo.fit(joint, curve="fixed", **asked).certificate.objective
    assert fixed == pytest.approx(hull_optimum(joint, math.inf, constraint, tolerance), abs=1e-9)
    for family in families:
        policy = eo.fit(joint, curve=family, **asked)
        slope = policy.certificate.max_slope
        reached = keeps_its_promises(policy, joint, slope=slope, constraint=constraint, tolerance=tolerance)
        assert fixed - 0.005 - 1e-9 <= reached <= fixed + 1e-9, family
        assert policy.certificate.loss == pytest.approx(max(0.0, fixed - reached), abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_default_gives_up_at_most_half_a_point(seed):
    _check_default(seed)


@pytest.mark.guarantee
@pytest.mark.parametrize("seed", range(300))
def test_guarantee_the_default_gives_up_at_most_half_a_point(seed):
    _check_default(seed, families=(*CONTINUOUS, "optimal"))


def _check_budgets(seed, slopes, families):
    joint = small_population(seed)
    constraint, tolerance = list(PARITIES)[seed % 4], TOLERANCES[seed // 4 % 4]
    asked = {"constraints": constraint, "tolerance": tolerance}
    for family in families:
        price = eo.frontier(joint, curve=family, max_slopes=slopes, **asked).objectives
        assert np.diff(price).min(initial=0) >= -1e-9, f"{family}: a larger budget has less"
        for slope, told in zip(slopes, price, strict=True):
            best = lp_optimum(joint, slope, constraint, tolerance)
            least = best if family == "optimal" else hull_optimum(joint, slope, constraint, tolerance, family=family)
            policy = eo.fit(joint, curve=family, max_slope=slope, **asked)
            reached = keeps_its_promises(policy, joint, slope=slope, constraint=constraint, tolerance=tolerance)
            assert least - 1e-7 <= reached <= best + 1e-9, (family, slope)
            assert least - 1e-7 <= told <= best + 1e-9, (family, slope)
            assert policy.certificate.objective_bound >= best - 1e-9


@pytest.mark.parametrize("seed", range(16))
def test_a_budget_is_used_up_to_the_hull(seed):
    _check_budgets(seed, [0.3, 1.0, 4.0], ("linear", "optimal"))


@pytest.mark.parametrize(
    ("seed", "slope", "family"),
    [
        (6, 1.0, "quadratic"),
        (13, 1.0, "quadratic"),
        (28, 4.0, "quadratic"),
        (10, 0.3, "cubic"),
        (45, 4.0, "cubic"),
        (42, 4.0, "quartic"),
    ],
)
def test_smooth_families_reach_their_hulls_too(seed, slope, family):
    """Looking at some places only, one may miss a corner of a small group's hull, and 4e-3 of its TPR with it."""
    _check_budgets(seed, [slope], (family,))


@pytest.mark.guarantee
@pytest.mark.parametrize("seed", range(300))
def test_guarantee_a_budget_is_used_up_to_the_hull(seed):
    _check_budgets(seed, [0.1, 0.3, 0.6, 1.0, 1.7, 3.0, 10.0, 100.0], ("linear", "optimal"))


def test_two_curves_at_one_place_do_not_hide_the_arc_beside_them():
    _check_budgets(72, [0.3], ["quartic"])


@pytest.mark.guarantee
@pytest.mark.parametrize("seed", range(100))
def test_guarantee_smooth_families_reach_their_hulls_too(seed):
    _check_budgets(seed, [0.3, 1.0, 4.0], CONTINUOUS[1:])


def _check_frontier(seed, families, slopes, constraints):
    joint = small_population(seed)
    for family, constraint in itertools.product(families, constraints):
        price = eo.frontier(joint, curve=family, constraints=constraint, max_slopes=[*slopes, math.inf]).objectives
        assert np.diff(price).min() >= -1e-9, (family, constraint)


@pytest.mark.parametrize("seed", range(4))
def test_what_a_frontier_reaches_never_falls(seed):
    _check_frontier(seed, ("linear", "cubic"), [0.3, 1.0, 1.5, 8.0], list(PARITIES)[seed : seed + 1])


@pytest.mark.guarantee
@pytest.mark.parametrize("seed", range(40))
def test_guarantee_what_a_frontier_reaches_never_falls(seed):
    _check_frontier(seed, (*CONTINUOUS, "optimal"), np.geomspace(0.05, 50, 13), [list(PARITIES)[seed % 4]])


# -- points inside dents -----------------------------------------------------------------------------------------------

# Scores 1, 2, ...; negatives, positives. The dent's place is where the hull has the edge that bridges it.
DENTS = {
    "at (0, 0)": ([30, 20, 10, 5, 5, 30], [5, 10, 20, 30, 34, 1]),
    "at (1, 1)": ([1, 34, 30, 20, 10, 5], [30, 5, 5, 10, 20, 30]),
    "at both ends": ([2, 73, 5, 20], [35, 15, 48, 2]),
    "in the middle": ([30, 5, 30, 5], [5, 30, 5, 30]),
    "of nothing but right angles": ([0, 70, 0, 30], [40, 0, 60, 0]),
}


def _dented(name, scale=1.0, at=0.0):
    negatives, positives = DENTS[name]
    scores = at + scale * np.arange(1.0, len(negatives) + 1)
    return eo.JointDistribution.from_counts({"a": (scores, negatives, positives)})


def _places(points, how_deep):
    """Points above a polyline (and the diagonal), below its hull: in each dent in the middle, and near either end."""
    line = points[np.lexsort((points[:, 1], points[:, 0]))]
    corners = hull(points)
    for (x0, y0), (x1, y1) in itertools.pairwise(corners):
        for along in (0.02, 0.5, 0.98):
            fpr = x0 + along * (x1 - x0)
            top, bottom = y0 + along * (y1 - y0), max(fpr, float(np.interp(fpr, *line.T)))
            if top - bottom > 1e-3:
                yield from ((float(fpr), float(bottom + deep * (top - bottom))) for deep in how_deep)


def _meets(policy, joint, target, slope=math.inf):
    points = measured(policy, joint).points
    assert np.abs(points - target).max() <= 1e-9
    assert policy.certificate.residual <= 1e-9
    keeps_its_promises(policy, joint, slope=slope)


def _is_of_its_family(policy, joint, family):
    """A curve is one of its family, or a mix of two of them: never something else that happens to meet the point."""
    for member in joint.members:
        curve, scores = policy.curves[member.key], member.scores
        parts = curve.parts or ((1.0, curve),)
        assert len(parts) <= 2
        assert sum(share for share, _ in parts) == pytest.approx(1, abs=1e-12)
        assert min(share for share, _ in parts) > 0
        mixed = np.zeros(scores.size)
        for share, part in parts:
            assert part.family == family
            assert curve is part or not part.parts
            if part.is_constant:
                mixed += share * part.p
            elif part.is_threshold:
                mixed += share * (scores >= part.t0)
            else:
                mixed += share * unit_odds(family, (scores - part.t0) / (part.t1 - part.t0), np.array(part.p))
        assert curve(scores) == pytest.approx(mixed, abs=1e-9)


@pytest.mark.parametrize("name", DENTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_a_point_in_a_dent_is_met(family, name):
    joint = _dented(name)
    targets = list(_places(roc_points(joint.members[0]), (0.8,)))
    assert targets
    for target in targets:
        policy = eo.fit(joint, target=target, curve=family)
        _meets(policy, joint, target)
        if family in CONTINUOUS:
            _is_of_its_family(policy, joint, family)


@pytest.mark.parametrize("name", DENTS)
@pytest.mark.parametrize("family", CONTINUOUS)
def test_deep_in_a_dent_only_a_mix_will_do(family, name):
    joint = _dented(name)
    (member,) = joint.members
    tried = 0
    for slope in (math.inf, 1.5):
        for target in _places(blurred_points(member, slope, family), (0.95,)):
            if single_curve_misses(member, family, target, slope) > 0.02:  # far more than its grid may miss itself
                tried += 1
                policy = eo.fit(joint, target=target, curve=family, max_slope=slope)
                _meets(policy, joint, target, slope)
                assert len(policy.curves["a"].parts) == 2
    assert tried


@pytest.mark.parametrize("name", DENTS)
@pytest.mark.parametrize("family", CONTINUOUS)
def test_a_point_in_a_dent_is_met_within_a_budget(family, name):
    _check_dents_within(family, name, slopes=(0.7, 2.0), how_deep=(0.8,))


@pytest.mark.guarantee
@pytest.mark.parametrize("name", DENTS)
@pytest.mark.parametrize("family", CONTINUOUS)
def test_guarantee_a_point_in_a_dent_is_met_within_a_budget(family, name):
    _check_dents_within(family, name, slopes=(0.5, 0.7, 1.0, 1.5, 3.0, 6.0), how_deep=(0.02, 0.5, 0.95, 0.999))


def _check_dents_within(family, name, slopes, how_deep):
    joint = _dented(name)
    tried = 0
    for slope in slopes:
        for target in _places(blurred_points(joint.members[0], slope, family), how_deep):
            tried += 1
            policy = eo.fit(joint, target=target, curve=family, max_slope=slope)
            _meets(policy, joint, target, slope)
            _is_of_its_family(policy, joint, family)
    assert tried


@pytest.mark.parametrize("family", ["linear", "cubic"])
@pytest.mark.parametrize(("scale", "at"), [(1e-6, 0.0), (1e6, 0.0), (1.0, -1e6)])
def test_a_point_in_a_dent_is_met_on_every_scale(family, scale, at):
    joint = _dented("at both ends", scale, at)
    for target in _places(roc_points(joint.members[0]), (0.9,)):
        _meets(eo.fit(joint, target=target, curve=family), joint, target)
    for target in _places(blurred_points(joint.members[0], 1.5 / scale, family), (0.7,)):
        policy = eo.fit(joint, target=target, curve=family, max_slope=1.5 / scale)
        _meets(policy, joint, target, 1.5 / scale)


@pytest.mark.parametrize("family", CONTINUOUS)
def test_a_point_in_a_dent_is_met_by_mirrored_scores(family):
    up = _dented("at (0, 0)")
    (member,) = up.members
    counts = {"a": (-member.scores, member.negatives, member.positives)}
    down = eo.JointDistribution.from_counts(counts, orientation="negative")
    for target in _places(roc_points(member), (0.7,)):
        one, two = (eo.fit(joint, target=target, curve=family) for joint in (up, down))
        _meets(two, down, target)
        assert two.curves["a"](-member.scores) == pytest.approx(one.curves["a"](member.scores), abs=1e-9)


@pytest.mark.parametrize("family", CONTINUOUS)
def test_groups_with_and_without_a_dent_meet_in_it(family):
    smooth = np.arange(1.0, 21.0)
    chance = 1 / (1 + np.exp(-(smooth - 10) / 2))
    joint = eo.JointDistribution.from_counts(
        {"a": (np.arange(1.0, 7.0), *DENTS["at (0, 0)"]), "b": (smooth, 100 * (1 - chance), 100 * chance)}
    )
    for target in _places(roc_points(joint.members[0]), (0.7,)):
        policy = eo.fit(joint, target=target, curve=family)
        _meets(policy, joint, target)
        assert not policy.curves["b"].parts  # one curve does
        _is_of_its_family(policy, joint, family)


@pytest.mark.parametrize("family", CONTINUOUS)
@pytest.mark.parametrize("name", DENTS)
def test_what_a_single_curve_meets_is_not_mixed(family, name):
    """Every point on the ROC polyline or between it and the diagonal is met by one curve."""
    joint = _dented(name)
    line = roc_points(joint.members[0])
    for fpr in (0.03, 0.2, 0.5, 0.8, 0.97):
        top = float(np.interp(fpr, *line.T))
        for share in (0.3, 0.9):
            target = (fpr, fpr + share * (top - fpr))
            if top - fpr > 1e-3:
                policy = eo.fit(joint, target=target, curve=family)
                _meets(policy, joint, target)
                assert not policy.curves["a"].parts


def test_beyond_the_hull_nobody_gets():
    joint = _dented("at both ends")
    corners = roc_points(joint.members[0])
    for fpr in (0.1, 0.5, 0.9):
        target = (fpr, hull_height(corners, fpr) + 1e-6)
        for family in FAMILIES:
            with pytest.raises(eo.UnreachableError):
                eo.fit(joint, target=target, curve=family)


@pytest.mark.parametrize("family", CONTINUOUS)
@pytest.mark.parametrize("slope", [math.inf, 1.5])
def test_a_mix_keeps_its_thresholds_inside_the_scores(family, slope):
    joint = _dented("in the middle")
    (member,) = joint.members
    target = (0.32, 0.62)
    assert single_curve_misses(member, family, target, slope) > 0.02
    policy = eo.fit(joint, target=target, curve=family, max_slope=slope, keep_individual_odds=True)
    _meets(policy, joint, target, slope)
    _is_of_its_family(policy, joint, family)
    curve = policy.curves["a"]
    assert len(curve.parts) == 2
    assert all(1 - 1e-9 <= part.t0 < part.t1 <= 4 + 1e-9 for _, part in curve.parts)


@pytest.mark.parametrize("orientation", ["positive", "negative"])
def test_an_optimal_curve_that_would_have_to_be_steeper_is_refused(orientation):
    """Odds that are cut down to the budget no longer meet the point."""
    negatives, positives = DENTS["in the middle"]
    sign = 1 if orientation == "positive" else -1
    counts = {"a": (sign * np.arange(1.0, 5.0), negatives, positives)}
    joint = eo.JointDistribution.from_counts(counts, orientation=orientation)
    asked = {"target": (0.32, 0.62), "curve": "optimal"}
    (least,) = eo.fit(joint, **asked).certificate.slopes
    assert eo.fit(joint, max_slope=1.001 * least, **asked).certificate.residual <= 1e-9
    with pytest.raises(eo.UnreachableError, match="Group 'a' was not found to reach"):
        eo.fit(joint, max_slope=0.9 * least, **asked)


def test_a_range_in_which_a_single_curve_fits_has_one_point():
    """All curves of the reach do the same: its border is a point, and both ends of its edge are that curve."""
    counts = {"a": (np.arange(5.0), [5, 4, 3, 2, 1], [1, 2, 3, 4, 5])}
    joint = eo.JointDistribution.from_counts(counts)
    (reach,) = reaches_inside(joint.members, joint.stack, family_of("linear"), 0.25, (0.0, 4.0))
    point = eo.Point(*(float(rate) for rate in joint.members[0].class_conditional @ (np.arange(5) / 4)))
    assert reach.shortfall(point) == pytest.approx(0, abs=1e-12)
    assert {(placed.t0, placed.t1) for _, placed in reach.edge(point)} == {(0.0, 4.0)}
    assert eo.fit(joint, max_slope=0.25, keep_individual_odds=True).curves["a"].t1 == pytest.approx(4.0)
