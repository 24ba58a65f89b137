"""What a certificate says, in words a person can read: what was asked, what is proven and by what, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenodds.model.comparisons import SEARCH
from evenodds.model.reviewed import SOME_SCORES
from evenodds.showing import aligned, people_text

if TYPE_CHECKING:
    from evenodds.model.certificate import Certificate

__all__ = [
    "already_within",
    "few_by_chance",
    "prices_of",
    "promise_to_new_people",
    "shared_by_all",
    "summary_of",
    "text_of",
]

_WORTH_TELLING = 0.02  # of the objective: one threshold that gives up more is no way out
_MANY = 20  # groups that are listed one by one
_SEEN = 5e-5  # of the objective, with four digits
_NAMED = 4  # of those that set the point
_BINDING = 1 - 1e-6  # of the slope budget
_PLAIN = {
    "asymptotic": "To be expected of new people of the same kind, not proven (asymptotic: right for many people)",
    "finite": "Proven for new people of the same kind, for any number of people of the fit (finite-sample)",
}
_UNKNOWN = "unknown"  # what files of earlier versions do not say


def shared_by_all(proof: Certificate) -> str:
    """What the groups share, in words."""
    return {
        "equalized_odds": "the same false and true positive rate",
        "demographic_parity": "the same selection rate",
        "true_positive_rate_parity": "the same true positive rate",
        "false_negative_rate_parity": "the same false negative rate",
        "false_positive_rate_parity": "the same false positive rate",
        "true_negative_rate_parity": "the same true negative rate",
    }[proof.constraints]


def summary_of(proof: Certificate) -> str:
    """What the policy does to each group, beside one threshold for everybody, and what was given up for what.

    The share of people told yes, both rates, who is decided by chance, and the steepest change of odds.
    """
    counts = np.array([figures[:2] for figures in proof.people]) if proof.people else np.ones((len(proof.groups), 2))
    points = [*([proof.before.points] if proof.before else []), proof.reached]
    rates = np.array([[(point.fpr, point.tpr) for point in of] for of in points])  # before and after, group, rate
    chance = np.array(proof.randomized or [np.nan] * len(proof.groups))
    reviewed = np.array(list(proof.reviewed.by_group.values())) if proof.reviewed else None

    def row(name: str, who: NDArray[np.intp]) -> list[str]:
        own = counts[who]
        both = (rates[:, who] * own).sum(axis=1) / own.sum(axis=0)
        yes = (rates[:, who] * own).sum(axis=(1, 2)) / own.sum() if proof.people else [np.nan] * len(points)
        shares = [own.sum(axis=1) @ of[who] / own.sum() for of in (chance, reviewed) if of is not None]
        steepest = max(proof.slopes[i] for i in who)
        cells = [_from_to(yes), _from_to(both[:, 0]), _from_to(both[:, 1]), *map(_percent, shares)]
        people = people_text(own.sum()) if proof.people else _UNKNOWN
        return [name, people, *cells, _number(steepest, 4)]

    heads = ["group", "people", "yes", "FPR", "TPR", "by chance", *(["reviewed"] if proof.reviewed else []), "steepest"]
    every = np.arange(len(proof.groups))
    rows = [row(group, every[i : i + 1]) for i, group in enumerate(proof.groups[:_MANY])]
    if len(proof.groups) > _MANY:
        rows.append([f"... and {len(proof.groups) - _MANY} groups more", *[""] * (len(heads) - 1)])
    if len(proof.groups) > 1 and proof.people:
        rows.append(row("everybody", every))
    lines = aligned([heads, *rows], [True, *[False] * (len(heads) - 1)])
    return "\n".join([*lines, *_constant(proof), *prices_of(proof)])


def _constant(proof: Certificate) -> list[str]:
    """That nobody's score matters, where that is so."""
    if max(proof.slopes) > 0:
        return []
    odds = {round(point.tpr, 12) for point in proof.reached}
    answer = {frozenset({0.0}): "a no", frozenset({1.0}): "a yes"}.get(frozenset(odds), "the same odds in each group")
    return [f"Everybody gets {answer}, whatever their score."]


def prices_of(proof: Certificate) -> list[str]:
    """What was given up for what, and who sets the point for everybody."""
    return [*_given_up(proof), *_who_sets_the_point(proof)]


