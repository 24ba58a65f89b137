"""A policy as an ONNX graph."""

from __future__ import annotations

import sys

import click

from evenodds.fronts.cli.notes import tell_written
from evenodds.fronts.cli.options import policy_file

__all__ = ["onnx"]


@click.command(short_help="Write a policy as an ONNX graph, for onnxruntime.")
@policy_file
@click.option("-o", "--output", required=True, metavar="FILE", help='Write the graph here; "-" is standard output.')
def onnx(*, policy: str, output: str) -> None:
    """Write a policy as an ONNX graph for onnxruntime: scores and groups in, odds out, to the last bit.

    Its inputs are "score" (doubles) and "group" (texts), its output is "odds" (doubles), with reviews also
    "odds_review". A score that is no finite number and a group that the policy does not know give NaN. Draws are not
    part of it.

    \b
    Example:
      evenodds onnx policy.json -o policy.onnx
    """
    from evenodds.exports.onnx import serialized, to_onnx
    from evenodds.fronts.cli.outputs import check_outputs
    from evenodds.model.policy import Policy

    check_outputs({"-o": output}, policy)
    read = Policy.load(policy)
    if output == "-":
        sys.stdout.buffer.write(serialized(read))
        return
    to_onnx(read, output)
    tell_written(output)
