from __future__ import annotations

import math
import subprocess
import sys
import tracemalloc
from decimal import Decimal

import gower as gower_package
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import evenodds as eo
from evenodds.evaluation import distances
from evenodds.model.curves import Curve
from shapes import curves, mixes

individual = eo.individual


def mixed(seed, n, *, missing=0.0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "income": rng.lognormal(10, 1, n),
            "home": rng.choice(["own", "rent", "other"], n),
            "job": rng.choice(list("abcdef"), n),
        }
    ).astype({"home": object, "job": object})  # the gower package knows no strings of pandas 3
    for column in frame if missing else ():
        frame.loc[rng.random(n) < missing, column] = None
    return frame


def by_the_appendix(frame):
    """Gower's distance, pair by pair and column by column; columns with a missing value do not count."""
    n = len(frame)
    distance = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            similarities = []
            for column in frame:
                a, b = frame[column].iloc[i], frame[column].iloc[j]
                if pd.isna(a) or pd.isna(b):
                    continue
                if isinstance(a, str):
                    similarities.append(1.0 if a == b else 0.0)
                else:
                    similarities.append(1 - abs(a - b) / (frame[column].max() - frame[column].min()))
            distance[i, j] = math.sqrt(max(1 - sum(similarities) / len(similarities), 0)) if similarities else math.nan
    return distance


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_gower_is_the_appendix_in_a_double_loop(missing):
    frame = mixed(1, 40, missing=missing)
    np.testing.assert_allclose(individual.gower(frame), by_the_appendix(frame), atol=1e-12)


def test_gower_squared_is_what_the_package_gives():
    """The package computes in float32, and gives 1 - similarity without the root."""
    frame = mixed(2, 150)
    np.testing.assert_allclose(individual.gower(frame), np.sqrt(gower_package.gower_matrix(frame)), atol=1e-6)


def test_every_frame_library_has_the_same_distances():
    frame = mixed(3, 30, missing=0.1)
    known = individual.gower(frame)
    table = pa.Table.from_pandas(frame)
    for other in (table, pl.from_arrow(table), frame.astype({"home": "category"}), frame.to_numpy(dtype=object)):
        np.testing.assert_allclose(individual.gower(other), known, atol=1e-12)


def test_people_of_two_tables_share_ranges_and_categories():
    frame = mixed(4, 40, missing=0.1)
    whole = individual.gower(frame)
    np.testing.assert_allclose(individual.gower(frame[:25], frame[25:]), whole[:25, 25:], atol=1e-12)
    numbers = frame[["age", "income"]].fillna(0).to_numpy()
    np.testing.assert_allclose(individual.euclidean(numbers[:9], numbers[9:]), cdist(numbers[:9], numbers[9:]))
    labels = np.random.default_rng(0).integers(0, 3, (20, 5))
    np.testing.assert_allclose(individual.hamming(labels), 5 * cdist(labels, labels, "hamming"))


