"""People add up, and a policy is updated to new ones with little change."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import evenodds as eo
from oracles import small_population
from strategies import joints


def tilted(joint, by=1.2):
    """The same table with more people at every second of all groups' scores."""
    every = np.unique(np.concatenate([member.scores for member in joint.members]))
    more = set(every[::2].tolist())
    table = {}
    for member in joint.members:
        times = np.where([score in more for score in member.scores.tolist()], by, 1.0)
        table[member.key] = (joint.scale.own(member.scores), member.negatives * times, member.positives * times)
    return eo.JointDistribution.from_counts(table, orientation=joint.orientation)


FIGURES = [
    (eo.datasets.compas, 0.3, 0.0083102, 0.0463856, 0.0074588),
    (eo.datasets.credit_risk, 0.1, 0.0010875, 0.0132266, 0.0008548),
]


@pytest.mark.parametrize(("made", "slope", "before", "bound", "least"), FIGURES)
def test_the_least_change_of_the_two_tables(made, slope, before, bound, least):
    old = made()
    policy, new = eo.fit(old, max_slope=slope), tilted(old)
    change = eo.update(policy, new, max_change=0.05).certificate.change
    assert change.before == pytest.approx(before, abs=1e-6)
    assert change.least == pytest.approx(least, abs=1e-6)
    assert not change.is_warranted
    assert eo.audit(policy, new, reference=old).drift_bound == pytest.approx(bound, abs=1e-6)
    with pytest.raises(
        eo.UnreachableError, match=r"No change of odds by up to max_change=0.0001 keeps the promise .* is"
    ):
        eo.update(policy, new, max_change=0.0001)


def program(policy, joint, slope, change=None):
    """The least change, or the best accuracy within one: over thresholds with steps of their own, by scipy alone."""
    blocks, start, columns = [], 0, []
    for member, curve in zip(joint.members, policy.group_curves, strict=True):
        knots = [t for t in (curve.t0, curve.t1) if np.isfinite(t)]
        at = np.unique(np.concatenate([member.scores, knots]))
        held = [
            np.bincount(np.searchsorted(at, member.scores), w, minlength=at.size)
            for w in (member.negatives, member.positives)
        ]
        # Odds are a step at each node, the first of any height, the others of at most slope * gap.
        blocks.append((at, np.tril(np.ones((at.size, at.size))), np.append(1.0, slope * np.diff(at)), curve(at), held))
        columns.append(np.arange(start, start + at.size))
        start += at.size
    size = start + 3  # and the shared rates, and the change
    upper, right, equal = [], [], []
    cost = np.zeros(size)
    for own, (_, sums, _, old, held) in zip(columns, blocks, strict=True):
        for sign in (1.0, -1.0):
            rows = np.zeros((old.size, size))
            rows[:, own], rows[:, -1] = sign * sums, -1.0
            upper.append(rows)
            right.append(sign * old)
        rows = np.zeros((1, size))
        rows[:, own] = 1.0
        upper.append(rows)
        right.append(np.ones(1))
        for k, weights in enumerate(held):
            row = np.zeros(size)
            row[own], row[start + k] = weights @ sums / weights.sum(), -1.0
            equal.append(row)
        cost[own] = (held[0] - held[1]) @ sums / joint.total
    bounds = [(0.0, cap) for _, _, caps, _, _ in blocks for cap in caps] + [
        (0, 1),
        (0, 1),
        (0, 1 if change is None else change),
    ]
    if change is None:
        cost = np.append(np.zeros(size - 1), 1.0)
    found = linprog(cost, np.vstack(upper), np.concatenate(right), np.array(equal), np.zeros(len(equal)), bounds)
    assert found.status == 0
    negatives = sum(member.negative_total for member in joint.members)
    return found.fun if change is None else negatives / joint.total - found.fun


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_it_is_the_linear_programs_optimum_from_both_sides(seed):
    old, new = (eo.JointDistribution.from_arrays(*people(seed + 100 * k)) for k in range(2))
    policy = eo.fit(old, max_slope=0.8)
    least = program(policy, new, 0.8)
    allowed = least + 0.03
    updated = eo.update(policy, new, max_change=allowed)
    assert updated.certificate.change.least == pytest.approx(least, abs=1e-7)
    assert updated.certificate.objective == pytest.approx(program(policy, new, 0.8, allowed), abs=1e-6)
    assert updated.certificate.difference < 1e-8
    assert max(updated.certificate.slopes) <= 0.8 * (1 + 1e-6)


