"""A policy as an ONNX graph: the same bits as the policy's own, in another's runtimes, and no graph that is wrong."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from errno import ENOSPC
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenodds as eo
from engines import needed
from evenodds.exports.onnx import serialized
from evenodds.model.storage import parts_of_policy

onnx = needed("onnx")
runtime = needed("onnxruntime")

VECTORS = json.loads((files("evenodds.exports") / "vectors.json").read_text(encoding="utf-8"))
POLICIES = {name: eo.Policy(**parts_of_policy(document)) for name, document in VECTORS["policies"].items()}
LEVELS = runtime.GraphOptimizationLevel.__members__


def session_of(graph, level="ORT_ENABLE_ALL"):
    options = runtime.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    options.log_severity_level = 3  # errors; it warns of tables that a wrong graph does not use
    return runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def people(score, group):
    return {"score": np.asarray(score, dtype=np.float64), "group": np.asarray(group, dtype=object)}


def vectors_of(name):
    """The people of a policy's vectors, and what each output must be."""
    rows = [one for one in VECTORS["odds"] if one["policy"] == name]
    entries = ["odds", "review"][: 1 if POLICIES[name].review is None else 2]
    known = [np.array([np.nan if one[entry] is None else one[entry] for one in rows]) for entry in entries]
    return people([float(one["score"]) for one in rows], [one["group"] for one in rows]), known


def off(got, known):
    """How many values differ in any bit, zeros of either sign and NaNs of any kind being the same."""
    assert len(got) == len(known)
    return sum(int((~((a == b) | (np.isnan(a) & np.isnan(b)))).sum()) for a, b in zip(got, known, strict=True))


def policy_of(curves, **more):
    """A policy of some curves; its certificate is about others."""
    like = POLICIES["linear"].certificate
    many = {
        name: getattr(like, name)[:1] * len(curves) for name in ("asked", "reached", "slopes", "slope_bounds", "people")
    }
    mixes = tuple(group for group, curve in curves.items() if curve.parts)
    none = {"spreads": (), "randomized": (), "before": None}
    certificate = replace(like, groups=tuple(curves), mixes=mixes, **none, **many)
    parts = {"score_range": (0.0, 100.0), "orientation": "positive"} | more
    return eo.Policy(groups=tuple(curves), group_curves=tuple(curves.values()), certificate=certificate, **parts)


def many_lines(count, seed=0):
    """A curve of straight lines between many nodes."""
    rng = np.random.default_rng(seed)
    return eo.Curve.through(np.sort(rng.uniform(0, 100, count)), np.sort(rng.uniform(0, 1, count)))


# -- the same bits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
def test_every_vector_at_every_level_of_optimisation(level):
    for name, policy in POLICIES.items():
        given, known = vectors_of(name)
        assert known[0].size >= 10
        assert off(session_of(serialized(policy), level).run(None, given), known) == 0, name


def test_every_vector_by_the_reference_implementation():
    evaluator = needed("onnx.reference").ReferenceEvaluator
    for name, policy in POLICIES.items():
        given, known = vectors_of(name)
        with np.errstate(all="ignore"):  # it computes on for those without a score
            got = evaluator(onnx.load_from_string(serialized(policy))).run(None, given)
        assert off(got, known) == 0, name


@pytest.mark.parametrize("name", POLICIES)
def test_odds_anywhere(name):
    policy, rng = POLICIES[name], np.random.default_rng(1)
    session = session_of(serialized(policy))
    for group in policy.groups:
        breaks = policy.curves[group].pieces.breaks
        ends = (breaks.min(), breaks.max()) if breaks.size else (0.0, 1.0)
        scores = np.concatenate([rng.uniform(*ends, 3000), rng.normal(size=300) * 1e3, [0.0, -0.0, 5e-324]])
        outcomes = ["yes", "review"][: 1 if policy.review is None else 2]
        known = [policy.odds(scores, group, outcome=outcome) for outcome in outcomes]
        assert off(session.run(None, people(scores, [group] * scores.size)), known) == 0


