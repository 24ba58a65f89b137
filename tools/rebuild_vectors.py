"""Rebuild the test vectors that are shipped with the package: policies, and what they give at awkward places.

Run `python tools/rebuild_vectors.py`. Policies are fitted anew, so another version of numpy or scipy may move their
last bits; what is in the file is right for the policies in the file.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import evenodds as eo
from evenodds.decisions.keys import commitment
from evenodds.model.storage import canonical, written

FILE = Path(__file__).resolve().parents[1] / "src" / "evenodds" / "exports" / "vectors.json"
KEYS = ["00" * 32, "0123456789abcdef" * 4, "f" * 64]
ROUNDS = ["", "2026-05", 'it\'s a \\round\\ {x} "café" 🎲']
IDS: list[str | int] = [
    "a", "b", "4711", 4711, 0, -7, 2**53 - 1, "007", "7.0", "1e5", "NULL", "nan", "O'Neil", '"quoted"', "back\\slash",
    "a|b", "|", "a\tb", "a\nb", "a\u00a0b", "Zoë Müller", "Å", "ß", "한", "日本語", "עברית", "😀",
    "👩‍👩‍👧", "\U0010ffff", "\ufffd", "\u0001", "a\u200db", "\ufeffa", "x" * 47, "x" * 48, "x" * 111, "é" * 1000,
]  # fmt: skip
REFUSED_IDS: list[Any] = [
    "", " a", "a ", "\ta", "a\n", "\u00a0a", "a\u3000", "\x1ca", "a\x85", "e\u0301", "\u212b", "a\0b", 7.5, True, None,
]  # fmt: skip
REFUSED_KEYS = ["", "00" * 31, "0" * 65, "AB" * 32, "g" * 64, "00" * 32 + "\n"]
REFUSED_ROUNDS = ["a|b", "|", "a\0"]


def policies() -> dict[str, eo.Policy]:
    """Every family, mixes, reviews, both orientations, and curves where rounding shows."""
    credit, compas = eo.datasets.credit_risk(), eo.datasets.compas()
    mirrored = {
        group: tuple(np.asarray(column)[::-1] for column in (-m.scores, m.negatives, m.positives))
        for group, m in zip(credit.groups, credit.members, strict=True)
    }
    negative = eo.JointDistribution.from_counts(mirrored, orientation="negative")
    review = eo.Review(capacity=0.1, tpr=0.9, fpr=0.2)
    mix = eo.fit(compas, curve="cubic", tolerance=0.02)
    return {
        "linear": eo.fit(credit),
        "fixed": eo.fit(credit, curve="fixed"),
        "quadratic": eo.fit(credit, curve="quadratic"),
        "cubic, a mix": mix,
        "quartic": eo.fit(credit, curve="quartic", max_slope=0.2),
        "optimal": eo.fit(credit, curve="optimal", max_slope=0.1),
        "thresholds": eo.fit(credit, curve="threshold", tolerance=0.05),
        "constant": eo.fit(credit, target=(0.4, 0.4)),
        "reviews": eo.fit(credit, review=review),
        "negative, linear": eo.fit(negative),
        "negative, quartic": eo.fit(negative, curve="quartic", max_slope=0.2),
        "negative, optimal": eo.fit(negative, curve="optimal", max_slope=0.1),
        "negative, reviews": eo.fit(negative, review=review),
        "edges": edges(eo.fit(credit), "positive"),
        "negative, edges": edges(eo.fit(credit), "negative"),
    }


def edges(policy: eo.Policy, orientation: Any) -> eo.Policy:
    """Curves as they rarely come out of a fit, for groups with names that are easily broken."""
    sign = 1 if orientation == "positive" else -1

    def curve(family: str, t0: float, t1: float, p: float, **more: float) -> eo.Curve:
        return eo.Curve(family, sign * t0, sign * t1, p, orientation=orientation, **more)

    first, second = curve("quadratic", 10, 20, 0.3), curve("quadratic", 15, 45, 0.7)
    curves = {
        "": curve("fixed", 0.1, 0.7, 0.3, at_t0=0.1),
        "Caucasian, Male": curve("linear", 1e6, 1e6 + 1e-6, 0.3),
        "quo\"te's": curve("cubic", 0.1, 0.3, 0.7),
        "back\\slash\nline": curve("quartic", -1 / 3, 1 / 3, 0.55),
        "Ærø 女 😀": curve("linear", -1e-300, 1e300, 0.5),
        "mix": eo.Curve.mixed([(0.3, first), (0.7, second)]),
        "mix of thresholds": eo.Curve.mixed([(0.1, curve("linear", 1, 1, 0)), (0.9, curve("linear", 2, 2, 0))]),
        "threshold": curve("fixed", 0.3, 0.3, 0),
    }
    many = {
        name: getattr(policy.certificate, name)[:1] * len(curves)
        for name in ("asked", "reached", "slopes", "slope_bounds", "people")
    }
    mixes = tuple(group for group, one in curves.items() if one.parts)
    none = {"spreads": (), "randomized": (), "before": None}
    certificate = replace(policy.certificate, groups=tuple(curves), mixes=mixes, **none, **many)
    return eo.Policy(tuple(curves), tuple(curves.values()), (-1e6, 1e6), orientation, certificate)


def scores_for(policy: eo.Policy, group: str) -> list[float]:
    """At, beside and between the breaks of a group's curves, and beyond them all."""
    curves = [policy.curves[group], *([policy.review_curves[group]] if policy.review else [])]
    breaks = sorted({float(at) for curve in curves for at in curve.pieces.breaks})
    scores = {-999.0, 0.0, 1.0, 1e308}
    for at in breaks:
        scores |= {at, math.nextafter(at, -math.inf), math.nextafter(at, math.inf)}
    for low, high in pairwise(breaks):
        scores |= {low + (high - low) / 3, low + (high - low) * 0.9}
    return sorted(scores)


