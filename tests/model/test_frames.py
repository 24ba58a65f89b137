"""Joint distributions from data frames; that all kinds agree is tested with `apply`."""

from __future__ import annotations

import narwhals as nw
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import evenodds as eo
from engines import EAGER, KINDS, LAZY, needed
from evenodds.frames import opened
from evenodds.model.cells import Columns, query

pytestmark = [
    # What other packages say about each other is not about us.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
]

pa = needed("pyarrow")

GOOD = {
    "r": [1.0, 2, 3, 4, 5, 6],
    "g": ["a", "a", "a", "b", "b", "b"],
    "y": [0, 0, 1, 0, 1, 1],
    "w": [1.0, 1, 1, 1, 1, 1],
    "name": ["no", "no", "yes", "no", "yes", "yes"],
    "true": [False, False, True, False, True, True],
    "day": pa.array([0, 1, 2, 3, 4, 5], pa.timestamp("us")),
}
CALL = {"score": "r", "group": "g", "label": "y"}


def _frame(engines, kind, **changes):
    return engines.frame(kind, pa.table({**GOOD, **changes}))


@pytest.mark.parametrize("kind", KINDS)
def test_labels_may_be_booleans_or_named(engines, kind):
    plain = eo.JointDistribution.from_frame(_frame(engines, kind), **CALL)
    for change in ({"label": "true"}, {"label": "name", "positive_label": "yes"}, {"positive_label": 1}):
        joint = eo.JointDistribution.from_frame(_frame(engines, kind), **{**CALL, **change})
        for ours, theirs in zip(joint.members, plain.members, strict=True):
            assert np.array_equal(ours.positives, theirs.positives)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("call", "changes", "message"),
    [
        (
            {"label": "Y"},
            {},
            r"The frame has no column 'Y'\. Its columns: r, g, y, w, name, true, day\. Hint: did you mean 'y'",
        ),
        ({"group": "gruop"}, {}, r"no column 'gruop'"),
        ({"weight": "v"}, {}, r"no column 'v'"),
        ({}, {"r": pa.array([1.0, None, 3, 4, 5, 6])}, r"score column 'r' has 1 .*missing, NaN or infinite"),
        ({}, {"r": [1.0, np.nan, np.inf, 4, 5, 6]}, r"score column 'r' has 2 .*missing, NaN or infinite"),
        ({}, {"g": ["a", "a", "a", "b", None, "b"]}, r"group.* has 1 .*missing"),
        ({}, {"y": [0, 0, 2, 0, 1, 1]}, r"label column 'y' .*(other than 0 and 1|must be 0 or 1, got 2)"),
        ({}, {"y": pa.array([0, 0, None, 0, 1, 1])}, r"label column 'y' .*(other than 0 and 1|must be 0 or 1)"),
        ({"label": "name"}, {}, r"label column 'name' .*Hint: .*positive_label="),
        ({"label": "name", "positive_label": "ja"}, {}, r"positive_label='ja' does not occur in label column 'name'"),
        ({"weight": "name"}, {}, r"weight column 'name' (holds String.* not|must be) numbers"),
        ({"weight": "w"}, {"w": [1.0, -1, 1, 1, 1, 1]}, r"weight column 'w' has 1 .*negative"),
        ({"weight": "w"}, {"w": [1.0, np.nan, 1, 1, 1, 1]}, r"weight column 'w' has 1 .*NaN"),
        ({}, {"y": [0, 0, 0, 0, 1, 1]}, r"Group 'a' has weight 3 of negatives, none of positives"),
        ({"weight": "w"}, {"w": [1e-200] * 6}, r"weight column 'w' has values up to .*e-200 only, too small to square"),
        ({"weight": "w"}, {"w": [5e149] * 6}, r"weight column 'w' has values up to .*, too large to add up"),
        ({"group": "day"}, {}, r"group column 'day' holds Date.* Hint: turn it into strings"),
        ({"resolution": 0}, {}, r"resolution=0 is not allowed\. Allowed: a finite number above 0"),
        ({"resolution": "1"}, {}, r"resolution='1' is not allowed"),
        ({"resolution": 1e-310}, {}, r"resolution=1e-310 is not allowed"),
        ({"positive_label": [1]}, {}, r"positive_label=\[1\] does not occur in label column 'y'"),
        ({"positive_label": "1"}, {}, r"positive_label='1' does not occur in label column 'y'"),
        ({"label": "name", "positive_label": 1}, {}, r"positive_label=1 does not occur in label column 'name'"),
        ({"positive_label": 1.0}, {"y": [0.0, 0, np.nan, 0, 1, 1]}, r"label column 'y' has 1 .*missing"),
        (
            {"label": "name", "positive_label": "yes"},
            {"name": ["no", None, "yes", "no", "no", "yes"]},
            r"has 1 .*missing",
        ),
        ({"score": "name"}, {}, r"score column 'name' holds String.* not numbers"),
        ({"score": "day"}, {}, r"score column 'day' holds Datetime.* not numbers"),
        ({}, {"g": [1.0, 1, 1, 2, np.nan, 2]}, r"group.* has 1 .*missing"),
        ({"group": []}, {}, r"group names no column"),
        ({"orientation": "up"}, {}, r"orientation='up' is not known"),
    ],
)
def test_bad_frames(engines, kind, call, changes, message):
    with pytest.raises(eo.EvenoddsError, match=message):
        eo.JointDistribution.from_frame(_frame(engines, kind, **changes), **{**CALL, **call})


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_frame(engines, kind):
    empty = engines.frame(kind, pa.table(GOOD).slice(0, 0))
    with pytest.raises(eo.DataError, match="The table is empty"):
        eo.JointDistribution.from_frame(empty, **CALL)