def large():
    groups = {f"g{number}": many_lines(600, number) for number in range(8)}
    few = {f"h{number}": eo.Curve("quartic", number / 3, 99 - number / 7, 0.5) for number in range(191)}
    mix = eo.Curve.mixed([(0.3, eo.Curve("cubic", 10, 20, 0.4)), (0.7, eo.Curve("cubic", 15, 85, 0.6))])
    return policy_of({**groups, **few, "mix": mix})


@pytest.mark.parametrize("name", ["linear", "negative, quartic", "reviews", "200 groups, hundreds of pieces"])
def test_a_million_rows(name):
    policy = POLICIES[name] if name in POLICIES else large()
    rng = np.random.default_rng(2)
    low, high = policy.score_range
    scores = rng.uniform(low - 5, high + 5, 1_000_000)
    codes = rng.integers(0, len(policy.groups), scores.size)
    got = session_of(serialized(policy)).run(None, people(scores, np.array(policy.groups, dtype=object)[codes]))
    outcomes = ["yes", "review"][: len(got)]
    known = [policy.odds(scores, codes=codes, outcome=outcome) for outcome in outcomes]
    assert [int((a.view(np.int64) != b.view(np.int64)).sum()) for a, b in zip(got, known, strict=True)] == [0] * len(
        got
    )
    assert np.unique(got[0]).size > 1000


def test_who_can_be_given_no_odds_has_none():
    for name, policy in POLICIES.items():
        known, other = policy.groups[0], policy.groups[-1]
        unknown = [f"{known} ", f" {other}", "nobody", f"{known}\n", f"{other}é", "\ufeff" + known, "1"]
        given = people(
            [np.nan, np.inf, -np.inf, -np.nan, *[40.0] * len(unknown), 40.0], [*[known] * 4, *unknown, other]
        )
        for output in session_of(serialized(policy)).run(None, given):
            assert np.isnan(output).tolist() == [True] * (4 + len(unknown)) + [False], name


def test_nobody_is_given_nothing():
    for output in session_of(serialized(POLICIES["reviews"])).run(None, people([], [])):
        assert output.shape == (0,)
        assert output.dtype == np.float64


def test_one_group_of_one_piece():
    policy = policy_of({"all": eo.Curve("linear", -np.inf, np.inf, 0.4)})
    (odds,) = session_of(serialized(policy)).run(None, people([1, -1e308, np.nan, 1], ["all", "all", "all", "none"]))
    assert odds.tolist()[:2] == [0.4, 0.4]
    assert np.isnan(odds[2:]).all()


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(st.lists(NAMES, min_size=8, max_size=9, unique=True))
@settings(max_examples=25)
def test_groups_may_be_called_anything(names):
    *names, unknown = names if len(names) == 9 else [*names, "nobody, surely"]
    policy = POLICIES["edges"]
    renamed = policy_of(dict(zip(names, policy.group_curves, strict=True)))
    given = people([0.2] * 9, [*names, unknown])
    (odds,) = session_of(serialized(renamed)).run(None, given)
    assert odds[:8].tolist() == [policy.odds(0.2, group).item() for group in policy.groups]
    assert np.isnan(odds[8])


# -- graphs that are wrong ---------------------------------------------------------------------------------------------


def divides(graph):
    """(score - origin) / (1 / rate)."""
    node = node_giving(graph, "odds/u")
    node.op_type = "Div"
    replaced(graph, "odds/rates", lambda rates: 1 / np.where(rates == 0, 1, rates))


def multiplies_out(graph):
    """Score * rate - origin * rate."""
    node_giving(graph, "odds/distance").CopyFrom(onnx.helper.make_node("Mul", ["score", "odds/rate"], ["odds/scaled"]))
    node_giving(graph, "odds/u").CopyFrom(onnx.helper.make_node("Sub", ["odds/scaled", "odds/moved"], ["odds/u"]))
    moved = onnx.helper.make_node("Mul", ["odds/origin", "odds/rate"], ["odds/moved"])
    place = [node.output[0] for node in graph.node].index("odds/scaled")
    graph.node.insert(place, moved)


