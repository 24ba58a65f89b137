"""Decisions that can be audited: odds, the draw of who is decided for, and whether it is below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.decisions.apply import apply
from evenodds.decisions.draw import draw
from evenodds.errors import DataError, OptionError
from evenodds.frames import array_of, is_lazy, opened, with_column
from evenodds.model.policy import Policy

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
) -> Any:
    """Decide for each row of a data frame: yes if the draw of the person is below their odds.

    With reviews the answer is "yes" if the draw is below the odds of a yes, "review" if it is below these and the odds
    of a review together, else "no".

    The same person gets the same draw with the same key and round, whenever and in whatever order they come.

    Parameters
    ----------
    policy : Policy
    frame : pandas, polars or pyarrow table
        It is not changed.
    score, group : str
        As for `apply`.
    id : str
        The column that says who a row is.
    key, round : str
        As for `draw`.

    Returns
    -------
    A frame of the same kind with the columns odds, draw and decision (0 or 1) more; where there are reviews with odds,
    odds_review, draw and decision ("yes", "review" or "no").

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
    """
    table = opened(frame, [id])
    if is_lazy(table):
        msg = f"decide takes frames in memory, got {type(frame).__name__}. Hint: collect it, or decide in batches."
        raise DataError(msg)
    taken = [name for name in ("draw", "decision") if name in table.columns]
    if taken:
        msg = f"The frame has a column {taken[0]!r} already. Hint: rename it first."
        raise OptionError(msg)
    with_odds = apply(policy, frame, score=score, group=group)
    draws = draw(_ids(table[id]), key=key, round=round)
    held = opened(with_odds, ["odds"]).to_native()
    odds = array_of(held["odds"])
    decision: NDArray[Any] = (draws < odds).astype(np.int64)
    if policy.review is not None:
        reviewed = draws < odds + array_of(held["odds_review"])
        decision = np.where(draws < odds, "yes", np.where(reviewed, "review", "no")).astype(object)
    with_draws = with_column(opened(with_odds, []), "draw", draws)
    return with_column(opened(with_draws, []), "decision", decision)


def _ids(column: Any) -> list[object]:
    try:
        return list(column.to_list())
    except UnicodeDecodeError:  # pyarrow holds any bytes as text, and looks at them only now
        for place in range(len(column)):
            try:
                column[place]
            except UnicodeDecodeError as reason:
                msg = f"id {reason.object!r:.80} cannot be drawn for (position {place}): it is not UTF-8 text."
                raise DataError(msg) from None
        raise
