"""Decisions that can be audited: odds, the draw of who is decided for, and whether it is below them; or places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.decisions.apply import apply, group_number, is_taken
from evenodds.decisions.draw import check_distinct, check_round, ids_of, texts_of, uniforms
from evenodds.decisions.engines import check_ids, check_places, fresh_name, sum_of_odds, with_draws, with_places
from evenodds.decisions.keys import check_key
from evenodds.decisions.places import (
    check_answers,
    check_number,
    handed_out,
    places_asked_for,
    sort_keys,
    start_of,
)
from evenodds.errors import OptionError
from evenodds.frames import Frame, array_of, column_of, is_lazy, narwhals, opened, with_column
from evenodds.model.cells import names_of
from evenodds.model.columns import floats_of
from evenodds.model.policy import Policy, check_policy

__all__ = ["decide"]


def decide(
    policy: Policy,
    frame: Any,
    *,
    score: str,
    group: str | Sequence[str],
    id: str,  # noqa: A002 the word for it
    key: str,
    round: str = "",  # noqa: A002 the word for a repeated lottery
    places: int | bool | None = None,
) -> Any:
    """Decide for each row of a data frame: yes if the draw of the person is below their odds.

    A draw is a number from 0 to 1 that follows from the key and the person's id, so that it can be computed again.
    With reviews the answer is "yes" if it is below the odds of a yes, "review" if it is below these and the odds of a
    review together, else "no".

    The same person gets the same draw with the same key and round, whenever and in whatever order they come. With
    `places` there is one draw for the whole cohort instead, and the number of yeses is hardly left to chance.

    Parameters
    ----------
    policy : Policy
        What gives the odds.
    frame : pandas, polars (eager or lazy), pyarrow, DuckDB, PySpark, Dask or Ibis table
        It is not changed. A lazy one is decided for by the engine that holds it, with the same bits; of Ibis tables,
        those on DuckDB and PostgreSQL. What the draws need of the key reaches these engines as a row of data, so that
        no query, plan or log of statements shows it.
    score, group
        As for `apply`.
    id : str
        The column that says who a row is: strings or whole numbers, as for `draw`. In memory an id that comes twice is
        refused. Lazy frames cannot look at their rows beforehand: a missing or empty id gives no draw and no
        decision there; twins, spaces at ends, U+0000 and NFC are not looked at (polars and Dask refuse such ids when
        they run).
    key, round
        As for `draw`.
    places : True or int, optional
        Hand out places over the whole cohort. Everybody keeps their odds, and the number of yeses is within one of what
        is expected, in each group, in every band of its scores, and in all: systematic sampling, from one start that
        the key and the round give, over people in the order of group, score and id; the order of rows does not
        matter. True hands out as many places as the odds sum to. A number is how many there are; it must be that
        sum, rounded up or down, or is an error that says how to fit a policy for it. Ids must differ, and the frame
        must hold the whole cohort: who else is in it matters. Of lazy frames those of DuckDB and PostgreSQL can do
        it; a number of places asks them for the sum first.

    Returns
    -------
    data frame
        Of the same kind, lazy if the frame was, with the columns odds, draw and decision (0 or 1) more; where there are
        reviews with odds, odds_review, draw and decision ("yes", "review" or "no"); with places without draw, since
        nobody has one of their own.

    See Also
    --------
    verify : Check published decisions one by one, once the key is revealed.
    apply : The odds alone.
    draw : The draws alone, for ids.

    Examples
    --------
    >>> import pandas as pd
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk())
    >>> people = pd.DataFrame({"who": ["a", "b"], "points": [25, 49.5], "race": ["white", "white"]})
    >>> eo.decide(policy, people, score="points", group="race", id="who", key="00" * 32).round(3)
      who  points   race   odds   draw  decision
    0   a    25.0  white  0.359  0.028         1
    1   b    49.5  white  0.934  0.146         1

    People whose odds sum to 2.24 are two yeses or three, whatever the key:

    >>> people = pd.DataFrame({"who": list("abcd"), "points": [20, 31, 31, 60], "race": "white"})
    >>> eo.decide(policy, people, score="points", group="race", id="who", key="00" * 32, places=True).round(3)
      who  points   race   odds  decision
    0   a      20  white  0.241         0
    1   b      31  white  0.500         1
    2   c      31  white  0.500         0
    3   d      60  white  1.000         1
    """
    asked = places_asked_for(places)
    check_policy(policy)
    check_answers(asked, policy)
    table = opened(frame, [id])
    odds_of = ("odds", *(["odds_review"] if policy.review is not None else []))
    new = (*odds_of, "decision") if asked is not None else (*odds_of, "draw", "decision")
    taken = [name for name in new if is_taken(table, name)]
    if taken:
        msg = f"The frame has a column {taken[0]!r} already. Hint: rename it first."
        raise OptionError(msg)
    check_key(key)
    check_round(round)
    if is_lazy(table):
        return _in_the_engine(policy, table, score, names_of(group), id, key, round, asked)
    with_odds = apply(policy, frame, score=score, group=group)
    held = opened(with_odds, ["odds"]).to_native()
    odds = array_of(held["odds"])
    ids = ids_of(column_of(table, id))
    if asked is not None:
        native = table.to_native()
        scores = floats_of(f"score column {score!r}", array_of(native[score]))
        by = sort_keys(policy, [native[name] for name in names_of(group)], scores)
        fitted = policy.certificate.selection_rate
        yes = handed_out(odds, ids, *by, places=asked, key=key, round=round, fitted=fitted)
        return with_column(opened(with_odds, []), "decision", yes.astype(np.int64))
    texts = texts_of(ids)
    check_distinct(texts, "In a round everybody is decided for once.")
    draws = uniforms(texts, key=key, round=round)
    decision: NDArray[Any] = (draws < odds).astype(np.int64)
    if policy.review is not None:
        reviewed = draws < odds + array_of(held["odds_review"])
        decision = np.where(draws < odds, "yes", np.where(reviewed, "review", "no")).astype(object)
    drawn = with_column(opened(with_odds, []), "draw", draws)
    return with_column(opened(drawn, []), "decision", decision)


def _in_the_engine(
    policy: Policy,
    table: Frame,
    score: str,
    groups: Sequence[str],
    id: str,  # noqa: A002 as above
    key: str,
    round: str,  # noqa: A002 as above
    places: int | None,
) -> Any:
    """The same as an expression for an engine that is lazy."""
    nw = narwhals()
    check_ids(table, id)
    if places is not None:
        check_places(table)
    with_odds = opened(apply(policy, table.to_native(), score=score, group=groups), ["odds"])
    if places is not None:
        if places is not True:
            check_number(*sum_of_odds(with_odds, id), places, policy.certificate.selection_rate)
        number, upward = fresh_name("group"), fresh_name("upward")
        r = nw.col(score).cast(nw.Float64)
        order = {
            number: group_number(policy, table, groups),
            upward: r if policy.orientation == "positive" else -r,
        }
        in_order = with_odds.with_columns(*(value.alias(name) for name, value in order.items()))
        return with_places(in_order, list(order), id=id, start=start_of(key=key, round=round))
    drawn = opened(with_draws(with_odds, id=id, key=key, round=round), ["draw"])
    u, yes = nw.col("draw"), nw.col("odds")
    # Each answer has a condition of its own: where the draw or the odds are missing, so is the decision.
    if policy.review is None:
        no = nw.when(u >= yes).then(nw.lit(0, nw.Int64))
        decision = nw.when(u < yes).then(nw.lit(1, nw.Int64)).otherwise(no)
    else:
        either = yes + nw.col("odds_review")
        no = nw.when(u >= either).then(nw.lit("no"))
        decision = (
            nw.when(u < yes).then(nw.lit("yes")).otherwise(nw.when(u < either).then(nw.lit("review")).otherwise(no))
        )
    return drawn.with_columns(decision.alias("decision")).to_native()
