"""What a policy owes to chance: how it would have turned out with other people of the same kind.

The people at hand stand for the population. A fit to people drawn from them, measured on all of them, is to that fit
what the population is to the policy; measured on others drawn likewise, it is what as many new people will show. Both
the curves and the new people owe something to chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError, OptionError, UnreachableError
from evenodds.evaluation.intervals import Estimate, interval_confidence, value_for_verdicts
from evenodds.evaluation.outcomes import RATE_WORDS, outcomes_of
from evenodds.evaluation.resampling import RandomLike, generator_of, percentiles
from evenodds.geometry.pieces import Floats
from evenodds.geometry.samples import Sample
from evenodds.model.curves import Curve
from evenodds.model.fit import fit, fitted_curves
from evenodds.model.goals import Rate, constraint_of
from evenodds.model.groups import Group, check_labels
from evenodds.model.joint import JointDistribution, check_joint
from evenodds.model.policy import Policy
from evenodds.model.rates import odds_of
from evenodds.progress import tracked
from evenodds.showing import Shown
from evenodds.values import Frozen, number_of, whole_number_of

__all__ = ["Arbitrariness", "Holdout", "Stability", "stability"]

_PARAMETERS = ("t0", "t1", "p", "lipschitz")
_NINE_OF_TEN = 1.2815515655446004  # the standard normal's value for it
_SOME = 4096  # scores at which odds are compared
_TOO_MANY = 1e9  # the root of a number of people that is none any more


@dataclass(frozen=True)
class Holdout:
    """How many fresh people an audit needs to settle whether groups are within a tolerance of each other."""

    tolerance: float
    verdict: str
    """What the audit will probably say."""
    people: float
    """In all, if the groups and labels are as frequent as at the fit; infinite if no number settles it."""
    by_group: Mapping[str, float]

    def __str__(self) -> str:
        if math.isinf(self.people):
            return f"No number of people settles a tolerance of {self.tolerance:g}: the groups differ by about as much."
        if len(self.by_group) == 1:
            return "One group alone differs from nobody: there is nothing to settle."
        shares = ", ".join(f"{group} {people:,.0f}" for group, people in self.by_group.items())
        return (
            f"About {self.people:,.0f} fresh people ({shares}) let nine of ten audits settle a tolerance of "
            f"{self.tolerance:g}, probably with {self.verdict!r}."
        )


@dataclass(frozen=True)
class Arbitrariness:
    """How a group's odds spread over refits, person by person: their standard deviation."""

    mean: float
    """Over the group's people."""
    most: float
    score: float
    """The score at which it is largest."""

    def __str__(self) -> str:
        return f"{self.mean:.3f} on average, {self.most:.3f} at a score of {self.score:.4g}"


