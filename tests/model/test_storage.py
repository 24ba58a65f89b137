from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.model.storage import canonical, document_of, fingerprint, parts_of_policy, written
from shapes import mixes

OLD = Path(__file__).parent / "data"
SCHEMA = json.loads((files("evenodds.model") / "policy.schema.json").read_text(encoding="utf-8"))


def there_and_back(policy):
    text = written(policy.document)
    return eo.Policy(**parts_of_policy(json.loads(text)))


@pytest.fixture(scope="module")
def credit():
    return eo.datasets.credit_risk()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"curve": "fixed"},
        {"curve": "optimal"},
        {"curve": "quartic", "max_slope": 0.2},
        {"target": "baseline"},
        {"target": (0.4, 0.4)},
        {"constraints": "demographic_parity", "tolerance": 0.02, "objective": eo.Cost(3, 1)},
    ],
    ids=str,
)
def test_every_policy_comes_back_and_fits_the_schema(credit, options, tmp_path):
    policy = eo.fit(credit, **options)
    jsonschema.validate(policy.document, SCHEMA)
    policy.save(tmp_path / "p.json")
    loaded = eo.Policy.load(tmp_path / "p.json")
    assert loaded == policy
    scores = np.linspace(-10, 110, 2001)
    for group in policy.groups:
        np.testing.assert_array_equal(loaded.odds(scores, group), policy.odds(scores, group))
    assert str(loaded) == str(policy)
    assert math.isfinite(loaded.certificate.objective)


@given(st.floats(-1e150, 1e150), st.floats(1e-3, 1e150), st.floats(0.01, 0.99))
def test_floats_come_back_to_the_last_bit(credit_policy, t0, width, p):
    t1 = t0 + width
    if not t0 < t1:
        return
    curve = eo.Curve("linear", t0, t1, p)
    assert there_and_back(alone(credit_policy, curve)).curves["a"] == curve


def alone(policy, curve, group="a"):
    """A policy of one group, with the certificate of the first of another policy."""
    c = policy.certificate
    first = {name: getattr(c, name)[:1] for name in ("asked", "reached", "slopes", "slope_bounds", "people")}
    none = {"spreads": (), "randomized": (), "before": None}
    certificate = replace(c, groups=(group,), mixes=(group,) if curve.parts else (), **none, **first)
    return eo.Policy((group,), (curve,), (0.0, 100.0), curve.orientation, certificate)


@given(mixes(jumps=True))
def test_mixes_come_back_to_the_last_bit(credit_policy, mix):
    policy = alone(credit_policy, mix)
    jsonschema.validate(policy.document, SCHEMA)
    loaded = there_and_back(policy)
    assert loaded == policy
    assert loaded.document == policy.document
    pieces, again = mix.pieces, loaded.curves["a"].pieces
    for name in ("lo", "hi", "origin", "scale", "coefficients"):
        assert np.array_equal(getattr(pieces, name), getattr(again, name))


@pytest.fixture(scope="module")
def credit_policy(credit):
    return eo.fit(credit, max_slope=0.1)


def test_keys_of_every_language_come_back(credit_policy):
    names = ("Ærø, 女", 'quo"te', "\\", "a")
    certificate = replace(credit_policy.certificate, groups=names)
    policy = eo.Policy(names, credit_policy.group_curves, (0, 100), "positive", certificate)
    assert there_and_back(policy).groups == names


