"""The options of a fit, each declared once: its default, what it may be, and what it means in a sentence.

Python's functions, the estimator and the command line read them here. Nothing heavy is imported, so that the command
line can list its options at once; words that an option takes are looked up where they live.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any

from evenodds.errors import OptionError, one_of
from evenodds.values import confidence_of, flag_of, number_of

__all__ = ["DEFAULT_MAX_LOSS", "OPTIONS", "Confidence", "Flag", "Number", "Option", "Words"]

DEFAULT_MAX_LOSS = 0.005

_CONSTRAINTS_ELSEWHERE = {
    "equalised_odds": "equalized_odds",
    "eo": "equalized_odds",
    "equal_opportunity": "true_positive_rate_parity",  # Hardt, Price and Srebro (2016)
    "equality_of_opportunity": "true_positive_rate_parity",
    "recall_parity": "true_positive_rate_parity",
    "tpr_parity": "true_positive_rate_parity",
    "fpr_parity": "false_positive_rate_parity",
    "predictive_equality": "false_positive_rate_parity",
    "tnr_parity": "true_negative_rate_parity",
    "fnr_parity": "false_negative_rate_parity",
    "dp": "demographic_parity",
    "statistical_parity": "demographic_parity",
    "selection_rate": "selection_rate_parity",
    "disparate_impact": "demographic_parity",
    "equal_opportunity_difference": "true_positive_rate_parity",
    "equalized_odds_difference": "equalized_odds",
    "demographic_parity_difference": "demographic_parity",
    "predictive_parity": "",  # is about the people who get a yes, and no two curves for groups have it in general
    "calibration": "",
    "error_rate_parity": "",
}
_OBJECTIVES_ELSEWHERE = {
    "accuracy": "accuracy_score",
    "acc": "accuracy_score",
    "error": "accuracy_score",
    "zero_one_loss": "accuracy_score",
    "balanced_accuracy": "balanced_accuracy_score",
    "youden": "balanced_accuracy_score",
    "f1": "balanced_accuracy_score",  # not linear in the rates, as an objective must be
    "f1_score": "balanced_accuracy_score",
    "mcc": "balanced_accuracy_score",
    "roc_auc": "balanced_accuracy_score",
    "recall": "true_positive_rate",
    "recall_score": "true_positive_rate",
    "sensitivity": "true_positive_rate",
    "tpr": "true_positive_rate",
    "precision": "",  # depends on how many get a yes, and so is no sum of rates
    "precision_score": "",
    "specificity": "true_negative_rate",
    "tnr": "true_negative_rate",
}


@dataclass(frozen=True)
class Option:
    """One option of a fit."""

    name: str
    default: Any
    help: str
    """A sentence for those who choose."""

    def checked(self, value: Any) -> Any:
        """The value in one form, or an error that says what is allowed."""
        return value

    def is_given(self, value: Any) -> bool:
        """Whether a value is another than the default; it may be an array, which compares entry by entry."""
        return value is not None if self.default is None else bool(value != self.default)


@dataclass(frozen=True)
class Words(Option):
    """An option that is one of some words."""

    where: str = ""
    """The module and the name of the tuple that has them."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """What other packages and papers say, and what is nearest to it here."""

    @property
    def words(self) -> tuple[str, ...]:
        """What is allowed."""
        module, name = self.where.rsplit(".", 1)
        return tuple(getattr(import_module(module), name))

    def checked(self, value: Any) -> str:
        return one_of(self.name, value, self.words, self.elsewhere)


@dataclass(frozen=True)
class Number(Option):
    """An option that is a number; None where it need not be given."""

    allowed: str = ""
    low: float = 0.0
    high: float = math.inf
    above: bool = False
    """Whether `low` itself is not allowed."""
    endless: bool = False
    """Whether infinity is allowed."""
    smallest: float = 0.0
    """Positive numbers below it are too small to compute with."""

    def checked(self, value: Any) -> float | None:
        if value is None and self.default is None:
            return None
        if self.endless and isinstance(value, float) and value == math.inf:
            return math.inf
        number = number_of(self.name, value, self.allowed, low=self.low, high=self.high, above=self.above)
        if 0 < number < self.smallest:
            msg = f"{self.name}={value!r} is too small for floating-point numbers. Allowed: from {self.smallest:g} on."
            raise OptionError(msg)
        return number


@dataclass(frozen=True)
class Flag(Option):
    """An option that is true or false."""

    def checked(self, value: Any) -> bool:
        return flag_of(self.name, value)


@dataclass(frozen=True)
class Confidence(Option):
    """An option that is a confidence, or None."""

    def checked(self, value: Any) -> float | None:
        return None if value is None else confidence_of(value)


OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        option.name: option
        for option in (
            Words(
                "constraints",
                "equalized_odds",
                "What the groups share.",
                where="evenodds.model.goals.CONSTRAINTS",
                elsewhere=_CONSTRAINTS_ELSEWHERE,
            ),
            Words(
                "objective",
                "accuracy_score",
                "What it is best at.",
                where="evenodds.model.goals.OBJECTIVES",
                elsewhere=_OBJECTIVES_ELSEWHERE,
            ),
            Number(
                "tolerance",
                0.0,
                "The largest difference of a rate between two groups.",
                allowed="from 0 to 1, the largest difference between two groups",
                high=1.0,
            ),
            Words(
                "curve",
                "linear",
                "The family of the curves; threshold decides nobody by chance.",
                where="evenodds.model.families.CHOICES",
            ),
            Words(
                "criterion",
                "gentlest",
                "Which curve through a point.",
                where="evenodds.model.criteria.CRITERIA",
            ),
            Number(
                "max_slope",
                None,
                "A budget on every group's largest slope.",
                allowed="a number above 0, the largest change of odds for a change of the score by 1",
                above=True,
                endless=True,
                smallest=1e-300,  # a gentler curve is wider than any number
            ),
            Number(
                "max_loss",
                None,
                f"How much of the objective may go for gentleness; {DEFAULT_MAX_LOSS:g} by default.",
                allowed="a number from 0 on, how much of the objective may go",
            ),
            Option("target", None, 'A point of your own, or "baseline", the paper\'s rule.'),
            Number(
                "max_randomized",
                None,
                "The largest share of everybody who are decided by chance.",
                allowed="a number from 0 to 1, the share of everybody who are decided by chance",
                high=1.0,
            ),
            Number(
                "max_randomized_by_group",
                None,
                "The largest share of each group who are decided by chance.",
                allowed="a number from 0 to 1, the share of each group who are decided by chance",
                high=1.0,
            ),
            Number(
                "selection_rate",
                None,
                "The share of yeses over everybody, such as places / applicants.",
                allowed="a number above 0, up to 1, the share of yeses over everybody",
                high=1.0,
                above=True,
            ),
            Flag("keep_individual_odds", False, "Every group's odds run from 0 to 1 within the scores."),
            Confidence("confidence", None, "How sure the tolerance shall be to hold for new people, such as 0.95."),
            Words(
                "guarantee",
                "asymptotic",
                "What the confidence rests on: right for many people, or proven for any number.",
                where="evenodds.model.population.GUARANTEES",
            ),
            Option("review", None, "Reviews in place of a coin: how many, and how often reviewers say yes."),
        )
    }
)
