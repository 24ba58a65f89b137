from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
import sklearn
from fairlearn.metrics import MetricFrame, equalized_odds_difference, selection_rate
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.base import ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import RocCurveDisplay, accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

import evenodds as eo
from engines import needed

pd = needed("pandas")


@pytest.fixture(scope="module")
def compas():
    """The people of the COMPAS data one by one: decile, age category stand-ins and reoffending, by race and sex."""
    joint = eo.datasets.compas()
    rows = []
    for member in joint.members:
        race, sex = member.key.split(", ")
        for score, no, yes in zip(member.scores, member.negatives, member.positives, strict=True):
            rows += [(score, race, sex, 0)] * int(no) + [(score, race, sex, 1)] * int(yes)
    frame = pd.DataFrame(rows, columns=["decile", "race", "sex", "again"])
    rng = np.random.default_rng(0)
    frame["noise"] = rng.normal(0, 1, len(frame))
    return frame.sample(frac=1, random_state=0, ignore_index=True)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


X_COLUMNS = ["decile", "noise"]


# -- scikit-learn ------------------------------------------------------------------------------------------------------


def _rows(X):  # noqa: N803
    return X.shape[0] if hasattr(X, "shape") else np.asarray(X).shape[0]


class OneGroup(eo.CurveOptimizer):
    """scikit-learn's checks know nothing of groups: everybody is in one, and the seed is fixed."""

    def fit(self, X, y, sample_weight=None):  # noqa: N803
        return super().fit(X, y, sensitive_features=np.zeros(_rows(X), int), sample_weight=sample_weight)

    def predict_proba(self, X):  # noqa: N803
        return super().predict_proba(X, sensitive_features=np.zeros(_rows(X), int))

    def predict(self, X):  # noqa: N803
        return super().predict(X, sensitive_features=np.zeros(_rows(X), int), random_state=0)

    def score(self, X, y, sample_weight=None):  # noqa: N803
        return ClassifierMixin.score(self, X, y, sample_weight)


CANNOT = {"check_classifiers_train": "wants predict to be the argmax of predict_proba, and ours is drawn by the odds"}
SKIPPED_BY_SKLEARN = {
    "check_pipeline_consistency": "scikit-learn skips it for estimators that are tagged as random",
    "check_array_api_input": "scikit-learn skips it unless SCIPY_ARRAY_API is set",
}


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::RuntimeWarning")
def test_scikit_learns_own_checks():
    results = check_estimator(OneGroup(LogisticRegression(), cv=3), on_fail=None, on_skip=None)
    status = {name: {r["check_name"] for r in results if r["status"] == name} for name in ("failed", "skipped")}
    assert status["failed"] == set(CANNOT), [r for r in results if r["status"] == "failed"]
    assert status["skipped"] == set(SKIPPED_BY_SKLEARN)
    assert Counter(r["status"] for r in results)["passed"] >= 55


def test_it_is_cloned_changed_pickled_and_shown(compas):
    fair = eo.CurveOptimizer(LogisticRegression(), max_slope=0.2, constraints="true_positive_rate_parity")
    assert clone(fair).get_params()["max_slope"] == 0.2
    fair.set_params(max_slope=0.3, estimator__C=2.0)
    assert (fair.max_slope, fair.estimator.C) == (0.3, 2.0)
    assert fair.estimator is not clone(fair).estimator
    fair.set_params(max_slope=10)
    fair.fit(compas[X_COLUMNS], compas["again"], sensitive_features=compas["race"])
    again = pickle.loads(pickle.dumps(fair))  # noqa: S301 our own
    assert again.policy_ == fair.policy_
    features = {"sensitive_features": compas["race"]}
    assert np.array_equal(
        again.predict_proba(compas[X_COLUMNS], **features), fair.predict_proba(compas[X_COLUMNS], **features)
    )
    assert fair.feature_names_in_.tolist() == X_COLUMNS
    assert fair.n_features_in_ == 2
    assert "LogisticRegression" in fair._repr_html_()
    assert "max_slope=10" in repr(fair)


@pytest.mark.usefixtures("routing")
def test_in_a_pipeline_with_metadata_routing(compas):
    fair = eo.CurveOptimizer(LogisticRegression(), max_loss=0.02)
    for set_request in (fair.set_fit_request, fair.set_predict_request, fair.set_predict_proba_request):
        set_request(sensitive_features=True)
    model = make_pipeline(StandardScaler(), fair).set_output(transform="pandas")
    features = {"sensitive_features": compas[["race", "sex"]]}
    model.fit(compas[X_COLUMNS], compas["again"], **features)
    odds = model.predict_proba(compas[X_COLUMNS], **features)
    assert odds.sum(axis=1) == pytest.approx(1)
    assert model[-1].policy_.groups == eo.datasets.compas().groups
    assert set(model.predict(compas[X_COLUMNS], **features)) == {0, 1}
    assert model[-1].feature_names_in_.tolist() == X_COLUMNS, "set_output reached the steps"


