"""A policy as a model folder of MLflow: saved, loaded and served, with the policy's own odds and nothing secret."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import evenodds as eo
from engines import needed
from evenodds.model.storage import parts_of_policy

pd = needed("pandas")

VECTORS = json.loads((files("evenodds.exports") / "vectors.json").read_text(encoding="utf-8"))
POLICIES = {name: eo.Policy(**parts_of_policy(document)) for name, document in VECTORS["policies"].items()}
QUIET = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}


@pytest.fixture(scope="module")
def mlflow():
    """MLflow, which calls nobody."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in QUIET.items():
            patched.setenv(name, value)
        needed("mlflow")
        yield needed("mlflow.pyfunc")


@pytest.fixture(scope="module")
def folders(mlflow, tmp_path_factory):
    """Model folders by the names of their policies."""
    assert mlflow
    home = tmp_path_factory.mktemp("models")
    found = {
        name: home / str(number) for number, name in enumerate(["linear", "reviews", "negative, quartic", "edges"])
    }
    for name, folder in found.items():
        eo.to_mlflow(POLICIES[name], folder)
    return found


def people_of(name):
    rows = [one for one in VECTORS["odds"] if one["policy"] == name]
    people = pd.DataFrame({"score": [float(one["score"]) for one in rows], "group": [one["group"] for one in rows]})
    return people, rows


def values_of(column):
    """A column as vectors have it, None for none."""
    return [None if np.isnan(value) else value for value in column]


@pytest.mark.parametrize("name", ["linear", "reviews", "negative, quartic", "edges"])
def test_every_vector_of_a_loaded_model(mlflow, folders, name):
    model = mlflow.load_model(str(folders[name]))
    people, rows = people_of(name)
    people.index = range(7, 7 + len(people))
    odds = model.predict(people)
    assert list(odds.columns) == ["odds", "odds_review"][: 1 if POLICIES[name].review is None else 2]
    assert odds.index.equals(people.index)
    assert (odds.dtypes == np.float64).all()
    assert values_of(odds["odds"]) == [one["odds"] for one in rows]
    if POLICIES[name].review is not None:
        assert values_of(odds["odds_review"]) == [one["review"] for one in rows]


def test_what_is_in_the_folder(mlflow, folders, tmp_path):
    folder = folders["reviews"]
    found = sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())
    assert found == [
        "MLmodel",
        "conda.yaml",
        "data/policy.json",
        "input_example.json",
        "python_env.yaml",
        "requirements.txt",
        "serving_input_example.json",
    ]
    policy = POLICIES["reviews"]
    policy.save(tmp_path / "policy.json")
    assert (folder / "data" / "policy.json").read_bytes() == (tmp_path / "policy.json").read_bytes()
    told = mlflow.Model.load(str(folder))
    kinds = [[(column["name"], column["type"]) for column in side.to_dict()] for side in (
        told.signature.inputs, told.signature.outputs
    )]  # fmt: skip
    assert kinds == [[("score", "double"), ("group", "string")], [("odds", "double"), ("odds_review", "double")]]
    assert told.metadata["fingerprint"] == policy.document["fingerprint"]
    assert told.flavors["python_function"]["loader_module"] == "evenodds.exports.mlflow"
    packages = [line.split("==")[0] for line in (folder / "requirements.txt").read_text().splitlines()]
    assert packages == ["evenodds", "mlflow-skinny", "pandas"]
    written = "".join(file.read_text(encoding="utf-8") for file in folder.rglob("*") if file.is_file())
    assert str(folder.parent) not in written
    assert os.path.expanduser("~") not in written  # noqa: PTH111 as text


def test_columns_by_other_names_and_groups_of_several(mlflow, tmp_path):
    policy = eo.fit(eo.datasets.compas())
    eo.to_mlflow(policy, str(tmp_path / "model"), score="decile", group=["race", "sex"])
    model = mlflow.load_model(str(tmp_path / "model"))
    people = pd.DataFrame(
        {
            "sex": ["Male", "Female", "Male", None],
            "other": 1,
            "decile": [3.0, 5.0, 3.0, 3.0],
            "race": ["Caucasian", "African-American", "nobody", "Caucasian"],
        }
    )
    known = policy.odds([3, 5], ["Caucasian, Male", "African-American, Female"]).tolist()
    assert values_of(model.predict(people)["odds"]) == [*known, None, None]
    assert model.predict({"decile": [3.0], "race": ["Caucasian"], "sex": ["Male"]})["odds"].tolist() == known[:1]