def people(seed, n=400):
    rng = np.random.default_rng(seed)
    group, label = rng.choice(list("abc"), n), rng.random(n) < 0.4
    return np.round(rng.normal(2 * label * (1 + 0.4 * (group == "b")), 1), 1), group, label


@given(st.data(), st.sampled_from(["linear", "quadratic", "cubic", "quartic", "optimal"]), st.floats(0.01, 0.5))
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_nobodys_odds_change_by_more_at_any_score(data, curve, allowed):
    old = data.draw(joints(min_groups=2))
    policy = eo.fit(old, curve=curve, max_slope=0.5)
    try:
        updated = eo.update(policy, tilted(old), max_change=allowed)
    except eo.UnreachableError:
        return
    lo, hi = policy.score_range
    at = np.linspace(lo - 3, hi + 3, 4001)
    for key in policy.groups:
        odds = updated.curves[key](at)
        assert (np.diff(odds) >= 0).all()
        assert np.abs(odds - policy.curves[key](at)).max() <= allowed + 1e-12
    assert updated.certificate.change.most <= allowed
    assert updated.certificate.difference < 1e-8


@pytest.mark.parametrize(
    "options",
    [
        {"constraints": "demographic_parity", "tolerance": 0.03},
        {"constraints": "true_positive_rate_parity"},
        {"tolerance": 0.05},
        {"objective": "closest_to_perfect"},
        {"objective": eo.Cost(5, 1)},
        {"objective": "balanced_accuracy_score", "max_loss": 0.02},
        {"target": (0.2, 0.5), "curve": "cubic"},
    ],
)
def test_what_was_promised_is_asked_of_the_new_people(options):
    old = eo.datasets.credit_risk()
    policy = eo.fit(old, **options)
    updated = eo.update(policy, tilted(old), max_change=0.03)
    certificate = updated.certificate
    assert certificate.difference <= options.get("tolerance", 0.0) + 1e-8
    assert certificate.constraints == policy.certificate.constraints
    assert certificate.costs == policy.certificate.costs
    assert certificate.objective_name == policy.certificate.objective_name
    assert certificate.change.previous == policy.document["fingerprint"]
    again = eo.update(updated, old, max_change=0.03)  # an update is a policy like any other
    assert again.certificate.difference <= options.get("tolerance", 0.0) + 1e-8


def test_scores_that_speak_against_a_yes_and_a_file(tmp_path):
    score, group, label = people(3, 1500)
    joints_ = [
        eo.JointDistribution.from_arrays(sign * score, group, label, orientation=orientation)
        for sign, orientation in ((1, "positive"), (-1, "negative"))
    ]
    up, down = (eo.update(eo.fit(j, max_slope=0.6), tilted(j), max_change=0.04) for j in joints_)
    assert down.certificate.objective == pytest.approx(up.certificate.objective, abs=1e-9)
    assert down.odds(-score, group) == pytest.approx(up.odds(score, group), abs=0.08)
    down.save(tmp_path / "policy.json")
    assert eo.Policy.load(tmp_path / "policy.json") == down
    assert "Updated: nobody's odds differ by more than 0.04" in str(down)


@pytest.mark.parametrize("sentinel", [-999.0, -1e6, -1e9, 1e9])
def test_a_sentinel_far_away_hides_no_change(sentinel):
    rng = np.random.default_rng(0)

    def drawn():
        group, label = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
        score = rng.normal(label, 1)
        score[rng.random(400) < 0.05] = sentinel
        return eo.JointDistribution.from_arrays(score, group, label)

    one, two = drawn(), drawn()
    policy = eo.fit(one, tolerance=0.02)
    updated = eo.update(policy, two, max_change=0.3)
    at = np.linspace(-4, 5, 20_001)
    for key in policy.groups:
        assert np.abs(updated.curves[key](at) - policy.curves[key](at)).max() <= 0.3
    assert updated.certificate.change.most <= 0.3
    assert updated.certificate.difference <= 0.02 + 1e-9