def odds_vectors(named: dict[str, eo.Policy]) -> list[dict[str, Any]]:
    vectors = []
    for name, policy in named.items():
        for group in policy.groups:
            for score in scores_for(policy, group):
                entry = {"policy": name, "score": score, "group": group, "odds": policy.odds(score, group).item()}
                if policy.review:
                    entry["review"] = policy.odds(score, group, outcome="review").item()
                vectors.append(entry)
    for name in ("linear", "reviews"):
        known, nothing = named[name].groups[0], {"odds": None, **({"review": None} if named[name].review else {})}
        nowhere = [(score, known) for score in ("nan", "inf", "-inf")]  # as they stand in the file
        nowhere += [(40.0, group) for group in ("green", "", known.upper())]
        vectors += [{"policy": name, "score": score, "group": group, **nothing} for score, group in nowhere]
    return vectors


def draw_vectors() -> list[dict[str, Any]]:
    return [
        {"key": key, "round": one, "id": id_, "draw": eo.draw([id_], key=key, round=one).item()}
        for place, id_ in enumerate(IDS)
        for key, one in ((KEYS[place % 3], ROUNDS[place // 3 % 3]), (KEYS[1], ""))
    ]


def decision_vectors(named: dict[str, eo.Policy]) -> list[dict[str, Any]]:
    """Draws are given, so that those can be tried that are just the odds."""
    vectors = []
    for name in ("linear", "reviews", "negative, reviews", "thresholds"):
        policy = named[name]
        for group in policy.groups[:2]:
            for score in scores_for(policy, group)[::3]:
                yes = policy.odds(score, group).item()
                either = yes + policy.odds(score, group, outcome="review").item()
                for u in sorted(
                    {0.0, 0.25, 1 - 2**-53, yes, either, math.nextafter(yes, 0), math.nextafter(either, 0)}
                ):
                    if 0 <= u < 1:
                        words = "yes" if u < yes else "review" if u < either else "no"
                        decision = words if policy.review else int(u < yes)
                        vectors.append({"policy": name, "score": score, "group": group, "u": u, "decision": decision})
    return vectors


def main() -> None:
    named = policies()
    vectors = {
        "format": "evenodds/vectors",
        "version": 1,
        "odds": odds_vectors(named),
        "draws": draw_vectors(),
        "decisions": decision_vectors(named),
        "refused": {"ids": REFUSED_IDS, "keys": REFUSED_KEYS, "rounds": REFUSED_ROUNDS},
        "commitments": [{"key": key, "commitment": commitment(key)} for key in KEYS],
        "policies": {name: json.loads(written(policy.document)) for name, policy in named.items()},
    }
    # A line for each vector and each policy: differences between two versions of the file can be read.
    parts = []
    for name, part in vectors.items():
        if isinstance(part, list):
            parts.append(f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(one) for one in part) + "\n]")
        elif name == "policies":
            lines = (f"{json.dumps(one)}: {canonical(document)}" for one, document in part.items())
            parts.append('"policies": {\n' + ",\n".join(lines) + "\n}")
        else:
            parts.append(f"{json.dumps(name)}: {json.dumps(part)}")
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    counts = ", ".join(f"{len(vectors[name])} {name}" for name in ("odds", "draws", "decisions", "policies"))
    print(f"{FILE.name}: {counts}, {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