def test_who_can_be_given_no_odds(mlflow, folders, tmp_path):
    people = pd.DataFrame(
        {
            "score": [40, np.nan, np.inf, 40, 40.0],
            "group": pd.Series(["white", "white", "white", "green", None], dtype=object),
        }
    )
    folder = str(folders["linear"])
    known = POLICIES["linear"].odds(40, "white").item()
    assert values_of(mlflow.load_model(folder).predict(people)["odds"]) == [known, None, None, None, None]
    eo.to_mlflow(POLICIES["linear"], tmp_path / "strict", on_invalid="raise")
    by_config = mlflow.load_model(folder, model_config={"on_invalid": "raise"})
    for model in (mlflow.load_model(str(tmp_path / "strict")), by_config):
        assert model.predict(people[:1])["odds"].tolist() == [known]
        with pytest.raises(eo.UnknownGroupError, match="4 of 5 rows cannot be given odds"):
            model.predict(people)
    with pytest.raises(eo.OptionError, match="on_invalid='ignore' is not known"):
        mlflow.load_model(folder, model_config={"on_invalid": "ignore"})


def test_what_mlflow_refuses_itself(mlflow, folders):
    model = mlflow.load_model(str(folders["linear"]))
    refused = needed("mlflow.exceptions").MlflowException
    for people in ({"score": [40], "group": ["white"]}, {"score": [40.0]}, {"score": [40.0], "group": [1]}):
        with pytest.raises(refused, match="Failed to enforce schema"):
            model.predict(pd.DataFrame(people))


def test_a_policy_that_was_changed_is_not_loaded(mlflow, tmp_path):
    eo.to_mlflow(POLICIES["linear"], tmp_path / "model")
    file = tmp_path / "model" / "data" / "policy.json"
    file.write_text(file.read_text().replace('"orientation": "positive"', '"orientation": "negative"'))
    with pytest.raises(eo.DataError, match="was changed since it was saved"):
        mlflow.load_model(str(tmp_path / "model"))


def test_nobody_is_called(mlflow, tmp_path, monkeypatch):
    called = []
    monkeypatch.setattr(socket.socket, "connect", lambda _, address: called.append(address))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *words, **__: called.append(words))
    monkeypatch.chdir(tmp_path)
    eo.to_mlflow(POLICIES["linear"], "model")
    mlflow.load_model("model").predict(pd.DataFrame({"score": [40.0], "group": ["white"]}))
    time.sleep(0.2)  # for threads that might
    assert called == []
    assert [file.name for file in tmp_path.iterdir()] == ["model"]


# -- served ------------------------------------------------------------------------------------------------------------


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture(scope="module")
def asked(folders, tmp_path_factory):
    """What MLflow's own server, started as people start it, answers to a question."""
    port, log = free_port(), tmp_path_factory.mktemp("served") / "log"
    environment = {**os.environ, **QUIET, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    words = ["models", "serve", "-m", str(folders["reviews"]), "--env-manager", "local", "-h", "127.0.0.1", "-p", port]
    command = [sys.executable, "-m", "mlflow", *map(str, words)]
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, env=environment, cwd=log.parent, stdout=out, stderr=out, start_new_session=True
        )

    def ask(content, kind="application/json"):
        url, headers = f"http://127.0.0.1:{port}/invocations", {"Content-Type": kind}
        request = urllib.request.Request(url, content.encode(), headers)
        try:
            with urllib.request.urlopen(request) as answer:  # noqa: S310 as above
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    try:
        for _ in range(300):
            if server.poll() is not None:
                pytest.fail(f"The server did not start: {log.read_text()}")
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/ping").close()
                break
            except OSError:
                time.sleep(0.1)
        else:
            pytest.fail(f"The server did not answer: {log.read_text()}")
        yield ask
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)  # the group of the process that we started
            server.wait(30)


def refuse_constant(name):
    pytest.fail(f"{name} is not JSON")


def test_every_vector_of_a_served_model(asked):
    people, rows = people_of("reviews")
    data = [[score if np.isfinite(score) else None, group] for score, group in people.to_numpy(dtype=object).tolist()]
    split = {"columns": ["score", "group"], "data": data}
    status, text = asked(json.dumps({"dataframe_split": split}, allow_nan=False))
    assert status == 200, text
    got = json.loads(text, parse_constant=refuse_constant)["predictions"]
    assert got == [{"odds": one["odds"], "odds_review": one["review"]} for one in rows]
    assert any(one["odds"] is None for one in got)


