"""The commands that take a policy elsewhere."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import evenodds as eo
from engines import needed


def test_onnx_writes_what_python_writes(run, policy, environment, tmp_path):
    runtime = needed("onnxruntime")
    assert run("onnx", "policy.json", "-o", "policy.onnx") == ""
    eo.to_onnx(policy, tmp_path / "same.onnx")
    graph = (tmp_path / "policy.onnx").read_bytes()
    assert graph == (tmp_path / "same.onnx").read_bytes()
    command = [sys.executable, "-m", "evenodds", "onnx", "policy.json", "-o", "-"]
    assert subprocess.run(command, capture_output=True, env=environment, check=True).stdout == graph
    people = {"score": np.array([50.0, 61.5]), "group": np.array(["white", "black"])}
    (odds,) = runtime.InferenceSession(graph).run(None, people)
    assert odds.tolist() == policy.odds(people["score"], people["group"]).tolist()


@pytest.mark.usefixtures("policy")
def test_onnx_refuses(run, tmp_path):
    known = (tmp_path / "policy.json").read_bytes()
    told = run("onnx", "policy.json", "-o", "policy.json", exit_code=2)
    assert told == "evenodds: policy.json is what is read. Hint: choose another file for -o.\n"
    assert run("onnx", "past.csv", "-o", "policy.onnx", exit_code=2).startswith("evenodds: past.csv is not JSON")
    assert run("onnx", "none.json", "-o", "policy.onnx", exit_code=2) == "evenodds: There is no file none.json.\n"
    assert run("onnx", "policy.json", "-o", "", exit_code=2).startswith("evenodds: -o names no file.")
    assert "Missing option '-o'" in run("onnx", "policy.json", exit_code=2)
    assert (tmp_path / "policy.json").read_bytes() == known
    assert not (tmp_path / "policy.onnx").exists()


@pytest.mark.usefixtures("policy")
def test_onnx_without_the_package(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    told = run("onnx", "policy.json", "-o", "policy.onnx", exit_code=2)
    assert told == "evenodds: An ONNX graph needs the package onnx. Hint: pip install 'evenodds[onnx]'.\n"
    assert not (tmp_path / "policy.onnx").exists()
