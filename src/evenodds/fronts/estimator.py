"""A scikit-learn classifier over a policy: what fairlearn's ThresholdOptimizer is used for, with its own words."""

from __future__ import annotations

import hashlib
import secrets
import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.decisions.draw import draw
from evenodds.errors import DataError, EvenoddsWarning, MissingPackageError, OptionError, one_of
from evenodds.frames import array_of
from evenodds.fronts.folds import FOLDS, check_enough_for, checked_splits, folds_of, is_word
from evenodds.fronts.scores import METHODS, method_of, only_column, scores_of
from evenodds.fronts.sensitive import Columns, groups_in
from evenodds.fronts.target import check_known_classes, classes_of, weights_of
from evenodds.geometry.pieces import Floats
from evenodds.model.certificate import Scored
from evenodds.model.fit import fit_scored
from evenodds.model.goals import Cost
from evenodds.model.joint import JointDistribution
from evenodds.model.keys import GroupLike, encode
from evenodds.model.options import OPTIONS
from evenodds.model.policy import check_no_review
from evenodds.model.population import Guarantee
from evenodds.model.request import TargetLike
from evenodds.model.reviewer import Review
from evenodds.model.scale import Orientation

try:
    from sklearn import get_config
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
    from sklearn.frozen import FrozenEstimator
    from sklearn.model_selection import check_cv, cross_val_predict
    from sklearn.utils import Tags, check_random_state, get_tags
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter, validate_data
except ImportError as missing:
    text = "CurveOptimizer needs scikit-learn 1.6 or newer. Hint: pip install 'evenodds[sklearn]'."
    raise MissingPackageError(text) from missing

__all__ = ["CurveOptimizer"]

_NOT_NEEDED = {
    "grid_size": "points are chosen exactly, not from a grid",
    "flip": "odds never fall as the score rises; a score that ranks a group backwards is told by a warning instead",
}
_HINT = "Hint: sensitive_features=, a column or several, a row for each row of X; or sensitive_columns=, those of X."
_CLASSES = 2