def test_many_scores_are_no_trouble():
    def drawn(seed):
        rng = np.random.default_rng(seed)
        group, label = rng.choice(list("abc"), 30_000, p=[0.8, 0.15, 0.05]), rng.random(30_000) < 0.3
        return eo.JointDistribution.from_arrays(1 / (1 + np.exp(-rng.normal(2 * label - 1, 1))), group, label)

    one, two = drawn(0), drawn(1)
    policy = eo.fit(one)
    updated = eo.update(policy, one + two, max_change=0.1)
    at = np.linspace(0, 1, 20_001)
    for key in policy.groups:
        assert np.abs(updated.curves[key](at) - policy.curves[key](at)).max() <= 0.1 + 1e-12
    assert updated.certificate.difference < 1e-8
    assert max(updated.certificate.slopes) <= policy.certificate.max_slope * (1 + 1e-6)


def test_a_reason_to_change_is_told():
    old = eo.JointDistribution.from_arrays(*people(4, 6000))
    score, group, label = people(5, 6000)
    moved = eo.JointDistribution.from_arrays(score + 1.0 * (group == "a"), group, label)
    change = eo.update(eo.fit(old, max_slope=0.8), moved, max_change=0.6).certificate.change
    assert change.is_warranted
    assert "there was a reason to change" in str(change)


@pytest.mark.parametrize(
    ("policy", "joint", "change", "error", "text"),
    [
        ("fixed", "same", 0.1, eo.OptionError, "The policy's odds jump"),
        ("credit", "compas", 0.1, eo.UnknownGroupError, "does not know the groups 'African-American, Female'"),
        ("credit", "fewer", 0.1, eo.UnknownGroupError, "not among the people: 'asian'"),
        ("credit", "turned", 0.1, eo.DataError, "orientation"),
        ("credit", "same", 0, eo.OptionError, "max_change=0 is not allowed. Allowed: a number above 0, up to 1"),
        ("credit", "same", "much", eo.OptionError, "max_change='much' is not allowed"),
        ("credit", None, 0.1, eo.OptionError, "second argument must be a JointDistribution"),
        (3, "same", 0.1, eo.OptionError, "first argument must be a Policy"),
    ],
)
def test_what_cannot_be_updated(policy, joint, change, error, text):
    credit = eo.datasets.credit_risk()
    counts = {m.key: (m.scores, m.negatives, m.positives) for m in credit.members}
    policies = {"credit": eo.fit(credit), "fixed": eo.fit(credit, curve="fixed")}
    people_of = {
        "same": lambda: credit,
        "compas": eo.datasets.compas,
        "fewer": lambda: eo.JointDistribution.from_counts({k: v for k, v in counts.items() if k != "asian"}),
        "turned": lambda: eo.JointDistribution.from_counts(counts, orientation="negative"),
    }
    with pytest.raises(error, match=text):
        eo.update(policies.get(policy, policy), people_of.get(joint, lambda: joint)(), max_change=change)


