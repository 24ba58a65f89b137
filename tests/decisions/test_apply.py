from __future__ import annotations

import narwhals as nw
import numpy as np
import pytest

import evenodds as eo
from engines import EAGER, KINDS, LAZY, needed
from evenodds.model.families import CONTINUOUS
from shapes import at_zero, mirrored, with_mixes

pytestmark = [
    # What other packages say about each other is not about us.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
]

pa = needed("pyarrow")


def _people(n=3000, seed=0, *, weighted=False):
    """People with groups of three kinds, float scores that repeat, and whole weights, whose sums have no order."""
    rng = np.random.default_rng(seed)
    sex, region = rng.choice(["f", "m"], n), rng.integers(1, 4, n)
    skill = rng.normal(region + (sex == "m"), 1.5)
    columns = {
        "id": np.arange(n),
        "risk": np.round(50 + 10 * skill + rng.normal(0, 8, n), 1),
        "sex": sex,
        "region": region,
        "urban": rng.random(n) < 0.5,
        "repaid": (rng.random(n) < 1 / (1 + np.exp(-skill + 2))).astype(np.int64),
        "odds_of_old": rng.random(n),
    }
    if weighted:
        columns["many"] = rng.integers(0, 5, n).astype(float)
    return pa.table(columns)


def _arrays(table, *names):
    return [np.array(table[name].to_pylist()) for name in names]


GROUPS = {"sex": "sex", "region": "region", "urban": "urban", "several": ["sex", "region", "urban"]}


@pytest.mark.parametrize("weighted", [False, True], ids=["people", "weights"])
@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_gives_the_same_policy_and_the_same_odds(engines, kind, group, weighted):
    table = _people(weighted=weighted)
    weight = "many" if weighted else None
    names = group if isinstance(group, list) else [group]
    score, label, *groups = _arrays(table, "risk", "repaid", *names)
    plain = eo.JointDistribution.from_arrays(score, groups, label, weight=_arrays(table, weight)[0] if weight else None)
    frame = engines.frame(kind, table)
    joint = eo.JointDistribution.from_frame(frame, score="risk", group=group, label="repaid", weight=weight)
    assert joint.groups == plain.groups
    for ours, theirs in zip(joint.members, plain.members, strict=True):
        assert np.array_equal(ours.scores, theirs.scores)
        assert np.array_equal(ours.class_conditional, theirs.class_conditional)
        assert ours.n_effective == pytest.approx(theirs.n_effective, rel=1e-12)

    policy, expected = eo.fit(joint, max_slope=0.1), eo.fit(plain, max_slope=0.1)
    for key in policy.groups:
        ours, theirs = policy.curves[key], expected.curves[key]
        assert (ours.t0, ours.t1, ours.p) == pytest.approx((theirs.t0, theirs.t1, theirs.p), abs=1e-12)
    applied = eo.apply(policy, frame, score="risk", group=group)
    assert type(applied) is type(frame)
    columns = engines.columns(applied)
    assert list(columns) == [*table.column_names, "odds"]
    assert np.abs(np.array(columns["odds"]) - expected.odds(score, groups)).max() <= 1e-15
    assert engines.columns(frame) == engines.columns(table), "the frame was changed"


@pytest.mark.parametrize("kind", KINDS)
def test_reviews_have_a_column_of_their_own_bit_for_bit(engines, kind):
    table = _people(600)
    score, sex, label = _arrays(table, "risk", "sex", "repaid")
    joint = eo.JointDistribution.from_arrays(score, sex, label)
    policy = eo.fit(joint, review=eo.Review(capacity=0.1, tpr=0.9, fpr=0.2), max_slope=0.2)
    columns = engines.columns(eo.apply(policy, engines.frame(kind, table), score="risk", group="sex", into="chance"))
    assert list(columns) == [*table.column_names, "chance", "chance_review"]
    for name, outcome in (("chance", "yes"), ("chance_review", "review")):
        np.testing.assert_array_equal(columns[name], policy.odds(score, sex, outcome=outcome))
    assert np.array(columns["chance_review"]).mean() == pytest.approx(0.1)
    with pytest.raises(eo.OptionError, match="has a column 'odds_of_old' already"):
        eo.apply(policy, engines.frame(kind, table), score="risk", group="sex", into="odds_of_old")


