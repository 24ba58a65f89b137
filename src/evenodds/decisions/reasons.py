"""What may be behind published values that are wrong in many rows, tried out before anybody is accused.

Nothing here is a verdict: a file whose errors have a harmless reason has failed all the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.decisions.draw import uniforms
from evenodds.decisions.published import rounding_of
from evenodds.geometry.pieces import Floats
from evenodds.model.keys import Codes
from evenodds.model.policy import Policy

__all__ = ["Reasons"]

_FEWEST, _MOST = 3, 15  # decimal places that somebody may have rounded to
_ROUNDING = 0.06  # of a decimal place: 5.6e-16 is written with 15
_MANY = 20  # wrong odds that no reason explains by accident
_LOOKED_AT = 1000  # rows of a table
_WIDEST = 20  # digits of a number with zeros in front


class Reasons:
    """Rows are shown some at a time, as they are to a `Verifier`."""

    def __init__(self, policy: Policy, *, key: str, round: str, digits: int | None, places: bool) -> None:  # noqa: A002
        self._policy, self._key, self._round, self._digits, self._places = policy, key, round, digits, places
        # Rows that can be judged, those of them whose odds are neither 0 nor 1, and those with a wrong draw.
        self._judged = self._uncertain = self._wrong_draws = 0
        # Wrong odds that are right for scores of single precision.
        self._single = 0
        # Of the wrong odds that are looked at: right but for rounding, and right for scores that are.
        self._looked_at = self._rounded_odds = self._rounded_scores = 0
        self._score_decimals = 0  # the most of any score
        self._padded = ""  # an id with zeros in front whose draw is the published one
        self._drawn = 0  # with places: decisions that are those of a draw for each person
        self._words, self._word = 0, ""  # decisions that are no word they may be, and the first of them

    def note(
        self,
        wrong: Mapping[str, NDArray[np.bool_]],
        published: Mapping[str, Floats],
        right: Mapping[str, Floats],
        scores: NDArray[Any],
        codes: Codes,
        ids: Sequence[object],
        draws: Floats,
    ) -> None:
        """Some rows more."""
        odds, judged = right["odds"], ~np.isnan(right["decision"])
        self._judged += int(judged.sum())
        self._uncertain += int((judged & (odds > 0) & (odds < 1)).sum())
        rows = np.flatnonzero(wrong["odds"] & judged & np.isfinite(published["odds"]))
        if rows.size:
            self._note_odds(published["odds"][rows], scores[rows], codes[rows])
        if self._places:
            self._drawn += int(((draws < odds) == (published["decision"] == 1))[judged].sum())
            return
        self._wrong_draws += int((wrong["draw"] & judged).sum())
        if not self._padded:
            self._note_ids(np.flatnonzero(wrong["draw"]), published["draw"], ids)

    def note_words(self, decisions: Sequence[Any], others: NDArray[np.intp]) -> None:
        """Decisions that are none of the words that they may be."""
        if others.size and not self._words:
            self._word = str(decisions[int(others[0])])
        self._words += others.size

    def _note_odds(self, published: Floats, scores: NDArray[Any], codes: Codes) -> None:
        """Odds that would be right for scores of single precision, or for scores that were rounded afterwards."""
        slack = 0.0 if self._digits is None else rounding_of(self._digits)
        with np.errstate(over="ignore"):
            single = self._policy.odds_or_nan(scores.astype(np.float32), codes)
        self._single += int((np.abs(single - published) <= slack).sum())
        looked = slice(0, _LOOKED_AT)
        published, scores, codes = published[looked], scores[looked].astype(np.float64), codes[looked]
        self._looked_at += published.size
        self._score_decimals = max(self._score_decimals, int(_decimals(scores).max()))
        half = 0.5 * 10.0**-self._score_decimals
        slacks = np.maximum(slack, rounding_of(_decimals(published)))
        low, exact, high = (self._policy.odds_or_nan(scores + side, codes) for side in (-half, 0.0, half))
        low, high = np.minimum(low, high), np.maximum(low, high)
        self._rounded_scores += int(((published >= low - slacks) & (published <= high + slacks)).sum())
        self._rounded_odds += int((np.abs(exact - published) <= slacks).sum())

    def _note_ids(self, rows: NDArray[np.intp], published: Floats, ids: Sequence[object]) -> None:
        """An id such as '007' that was read as a number, and so lost its zeros: its draw is another's."""
        held = [(ids[row], published[row]) for row in rows[:_LOOKED_AT].tolist() if type(ids[row]) is int]
        numbers = [(str(one), u) for one, u in held if one >= 0]
        for width in range(2, _WIDEST + 1):
            texts = [text.zfill(width) for text, _ in numbers]
            if not texts:
                return
            same = np.flatnonzero(uniforms(texts, key=self._key, round=self._round) == [u for _, u in numbers])
            longer = [texts[i] for i in same.tolist() if texts[i] != numbers[i][0]]
            if longer:
                self._padded = longer[0]
                return

    def in_words(self, *, odds: int, decisions: int, error: float) -> str:
        """What may be the reason, in words, or nothing; `error` is the largest of any odds or draw."""
        if self._words:
            first = f"such as {self._word!r:.40}" if self._words > 1 else repr(self._word)
            return f"{self._words:,} decisions are none of 'no', 'review' and 'yes', {first}."
        if self._padded:
            return (
                f"Draws are right for ids with zeros in front, such as {self._padded!r}, which were read as numbers "
                "here. Hint: read the column of ids as text."
            )
        if self._wrong_draws and self._wrong_draws == self._judged and error > 10.0**-_FEWEST:
            return "Every draw is wrong. Hint: is it the key of these decisions, and the round?"
        return self._of_places(odds, decisions) or self._of_odds(odds, error)

    def _of_places(self, odds: int, decisions: int) -> str:
        if not self._places or odds or not decisions:
            return ""
        if self._drawn == self._judged:
            return "All decisions are those of a draw for each person, not of places. Hint: leave places out."
        if decisions == 1:
            return ""
        return (
            "With places one person too few or too many, or one score that was changed, moves everybody behind. "
            "Hint: compare ids and scores with the list that was closed before the draw; and is it the key?"
        )

    def _of_odds(self, odds: int, error: float) -> str:
        if odds and self._single == odds:
            return (
                "All of these odds are right for scores of single precision (float32), which text does not tell from "
                "others. Hint: make float32 of the scores here, and float64 before decisions are made."
            )
        if odds >= _MANY and self._rounded_scores == self._looked_at > self._rounded_odds:
            written = f"{self._score_decimals} decimal place{'s' * (self._score_decimals != 1)}"
            return (
                f"All of these odds are right for scores that were rounded to {written} after they were used. "
                "Hint: publish scores as they were."
            )
        many = 2 * self._wrong_draws > self._judged or 2 * odds > self._uncertain
        places = math.floor(-math.log10(2 * error) + _ROUNDING) if 0 < error < 1 else 0
        if self._digits is None and many and _FEWEST <= places <= _MOST:
            return (
                f"No odds or draw is off by more than {error:.1g}, as if written with {places} decimal places. "
                f"Hint: digits={places} compares them so."
            )
        return ""


def _decimals(values: Floats) -> Floats:
    """With how many decimal places each number is written."""
    exponents = (Decimal(repr(value)).normalize().as_tuple().exponent for value in values.tolist())
    return np.array([max(-int(exponent), 0) for exponent in exponents], dtype=np.float64)