def test_the_fingerprint_tells_policies_apart(credit, credit_policy):
    assert credit_policy.document["fingerprint"] == eo.fit(credit, max_slope=0.1).document["fingerprint"]
    assert credit_policy.document["fingerprint"] != eo.fit(credit, max_slope=0.11).document["fingerprint"]
    document = credit_policy.document
    assert fingerprint(document) == document["fingerprint"]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("curves"),
        lambda d: d["curves"][0].pop("t0"),
        lambda d: d["curves"][0].update(t0="nan"),
        lambda d: d["curves"][0].update(t0=None),
        lambda d: d["curves"][0].update(t0=True),
        lambda d: d["curves"][0].update(p=2),
        lambda d: d["curves"][0].update(family="round"),
        lambda d: d.update(score_range=[1]),
        lambda d: d.update(orientation="sideways"),
        lambda d: d.update(certificate=None),
        lambda d: d["certificate"].update(more=1),
        lambda d: d["curves"][0].update(more=1),
        lambda d: d["curves"][0].update(at_t0=0.1),
        lambda d: d["curves"][0].update(at_t0=None),
        lambda d: d["curves"][0].update(nodes=None),
        lambda d: d["curves"][0].update(nodes=[[0, 0], [1, 1]]),
        lambda d: d["curves"][0].update(parts=[]),
        lambda d: d["curves"][0].update(parts=None),
        lambda d: d["curves"][0].update(parts=[{"share": 1}]),
        lambda d: d["curves"][0].update(group=7),
        lambda d: d["curves"][0].update(group=["a"]),
        lambda d: d["curves"][0].update(group="black"),
        lambda d: d["curves"][0].update(group="green"),
        lambda d: d.update(curves=7),
        lambda d: d.update(curves=[7]),
        lambda d: d.update(curves={"asian": 1}),
        lambda d: d["certificate"].update(mixes=["asian"]),
        lambda d: d["certificate"].update(mixes=["nobody"]),
        lambda d: d["certificate"].update(mixes=7),
        lambda d: d["certificate"].update(mixes=[7]),
    ],
)
def test_documents_that_are_none_are_refused(credit_policy, tmp_path, change):
    """Even with a fingerprint that matches."""
    refused(credit_policy, tmp_path, change)


def refused(policy, folder, change):
    """What is said of a file that was changed, and given a fingerprint that matches."""
    document = json.loads(written(policy.document))
    change(document)
    document["fingerprint"] = fingerprint(document)
    (folder / "p.json").write_text(written(document))
    with pytest.raises(eo.DataError, match="not what it should be") as caught:
        eo.Policy.load(folder / "p.json")
    return str(caught.value)


