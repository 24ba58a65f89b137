"""Published decisions checked one by one: odds, draws and decisions are computed again, and compared."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.decisions.dice import Tally
from evenodds.decisions.doubles import Doubles
from evenodds.decisions.draw import check_round, draw, ids_of, texts_of, uniforms
from evenodds.decisions.keys import check_commitment, check_key
from evenodds.decisions.keys import commitment as commitment_of
from evenodds.decisions.places import check_answers, handed_out, places_asked_for, sort_keys
from evenodds.decisions.published import WORDS, Published, as_it_stands, rounding_of
from evenodds.decisions.reasons import Reasons
from evenodds.decisions.verification import Difference, Verification, WrongRow
from evenodds.errors import DataError, UnknownGroupError
from evenodds.evaluation.intervals import interval_confidence
from evenodds.frames import array_of, column_of, is_missing
from evenodds.geometry.pieces import Floats
from evenodds.model.cells import names_of
from evenodds.model.columns import floats_of
from evenodds.model.keys import MISSING, UNKNOWN, Codes, get_indexer, key_of
from evenodds.model.policy import Policy, check_policy
from evenodds.values import whole_number_of

__all__ = ["Verifier", "verify"]

_LOOKED_AT = 1000  # rows of groups that are not known, to name these
_KEPT = 20  # ids that come again, by name
_DIGITS = 20  # decimal places beyond which none of a number between 0 and 1 matters
_ROWS_KEPT = 100  # wrong rows that are told one by one


def verify(
    policy: Policy,
    frame: Any,
    *,
    score: str,
    group: str | Sequence[str],
    id: str,  # noqa: A002 the word for it
    key: str,
    round: str = "",  # noqa: A002 the word for a repeated lottery
    odds: str = "odds",
    draw: str = "draw",
    decision: str = "decision",
    places: int | bool | None = None,
    digits: int | None = None,
    confidence: float = 0.95,
    commitment: str | None = None,
) -> Verification:
    """Check published decisions one by one, once the key is revealed.

    Odds, draw and decision of every row are computed again from its score, group and id, and compared with what is
    published. What cannot be seen in a file is who is missing from it: without places nobody's decision depends on who
    else is there.

    Parameters
    ----------
    policy : Policy
        What decided.
    frame : pandas, polars or pyarrow table
        The decisions, as `decide` gives them.
    score, group, id, key, round
        As for `decide`.
    odds, draw, decision : str
        Columns with what is published. Where there are reviews the odds of a review stand in that of the odds with
        "_review" after its name, and decisions are "yes", "review" and "no", else 1 and 0 (or True and False). With
        places there is no draw.
    places : True or int, optional
        The decisions are places that were handed out, as for `decide`; the frame must hold the whole cohort. With a
        number the verification also fails if that is not how many there were.
    digits : int, optional
        How many decimal places odds and draws were published with. Without it they must be right to the last bit, as
        they are after `decide` in a CSV file of any library that does not round. Decisions are computed from exact odds
        and draws in any case.
    confidence : float
        How sure to be before dice are called into question, for all groups together.
    commitment : str, optional
        What was published of the key beforehand. The verification fails if it is another key's.

    Returns
    -------
    Verification
        `.passed`, how many odds, draws and decisions are wrong, `.wrong_rows`, what may be the `.reason`, rows that
        cannot be judged, ids that come twice, and `.dice`, the rates of a yes beside the mean odds.

    See Also
    --------
    decide : Makes the decisions.
    audit : Whether the policy keeps its promise on these people.

    Examples
    --------
    >>> import pandas as pd
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk())
    >>> people = pd.DataFrame({"who": ["a", "b", "c"], "points": [25, 49.5, 20], "race": ["white", "white", "black"]})
    >>> words = {"score": "points", "group": "race", "id": "who", "key": "00" * 32}
    >>> decided = eo.decide(policy, people, **words)
    >>> eo.verify(policy, decided, **words)
    Verification(passed, 3 rows)
    >>> decided.loc[1, "decision"] = 0
    >>> print(eo.verify(policy, decided, **words))
    Failed: 1 of 3 rows are wrong: odds of 0, draws of 0, decisions of 1.
    The first is row 1 (id 'b'): decision 0 is published, and 1 is right.
    Policy of fingerprint ..., round '', key of commitment 60e05bd1b195af2f94112fa7197a5c88289058840ce7c6df969375...
    Were the dice honest? As far as rates tell: no group's rate is farther from its mean odds than chance explains ...
      group  people  rate  mean_odds  low  high        z  outside
      black       1     1     0.4689    0     1    1.064       no
      white       2   0.5     0.6465    0     1  -0.5426       no
    """
    columns = Published(score, names_of(group), id, odds, draw, decision)
    verifier = Verifier(
        policy,
        columns,
        key=key,
        round=round,
        places=places,
        digits=digits,
        confidence=confidence,
        commitment=commitment,
    )
    verifier.add(frame)
    return verifier.result()


class Verifier:
    """A verification to which rows are shown some at a time; with places, all at once."""

    def __init__(
        self,
        policy: Policy,
        columns: Published,
        *,
        key: str,
        round: str,  # noqa: A002 the word for a repeated lottery
        places: int | bool | None = None,
        digits: int | None = None,
        confidence: float = 0.95,
        commitment: str | None = None,
        first: int = 0,
    ) -> None:
        check_policy(policy)
        self._policy, self._columns = policy, columns
        self._review = policy.review is not None
        self._key, self._round = key, round
        self._places = places_asked_for(places)
        check_answers(self._places, policy)
        self._digits = None if digits is None else min(whole_number_of("digits", digits, least=1), _DIGITS)
        self._confidence = interval_confidence(confidence)
        check_key(key)  # refused before anything is read
        check_round(round)
        self._commitment = None if commitment is None else check_commitment(commitment)
        self._first_row = self._rows = first
        self._doubles = Doubles()
        self._tallies = {outcome: Tally(policy.groups) for outcome in ("yes", *(["review"] if self._review else []))}
        self._counts = dict.fromkeys(("rows", "odds", "draw", "decision", "doubled", "unjudged", "unknown"), 0)
        self._wrong_rows: list[WrongRow] = []
        self._given = 0  # places
        self._reasons = Reasons(policy, key=key, round=round, digits=self._digits, places=self._places is not None)
        self._first_unjudged = ""
        self._first_unknown = 0
        self._unknown: dict[str, None] = {}
        self._doubled_ids: dict[str, None] = {}
        self._error = 0.0

    @property
    def needed(self) -> list[str]:
        """The columns that must be there."""
        return self._columns.needed(**self._kind)

    @property
    def _kind(self) -> dict[str, bool]:
        return {"review": self._review, "places": self._places is not None}

    def add(self, frame: Any) -> None:
        """Look at some rows, or with places at all of them."""
        table = self._columns.opened(frame, **self._kind)
        native = table.to_native()
        named = self._columns
        scores = floats_of(f"score column {named.score!r}", array_of(native[named.score]))
        groups = [native[name] for name in named.group]
        codes = get_indexer(groups, self._policy.groups)
        ids = ids_of(column_of(table, named.id))
        draws = self._draws(ids)
        texts = [_shown(one) for one in ids]
        again, first_of = self._again(texts, draws)
        right = self._right(scores, codes)
        if self._places is not None:
            by = sort_keys(self._policy, groups, scores)
            right["decision"] = self._placed(right["odds"], ids, by, draws, again, first_of)
        else:
            right["decision"] = _decided(right, draws)
            right["draw"] = draws
        published, shown = self._columns.read(table, **self._kind)
        unknown = codes == UNKNOWN
        self._note_unknown(unknown, groups)
        nothing_due = np.isnan(right["decision"])  # and nothing need be published of a row that cannot be judged
        wrong = {
            name: self._differs(name, values, right[name]) & ~unknown & ~(nothing_due & np.isnan(values))
            for name, values in published.items()
        }
        self._count(wrong)
        self._note_wrong(wrong, published, right, shown, texts)
        self._reasons.note(wrong, published, right, scores, codes, ids, draws)
        if self._review:
            self._reasons.note_words(shown, np.flatnonzero(published["decision"] == len(WORDS)))
        self._given += int((published["decision"] == 1).sum())
        self._note_unjudged(np.isnan(right["decision"]) & ~unknown, scores, codes, ids)
        self._tally(right, published["decision"], codes)
        self._rows += len(ids)

    def result(self) -> Verification:
        """What came of it; an error where that cannot be said."""
        counts, rows = self._counts, self._rows - self._first_row
        if not rows:
            msg = "There are no rows to verify. Hint: decisions are rows with odds, draw and decision."
            raise DataError(msg)
        if counts["unknown"]:
            others = rows - counts["unknown"]
            also = f" Of the other {others:,} rows {counts['rows']:,} are wrong." if others else ""
            of = "1 row is" if counts["unknown"] == 1 else f"{counts['unknown']:,} rows are"
            msg = (
                f"{of} of a group that the policy does not know (the first is row {self._first_unknown}). "
                f"{self._policy.unknown(list(self._unknown))}{also} Hint: is it the policy of these decisions, and are "
                "these the columns of its groups?"
            )
            raise UnknownGroupError(msg)
        if counts["unjudged"] == rows:
            msg = f"None of the {rows:,} rows can be judged; the first is {self._first_unjudged}."
            raise DataError(msg)
        tests = sum(tally.groups for tally in self._tallies.values())
        settings: dict[str, Any] = {"confidence": self._confidence, "tests": tests, "places": self._places is not None}
        return Verification(
            rows=rows,
            wrong=counts["rows"],
            wrong_odds=counts["odds"],
            wrong_draws=counts["draw"],
            wrong_decisions=counts["decision"],
            wrong_rows=tuple(self._wrong_rows),
            unjudged=counts["unjudged"],
            first_unjudged=self._first_unjudged,
            doubled=counts["doubled"],
            doubled_ids=tuple(self._doubled_ids),
            dice=tuple(d for outcome, tally in self._tallies.items() for d in tally.dice(outcome, **settings)),
            confidence=self._confidence,
            places=self._places is not None,
            digits=self._digits,
            largest_error=self._error,
            fingerprint=self._policy.document["fingerprint"],
            round=self._round,
            commitment=commitment_of(self._key),
            committed=self._commitment,
            committed_to_file=self._commitment == sha256(f"{self._key}\n".encode()).hexdigest(),
            places_given=self._given if self._places is not None else None,
            places_asked=None if self._places is True else self._places,
            reason=self._reasons.in_words(odds=counts["odds"], decisions=counts["decision"], error=self._error),
        )

    # -- what is right ---------------------------------------------------------------------------------------------

    def _draws(self, ids: Sequence[object]) -> Floats:
        """The draw of each id, NaN for one that cannot be drawn for."""
        try:
            return draw(ids, key=self._key, round=self._round)
        except DataError:
            texts = [_text_or_none(one) for one in ids]
        draws = np.full(len(texts), np.nan)
        usable = [place for place, text in enumerate(texts) if text is not None]
        known = [text for text in texts if text is not None]
        draws[usable] = uniforms(known, key=self._key, round=self._round)
        return draws

    def _again(self, texts: Sequence[str], draws: Floats) -> tuple[list[int], dict[str, int]]:
        """The rows whose id was there before, counted and named; and where each of their ids comes first."""
        usable = np.flatnonzero(~np.isnan(draws)).tolist()
        places = self._doubles.again([texts[i] for i in usable], draws[usable]).tolist()
        again = [usable[place] for place in places]
        self._counts["doubled"] += len(again)
        wanted = {texts[i] for i in again}
        for i in again:
            if len(self._doubled_ids) < _KEPT:
                self._doubled_ids.setdefault(texts[i])
        first_of: dict[str, int] = {}
        for i in usable if wanted else ():
            if texts[i] in wanted:
                first_of.setdefault(texts[i], i)
        return again, first_of

    def _right(self, scores: NDArray[Any], codes: Codes) -> dict[str, Floats]:
        odds = {"odds": self._policy.odds_or_nan(scores, codes)}
        if self._review:
            odds["odds_review"] = self._policy.odds_or_nan(scores, codes, outcome="review")
        return odds

    def _placed(
        self,
        odds: Floats,
        ids: Sequence[object],
        by: tuple[Codes, Floats],
        draws: Floats,
        again: Sequence[int],
        first_of: dict[str, int],
    ) -> Floats:
        """Who has a place: a cohort of those who can be decided for, each once; who comes again has what they had."""
        cohort = ~np.isnan(odds) & ~np.isnan(draws)
        cohort[again] = False
        rows = np.flatnonzero(cohort)
        codes, upward = by
        right = np.full(odds.size, np.nan)
        if rows.size:
            right[rows] = handed_out(
                odds[rows],
                [ids[i] for i in rows.tolist()],
                codes[rows],
                upward[rows],
                places=True,  # a number that does not fit is told, and no error
                key=self._key,
                round=self._round,
            )
        for row in again:
            if not np.isnan(odds[row]):
                right[row] = right[first_of[_shown(ids[row])]]
        return right

    # -- what is wrong ---------------------------------------------------------------------------------------------

    def _differs(self, what: str, published: Floats, right: Floats) -> NDArray[np.bool_]:
        """Where one is not the other; nothing is nothing."""
        same = np.asarray((published == right) | (np.isnan(published) & np.isnan(right)))
        if what == "decision":
            return ~same
        with np.errstate(invalid="ignore"):  # infinite odds
            off = np.abs(published - right)
        self._error = max(self._error, float(off[~np.isnan(off)].max(initial=0.0)))
        if self._digits is not None:
            same |= off <= rounding_of(self._digits)
        return ~same

    def _count(self, wrong: dict[str, NDArray[np.bool_]]) -> None:
        odds = wrong["odds"] | wrong.get("odds_review", False)
        self._counts["odds"] += int(odds.sum())
        for what in ("draw", "decision"):
            self._counts[what] += int(wrong[what].sum()) if what in wrong else 0
        self._counts["rows"] += int(np.logical_or.reduce(list(wrong.values())).sum())

    def _note_wrong(
        self,
        wrong: dict[str, NDArray[np.bool_]],
        published: dict[str, Floats],
        right: dict[str, Floats],
        decisions: Any,
        texts: Sequence[str],
    ) -> None:
        rows = np.flatnonzero(np.logical_or.reduce(list(wrong.values())))
        names = {
            "odds": self._columns.odds,
            "odds_review": f"{self._columns.odds}_review",
            "draw": self._columns.draw,
            "decision": self._columns.decision,
        }
        for row in rows[: _ROWS_KEPT - len(self._wrong_rows)].tolist():
            differences = []
            for what in (what for what in names if what in wrong and wrong[what][row]):
                was, is_right = (_plain(values[what][row]) for values in (published, right))
                if what == "decision":
                    was = as_it_stands(decisions[row], words=self._review)
                    is_right = None if is_right is None else WORDS[int(is_right)] if self._review else int(is_right)
                differences.append(Difference(names[what], was, is_right))
            self._wrong_rows.append(WrongRow(self._rows + row, texts[row], tuple(differences)))

    def _note_unknown(self, unknown: NDArray[np.bool_], groups: Sequence[Any]) -> None:
        rows = np.flatnonzero(unknown)
        if not rows.size:
            return
        if not self._counts["unknown"]:
            self._first_unknown = self._rows + int(rows[0])
        self._counts["unknown"] += rows.size
        columns = [array_of(column) for column in groups]
        for row in rows[:_LOOKED_AT]:
            self._unknown.setdefault(key_of(tuple(column[row] for column in columns)))

    def _note_unjudged(
        self, unjudged: NDArray[np.bool_], scores: NDArray[Any], codes: Codes, ids: Sequence[object]
    ) -> None:
        rows = np.flatnonzero(unjudged)
        if rows.size and not self._counts["unjudged"]:
            row = int(rows[0])
            if codes[row] == MISSING:
                why = "it has no group"
            elif not np.isfinite(scores[row]):
                why = "its score is missing, NaN or infinite"
            else:
                why = "it has no id" if is_missing(ids[row]) or ids[row] == "" else _refusal(ids[row])
            who = "" if is_missing(ids[row]) else f" (id {_shown(ids[row])!r:.80})"
            self._first_unjudged = f"row {self._rows + row}{who}: {why}"
        self._counts["unjudged"] += rows.size

    def _tally(self, right: dict[str, Floats], decided: Floats, codes: Codes) -> None:
        kept = ~np.isnan(right["decision"]) & ~np.isnan(decided)
        last = len(WORDS) - 1 if self._review else 1
        for outcome, tally in self._tallies.items():
            of, answer = (right["odds"], last) if outcome == "yes" else (right["odds_review"], 1)
            tally.add(of[kept], decided[kept] == answer, codes[kept])


def _decided(right: dict[str, Floats], draws: Floats) -> Floats:
    """Decisions by number: 1 is a yes; with reviews 1 is a review and 2 a yes; NaN where there is no odds or draw."""
    yes = (draws < right["odds"]).astype(np.float64)
    if "odds_review" in right:
        yes += draws < right["odds"] + right["odds_review"]
    yes[np.isnan(draws) | np.isnan(right["odds"])] = np.nan
    return yes


def _shown(one: object) -> str:
    """An id as text; Python writes no whole number of thousands of digits."""
    try:
        return str(one)
    except ValueError:
        return "(a number)"


def _text_or_none(one: object) -> str | None:
    try:
        return texts_of([one])[0]
    except DataError:
        return None


def _refusal(one: object) -> str:
    """Why an id cannot be drawn for."""
    try:
        texts_of([one])
    except DataError as error:
        return f"its id cannot be drawn for, since {str(error).partition('): ')[2].partition('. Hint')[0].rstrip('.')}"
    return "its id cannot be drawn for"


def _plain(value: Any) -> Any:
    return None if np.isnan(value) else float(value)