# -- people add up -----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
@pytest.mark.parametrize("weights", [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("kind", ["float", "tied"])
@pytest.mark.parametrize("orientation", ["positive", "negative"])
def test_two_tables_are_the_table_of_all_their_people(weights, kind, orientation):
    rng = np.random.default_rng(0)
    parts = []
    for groups, weighted in zip(("ab", "bc"), weights, strict=True):
        n = 500
        score = rng.normal(0, 1, n) if kind == "float" else rng.integers(0, 9, n).astype(float)
        parts.append(
            (
                score,
                rng.choice(list(groups), n),
                rng.integers(0, 2, n),
                rng.uniform(0.5, 2, n) if weighted else np.ones(n),
            )
        )
    made = [
        eo.JointDistribution.from_arrays(s, g, y, weight=w if weighted else None, orientation=orientation)
        for (s, g, y, w), weighted in zip(parts, weights, strict=True)
    ]
    s, g, y, w = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    whole = eo.JointDistribution.from_arrays(s, g, y, weight=w if any(weights) else None, orientation=orientation)
    both = made[0] + made[1]
    assert both.groups == whole.groups == ("a", "b", "c")
    assert both.is_counted == whole.is_counted
    for one, other in zip(both.members, whole.members, strict=True):
        assert np.array_equal(one.scores, other.scores)
        assert one.negatives == pytest.approx(other.negatives)
        assert one.n_effective == pytest.approx(other.n_effective)
    assert eo.fit(both).certificate.objective == pytest.approx(eo.fit(whole).certificate.objective, abs=1e-9)
    if not any(weights):  # sums of weights depend on the order in their last bit
        assert (made[1] + made[0]).fingerprint == both.fingerprint == whole.fingerprint


def test_groups_without_a_label_may_find_it_in_the_other_table():
    one = eo.JointDistribution.from_arrays([1, 2, 3, 4], list("aabb"), [0, 1, 1, 1], one_sided="keep")
    two = eo.JointDistribution.from_arrays([1, 2, 3], list("aab"), [0, 1, 0], one_sided="keep")
    assert (one + two).groups == ("a", "b")
    assert (one + one).one_sided[0].key == "b"


def test_what_does_not_add_up():
    credit = eo.datasets.credit_risk()
    counts = {m.key: (m.scores, m.negatives, m.positives) for m in credit.members}
    with pytest.raises(eo.DataError, match="positive and of negative orientation"):
        _ = credit + eo.JointDistribution.from_counts(counts, orientation="negative")
    with pytest.raises(eo.OptionError, match="What is added must be a JointDistribution, got int"):
        _ = credit + 1


def test_a_policy_that_leaves_few_to_chance_is_fitted_anew():
    policy = eo.fit(eo.datasets.compas(), max_randomized=0.2)
    with pytest.raises(eo.OptionError, match=r"leaves at most 0.2 of everybody to chance, which odds near"):
        eo.update(policy, eo.datasets.compas(), max_change=0.1)


def test_before_an_update_is_the_policy_in_use():
    joint = eo.datasets.compas()
    policy = eo.fit(joint, max_slope=0.3)
    updated = eo.update(policy, joint + joint, max_change=0.05).certificate
    assert updated.before.score is None
    assert updated.before.objective == pytest.approx(policy.certificate.objective)
    assert "Before: the policy in use, with accuracy_score" in updated.summary


def test_warnings_name_the_line_that_asked():
    people = small_population(1)
    with warnings.catch_warnings(record=True) as fitted:
        warnings.simplefilter("always")
        policy = eo.fit(people, max_slope=1.0)
    with warnings.catch_warnings(record=True) as updated:
        warnings.simplefilter("always")
        eo.update(policy, people, max_change=0.5)
    scores = np.concatenate([side.points for member in people.members for side in member.by_label])
    labels = np.concatenate([[y] * side.size for member in people.members for y, side in enumerate(member.by_label)])
    groups = np.repeat(people.groups, [sum(side.size for side in member.by_label) for member in people.members])
    with warnings.catch_warnings(record=True) as estimated:
        warnings.simplefilter("always")
        eo.CurveOptimizer(max_slope=1.0).fit(scores[:, None], labels, sensitive_features=groups)
    assert len(fitted) == len(updated) > 0
    assert estimated
    assert {warning.filename for warning in (*fitted, *updated, *estimated)} == {__file__}


@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_a_group_whose_people_have_one_score_is_updated_too():
    joint = eo.JointDistribution.from_counts({"a": ([5], [40], [60]), "b": ([1, 2, 8], [50, 30, 20], [20, 30, 50])})
    policy = eo.fit(joint, max_slope=1)
    new = eo.update(policy, joint, max_change=0.05)
    assert new.certificate.change.least < 1e-8
    assert abs(new.curves["a"](5) - policy.curves["a"](5)) <= 0.05