def test_a_pipeline_inside(compas):
    inner = make_pipeline(
        make_column_transformer((OneHotEncoder(sparse_output=False), ["race"]), remainder=StandardScaler()),
        LogisticRegression(),
    )
    fair = eo.CurveOptimizer(inner, max_loss=0.02).set_output(transform="pandas")
    fair.fit(compas[["race", *X_COLUMNS]], compas["again"], sensitive_features=compas["race"])
    assert "onehotencoder__race_Caucasian" in fair.estimator_[-1].feature_names_in_


@pytest.mark.usefixtures("routing")
def test_in_a_grid_search_and_in_cross_validation(compas):
    fair = eo.CurveOptimizer(LogisticRegression())
    fair.set_fit_request(sensitive_features=True).set_score_request(sensitive_features=True)
    features = {"sensitive_features": compas["race"]}
    search = GridSearchCV(fair, {"max_loss": [0.0, 0.05], "estimator__C": [0.1, 1.0]}, cv=2)
    search.fit(compas[X_COLUMNS], compas["again"], **features)
    assert search.best_params_["max_loss"] in (0.0, 0.05)
    assert 0.5 < search.best_score_ < 0.75
    assert search.best_estimator_.policy_.groups == tuple(sorted(set(compas["race"])))
    scores = cross_validate(fair, compas[X_COLUMNS], compas["again"], cv=3, params=features, return_estimator=True)
    assert scores["test_score"] == pytest.approx(search.best_score_, abs=0.05)
    # The score is the expected accuracy, so that the same fold gives the same figure each time.
    one = scores["estimator"][0]
    assert one.score(compas[X_COLUMNS], compas["again"], **features) == one.score(
        compas[X_COLUMNS], compas["again"], **features
    )


# -- scores that flatter nobody ----------------------------------------------------------------------------------------


def overfitted(seed, rows):
    """People of two groups whose features tell apart differently: a forest knows those it was fitted on by heart."""
    rng = np.random.default_rng(seed)
    group, table = rng.choice(["a", "b"], rows, p=[0.7, 0.3]), rng.normal(size=(rows, 8))
    is_a = group == "a"
    y = (
        table[:, 0]
        + 0.5 * table[:, 1]
        + 0.8 * is_a
        + np.where(is_a, 0.5, -0.5) * table[:, 2]
        + rng.normal(0, 1.2, rows)
        > 0.3
    )
    return np.column_stack([table, is_a]), group, y.astype(int)


def difference(odds, group, label):
    rates = [[odds[(group == one) & (label == y)].mean() for one in "ab"] for y in (0, 1)]
    return max(abs(a - b) for a, b in rates)


def test_curves_are_fitted_to_scores_of_rows_that_the_model_did_not_see():
    table, group, y = overfitted(0, 1500)
    fresh, other, truth = overfitted(1000, 20_000)
    forest = RandomForestClassifier(60, random_state=0)
    fair = eo.CurveOptimizer(forest).fit(table, y, sensitive_features=group)
    assert fair.policy_.certificate.scored == "out of fold"
    assert "out-of-fold scores" in str(fair.policy_.certificate)
    with pytest.warns(eo.EvenoddsWarning, match="cv=None fits the curves on the rows that the estimator was fitted on"):
        flattered = eo.CurveOptimizer(forest, cv=None).fit(table, y, sensitive_features=group)
    assert flattered.policy_.certificate.scored == "same rows"
    assert "Beware: the estimator was fitted on these very people" in str(flattered.policy_.certificate)
    assert flattered.policy_.certificate.objective > 0.95
    apart = [
        difference(one.predict_proba(fresh, sensitive_features=other)[:, 1], other, truth) for one in (fair, flattered)
    ]
    assert apart[0] < 0.06
    assert apart[1] > 0.09
    # The estimator is the one that was fitted on everybody.
    alone = clone(forest).fit(table, y)
    assert np.array_equal(fair.estimator_.predict_proba(fresh), alone.predict_proba(fresh))