@pytest.mark.parametrize("kind", KINDS)
def test_a_continuous_group_column_is_a_mistake(engines, kind):
    n = 1001
    columns = {"r": np.arange(n, dtype=float), "g": np.arange(n) + 0.5, "y": np.arange(n) % 2}
    with pytest.raises(eo.DataError, match=r"group has 1,001 different values .* it looks continuous"):
        eo.JointDistribution.from_frame(engines.frame(kind, pa.table(columns)), **CALL)


def test_missing_words_among_the_categories_of_a_dictionary():
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0, 1, 0]), pa.array(["a", "b", None]))
    with pytest.raises(eo.DataError, match="group has 1 missing value"):
        eo.JointDistribution.from_frame(pa.table({**GOOD, "g": words}), **CALL)


def test_large_and_unsigned_groups_and_numbers_as_names():
    pd = needed("pandas")
    large = np.where(np.array(GOOD["g"]) == "a", 2**63 + 5, 2**63 + 7).astype(np.uint64)
    frame = pd.DataFrame({0: GOOD["r"], 1: large, 2: GOOD["y"]})
    joint = eo.JointDistribution.from_frame(frame, score=0, group=1, label=2)
    assert joint.groups == (str(2**63 + 5), str(2**63 + 7))
    with pytest.warns(eo.EvenoddsWarning, match="very small"):
        policy = eo.fit(joint, max_slope=1)
    assert eo.apply(policy, frame, score=0, group=1, into="self")["self"].notna().all()
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "a", "b"])
    with pytest.raises(eo.DataError, match=r"The frame cannot be read|more than one column 'a'"):
        eo.JointDistribution.from_frame(twice, score="a", group="b", label="b")


def test_lengths_that_differ_are_told():
    pd = needed("pandas")
    with pytest.raises(eo.DataError, match="different lengths: score 3, group 2, label 3"):
        eo.JointDistribution.from_arrays(pd.Series([1.0, 2, 3]), pd.Series(["a", "b"]), pd.Series([0, 1, 0]))


# -- resolution --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [0.5, 0.05, 0.7])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_rounds_alike(engines, kind, width):
    rng = np.random.default_rng(0)
    columns = {"r": rng.normal(0, 10, 2000), "g": rng.choice(["a", "b"], 2000)}
    columns["y"] = (columns["r"] + rng.normal(0, 10, 2000) > 0).astype(int)
    columns["r"][:500] = np.arange(-250, 250) * width / 2  # half-way cases
    frame = engines.frame(kind, pa.table(columns))
    joint = eo.JointDistribution.from_frame(frame, **CALL, resolution=width)
    plain = eo.JointDistribution.from_arrays(columns["r"], columns["g"], columns["y"], resolution=width)
    assert joint.resolution == plain.resolution == width
    for ours, theirs in zip(joint.members, plain.members, strict=True):
        assert np.array_equal(ours.scores, theirs.scores)
        assert np.array_equal(ours.positives, theirs.positives)
    assert f"rounded to {width}" in repr(joint)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.01, 0.1, 0.3, 1.0, 3.0, 10.0]),
    st.sampled_from(["linear", "cubic"]),
    st.sampled_from(["positive", "negative"]),
)
@example(16777216, 0.01, "linear", "positive")  # a gentler ramp than the budget's reaches the best point, and no other
def test_rounding_costs_no_more_than_is_stated(seed, resolution, curve, orientation):
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], 900)
    score = rng.normal(50, 12, 900)
    sign = 1 if orientation == "positive" else -1
    label = (sign * (score - 50) + rng.normal(0, 12, 900) > 0).astype(int)
    joint = eo.JointDistribution.from_arrays(score, group, label, orientation=orientation, resolution=resolution)
    policy = eo.fit(joint, curve=curve, max_slope=0.2)
    odds = policy.odds(score, group)
    for key in policy.groups:
        reached = policy.certificate.points[key]
        bound = policy.certificate.rate_error[key]
        assert bound == pytest.approx(policy.curves[key].lipschitz * resolution / 2)
        for rate, side in ((reached.fpr, 0), (reached.tpr, 1)):
            assert abs(odds[(group == key) & (label == side)].mean() - rate) <= bound + 1e-12
    assert f"rounded to {resolution:g} before fitting" in str(policy.certificate)


def test_where_odds_jump_nothing_is_proven_about_rounding():
    score, group, label = np.arange(40.0), ["a"] * 40, [0, 1] * 15 + [1] * 10
    joint = eo.JointDistribution.from_arrays(score, group, label, resolution=2)
    with pytest.warns(eo.EvenoddsWarning, match="very small"):
        policy = eo.fit(joint, curve="fixed")
    assert policy.certificate.rate_error == {"a": 1.0}