def test_distances_are_their_definitions_to_the_last_digits():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(30, 7)) * 10.0 ** rng.integers(-3, 3, 7), rng.normal(size=(9, 7))
    apart = np.sqrt(((one[:, None] - other[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(individual.euclidean(one, other), apart, rtol=1e-14)
    labels = rng.integers(0, 3, (30, 49))  # of 49 parts some do not sum up to a whole number
    np.testing.assert_array_equal(individual.hamming(labels), (labels[:, None] != labels[None]).sum(axis=2))


def test_blocks_change_nothing(monkeypatch):
    frame, score = mixed(5, 60, missing=0.1), np.random.default_rng(5).normal(size=60)
    known, found = individual.gower(frame), individual.scorer_lipschitz(frame, score)
    monkeypatch.setattr(distances, "_BLOCK", 100)
    np.testing.assert_array_equal(individual.gower(frame), known)
    assert individual.scorer_lipschitz(frame, score) == found


_rows = st.lists(
    st.tuples(st.floats(-100, 100), st.integers(0, 5), st.sampled_from("xyz"), st.booleans()), min_size=3, max_size=12
)


@given(_rows)
def test_gower_is_a_metric_on_complete_rows(rows):
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "d"])
    _is_metric(individual.gower(frame), frame)


@given(_rows)
def test_euclidean_and_hamming_are_metrics(rows):
    frame = pd.DataFrame(rows, columns=["a", "b", "c", "d"])
    _is_metric(individual.euclidean(frame[["a", "b"]]), frame[["a", "b"]])
    _is_metric(individual.hamming(frame), frame)


def _is_metric(distance, frame):
    np.testing.assert_array_equal(np.diag(distance), 0)
    np.testing.assert_allclose(distance, distance.T, atol=1e-12)
    values = frame.to_numpy(dtype=object)
    for i in range(len(frame)):
        for j in range(i):
            # Numbers nearer than their range's rounding cannot be told apart.
            if any(
                isinstance(a, str) or abs(a - b) > 1e-9 for a, b in zip(values[i], values[j], strict=True) if a != b
            ):
                assert distance[i, j] > 0
    through = (distance[:, :, None] + distance[None, :, :]).min(axis=1)
    assert (distance <= through + 1e-9).all()


def test_missing_values_may_break_the_triangle_inequality():
    d = individual.gower(pd.DataFrame({"a": [0.0, None, 1.0], "b": ["x", "x", "x"]}))
    assert d[0, 2] > d[0, 1] + d[1, 2]


def test_people_without_a_common_column_have_no_distance():
    d = individual.gower(pd.DataFrame({"a": [1.0, None, 2.0], "b": [None, "x", "y"]}))
    assert math.isnan(d[0, 1])
    assert d[0, 2] == 1.0


def test_columns_of_numbers_may_be_discrete_and_ranges_given():
    frame = pd.DataFrame({"code": [1, 2, 9], "age": [20, 30, 40]})
    assert individual.gower(frame, categorical=["code"])[0, 1] == pytest.approx(math.sqrt((1 + 0.5) / 2))
    assert individual.gower(frame, ranges={"age": 100})[0, 1] == pytest.approx(math.sqrt((1 / 8 + 0.1) / 2))
    assert individual.gower(np.array([[1, 20], [2, 30]]), categorical=[0])[0, 1] == 1.0
    assert individual.gower(pd.DataFrame({"same": [1, 1], "b": [True, False]}))[0, 1] == pytest.approx(math.sqrt(0.5))


def test_the_scorer_is_as_steep_as_its_worst_pair():
    rng = np.random.default_rng(6)
    x, score = rng.normal(size=(80, 3)), rng.normal(size=80)
    d, apart = cdist(x, x), np.abs(score[:, None] - score[None])
    with np.errstate(invalid="ignore"):
        ratio = np.triu(apart / d, 1)
    found = individual.scorer_lipschitz(x, score, metric="euclidean", worst=5)
    assert found.value == pytest.approx(np.nanmax(ratio))
    assert [pair.ratio for pair in found.pairs] == pytest.approx(np.sort(ratio[~np.isnan(ratio)])[::-1][:5])
    assert (found.pairs[0].one, found.pairs[0].other) == np.unravel_index(np.nanargmax(ratio), ratio.shape)
    steep = individual.scorer_lipschitz(x, x @ [3.0, 0, 0], metric="euclidean")
    assert steep.value <= 3 + 1e-9


def test_the_same_people_with_two_scores_have_no_constant():
    found = individual.scorer_lipschitz([[1, 2], [1, 2], [3, 4]], [10, 11, 12], metric="euclidean")
    assert math.isinf(found.value)
    assert found.same_people == 1
    assert found.value_of_others == pytest.approx(2 / math.sqrt(8))
    assert (found.pairs[0].one, found.pairs[0].other) == (0, 1)
    assert "are the same and score differently" in str(found)


def test_odds_change_with_people_by_no_more_than_both_constants_say():
    rng = np.random.default_rng(7)
    joint = eo.datasets.credit_risk()
    policy = eo.fit(joint, max_slope=0.1)
    n = 200
    x = rng.normal(size=(n, 2))
    score = 40 + 8 * x[:, 0] + 3 * x[:, 1]
    group = rng.choice(["white", "black"], n)
    found = individual.report(policy, x, score, group, metric="euclidean", before=35)
    assert set(found.groups) == {"white", "black"}
    for key, of in found.groups.items():
        assert of.steepest <= of.bound * (1 + 1e-9)
        assert of.bound == pytest.approx(of.scorer_lipschitz * policy.curves[key].lipschitz)
        own = np.flatnonzero(group == key)
        odds = policy.odds(score[own], key)
        d = cdist(x[own], x[own])
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.abs(odds[:, None] - odds[None]) / d
        assert of.steepest == pytest.approx(np.nanmax(ratio))
        pair = of.pairs[0]
        assert group[pair.one] == group[pair.other] == key
        assert of.steepest_before > of.steepest
        assert of.pairs_before[0].difference == 1.0
    assert found.bound == max(of.bound for of in found.by_group)
    assert set(found.frame()["policy"]) == {"after", "before"}
    assert "here by up to" in str(found)


@given(curves() | mixes(far=1e3, jumps=True), st.floats(0.001, 50))
def test_the_threshold_effect_is_the_largest_change(curve, within):
    found = individual.threshold_effect(curve, within)
    at = np.linspace(min(curve.t0, curve.t1) - within - 1, max(curve.t0, curve.t1) + 1, 4001)
    seen = np.abs(curve(at + within) - curve(at)).max()
    assert seen - 1e-9 <= found <= min(1.0, within * curve.lipschitz) + 1e-12
    if curve.lipschitz < math.inf:
        step = at[1] - at[0]
        assert found <= seen + 2 * curve.lipschitz * step


def test_the_threshold_effect_of_a_jump_does_not_depend_on_the_distance():
    assert individual.threshold_effect(Curve("fixed", 20, 60, 0.3), 1e-6) == pytest.approx(0.7)
    assert individual.threshold_effect(Curve("fixed", 20, 60, 0.3), 40.0) == pytest.approx(0.7)  # 1 takes more than 40
    assert individual.threshold_effect(Curve("fixed", 20, 60, 0.3), 40.001) == pytest.approx(1.0)
    assert individual.threshold_effect(Curve("fixed", 30, 30, 0), 1e-30) == 1.0
    assert individual.threshold_effect(Curve("linear", 0, 1, 0.5), 1e308) == 1.0
    assert individual.threshold_effect(Curve("linear", -math.inf, math.inf, 0.3), 5.0) == 0
    assert individual.odds_distance(Curve("linear", 0, 10, 0.5), 2, 4) == pytest.approx(0.2)


def test_large_whole_numbers_and_large_offsets_lose_no_digit():
    assert individual.hamming(np.array([[2**60], [2**60 + 1]]))[0, 1] == 1
    ids = pd.DataFrame({"id": [2**60, 2**60 + 1]})
    assert individual.gower(ids, categorical="id")[0, 1] == 1
    far = [[1e15], [1e15 + 1], [1e15 + 3]]
    np.testing.assert_allclose(individual.gower(far)[0] ** 2, [0, 1 / 3, 1], rtol=1e-12)
    np.testing.assert_array_equal(individual.euclidean(far)[0], [0, 1, 3])
    np.testing.assert_allclose(individual.euclidean([[1e308], [-1e308]])[0, 1], np.inf)
    np.testing.assert_array_equal(individual.gower([[1e308], [-1e308]]), [[0, 1], [1, 0]])
    big = individual.gower(pd.DataFrame({"n": [2**60, 2**60 + 1, 2**60 + 4]}))
    np.testing.assert_allclose(big[0] ** 2, [0, 0.25, 1])


def test_categories_of_numbers_are_discrete_and_decimals_are_numbers():
    frame = pd.DataFrame({"c": pd.Categorical([1, 2, 9])})
    assert individual.gower(frame)[0, 1] == 1
    prices = pa.table({"d": pa.array([Decimal("1.5"), Decimal("2.5"), None, Decimal("5.5")], pa.decimal128(10, 2))})
    np.testing.assert_allclose(individual.gower(prices)[0, [1, 3]] ** 2, [0.25, 1])
    objects = np.array([[Decimal(1)], [Decimal(3)], [Decimal(2)]], dtype=object)
    assert individual.gower(objects)[0, 2] ** 2 == pytest.approx(0.5)


def test_of_the_same_people_those_treated_most_differently_come_first(monkeypatch):
    for block in (1 << 22, 40):
        monkeypatch.setattr(distances, "_BLOCK", block)
        found = individual.scorer_lipschitz(np.zeros((30, 1)), np.arange(30.0), worst=2)
        assert [pair.difference for pair in found.pairs] == [29, 28]
        assert found.same_people == 30 * 29 / 2
    small = individual.scorer_lipschitz([[0.0], [1e-9], [1e9]], [0, 1, 1e13], metric="euclidean")
    assert small.value == pytest.approx(1e9)
    assert math.isinf(individual.scorer_lipschitz([[0.0], [1e-310]], [0, 1], metric="euclidean").value)
    few = individual.scorer_lipschitz([[0.0], [1.0]], [0, 1], metric="euclidean", worst=50)
    assert len(few.pairs) == 1


def test_twenty_thousand_people_fit_in_memory(monkeypatch):
    """Counted on 4,000 people with blocks in proportion; what is held at once does not grow with the pairs."""
    frame, score = mixed(8, 4000), np.random.default_rng(8).normal(size=4000)
    monkeypatch.setattr(distances, "_BLOCK", 1 << 18)
    tracemalloc.start()
    individual.scorer_lipschitz(frame, score)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30 * 8 * (1 << 18)
    assert peak < 4000 * 4000 * 8 / 2


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: individual.euclidean(mixed(0, 5)), "Column 'home' is not a number"),
        (lambda: individual.euclidean([[1.0, math.nan]]), "Column 1 has missing values"),
        (lambda: individual.hamming(mixed(0, 50, missing=0.5)), "for which the Hamming distance has no rule"),
        (lambda: individual.gower([[math.inf]]), "Column 0 has infinite values"),
        (lambda: individual.gower([1, 2, 3]), "must have rows and columns"),
        (lambda: individual.gower(mixed(0, 0)), "X is empty"),
        (lambda: individual.gower(mixed(0, 3), categorical=["hom"]), "there is no column 'hom'"),
        (lambda: individual.gower(mixed(0, 3), ranges={"age": 0.1}), "more than 0.1"),
        (lambda: individual.gower(mixed(0, 3), ranges={"age": -1}), "ranges=-1 is not allowed"),
        (lambda: individual.gower(mixed(0, 3), ranges=[5]), "a dictionary of columns"),
        (lambda: individual.gower(mixed(0, 3), categorical=5), "a list of columns"),
        (lambda: individual.scorer_lipschitz([[1], [2]], [1, 2], metric="euclidean", ranges={0: 3}), "ranges= belongs"),
        (lambda: individual.scorer_lipschitz([[1], [2]], [1e308, -1e308]), "beyond what can be compared"),
        (lambda: individual.gower([[1], [2, 3]]), "all rows of one length"),
        (lambda: individual.gower(np.array([["2020-01-01"]], dtype="M8[D]")), "has dates or times"),
        (lambda: individual.gower(np.array([[10**400]], dtype=object)), "infinite values"),
        (lambda: individual.hamming(pd.DataFrame({"l": [[1], [2]]})), "Column 'l' has values that cannot be told"),
        (lambda: individual.gower(pd.DataFrame([[1, 2]], columns=["a", "a"])), "X cannot be read"),
        (lambda: individual.threshold_effect(3, 1), "must be a Curve, got int"),
        (lambda: individual.threshold_effect(Curve("linear", 0, 1, 0.5), 10**400), "within=1000"),
        (lambda: individual.gower(mixed(0, 3), ranges={"home": 1}), "no column of numbers 'home'"),
        (lambda: individual.gower(mixed(0, 3), mixed(0, 3)[["age"]]), "must have the same columns"),
        (
            lambda: individual.gower(mixed(0, 3)[["age"]], pd.DataFrame({"age": ["x"]})),
            "Column 'age' has numbers in one table",
        ),
        (lambda: individual.gower(pd.DataFrame({"d": pd.to_datetime(["2020-01-01"])})), "has dates or times"),
        (lambda: individual.scorer_lipschitz(mixed(0, 3), [1, 2]), "X has 3 rows, score 2"),
        (lambda: individual.scorer_lipschitz(mixed(0, 3), [1, 2, 3], metric="gowr"), "did you mean 'gower'"),
        (lambda: individual.scorer_lipschitz(mixed(0, 3), [1, 2, 3], worst=0), "worst=0 is not allowed"),
        (lambda: individual.threshold_effect(Curve("linear", 0, 1, 0.5), -1), "within=-1 is not allowed"),
        (
            lambda: individual.report(eo.fit(eo.datasets.credit_risk()), mixed(0, 3), [1, 2, 3], ["white"] * 2),
            "X has 3 rows, group 2",
        ),
    ],
)
def test_bad_people_are_refused(call, text):
    with pytest.raises(eo.EvenoddsError, match=text):
        call()


@pytest.mark.guarantee
def test_guarantee_twenty_thousand_people_take_less_than_a_gigabyte():
    code = (
        "import resource, numpy as np, pandas as pd, evenodds as eo\n"
        "rng = np.random.default_rng(0); n = 20_000\n"
        "people = pd.DataFrame({'age': rng.integers(18, 80, n), 'income': rng.lognormal(10, 1, n),\n"
        "                       'home': rng.choice(['own', 'rent'], n), 'married': rng.random(n) < 0.5})\n"
        "eo.individual.scorer_lipschitz(people, rng.normal(size=n))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1_000_000  # kilobytes
