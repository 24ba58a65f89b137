"""What a policy provably does, and how far it provably is from the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar, cast

import numpy as np

from evenodds.errors import DataError, OptionError
from evenodds.geometry.pieces import Floats
from evenodds.model import wording
from evenodds.model.comparisons import Before, Change, OneThreshold
from evenodds.model.goals import Rate, constraint_of
from evenodds.model.population import Guarantee, Population, Spread
from evenodds.model.reviewed import Reviewed
from evenodds.model.roc import Point
from evenodds.showing import Shown
from evenodds.values import confidence_of

__all__ = ["Certificate", "Scored"]

T = TypeVar("T")
Scored = Literal["out of fold", "same rows"]
_ONE_BY_ONE = RLock()
_ROUNDING = 1e-15  # of an objective


class _Later(Generic[T]):
    """A field that may wait: where there is a program, that fills in all such fields when one is first looked at."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, certificate: object, owner: type | None = None) -> T:
        if certificate is None:
            raise AttributeError(self._name)  # so that dataclasses see a field without a default
        known = certificate.__dict__
        if "_program" in known:
            with _ONE_BY_ONE:  # who comes while it is computed waits for it
                if "_program" in known:
                    known.update({f"_{name}": value for name, value in known["_program"]().items()})
                    del known["_program"]
        return cast("T", known[self._name])

    def __set__(self, certificate: object, value: T) -> None:
        certificate.__dict__[self._name] = value


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate(Shown):
    """What was asked of a policy, what its final curves do on the fitting data, and how far that is from the best.

    Everything here is about the data that the policy was fitted on; on other people rates differ by chance. Bounds come
    from the pooled ROC. Where that leaves a gap more is proven by a search in it, and if the scores are few by a linear
    program; that is done when a bound is first looked at, so that a fit need not wait for it.

    See Also
    --------
    fit : Makes a policy, which has its certificate.
    audit : What the policy does to people that it was not fitted on.

    Examples
    --------
    >>> import evenodds as eo
    >>> certificate = eo.fit(eo.datasets.credit_risk(), max_slope=0.1).certificate
    >>> certificate
    Certificate(equalized_odds, accuracy_score 0.834173, loss 0.00544, largest slope 0.1)
    >>> round(certificate.points["white"].tpr, 4), certificate.residual < 1e-12, certificate.gap < 1e-9
    (0.879, True, True)
    """

    constraints: str
    """What the groups share, by the name that `fit` has for it."""
    tolerance: float
    """The largest difference asked for: among the people of the fit, or with `confidence` in the population."""
    objective_name: str
    """What the policy is best at: "cost" where the objective is a `Cost`."""
    max_slope: float
    """The slope budget; infinite where there was none."""
    target: Point | None
    """The common point that every group was asked to meet; None where there is no such point."""
    groups: tuple[str, ...]
    """The groups' keys, sorted."""
    asked: tuple[Point, ...]
    """The point that each group was asked to meet."""
    reached: tuple[Point, ...]
    """The point that each group's curve has, recomputed; `points` has them by key."""
    slopes: tuple[float, ...]
    """Each group's largest slope."""
    slope_bounds: _Later[tuple[float, ...]] = _Later()
    """What no rising curve through each group's point can fall below; `slope_bound` has them by key."""
    objective: float
    """Recomputed from the final curves."""
    objective_bound: _Later[float] = _Later()
    """What no rising curves within the slope budget can better."""
    unlimited: float
    """The best that rising curves of any kind do without a slope budget."""
    smaller_is_better: bool
    """Whether the objective is a cost or a distance."""
    bound_by: _Later[str] = _Later()
    """How the bounds were proven: "linear program", "pooled ROC", or "branch and bound" of all that was allowed."""
    resolution: float = 0.0
    """What the scores were rounded to before fitting; 0 where they were not."""
    curve: str | None = None
    """The family that was asked for; None where that was not recorded."""
    criterion: str | None = None
    """Which of the curves through a point was wanted; None where that was not recorded."""
    max_loss: float | None = None
    """How much of the objective might go for gentleness; None where the slope budget was not found that way."""
    max_randomized: float | None = None
    """The largest share of everybody that might be decided by chance; None where any might."""
    max_randomized_by_group: float | None = None
    """The same in each group."""
    selection_rate: float | None = None
    """The share of yeses over everybody that was asked for; None where any was allowed."""
    costs: tuple[float, float] | None = None
    """What a wrong yes and a wrong no cost, the dearer one 1, where the objective is a cost."""
    keep_individual_odds: bool = False
    """Whether every threshold had to stay inside the score range."""
    target_given: bool = False
    """Whether the point was named, and not chosen as the best."""
    people: tuple[tuple[float, float, float, float], ...] = ()
    """Of each group: the weight of its negatives and of its positives, and their mean scores. Who has other people can
    tell by these."""
    mixes: tuple[str, ...] = ()
    """The groups whose curve is a mix of two: no single curve of the family was found within the slope budget."""
    randomized: _Later[tuple[float, ...]] = _Later()
    """The share of each group that is decided by chance. Empty where that was not recorded."""
    spreads: _Later[tuple[tuple[Spread, ...], ...]] = _Later()
    """By constrained rate and group: of how many people the rate is the mean, and how much their odds vary (n - 1).
    Empty where that was not recorded."""
    weighted: bool = False
    """Whether people counted by weights, and not once each."""
    confidence: float | None = None
    """How sure the tolerance is to hold for new people; None where it is about the people of the fit."""
    guarantee: Guarantee | None = None
    """What that rests on: "asymptotic" or "finite"."""
    sample_tolerance: float | None = None
    """The largest difference among the people of the fit that lets the tolerance hold for new ones."""
    scored: Scored | None = None
    """How the scores came about, where that is known: see `CurveOptimizer`."""
    one_threshold: _Later[OneThreshold | None] = _Later()
    """One threshold for everybody that is within the tolerance already, the best; None where there is none."""
    before: _Later[Before | None] = _Later()
    """One threshold for everybody, the best whatever the groups get; None where that was not recorded."""
    change: Change | None = None
    """How the policy differs from the one in use before, where it is an update of that."""
    reviewed: Reviewed | None = None
    """Who is reviewed, where the policy has reviews. The rates and the objective are then final ones."""

    def __getstate__(self) -> dict[str, Any]:
        """What is written down is computed first."""
        _ = self.bound_by
        return self.__dict__

    def with_program(self, program: Callable[[], Mapping[str, Any]]) -> Certificate:
        """The same with a program that fills in what may wait when it is first asked for.

        Parameters
        ----------
        program : callable
            Gives values by field.

        Returns
        -------
        Certificate
            This one.
        """
        self.__dict__["_program"] = program
        return self

    @property
    def fitted_tolerance(self) -> float:
        """The largest difference that was allowed among the people of the fit."""
        return self.tolerance if self.sample_tolerance is None else self.sample_tolerance

    @property
    def points(self) -> Mapping[str, Point]:
        """Each group's recomputed (fpr, tpr)."""
        return MappingProxyType(dict(zip(self.groups, self.reached, strict=True)))

    @property
    def slope_bound(self) -> Mapping[str, float]:
        """For each group a slope that no rising curve through its point can fall below."""
        return MappingProxyType(dict(zip(self.groups, self.slope_bounds, strict=True)))

    @property
    def rate_error(self) -> Mapping[str, float]:
        """How far each group's rates can be off for the scores before rounding: at most L_R * resolution / 2.

        A rounded score is at most half the resolution away, so odds with the largest slope L_R change by no more
        than that, and so does their mean. Where the odds jump nothing is proven: 1.
        """
        errors = [min(1.0, slope * self.resolution / 2) if self.resolution else 0.0 for slope in self.slopes]
        return MappingProxyType(dict(zip(self.groups, errors, strict=True)))

    @property
    def residual(self) -> float:
        """The largest distance of any group's recomputed rate from the one asked for."""
        pairs = zip(self.asked, self.reached, strict=True)
        return max(max(abs(a.fpr - r.fpr), abs(a.tpr - r.tpr)) for a, r in pairs)

    @property
    def _counts(self) -> Floats:
        """The weight of each group's negatives and positives."""
        return np.array([figures[:2] for figures in self.people])

    @property
    def rates(self) -> dict[Rate, Floats]:
        """The constrained rates of every group, recomputed."""
        return self._rates_at(self.reached)

    def _rates_at(self, points: Sequence[Point]) -> dict[Rate, Floats]:
        fpr, tpr = np.array([[point.fpr, point.tpr] for point in points]).T
        counts = self._counts if self.people else np.ones((fpr.size, 2))
        every: dict[Rate, Floats] = {
            "fpr": fpr,
            "tpr": tpr,
            "selection_rate": (counts[:, 0] * fpr + counts[:, 1] * tpr) / counts.sum(axis=1),
        }
        return {rate: every[rate] for rate in constraint_of(self.constraints, 0.0).rates}

    @property
    def difference(self) -> float:
        """The largest difference between two groups in a constrained rate, recomputed."""
        return float(max(np.ptp(rate) for rate in self.rates.values()))

    def if_reviewers(
        self, *, tpr: float | Mapping[str, float] | None = None, fpr: float | Mapping[str, float] | None = None
    ) -> float:
        """What the groups' final rates would differ by if reviewers said yes with other chances than assumed.

        The largest difference between two groups in a constrained rate: under equalised odds, the equalised odds
        difference. Where rates were equal, groups a and b come to differ by d_a rho_a - d_b rho_b in the rate of a
        label: d is by how much reviewers are off, rho the share of that label that is reviewed.

        Parameters
        ----------
        tpr, fpr : float or {group: float}, optional
            A reviewer's chance of a yes to a positive and to a negative, for all groups or for some; the others', and
            those that are left out, are as assumed.

        Returns
        -------
        float
            From 0 to 1.

        Examples
        --------
        >>> import evenodds as eo
        >>> review = eo.Review(capacity=0.05, tpr=0.8, fpr=0.2, equal="final")
        >>> certificate = eo.fit(eo.datasets.credit_risk(), review=review).certificate
        >>> round(certificate.if_reviewers(tpr=0.7, fpr=0.3), 7)
        0.0331966
        """
        if self.reviewed is None:
            msg = (
                "The policy has no reviews. Hint: evenodds.fit(joint, review=evenodds.Review(...)) makes one that has."
            )
            raise OptionError(msg)
        points = self.reviewed.points_if(self.reached, tpr, fpr)
        return float(max(np.ptp(rate) for rate in self._rates_at(points).values()))

    @property
    def selected(self) -> float:
        """The share of yeses over everybody, recomputed."""
        if not self.people:
            msg = "The policy does not say how many people its groups have. Hint: fit it again."
            raise DataError(msg)
        rates = np.array([[point.fpr, point.tpr] for point in self.reached])
        return float((self._counts * rates).sum() / self._counts.sum())

    @property
    def population(self) -> Population:
        """What the people of the fit say of the population that they are a sample of."""
        if not self.spreads:
            msg = "The policy does not say how much its odds vary: an earlier version made it. Hint: fit it again."
            raise DataError(msg)
        means = np.array(list(self.rates.values()))
        return Population.of(
            self.groups, tuple(self.rates), means, self.spreads, self.slopes, counted=not self.weighted
        )

    def population_bound(self, confidence: float = 0.95, guarantee: Guarantee = "asymptotic") -> float:
        """What the groups' rates differ by at most in the population, with some confidence.

        The largest difference in the constrained rates, for any further people of the same population. It presumes
        that these people are a sample of it, and that the score was not fitted on them.

        Parameters
        ----------
        confidence : float
            How often the bound holds, over samples of people.
        guarantee : "asymptotic" or "finite"
            "asymptotic" takes the rates' errors for normal with the odds' own variance: right as numbers of people
            grow, and near it for some hundreds a group and label. "finite" is proven for any number of people and any
            refits on them, and about three times as wide; people must count once each.

        Returns
        -------
        float
            From 0 to 1.

        See Also
        --------
        audit : Measured on new people.
        stability : How far it would have turned out otherwise with other people.

        Examples
        --------
        >>> import evenodds as eo
        >>> certificate = eo.fit(eo.datasets.credit_risk(), max_slope=0.1).certificate
        >>> round(certificate.population_bound(), 6), round(certificate.population_bound(guarantee="finite"), 6)
        (0.022478, 0.064772)
        """
        if self.reviewed is not None and guarantee == "finite" and self.constraints == "demographic_parity":
            msg = "guarantee='finite' is about rates given the label where there are reviews. Allowed: 'asymptotic'."
            raise OptionError(msg)
        return self.population.bound(confidence_of(confidence), guarantee)

    @property
    def loss(self) -> float:
        """How much of the objective was given up: the best without a slope budget, less this policy."""
        return self.worse(self.objective, self.unlimited)

    @property
    def gap(self) -> float:
        """How much better rising curves within the budget might be at most."""
        return self.worse(self.objective, self.objective_bound)

    def worse(self, value: float, best: float) -> float:
        """By how much a value of the objective is worse than another.

        Parameters
        ----------
        value, best : float
            Two of them.

        Returns
        -------
        float
            0 where it is not worse.
        """
        by = (value - best) if self.smaller_is_better else (best - value)
        return by if by > _ROUNDING else 0.0

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """A row for each group: the rates asked for and reached, the largest slope, and what it cannot fall below."""
        rows = [
            (group, asked.fpr, asked.tpr, reached.fpr, reached.tpr, slope, bound)
            for group, asked, reached, slope, bound in zip(
                self.groups, self.asked, self.reached, self.slopes, self.slope_bounds, strict=True
            )
        ]
        return ("group", "fpr_asked", "tpr_asked", "fpr", "tpr", "slope", "slope_bound"), rows

    def __repr__(self) -> str:
        return (
            f"Certificate({self.constraints}, {self.objective_name} {self.objective:.6g}, loss {self.loss:.3g}, "
            f"largest slope {max(self.slopes):.4g})"
        )

    # -- in words ----------------------------------------------------------------------------------------------------

    @property
    def summary(self) -> str:
        """What the policy does to each group, beside one threshold for everybody, and what was given up for what."""
        return wording.summary_of(self)

    @property
    def prices(self) -> list[str]:
        """What was given up for what, and which groups set the point for everybody."""
        return wording.prices_of(self)

    @property
    def shared(self) -> str:
        """What the groups share."""
        return wording.shared_by_all(self)

    @property
    def few(self) -> str:
        """How few people might be decided by chance; nothing where there was no such budget."""
        return wording.few_by_chance(self)

    @property
    def already(self) -> str:
        """That one threshold for everybody would do, and what each way costs; nothing where none comes near."""
        return wording.already_within(self)

    @property
    def promise_to_new_people(self) -> str:
        """What the tolerance promises of new people; nothing where it is about the people of the fit."""
        return wording.promise_to_new_people(self)

    def __str__(self) -> str:
        return wording.text_of(self)