@dataclass(frozen=True, repr=False)
class Stability(Shown):
    """How a fit spreads over people drawn again from those at hand; `print` puts it in words.

    See Also
    --------
    stability : Makes one.

    Examples
    --------
    >>> import evenodds as eo
    >>> result = eo.stability(eo.datasets.compas(), draws=5)
    >>> result
    Stability(5 fits, new people differ by 0.0862 [0.0780, 0.1004])
    >>> print(result.arbitrariness["Caucasian, Male"])
    0.076 on average, 0.176 at a score of 5
    """

    policy: Policy
    """The fit to the people at hand."""
    draws: int
    """How often people were drawn again."""
    failed: int
    """Draws that could not be fitted: a group lost a label, or could not reach the point asked for."""
    confidence: float
    """Which share of the draws the intervals hold."""
    spread: Mapping[str, Mapping[str, Estimate]]
    """By group and parameter (t0, t1, p, lipschitz): the policy's own value, and where the middle of draws lies."""
    difference: Estimate
    """The largest difference of the constrained rates that as many new people will show: its mean and its spread."""
    population_difference: Estimate
    """The same in the whole population, of which new people are a sample that adds some by chance."""
    accuracy: Estimate
    """The accuracy on new people: its median and its spread."""
    arbitrariness: Mapping[str, Arbitrariness]
    """By group: how much a person's odds owe to who else was there at the fit."""
    shares: Mapping[str, float]
    """Each group's share of the people (of Kish's effective number under weights)."""
    needs: Mapping[str, tuple[float, ...]]
    """By group: for each constrained rate the variance of its odds by the share of people that it is a mean of."""

    def holdout(self, *, tolerance: float) -> Holdout:
        """How many fresh people settle a tolerance in nine of ten audits.

        The intervals of all pairs of groups must be narrower than the distance from the tolerance to the difference
        that is expected, with room for the chance in the audit itself.

        Parameters
        ----------
        tolerance : float
            The largest difference between groups that is allowed: above 0, up to 1.

        Returns
        -------
        Holdout
            How many `people`, in all and `by_group`, and the `verdict` to be expected.

        See Also
        --------
        audit : With the fresh people.

        Examples
        --------
        >>> import evenodds as eo
        >>> result = eo.stability(eo.datasets.compas(), draws=5)
        >>> result.holdout(tolerance=0.2).people
        7258
        """
        tolerance = number_of("tolerance", tolerance, "a number above 0, up to 1", low=0, high=1, above=True)
        groups = self.policy.groups
        rates = len(constraint_of(self.policy.certificate.constraints, 0.0).rates)
        margin = abs(tolerance - self.population_difference)
        value = value_for_verdicts(self.confidence, len(groups), rates) + _NINE_OF_TEN
        widest = max(
            (sum(two) for a, b in combinations(groups, 2) for two in zip(self.needs[a], self.needs[b], strict=True)),
            default=0.0,
        )
        needed = value * math.sqrt(widest) / margin if margin > 0 else math.inf
        people = math.ceil(needed**2) if needed < _TOO_MANY else math.inf
        verdict = "pass" if self.population_difference < tolerance else "fail"
        by_group = Frozen({group: people * self.shares[group] for group in groups})
        return Holdout(tolerance, verdict, people, by_group)

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """Each group's parameters in rows of their own: the policy's value, and where the middle of draws lies."""
        rows = [(group, name, *spread[name].row) for group, spread in self.spread.items() for name in _PARAMETERS]
        return ("group", "parameter", "value", "low", "high"), rows

    def __repr__(self) -> str:
        return f"Stability({self.draws} fits, new people differ by {self.difference})"

    def __str__(self) -> str:
        rates = " and ".join(
            RATE_WORDS[rate].removesuffix(" rate")
            for rate in constraint_of(self.policy.certificate.constraints, 0.0).rates
        )
        failed = f", of which {self.failed} failed" if self.failed else ""
        lines = [f"{self.draws} fits to people drawn again{failed}; the middle {self.confidence:.4g} of them:"]
        for group, spread in self.spread.items():
            estimates = ((name, spread[name]) for name in _PARAMETERS)
            parameters = ", ".join(f"{name} {e.value:.4g} [{e.low:.4g}, {e.high:.4g}]" for name, e in estimates)
            lines.append(f"  {group}: {parameters}")
        lines.append(
            f"On as many new people the groups' {rates} rates will differ by about {self.difference}, and in the whole "
            f"population by {self.population_difference}, whatever they do on these; accuracy {self.accuracy}."
        )
        lines.append("How much a person's odds owe to who else was there (standard deviation over fits):")
        lines += [f"  {group}: {own}" for group, own in self.arbitrariness.items()]
        return "\n".join(lines)


def stability(
    joint: JointDistribution, *, draws: int = 200, rng: RandomLike = 0, confidence: float = 0.95, **options: Any
) -> Stability:
    """How thresholds, slopes and the difference between groups spread over people of the same kind.

    Parameters
    ----------
    joint : JointDistribution
        The people of the fit; others of the same kind are drawn from them.
    draws : int
        How often people are drawn again (within each group, with replacement) and fitted.
    rng : int, Generator or RandomState
        The same number, the same answer.
    confidence : float
        Which share of the draws the intervals hold; it is not the confidence of `fit`, which cannot be asked for here.
    **options : any
        Of `fit`, such as max_slope=0.1; all but `review`, `confidence` and `guarantee`.

    Returns
    -------
    Stability
        Intervals of thresholds and slopes, of the difference between groups to be expected of new people, and how much
        one person's odds owe to who else was there.

    See Also
    --------
    Stability.holdout : How many fresh people an audit needs.
    audit : Measure the policy on fresh people.
    Certificate.population_bound : What groups of the population differ by at most.

    Examples
    --------
    >>> import evenodds as eo
    >>> result = eo.stability(eo.datasets.compas(), draws=20)
    >>> print(result.difference)
    0.0608 [0.0215, 0.1075]
    >>> print(result.holdout(tolerance=0.1))
    About ... fresh people (African-American, Female ...) let nine of ten audits settle a tolerance of 0.1, ...
    """
    check_joint(joint)
    confidence, draws = interval_confidence(confidence), whole_number_of("draws", draws, least=2)
    source = generator_of(rng)
    if options.get("review") is not None:
        msg = "stability fits one curve a group, and review= two. Hint: leave out review, or audit on fresh people."
        raise OptionError(msg)
    if "guarantee" in options:
        msg = "stability draws people again, and has no guarantee=; its confidence= is that of its intervals."
        raise OptionError(msg)
    policy = fit(joint, **options)
    tries = [_drawn_fit(joint, source, options) for _ in tracked(range(draws), "Fitting people drawn again")]
    fits = [curves for curves in tries if curves is not None]
    if not fits:
        msg = f"None of {draws} draws could be fitted. Hint: the groups are too small, or the target is at their limit."
        raise DataError(msg)
    rates = constraint_of(policy.certificate.constraints, 0.0).rates
    everywhere, on_new, accuracy = np.array([_measured(joint, curves, rates, source) for curves in fits]).T

    def around(group: str, name: str) -> Estimate:
        drawn = percentiles(np.array([getattr(curves[group], name) for curves in fits]), confidence)
        return Estimate(float(getattr(policy.curves[group], name)), drawn.low, drawn.high)

    people = sum(member.n_effective for member in joint.members)
    return Stability(
        policy,
        draws=draws,
        failed=len(tries) - len(fits),
        confidence=confidence,
        spread=Frozen({group: Frozen({name: around(group, name) for name in _PARAMETERS}) for group in policy.groups}),
        difference=_around_mean(on_new, confidence),
        population_difference=_around_mean(everywhere, confidence),
        accuracy=percentiles(accuracy, confidence),
        arbitrariness=Frozen({member.key: _arbitrariness(joint, member, fits) for member in joint.members}),
        shares=Frozen({member.key: member.n_effective / people for member in joint.members}),
        needs=Frozen(_needs(joint, policy, rates)),
    )


