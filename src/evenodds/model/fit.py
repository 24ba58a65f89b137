"""The stages in order: joint -> budget -> points -> curves through them -> policy. A newcomer reads this first."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evenodds.errors import EvenoddsWarning, OptionError, UnreachableError
from evenodds.model.certificate import Certificate, Scored
from evenodds.model.certification import certified, certified_with_reviews
from evenodds.model.comparisons import Before, Change
from evenodds.model.curves import Curve
from evenodds.model.goals import Cost
from evenodds.model.joint import JointDistribution, check_joint
from evenodds.model.policy import Policy
from evenodds.model.population import Guarantee, Population, population_of
from evenodds.model.request import Assurance, LossBudget, Request, TargetLike
from evenodds.model.review import solved_with_review
from evenodds.model.reviewer import Review
from evenodds.model.solve import MATERIAL, Solved, solved_within
from evenodds.model.thresholds import about_constants
from evenodds.model.weaknesses import weaknesses

__all__ = ["finished", "fit", "fit_scored", "fitted_curves"]

_LOG = logging.getLogger(__name__)
_SHARES = (1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1, 0.0)  # of the tolerance, looked at first
_HALVINGS = 8  # of the step between two of them
_NAMED = 4  # groups and labels that are too small
_FAR, _BROKEN = 0.3, 1e-6  # a tolerance that nobody wants, and a promise that is missed by more than rounding


def fit(
    joint: JointDistribution,
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
) -> Policy:
    """Find a curve for each group so that all groups share the rates that a constraint names.

    A curve turns a score into odds, the chance of a yes, from 0 to 1. In place of a hard threshold, at which a point of
    score decides everything, the odds rise over a range of scores, no faster than the slope budget allows.

    Parameters
    ----------
    joint : JointDistribution
        How scores and labels fall within each group.
    constraints : str
        What the groups share: "equalized_odds" (the false and the true positive rate, FPR and TPR),
        "demographic_parity" (the selection rate; alias "selection_rate_parity"), or one rate:
        "true_positive_rate_parity", "false_positive_rate_parity", "true_negative_rate_parity",
        "false_negative_rate_parity".
    objective : str or Cost
        What the policy is best at: "accuracy_score", "balanced_accuracy_score", "closest_to_perfect" (the common
        point nearest to FPR 0 and TPR 1), "selection_rate", "true_positive_rate", "true_negative_rate", or
        evenodds.Cost(false_positive=, false_negative=).
    tolerance : float
        The largest difference between any two groups in each constrained rate.
    curve : str
        The family: "linear", "quadratic", "cubic", "quartic", "fixed" (one chance for all between two thresholds),
        "optimal" (the best of all rising curves), or "threshold" (one for each group, the best within the tolerance, so
        that nobody is decided by chance).
    criterion : str
        Which of the curves through a group's point to take: "gentlest" (the least steep), "even_slopes" (alike in all
        groups), "smoothest" (without kinks), "robust" (to errors of the score), "fewest_randomized" (the fewest people
        decided by chance) or "even_randomized" (as many in each group).
    max_slope : float, optional
        A budget on every group's largest slope: by how much the odds may change for a point of score.
    max_loss : float, optional
        Give up at most this much of the objective, measured from the best without a budget, which is the same for all
        families, to make the steepest curve as gentle as it can be; 0 is that best itself, at which some group may
        keep a hard threshold. Without max_slope and target it is 0.005.
    target : (fpr, tpr) or "baseline", optional
        An explicit point for equalised odds; "baseline" is the paper's rule, the best single threshold of the group
        whose best single threshold lies farthest from (0, 1). No budget applies then, unless max_slope is given.
    max_randomized : float, optional
        The largest share of everybody who are decided by chance, with odds that are neither 0 nor 1, on the people of
        the fit: the best objective within it, and then the gentlest curves of straight lines that leave no others to
        chance. No slope budget applies.
    max_randomized_by_group : float, optional
        The same for each group.
    selection_rate : float, optional
        The share of yeses over everybody, under whatever constraint: k / n where there are k places for n people.
    keep_individual_odds : bool
        Keep every threshold inside the score range, so that every group's odds run from 0 to 1.
    confidence : float, optional
        Above 0.5 and below 1: with this confidence the tolerance holds for the population that the people are a
        sample of, and not just for them. The people of the fit are then held to a stricter tolerance, the largest found
        that allows it; where even 0 does not, the error says how many people of whom it would take.
    guarantee : "asymptotic" or "finite"
        What the confidence rests on: errors that are normal, as they are for many people; or a proof for any number of
        people, which takes several times as many.
    review : Review, optional
        Some people get a review in place of a coin: how many can be reviewed, and how often reviewers say yes. The
        curves are then straight lines between scores, whatever `curve` is, and steep unless `max_slope` is given.

    Returns
    -------
    Policy
        A curve for each group. Its `certificate` says what is proven about it.

    See Also
    --------
    JointDistribution.from_frame : Where the first argument comes from.
    report : Explain the policy in one file: what was decided and why, before and after.
    audit : Measure it on people that it was not fitted on, with intervals.
    stability : How far it would have turned out otherwise with other people of the same kind.
    explain : One person's odds in words.
    frontier, compare : What a slope budget costs, and how other curves do.
    solutions : All curves of a family through one point.
    apply, decide : The odds of a data frame, and decisions for its rows.
    update : The next policy, near this one.
    Policy.save : Write it to a file.
    CurveOptimizer : The same for scikit-learn.
    studies.guide : Which options are for whom, and what they cost on the bundled data.

    Examples
    --------
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk(), max_slope=0.1)
    >>> round(policy.certificate.objective, 7), policy.certificate.gap < 1e-9
    (0.834173, True)
    >>> {group: round(curve.lipschitz, 4) for group, curve in policy.curves.items()}
    {'asian': 0.0365, 'black': 0.1, 'hispanic': 0.0736, 'white': 0.0234}
    """
    check_joint(joint)
    options = {
        "constraints": constraints,
        "objective": objective,
        "tolerance": tolerance,
        "curve": curve,
        "criterion": criterion,
        "max_slope": max_slope,
        "max_loss": max_loss,
        "target": target,
        "max_randomized": max_randomized,
        "max_randomized_by_group": max_randomized_by_group,
        "selection_rate": selection_rate,
        "keep_individual_odds": keep_individual_odds,
        "confidence": confidence,
        "guarantee": guarantee,
        "review": review,
    }
    return fit_scored(joint, options, None)


def fit_scored(joint: JointDistribution, options: Mapping[str, Any], scored: Scored | None) -> Policy:
    """The same with options by name; an estimator knows how the scores came about."""
    request = Request.of(**options)
    _LOG.info("Fitting %d groups.", len(joint.groups))
    began = time.perf_counter()
    if request.review is not None:
        policy = _with_review(joint, request, request.review, scored)
    else:
        policy = finished(joint, _solve(joint, request), request, scored=scored)
    _LOG.info("Fitted in %.3f s: %r", time.perf_counter() - began, policy)
    return policy


def _with_review(joint: JointDistribution, request: Request, review: Review, scored: Scored | None) -> Policy:
    """The policy of two curves a group, between which people are reviewed."""
    reviews = solved_with_review(joint, request, review)
    _warn_of_weak_groups(joint)
    certificate = certified_with_reviews(joint, reviews, scored)
    _check_promises(request, certificate)
    return Policy(joint.groups, reviews.curves, joint.score_range, joint.orientation, certificate, reviews.upper)


def finished(
    joint: JointDistribution,
    solved: Solved,
    asked: Request,
    *,
    scored: Scored | None = None,
    change: Change | None = None,
    before: Before | None = None,
) -> Policy:
    """The policy of curves that were found, with its certificate, and with warnings where it is in doubt.

    Warnings name the line that called a public function, which called the one that calls this.
    What they were found for may be stricter than what was asked: see `_assured`.
    """
    _warn_of_weak_groups(joint)
    little_chance = (asked.family.is_hard and asked.assurance is None) or asked.randomized is not None
    if little_chance and all(curve.lipschitz == 0 for curve in solved.curves):
        warnings.warn(_about_constants(solved), EvenoddsWarning, stacklevel=4)
    certificate = certified(joint, solved, asked, scored, change, before)
    _check_promises(solved.request, certificate)
    return Policy(joint.groups, solved.curves, joint.score_range, joint.orientation, certificate)


def fitted_curves(joint: JointDistribution, options: Mapping[str, Any]) -> tuple[Curve, ...]:
    """The curves of a fit without its certificate and its warnings, for those who fit many times."""
    request = Request.of(**options)
    if request.review is not None:
        msg = "review= is not possible here: policies with reviews are fitted one at a time. Hint: leave it out."
        raise OptionError(msg)
    return _solve(joint, request).curves


def _solve(joint: JointDistribution, request: Request) -> Solved:
    """From a request to curves; they are looked for within a stricter tolerance where it shall hold for new people."""
    solved = solved_within(joint, request) if request.assurance is None else _assured(joint, request, request.assurance)
    _LOG.info("Points and curves are found, with slopes of at most %.6g.", solved.slope)
    return solved


def _assured(joint: JointDistribution, request: Request, assurance: Assurance) -> Solved:
    """The largest tolerance found at the fit that lets the one asked for hold in the population.

    The chance of that need not fall with the tolerance at the fit, so a ladder is looked at first. Of thresholds all of
    it is, and the best taken: a yes for everybody holds for sure, and is seldom the best.
    """
    tolerance = request.constraint.tolerance

    def tried(share: float) -> tuple[Solved, Population]:
        within = replace(request.constraint, tolerance=share * tolerance)
        solved = solved_within(joint, replace(request, constraint=within))
        return solved, population_of(joint, solved.curves, within.rates)

    def holds(population: Population) -> bool:
        return population.is_within(tolerance, assurance.confidence, assurance.guarantee)

    if request.family.is_hard:
        every = [solved for solved, population in map(tried, _SHARES) if holds(population)]
        return max(every, key=lambda solved: solved.goal.gain(solved.points))
    above = share = 1.0
    for share in _SHARES:
        assured, population = tried(share)
        if holds(population):
            break
        above = share
    else:
        raise UnreachableError(_too_few(population, tolerance, assurance))
    for _ in range(_HALVINGS if share < above else 0):
        middle = (share + above) / 2
        closer, population = tried(middle)
        if holds(population):
            assured, share = closer, middle
        else:
            above = middle
    return assured


def _too_few(population: Population, tolerance: float, assurance: Assurance) -> str:
    """What to say where there are too few people for a promise."""
    confidence, guarantee = assurance.confidence, assurance.guarantee
    needed, bound = population.needed(tolerance, confidence, guarantee), population.bound(confidence, guarantee)
    more = f", and {len(needed) - _NAMED} more" if len(needed) > _NAMED else ""
    takes = "; ".join(map(str, needed[:_NAMED])) + more if needed else "more people than can be told"
    hint = f"tolerance={bound * 1.01:.3g}" if bound * 1.01 < _FAR else "merge the smallest groups"
    hint += " or guarantee='asymptotic'" if guarantee == "finite" else ""
    return (
        f"There are too few people to promise tolerance={tolerance:g} of new people with confidence={confidence:g} "
        f"({guarantee}): with equal rates at the fit they may still differ by {bound:.3g}. "
        f"It takes {takes}. Hint: {hint}."
    )


def _about_constants(solved: Solved) -> str:
    """What to say where so little chance leaves nothing better than one answer for everybody."""
    constraint, gain = solved.request.constraint, solved.goal.gain(solved.points)
    if solved.request.family.is_hard:
        proven = solved.proven is not None and solved.proven <= gain + MATERIAL
        return about_constants(solved.people, solved.goal, constraint, gain, proven=proven)
    answer = "yes" if solved.points[0].tpr > 0 else "no"
    return (
        f"With so few people decided by chance and tolerance={constraint.tolerance:g} nothing better was found than a "
        f"{answer} for everybody. Hint: a tolerance, or more people by chance; frontier(against='randomized') tells."
    )


def _check_promises(request: Request, certificate: Certificate) -> None:
    """Refuse curves that rounding has spoilt, and warn where it is felt: scores that vary little for their size."""
    why = "the scores vary too little compared with their size for thresholds to be exact"
    hint = "Hint: subtract a constant from the scores."
    broken = []
    if max(certificate.slopes) > certificate.max_slope * (1 + _BROKEN):
        broken.append(f"a slope of {max(certificate.slopes):.6g} exceeds max_slope={certificate.max_slope:.6g}")
    if isinstance(request.budget, LossBudget) and certificate.loss > request.budget.loss + _BROKEN:
        broken.append(f"{certificate.loss:.6g} of the objective is lost, more than max_loss={request.budget.loss:g}")
    if certificate.difference > request.constraint.tolerance + _BROKEN:
        broken.append(
            f"rates differ by {certificate.difference:.6g} between groups, more than "
            f"tolerance={request.constraint.tolerance:g}"
        )
    asked = certificate.selection_rate
    if asked is not None and abs(certificate.selected - asked) > _BROKEN:
        broken.append(f"a yes for {certificate.selected:.6g} of everybody, and not for selection_rate={asked:g}")
    if certificate.reviewed is not None:
        broken += certificate.reviewed.broken(_BROKEN)
    if broken:
        msg = f"Not kept: {'; '.join(broken)}. The reason: {why}. {hint}"
        raise UnreachableError(msg)
    if certificate.residual > MATERIAL:
        text = f"The rates miss their points by up to {certificate.residual:.1e}: {why}. {hint}"
        warnings.warn(text, EvenoddsWarning, stacklevel=5)


def _warn_of_weak_groups(joint: JointDistribution) -> None:
    for text in weaknesses(joint.members):
        warnings.warn(text, EvenoddsWarning, stacklevel=5)