@pytest.mark.guarantee
def test_guarantee_a_forest_holds_for_fresh_people():
    apart = []
    for seed in range(6):
        table, group, y = overfitted(seed, 3000)
        fresh, other, truth = overfitted(1000 + seed, 40_000)
        fair = eo.CurveOptimizer(RandomForestClassifier(200, random_state=0)).fit(table, y, sensitive_features=group)
        apart.append(difference(fair.predict_proba(fresh, sensitive_features=other)[:, 1], other, truth))
    assert np.mean(apart) <= 0.04


def test_folds_are_scikit_learns(compas):
    table, y, race = compas[X_COLUMNS], compas["again"], compas["race"]
    model = LogisticRegression()
    strata = race + y.astype(str)
    splits = list(StratifiedKFold(5).split(table, strata))
    said = cross_val_predict(model, table, y, cv=splits, method="predict_proba")[:, 1]
    by_hand = eo.fit(eo.JointDistribution.from_arrays(said, race, y), max_slope=20)
    for cv in (5, splits, iter(splits)):
        fair = eo.CurveOptimizer(model, max_slope=20, cv=cv).fit(table, y, sensitive_features=race)
        assert fair.policy_.group_curves == by_hand.group_curves
    grouped = eo.CurveOptimizer(model, max_slope=20, cv=KFold(3, shuffle=True, random_state=1), n_jobs=2)
    assert grouped.fit(table, y, sensitive_features=race).policy_.group_curves != by_hand.group_curves


def test_a_fitted_estimator_is_left_alone(compas):
    table, y, race = compas[X_COLUMNS], compas["again"], compas["race"]
    model = LogisticRegression().fit(table[:3000], y[:3000])
    ways = (
        eo.CurveOptimizer(model, prefit=True, max_slope=20),
        eo.CurveOptimizer(model, cv="prefit", max_slope=20),
        eo.CurveOptimizer(FrozenEstimator(model), max_slope=20),
    )
    policies = [way.fit(table[3000:], y[3000:], sensitive_features=race[3000:]).policy_ for way in ways]
    assert policies[0] == policies[1] == policies[2]
    assert policies[0].certificate.scored is None
    assert ways[0].estimator_ is model


class Everybody:
    """One split that tests the rows that it fits on."""

    def split(self, X, y=None, groups=None):  # noqa: ARG002, N803 scikit-learn's names
        yield np.arange(len(X)), np.arange(len(X))

    def get_n_splits(self, *_):
        return 1

    def __repr__(self):
        return f"{type(self).__name__}()"


class ByLabel(Everybody):
    """Two splits that fit on one label and test the other."""

    def split(self, X, y=None, groups=None):  # noqa: ARG002, N803 as above
        sides = [np.flatnonzero(np.asarray(y) == label) for label in (0, 1)]
        yield from (sides, sides[::-1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prefit": True, "cv": 3}, "cv=3 fits the estimator, which is fitted already"),
        ({"cv": "loo"}, "cv='loo' is not allowed. Allowed: a number of folds"),
        ({"cv": 1}, "cv=1 is not allowed. Allowed: 2 folds or more"),
        ({"cv": True}, "cv=True is not allowed"),
        ({"cv": 2.5}, "cv=2.5 is not allowed. Allowed: a number of folds"),
        ({"cv": [(np.arange(3000), np.arange(3000, 6000))]}, "cv=<list> does not test every row once: .* in no split"),
        (
            {"cv": GroupKFold()},
            r"cv=GroupKFold\(.*\) does not split these rows: .*Hint: cv=list\(GroupKFold\(...\).split",
        ),
        ({"cv": KFold(100_000)}, r"cv=KFold\(n_splits=100000, .*\) does not split these rows: Cannot have number of"),
        ({"cv": []}, "cv=<list> has no splits. Hint: cv=5"),
        ({"cv": np.array([])}, "cv=<ndarray> has no splits. Hint: cv=5"),
        ({"cv": iter(())}, r"has no splits. Hint: an iterator has its splits once only: give list\(...\) of it"),
        ({"cv": [1, 2]}, "Split 1 of cv=<list> is 1. Allowed: two arrays of whole numbers"),
        ({"cv": [([True, False], [False, True])]}, "Hint: np.flatnonzero makes positions of a mask"),
        ({"cv": [([1, 2], [0]), ([0, 1], [9999])]}, "Split 2 of cv=<list> has position 9999. Allowed: 0 to "),
        (
            {"cv": TimeSeriesSplit(3)},
            "does not test every row once: .* rows are tested in no split .first at position 0",
        ),
        (
            {"cv": RepeatedKFold(n_splits=2)},
            "does not test every row once: .* in more than one split .first at position 0",
        ),
        ({"cv": Everybody()}, "Split 1 of cv=Everybody.. tests .* rows that it fits on. Each row must be tested once"),
        ({"cv": ByLabel()}, "Split 1 of cv=ByLabel.. fits on 1 class only. Hint: shuffle=True"),
        ({"cv": 300}, "'Caucasian, Female' has 199 positives, fewer than the 300 folds of cv=300. Hint: cv=199, or"),
        ({"estimator": None, "cv": 3}, "cv=3 is about an estimator, got None"),
        ({"confidence": 0.95}, "confidence=0.95 is about a tolerance for new people, and tolerance is 0"),
        ({"sensitive_columns": "race"}, "The groups are given twice"),
    ],
)
def test_folds_that_cannot_be(compas, options, message):
    table, y = compas[X_COLUMNS], compas["again"]
    fair = eo.CurveOptimizer(**{"estimator": LogisticRegression().fit(table, y), **options})
    with pytest.raises(eo.EvenoddsError, match=message):
        fair.fit(table, y, sensitive_features=compas[["race", "sex"]])


