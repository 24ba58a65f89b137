"""A policy as a file: JSON with a version and a fingerprint, floats to the last bit.

    {"format": "evenodds/policy", "version": 4, "orientation": ..., "score_range": [lo, hi],
     "curves": [{"group": ..., "family": ..., "t0": ..., "t1": ..., "p": ...,
                 "pieces": {"breaks": [...], "origin": [...], "rate": [...], "coefficients": [[...], ...]}}, ...],
     "certificate": {...}, "fingerprint": "sha256 of all the rest"}

What a program needs to compute odds are the pieces; the other entries of a curve say how people see it. A mix has
"parts": [{"share": ..., "t0": ..., "t1": ..., "p": ...}, ...]; a policy with reviews has "review_curves", written as
curves are, and in its certificate "reviewed". JSON has no infinity, so that is written "inf" or "-inf".
`policy.schema.json` beside this file is its JSON Schema. Older files are read too: version 1 did not know mixes, only
version 3 has reviews, and none of them has pieces.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from evenodds.errors import DataError, EvenoddsError, one_of
from evenodds.model.certificate import Certificate
from evenodds.model.curves import Curve
from evenodds.model.records import certificate_of, number, record_of, written_number

__all__ = ["canonical", "document_of", "fingerprint", "parts_of_policy", "plain_pieces", "read_document", "written"]

FORMAT = "evenodds/policy"
VERSION = 4
_WITH_REVIEWS = (3, 4)
_KEYS = {"group", "family", "t0", "t1", "p", "at_t0", "nodes"}
_LATER_KEYS = {"parts": 2, "pieces": 4}  # the first version that knows them
_POINT, _EXPONENT = 21, -6  # where ECMAScript begins to write numbers with exponents
_ROUNDING = 1e-8  # nodes that are left out of one curve and not of the other move it by less


def document_of(
    groups: Sequence[str],
    curves: Sequence[Curve],
    score_range: tuple[float, float],
    orientation: str,
    certificate: Certificate,
    review_curves: Sequence[Curve] = (),
) -> dict[str, Any]:
    """A policy as plain data, with its fingerprint."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "orientation": orientation,
        "score_range": [written_number(end) for end in score_range],
        "curves": [{"group": group, **_curve(curve)} for group, curve in zip(groups, curves, strict=True)],
        "certificate": record_of(certificate),
    }
    if review_curves:
        pairs = zip(groups, review_curves, strict=True)
        document["review_curves"] = [{"group": group, **_curve(curve)} for group, curve in pairs]
    return {**document, "fingerprint": fingerprint(document)}


def fingerprint(document: Mapping[str, Any]) -> str:
    """The SHA-256 of a document's canonical form, without the fingerprint that it may have.

    >>> fingerprint({"version": 4, "b": 1, "a": 0.1})[:16]
    '06f57e202f49de7f'
    """
    rest = {name: value for name, value in document.items() if name != "fingerprint"}
    if _version_of(document) < VERSION:
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    else:
        text = canonical(rest)
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(value: Any) -> str:
    """Plain data as the one text of RFC 8785 (JSON Canonicalization Scheme), which other languages write too.

    Keys are sorted by their UTF-16 code units, numbers are float64 written as ECMAScript writes them, and there are no
    spaces.

    >>> canonical({"b": [1.0, 0.1, 1e21, 1e-7, -0.0], "a": "é"})
    '{"a":"é","b":[1,0.1,1e+21,1e-7,0]}'
    """
    if isinstance(value, Mapping):
        entries = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(entry)}" for name, entry in entries) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return _number_text(float(value))
        except OverflowError:
            msg = "a whole number is too large for floating-point numbers"
            raise ValueError(msg) from None
    return json.dumps(value, ensure_ascii=False)


def _number_text(number: float) -> str:
    """A number as ECMAScript's Number::toString writes it; its digits are those of Python's repr."""
    if not math.isfinite(number):
        msg = f"{number} is no number of JSON"
        raise ValueError(msg)
    mantissa, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, part = mantissa.partition(".")
    digits = (whole + part).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + part) - len(digits))  # digits before the decimal point
    digits = digits.rstrip("0")
    sign = "-" if number < 0 else ""
    if not digits:
        return "0"
    if len(digits) <= point <= _POINT:
        return sign + digits.ljust(point, "0")
    if 0 < point <= _POINT:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if _EXPONENT < point <= 0:
        return f"{sign}0.{digits.rjust(len(digits) - point, '0')}"
    return f"{sign}{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{point - 1:+d}"


