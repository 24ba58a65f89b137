"""A certificate as plain data, and back: what comes back is checked, since it is shown to people as proven."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_args

from evenodds.errors import one_of
from evenodds.model.certificate import Certificate, Scored
from evenodds.model.comparisons import Before, Change, OneThreshold
from evenodds.model.criteria import CRITERIA
from evenodds.model.families import CHOICES
from evenodds.model.goals import OBJECTIVES, constraint_of
from evenodds.model.population import GUARANTEES
from evenodds.model.reviewed import Reviewed
from evenodds.model.reviewer import PastReviews, Review
from evenodds.model.roc import Point

__all__ = ["certificate_of", "number", "record_of", "written_number"]

_ROUNDING = 1e-9  # by which a recomputed rate may be beyond 0 or 1
_LABELS = 2
_FEWEST = 1e-200  # a rate is the mean of somebody, however little they weigh
_FINITE = (-math.inf, math.inf, False)
_RANGES = {
    # from, to, whether infinite is allowed
    "tolerance": (0.0, 1.0, False),
    "max_slope": (0.0, math.inf, True),
    "objective": _FINITE,
    "objective_bound": _FINITE,
    "unlimited": _FINITE,
    "resolution": (0.0, math.inf, False),
    "max_loss": (0.0, math.inf, False),
    "max_randomized": (0.0, 1.0, False),
    "max_randomized_by_group": (0.0, 1.0, False),
    "selection_rate": (0.0, 1.0, False),
    "confidence": (0.5, 1.0, False),
    "sample_tolerance": (0.0, 1.0, False),
}
_FLAGS = ("smaller_is_better", "keep_individual_odds", "target_given", "weighted")


def written_number(value: float) -> float | str:
    """A number as JSON has it, which knows no infinity."""
    return value if math.isfinite(value) else str(value)


def number(name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, infinite: bool = True) -> float:
    """A number from JSON, within limits."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    parsed = float(value) if known or value in ("inf", "-inf") else math.nan
    if not low <= parsed <= high or (math.isinf(parsed) and not infinite):
        allowed = "a number" if math.isinf(low) and math.isinf(high) else f"a number from {low:g} to {high:g}"
        msg = f"{name} is {value!r}. Allowed: {allowed}{'' if infinite else ', finite'}."
        raise ValueError(msg)
    return parsed


def record_of(certificate: Certificate) -> dict[str, Any]:
    """A certificate as plain data; who is reviewed, where somebody is."""
    plain = {field.name: _plain(getattr(certificate, field.name)) for field in fields(certificate)}
    return plain if certificate.reviewed is not None else {n: v for n, v in plain.items() if n != "reviewed"}


def _plain(value: Any) -> Any:
    """A value as JSON has it: values of our own by their fields, but for points, which are pairs."""
    if isinstance(value, Point):
        return [value.fpr, value.tpr]
    if isinstance(value, Reviewed):  # what the certificate says of the groups anyway is left out
        return {**_plain(value.review), "shares": _plain(value.shares)}
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return written_number(value) if isinstance(value, float) else value


def certificate_of(plain: Mapping[str, Any]) -> Certificate:
    """A certificate from plain data; names that are not known and numbers that make no sense are refused."""
    values = dict(plain)
    may_lack = {field.name for field in fields(Certificate) if field.default is None}
    for name, (low, high, infinite) in _RANGES.items():
        if name in plain and not (name in may_lack and plain[name] is None):
            values[name] = number(name, plain[name], low, high, infinite=infinite)
    for name in ("asked", "reached"):
        values[name] = tuple(_point(name, rates) for rates in plain[name])
    values["target"] = None if plain["target"] is None else _point("target", plain["target"])
    for name in ("slopes", "slope_bounds"):
        values[name] = tuple(number(name, slope, 0.0) for slope in plain[name])
    values["groups"] = tuple(_text("groups", group) for group in plain["groups"])
    values["people"] = tuple(_people(figures) for figures in plain.get("people", ()))
    values["spreads"] = tuple(tuple(map(_spread, of)) for of in plain.get("spreads", ()))
    values["randomized"] = tuple(number("randomized", share, 0.0, 1.0) for share in plain.get("randomized", ()))
    for name, read in {"change": _change, "one_threshold": _one_threshold, "before": _before}.items():
        values[name] = None if plain.get(name) is None else read(plain[name])
    values["mixes"] = tuple(_text("mixes", group) for group in plain.get("mixes", ()))
    if plain.get("costs") is not None:
        wrong_yes, wrong_no = (number("costs", cost, 0.0, 1.0) for cost in plain["costs"])
        values["costs"] = (wrong_yes, wrong_no)
    if "reviewed" in plain:
        values["reviewed"] = _reviewed(plain["reviewed"], values["groups"], values["people"])
    certificate = Certificate(**values)
    _check_names(certificate)
    return certificate


