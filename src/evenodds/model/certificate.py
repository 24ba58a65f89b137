"""What a policy provably does, and how far it provably is from the best."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import RLock
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

import numpy as np

from evenodds.model.roc import Point

__all__ = ["Certificate"]

T = TypeVar("T")
_ONE_BY_ONE = RLock()


class _Bound(Generic[T]):
    """A field that the pooled ROC fills in at once, and a search or a program more tightly when it is looked at."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, certificate: object, owner: type | None = None) -> T:
        if certificate is None:
            raise AttributeError(self._name)  # so that dataclasses see a field without a default
        known = certificate.__dict__
        if "_tighter" in known:
            with _ONE_BY_ONE:  # who comes while it is computed waits for it
                if "_tighter" in known:
                    known.update({f"_{name}": value for name, value in known["_tighter"]().items()})
                    del known["_tighter"]
        return cast("T", known[self._name])

    def __set__(self, certificate: object, value: T) -> None:
        certificate.__dict__[self._name] = value


@dataclass(frozen=True, kw_only=True)
class Certificate:
    """What was asked of a policy, what its final curves do on the fitting data, and how far that is from the best.

    Everything here is about the data that the policy was fitted on; on other people rates differ by chance. Bounds come
    from the pooled ROC. Where that leaves a gap more is proven by a search in it, and if the scores are few by a linear
    program; that is done when a bound is first looked at, so that a fit need not wait for it.
    """

    constraints: str
    tolerance: float
    objective_name: str
    max_slope: float
    """The slope budget; infinite where there was none."""
    target: Point | None
    """The common point that every group was asked to meet; None where there is no such point."""
    groups: tuple[str, ...]
    asked: tuple[Point, ...]
    reached: tuple[Point, ...]
    slopes: tuple[float, ...]
    slope_bounds: _Bound[tuple[float, ...]] = _Bound()
    objective: float
    """Recomputed from the final curves."""
    objective_bound: _Bound[float] = _Bound()
    """What no rising curves within the slope budget can better."""
    unlimited: float
    """The best that rising curves of any kind do without a slope budget."""
    smaller_is_better: bool
    bound_by: _Bound[str] = _Bound()
    """How the bounds were proven: "linear program" or "pooled ROC"."""
    resolution: float = 0.0
    """What the scores were rounded to before fitting; 0 where they were not."""
    criterion: str | None = None
    """Which of the curves through a point was wanted; None where that was not recorded."""
    max_loss: float | None = None
    """How much of the objective might go for gentleness; None where the slope budget was not found that way."""
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

    def __getstate__(self) -> dict[str, Any]:
        """What is written down is proven first."""
        _ = self.bound_by
        return self.__dict__

    def tightened_by(self, program: Callable[[], Mapping[str, Any]]) -> Certificate:
        """The same with a program that proves tighter bounds when they are first asked for."""
        self.__dict__["_tighter"] = program
        return self

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
        return MappingProxyType({g: self._rate_error(slope) for g, slope in zip(self.groups, self.slopes, strict=True)})

    def _rate_error(self, slope: float) -> float:
        return min(1.0, slope * self.resolution / 2) if self.resolution else 0.0

    @property
    def residual(self) -> float:
        """The largest distance of any group's recomputed rate from the one asked for."""
        pairs = zip(self.asked, self.reached, strict=True)
        return max(max(abs(a.fpr - r.fpr), abs(a.tpr - r.tpr)) for a, r in pairs)

    @property
    def difference(self) -> float:
        """The largest difference between two groups in a constrained rate, recomputed."""
        fpr, tpr = np.array([[point.fpr, point.tpr] for point in self.reached]).T
        counts = np.array([figures[:2] for figures in self.people]) if self.people else np.ones((fpr.size, 2))
        rates = {
            "equalized_odds": (fpr, tpr),
            "demographic_parity": ((counts[:, 0] * fpr + counts[:, 1] * tpr) / counts.sum(axis=1),),
            "true_positive_rate_parity": (tpr,),
            "false_negative_rate_parity": (tpr,),
        }.get(self.constraints, (fpr,))
        return float(max(np.ptp(rate) for rate in rates))

    @property
    def loss(self) -> float:
        """How much of the objective was given up: the best without a slope budget, less this policy."""
        return self._worse(self.objective, self.unlimited)

    @property
    def gap(self) -> float:
        """How much better rising curves within the budget might be at most."""
        return self._worse(self.objective, self.objective_bound)

    def _worse(self, value: float, best: float) -> float:
        return max(0.0, (value - best) if self.smaller_is_better else (best - value))

    @property
    def shared(self) -> str:
        """What the groups share, in words."""
        return {
            "equalized_odds": "the same false and true positive rate",
            "demographic_parity": "the same selection rate",
            "true_positive_rate_parity": "the same true positive rate",
            "false_negative_rate_parity": "the same false negative rate",
            "false_positive_rate_parity": "the same false positive rate",
            "true_negative_rate_parity": "the same true negative rate",
        }[self.constraints]

    def __str__(self) -> str:
        within = f" to within {self.tolerance:g}" if self.tolerance else ""
        where = f", fpr {self.target.fpr:.6f} and tpr {self.target.tpr:.6f}" if self.target else ""
        lines = [
            f"Asked: {self.shared} in every group{within}{where}.",
            f"Proven on the fitting data: every group meets its point to {self.residual:.1e} (recomputed).",
        ]
        better = "below" if self.smaller_is_better else "above"
        budget = "" if np.isinf(self.max_slope) else f" with slopes of at most {self.max_slope:.6g}"
        lines.append(
            f"Proven: {self.objective_name} {self.objective:.6f}; no rising curves{budget} get {better} "
            f"{self.objective_bound:.6f} ({self.bound_by}), so at most {self.gap:.2g} is missed."
        )
        lines.append(
            f"Against the best of all rising curves without a slope budget, {self.unlimited:.6f}, "
            f"{self.loss:.2g} is given up."
        )
        if self.mixes:
            within = "" if np.isinf(self.max_slope) else " within the slope budget"
            within += " with thresholds inside the score range" * self.keep_individual_odds
            lines.append(
                f"A mix of two curves: {', '.join(map(repr, self.mixes))}. No single curve of the family was found "
                f"that meets the point{within}."
            )
        slopes = zip(self.groups, self.slopes, self.slope_bounds, strict=True)
        told = "; ".join(f"{g} {_number(s)} (at least {_number(b)})" for g, s, b in slopes)
        lines.append(f"Proven: largest slopes, and what no rising curve through the same point can fall below: {told}.")
        if self.resolution:
            off = ", ".join(f"{group} {error:.2g}" for group, error in self.rate_error.items())
            lines.append(
                f"Proven: scores were rounded to {self.resolution:g} before fitting, which moves each rate by no more "
                f"than half of that times the slope: {off}. All else is about the rounded scores."
            )
        lines.append("Not proven: how the rates turn out for other people; they differ by chance.")
        return "\n".join(lines)


def _number(value: float) -> str:
    return "infinite" if np.isinf(value) else f"{value:.6g}"
