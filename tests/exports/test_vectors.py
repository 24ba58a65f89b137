"""The vectors agree with Python, with an evaluator that knows the format only, and with no evaluator that is wrong."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
import struct
import unicodedata
from bisect import bisect_left, bisect_right
from importlib.resources import files

import pytest

import evenodds as eo
from evenodds.decisions.keys import commitment
from evenodds.model.storage import fingerprint, parts_of_policy

VECTORS = json.loads((files("evenodds.exports") / "vectors.json").read_text(encoding="utf-8"))
POLICIES = VECTORS["policies"]


def number(written):
    return float(written) if isinstance(written, str) else written


# -- an evaluator that knows docs/policy-format.md, and nothing else ---------------------------------------------------


class Evaluator:
    """The right one; those below it each do one thing wrong."""

    def odds(self, document, score, group):
        return self.value(document, "curves", score, group)

    def review(self, document, score, group):
        yes = self.odds(document, score, group)
        if yes is None:
            return None
        return self.between(self.value(document, "review_curves", score, group), yes)

    def between(self, either, yes):
        return either - yes if either - yes > 1e-12 else 0.0

    def value(self, document, curves, score, group):
        curve = self.curve(document[curves], group)
        if curve is None or not self.is_finite(score):
            return None
        pieces = curve["pieces"]
        piece = self.piece(pieces["breaks"], score, document["orientation"])
        u = self.local(score, pieces["origin"][piece], pieces["rate"][piece])
        return self.polynomial(pieces["coefficients"][piece], u)

    def curve(self, curves, group):
        return next((curve for curve in curves if curve["group"] == group), None)

    def is_finite(self, score):
        return math.isfinite(score)

    def piece(self, breaks, score, orientation):
        return (bisect_right if orientation == "positive" else bisect_left)(breaks, score)

    def local(self, score, origin, rate):
        return (score - origin) * rate

    def polynomial(self, coefficients, u):
        *others, value = coefficients
        for c in reversed(others):
            value = value * u + c
        return value

    def decision(self, document, score, group, u):
        yes = self.odds(document, score, group)
        if "review_curves" not in document:
            return int(self.is_below(u, yes))
        if self.is_below(u, yes):
            return "yes"
        return "review" if self.is_below(u, yes + self.review(document, score, group)) else "no"

    def is_below(self, u, odds):
        return u < odds

    def draw(self, key, round_, id_):
        code = self.code(key, self.message(round_, str(id_)))
        return (int.from_bytes(code[:7], "big") >> 3) / 2**53

    def message(self, round_, id_):
        return f"evenodds/draw/v1|{round_}|{id_}".encode()

    def code(self, key, message):
        return hmac.new(key.encode("ascii"), message, hashlib.sha256).digest()


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


class Divides(Evaluator):
    def local(self, score, origin, rate):
        return (score - origin) / (1 / rate)


class SumsPowers(Evaluator):
    def polynomial(self, coefficients, u):
        return sum(c * u**power for power, c in enumerate(coefficients))


class MultipliesOut(Evaluator):
    def local(self, score, origin, rate):
        return score * rate - origin * rate


class TakesTheOtherPieceAtBreaks(Evaluator):
    def piece(self, breaks, score, orientation):
        return super().piece(breaks, score, "negative" if orientation == "positive" else "positive")


class ForgetsOrientation(Evaluator):
    def piece(self, breaks, score, orientation):  # noqa: ARG002
        return super().piece(breaks, score, "positive")


class MirrorsNegativeScores(Evaluator):
    def value(self, document, curves, score, group):
        turned = -score if document["orientation"] == "negative" else score
        return super().value(document, curves, turned, group)


class ComputesInSinglePrecision(Evaluator):
    def polynomial(self, coefficients, u):
        return single(super().polynomial(coefficients, u))


class ReadsSinglePrecisionScores(Evaluator):
    def local(self, score, origin, rate):
        try:
            return super().local(single(score), origin, rate)
        except OverflowError:
            return super().local(score, origin, rate)


class TakesTheLastGroupForUnknownOnes(Evaluator):
    def curve(self, curves, group):
        return super().curve(curves, group) or curves[-1]


class SaysYesToNoNumber(Evaluator):
    def is_finite(self, score):  # noqa: ARG002
        return True


class IgnoresCaseOfGroups(Evaluator):
    def curve(self, curves, group):
        return next((curve for curve in curves if curve["group"].lower() == group.lower()), None)


class ReadsCoefficientsBackwards(Evaluator):
    def polynomial(self, coefficients, u):
        return super().polynomial(coefficients[::-1], u)


class ReviewsAlsoForRounding(Evaluator):
    def between(self, either, yes):
        return either - yes


class DecidesUpToTheOdds(Evaluator):
    def is_below(self, u, odds):
        return u <= odds


class TakesTheKeyAsBytes(Evaluator):
    def code(self, key, message):
        return hmac.new(bytes.fromhex(key), message, hashlib.sha256).digest()


class HashesKeyAndMessage(Evaluator):
    def code(self, key, message):
        return hashlib.sha256(key.encode() + message).digest()


class Takes56Bits(Evaluator):
    def draw(self, key, round_, id_):
        return int.from_bytes(self.code(key, self.message(round_, str(id_)))[:7], "big") / 2**56


class ForgetsTheRound(Evaluator):
    def message(self, round_, id_):  # noqa: ARG002
        return super().message("", id_)


class StripsIds(Evaluator):
    def message(self, round_, id_):
        return super().message(round_, id_.strip("\ufeff\u200d\x01"))


class NormalizesIds(Evaluator):
    def message(self, round_, id_):
        return super().message(round_, unicodedata.normalize("NFKC", id_))


class ReadsIdsAsNumbers(Evaluator):
    def message(self, round_, id_):
        return super().message(round_, str(int(id_)) if re.fullmatch(r"-?\d+", id_, re.ASCII) else id_)


WRONG = [kind for kind in Evaluator.__subclasses__() if kind is not Evaluator]


def failures(evaluator):
    """The vectors that an evaluator does not meet."""
    found = []
    for one in VECTORS["odds"]:
        document, score = POLICIES[one["policy"]], number(one["score"])
        got = {"odds": evaluator.odds(document, score, one["group"])}
        if "review" in one:
            got["review"] = evaluator.review(document, score, one["group"])
        found += [one] * any(one[name] != value for name, value in got.items())
    found += [one for one in VECTORS["draws"] if evaluator.draw(one["key"], one["round"], one["id"]) != one["draw"]]
    for one in VECTORS["decisions"]:
        if evaluator.decision(POLICIES[one["policy"]], one["score"], one["group"], one["u"]) != one["decision"]:
            found.append(one)
    return found


def test_the_format_alone_is_enough():
    assert failures(Evaluator()) == []


@pytest.mark.parametrize("kind", WRONG, ids=lambda kind: kind.__name__)
def test_every_wrong_evaluator_fails(kind):
    assert failures(kind())


def test_python_gives_what_the_vectors_say():
    policies = {name: eo.Policy(**parts_of_policy(document)) for name, document in POLICIES.items()}
    for one in VECTORS["odds"]:
        policy, score = policies[one["policy"]], number(one["score"])
        if one["odds"] is None:
            with pytest.raises(eo.EvenoddsError):
                policy.odds(score, one["group"])
            continue
        assert policy.odds(score, one["group"]) == one["odds"], one
        assert policy.odds(score, one["group"], outcome="review") == one.get("review", 0.0), one
    for one in VECTORS["draws"]:
        assert eo.draw([one["id"]], key=one["key"], round=one["round"]) == one["draw"], one
    for one in VECTORS["refused"]["ids"]:
        with pytest.raises(eo.DataError):
            eo.draw([one], key="00" * 32)
    for one in VECTORS["refused"]["keys"]:
        with pytest.raises(eo.OptionError):
            eo.draw(["a"], key=one)
    for one in VECTORS["refused"]["rounds"]:
        with pytest.raises(eo.OptionError):
            eo.draw(["a"], key="00" * 32, round=one)
    assert all(commitment(one["key"]) == one["commitment"] for one in VECTORS["commitments"])


def test_policies_in_the_vectors_are_whole():
    for document in POLICIES.values():
        assert fingerprint(document) == document["fingerprint"]
        again = eo.Policy(**parts_of_policy(document)).document
        assert again["fingerprint"] == document["fingerprint"]


def test_there_are_as_many_as_it_takes():
    assert len(VECTORS["odds"]) + len(VECTORS["draws"]) + len(VECTORS["decisions"]) >= 400
    families = {curve["family"] for document in POLICIES.values() for curve in document["curves"]}
    assert families == {"fixed", "linear", "quadratic", "cubic", "quartic", "optimal"}
    assert any("parts" in curve for document in POLICIES.values() for curve in document["curves"])
    assert {"review_curves" in document for document in POLICIES.values()} == {True, False}
    assert {document["orientation"] for document in POLICIES.values()} == {"positive", "negative"}
