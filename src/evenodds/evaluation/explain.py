"""One person's odds in words: what they are, what would change them, and who else has them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from evenodds.errors import DataError, OptionError, UnreachableError
from evenodds.evaluation.inverse import SAME_ODDS, Plateau, plateaus_of, score_needed, scores_with
from evenodds.evaluation.step import POINT, Step, beyond_the_scores, step_of
from evenodds.model.curves import Curve
from evenodds.model.families import family_of
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution, check_is_joint
from evenodds.model.keys import key_of
from evenodds.model.policy import Policy, check_policy
from evenodds.model.roc import Point
from evenodds.model.scale import Scale
from evenodds.model.search import CurveSearch
from evenodds.model.target import check_reach
from evenodds.values import Frozen, number_of

__all__ = ["Explanation", "explain", "fixed_to"]

_FEW = 3  # stretches of rising odds that are told one by one
_WORTH_KNOWING = (0.5, 0.9, 1.0)  # odds that people ask the way to


@dataclass(frozen=True)
class Explanation:
    """Why somebody has these odds; `print` puts it in words.

    See Also
    --------
    explain : Makes one.

    Examples
    --------
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.compas())
    >>> explanation = eo.explain(policy, score=5, group="Caucasian, Male")
    >>> round(explanation.odds, 4), round(explanation.with_one_more, 4), round(explanation.needed[0.9], 4)
    (0.5999, 0.7477, 7.0309)
    """

    group: str
    """The person's group, by its key."""
    score: float
    """The person's score."""
    odds: float
    """The person's odds of a yes."""
    slope: float
    """How fast the odds change with the score here, as a magnitude."""
    with_one_more: float
    """The odds one `step` nearer to a yes."""
    needed: Mapping[float, float | None]
    """For some odds the score in the same group that gives at least these; None where no score does."""
    same_odds: Mapping[str, tuple[float, float] | None]
    """The scores between which each other group has the same odds; None where it never has them."""
    orientation: str
    """"positive" where a higher score speaks for a yes, else "negative"."""
    rank: float | None = None
    """The share of the group whose score is less favourable, those with the same score counting half."""
    fixed: Curve | None = None
    """What fixed randomisation would give this group at the same rates."""
    positive_share: float | None = None
    """The share of positives among people of the group at this score, if there are any."""
    plateaus: tuple[Plateau, ...] = ()
    """Odds that the group has over whole stretches of scores, from no to yes; between these the odds change."""
    step: Step = POINT
    """A point where scores are points; else their resolution, or about a hundredth of their range."""
    score_range: tuple[float, float] = (-math.inf, math.inf)
    """The lowest and the highest score that were seen at the fit, of any group."""
    best_odds: float = 1.0
    """The group's odds at the most favourable of these scores."""
    beyond: str | None = None
    """How the group's curve goes on beyond these scores; None where it does not."""
    review: float | None = None
    """The odds of a review, where there are reviews. All else is then about the odds of an automatic yes."""

    @property
    def fixed_odds(self) -> float | None:
        """The odds under fixed randomisation at the same rates."""
        return None if self.fixed is None else float(self.fixed(self.score))

    @property
    def _seen(self) -> tuple[float, float]:
        """The least and the most favourable score seen at the fit."""
        lo, hi = self.score_range
        return (lo, hi) if self.orientation == "positive" else (hi, lo)

    def _is_better(self, score: float, other: float) -> bool:
        """Whether a score speaks more for a yes than another."""
        return score > other if self.orientation == "positive" else score < other

    def __str__(self) -> str:
        text = [f"At a score of {self.score:g} the odds of a yes in group {self.group!r} are {_percent(self.odds)}."]
        if self.review is not None:
            no = 1 - (self.odds + self.review)
            text = [
                f"At a score of {self.score:g} the odds of an automatic yes in group {self.group!r} are",
                f"{_percent(self.odds)}, of a review {_percent(self.review)}, and of an automatic no {_percent(no)}.",
                "What follows is about the automatic yes.",
            ]
        lo, hi = self.score_range
        if lo <= self.score <= hi:
            text.append(self._one_step())
        else:
            text.append(f"Nobody at the fit had such a score: they went from {lo:g} to {hi:g}.")
        if self.rank is not None:
            text.append(f"The score is better than that of {_percent(self.rank)} of the group.")
        if self.positive_share is not None:
            text.append(f"Of the group's people with this score {_percent(self.positive_share)} were positive.")
        text += self._stretches()
        text += self._way_up()
        if self.beyond:
            text.append(f"The group's curve {self.beyond}; a gentle curve may be wider than the scores.")
        text += self._elsewhere()
        if self.fixed is not None:
            text.append(self._without_curves())
        return " ".join(text)

    def _one_step(self) -> str:
        """What a step more would do; nobody is told of a score that no one has."""
        upward = self.orientation == "positive"
        if not self._is_better(self._seen[1], self.score):
            return f"No {'higher' if upward else 'lower'} score was seen at the fit."
        step, odds = f"{self.step.alone} {'more' if upward else 'less'}", self.with_one_more
        if abs(self._seen[1] - self.score) < self.step.size:
            which = "highest" if upward else "lowest"
            step, odds = f"the {which} score seen at the fit, {self._seen[1]:.6g},", self.best_odds
        if abs(odds - self.odds) <= SAME_ODDS:
            return f"With {step} they would be the same."
        return f"With {step} they would be {_percent(odds)} (slope here {self.slope:.4g})."

    def _stretches(self) -> list[str]:
        """Where the odds change, if that is here and there: those between have nothing to gain by a point more."""
        # The people exactly at t0 of a fixed curve have a stretch of their own.
        wide = [plateau for plateau in self.plateaus if not _are_neighbours(plateau.start, plateau.stop)]
        changes = [(one.stop, other.start) for one, other in pairwise(wide)]
        if not 1 < len(changes) <= _FEW:
            return []
        steps = [
            f"jump at {start:.6g}" if _are_neighbours(start, stop) else f"rise from {start:.6g} to {stop:.6g}"
            for start, stop in changes
        ]
        level = " and then ".join(_percent(plateau.odds) for plateau in wide[1:-1])
        return [f"The group's odds {', then '.join(steps)}; between they stay at {level}."]

    def _way_up(self) -> list[str]:
        ahead = [(odds, at) for odds, at in self.needed.items() if odds > self.odds + SAME_ODDS]
        first, last = self._seen
        everywhere = [odds for odds, at in ahead if at is not None and self._is_better(first, at)]
        nowhere = [_percent(odds) for odds, at in ahead if at is not None and self._is_better(at, last)]
        never = [_percent(odds) for odds, at in ahead if at is None]
        within = {at: odds for odds, at in ahead if at is not None and min(first, last) <= at <= max(first, last)}
        reached = [f"{_percent(odds)} at {at:.6g}" for at, odds in within.items()]  # of odds with one score the highest
        sentences = (
            (everywhere, f"Every score seen at the fit has odds of at least {_percent(max(everywhere, default=0))}."),
            (reached, f"The group has odds of {', '.join(reached)}."),
            (nowhere, f"No score seen at the fit reaches odds of {' or '.join(nowhere)}."),
            (never, f"No score of the group has odds of {' or '.join(never)}."),
        )
        return [sentence for odds, sentence in sentences if odds]

    def _elsewhere(self) -> list[str]:
        lo, hi = self.score_range
        given = {group: at for group, at in self.same_odds.items() if at is not None}
        seen = {group: at for group, at in given.items() if min(at) <= hi and max(at) >= lo}
        places = [f"{_between(at)} in group {group!r}" for group, at in seen.items()]
        unseen = [repr(group) for group in given if group not in seen]
        never = [repr(group) for group in self.same_odds if group not in given]
        sentences = (
            (places, f"The same odds are given {'; '.join(places)}."),
            (unseen, f"No score seen at the fit gives these odds in group {', '.join(unseen)}."),
            (never, f"No score gives these odds in group {', '.join(never)}."),
        )
        return [sentence for groups, sentence in sentences if groups]

    def _without_curves(self) -> str:
        assert self.fixed is not None  # noqa: S101 asked only then
        if self.fixed.is_threshold:
            return f"Fixed randomisation to the same rates is a threshold at {self.fixed.t0:g}, and says " + (
                "yes." if self.fixed_odds == 1 else "no."
            )
        if self.fixed.is_constant:
            return f"Fixed randomisation to the same rates gives everybody {_percent(self.fixed.p)}."
        return (
            f"Fixed randomisation to the same rates would give {_percent(float(self.fixed(self.score)))} here, and "
            f"{_percent(self.fixed.p)} to all between {self.fixed.t0:g} and {self.fixed.t1:g}, however they score."
        )