def takes_the_other_piece_at_breaks(graph):
    for node in graph.node:
        if node.output[0].endswith("is_reached"):
            node.op_type = "Less" if node.op_type == "LessOrEqual" else "LessOrEqual"


def takes_the_last_group_for_unknown_ones(graph):
    for attribute in node_giving(graph, "known_group").attribute:
        if attribute.name == "default_int64":
            attribute.i -= 1


def takes_the_first_group_for_unknown_ones(graph):
    for attribute in node_giving(graph, "known_group").attribute:
        if attribute.name == "default_int64":
            attribute.i = 0


def stops_one_step_early(graph):
    for node in graph.node:
        if node.output[0].endswith("/1/piece"):
            node.CopyFrom(onnx.helper.make_node("Identity", [node.input[2]], [node.output[0]]))


def computes_in_single_precision(graph):
    replaced(graph, "odds/c0s", lambda values: values.astype(np.float32).astype(np.float64))


def reviews_for_rounding(graph):
    replaced(graph, "odds_review/certain", lambda value: value * 0 - 1)


def node_giving(graph, name):
    return next(node for node in graph.node if node.output[0] == name)


def replaced(graph, name, change):
    for table in graph.initializer:
        if table.name == name:
            table.CopyFrom(onnx.numpy_helper.from_array(change(onnx.numpy_helper.to_array(table)), name))


WRONG = [
    divides,
    multiplies_out,
    takes_the_other_piece_at_breaks,
    takes_the_last_group_for_unknown_ones,
    takes_the_first_group_for_unknown_ones,
    stops_one_step_early,
    computes_in_single_precision,
    reviews_for_rounding,
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.__name__)
def test_every_wrong_graph_fails(wrong):
    failures = 0
    for name, policy in POLICIES.items():
        if wrong is not reviews_for_rounding or policy.review is not None:
            model = onnx.load_from_string(serialized(policy))
            wrong(model.graph)
            given, known = vectors_of(name)
            failures += off(session_of(model.SerializeToString()).run(None, given), known)
    assert failures