def test_among_many_groups_the_right_one_is_named():
    """Of a hundred groups, twice the code of one is more than the codes' own type holds."""
    group = np.repeat([f"g{i:02}" for i in range(100)], 20)
    y = np.tile([0, 1], 1000)
    y[np.flatnonzero(group == "g90")[4:]] = 0
    with pytest.raises(eo.DataError, match="Group 'g90' has 2 positives, fewer than the 5 folds"):
        eo.CurveOptimizer(LogisticRegression()).fit(np.arange(2000)[:, None], y, sensitive_features=group)


# -- groups that are columns of X --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy"])
def test_groups_are_columns_of_x(compas, kind):
    frame = compas[["decile", "race", "noise"]]
    y, race = compas["again"], compas["race"]
    table = {"pandas": lambda: frame, "polars": lambda: needed("polars").from_pandas(frame), "numpy": frame.to_numpy}[
        kind
    ]()
    beside = eo.CurveOptimizer(LogisticRegression(), max_slope=20).fit(
        compas[X_COLUMNS].to_numpy(), y, sensitive_features=race
    )
    for columns in ("race", [1], -2) if kind != "numpy" else (1, [1]):
        fair = eo.CurveOptimizer(LogisticRegression(), max_slope=20, sensitive_columns=columns).fit(table, y)
        assert fair.policy_.group_curves == beside.policy_.group_curves
        assert np.array_equal(
            fair.predict_proba(table), beside.predict_proba(compas[X_COLUMNS].to_numpy(), sensitive_features=race)
        )
        assert fair.n_features_in_ == 3
        assert fair.estimator_.n_features_in_ == 2
    if kind != "numpy":
        named = eo.CurveOptimizer(LogisticRegression(), max_slope=20).fit(table, y, sensitive_features="race")
        assert named.policy_ == fair.policy_
        assert np.array_equal(named.predict_proba(table, sensitive_features="race"), fair.predict_proba(table))


def test_the_estimator_may_see_the_groups(compas):
    table = compas[["decile"]].assign(sex=(compas["sex"] == "Male").astype(int))
    seen = eo.CurveOptimizer(LogisticRegression(), sensitive_columns="sex", drop_sensitive=False, max_slope=20)
    assert seen.fit(table, compas["again"]).estimator_.n_features_in_ == 2
    alone = eo.CurveOptimizer(sensitive_columns="sex", max_slope=0.3).fit(
        table, compas["again"]
    )  # X is score and group
    assert (
        alone.policy_
        == eo.CurveOptimizer(max_slope=0.3)
        .fit(table[["decile"]], compas["again"], sensitive_features=table["sex"])
        .policy_
    )


def test_scikit_learn_needs_no_routing_for_columns_of_x(compas):
    matplotlib = needed("matplotlib")
    matplotlib.use("Agg")
    table, y = compas[["decile", "race", "noise"]][:2500], compas["again"][:2500]
    fair = eo.CurveOptimizer(LogisticRegression(), sensitive_columns="race", max_slope=20)
    for scoring in ("balanced_accuracy", "roc_auc", None):
        scores = cross_val_score(fair, table, y, cv=3, scoring=scoring)
        assert 0.5 < scores.mean() < 0.8
    search = GridSearchCV(fair, {"max_slope": [10, 20]}, cv=2).fit(table, y)
    assert set(search.predict(table)) == {0, 1}
    shown = RocCurveDisplay.from_estimator(fair.fit(table, y), table, y)
    assert 0.6 < shown.roc_auc < 0.8
    assert hasattr(shown, "line_")


