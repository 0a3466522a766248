"""Scripted runs, repeated: everything they suggest, recommend, certify and predict is as it was recorded.

`python -m tests.traces.record` shows all differences at once, and writes new traces where they are meant.
"""

from __future__ import annotations

import json

import pytest
from tests.traces.command_runs import command
from tests.traces.comparing import FINGERPRINT, GOLDEN, differences, fingerprint, loose_differences, read, report
from tests.traces.runs import RUNS

SAME_KIND = read(FINGERPRINT) == fingerprint()
pytestmark = pytest.mark.filterwarnings("ignore::quadrat.errors.QuadratWarning")  # parameters drawn at random


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_as_recorded(name: str) -> None:
    """Every float is compared bit for bit where the fingerprint of the machine is the recorded one.

    Elsewhere only "settled" is compared: the first suggestions, which come from the initial design, and why they were
    made, to 1e-6; the states of trials, failures, reasons, which kinds of answers there are, texts without their
    numbers. Not checked there: later suggestions, all values, intervals and certificates, and printed text.
    """
    if name == "report_text":
        pytest.importorskip("plotly", reason="reports need plotly: pip install plotly")
    recorded, now = read(GOLDEN / f"{name}.json"), json.loads(json.dumps(RUNS[name]()))
    found = list((differences if SAME_KIND else loose_differences)(recorded, now))
    assert not found, f"{name}: {report(found)}"


def test_every_trace_has_its_run() -> None:
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(RUNS)


def test_every_method_has_a_run() -> None:
    """All methods that `quadrat methods` lists were traced."""

    def methods(part: object) -> set[str]:
        if not isinstance(part, dict):
            return set()
        own = {str(part["method"])} if "method" in part else set()
        return own.union(*(methods(entry) for entry in part.values()))

    traced = set().union(*(methods(read(GOLDEN / f"{name}.json")["settled"]) for name in RUNS))
    listed = {one["name"] for one in json.loads(command("methods", "--json"))}
    assert listed <= traced, f"no run of {', '.join(sorted(listed - traced))}"


def test_the_last_bit_counts() -> None:
    recorded = read(GOLDEN / "auto_continuous.json")
    changed = json.loads(json.dumps(recorded))
    place = changed["computed"]["suggestions"][-1]["params"]
    before = float.fromhex(place["x"])
    place["x"] = (before * (1 + 2**-52)).hex()
    [(path, one, other)] = differences(recorded, changed)
    assert path == f"computed.suggestions[{len(changed['computed']['suggestions']) - 1}].params.x"
    assert float.fromhex(one) == before != float.fromhex(other)
    assert "1 of numbers or structure, 0 of texts alone" in report([(path, one, other)])
    assert not list(loose_differences(recorded, changed)), "elsewhere it may differ"


def test_elsewhere_a_moved_design_point_counts() -> None:
    recorded = read(GOLDEN / "auto_continuous.json")
    changed = json.loads(json.dumps(recorded))
    place = changed["settled"]["design"][1]["params"]
    place["x"] = (float.fromhex(place["x"]) + 1e-3).hex()
    assert [path for path, _, _ in loose_differences(recorded, changed)] == ["settled.design[1].params.x"]