# -- engines do the counting -------------------------------------------------------------------------------------------


def _plan(frame):
    return frame._jdf.queryExecution().executedPlan().toString()  # noqa: SLF001 Spark prints it, and returns nothing


def test_spark_fits_and_applies_two_million_rows_without_fetching_them(engines, tmp_path):
    spark = engines.spark
    rows = 2_000_000
    people = spark.range(rows).selectExpr(
        "id",
        "element_at(array('a', 'b', 'c', 'd'), cast(id % 4 as int) + 1) as g",
        "100 * rand(7) as r",
    )
    people = people.selectExpr("id", "g", "r", "cast(rand(8) * 100 < r - 5 * (id % 4) + 10 as int) as y")
    people.write.parquet(str(tmp_path / "people"))  # rand() is drawn once
    people = spark.read.parquet(str(tmp_path / "people"))

    asked = query(opened(people, ["r", "g", "y"]), Columns("r", ("g",), "y"), 0.05, None).to_native()
    plan = _plan(asked)
    assert "HashAggregate" in plan
    assert "Python" not in plan
    assert asked.count() <= 4 * (100 / 0.05 + 1)

    joint = eo.JointDistribution.from_frame(people, **CALL, resolution=0.05)
    assert joint.total == rows
    policy = eo.fit(joint, max_slope=0.05)
    applied = eo.apply(policy, people, score="r", group="g")
    plan = _plan(applied)
    assert "Python" not in plan
    assert "Exchange" not in plan, "odds need no shuffle"

    # The engine's own means of the odds of the unrounded scores keep the stated bound.
    for row in applied.groupBy("g", "y").avg("odds").collect():
        reached = policy.certificate.points[row["g"]]
        rate = reached.tpr if row["y"] else reached.fpr
        assert abs(row["avg(odds)"] - rate) <= policy.certificate.rate_error[row["g"]]


def test_duckdb_fetches_only_the_table_of_counts(engines):
    table = pa.table({"r": np.tile(np.arange(100.0), 400), "g": ["a", "b"] * 20_000, "y": [0, 1, 1, 0, 1] * 8000})
    asked = query(opened(engines.frame("duckdb", table), ["r", "g", "y"]), Columns("r", ("g",), "y"), 0.0, None)
    assert asked.collect().shape[0] == 100


def test_the_kinds_are_told_apart(engines):
    for kind in EAGER:
        assert isinstance(opened(_frame(engines, kind), ["r"]), nw.DataFrame)
    for kind in LAZY:
        assert isinstance(opened(_frame(engines, kind), ["r"]), nw.LazyFrame)


@pytest.mark.parametrize("role", ["score", "group", "label"])
def test_a_column_in_place_of_its_name_is_refused(role):
    frame = needed("pandas").DataFrame({"score": [1.0, 2.0], "group": ["a", "a"], "label": [0, 1]})
    names = {"score": "score", "group": "group", "label": "label"}
    for values in (frame[role], frame[role].to_numpy()):
        with pytest.raises(eo.DataError, match=r"A column is given by its name, got (Series|ndarray). Hint: the name"):
            eo.JointDistribution.from_frame(frame, **{**names, role: values})


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_whole_numbers_that_floats_cannot_tell_apart_are_refused(kind):
    near = np.arange(40).astype(kind)
    for base, fine in ((2**52, True), (2**62, False), (2**63, False)):
        if base <= np.iinfo(kind).max:
            scores = near + kind(base)
            words = ["a"] * 40, [0, 1] * 20
            if fine:
                assert eo.JointDistribution.from_arrays(scores, *words).members[0].scores.size == 40
            else:
                with pytest.raises(eo.DataError, match=r"score has 40 whole numbers so large that a float tells only"):
                    eo.JointDistribution.from_arrays(scores, *words)


@pytest.mark.parametrize("orientation", ["positive", "negative"])
def test_weights_that_were_counted_by_an_engine_tell_as_much(orientation):
    rng = np.random.default_rng(0)
    polars = needed("polars")
    n = 600
    frame = polars.DataFrame(
        {
            "score": rng.integers(0, 20, n).astype(float),
            "group": rng.choice(["a", "b"], n).tolist(),
            "label": rng.integers(0, 2, n),
            "weight": rng.exponential(1, n) * np.arange(1, n + 1),
        }
    )
    names = {"score": "score", "group": "group", "label": "label", "weight": "weight", "orientation": orientation}
    here, there = (eo.JointDistribution.from_frame(one, **names) for one in (frame, frame.lazy()))
    cut = 7 if orientation == "positive" else -7
    for ours, theirs in zip(here.members, there.members, strict=True):
        for own, other in zip(ours.by_label, theirs.by_label, strict=True):
            assert other.n_effective == pytest.approx(own.n_effective)
            inside = [side.square_sums[side.points >= cut].sum() for side in (own, other)]
            assert inside[1] == pytest.approx(inside[0])