@pytest.mark.parametrize(
    ("columns", "what", "message"),
    [
        ("rase", "frame", "no column 'rase'.*did you mean 'race'"),
        (7, "frame", "sensitive_columns has 7, and X has 3 columns"),
        ("race", "numbers", "X has no columns with names, so none is 'race'"),
        (2.5, "frame", "sensitive_columns=2.5 is not allowed. Allowed: names or positions"),
        ([], "frame", "is not allowed. Allowed: names or positions"),
        (0, "vector", "columns of X, which has shape"),
    ],
)
def test_columns_that_are_not_there(compas, columns, what, message):
    frame = compas[["decile", "race", "noise"]]
    given = {"frame": frame, "numbers": frame[X_COLUMNS].to_numpy(), "vector": frame["decile"].to_numpy()}[what]
    with pytest.raises(eo.EvenoddsError, match=message):
        eo.CurveOptimizer(sensitive_columns=columns).fit(given, compas["again"])


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState, int])
def test_a_seed_a_generator_or_a_random_state(compas, kind):
    fair = eo.CurveOptimizer(max_slope=0.2).fit(compas["decile"], compas["again"], sensitive_features=compas["sex"])
    call = {"X": compas["decile"], "sensitive_features": compas["sex"]}
    for ids in (None, [str(i) for i in range(len(compas))]):
        one, two = (fair.predict(**call, random_state=kind(7), id=ids) for _ in range(2))
        assert np.array_equal(one, two)
        assert not np.array_equal(one, fair.predict(**call, random_state=kind(8), id=ids))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), "y and sample_weight have different lengths: 1000 and 3"),
        (np.zeros(1000), "sample_weight is zero for every row"),
        (np.full(1000, -1.0), "sample_weight has 1000 negative values"),
    ],
)
def test_weights_that_cannot_be_are_refused_by_fit_and_by_score(compas, weight, message):
    people = compas[:1000]
    rows = {"X": people["decile"], "y": people["again"], "sensitive_features": people["sex"]}
    fair = eo.CurveOptimizer(max_slope=20)
    with pytest.raises(eo.DataError, match=message):
        fair.fit(**rows, sample_weight=weight)
    fair.fit(**rows)
    with pytest.raises(eo.DataError, match=message):
        fair.score(**rows, sample_weight=weight)


@pytest.mark.filterwarnings("ignore:cv=None fits the curves")
def test_weights_reach_the_estimator_and_the_curves(compas):
    people = compas[:1500]
    weight = np.random.default_rng(1).integers(0, 3, len(people)).astype(float)
    repeated = people.loc[people.index.repeat(weight.astype(int))]
    # The same folds would not be the same people: what is repeated falls into several.
    fair = eo.CurveOptimizer(LogisticRegression(), max_slope=20, cv=None)
    weighted = clone(fair).fit(
        people[["decile"]], people["again"], sensitive_features=people["sex"], sample_weight=weight
    )
    longer = clone(fair).fit(repeated[["decile"]], repeated["again"], sensitive_features=repeated["sex"])
    assert weighted.policy_.groups == ("Female", "Male")
    for key in weighted.policy_.groups:
        assert weighted.policy_.curves[key].t0 == pytest.approx(longer.policy_.curves[key].t0, abs=1e-5)
    unweighted = clone(fair).fit(people[["decile"]], people["again"], sensitive_features=people["sex"])
    assert unweighted.policy_ != weighted.policy_
    inner = eo.CurveOptimizer(make_pipeline(StandardScaler(), LogisticRegression()), max_slope=20)
    with pytest.warns(
        eo.EvenoddsWarning, match=r"Pipeline.fit takes no sample_weight: .* Hint: scikit-learn's metadata"
    ):
        inner.fit(people[["decile"]], people["again"], sensitive_features=people["sex"], sample_weight=weight)


@pytest.mark.usefixtures("routing")
def test_weights_are_routed_into_a_pipeline(compas):
    people = compas[:1500]
    weight = np.random.default_rng(1).integers(1, 3, len(people)).astype(float)
    inner = make_pipeline(StandardScaler(), LogisticRegression().set_fit_request(sample_weight=True))
    inner[0].set_fit_request(sample_weight=True)
    fair = eo.CurveOptimizer(inner, max_slope=20).set_fit_request(sensitive_features=True, sample_weight=True)
    fair.fit(people[["decile"]], people["again"], sensitive_features=people["sex"], sample_weight=weight)
    plain = clone(inner).fit(people[["decile"]], people["again"], sample_weight=weight)
    assert np.array_equal(fair.estimator_[-1].coef_, plain[-1].coef_)