def explain(
    policy: Policy, *, score: float, group: object, joint: JointDistribution | None = None, odds: Sequence[float] = ()
) -> Explanation:
    """Explain one person's odds, the chance of a yes: what they are, what would change them, and who else has them.

    Parameters
    ----------
    policy : Policy
        What gives the odds.
    score : float
        The person's score.
    group : str, or several values
        The person's group; values of several columns where groups are combinations.
    joint : JointDistribution, optional
        People to compare with, best those of the fit: the explanation then has the person's rank in the group, and
        what fixed randomisation to the same rates would have said, if these people's scores allow the rates.
    odds : sequence of float
        Odds whose score is wanted too, besides 0.5, 0.9 and 1.

    Returns
    -------
    Explanation
        `print` puts it in words; its fields have the numbers.

    See Also
    --------
    Policy.odds : The odds alone.
    report : What a policy does to everybody, in one file.
    individual.report : Whether similar people are treated alike.

    Examples
    --------
    The paper's example, recomputed: fixed randomisation gives white applicants with 25 and with 49.5 points nearly the
    same odds (it needs odds of their own for those at 25 to be exact), although 6.23 times as many of the former
    default. A curve gives the latter 3.63 times the odds.

    >>> import evenodds as eo
    >>> joint = eo.datasets.credit_risk()
    >>> policy = eo.fit(joint, target="baseline")
    >>> low, high = (eo.explain(policy, score=score, group="white", joint=joint) for score in (25, 49.5))
    >>> round(low.fixed_odds, 4), round(high.fixed_odds, 4)
    (0.4768, 0.5006)
    >>> round((1 - low.positive_share) / (1 - high.positive_share), 2)
    6.23
    >>> round(low.odds, 4), round(high.odds, 4), round(high.odds / low.odds, 2)
    (0.2158, 0.7832, 3.63)
    >>> print(high)
    At a score of 49.5 the odds of a yes in group 'white' are 78.32 %. ...
    """
    check_policy(policy)
    key = _checked_key(policy, group)
    own = policy.curves[key]
    at = number_of("score", score, "a finite number")
    asked = _odds_asked_for(odds)
    here = float(own(at))
    step = step_of(policy)
    explanation = Explanation(
        group=key,
        score=at,
        odds=here,
        slope=float(own.slope(at)),
        with_one_more=float(own(at + own.scale.sign * step.size)),
        needed=Frozen({wanted: score_needed(own, wanted) for wanted in sorted({*_WORTH_KNOWING, *asked})}),
        same_odds=Frozen({other: scores_with(curve, here) for other, curve in policy.curves.items() if other != key}),
        orientation=policy.orientation,
        plateaus=plateaus_of(own),
        step=step,
        score_range=policy.score_range,
        best_odds=float(own(np.array(policy.score_range)).max()),
        beyond=beyond_the_scores(own, policy.score_range) or None,
        review=None if policy.review is None else float(policy.odds(at, key, outcome="review")),
    )
    return explanation if joint is None else _beside(explanation, policy, joint)


