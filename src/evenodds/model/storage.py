"""A policy as a file: JSON with a version and a fingerprint, floats to the last bit.

    {"format": "evenodds/policy", "version": 1, "orientation": ..., "score_range": [lo, hi],
     "curves": [{"group": ..., "family": ..., "t0": ..., "t1": ..., "p": ...}, ...],
     "certificate": {...}, "fingerprint": "sha256 of all the rest"}

JSON has no infinity, so that is written "inf" or "-inf". `policy.schema.json` beside this file is its JSON Schema.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

from evenodds.errors import DataError, EvenoddsError
from evenodds.model.certificate import Certificate
from evenodds.model.criteria import CRITERIA
from evenodds.model.curves import Curve
from evenodds.model.roc import Point

__all__ = ["document_of", "fingerprint", "parts_of_policy", "read_document", "written"]

FORMAT = "evenodds/policy"
VERSION = 1
_POINTS = ("asked", "reached")


def document_of(
    groups: Sequence[str],
    curves: Sequence[Curve],
    score_range: tuple[float, float],
    orientation: str,
    certificate: Certificate,
) -> dict[str, Any]:
    """A policy as plain data, with its fingerprint."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "orientation": orientation,
        "score_range": [_written(end) for end in score_range],
        "curves": [{"group": group, **_curve(curve)} for group, curve in zip(groups, curves, strict=True)],
        "certificate": _certificate(certificate),
    }
    return {**document, "fingerprint": fingerprint(document)}


def fingerprint(document: Mapping[str, Any]) -> str:
    """The SHA-256 of a document's canonical form, without the fingerprint that it may have.

    >>> fingerprint({"b": 1, "a": 0.1})[:16]
    '158d35d8b578c605'
    """
    rest = {name: value for name, value in document.items() if name != "fingerprint"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def written(document: Mapping[str, Any]) -> str:
    """The file's text."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_document(path: str | PathLike[str]) -> dict[str, Any]:
    """A policy file as plain data: refuse what is none, what is newer, and what was changed since it was saved."""
    file = Path(path)
    try:
        document = json.loads(file.read_text(encoding="utf-8"), parse_constant=_no_number)
        known = isinstance(document, dict) and fingerprint(document)
    except (ValueError, RecursionError) as reason:  # cut off, no text, no number, too deep
        msg = f"{file} is not JSON, or was cut off: {reason}."
        raise DataError(msg) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        msg = f'{file} is not a policy: it does not say "format": "{FORMAT}".'
        raise DataError(msg)
    version = document.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= VERSION:
        msg = f"{file} has version {version!r}; this evenodds reads up to {VERSION}. Hint: pip install -U evenodds."
        raise DataError(msg)
    if document.get("fingerprint") != known:
        msg = f"{file} was changed since it was saved: its fingerprint does not match. Hint: save the policy again."
        raise DataError(msg)
    return document


def parts_of_policy(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a policy is made of, from a document that was read."""
    try:
        curves = [_read_curve(entry, document["orientation"]) for entry in document["curves"]]
        lo, hi = (_read(end) for end in document["score_range"])
        groups = tuple(str(entry["group"]) for entry in document["curves"])
        certificate = _read_certificate(document["certificate"])
        _check_parts(groups, (lo, hi), certificate)
        return {
            "groups": groups,
            "group_curves": tuple(curves),
            "score_range": (lo, hi),
            "orientation": document["orientation"],
            "certificate": certificate,
        }
    except EvenoddsError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as reason:
        msg = f"The policy lacks a part, or has one that is not what it should be: {reason!r}."
        raise DataError(msg) from None


def _check_parts(groups: tuple[str, ...], score_range: tuple[float, float], certificate: Certificate) -> None:
    """Refuse parts that do not fit together."""
    if not groups or len(set(groups)) < len(groups):
        msg = f"{len(groups)} groups, {len(set(groups))} different ones"
        raise ValueError(msg)
    if not (math.isfinite(score_range[0]) and math.isfinite(score_range[1]) and score_range[0] <= score_range[1]):
        msg = f"score_range {score_range}"
        raise ValueError(msg)
    lists = (certificate.asked, certificate.reached, certificate.slopes, certificate.slope_bounds)
    lengths = {len(one) for one in (*lists, *([certificate.people] if certificate.people else []))}
    if lengths != {len(certificate.groups)}:
        msg = "the certificate does not say as much of each group"
        raise ValueError(msg)
    if certificate.criterion is not None and certificate.criterion not in CRITERIA:
        msg = f"criterion {certificate.criterion!r}"
        raise ValueError(msg)


def _no_number(name: str) -> Any:
    msg = f"{name} is no number"
    raise ValueError(msg)


# -- numbers -----------------------------------------------------------------------------------------------------------


def _written(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def _read(value: Any) -> float:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number and value not in ("inf", "-inf"):
        msg = f"{value!r} is no number"
        raise TypeError(msg)
    return float(value)


# -- curves and certificates -------------------------------------------------------------------------------------------


def _curve(curve: Curve) -> dict[str, Any]:
    plain: dict[str, Any] = {"family": curve.family}
    plain |= {name: _written(getattr(curve, name)) for name in ("t0", "t1", "p")}
    if curve.at_t0 is not None:
        plain["at_t0"] = curve.at_t0
    if curve.nodes is not None:
        plain["nodes"] = [list(node) for node in curve.nodes]
    return plain


def _read_curve(entry: Mapping[str, Any], orientation: Any) -> Curve:
    nodes = entry.get("nodes")
    return Curve(
        family=entry["family"],
        t0=_read(entry["t0"]),
        t1=_read(entry["t1"]),
        p=_read(entry["p"]),
        at_t0=None if entry.get("at_t0") is None else _read(entry["at_t0"]),
        nodes=None if nodes is None else tuple((_read(score), _read(odds)) for score, odds in nodes),
        orientation=orientation,
    )


def _certificate(certificate: Certificate) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for field in fields(certificate):
        value = getattr(certificate, field.name)
        if field.name in _POINTS:
            plain[field.name] = [[point.fpr, point.tpr] for point in value]
        elif field.name == "target":
            plain[field.name] = None if value is None else [value.fpr, value.tpr]
        elif field.name in ("slopes", "slope_bounds"):
            plain[field.name] = [_written(number) for number in value]
        elif field.name == "people":
            plain[field.name] = [list(figures) for figures in value]
        elif isinstance(value, tuple):
            plain[field.name] = list(value)
        else:
            plain[field.name] = _written(value) if isinstance(value, float) else value
    return plain


def _read_certificate(plain: Mapping[str, Any]) -> Certificate:
    values = dict(plain)
    for name in _POINTS:
        values[name] = tuple(Point(_read(fpr), _read(tpr)) for fpr, tpr in plain[name])
    values["target"] = None if plain["target"] is None else Point(*(_read(rate) for rate in plain["target"]))
    for name in ("slopes", "slope_bounds"):
        values[name] = tuple(_read(number) for number in plain[name])
    values["groups"] = tuple(str(group) for group in plain["groups"])
    values["people"] = tuple(tuple(_read(figure) for figure in figures) for figures in plain.get("people", ()))
    if plain.get("costs") is not None:
        wrong_yes, wrong_no = plain["costs"]
        values["costs"] = (_read(wrong_yes), _read(wrong_no))
    for field in fields(Certificate):
        nothing = field.type == "float | None" and values.get(field.name) is None
        if str(field.type).startswith("float") and field.name in values and not nothing:
            values[field.name] = _read(values[field.name])
    return Certificate(**values)