# -- fairlearn ---------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_beside_fairlearns_threshold_optimizer(compas):
    """The same lines, the same promise kept, and an accuracy that is no worse."""
    X, y, race = compas[["decile"]], compas["again"], compas["race"]  # noqa: N806
    scorer = LogisticRegression().fit(X, y)
    options = {"estimator": scorer, "constraints": "equalized_odds", "objective": "accuracy_score", "prefit": True}
    theirs = ThresholdOptimizer(**options, predict_method="predict_proba").fit(X, y, sensitive_features=race)
    ours = eo.CurveOptimizer(**options, predict_method="predict_proba", curve="fixed")
    ours.fit(X, y, sensitive_features=race)
    odds = {
        name: model._pmf_predict(X, sensitive_features=race)[:, 1]  # noqa: SLF001 fairlearn's own name
        for name, model in (("t", theirs), ("o", ours))
    }

    def unfair(values):
        return max(np.ptp([values[(race == r) & (y == side)].mean() for r in set(race)]) for side in (0, 1))

    def accuracy(values):
        return np.where(y == 1, values, 1 - values).mean()

    assert unfair(odds["o"]) < 1e-12
    assert accuracy(odds["o"]) >= accuracy(odds["t"]) - 1e-12, "theirs looks at a grid of points only"
    assert ours.estimator_ is scorer


def test_with_fairlearns_metric_frame(compas):
    fair = eo.CurveOptimizer(RandomForestClassifier(20, min_samples_leaf=50, random_state=0), max_loss=0.01)
    fair.fit(compas[X_COLUMNS], compas["again"], sensitive_features=compas["race"])
    decided = fair.predict(compas[X_COLUMNS], sensitive_features=compas["race"], random_state=0)
    table = MetricFrame(
        metrics={"accuracy": accuracy_score, "selected": selection_rate},
        y_true=compas["again"],
        y_pred=decided,
        sensitive_features=compas["race"],
    )
    assert set(table.by_group.index) == set(fair.policy_.groups)
    assert table.overall["accuracy"] == pytest.approx(fair.policy_.certificate.objective, abs=0.03)
    large = compas["race"].isin(["African-American", "Caucasian"])
    gap = equalized_odds_difference(compas["again"][large], decided[large], sensitive_features=compas["race"][large])
    assert gap < 0.08, "of drawn decisions, which differ by chance"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid_size": 1000}, "grid_size=1000 is fairlearn's, and not needed: points are chosen exactly"),
        ({"flip": False}, "flip=False is fairlearn's, and not needed: odds never fall"),
        ({"tol": 0.1, "tolerance": 0.2}, "tol is fairlearn's name for tolerance: give one of them"),
        ({"predict_method": "proba"}, "predict_method='proba' is not known. Allowed: auto, predict_proba"),
        ({"constraints": "equal_odds"}, "constraints='equal_odds' is not known.*did you mean 'equalized_odds'"),
        ({"prefit": True}, "prefit=True is about an estimator, got None"),
        ({"orientation": "down"}, "orientation='down' is not known"),
        ({"positive_label": 7}, "positive_label=7 does not occur in y, which has 0 and 1"),
    ],
)
def test_bad_options(compas, options, message):
    with pytest.raises(eo.EvenoddsError, match=message):
        eo.CurveOptimizer(**options).fit(compas["decile"], compas["again"], sensitive_features=compas["sex"])


def test_fairlearns_tol_is_the_tolerance(compas):
    fit = {"X": compas["decile"], "y": compas["again"], "sensitive_features": compas["sex"]}
    one, other = eo.CurveOptimizer(tol=0.05, max_slope=0.2), eo.CurveOptimizer(tolerance=0.05, max_slope=0.2)
    assert one.fit(**fit).policy_ == other.fit(**fit).policy_
    assert one.policy_.certificate.tolerance == 0.05


# -- scores, groups and labels of every kind ---------------------------------------------------------------------------


def test_without_an_estimator_x_is_the_score(compas):
    expected = eo.fit(eo.JointDistribution.from_arrays(compas["decile"], compas["sex"], compas["again"]), max_slope=0.2)
    polars, pyarrow = needed("polars"), needed("pyarrow")
    frame = compas[["decile"]]
    for X in (  # noqa: N806
        compas["decile"],
        frame,
        frame.to_numpy(),
        compas["decile"].tolist(),
        polars.from_pandas(frame),
        polars.from_pandas(frame)["decile"],
        pyarrow.Table.from_pandas(frame),
    ):
        fair = eo.CurveOptimizer(max_slope=0.2).fit(X, compas["again"], sensitive_features=compas["sex"])
        assert fair.policy_ == expected
        odds = fair.predict_proba(X, sensitive_features=compas["sex"])[:, 1]
        assert np.array_equal(odds, expected.odds(compas["decile"], compas["sex"]))
    with pytest.raises(eo.DataError, match=r"Without an estimator X is the score, one column; got shape \(\d+, 2\)"):
        eo.CurveOptimizer().fit(compas[X_COLUMNS], compas["again"], sensitive_features=compas["sex"])