def _around_mean(values: Floats, confidence: float) -> Estimate:
    """The mean, and where the middle of values lies."""
    known = values[~np.isnan(values)]
    middle = percentiles(values, confidence)
    return Estimate(float(known.mean()) if known.size else math.nan, middle.low, middle.high)


def _measured(
    joint: JointDistribution, curves: Mapping[str, Curve], rates: Sequence[Rate], rng: np.random.Generator
) -> tuple[float, float, float]:
    """By how much the groups differ under curves, of everybody and of as many people drawn from them; the accuracy."""
    everybody, drawn, right = [], [], 0.0
    for member in joint.members:
        odds = odds_of(curves[member.key], member)
        mass = np.concatenate([member.negatives, member.positives])
        counts = rng.multinomial(max(round(member.n_effective), 1), mass / mass.sum())
        everybody.append(_rates(member.negatives, member.positives, odds))
        no, yes = np.split(counts, 2)
        drawn.append(_rates(no, yes, odds))
        right += float(member.positives @ odds + member.negatives @ (1 - odds))
    apart = [
        max(float(np.ptp([of_group[rate] for of_group in by_group])) for rate in rates)
        for by_group in (everybody, drawn)
    ]
    return apart[0], apart[1], right / joint.total


def _rates(negatives: NDArray[Any], positives: NDArray[Any], odds: Floats) -> dict[str, float]:
    """The rates of people who were counted by score; NaN if there is nobody of a label."""
    no, yes = float(negatives.sum()), float(positives.sum())
    false, true = float(negatives @ odds), float(positives @ odds)
    return {
        "fpr": false / no if no else math.nan,
        "tpr": true / yes if yes else math.nan,
        "selection_rate": (false + true) / (no + yes),
    }


def _arbitrariness(joint: JointDistribution, member: Group, fits: Sequence[Mapping[str, Curve]]) -> Arbitrariness:
    """How a group's odds spread over fits: of many scores at some, evenly by rank."""
    some = np.unique(np.linspace(0, member.scores.size - 1, _SOME).astype(np.intp))
    scores = joint.scale.own(member.scores[some])
    spread = np.std([curves[member.key](scores) for curves in fits], axis=0)
    people = np.diff(np.append(0.0, np.cumsum(member.negatives + member.positives)[some]))
    most = int(np.argmax(spread))
    return Arbitrariness(float(spread @ people / people.sum()), float(spread[most]), float(scores[most]))


def _drawn_fit(
    joint: JointDistribution, rng: np.random.Generator, options: Mapping[str, Any]
) -> Mapping[str, Curve] | None:
    """Curves fitted to people drawn again; None if a group lost a label, or cannot reach the point asked for."""
    try:
        members = tuple(_drawn(member, rng) for member in joint.members)
        drawn = JointDistribution(members, joint.orientation, joint.resolution)
        return dict(zip(joint.groups, fitted_curves(drawn, options), strict=True))
    except (DataError, UnreachableError):
        return None


def _drawn(member: Group, rng: np.random.Generator) -> Group:
    """As many people, drawn from a group with replacement, labels and all."""
    mass = np.concatenate([side.weights for side in member.by_label])
    people = max(round(member.n_effective), 1)
    counts = rng.multinomial(people, mass / mass.sum())
    each = member.total / people  # the weight of everybody who is drawn
    sides = []
    for side, times in zip(member.by_label, np.split(counts, [member.by_label[0].size]), strict=True):
        drawn = np.flatnonzero(times)
        number = times[drawn].astype(np.float64)
        sides.append(Sample(side.points[drawn], number * each, squares=number * each**2))
    check_labels(member.key, *(side.total for side in sides))
    return Group(member.key, (sides[0], sides[1]))


def _needs(joint: JointDistribution, policy: Policy, rates: Sequence[Rate]) -> dict[str, tuple[float, ...]]:
    """By group, for each constrained rate: the variance of its odds by the share of all people that it is a mean of."""
    people = sum(member.n_effective for member in joint.members)
    needs = {}
    for member, curve in zip(joint.members, policy.group_curves, strict=True):
        samples = outcomes_of(member, curve).samples(np.zeros(0))
        needs[member.key] = tuple(samples[rate].variance * people / samples[rate].n_effective for rate in rates)
    return needs