@pytest.mark.parametrize("curve", ["fixed", "linear", "quadratic", "cubic", "quartic", "optimal"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("orientation", ["positive", "negative"])
def test_every_curve_bit_for_bit(engines, kind, curve, orientation):
    table = _people(600)
    label, group, score = _arrays(table, "repaid", "sex", "risk")
    if orientation == "negative":
        label = 1 - label
    budget = {} if curve == "fixed" else {"max_loss": 0.01}
    joint = eo.JointDistribution.from_arrays(np.round(score), group, label, orientation=orientation)
    policy = eo.fit(joint, curve=curve, **budget)
    _check_every_bit(engines, kind, policy, score)


def _check_every_bit(engines, kind, policy, score):
    edges = np.unique([edge for c in policy.curves.values() for edge in c.pieces.breaks])
    at = np.concatenate([score, edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf)])
    every = np.tile(at, len(policy.groups))
    people = pa.table({"id": np.arange(every.size), "r": every, "g": np.repeat(policy.groups, at.size)})
    columns = engines.columns(eo.apply(policy, engines.frame(kind, people), score="r", group="g", into="chance"))
    expected = policy.odds(every, columns["g"])
    assert np.abs(np.array(columns["chance"]) - expected).max() <= 0


@pytest.mark.parametrize("curve", CONTINUOUS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("orientation", ["positive", "negative"])
def test_every_mix_bit_for_bit(engines, kind, curve, orientation):
    """Parts that overlap, lie apart, and jump, in one policy."""
    table = _people(600)
    label, region, score = _arrays(table, "repaid", "region", "risk")
    label = 1 - label if orientation == "negative" else label
    names = np.array(["f", "m", "n"])[region - 1]
    joint = eo.JointDistribution.from_arrays(score, names, label, orientation=orientation)
    ends = {
        "f": ((0.3, 41.3, 67.9, 0.45), (0.7, 55.1, 81.7, 0.55)),
        "m": ((0.61, 47.3, 52.9, 0.45), (0.39, 61.1, 93.3, 0.55)),
        "n": ((0.2, 50.0, 50.0, 0.0), (0.8, 42.7, 71.1, 0.5)),
    }
    mixes = {}
    for group, parts in ends.items():
        mix = eo.Curve.mixed([(share, eo.Curve(curve, t0, t1, p)) for share, t0, t1, p in parts])
        mixes[group] = mix if orientation == "positive" else mirrored(mix).moved(120.3)
    policy = with_mixes(eo.fit(joint, max_loss=0.1), joint, mixes)
    _check_every_bit(engines, kind, policy, score)


@pytest.mark.parametrize("orientation", ["positive", "negative"])
@pytest.mark.parametrize("kind", [*LAZY, "postgres"])
def test_scores_next_to_0_bit_for_bit(engines, kind, orientation):
    """PostgreSQL refuses products that are too small for a number, which everybody else takes for 0."""
    policy = at_zero(eo.fit(eo.datasets.credit_risk()), orientation)
    sizes = [0.0, 5e-324, 1e-310, 1e-200, 1e-150, 1e-30, 0.2]
    _check_every_bit(engines, kind, policy, np.array(sizes + [-size for size in sizes]))


def _trouble():
    """Rows of every kind of trouble, and three good ones."""
    return pa.table(
        {
            "id": list(range(10)),
            "r": pa.array([25.0, None, np.nan, np.inf, -np.inf, 40.0, 40.0, 40.0, 1e9, 30.0], pa.float64()),
            "g": ["white", "white", "black", "white", "black", None, "green", "black", "white", "White"],
        },
    )


@pytest.fixture(scope="module")
def policy():
    return eo.fit(eo.datasets.credit_risk())


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_cannot_be_used_have_no_odds_in_any_engine(engines, kind, policy):
    frame = engines.frame(kind, _trouble())
    odds = engines.columns(eo.apply(policy, frame, score="r", group="g", on_invalid="null"))["odds"]
    good = [0, 7, 8]
    assert [i for i, value in enumerate(odds) if value is not None] == good
    assert [odds[i] for i in good] == policy.odds([25, 40, 1e9], ["white", "black", "white"]).tolist()


@pytest.mark.parametrize("kind", EAGER)
def test_frames_in_memory_refuse_such_rows_and_show_them(engines, kind, policy):
    frame = engines.frame(kind, _trouble())
    with pytest.raises(eo.UnknownGroupError) as caught:
        eo.apply(policy, frame, score="r", group="g")
    message = str(caught.value)
    assert "7 of 10 rows cannot be given odds" in message
    assert "4 with a score that is missing, NaN or infinite" in message
    assert "1 with no group" in message
    assert "2 with a group that the policy does not know" in message
    assert "row 1: score nan, group 'white'" in message
    assert "The policy knows: 'asian', 'black', 'hispanic', 'white'" in message
    with pytest.raises(eo.DataError, match="cannot be given odds"):
        eo.apply(policy, engines.frame(kind, _trouble().slice(0, 3)), score="r", group="g")


@pytest.mark.parametrize("kind", LAZY)
def test_lazy_frames_cannot_refuse_rows(engines, kind, policy):
    frame = engines.frame(kind, _trouble())
    with pytest.raises(eo.OptionError, match=r"not possible for a lazy frame .* Hint: leave it out"):
        eo.apply(policy, frame, score="r", group="g", on_invalid="raise")
    assert engines.columns(eo.apply(policy, frame, score="r", group="g"))["odds"].count(None) == 7


@pytest.mark.parametrize("kind", LAZY)
def test_lazy_frames_stay_lazy(engines, kind, policy):
    applied = eo.apply(policy, engines.frame(kind, _trouble()), score="r", group="g")
    assert isinstance(nw.from_native(applied), nw.LazyFrame)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"score": "R", "group": "g"}, "The frame has no column 'R'. Its columns: id, r, g"),
        ({"score": "r", "group": ["g", "sexx"]}, "The frame has no column 'sexx'. Its columns: id, r, g"),
        ({"score": "r", "group": "g", "into": "r"}, "has a column 'r' already. Hint: into="),
        ({"score": "r", "group": "g", "into": ["r"]}, r"into=\['r'\] is not allowed. Allowed: the name of a column"),
        ({"score": "r", "group": "g", "on_invalid": "zero"}, "on_invalid='zero' is not known. Allowed: raise, null"),
        ({"score": "g", "group": "g"}, "score column 'g' holds .*not numbers"),
    ],
)
def test_bad_arguments(engines, kind, policy, arguments, message):
    with pytest.raises(eo.EvenoddsError, match=message):
        eo.apply(policy, engines.frame(kind, _trouble()), **arguments)


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_names_a_column_of_pandas_only(engines, kind, policy):
    frame = engines.frame(kind, pa.table({"r": [50.0], "g": ["white"]}))
    if kind == "pandas":
        assert list(eo.apply(policy, frame, score="r", group="g", into=5)) == ["r", "g", 5]
        return
    with pytest.raises(eo.OptionError, match="into=5 is not allowed"):
        eo.apply(policy, frame, score="r", group="g", into=5)