@pytest.fixture(scope="module")
def lines(credit):
    return eo.fit(credit, curve="optimal", max_slope=0.1)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (lambda n: [*n[:-1], [n[-1][0], 2.0]], "Odds must be from 0 to 1, got 2"),
        (lambda n: [[n[0][0], -1.0], *n[1:]], "Odds must be from 0 to 1, got -1"),
        (lambda n: [*n[:-1], [n[-1][0], 1e308]], "got 1e+308"),
        (lambda n: [*n[:-1], ["inf", 1.0]], "must be finite, got inf"),
        (lambda n: [[n[0][0], 0.5], *n[1:]], "must not fall"),
        (lambda n: [*n, n[-1]], "must rise from one to the next"),
        (lambda n: n[::-1], "must rise from one to the next"),
        (lambda n: n[1:], "must run from t0="),
        (lambda n: n[:1], "must run from t0="),
        (lambda _: [], "at least one of each"),
        (lambda _: None, "not iterable"),
        (lambda _: 7, "not iterable"),
        (lambda _: "ab", "not enough values"),
        (lambda _: [[0, 0, 0]], "too many values"),
        (lambda _: [["a", 0]], "nodes is 'a'"),
    ],
)
def test_forged_nodes_are_refused(lines, tmp_path, nodes, message):
    def forge(document):
        document["curves"][0]["nodes"] = nodes(document["curves"][0]["nodes"])

    assert message in refused(lines, tmp_path, forge)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"t0": 1.0}, "got t0=1.0"),
        ({"p": 0.01}, "with mean odds of"),
        ({"p": 2}, "p=2 is not allowed"),
        ({"family": "fixed"}, "got fixed"),
        ({"family": "optimal"}, "An optimal curve has nodes"),
        ({"at_t0": 0.1}, "only a fixed curve has it"),
    ],
    ids=str,
)
def test_forged_mixes_are_refused(credit_policy, tmp_path, change, message):
    mix = eo.Curve.mixed([(0.25, eo.Curve("linear", 10, 20, 0.5)), (0.75, eo.Curve("linear", 30, 40, 0.5))])
    said = refused(alone(credit_policy, mix), tmp_path, lambda d: d["curves"][0].update(change))
    assert message in said
    assert "the curve of group 'a'" in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"share": 0.5}, "sum to 1; got 0.5 and 0.75"),
        ({"share": 0.25 + 1e-12}, "sum to exactly 1; got 0.250000000001 and 0.75"),
        ({"share": -0.25}, "must be from 0 to 1"),
        ({"share": "inf"}, "must be from 0 to 1"),
        ({"share": None}, "share is None"),
        ({"t0": 50}, "t0 <= t1"),
        ({"t0": "-inf", "t1": "inf"}, "got constant"),
        ({"p": 1.5}, "p=1.5 is not allowed"),
    ],
    ids=str,
)
def test_forged_parts_are_refused(credit_policy, tmp_path, change, message):
    mix = eo.Curve.mixed([(0.25, eo.Curve("linear", 10, 20, 0.5)), (0.75, eo.Curve("linear", 30, 40, 0.5))])
    said = refused(alone(credit_policy, mix), tmp_path, lambda d: d["curves"][0]["parts"][0].update(change))
    assert message in said


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"constraints": "equal_odds"}, "constraints='equal_odds' is not known"),
        ({"constraints": "selection_rate_parity"}, "another name"),
        ({"constraints": 7}, "constraints=7 is not known"),
        ({"objective_name": "beauty"}, "objective_name='beauty' is not known"),
        ({"criterion": "prettiest"}, "criterion='prettiest' is not known"),
        ({"tolerance": -0.1}, "tolerance is -0.1. Allowed: a number from 0 to 1"),
        ({"tolerance": 2}, "tolerance is 2"),
        ({"tolerance": None}, "tolerance is None"),
        ({"tolerance": "nan"}, "tolerance is 'nan'"),
        ({"max_slope": -1}, "max_slope is -1"),
        ({"max_slope": "-inf"}, "max_slope is '-inf'"),
        ({"objective": "inf"}, "objective is 'inf'. Allowed: a number, finite"),
        ({"objective_bound": True}, "objective_bound is True"),
        ({"unlimited": []}, "unlimited is []"),
        ({"resolution": -1}, "resolution is -1"),
        ({"max_loss": -1}, "max_loss is -1"),
        ({"target": [2, 0]}, "target is 2"),
        ({"target": [0.2]}, "not enough values"),
        ({"asked": [[0.1, -0.2]] * 4}, "asked is -0.2"),
        ({"slopes": [-1, 0, 0, 0]}, "slopes is -1"),
        ({"slope_bounds": ["-inf", 0, 0, 0]}, "slope_bounds is '-inf'"),
        ({"people": [[-1, 2, 3, 4]] * 4}, "people is -1"),
        ({"people": [[1, 2, "inf", 4]] * 4}, "people is 'inf'"),
        ({"costs": [2, 1]}, "costs is 2"),
        ({"smaller_is_better": 1}, "smaller_is_better is 1. Allowed: true or false"),
        ({"keep_individual_odds": "no"}, "keep_individual_odds is 'no'"),
        ({"bound_by": 3}, "bound_by has 3"),
        ({"groups": ["a", "b", "c", "d"]}, "the certificate is about the groups"),
    ],
    ids=str,
)
def test_certificates_that_make_no_sense_are_refused(credit_policy, tmp_path, change, message):
    assert message in refused(credit_policy, tmp_path, lambda d: d["certificate"].update(change))