def _reviewed(plain: Mapping[str, Any], groups: tuple[str, ...], people: Any) -> Reviewed:
    """Who is reviewed; how many people there are of each group the certificate says already."""
    given = dict(plain)
    shares = [tuple(number("shares", share, 0.0, 1.0) for share in pair) for pair in given.pop("shares")]
    past = tuple(_past(one) for one in given.pop("past"))
    for name in ("capacity", "tpr", "fpr"):
        given[name] = number(name, given[name], 0.0, 1.0)
    if len(shares) != len(groups) or len(people) != len(groups) or any(len(pair) != _LABELS for pair in shares):
        msg = "reviewed does not say as much of each group."
        raise ValueError(msg)
    weights = tuple((figures[0], figures[1]) for figures in people)
    return Reviewed(Review(**given, past=past), groups, tuple((pair[0], pair[1]) for pair in shares), weights)


def _past(plain: Mapping[str, Any]) -> PastReviews:
    past = PastReviews(**plain)
    whole = all(type(value) is int for value in (past.label, past.reviews, past.yes))
    if not whole or past.label not in (0, 1) or not 0 <= past.yes <= past.reviews or not past.reviews:
        msg = f"past has {dict(plain)!r}, which cannot be counted."
        raise ValueError(msg)
    if past.group is not None:
        _text("past", past.group)
    number("confidence", past.confidence, 0.5, 1.0)
    return past


def _point(name: str, rates: Any) -> Point:
    fpr, tpr = (number(name, rate, -_ROUNDING, 1 + _ROUNDING) for rate in rates)
    return Point(fpr, tpr)


def _people(figures: Any) -> tuple[float, float, float, float]:
    negatives, positives, low, high = figures
    weights = (number("people", weight, 0.0, infinite=False) for weight in (negatives, positives))
    means = (number("people", mean, infinite=False) for mean in (low, high))
    return (*weights, *means)  # type: ignore[return-value]  # two and two


def _spread(figures: Any) -> tuple[float, float]:
    people, variance = figures
    return number("spreads", people, _FEWEST, infinite=False), number("spreads", variance, 0.0, 1.0)


def _change(figures: Mapping[str, Any]) -> Change:
    numbers = {name: number(name, value, 0.0, 1.0) for name, value in figures.items() if name != "previous"}
    return Change(previous=_text("previous", figures["previous"]), **numbers)


def _before(figures: Mapping[str, Any]) -> Before:
    score = None if figures["score"] is None else number("score", figures["score"], infinite=False)
    objective = number("objective", figures["objective"], infinite=False)
    return Before(score, objective, tuple(_point("before", rates) for rates in figures["points"]))


def _one_threshold(figures: Mapping[str, Any]) -> OneThreshold:
    return OneThreshold(**{name: number(name, value, infinite=False) for name, value in figures.items()})


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        msg = f"{name} has {value!r}. Allowed: texts."
        raise TypeError(msg)
    return value


def _check_names(certificate: Certificate) -> None:
    if constraint_of(certificate.constraints, certificate.tolerance).name != certificate.constraints:
        msg = f"constraints is {certificate.constraints!r}, another name of one that is known."
        raise ValueError(msg)
    one_of("objective_name", certificate.objective_name, (*OBJECTIVES, "cost"))
    if certificate.curve is not None:
        one_of("curve", certificate.curve, CHOICES)
    if certificate.criterion is not None:
        one_of("criterion", certificate.criterion, CRITERIA)
    if certificate.guarantee is not None:
        one_of("guarantee", certificate.guarantee, GUARANTEES)
    if certificate.scored is not None:
        one_of("scored", certificate.scored, get_args(Scored))
    for name in _FLAGS:
        if not isinstance(getattr(certificate, name), bool):
            msg = f"{name} is {getattr(certificate, name)!r}. Allowed: true or false."
            raise TypeError(msg)
    _text("bound_by", certificate.bound_by)
    lists = (certificate.asked, certificate.reached, certificate.slopes, certificate.slope_bounds)
    lengths = {
        len(one)
        for one in (
            *lists,
            *(one for one in (certificate.people, certificate.randomized) if one),
            *([certificate.before.points] if certificate.before else []),
            *certificate.spreads,
        )
    }
    rates = constraint_of(certificate.constraints, 0.0).rates
    if lengths != {len(certificate.groups)} or len(certificate.spreads) not in (0, len(rates)):
        msg = "the certificate does not say as much of each group"
        raise ValueError(msg)