@pytest.mark.parametrize("kind", KINDS)
def test_dates_are_no_scores(engines, kind, policy):
    frame = pa.table({"r": pa.array([0, 10**6], pa.timestamp("ns")), "g": ["white", "white"]})
    if kind == "pyspark":
        frame = frame.set_column(0, "r", frame["r"].cast(pa.timestamp("us")))  # Spark has no finer ones
    with pytest.raises(eo.DataError, match="score column 'r' holds Datetime"):
        eo.apply(policy, engines.frame(kind, frame), score="r", group="g")


@pytest.mark.parametrize("kind", ["duckdb", "pyspark", "ibis"])
def test_engines_that_do_not_tell_case_apart(engines, kind, policy):
    frame = engines.frame(kind, _trouble().append_column("Odds", pa.array(range(10))))
    with pytest.raises(eo.OptionError, match="has a column 'odds' already"):
        eo.apply(policy, frame, score="r", group="g")


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_are_missing_are_no_group(engines, kind):
    rng = np.random.default_rng(0)
    score, group = rng.normal(0, 1, 400), rng.choice([1.5, 2.0], 400)
    label = (score + rng.normal(0, 1, 400) > 0).astype(int)
    known = eo.JointDistribution.from_arrays(score, np.where(group == 2, "nan", "1.5"), label)
    with pytest.warns(eo.EvenoddsWarning, match="Group 'nan' is named as what is not known often is"):
        policy = eo.fit(known, max_slope=1)
    frame = engines.frame(kind, pa.table({"id": [0, 1], "r": [1.0, 1.0], "g": [1.5, np.nan]}))
    odds = engines.columns(eo.apply(policy, frame, score="r", group="g", on_invalid="null"))["odds"]
    assert odds == [policy.odds([1.0], ["1.5"])[0], None]