@pytest.fixture(scope="module")
def documents(credit, credit_policy, lines):
    mix = eo.Curve.mixed([(0.25, eo.Curve("cubic", 10, 20, 0.5)), (0.75, eo.Curve("cubic", 15, 40, 0.3))])
    policies = [credit_policy, lines, eo.fit(credit, curve="fixed"), alone(credit_policy, mix)]
    return [json.loads(written(policy.document)) for policy in policies]


def paths_of(value, path=()):
    """Where a document has something."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, part in inner for found in paths_of(part, (*path, key)))]


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=3),
    st.sampled_from(["inf", "-inf", -1, 0, 2, 1e308, -1e308, 5e-324, 10**400, [], {}]),
)  # fmt: skip


@given(st.data())
def test_whatever_is_changed_in_a_file_it_is_refused_or_gives_odds(documents, data):
    document = json.loads(json.dumps(data.draw(st.sampled_from(documents))))
    *way, last = data.draw(st.sampled_from([path for path in paths_of(document) if path]))
    place = document
    for key in way:
        place = place[key]
    if data.draw(st.booleans()):
        place[last] = data.draw(SCALARS | st.lists(SCALARS, max_size=3))
    else:
        del place[last]
    try:
        policy = eo.Policy(**parts_of_policy(document))
    except eo.DataError:
        return
    odds = policy.odds(np.tile([-1e9, 0, 12.5, 20, 33, 1e9], len(policy.groups)), np.repeat(policy.groups, 6))
    assert ((odds >= 0) & (odds <= 1)).all()
    assert str(policy)
    assert there_and_back(policy) == policy


# -- older files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file",
    sorted(path for path in OLD.glob("v*/*.json") if path.stem != "odds"),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_older_files_load_and_give_the_same_odds(file):
    """Files and odds were written by the last program that wrote the version."""
    document = json.loads(file.read_text(encoding="utf-8"))
    assert f"v{document['version']}" == file.parent.name
    jsonschema.validate(document, SCHEMA)
    policy = eo.Policy.load(file)
    known = json.loads((file.parent / "odds.json").read_text(encoding="utf-8"))[file.stem]
    for group, odds in known["odds"].items():
        assert policy.odds(known["scores"], group).tolist() == odds
    for group, odds in known.get("reviews", {}).items():
        assert policy.odds(known["scores"], group, outcome="review").tolist() == odds
    assert str(policy)
    saved = policy.document
    assert saved["version"] == 4
    for curves in {"curves", "review_curves"} & set(saved):
        assert [{**curve, "pieces": None} for curve in document[curves]] == [
            {**curve, "pieces": None} for curve in saved[curves]
        ]
    assert {key: saved["certificate"][key] for key in document["certificate"]} == document["certificate"]
    assert there_and_back(policy) == policy


def test_what_version_1_did_not_know_is_refused_in_it(credit_policy, tmp_path):
    mix = eo.Curve.mixed([(0.25, eo.Curve("linear", 10, 20, 0.5)), (0.75, eo.Curve("linear", 30, 40, 0.5))])
    policy = alone(credit_policy, mix)
    said = refused(policy, tmp_path, lambda d: d.update(version=1))
    assert "a curve has 'parts', which version 1 does not know" in said
    for version in (1, 2, 3):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**policy.document, "version": version}, SCHEMA)
    assert "a curve has 'pieces', which version 2 does not know" in refused(
        policy, tmp_path, lambda d: d.update(version=2)
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda pieces: pieces["breaks"].__setitem__(0, np.nextafter(pieces["breaks"][0], 0)),
        lambda pieces: pieces["rate"].__setitem__(1, 1.0),
        lambda pieces: pieces["coefficients"].pop(),
        lambda pieces: pieces["coefficients"][-1].__setitem__(0, True),
        lambda pieces: pieces.update(more=1),
        dict.clear,
    ],
)
def test_pieces_that_are_not_the_curves_are_refused(credit_policy, tmp_path, change):
    said = refused(credit_policy, tmp_path, lambda d: change(d["curves"][1]["pieces"]))
    assert "the curve of group 'black': its pieces are not those of the curve" in said


# -- the canonical form ------------------------------------------------------------------------------------------------


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_the_canonical_form_is_that_of_rfc_8785(value):
    assert canonical(value).encode() == rfc8785.dumps(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_come_back_from_the_canonical_form(number):
    assert float(canonical(number)) == number
    assert canonical(number) == rfc8785.dumps(number).decode()


def test_numbers_that_json_does_not_have_are_refused(credit_policy, tmp_path):
    for number in (math.nan, math.inf, 10**400):
        with pytest.raises(ValueError, match=r"no number of JSON|too large"):
            canonical(number)
    text = written(credit_policy.document).replace('"tolerance": 0.0', f'"tolerance": {10**400}')
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(eo.DataError, match="a whole number is too large"):
        eo.Policy.load(tmp_path / "p.json")


def test_newer_files_are_refused(credit_policy, tmp_path):
    for version in (0, 5, True, "2", None):
        document = {**credit_policy.document, "version": version}
        document["fingerprint"] = fingerprint(document)
        (tmp_path / "p.json").write_text(written(document))
        with pytest.raises(eo.DataError, match="this evenodds reads up to 4"):
            eo.Policy.load(tmp_path / "p.json")


def test_plain_data_without_a_policy(credit_policy):
    p = credit_policy
    assert document_of(p.groups, p.group_curves, p.score_range, p.orientation, p.certificate) == p.document


@pytest.mark.parametrize(
    "change",
    [
        {"curves": []},
        {"score_range": [5, 1]},
        {"score_range": [0, "inf"]},
        {"certificate": {"slopes": [0.1]}},
        {"certificate": {"criterion": "prettiest"}},
        {"certificate": {"people": [[1, 2, 3, 4]]}},
    ],
    ids=str,
)
def test_parts_that_do_not_fit_together_are_refused(credit_policy, change, tmp_path):
    document = {**credit_policy.document, **change}
    if "certificate" in change:
        document["certificate"] = {**credit_policy.document["certificate"], **change["certificate"]}
    document["fingerprint"] = fingerprint(document)
    (tmp_path / "p.json").write_text(json.dumps(document))
    with pytest.raises(eo.DataError, match="not what it should be"):
        eo.Policy.load(tmp_path / "p.json")


def test_a_policy_says_what_was_asked_of_it(credit):
    asked = eo.fit(credit, objective=eo.Cost(1, 4), max_slope=0.2, criterion="robust").certificate
    assert (asked.costs, asked.criterion, asked.max_loss, asked.target_given) == ((0.25, 1.0), "robust", None, False)
    default = eo.fit(credit).certificate
    assert (default.costs, default.criterion, default.max_loss) == (None, "gentlest", 0.005)
    given = eo.fit(credit, target="baseline", keep_individual_odds=False).certificate
    assert (given.target_given, given.max_loss, given.keep_individual_odds) == (True, None, False)
    for member, (negatives, positives, *means) in zip(credit.members, default.people, strict=True):
        assert (negatives, positives) == (member.negative_total, member.positive_total)
        known = [np.average(member.scores, weights=side) for side in (member.negatives, member.positives)]
        np.testing.assert_allclose(means, known, rtol=1e-12)


def test_a_policy_stays_where_the_next_one_cannot_be_written(tmp_path, credit_policy, monkeypatch):
    path = tmp_path / "policy.json"
    credit_policy.save(path)

    def full(self, text, encoding):
        with self.open("w", encoding=encoding) as file:
            file.write(text[:100])
        raise OSError(28, "No space left on device", str(self))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(OSError, match="No space left on device"):
            credit_policy.save(path)
    assert eo.Policy.load(path) == credit_policy
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(eo.OptionError, match="There is no folder"):
        credit_policy.save(tmp_path / "none" / "policy.json")
    with pytest.raises(eo.OptionError, match="path=None is not allowed"):
        credit_policy.save(None)