class CurveOptimizer(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier with fair odds: the scores of an estimator, turned into decisions by a policy.

    Odds are the chance of a yes, from 0 to 1: `predict_proba` gives them, and `predict` draws by them. In place of
    fairlearn's ThresholdOptimizer: the same parameters and methods, with continuous curves for hard thresholds, weights
    that count, and decisions that can be repeated.

    Parameters
    ----------
    estimator : estimator, optional
        Gives the score. Without it X is the score itself, one column.
    constraints, objective, tolerance, curve, criterion, max_slope, max_loss, target
        As for `fit`.
    max_randomized, max_randomized_by_group, selection_rate, keep_individual_odds
        As for `fit`.
    confidence, guarantee
        As for `fit`; about new people whose scores are as the out-of-fold ones.
    review
        As for `fit`. `policy_` then has three answers, and a classifier two: ask it, or `evenodds.decide`.
    orientation : "positive" or "negative"
        Whether a higher score speaks for the positive class or against it.
    prefit : bool
        Whether the estimator is fitted already, and shall be used as it is: the curves are fitted to its scores of the
        rows given, which should not be those that it was fitted on. A `FrozenEstimator` is used so in any case.
    predict_method : "auto", "predict_proba", "decision_function" or "predict"
        What to ask the estimator for; "auto" takes the first of these that it has.
    cv : int, splitter, iterable of splits, "prefit" or None
        How the curves get scores that flatter nobody: each row's from an estimator that was fitted without it, in so
        many folds (by label and group) or as a scikit-learn splitter says. The estimator is then fitted on all rows.
        "prefit" is prefit=True. None fits both on the same rows, with a warning: a flexible model is then far surer of
        these than of new ones, and the groups' rates differ among new people.
    n_jobs : int, optional
        How many folds to fit at a time.
    sensitive_columns : str, int or several, optional
        The groups are these columns of X, by name or position, and need not be given again: so the whole of
        scikit-learn can use the classifier, whatever it can route.
    drop_sensitive : bool
        Whether these columns are kept from the estimator.
    resolution : float, optional
        Round the scores to multiples of it before fitting.
    positive_label : one of the two classes, optional
        The class that counts as a yes; the later one in sorted order without it. With `estimator=None` and classes
        that are words it must be named, since nothing else says which of them a high score speaks for.
    tol : float, optional
        fairlearn's name for `tolerance`.
    grid_size, flip : any, optional
        Further words of fairlearn's that are not needed; `fit` says why.

    Attributes
    ----------
    policy_ : Policy
        The curves, with their certificate.
    joint_ : JointDistribution
        The people that the curves were fitted to, with the scores that they were fitted to: out of fold, unless the
        estimator was fitted before. What `audit(..., reference=)`, `stability`, `report` and `update` ask for.
    estimator_ : estimator or None
        The fitted estimator.
    classes_ : array
        The two classes, sorted.

    See Also
    --------
    fit : The same for scores that are there already.
    audit : Measure `policy_` on people that it was not fitted on.
    report : Explain `policy_` in one file.

    Examples
    --------
    >>> import numpy as np
    >>> import evenodds as eo
    >>> rng = np.random.default_rng(0)
    >>> race, score = rng.choice(["black", "white"], 1000), rng.normal(0, 1, 1000)
    >>> repaid = (score + rng.normal(0, 1, 1000) > 0).astype(int)
    >>> fair = eo.CurveOptimizer(max_slope=1).fit(score, repaid, sensitive_features=race)
    >>> fair.predict_proba([-1.0, 0.1, 1.0], sensitive_features=["black", "white", "white"]).round(2)
    array([[1.  , 0.  ],
           [0.46, 0.54],
           [0.  , 1.  ]])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        constraints: str = "equalized_odds",
        objective: str | Cost = "accuracy_score",
        tolerance: float = 0.0,
        curve: str = "linear",
        criterion: str = "gentlest",
        max_slope: float | None = None,
        max_loss: float | None = None,
        target: TargetLike | None = None,
        max_randomized: float | None = None,
        max_randomized_by_group: float | None = None,
        selection_rate: float | None = None,
        keep_individual_odds: bool = False,
        confidence: float | None = None,
        guarantee: Guarantee = "asymptotic",
        review: Review | None = None,
        orientation: Orientation = "positive",
        prefit: bool = False,
        predict_method: str = "auto",
        cv: Any = FOLDS,
        n_jobs: int | None = None,
        sensitive_columns: Columns | None = None,
        drop_sensitive: bool = True,
        resolution: float | None = None,
        positive_label: object = None,
        tol: float | None = None,
        grid_size: object = None,
        flip: object = None,
    ) -> None:
        self.estimator = estimator
        self.constraints = constraints
        self.objective = objective
        self.tolerance = tolerance
        self.curve = curve
        self.criterion = criterion
        self.max_slope = max_slope
        self.max_loss = max_loss
        self.target = target
        self.max_randomized = max_randomized
        self.max_randomized_by_group = max_randomized_by_group
        self.selection_rate = selection_rate
        self.keep_individual_odds = keep_individual_odds
        self.confidence = confidence
        self.guarantee = guarantee
        self.review = review
        self.orientation = orientation
        self.prefit = prefit
        self.predict_method = predict_method
        self.cv = cv
        self.n_jobs = n_jobs
        self.sensitive_columns = sensitive_columns
        self.drop_sensitive = drop_sensitive
        self.resolution = resolution
        self.positive_label = positive_label
        self.tol = tol
        self.grid_size = grid_size
        self.flip = flip

    def fit(
        self,
        X: Any,  # noqa: N803 scikit-learn's name
        y: ArrayLike,
        *,
        sensitive_features: GroupLike = None,
        sample_weight: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the curves to scores of the estimator, and the estimator itself unless it is fitted.

        Parameters
        ----------
        X : array or data frame
            What the estimator is fitted to, a row for each person; without an estimator the score, one column.
        y : array of two classes
            What came true.
        sensitive_features : a column or several, or the name of a column of X
            The groups; without them `sensitive_columns` says where in X they are.
        sample_weight : array, optional
            Counts in the curves, and in the estimator where that takes weights.
        **fit_params : any
            For the estimator's own fit.

        Returns
        -------
        CurveOptimizer
            Itself, with `policy_`.
        """
        one_of("predict_method", self.predict_method, ("auto", *METHODS))
        tolerance = self._migrated_tolerance()
        whole = _checked_target(y)
        has_estimator = self.estimator is not None
        self.classes_, self._positive = classes_of(
            whole, sample_weight, self.positive_label, has_estimator=has_estimator
        )
        labels = np.asarray(whole == self._positive_class)
        folds = folds_of(self.cv, has_estimator=has_estimator, prefit=self._is_prefit, prefit_asked=self.prefit)
        validate_data(self, X, skip_check_array=True)
        groups, features = self._groups(X, sensitive_features)
        own_params = self._params_of_estimator(sample_weight, fit_params)
        if folds is None:
            self.estimator_ = self._fitted_estimator(features, whole, own_params)
            check_known_classes(getattr(self.estimator_, "classes_", None), self.classes_)
            scores = self._scores(features)
        else:
            scores = self._out_of_fold(features, whole, groups, labels, folds, own_params)
            self.estimator_ = self._fitted_estimator(features, whole, own_params)
        joint = JointDistribution.from_arrays(
            scores,
            groups,
            labels,
            weight=sample_weight,
            orientation=self.orientation,
            resolution=self.resolution,
        )
        self.joint_ = joint
        options = {name: getattr(self, name) for name in OPTIONS} | {"tolerance": tolerance}
        self.policy_ = fit_scored(joint, options, self._scored)
        return self

    def predict_proba(self, X: Any, *, sensitive_features: GroupLike = None) -> Floats:  # noqa: N803
        """The odds of each decision, a column for each of `classes_`. Nothing is random here.

        Parameters
        ----------
        X : array or data frame
            A row for each person, as for `CurveOptimizer.fit`.
        sensitive_features : a column or several, or the name of a column of X
            The groups; without them `sensitive_columns` says where in X they are.

        Returns
        -------
        array of shape (n, 2)
            Numbers from 0 to 1; each row sums to 1.
        """
        odds = self._odds(X, sensitive_features)
        both = np.empty((odds.size, _CLASSES))
        both[:, self._positive] = odds
        both[:, 1 - self._positive] = 1 - odds
        return both

    _pmf_predict = predict_proba  # fairlearn's name for it

    def predict(
        self,
        X: Any,  # noqa: N803
        *,
        sensitive_features: GroupLike = None,
        random_state: Any = None,
        id: ArrayLike | None = None,  # noqa: A002 the word of the column
    ) -> NDArray[Any]:
        """Draw a decision for each row by its odds.

        Parameters
        ----------
        X : array or data frame
            A row for each person, as for `CurveOptimizer.fit`.
        sensitive_features : a column or several, or the name of a column of X
            The groups; without them `sensitive_columns` says where in X they are.
        random_state : int, Generator, RandomState or None
            A number makes the draws repeatable.
        id : array, optional
            Who each row is about. Draws then belong to the id, not to the row's place: other rows, or another order,
            change nothing.

        Returns
        -------
        array
            One of `classes_` for each row.

        See Also
        --------
        decide : The same with a secret key, so that others can check the decisions.

        Examples
        --------
        >>> import numpy as np
        >>> import evenodds as eo
        >>> rng = np.random.default_rng(0)
        >>> race, score = rng.choice(["black", "white"], 1000), rng.normal(0, 1, 1000)
        >>> repaid = (score + rng.normal(0, 1, 1000) > 0).astype(int)
        >>> fair = eo.CurveOptimizer(max_slope=1).fit(score, repaid, sensitive_features=race)
        >>> who = {"sensitive_features": ["black", "white", "white"], "id": ["a", "b", "c"]}
        >>> fair.predict([-1.0, 0.1, 1.0], random_state=0, **who)
        array([0, 0, 1])
        """
        odds = self._odds(X, sensitive_features)
        yes = _draws(odds.size, random_state, id) < odds
        return np.asarray(self.classes_[np.where(yes, self._positive, 1 - self._positive)])

    def score(
        self,
        X: Any,  # noqa: N803
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        sensitive_features: GroupLike = None,
    ) -> float:
        """The expected accuracy of the decisions: the mean odds of the class that each row truly has.

        Parameters
        ----------
        X : array or data frame
            A row for each person, as for `CurveOptimizer.fit`.
        y : array
            What came true.
        sample_weight : array, optional
            How much each row counts.
        sensitive_features : a column or several, or the name of a column of X
            The groups; without them `sensitive_columns` says where in X they are.

        Returns
        -------
        float
            From 0 to 1.
        """
        odds = self._odds(X, sensitive_features)
        given = column_or_1d(array_of(y))
        if given.size != odds.size:
            msg = f"X and y have different lengths: {odds.size} and {given.size}."
            raise DataError(msg)
        yes, no = (given == self.classes_[side] for side in (self._positive, 1 - self._positive))
        weights = None if sample_weight is None else weights_of(sample_weight, odds.size)
        return float(np.average(np.where(yes, odds, np.where(no, 1 - odds, 0)), weights=weights))

    # -- scikit-learn's own -----------------------------------------------------------------------------------------

    def set_output(self, *, transform: str | None = None) -> Self:
        """Ask for data frames between the steps of the estimator, where that has steps.

        Parameters
        ----------
        transform : "default", "pandas" or "polars", optional
            As scikit-learn has it.

        Returns
        -------
        CurveOptimizer
            Itself.
        """
        inner = [self.estimator, self.estimator_] if hasattr(self, "estimator_") else [self.estimator]
        for one in inner:
            if hasattr(one, "set_output"):
                one.set_output(transform=transform)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """What goes where: sensitive_features here, fit's other arguments to the estimator too."""
        router = MetadataRouter(owner=self).add_self_request(self)
        if self.estimator is not None:
            router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.non_deterministic = True
        if self.estimator is not None:
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    # -- parts of fit and predict -----------------------------------------------------------------------------------

    def _migrated_tolerance(self) -> float:
        """Translate fairlearn's options; say why some of them are not needed."""
        for name, reason in _NOT_NEEDED.items():
            if getattr(self, name) is not None:
                msg = f"{name}={getattr(self, name)!r} is fairlearn's, and not needed: {reason}. Hint: leave it out."
                raise OptionError(msg)
        if self.tol is None:
            return self.tolerance
        if self.tolerance:
            msg = (
                "tol is fairlearn's name for tolerance: give one of them, "
                f"got tol={self.tol!r} and tolerance={self.tolerance!r}."
            )
            raise OptionError(msg)
        return self.tol

    def _groups(self, X: Any, sensitive_features: Any) -> tuple[GroupLike, Any]:  # noqa: N803
        """The groups of the rows of X, and X as the estimator sees it."""
        if sensitive_features is None and self.sensitive_columns is None:
            msg = f"The groups are not given. {_HINT}"
            raise OptionError(msg)
        if sensitive_features is None:
            return groups_in(X, self.sensitive_columns, drop=self.drop_sensitive)  # type: ignore[arg-type]  # not None
        if self.sensitive_columns is not None:
            msg = (
                f"The groups are given twice: as sensitive_features and by sensitive_columns="
                f"{self.sensitive_columns!r}. Hint: leave out one of them."
            )
            raise OptionError(msg)
        if isinstance(sensitive_features, str):  # the name of a column
            return groups_in(X, sensitive_features, drop=self.drop_sensitive)
        return sensitive_features, X

    def _odds(self, X: Any, sensitive_features: GroupLike) -> Floats:  # noqa: N803
        check_is_fitted(self)
        check_no_review(self.policy_, "A classifier", "evenodds.decide(fair.policy_, ...) says yes, review or no")
        groups, features = self._groups(X, sensitive_features)
        scores = self._scores(features)  # first, since an estimator knows best what is wrong with X
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.policy_.odds(scores, groups)

    @property
    def _positive_class(self) -> Any:
        return self.classes_[self._positive]

    @property
    def _is_prefit(self) -> bool:
        return self.prefit or is_word(self.cv, "prefit") or isinstance(self.estimator, FrozenEstimator)

    @property
    def _scored(self) -> Scored | None:
        """How the scores that the curves are fitted to come about."""
        if self.estimator is None or self._is_prefit:
            return None
        return "same rows" if self.cv is None else "out of fold"

    def _out_of_fold(
        self,
        X: Any,  # noqa: N803
        y: NDArray[Any],
        groups: GroupLike,
        labels: NDArray[np.bool_],
        folds: Any,
        params: dict[str, Any],
    ) -> Floats:
        """Scores of each row by an estimator that was fitted without it."""
        if isinstance(folds, (int, np.integer)):
            codes, keys = encode(groups)
            if codes.size != labels.size:
                msg = f"X, y and the groups have different lengths: y {labels.size}, the groups {codes.size}."
                raise DataError(msg)
            strata = 2 * codes.astype(np.intp) + labels  # codes are as narrow as will do
            check_enough_for(int(folds), strata, keys)
            splits = list(check_cv(folds, strata, classifier=True).split(X, strata))
        else:
            splits = checked_splits(folds, X, y, labels)
        method = method_of(self.estimator, self.predict_method)
        answers = cross_val_predict(self.estimator, X, y, cv=splits, n_jobs=self.n_jobs, method=method, params=params)
        return self._as_scores(array_of(answers), method, self.estimator, self.classes_)

    def _params_of_estimator(self, sample_weight: ArrayLike | None, fit_params: dict[str, Any]) -> dict[str, Any]:
        """What the estimator's own fit is given besides X and y."""
        if self.estimator is None or self._is_prefit:
            return {}
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **weights, **fit_params).estimator.fit)
        if weights and not has_fit_parameter(self.estimator, "sample_weight"):
            msg = (
                f"{type(self.estimator).__name__}.fit takes no sample_weight: the weights count in the curves only. "
                "Hint: scikit-learn's metadata routing carries them into a pipeline."
            )
            warnings.warn(msg, EvenoddsWarning, stacklevel=3)
            weights = {}
        return weights | fit_params

    def _fitted_estimator(self, X: Any, y: NDArray[Any], params: dict[str, Any]) -> Any:  # noqa: N803
        if self.estimator is None:
            return None
        if self._is_prefit:
            check_is_fitted(self.estimator)
            return self.estimator
        if self._scored == "same rows":
            msg = (
                "cv=None fits the curves on the rows that the estimator was fitted on. Of these it is surer than of "
                "new ones, and among new ones the groups may differ much more than it seems. Hint: cv=5."
            )
            warnings.warn(msg, EvenoddsWarning, stacklevel=3)
        return clone(self.estimator).fit(X, y, **params)

    def _scores(self, X: Any) -> Floats:  # noqa: N803
        """What the estimator says of each row, higher for the positive class (for positive orientation)."""
        if self.estimator_ is None:
            return only_column(X)
        method = method_of(self.estimator_, self.predict_method)
        answers = array_of(getattr(self.estimator_, method)(X))
        return self._as_scores(answers, method, self.estimator_, getattr(self.estimator_, "classes_", self.classes_))

    def _as_scores(self, answers: NDArray[Any], method: str, estimator: Any, classes: Any) -> Floats:
        predicts = is_classifier(estimator)
        return scores_of(answers, method, classes, self._positive_class, predicts_classes=predicts)


def _checked_target(y: ArrayLike | None) -> NDArray[Any]:
    """The target as one column of classes."""
    if y is None:
        msg = "requires y to be passed, but the target y is None."  # the words that scikit-learn looks for
        raise DataError(msg)
    column = np.asarray(column_or_1d(array_of(y), warn=True))
    check_classification_targets(column)
    return column


def _draws(count: int, random_state: Any, ids: ArrayLike | None) -> Floats:
    """Uniform numbers: by place, or by id."""
    source = random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)
    if ids is None:
        return np.asarray(source.random(count))
    names = array_of(ids)
    if names.shape != (count,):
        msg = f"id must be one for each row: {count} rows, got shape {names.shape}."
        raise DataError(msg)
    if random_state is None:
        key = secrets.token_hex(32)
    elif isinstance(random_state, (int, np.integer)):
        key = hashlib.sha256(f"evenodds/random_state|{random_state}".encode()).hexdigest()
    else:
        key = source.bytes(32).hex()
    return draw(names.tolist(), key=key)