# -- the file ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["linear", "reviews", "negative, linear"])
def test_the_graph_says_what_it_is(name, tmp_path):
    policy = POLICIES[name]
    eo.to_onnx(policy, tmp_path / "policy.onnx")
    model = onnx.load(tmp_path / "policy.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert {one.domain: one.version for one in model.opset_import} == {"": 13, "ai.onnx.ml": 2}
    assert model.ir_version == 7
    kinds = onnx.TensorProto.DataType.Name
    assert [(one.name, kinds(one.type.tensor_type.elem_type)) for one in model.graph.input] == [
        ("score", "DOUBLE"),
        ("group", "STRING"),
    ]
    outputs = ["odds", "odds_review"][: 1 if policy.review is None else 2]
    assert [one.name for one in model.graph.output] == outputs
    told = session_of(str(tmp_path / "policy.onnx")).get_modelmeta()
    assert told.custom_metadata_map == {
        "evenodds.fingerprint": policy.document["fingerprint"],
        "evenodds.format_version": "4",
        "evenodds.groups": json.dumps(list(policy.groups)),
        "evenodds.orientation": policy.orientation,
    }
    assert told.description.startswith("The odds of a yes")
    assert repr(policy) in told.description
    assert (told.producer_name, model.producer_version) == ("evenodds", eo.__version__)


def test_the_same_policy_is_the_same_file(tmp_path):
    policy = POLICIES["edges"]
    eo.to_onnx(policy, tmp_path / "a.onnx")
    policy.save(tmp_path / "policy.json")
    eo.to_onnx(eo.Policy.load(tmp_path / "policy.json"), str(tmp_path / "b.onnx"))
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_the_graph_grows_with_the_logarithm_of_the_pieces():
    """And nothing on the way is larger than a number for each person."""
    counts = {}
    for pieces in (4, 600):
        model = onnx.load_from_string(serialized(policy_of({f"g{i}": many_lines(pieces, i) for i in range(3)})))
        counts[pieces] = len(model.graph.node)
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph.value_info
        assert len(inferred) == len(model.graph.node) - 1
        for value in inferred:
            assert [size.dim_param for size in value.type.tensor_type.shape.dim] == ["people"]
    assert counts[600] - counts[4] == 5 * (10 - 3)
    assert len(onnx.load_from_string(serialized(large())).graph.node) <= 80


def test_it_can_be_joined_to_a_model_that_scores():
    """A logistic regression by hand, whose odds are those of the policy at its scores."""
    make = onnx.helper
    double = onnx.TensorProto.DOUBLE
    weights = onnx.numpy_helper.from_array(np.array([[30.0], [-20.0]]), "weights")
    shape = onnx.numpy_helper.from_array(np.array([-1]), "shape")
    nodes = [
        make.make_node("MatMul", ["features", "weights"], ["product"]),
        make.make_node("Reshape", ["product", "shape"], ["points"]),
    ]
    takes = [make.make_tensor_value_info("features", double, ["people", 2])]
    gives = [make.make_tensor_value_info("points", double, ["people"])]
    scorer = make.make_model(
        make.make_graph(nodes, "scorer", takes, gives, [weights, shape]),
        opset_imports=[make.make_opsetid("", 13)],
        ir_version=7,
    )
    policy = onnx.load_from_string(serialized(POLICIES["linear"]))
    joined = onnx.compose.merge_models(scorer, policy, io_map=[("points", "score")])
    onnx.checker.check_model(joined)
    features = np.random.default_rng(0).normal(2, 1, (500, 2))
    groups = np.array(["asian", "white", "nobody", "black", "hispanic"] * 100, dtype=object)
    (odds,) = session_of(joined.SerializeToString()).run(None, {"features": features, "group": groups})
    (scores,) = session_of(scorer.SerializeToString()).run(None, {"features": features})
    known = groups != "nobody"
    assert odds[known].tolist() == POLICIES["linear"].odds(scores[known], groups[known]).tolist()
    assert np.isnan(odds[~known]).all()


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_only_policies(tmp_path):
    with pytest.raises(eo.OptionError, match="The first argument must be a Policy, got dict"):
        eo.to_onnx({}, tmp_path / "policy.onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [None, 5, "", b"policy.onnx", "a\0b"])
def test_a_path_that_is_none(path):
    with pytest.raises(eo.OptionError, match=r"path=.* is not allowed. Allowed: the name of a file or folder"):
        eo.to_onnx(POLICIES["linear"], path)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(eo.OptionError, match=r"There is no folder .*nowhere. Hint: make it first."):
        eo.to_onnx(POLICIES["linear"], tmp_path / "nowhere" / "policy.onnx")
    with pytest.raises(IsADirectoryError):
        eo.to_onnx(POLICIES["linear"], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "reason"), [("a\ud800b", "half a character"), ("a\0b", r"U\+0000")])
def test_groups_that_runtimes_would_take_for_others(name, reason, tmp_path):
    policy = policy_of({"a": eo.Curve("linear", 0, 1, 0.5), name: eo.Curve("linear", 0, 2, 0.5)})
    with pytest.raises(eo.DataError, match=f"The group .* has {reason}.* Hint: rename it."):
        eo.to_onnx(policy, tmp_path / "policy.onnx")
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_stays_until_the_new_file_is_whole(tmp_path, monkeypatch):
    file = tmp_path / "policy.onnx"
    file.write_bytes(b"as it was")

    def full(part, content):
        with part.open("wb") as half:
            half.write(content[: len(content) // 2])
        raise OSError(ENOSPC, "No space left on device", str(part))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match=r"No space left on device: .*policy\.onnx"):
            eo.to_onnx(POLICIES["linear"], file)
    assert file.read_bytes() == b"as it was"
    assert list(tmp_path.iterdir()) == [file]
    eo.to_onnx(POLICIES["linear"], file)
    assert file.read_bytes() == serialized(POLICIES["linear"])
    assert list(tmp_path.iterdir()) == [file]


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(eo.MissingPackageError, match=r"pip install 'evenodds\[onnx\]'"):
        eo.to_onnx(POLICIES["linear"], tmp_path / "policy.onnx")
    assert list(tmp_path.iterdir()) == []
