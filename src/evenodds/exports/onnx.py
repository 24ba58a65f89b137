"""A policy as an ONNX graph in double precision: for onnxruntime and whatever else reads ONNX."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from evenodds.errors import DataError, MissingPackageError
from evenodds.files import placed
from evenodds.model.curves import CERTAIN
from evenodds.model.policy import Policy, check_policy
from evenodds.version import __version__

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

__all__ = ["serialized", "to_onnx"]

# Of December 2020: the oldest that compares doubles and whole numbers as it is done here.
_OPSETS = {"": 13, "ai.onnx.ml": 2}
_IR_VERSION = 7

_NOBODY: Mapping[str, Any] = {"breaks": [], "origin": [0.0], "rate": [0.0], "coefficients": [[float("nan")]]}
"""The pieces of a group that is not known: odds that are no number, whatever the score."""
_ABOUT = (
    "The odds of a yes, the chance of it from 0 to 1, for a score and a group. NaN where the score is no finite "
    "number, or the group is not one of the policy's."
)


def to_onnx(policy: Policy, path: str | PathLike[str]) -> None:
    """Write a policy as an ONNX graph: scores and groups in, odds out, bit for bit the policy's own.

    Its inputs are `score`, doubles, and `group`, texts, with an entry for each person; of several columns a group is
    their values with ", " between them. Its output is `odds`, doubles; with reviews also `odds_review`. A score that is
    no finite number and a group that the policy does not know give NaN. Draws are not part of the graph.

    The graph is of operator set 13, which ONNX Runtime knows since its version 1.6.

    Parameters
    ----------
    policy : Policy
        What is written.
    path : str or path
        Where to write; a file that is there is replaced once the new one is whole.

    See Also
    --------
    to_mlflow : A model folder for MLflow.
    to_python : The same rule as text, without dependencies.

    Examples
    --------
    >>> import evenodds as eo, numpy as np, onnxruntime, pathlib, tempfile
    >>> policy = eo.fit(eo.datasets.credit_risk())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "policy.onnx"
    ...     eo.to_onnx(policy, file)
    ...     session = onnxruntime.InferenceSession(file)
    >>> people = {"score": np.array([25, 49.5, 25]), "group": np.array(["white", "white", "green"])}
    >>> (odds,) = session.run(None, people)
    >>> odds.round(3)
    array([0.359, 0.934,   nan])
    >>> odds[:2].tolist() == policy.odds([25, 49.5], "white").tolist()
    True
    """
    check_policy(policy)
    with placed(path) as part:
        part.write_bytes(serialized(policy))


def serialized(policy: Policy) -> bytes:
    """The graph as the bytes of its file."""
    try:
        from onnx import TensorProto, helper  # noqa: PLC0415 optional
    except ImportError:
        msg = "An ONNX graph needs the package onnx. Hint: pip install 'evenodds[onnx]'."
        raise MissingPackageError(msg) from None
    _check_names(policy.groups)
    document = policy.document
    graph = _Graph("LessOrEqual" if policy.orientation == "positive" else "Less")
    graph.find_group(policy.groups)
    outputs = {"odds": "The odds of a yes."}
    graph.evaluate(document["curves"], "odds")
    if "review_curves" in document:
        outputs["odds_review"] = "The odds of a review; those of a no are what is left to 1."
        graph.evaluate(document["review_curves"], "odds_yes_or_review")
        graph.subtract("odds_yes_or_review", "odds", "odds_review")
    about = {
        "fingerprint": document["fingerprint"],
        "format_version": str(document["version"]),
        "groups": json.dumps(policy.groups, ensure_ascii=False),
        "orientation": policy.orientation,
    }
    many = ["people"]
    inputs = [
        helper.make_tensor_value_info("score", TensorProto.DOUBLE, many, "The scores, in double precision."),
        helper.make_tensor_value_info("group", TensorProto.STRING, many, "The keys of the groups."),
    ]
    results = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, many, said) for name, said in outputs.items()]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "evenodds", inputs, results, graph.tables, _ABOUT),
        doc_string=f"{_ABOUT}\n\n{policy!r}",
        producer_name="evenodds",
        producer_version=__version__,
        ir_version=_IR_VERSION,
        opset_imports=[helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()],
    )
    helper.set_model_props(model, {f"evenodds.{name}": value for name, value in about.items()})
    return bytes(model.SerializeToString(deterministic=True))


def _check_names(groups: Sequence[str]) -> None:
    """Refuse groups that runtimes would take for others."""
    for group in groups:
        try:
            group.encode()
        except UnicodeEncodeError:
            msg = f"The group {group!r} has half a character of UTF-16, which ONNX cannot hold. Hint: rename it."
            raise DataError(msg) from None
        if "\0" in group:
            msg = f"The group {group!r} has U+0000, where ONNX runtimes take a text to end. Hint: rename it."
            raise DataError(msg)


@dataclass
class _Graph:
    """The nodes of a graph as they come, each known by the name of what it gives, and the tables they read."""

    reached: str
    """The comparison of a break with a score that says whether the score's piece begins there or later."""
    nodes: list[NodeProto] = field(default_factory=list)
    tables: list[TensorProto] = field(default_factory=list)

    def find_group(self, groups: Sequence[str]) -> None:
        """The number of each person's group: one more than there are for those who can be given no odds."""
        # A group that is not there must be given a row of its own: Gather takes -1 for the last row.
        self._node(
            "LabelEncoder",
            ["group"],
            "known_group",
            domain="ai.onnx.ml",
            keys_strings=list(groups),
            values_int64s=list(range(len(groups))),
            default_int64=len(groups),
        )
        self._node("Abs", ["score"], "size")
        largest = self._table("largest", np.finfo(np.float64).max)
        is_finite = self._node("LessOrEqual", ["size", largest], "is_finite")  # as no comparison with NaN is true
        nobody = self._table("nobody", len(groups))
        self._node("Where", [is_finite, "known_group", nobody], "group_number")

    def evaluate(self, curves: Sequence[Mapping[str, Any]], name: str) -> None:
        """The values of some curves, one for each group, at the scores.

        The pieces of all groups stand one after another. Which is a person's is found by halving, in as many steps for
        everybody as the group with the most pieces needs; so nothing is ever as large as people times pieces.
        """
        pieces = [*(curve["pieces"] for curve in curves), _NOBODY]
        counts = [len(one["origin"]) for one in pieces]
        ends = list(accumulate(counts))
        piece = self._gather(name, "first", np.subtract(ends, counts), "group_number")
        step = 1 << (max(counts) - 1).bit_length()
        if step > 1:
            last = self._gather(name, "last", np.subtract(ends, 1), "group_number")
            breaks = self._table(f"{name}/breaks", [at for one in pieces for at in (-np.inf, *one["breaks"])])
        while step > 1:
            step //= 2
            part = f"{name}/{step}"
            ahead = self._node("Add", [piece, self._table(f"{part}/step", step)], f"{part}/ahead")
            ahead = self._node("Min", [ahead, last], f"{part}/within")
            begins = self._node("Gather", [breaks, ahead], f"{part}/begins")
            is_reached = self._node(self.reached, [begins, "score"], f"{part}/is_reached")
            piece = self._node("Where", [is_reached, ahead, piece], f"{part}/piece")
        origin = self._gather(name, "origin", [at for one in pieces for at in one["origin"]], piece)
        rate = self._gather(name, "rate", [at for one in pieces for at in one["rate"]], piece)
        distance = self._node("Sub", ["score", origin], f"{name}/distance")
        u = self._node("Mul", [distance, rate], f"{name}/u")
        self._horner([row for one in pieces for row in one["coefficients"]], piece, u, name)

    def _horner(self, rows: Sequence[Sequence[float]], piece: str, u: str, name: str) -> None:
        """The polynomial of each person's piece; one of a lower degree has zeros where others go on."""
        degree = max(1, *(len(row) - 1 for row in rows))
        columns = [[row[power] if power < len(row) else 0.0 for row in rows] for power in range(degree + 1)]
        value = self._gather(name, f"c{degree}", columns[degree], piece)
        for power in range(degree - 1, -1, -1):
            product = self._node("Mul", [value, u], f"{name}/times_u{power}")
            more = self._gather(name, f"c{power}", columns[power], piece)
            value = self._node("Add", [product, more], f"{name}/value{power}" if power else name)

    def subtract(self, either: str, yes: str, name: str) -> None:
        """What lies between two odds, and 0 where that is no more than rounding; NaN stays NaN."""
        between = self._node("Sub", [either, yes], f"{name}/between")
        is_none = self._node("LessOrEqual", [between, self._table(f"{name}/certain", CERTAIN)], f"{name}/is_none")
        self._node("Where", [is_none, self._table(f"{name}/zero", 0.0), between], name)

    def _gather(self, name: str, column: str, values: ArrayLike, which: str) -> str:
        """For each person the entry of a table that `which` numbers."""
        return self._node("Gather", [self._table(f"{name}/{column}s", values), which], f"{name}/{column}")

    def _table(self, name: str, values: ArrayLike) -> str:
        """A table that is part of the graph: whole numbers as int64, all others as float64."""
        from onnx import numpy_helper  # noqa: PLC0415 as above

        given = np.asarray(values)
        kind = np.int64 if given.dtype.kind == "i" else np.float64
        self.tables.append(numpy_helper.from_array(given.astype(kind), name))
        return name

    def _node(self, operator: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """One operation; what it gives is known by its name."""
        from onnx import helper  # noqa: PLC0415 as above

        self.nodes.append(helper.make_node(operator, inputs, [output], name=output, **attributes))
        return output