def text_of(proof: Certificate) -> str:
    """Everything that a certificate says: what was asked, what is proven and by what, and what is not."""
    within = f" to within {proof.tolerance:g}" if proof.tolerance else ""
    where = f", fpr {proof.target.fpr:.6f} and tpr {proof.target.tpr:.6f}" if proof.target else ""
    places = f", and a yes for {proof.selection_rate:g} of everybody" if proof.selection_rate is not None else ""
    few = f", with {proof.few}" if proof.few else ""
    apart = f", and no two groups differ by more than {proof.difference:.4g}" if proof.tolerance else ""
    lines = [
        f"Asked: {proof.shared} in every group{within}{where}{places}{few}.",
        f"Proven on the fitting data: every group meets its point to {proof.residual:.1e} (recomputed){apart}.",
    ]
    if proof.reviewed is not None:
        lines.append(proof.reviewed.in_words(proof.if_reviewers))
    better = "below" if proof.smaller_is_better else "above"
    budget = "" if np.isinf(proof.max_slope) else f" with slopes of at most {proof.max_slope:.6g}"
    lines.append(
        f"Proven{_if_so(proof)}: {proof.objective_name} {proof.objective:.6f}; no {_rivals(proof)}{budget} get "
        f"{better} {proof.objective_bound:.6f} ({proof.bound_by}), so at most {proof.gap:.2g} is missed."
    )
    few_scores = " that bend at some of the scores only" * (proof.bound_by == SOME_SCORES)
    lines.append(
        f"Against the best of all rising curves{few_scores} without a slope budget, {proof.unlimited:.6f}, "
        f"{proof.loss:.2g} is given up."
    )
    if proof.mixes:
        within = "" if np.isinf(proof.max_slope) else " within the slope budget"
        within += " with thresholds inside the score range" * proof.keep_individual_odds
        lines.append(
            f"A mix of two curves: {', '.join(map(repr, proof.mixes))}. No single curve of the family was found "
            f"that meets the point{within}."
        )
    if proof.already:
        lines.append(proof.already)
    slopes = zip(proof.groups, proof.slopes, proof.slope_bounds, strict=True)
    if proof.reviewed is not None:
        steepest = "; ".join(f"{g} {_number(s)}" for g, s, _ in slopes)
        lines.append(f"Proven: largest slopes of the odds of a yes, and of a yes or a review: {steepest}.")
    else:
        steepest = "; ".join(f"{g} {_number(s)} (at least {_number(b)})" for g, s, b in slopes)
        least = "what no rising curve through the same point can fall below"
        lines.append(f"Proven: largest slopes, and {least}: {steepest}.")
    if proof.resolution:
        off = ", ".join(f"{group} {error:.2g}" for group, error in proof.rate_error.items())
        lines.append(
            f"Proven: scores were rounded to {proof.resolution:g} before fitting, which moves each rate by no more "
            f"than half of that times the slope: {off}. All else is about the rounded scores."
        )
    return "\n".join([*lines, *_of_new_people(proof)])


def _rivals(proof: Certificate) -> str:
    """Those that the policy is proven best among."""
    if proof.curve == "threshold":
        strict = f" of {proof.sample_tolerance:.4g} at the fit" if proof.sample_tolerance is not None else ""
        return f"thresholds within the tolerance{strict}"
    return "rising curves" + (f" that leave {proof.few}" if proof.few else "")


def few_by_chance(proof: Certificate) -> str:
    """How few people might be decided by chance, in words; nothing where there was no such budget."""
    shares = (proof.max_randomized, "of everybody"), (proof.max_randomized_by_group, "of each group")
    shares_in_words = [f"{share:.4g} {whom}" for share, whom in shares if share is not None]
    return f"at most {' and '.join(shares_in_words)} to chance" if shares_in_words else ""


def already_within(proof: Certificate) -> str:
    """That one threshold for everybody would do, and what each way costs; nothing where none comes near."""
    one = proof.one_threshold
    if one is None or proof.worse(one.objective, proof.objective) > _WORTH_TELLING:
        return ""
    sure = f" with confidence {proof.confidence:g}" if proof.confidence is not None else ""
    better = proof.worse(one.objective, proof.objective)
    lost = proof.worse(proof.objective, one.objective)
    gentler = " but gentler odds" if np.isfinite(max(proof.slopes)) else ""
    gains = f"gains {better:.2g} on it" if better > 0 else f"gains nothing on it{gentler}"
    gains = f"loses {lost:.2g} against it" if lost > _SEEN and not gentler else gains
    return (
        f"Already within the tolerance{sure}: one threshold for everybody, at {one.score:.6g}, with "
        f"{proof.objective_name} {one.objective:.6f}, where the groups differ by {one.difference:.4g}. This policy, "
        f"with {proof.objective:.6f}, {gains}."
    )


