"""Bounds that are proven when they are first looked at."""

from __future__ import annotations

import json
import pickle
import threading
import time

import pytest

import evenodds as eo
from evenodds.model.storage import fingerprint
from oracles import small_population

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")


def test_who_looks_while_a_bound_is_proven_waits_for_it():
    certificate = eo.fit(small_population(1)).certificate
    proven, slopes = certificate.objective_bound, certificate.slope_bounds
    begun, seen = threading.Event(), []

    def slowly():
        begun.set()
        time.sleep(0.2)
        return {"objective_bound": proven - 1.0, "bound_by": "a test", "slope_bounds": slopes}

    waiting = certificate.with_program(slowly)
    threads = [threading.Thread(target=lambda: seen.append(waiting.objective_bound)) for _ in range(4)]
    threads[0].start()
    assert begun.wait(5)
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [proven - 1.0] * 4


def test_a_bound_whose_proof_was_interrupted_is_proven_again():
    certificate = eo.fit(small_population(1)).certificate
    tight = {name: getattr(certificate, name) for name in ("objective_bound", "bound_by", "slope_bounds")}
    calls = []

    def interrupted():
        calls.append(None)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return {**tight, "bound_by": "the second try"}

    asked = certificate.with_program(interrupted)
    with pytest.raises(KeyboardInterrupt):
        _ = asked.objective_bound
    assert asked.bound_by == "the second try"
    assert len(calls) == 2


def test_what_is_written_down_is_proven_first():
    policy = eo.fit(small_population(2), curve="cubic")
    copy = pickle.loads(pickle.dumps(policy)).certificate  # noqa: S301 our own
    assert copy.objective_bound == policy.certificate.objective_bound
    assert copy.slope_bounds == policy.certificate.slope_bounds
    assert copy.gap < 0.05


def test_what_a_file_does_not_say_is_unknown_and_not_a_number(tmp_path):
    path = tmp_path / "policy.json"
    policy = eo.fit(eo.datasets.credit_risk(), constraints="demographic_parity")
    policy.save(path)
    document = json.loads(path.read_text())
    for name in ("people", "randomized", "before"):  # the schema asks for none of them
        del document["certificate"][name]
    path.write_text(json.dumps({**document, "fingerprint": fingerprint(document)}))
    certificate = eo.Policy.load(path).certificate
    with pytest.raises(eo.DataError, match="does not say how many people its groups have"):
        _ = certificate.selected
    rows = [line.split() for line in certificate.summary.splitlines()[1:5]]
    for row, known in zip(rows, policy.certificate.summary.splitlines()[1:5], strict=True):
        assert row[:3] == [known.split()[0], "unknown", "unknown"]
        assert row[5] == "unknown"
        assert row[-1] == known.split()[-1]
    assert "everybody" not in certificate.summary