def test_other_ways_to_ask_a_server(asked):
    policy = POLICIES["reviews"]
    known = [policy.odds(40, "white", outcome=outcome).item() for outcome in ("yes", "review")]
    one = {"score": 40, "group": "white"}
    for content, kind in [
        (json.dumps({"dataframe_records": [one]}), "application/json"),
        (json.dumps({"inputs": {"score": [40.0], "group": ["white"]}}), "application/json; charset=utf-8"),
        ("score,group\n40,white\n", "text/csv"),
    ]:
        status, text = asked(content, kind)
        assert status == 200, text
        assert json.loads(text) == {"predictions": [dict(zip(["odds", "odds_review"], known, strict=True))]}
    status, text = asked(json.dumps({"dataframe_records": [{"score": 40}]}))
    assert (status, "missing inputs ['group']" in text) == (400, True)


def test_the_example_in_the_folder_is_answered(asked, folders):
    status, text = asked((folders["reviews"] / "serving_input_example.json").read_text())
    assert status == 200
    example = json.loads((folders["reviews"] / "input_example.json").read_text())
    known = POLICIES["reviews"].odds(example["score"], example["group"]).tolist()
    assert [one["odds"] for one in json.loads(text)["predictions"]] == known
    assert len(known) == 3


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"score": "odds"}, "The column 'odds' is not allowed"),
        ({"group": ["a", "odds_review"]}, "The column 'odds_review' is not allowed"),
        ({"group": "score"}, "The column 'score' is not allowed. Allowed: different names"),
        ({"group": ["a", "a"]}, "The column 'a' is not allowed"),
        ({"group": []}, "group names no column"),
        ({"score": 7}, "The column 7 is not allowed"),
        ({"score": ""}, "The column '' is not allowed"),
        ({"group": ["race", "sex"]}, "group names 2 columns, and the policy's group 'asian' is not of as many"),
        ({"on_invalid": "ignore"}, "on_invalid='ignore' is not known. Allowed: raise, null"),
    ],
)
def test_options_that_are_not_allowed(tmp_path, options, reason):
    with pytest.raises(eo.OptionError, match=reason):
        eo.to_mlflow(POLICIES["linear"], tmp_path / "model", **options)
    assert list(tmp_path.iterdir()) == []


def test_only_policies(tmp_path):
    with pytest.raises(eo.OptionError, match="The first argument must be a Policy, got dict"):
        eo.to_mlflow({}, tmp_path / "model")


@pytest.mark.usefixtures("mlflow")
def test_places_that_are_none(tmp_path):
    policy = POLICIES["linear"]
    (tmp_path / "file").write_text("as it was")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("as it was")
    (tmp_path / "empty").mkdir()
    for place, reason in [
        (tmp_path / "file", "is a file, and not a folder"),
        (tmp_path / "full", "is a folder that holds something already. Hint: choose another name"),
        (tmp_path / "nowhere" / "model", "There is no folder"),
        (tmp_path / "file" / "model", "is a file, and not a folder"),
        (5, "path=5 is not allowed"),
    ]:
        with pytest.raises(eo.OptionError, match=reason):
            eo.to_mlflow(policy, place)
    eo.to_mlflow(policy, tmp_path / "empty")
    assert (tmp_path / "empty" / "MLmodel").is_file()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["empty", "file", "full"]


def test_nothing_is_half_written(mlflow, tmp_path, monkeypatch):
    def half(folder, **_):
        Path(folder).mkdir()
        (Path(folder) / "MLmodel").write_text("half of it")
        msg = "the disk is full"
        raise OSError(msg)

    monkeypatch.setattr(mlflow, "save_model", half)
    with pytest.raises(OSError, match="the disk is full"):
        eo.to_mlflow(POLICIES["linear"], tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("mlflow")  # which is whole before a part of it is hidden
@pytest.mark.parametrize("package", ["mlflow", "mlflow.pyfunc", "pandas"])
def test_without_a_package(tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(eo.MissingPackageError, match=r"pip install 'evenodds\[mlflow\]'"):
        eo.to_mlflow(POLICIES["linear"], tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