def test_groups_in_frames_of_any_kind(compas):
    polars, pyarrow = needed("polars"), needed("pyarrow")
    groups = compas[["race", "sex"]]
    policies = {
        eo.CurveOptimizer(max_slope=0.3).fit(compas["decile"], compas["again"], sensitive_features=kind).policy_.groups
        for kind in (
            groups,
            groups.to_numpy(),
            polars.from_pandas(groups),
            pyarrow.Table.from_pandas(groups),
            [compas["race"], compas["sex"]],
            groups.astype("category"),
        )
    }
    assert policies == {eo.datasets.compas().groups}


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (LogisticRegression(), "predict_proba"),
        (LogisticRegression(), "decision_function"),
        (LinearSVC(), "auto"),
        (LinearRegression(), "auto"),
        (LogisticRegression(), "predict"),
    ],
)
def test_every_way_to_ask_for_a_score(compas, estimator, method):
    X, y = compas[X_COLUMNS], compas["again"]  # noqa: N806
    fair = eo.CurveOptimizer(estimator, predict_method=method, max_loss=0.05, curve="linear")
    fair.fit(X, y, sensitive_features=compas["sex"])
    assert fair.policy_.certificate.residual < 1e-9
    assert fair.policy_.certificate.objective > 0.55
    with pytest.raises(eo.OptionError, match="LinearRegression has no predict_proba"):
        eo.CurveOptimizer(LinearRegression(), predict_method="predict_proba").fit(
            X, y, sensitive_features=compas["sex"]
        )


@pytest.mark.parametrize("method", ["predict_proba", "decision_function", "predict"])
def test_the_positive_class_may_be_the_first(compas, method):
    """Naming the other class mirrors the problem: the odds of each class stay what they are."""
    X = compas[["decile"]]  # noqa: N806
    words = np.where(compas["again"] == 1, "again", "never")
    by_default = eo.CurveOptimizer(LogisticRegression(), predict_method=method, max_loss=0.02)
    named = clone(by_default).set_params(positive_label="again")
    features = {"sensitive_features": compas["sex"]}
    odds = [model.fit(X, words, **features).predict_proba(X, **features) for model in (by_default, named)]
    assert np.abs(odds[0] - odds[1]).max() < 1e-6
    assert set(named.predict(X, **features)) == {"again", "never"}


def test_words_need_a_positive_label_when_x_is_the_score(compas):
    words = np.where(compas["again"] == 1, "yes", "no")
    with pytest.raises(
        eo.OptionError, match=r"classes 'no' and 'yes', and nothing says which is the yes. Hint: positive"
    ):
        eo.CurveOptimizer().fit(compas["decile"], words, sensitive_features=compas["sex"])
    fair = eo.CurveOptimizer(positive_label="yes", max_slope=0.2)
    fair.fit(compas["decile"], words, sensitive_features=compas["sex"])
    assert fair.predict_proba([10], sensitive_features=["Male"])[0, 1] == 1


def test_a_column_of_labels_and_labels_of_another_length(compas):
    X, y, sex = compas["decile"], compas["again"].to_numpy(), {"sensitive_features": compas["sex"]}  # noqa: N806
    fair = eo.CurveOptimizer(max_slope=0.2).fit(X, y, **sex)
    with pytest.warns(match="column-vector y"):
        eo.CurveOptimizer(max_slope=0.2).fit(X, y[:, None], **sex)
    assert fair.score(X, y[:, None], **sex) == fair.score(X, y, **sex)
    for short in (y[:1], y[:5]):
        with pytest.raises(eo.DataError, match="X and y have different lengths"):
            fair.score(X, short, **sex)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_an_estimator_of_other_classes_is_refused(compas, method):
    X, y = compas[["decile"]], compas["again"]  # noqa: N806
    other = LogisticRegression().fit(X, np.where(y == 1, "yes", "no"))
    fair = eo.CurveOptimizer(other, prefit=True, predict_method=method)
    with pytest.raises(eo.OptionError, match=r"The estimator knows the classes \['no', 'yes'\], and y has \[0, 1\]"):
        fair.fit(X, y, sensitive_features=compas["sex"])


