"""People who review in place of a coin: how many cases they can take, and how often they say yes.

Reviewers know more than the score, and they err: of positives they say yes to a share `tpr`, of negatives to a share
`fpr`. Both are assumed of them, or measured on what they did before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from evenodds.errors import DataError, OptionError, one_of
from evenodds.model.columns import check_lengths, labels_of
from evenodds.model.keys import GroupLike, encode
from evenodds.model.options import OPTIONS
from evenodds.values import confidence_of, number_of

__all__ = ["EQUAL", "Equal", "PastReviews", "Review", "check_review"]

Equal = Literal["share", "final", "threeway"]
EQUAL = ("share", "final", "threeway")
_LABELS = ("negatives", "positives")
_WHAT = {
    "share": "final rates are equal as the constraint asks, and every group is reviewed equally often",
    "final": "final rates are equal as the constraint asks, and groups may be reviewed more or less often",
    "threeway": "given the label, every group gets an automatic yes and a review equally often",
}


@dataclass(frozen=True)
class PastReviews:
    """How often reviewers said yes to people of one label: everybody's, or those of one group."""

    group: str | None
    """None where it is about everybody."""
    label: int
    reviews: int
    yes: int
    confidence: float

    @property
    def rate(self) -> float:
        """The share of them that got a yes."""
        return self.yes / self.reviews

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval for the chance of a yes.

        >>> low, high = PastReviews(None, 1, 100, 80, 0.95).interval
        >>> round(low, 4), round(high, 4)
        (0.7112, 0.8666)
        """
        z2 = NormalDist().inv_cdf((1 + self.confidence) / 2) ** 2
        n, p = self.reviews, self.rate
        middle, off = (p + z2 / (2 * n)) / (1 + z2 / n), math.sqrt(z2 * (p * (1 - p) + z2 / (4 * n)) / n) / (1 + z2 / n)
        return max(middle - off, 0.0), min(middle + off, 1.0)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.rate:.4f} [{low:.4f}, {high:.4f}] of {self.reviews:,} {_LABELS[self.label]}"


@dataclass(frozen=True)
class Review:
    """A third answer: somebody looks at the case. For `fit(review=)`, in place of deciding it by a coin.

    Parameters
    ----------
    capacity : float
        From 0 to 1: the largest share of everybody that can be reviewed.
    tpr, fpr : float
        The chance that a reviewer says yes to a positive and to a negative, in every group alike. They are taken as
        given: `certificate.if_reviewers` tells what becomes of the groups' rates where they are not so.
    equal : "share", "final" or "threeway"
        What groups have in common. "share": the final rates that the constraint names, and how often they are
        reviewed. "final": the final rates only; one group may then be reviewed far more often than another.
        "threeway": given the label, how often they get an automatic yes and how often a review. That takes
        reviewers who treat the groups alike, and holds whatever their tpr and fpr are; only the objective uses these.
    past : tuple of PastReviews
        What `Review.measured` counted; nothing where the rates are assumed.

    See Also
    --------
    fit : Takes one as `review`.
    Review.measured : With rates from past reviews.
    Certificate.if_reviewers : What if reviewers are not as assumed.
    decide : Says yes, review or no to each person.

    Examples
    --------
    >>> import evenodds as eo
    >>> joint = eo.datasets.credit_risk()
    >>> policy = eo.fit(joint, review=eo.Review(capacity=0.05, tpr=0.8, fpr=0.2))
    >>> round(policy.certificate.objective, 7)
    0.8494667
    >>> policy.odds([22, 27, 60], "hispanic", outcome="review").round(3)
    array([0., 1., 0.])
    """

    capacity: float
    tpr: float
    fpr: float
    equal: Equal = "share"
    past: tuple[PastReviews, ...] = ()

    def __post_init__(self) -> None:
        for name, allowed in (
            ("capacity", "from 0 to 1, the largest share of everybody that is reviewed"),
            ("tpr", "from 0 to 1, the chance that a reviewer says yes to a positive"),
            ("fpr", "from 0 to 1, the chance that a reviewer says yes to a negative"),
        ):
            object.__setattr__(self, name, number_of(name, getattr(self, name), allowed, low=0.0, high=1.0))
        one_of("equal", self.equal, EQUAL)
        if not isinstance(self.past, tuple) or not all(isinstance(counted, PastReviews) for counted in self.past):
            msg = f"past={self.past!r} is not allowed. Allowed: what Review.measured counts, or nothing."
            raise OptionError(msg)
        if self.tpr < self.fpr:
            msg = (
                f"tpr={self.tpr:g} is less than fpr={self.fpr:g}: such reviewers are worse than a coin. Allowed: tpr "
                "from fpr on. Hint: tpr is the chance of a yes to a positive, fpr that of a yes to a negative."
            )
            raise OptionError(msg)

    @classmethod
    def measured(
        cls,
        said_yes: ArrayLike,
        label: ArrayLike,
        *,
        capacity: float,
        equal: Equal = "share",
        group: GroupLike | None = None,
        confidence: float = 0.95,
    ) -> Review:
        """Take tpr and fpr from past reviews, with intervals that `str` shows.

        Parameters
        ----------
        said_yes : array of shape (n,)
            Whether the reviewer said yes: 0 or 1.
        label : array of shape (n,)
            What came true: 0 or 1.
        capacity : float
            From 0 to 1: the largest share of everybody that can be reviewed.
        equal : "share", "final" or "threeway"
            As for `Review`.
        group : array of shape (n,), or several columns, optional
            The groups of those who were reviewed: the rates are then told by group too, so that you see whether
            reviewers treat groups alike.
        confidence : float
            How often an interval shall contain the truth, each by itself.

        Returns
        -------
        Review
            Its `past` has the counts.

        Examples
        --------
        >>> said, label = [1] * 80 + [0] * 20 + [1] * 30 + [0] * 120, [1] * 100 + [0] * 150
        >>> print(Review.measured(said, label, capacity=0.05))
        Review of up to 0.05 of everybody; final rates are equal as the constraint asks, and every group is reviewed
        equally often. Reviewers say yes to 0.8 of positives and to 0.2 of negatives, as in past reviews:
          positives: a yes to 0.8000 [0.7112, 0.8666] of 100 positives
          negatives: a yes to 0.2000 [0.1438, 0.2711] of 150 negatives
        """
        confidence = confidence_of(confidence)
        yes = labels_of("said_yes", said_yes, can_be_named=False)
        truth = labels_of("label", label, can_be_named=False)
        codes, keys = (None, ()) if group is None else encode(group)
        lengths = {"said_yes": yes.size, "label": truth.size} | ({} if codes is None else {"group": codes.size})
        check_lengths(lengths)
        rows: list[tuple[str | None, Any]] = [(None, np.ones(yes.size, bool))]
        if codes is not None:
            rows += [(key, codes == code) for code, key in enumerate(keys)]
        past = tuple(
            PastReviews(key, side, int(these.sum()), int((these & yes).sum()), confidence)
            for key, own in rows
            for side in (1, 0)
            if (these := own & (truth == side)).any() or key is None
        )
        for overall in past[:2]:
            if not overall.reviews:
                msg = (
                    f"There are no past reviews of {_LABELS[overall.label]}, so how reviewers decide them is not known."
                )
                raise DataError(msg)
        return cls(capacity, past[0].rate, past[1].rate, equal, past)

    @property
    def chances(self) -> tuple[float, float]:
        """The chance of a yes to a negative and to a positive: by label."""
        return self.fpr, self.tpr

    @property
    def terms(self) -> str:
        """What was asked of the reviews, in words."""
        return f"Review of up to {self.capacity:g} of everybody; {_WHAT[self.equal]}."

    def __str__(self) -> str:
        how = f"Reviewers say yes to {self.tpr:.4g} of positives and to {self.fpr:.4g} of negatives"
        if not self.past:
            return f"{self.terms} {how} (assumed)."
        lines = [f"{self.terms} {how}, as in past reviews:"]
        lines += [
            f"  {'' if past.group is None else f'{past.group}, '}{_LABELS[past.label]}: a yes to {past}"
            for past in self.past
        ]
        return "\n".join(lines)


_GOES_WITH = ("constraints", "objective", "tolerance", "curve", "max_slope", "guarantee", "review")
_WHY = {
    "max_loss": "with reviews no slope budget is looked for, and max_slope= gives one",
    "target": "the point is chosen together with who is reviewed",
    "keep_individual_odds": "the curves of a linear program need not run from 0 to 1",
    "criterion": "the curves are the linear program's own",
    "confidence": "how sure reviewers' rates are is not known",
}


def check_review(given: dict[str, Any]) -> dict[str, Any]:
    """The options of a fit with reviews: refuse what does not go with them, and set what follows from them."""
    review = given["review"]
    if not isinstance(review, Review):
        msg = (
            f"review={review!r} is not allowed. Allowed: evenodds.Review(capacity=, tpr=, fpr=), or None. "
            "Hint: review=evenodds.Review(capacity=0.05, tpr=0.8, fpr=0.2)."
        )
        raise OptionError(msg)
    for name, option in OPTIONS.items():
        if name not in _GOES_WITH and option.is_given(given[name]):
            why = f": {_WHY[name]}" if name in _WHY else ""
            msg = (
                f"{name}={given[name]!r} does not go with review={why}. "
                f"Allowed with it: {', '.join(_GOES_WITH[:-2])}. Hint: leave out {name}."
            )
            raise OptionError(msg)
    if given["curve"] in ("fixed", "threshold"):
        msg = (
            f"curve={given['curve']!r} does not go with review=: the curves are straight lines between scores, as a "
            "linear program finds them. Hint: leave out curve."
        )
        raise OptionError(msg)
    if given["objective"] == "closest_to_perfect":
        msg = "objective='closest_to_perfect' is a distance, and review= takes sums of rates. Hint: accuracy_score."
        raise OptionError(msg)
    if review.equal == "threeway" and given["constraints"] in ("demographic_parity", "selection_rate_parity"):
        msg = (
            f"equal='threeway' is about rates given the label, and constraints={given['constraints']!r} is not. "
            "Allowed with it: equal='share' or equal='final'."
        )
        raise OptionError(msg)
    slope = math.inf if given["max_slope"] is None else given["max_slope"]
    return given | {"curve": "optimal", "max_slope": slope, "review": review}
