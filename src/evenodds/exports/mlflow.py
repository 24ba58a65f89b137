"""A policy as a model folder of MLflow: a policy file and the name of this module, which reads it; no pickle."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np

from evenodds.decisions.apply import ON_INVALID, OnInvalid, apply
from evenodds.errors import MissingPackageError, OptionError, one_of
from evenodds.files import placed_folder
from evenodds.model.cells import names_of
from evenodds.model.keys import parts_of
from evenodds.model.policy import Policy, check_policy
from evenodds.version import __version__

__all__ = ["to_mlflow"]

_OUTPUTS = ("odds", "odds_review")
_SHOWN = 3  # people in the example of what the model takes
_SERVED = "_MLFLOW_IS_IN_SERVING_ENVIRONMENT"  # which MLflow's server sets for itself


def to_mlflow(
    policy: Policy,
    path: str | PathLike[str],
    *,
    score: str = "score",
    group: str | Sequence[str] = "group",
    on_invalid: OnInvalid = "null",
) -> None:
    """Save a policy as a model folder of MLflow, which gives people's odds to whoever loads or serves it.

    The folder holds the policy file and a signature; it needs no code but evenodds, and nothing in it is pickled. The
    model takes a pandas frame with a column of scores (doubles) and columns of groups (texts), and gives one of the
    same length with the column `odds`, and with reviews also `odds_review`. It draws for nobody and holds no key.

    Parameters
    ----------
    policy : Policy
        What is written.
    path : str or path
        A new folder, or one that is empty.
    score, group : str
        Names of the columns that the model takes; group may be several.
    on_invalid : "null" or "raise"
        What to do about a score that is missing, NaN or infinite, and a group that is missing or not known: NaN as
        odds, which are `null` where the model is served, or an error. `mlflow.pyfunc.load_model(path,
        model_config={"on_invalid": "raise"})` chooses anew.

    See Also
    --------
    apply : The odds of a data frame, without MLflow.
    to_onnx : A graph for runtimes without Python.

    Examples
    --------
    >>> import evenodds as eo, mlflow, pandas as pd, pathlib, tempfile
    >>> policy = eo.fit(eo.datasets.credit_risk())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     eo.to_mlflow(policy, pathlib.Path(folder) / "model", score="points", group="race")
    ...     model = mlflow.pyfunc.load_model(str(pathlib.Path(folder) / "model"))
    >>> model.predict(pd.DataFrame({"points": [25.0, 49.5], "race": ["white", "green"]})).round(3)
        odds
    0  0.359
    1    NaN
    """
    check_policy(policy)
    names = names_of(group)
    _check_names(score, names)
    one_of("on_invalid", on_invalid, ON_INVALID)
    people = _example(policy, score, names)
    with placed_folder(path) as part, TemporaryDirectory() as folder:
        file = Path(folder) / "policy.json"
        policy.save(file)
        _save(policy, part, file, {"score": score, "group": list(names), "on_invalid": on_invalid}, people)


def _save(policy: Policy, folder: Path, file: Path, columns: dict[str, Any], people: Mapping[str, list[Any]]) -> None:
    """The folder as MLflow writes it."""
    try:
        import mlflow.pyfunc  # noqa: PLC0415 optional
        import pandas as pd  # noqa: PLC0415 as above
        from mlflow.models import ModelSignature  # noqa: PLC0415 as above
        from mlflow.types import ColSpec, Schema  # noqa: PLC0415 as above
    except ImportError:
        msg = "A model folder of MLflow needs mlflow-skinny and pandas. Hint: pip install 'evenodds[mlflow]'."
        raise MissingPackageError(msg) from None
    document = policy.document
    outputs = _OUTPUTS[: 1 if policy.review is None else 2]
    mlflow.pyfunc.save_model(
        str(folder),
        loader_module=__name__,
        data_path=str(file),
        model_config=columns,
        signature=ModelSignature(
            Schema([ColSpec("double", columns["score"]), *(ColSpec("string", name) for name in columns["group"])]),
            Schema([ColSpec("double", name) for name in outputs]),
        ),
        input_example=people,
        # Named one by one: left to itself MLflow asks for all of mlflow, and imports the model to look for more.
        pip_requirements=[
            f"evenodds=={__version__}",
            f"mlflow-skinny=={mlflow.__version__}",
            f"pandas=={pd.__version__}",
        ],
        metadata={
            "fingerprint": document["fingerprint"],
            "format_version": document["version"],
            "orientation": policy.orientation,
        },
    )


def _check_names(score: str, groups: Sequence[str]) -> None:
    """Refuse names that are none, stand for two columns, or are those of what is predicted."""
    names = [score, *groups]
    for name in names:
        if not isinstance(name, str) or not name or name in _OUTPUTS or names.count(name) > 1:
            taken = " and ".join(map(repr, _OUTPUTS))
            msg = (
                f"The column {name!r} is not allowed. Allowed: different names of one score column and of group "
                f"columns, as text, other than {taken}, which the model gives."
            )
            raise OptionError(msg)


def _example(policy: Policy, score: str, groups: Sequence[str]) -> dict[str, list[Any]]:
    """Somebody of each of the first groups, in the middle of the scores; refuse columns that cannot make the groups."""
    middle = float(np.mean(policy.score_range))
    people: dict[str, list[Any]] = {name: [] for name in (score, *groups)}
    for key in policy.groups:
        ways = parts_of(key, len(groups))
        if not ways:
            msg = f"group names {len(groups)} columns, and the policy's group {key!r} is not of as many."
            raise OptionError(msg)
        for name, value in zip((score, *groups), (middle, *ways[0]), strict=True):
            people[name].append(value)
    return {name: values[:_SHOWN] for name, values in people.items()}


# -- what MLflow calls -------------------------------------------------------------------------------------------------


class _Odds:
    """The model that MLflow loads."""

    def __init__(self, policy: Policy, score: str, group: Sequence[str], on_invalid: str) -> None:
        self.policy, self.score, self.group = policy, score, list(group)
        self.on_invalid = cast("OnInvalid", one_of("on_invalid", on_invalid, ON_INVALID))

    def predict(self, people: Any) -> Any:
        """The odds of a pandas frame's rows, with its index."""
        given = people[[self.score, *self.group]]
        with_odds = apply(self.policy, given, score=self.score, group=self.group, on_invalid=self.on_invalid)
        odds = with_odds[[name for name in _OUTPUTS if name in with_odds]]
        if os.environ.get(_SERVED) == "true":  # whose answer is JSON, which has no NaN
            odds = odds.astype(object).where(odds.notna(), None)
        return odds


def _load_pyfunc(path: str, model_config: dict[str, Any]) -> _Odds:
    """The model of a policy file: MLflow calls this by its name."""
    return _Odds(Policy.load(path), **model_config)