def promise_to_new_people(proof: Certificate) -> str:
    """What the tolerance promises of new people, in words; nothing where it is about the people of the fit."""
    if proof.confidence is None or proof.guarantee is None:
        return ""
    return (
        f"{_PLAIN[proof.guarantee]}: with confidence {proof.confidence:g} the groups of the population differ by at "
        f"most {proof.tolerance:g}; for that, those of the fit differ by at most {proof.sample_tolerance:.4g}."
    )


def _number(value: float, digits: int = 6) -> str:
    return "infinite" if np.isinf(value) else f"{value:.{digits}g}"


def _percent(share: float) -> str:
    return _UNKNOWN if np.isnan(share) else f"{share:.1%}"


def _from_to(shares: Sequence[float]) -> str:
    """A share before and after."""
    return " -> ".join(map(_percent, shares))


def _given_up(proof: Certificate) -> list[str]:
    """What the figures before are of, and what the objective pays for the constraint and for gentler odds."""
    before = proof.before
    if before is None:
        return []
    fair = proof.worse(before.objective, proof.unlimited) - proof.worse(proof.unlimited, before.objective)
    for_what = "less chance" if proof.few or proof.curve == "threshold" else "gentler odds"
    for_what = "the point that was named" if proof.target_given else for_what
    by = "gained by" if fair > 0 else "given up for"
    reviews = "reviews and " if proof.reviewed else ""
    within = f" to within {proof.tolerance:g}" if proof.tolerance else ""
    prices = [f"{abs(fair):.4f} {by} {reviews}curves of each group's own with {proof.shared}{within}"]
    if proof.loss > _SEEN:
        prices.append(f"{proof.loss:.4f} given up for {for_what}")
    name, score = proof.objective_name, before.score
    same = " for about as many yeses" if proof.selection_rate is not None else ""
    was = "the policy in use" if score is None else f"one threshold for everybody, at {score:.6g}{same}"
    for answer, rate in (("a no", 0.0), ("a yes", 1.0)):
        if score is not None and all(point.fpr == point.tpr == rate for point in before.points):
            was = f"{answer} for everybody"
    return [
        f"Before: {was}, with {name} {before.objective:.4f}.",
        f"After: {proof.objective:.4f}{_if_so(proof)}; {', '.join(prices)}.",
    ]


def _who_sets_the_point(proof: Certificate) -> list[str]:
    """The groups that reach no further: all others could do better, and are held to them."""
    if len(proof.groups) == 1 or proof.target_given or proof.bound_by == SEARCH:
        return []
    binding = [
        (group, people)
        for group, slope, people in zip(proof.groups, proof.slopes, proof.people, strict=False)
        if slope > 0 and slope >= proof.max_slope * _BINDING
    ]
    if not binding or len(binding) == len(proof.groups):
        return []
    named = ", ".join(
        f"{group!r} ({people_text(n)} negatives, {people_text(p)} positives)" for group, (n, p, *_) in binding[:_NAMED]
    )
    more = f" and {len(binding) - _NAMED} more" if len(binding) > _NAMED else ""
    sets, them = ("sets", "it") if len(binding) == 1 else ("set", "them")
    return [
        f"{named}{more} {sets} the point for everybody: no such curve found within the budget takes {them} further."
    ]


def _if_so(proof: Certificate) -> str:
    return "" if proof.reviewed is None else ", if reviewers are as assumed"


def _of_new_people(proof: Certificate) -> list[str]:
    """What is known, and what is not, of people that the policy was not fitted on."""
    lines = [] if proof.change is None else [str(proof.change)]
    if proof.scored == "same rows":
        lines.append(
            "Beware: the estimator was fitted on these very people, so its scores flatter it here; nothing of the "
            "above holds for new people. Hint: cv=5."
        )
    elif proof.scored == "out of fold":
        lines.append("All of this is about out-of-fold scores; the estimator was then fitted on everybody.")
    if proof.promise_to_new_people:
        lines.append(proof.promise_to_new_people)
    elif proof.spreads and proof.scored != "same rows":
        lines.append(
            f"{_PLAIN['asymptotic']}: with confidence 0.95 the groups of the population differ by at most "
            f"{proof.population_bound():.4g}{_if_so(proof)}."
        )
    else:
        lines.append("Not proven: how the rates turn out for other people; they differ by chance.")
    return lines