def test_categories_of_numbers_in_dask(engines):
    pd, dd = needed("pandas"), needed("dask.dataframe")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": range(400), "r": rng.normal(0, 1, 400), "g": pd.Categorical(rng.integers(1, 3, 400))})
    frame["y"] = pd.Categorical((frame["r"] + rng.normal(0, 1, 400) > 0).astype(int))
    lazy = dd.from_pandas(frame, npartitions=2)
    names = {"score": "r", "group": "g", "label": "y", "positive_label": 1}
    policy = eo.fit(eo.JointDistribution.from_frame(lazy, **names), max_slope=1)
    assert policy == eo.fit(eo.JointDistribution.from_frame(frame, **names), max_slope=1)
    frame.loc[0, "g"] = None
    odds = engines.columns(eo.apply(policy, dd.from_pandas(frame, npartitions=2), score="r", group="g"))["odds"]
    assert [i for i, value in enumerate(odds) if value is None] == [0]


def test_what_is_no_frame_or_no_policy(policy):
    with pytest.raises(eo.DataError, match=r"The frame must be a pandas, polars.* table, got dict. Hint: arrays go to"):
        eo.apply(policy, {"r": [1], "g": ["white"]}, score="r", group="g")
    with pytest.raises(eo.OptionError, match=r"must be a Policy, got str"):
        eo.apply("policy.json", {"r": [1], "g": ["white"]}, score="r", group="g")


def test_a_pandas_frame_keeps_its_index_its_order_and_its_columns(policy):
    pd = needed("pandas")
    frame = pd.DataFrame({"r": [30.0, 20, 10], "g": ["white"] * 3, "note": list("xyz")}, index=["c", "a", "a"])
    before = frame.copy(deep=True)
    applied = eo.apply(policy, frame, score="r", group="g")
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(applied[["r", "g", "note"]], before)
    assert applied["odds"].tolist() == policy.odds([30, 20, 10], "white").tolist()


@pytest.mark.parametrize("dtype", ["float32", "int32", "Int64", "Float64", "double[pyarrow]", "object"])
def test_scores_of_any_numeric_kind(policy, dtype):
    pd = needed("pandas")
    scores = [20.0, 25, 31] if "nt" in dtype else [20.1, 25.5, 31.7]
    frame = pd.DataFrame({"r": pd.Series(scores, dtype=dtype), "g": "white"})
    exact = np.float32(scores).astype(float) if dtype == "float32" else scores
    assert np.array_equal(eo.apply(policy, frame, score="r", group="g")["odds"], policy.odds(exact, "white"))


@pytest.mark.parametrize("index", [pa.int8(), pa.uint32()], ids=str)
@pytest.mark.parametrize("kind", EAGER)
def test_categories_that_nobody_has_do_no_harm(engines, kind, index, policy):
    values = pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 1], index), pa.array(["white", "black", "green"]))
    frame = engines.frame(kind, pa.table({"id": [0, 1, 2, 3], "r": [20.0, 21, 22, 23], "g": values}))
    odds = engines.columns(eo.apply(policy, frame, score="r", group="g", on_invalid="null"))["odds"]
    assert odds[2] is None
    assert odds[:2] + odds[3:] == policy.odds([20, 21, 23], ["black", "white", "black"]).tolist()


def test_a_key_that_holds_the_joiner_is_found_in_every_column_it_may_come_from(engines):
    rng = np.random.default_rng(1)
    left, right = np.repeat(["a, b", "c"], 400), np.tile(["d", "e"], 400)
    score = rng.normal(50, 10, 800)
    label = (score + rng.normal(0, 10, 800) > 50).astype(int)
    policy = eo.fit(eo.JointDistribution.from_arrays(score, [left, right], label), max_slope=0.1)
    table = pa.table({"id": np.arange(800), "r": score, "x": left, "y": right})
    expected = policy.odds(score, [left, right]).tolist()
    for kind in ("pandas", "polars-lazy"):
        applied = eo.apply(policy, engines.frame(kind, table), score="r", group=["x", "y"])
        assert engines.columns(applied)["odds"] == expected


def test_scores_on_another_scale_are_warned_of():
    policy = eo.fit(eo.datasets.credit_risk())
    pd = needed("pandas")
    people = pd.DataFrame({"points": np.linspace(0, 100, 40), "race": "white"})
    eo.apply(policy, people, score="points", group="race")
    for other in (people.assign(points=people["points"] * 10), people.assign(points=-people["points"])):
        with pytest.warns(
            eo.EvenoddsWarning, match=r"of 40 scores lie outside those of the fit, which go from 0 to 100"
        ):
            eo.apply(policy, other, score="points", group="race")
    eo.apply(policy, people.assign(points=5000).head(3), score="points", group="race")  # too few to tell
