"""The text of a policy as SQL: steps that each add a column to the rows of the one before.

The pieces of all curves are a table of constants, with a row for each piece, and a person's piece is joined to them:
that of their group in which their score lies. So the polynomial stands in the text once, the numbers can be read beside
those of policy.json, and what has no piece (a score that is no number, a group that is not known) has no odds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evenodds.decisions.draw import PREFIX
from evenodds.decisions.formulas import DRAWS
from evenodds.exports.dialects import Dialect
from evenodds.geometry.pieces import Pieces
from evenodds.geometry.underflow import without_underflow
from evenodds.model.curves import CERTAIN, Curve
from evenodds.model.keys import JOINER
from evenodds.model.policy import Policy
from evenodds.version import __version__

__all__ = ["Group", "Statement"]

_MOST = math.nextafter(math.inf, 0)


@dataclass(frozen=True)
class Group:
    """A group column, what it holds ("text", "boolean" or "float"), and the texts that the policy knows of it."""

    name: str
    kind: str
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Statement:
    """What was asked for, checked; names of tables are of one part or several."""

    policy: Policy
    dialect: Dialect
    table: tuple[str, ...]
    score: str
    groups: tuple[Group, ...]
    id: str | None
    round: str
    into: str
    review: str
    draw: str
    decision: str
    pads: tuple[str, ...]

    @property
    def new_columns(self) -> list[str]:
        """The names of the new columns, in order."""
        reviews = [] if self.policy.review is None else [self.review]
        return [self.into, *reviews, *([] if self.id is None else [self.draw, self.decision])]

    @property
    def text(self) -> str:
        """All of it."""
        steps = list(self._steps())
        written = ",\n".join(f"{name} AS {body}" for name, body in steps)
        return f"{self._head}WITH {written}\nSELECT\n  *\nFROM {steps[-1][0]}\n"

    @property
    def _head(self) -> str:
        """What a reader should know. Names are written as Python does, which is never more than a line."""
        policy = self.policy
        higher = "higher" if policy.orientation == "positive" else "lower"
        groups = ", ".join(f"{group.name!r} ({group.kind})" for group in self.groups)
        known = policy.known if len(self.groups) == 1 else f"{policy.known}, which join the columns in this order"
        lines = [
            f"Odds of a yes, from 0 to 1, for {self.dialect.title}. Not to be changed by hand.",
            f"Policy: {policy.document['fingerprint']}",
            f"Orientation: {policy.orientation} (a {higher} score speaks for a yes)",
            f"Score: {self.score!r}, a number; no odds (NULL) where it is missing, NaN or infinite",
            f"Group: {groups}; no odds where it is missing or not known",
            f"Known groups: {known}",
        ]
        if self.id is not None:
            pads = ".".join(self.pads)
            lines += [
                f"Id: {self.id!r}, text or whole numbers; no draw where it is missing or empty",
                f"Round: {self.round!r}; the pads of its key: columns i and o of the one row of {pads!r}",
            ]
        lines += [f"New columns: {', '.join(map(repr, self.new_columns))}", f"Written by evenodds {__version__}"]
        # Spark would put the value of a variable in place of ${...}, in comments too.
        return "".join(f"-- {line}\n" for line in lines).replace("${", "$ {")

    # -- steps ---------------------------------------------------------------------------------------------------------

    def _steps(self) -> Iterator[tuple[str, str]]:
        policy = self.policy
        pieces, last, people = self._own("pieces"), self._own("odds"), self.dialect.quoted(*self.table)
        if self.dialect.hides_twins:
            yield self._own("people"), self._without_twins(people)
            people = self._own("people")
        yield pieces, self._constants(policy.group_curves)
        yield last, self._adding(self.into, self._odds, people, self._piece(pieces))
        if policy.review is not None:
            pieces, before, last = self._own("review_pieces"), last, self._own("review")
            yield pieces, self._constants(policy.group_review_curves)
            yield last, self._adding(self.review, self._review_odds, before, self._piece(pieces))
        if self.id is not None:
            draw, decision = self._own("draw"), self._own("decision")
            pads = f"CROSS JOIN {self.dialect.quoted(*self.pads)} AS k"
            yield draw, self._adding(self.draw, self._drawn(self.id), last, pads)
            yield decision, self._adding(self.decision, self._decided, draw)

    def _without_twins(self, people: str) -> str:
        """The people; a column of theirs that has the name of a new one is ambiguous here, and so an error."""
        new = ", ".join(f"NULL AS {self.dialect.quoted(name)}" for name in self.new_columns)
        conditions = "\n    AND ".join(f"{self.dialect.quoted(name)} IS NULL" for name in self.new_columns)
        lines = ["SELECT", "  p.*", f"FROM {people} AS p", f"CROSS JOIN (SELECT {new}) AS new", f"WHERE {conditions}"]
        return "\n  ".join(["(", *lines]) + "\n)"

    def _own(self, step: str) -> str:
        """The name of a step, which none of the tables has."""
        name, taken = f"evenodds_{step}", {part.lower() for part in (*self.table, *self.pads)}
        while name in taken:
            name += "_"
        return name

    def _adding(self, name: str, value: str, source: str, joined: str | None = None) -> str:
        """The rows of a source, called p, with a column more."""
        lines = ["SELECT", "  p.*,", f"  {value} AS {self.dialect.quoted(name)}", f"FROM {source} AS p"]
        return "\n  ".join(["(", *lines, *([] if joined is None else [joined])]) + "\n)"

    def _p(self, name: str) -> str:
        return f"p.{self.dialect.quoted(name)}"

    # -- odds ----------------------------------------------------------------------------------------------------------

    def _constants(self, curves: Sequence[Curve]) -> str:
        """A row for each piece: whose it is, its ends, and its polynomial."""
        terms = _terms(curves)
        numbers = ["low", "high", *(["origin", "rate"] if terms > 1 else []), *(f"c{power}" for power in range(terms))]
        rows = []
        for key, curve in zip(self.policy.groups, curves, strict=True):
            pieces = without_underflow(curve.pieces) if self.dialect.refuses_underflow else curve.pieces
            group = self.dialect.text(key)
            rows += [[group, *(f"'{number!r}'" for number in row)] for row in _rows(pieces, terms)]
        columns = ",\n".join(f"    {self.dialect.cast(name, 'double')} AS {name}" for name in numbers)
        table = self.dialect.rows("v", ["grp", *numbers], rows)
        materialized = "MATERIALIZED " if self.dialect.materialized else ""
        return f"{materialized}(\n  SELECT\n    grp,\n{columns}\n  FROM {table}\n)"

    def _piece(self, pieces: str) -> str:
        """The piece of a person, called k: that of their group in which their score lies."""
        above, below = (">=", "<") if self.policy.orientation == "positive" else (">", "<=")
        key = f" || {self.dialect.text(JOINER)} || ".join(self._key(group) for group in self.groups)
        conditions = [f"{key} = k.grp", f"{self._r} {above} k.low", f"{self._r} {below} k.high"]
        return f"LEFT JOIN {pieces} AS k\n    ON " + "\n    AND ".join(conditions)

    def _key(self, group: Group) -> str:
        """The value of a group column as Python writes it; missing where it is none that the policy knows."""
        column = self._p(group.name)
        if group.kind == "boolean":
            return f"CASE WHEN {column} THEN 'True' WHEN NOT {column} THEN 'False' END"
        if group.kind == "text":
            return f"{self.dialect.cast(column, 'text')} {self.dialect.exact}".rstrip()
        known = " ".join(f"WHEN {self.dialect.number(float(text))} THEN '{text}'" for text in group.texts)
        return f"CASE {self.dialect.cast(column, 'double')} {known} END"

    @property
    def _r(self) -> str:
        return self.dialect.cast(self._p(self.score), "double")

    def _value(self, curves: Sequence[Curve]) -> str:
        """The polynomial of the piece by Horner's rule, in numpy's order of operations, so that every bit agrees."""
        *lower, highest = [f"k.c{power}" for power in range(_terms(curves))]
        u = f"(({self._r} - k.origin) * k.rate)"
        value = highest
        for constant in reversed(lower):
            value = f"{value if value is highest else f'({value})'} * {u} + {constant}"
        return value

    @property
    def _odds(self) -> str:
        return self._value(self.policy.group_curves)

    @property
    def _review_odds(self) -> str:
        """As `reviewed_share` has them."""
        yes, number = self._p(self.into), self.dialect.number
        share = f"{self._value(self.policy.group_review_curves)} - {yes}"
        lines = [
            "CASE",
            f"  WHEN {yes} IS NULL THEN NULL",
            f"  WHEN {share} > {number(CERTAIN)} THEN {share}",
            f"  ELSE {number(0.0)}",
            "END",
        ]
        return "\n    ".join(lines)

    # -- decisions -----------------------------------------------------------------------------------------------------

    def _drawn(self, name: str) -> str:
        quoted, begin = self.dialect.quoted, self.dialect.text(f"{PREFIX}{self.round}|")
        who = f"NULLIF({self.dialect.cast(self._p(name), 'text')}, '')"
        pads = {"inner": f"k.{quoted('i')}", "outer": f"k.{quoted('o')}"}
        return DRAWS[self.dialect.name].format(**pads, message=f"{begin} || {who}")

    @property
    def _decided(self) -> str:
        u, yes = self._p(self.draw), self._p(self.into)
        if self.policy.review is None:
            return self.dialect.cast(f"{u} < {yes}", "int")
        either = f"{yes} + {self._p(self.review)}"
        answers = [f"{u} < {yes} THEN 'yes'", f"{u} < {either} THEN 'review'", f"{u} >= {either} THEN 'no'"]
        return "\n    ".join(["CASE", *(f"  WHEN {answer}" for answer in answers), "END"])


def _terms(curves: Sequence[Curve]) -> int:
    """How many coefficients the longest polynomial has."""
    counting = (np.flatnonzero(curve.pieces.coefficients.any(axis=0)) for curve in curves)
    return max(int(powers.max(initial=0)) for powers in counting) + 1


def _rows(pieces: Pieces, terms: int) -> Iterator[list[float]]:
    """The ends of each piece that is not empty, the origin and rate of its variable, and its coefficients.

    The outermost ends are such that neither NaN nor infinities lie between them, whatever an engine thinks of NaN.
    """
    left = pieces.closed == "left"
    for piece in range(pieces.lo.size):
        low, high = float(pieces.lo[piece]), float(pieces.hi[piece])
        if low == high:
            continue
        ends = [max(low, -_MOST), high] if left else [low, min(high, _MOST)]
        polynomial = pieces.polynomial(piece)
        straight = len(polynomial) > 1  # else the variable does not matter, and must not leave the range of floats
        local = [float(pieces.origin[piece]), float(pieces.rate[piece])] if straight else [0.0, 1.0]
        yield [*ends, *(local if terms > 1 else []), *polynomial, *[0.0] * (terms - len(polynomial))]
