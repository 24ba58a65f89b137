"""The step of score that words speak of: a point where scores are points, else a small part of their range."""

from __future__ import annotations

from dataclasses import dataclass

from evenodds.model.curves import Curve
from evenodds.model.policy import Policy
from evenodds.showing import round_number

__all__ = ["POINT", "Step", "beyond_the_scores", "step_of"]

_POINTS = (5.0, 1000.0)  # how far scores range that are points: a point is neither most of them nor next to nothing
_PART = 0.008  # of the range, rounded up to 1, 2 or 5 times a power of ten, is a step where scores are no points
_FINEST = 0.001  # of the range: a finer resolution is no step that anybody would notice
_CERTAIN = 1e-12  # odds nearer to 0 or 1 than this are 0 or 1


@dataclass(frozen=True)
class Step:
    """A step of score, and what to call it.

    >>> Step(1.0, is_point=True).each, Step(0.01, is_point=False).each
    ('a point of score', '0.01 of score')
    """

    size: float
    is_point: bool

    @property
    def alone(self) -> str:
        """Before "more" or "less"."""
        return "one point" if self.is_point else f"{self.size:g}"

    @property
    def each(self) -> str:
        """After something that changes with the score."""
        return "a point of score" if self.is_point else f"{self.size:g} of score"


POINT = Step(1.0, is_point=True)


def step_of(policy: Policy) -> Step:
    """A point where the policy's scores are points; else their resolution, or about a hundredth of their range.

    >>> import evenodds as eo
    >>> step_of(eo.fit(eo.datasets.credit_risk()))
    Step(size=1.0, is_point=True)
    """
    lo, hi = policy.score_range
    reach = hi - lo
    resolution = policy.certificate.resolution
    if reach == 0 or (_POINTS[0] <= reach <= _POINTS[1] and resolution <= 1):
        return POINT
    if resolution >= _FINEST * reach:
        return Step(resolution, is_point=False)
    return Step(round_number(_PART * reach), is_point=False)


def beyond_the_scores(curve: Curve, score_range: tuple[float, float]) -> str:
    """How a curve goes on where nobody scores, after the name of whose it is; nothing where its thresholds are inside.

    >>> beyond_the_scores(Curve("linear", -0.25, 1.0, 0.5), (0.0, 1.0))
    'starts at -0.25, beyond the scores seen at the fit (0 to 1): among these the odds are never below 20 %'
    """
    if curve.is_constant:
        return ""
    low, high = sorted(float(odds) for odds in curve(list(score_range)))
    first, last = sorted(curve.scale.upward(score) for score in score_range)
    start, stop = curve.upward
    where, so = [], []
    if start < first and low > _CERTAIN:
        where.append(f"starts at {curve.t0:.6g}")
        so.append(f"below {100 * low:.4g} %")
    if stop > last and high < 1 - _CERTAIN:
        where.append(f"ends at {curve.t1:.6g}")
        so.append(f"above {100 * high:.4g} %")
    if not where:
        return ""
    lo, hi = score_range
    return (
        f"{' and '.join(where)}, beyond the scores seen at the fit ({lo:.6g} to {hi:.6g}): among these the odds are "
        f"never {' nor '.join(so)}"
    )