def test_masked_values_are_not_data(compas):
    score = np.ma.masked_equal(compas["decile"].to_numpy(), 3.0)
    label = np.ma.masked_array(compas["again"].to_numpy(), mask=np.arange(len(compas)) < 5)
    for X, y in ((score, compas["again"]), (compas["decile"], label)):  # noqa: N806
        with pytest.raises(eo.DataError, match="masked values"):
            eo.CurveOptimizer().fit(X, y, sensitive_features=compas["sex"])


def test_negative_orientation(compas):
    up = eo.CurveOptimizer(max_slope=0.2).fit(compas["decile"], compas["again"], sensitive_features=compas["sex"])
    down = eo.CurveOptimizer(max_slope=0.2, orientation="negative")
    down.fit(-compas["decile"], compas["again"], sensitive_features=compas["sex"])
    assert down.score(-compas["decile"], compas["again"], sensitive_features=compas["sex"]) == pytest.approx(
        up.score(compas["decile"], compas["again"], sensitive_features=compas["sex"])
    )


# -- draws -------------------------------------------------------------------------------------------------------------


def test_draws_belong_to_ids_not_to_rows(compas):
    score, sex = compas["decile"].to_numpy(), compas["sex"].to_numpy()
    ids = np.array([f"person {i}" for i in range(len(score))])
    fair = eo.CurveOptimizer(max_slope=0.2).fit(score, compas["again"], sensitive_features=sex)
    decided = fair.predict(score, sensitive_features=sex, random_state=3, id=ids)
    order = np.random.default_rng(0).permutation(len(score))[:1000]
    again = fair.predict(score[order], sensitive_features=sex[order], random_state=3, id=ids[order])
    assert np.array_equal(again, decided[order])
    other = fair.predict(score, sensitive_features=sex, random_state=4, id=ids)
    assert (other != decided).any()
    odds = fair.predict_proba(score, sensitive_features=sex)[:, 1]
    assert decided.mean() == pytest.approx(odds.mean(), abs=0.02)
    assert np.array_equal(
        fair.predict(score, sensitive_features=sex, random_state=3),
        fair.predict(score, sensitive_features=sex, random_state=3),
    )
    assert (fair.predict(score, sensitive_features=sex) != fair.predict(score, sensitive_features=sex)).any()


def test_bad_ids(compas):
    fair = eo.CurveOptimizer(max_slope=0.2).fit(compas["decile"], compas["again"], sensitive_features=compas["sex"])
    call = {"X": [3.0, 4.0], "sensitive_features": ["Male", "Female"], "random_state": 0}
    for ids, message in [
        (["a"], r"id must be one for each row: 2 rows, got shape \(1,\)"),
        (["a", " b"], r"id ' b' cannot be drawn for"),
        (["a", None], r"id None cannot be drawn for"),
        (["a", "e\u0301"], r"NFC-normalised"),
    ]:
        with pytest.raises(eo.DataError, match=message):
            fair.predict(**call, id=ids)


# -- wrong use ---------------------------------------------------------------------------------------------------------


def test_use_before_fit_without_groups_or_with_unknown_ones(compas):
    fair = eo.CurveOptimizer(max_slope=0.2)
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        fair.predict([1.0], sensitive_features=["Male"])
    with pytest.raises(eo.OptionError, match=r"The groups are not given\. Hint: sensitive_features="):
        fair.fit(compas["decile"], compas["again"])
    fair.fit(compas["decile"], compas["again"], sensitive_features=compas["sex"])
    with pytest.raises(eo.OptionError, match=r"The groups are not given\. Hint: sensitive_features="):
        fair.predict([1.0])
    with pytest.raises(eo.UnknownGroupError, match=r"does not know the group 'other'\. Known: 'Female', 'Male'"):
        fair.predict([1.0], sensitive_features=["other"])
    with pytest.raises(eo.DataError, match="different lengths"):
        fair.predict([1.0, 2, 3], sensitive_features=["Male", "Female"])
    with pytest.raises(eo.DataError, match=r"different lengths: score \d+, group 10, label \d+"):
        fair.fit(compas["decile"], compas["again"], sensitive_features=compas["sex"][:10])
    with pytest.raises(eo.DataError, match="multiclass: 10 classes"):
        fair.fit(compas["decile"], compas["decile"].astype(int), sensitive_features=compas["sex"])
    with pytest.raises(NotFittedError):
        eo.CurveOptimizer(LogisticRegression(), prefit=True).fit(
            compas[X_COLUMNS], compas["again"], sensitive_features=compas["sex"]
        )