def _odds_asked_for(odds: object) -> list[float]:
    if isinstance(odds, str) or not isinstance(odds, (Sequence, np.ndarray)):
        msg = f"odds={odds!r} is not allowed. Allowed: a sequence of numbers from 0 to 1."
        raise OptionError(msg)
    return [number_of("odds", wanted, "numbers from 0 to 1", low=0, high=1) for wanted in odds]


def _checked_key(policy: Policy, group: object) -> str:
    key = key_of(group) if isinstance(group, (tuple, list)) else str(group)
    policy.check_knows([key])
    return key


def _beside(explanation: Explanation, policy: Policy, joint: JointDistribution) -> Explanation:
    check_is_joint(joint, "joint=")
    policy.check_orientation(joint.orientation)
    member = next((m for m in joint.members if m.key == explanation.group), None)
    if member is None:
        msg = f"joint= has nobody of group {explanation.group!r}, or only one label of it."
        raise DataError(msg)
    upward = joint.scale.upward(explanation.score)
    everybody = member.negatives + member.positives
    first = int(np.searchsorted(member.scores, upward, side="left"))
    last = int(np.searchsorted(member.scores, upward, side="right"))
    rank = float(everybody[:first].sum() + everybody[first:last].sum() / 2) / member.total
    share = float(member.positives[first] / everybody[first]) if last > first else None
    point = policy.certificate.points[explanation.group]
    fixed = fixed_to(member, point, policy) if policy.review is None else None  # which has no reviewers to help it
    return replace(explanation, rank=rank, fixed=fixed, positive_share=share)


def fixed_to(member: Group, point: Point, policy: Policy) -> Curve | None:
    """Fixed randomisation to the policy's own rates; None where these people's scores do not allow them."""
    try:
        check_reach(member.key, member.roc, point)
    except UnreachableError:
        return None
    (path,) = CurveSearch(JointDistribution((member,), "positive"), family_of("fixed"), [point]).singles
    assert path is not None  # noqa: S101 a fixed curve always has one
    return path.curve(0).on(Scale(policy.orientation))


def _percent(odds: float) -> str:
    return f"{100 * odds:.4g} %"


def _between(scores: tuple[float, float]) -> str:
    lo, hi = sorted(scores)
    if math.isinf(lo) and math.isinf(hi):
        return "at every score"
    if math.isinf(lo):
        return f"up to {hi:.6g}"
    if math.isinf(hi):
        return f"from {lo:.6g} on"
    return f"at {lo:.6g}" if hi - lo <= 1e-6 * max(1.0, abs(lo)) else f"from {lo:.6g} to {hi:.6g}"


def _are_neighbours(one: float, other: float) -> bool:
    """Whether no score lies between two."""
    return other in (one, math.nextafter(one, other))