def written(document: Mapping[str, Any]) -> str:
    """The file's text."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def read_document(path: str | PathLike[str]) -> dict[str, Any]:
    """A policy file as plain data: refuse what is none, what is newer, and what was changed since it was saved."""
    file = Path(path)
    try:
        document = json.loads(file.read_text(encoding="utf-8"), parse_constant=_no_number)
        expected = isinstance(document, dict) and fingerprint(document)
    except (ValueError, RecursionError) as reason:  # cut off, no text, no number, too deep
        hint = "a policy is what Policy.save or evenodds fit -o wrote"
        msg = f"{file} is not JSON, or was cut off: {reason}. Hint: {hint}."
        raise DataError(msg) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        msg = f'{file} is not a policy: it does not say "format": "{FORMAT}".'
        raise DataError(msg)
    if not 1 <= _version_of(document) <= VERSION:
        version = document.get("version")
        hint = " Hint: pip install -U evenodds." if _version_of(document) > VERSION else ""
        msg = f"{file} has version {version!r}; this evenodds reads up to {VERSION}.{hint}"
        raise DataError(msg)
    if document.get("fingerprint") != expected:
        msg = f"{file} was changed since it was saved: its fingerprint does not match. Hint: save the policy again."
        raise DataError(msg)
    return document


def _version_of(document: Mapping[str, Any]) -> int:
    """What a document says its version is; 0 if that is no whole number."""
    version = document.get("version")
    return version if isinstance(version, int) and not isinstance(version, bool) else 0


def parts_of_policy(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a policy is made of, from a document that was read."""
    try:
        orientation = one_of("orientation", document["orientation"], ("positive", "negative"))
        groups = tuple(entry["group"] for entry in document["curves"])
        curves = tuple(_read_curve(entry, orientation, document["version"]) for entry in document["curves"])
        lo, hi = (number("score_range", end, infinite=False) for end in document["score_range"])
        certificate = certificate_of(document["certificate"])
        upper = _read_review_curves(document, groups, orientation)
        _check_parts(groups, curves, (lo, hi), certificate)
        _check_reviews(curves, upper, certificate)
    except (EvenoddsError, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as reason:
        why = str(reason) if isinstance(reason, ValueError) else repr(reason)
        if isinstance(reason, KeyError):
            why = f"it has no {reason}."
        msg = f"The policy lacks a part, or has one that is not what it should be: {why}"
        raise DataError(msg) from None
    return {
        "groups": groups,
        "group_curves": curves,
        "score_range": (lo, hi),
        "orientation": orientation,
        "certificate": certificate,
        "group_review_curves": upper,
    }


def _read_review_curves(document: Mapping[str, Any], groups: Sequence[str], orientation: str) -> tuple[Curve, ...]:
    version = document["version"]
    if ("review_curves" in document and version not in _WITH_REVIEWS) or (
        "review_curves" not in document and version == _WITH_REVIEWS[0]
    ):
        msg = f"review_curves belong to the versions {_WITH_REVIEWS}, and version {_WITH_REVIEWS[0]} has them always."
        raise ValueError(msg)
    entries = document.get("review_curves", ())
    if entries and [entry["group"] for entry in entries] != list(groups):
        msg = "review_curves are not of the groups that curves are of."
        raise ValueError(msg)
    return tuple(_read_curve(entry, orientation, document["version"]) for entry in entries)


def _check_reviews(curves: Sequence[Curve], upper: Sequence[Curve], certificate: Certificate) -> None:
    """Refuse odds of a yes that exceed those of a yes or a review."""
    if bool(upper) != (certificate.reviewed is not None):
        msg = "review_curves and the certificate's reviewed go together."
        raise ValueError(msg)
    for group, low, high in zip(certificate.groups, curves, upper, strict=False):
        scores = [score for curve in (low, high) for score, _ in curve.nodes or ()] or [0.0]
        if low.family != "optimal" or high.family != "optimal" or (low(scores) > high(scores) + _ROUNDING).any():
            msg = f"the curves of group {group!r} are not straight lines with review_curves above them."
            raise ValueError(msg)


def _check_parts(
    groups: tuple[str, ...], curves: tuple[Curve, ...], score_range: tuple[float, float], certificate: Certificate
) -> None:
    """Refuse parts that do not fit together."""
    if not groups or len(set(groups)) < len(groups) or not all(isinstance(group, str) for group in groups):
        msg = f"{len(groups)} groups, {len(set(groups))} different ones, which must be texts."
        raise ValueError(msg)
    if score_range[0] > score_range[1]:
        msg = f"score_range is {score_range}, which must rise."
        raise ValueError(msg)
    if certificate.groups != groups:
        msg = f"the certificate is about the groups {certificate.groups}, the curves about {groups}."
        raise ValueError(msg)
    mixes = {group for group, curve in zip(groups, curves, strict=True) if curve.parts}
    if not mixes.issuperset(certificate.mixes):
        msg = f"the certificate calls the curves of {certificate.mixes} mixes, which they are not all."
        raise ValueError(msg)


def _no_number(name: str) -> Any:
    msg = f"{name} is no number"
    raise ValueError(msg)


# -- curves ------------------------------------------------------------------------------------------------------------


def _curve(curve: Curve) -> dict[str, Any]:
    plain: dict[str, Any] = {"family": curve.family, **_thresholds(curve)}
    if curve.at_t0 is not None:
        plain["at_t0"] = curve.at_t0
    if curve.nodes is not None:
        plain["nodes"] = [list(node) for node in curve.nodes]
    if curve.parts:
        plain["parts"] = [{"share": share, **_thresholds(part)} for share, part in curve.parts]
    plain["pieces"] = plain_pieces(curve)
    return plain


def plain_pieces(curve: Curve) -> dict[str, Any]:
    """What gives a curve's odds, as plain data: B - 1 breaks, and for each of the B pieces its polynomial.

    >>> plain_pieces(Curve("fixed", 20, 60, 0.25))["coefficients"]
    [[0.0], [0.25], [1.0]]
    """
    pieces = curve.pieces

    def column(values: Iterable[float]) -> list[Any]:
        return [written_number(float(value) + 0.0) for value in values]  # + 0.0, so that there is no -0.0

    return {
        "breaks": column(pieces.breaks),
        "origin": column(pieces.origin),
        "rate": column(pieces.rate),
        "coefficients": [column(pieces.polynomial(piece)) for piece in range(pieces.lo.size)],
    }


def _thresholds(curve: Curve) -> dict[str, Any]:
    return {name: written_number(getattr(curve, name)) for name in ("t0", "t1", "p")}


def _read_curve(entry: Mapping[str, Any], orientation: str, version: int) -> Curve:
    known = _KEYS | {name for name, first in _LATER_KEYS.items() if version >= first}
    if not known.issuperset(entry):
        msg = f"a curve has {min(set(entry) - known)!r}, which version {version} does not know."
        raise ValueError(msg)
    try:
        curve = _curve_of(entry, orientation)
        if version >= _LATER_KEYS["pieces"]:
            _check_pieces(entry["pieces"], curve)
    except ValueError as reason:
        msg = f"the curve of group {entry['group']!r}: {reason}"
        raise ValueError(msg) from None
    return curve


def _curve_of(entry: Mapping[str, Any], orientation: str) -> Curve:
    common: dict[str, Any] = {"family": entry["family"], "orientation": orientation}
    more: dict[str, Any] = {}
    if "at_t0" in entry:
        more["at_t0"] = number("at_t0", entry["at_t0"])
    if "nodes" in entry:
        more["nodes"] = tuple((number("nodes", score), number("nodes", odds)) for score, odds in entry["nodes"])
    if "parts" in entry:
        parts = entry["parts"]
        more["parts"] = [(number("share", p["share"]), Curve(**common, **_thresholds_of(p))) for p in parts]
    return Curve(**common, **_thresholds_of(entry), **more)


def _check_pieces(given: object, curve: Curve) -> None:
    """Refuse pieces that are not the curve's own to the last bit: other programs would compute other odds."""
    if canonical(given) != canonical(plain_pieces(curve)):
        msg = "its pieces are not those of the curve. Hint: save the policy again."
        raise ValueError(msg)


def _thresholds_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: number(name, entry[name]) for name in ("t0", "t1", "p")}
