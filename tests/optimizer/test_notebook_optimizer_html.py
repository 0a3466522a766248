"""An optimizer in a notebook: what its repr says and more, without fitting anything."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from quadrat.methods import MFGPUCB
from quadrat.optimizer import FAILED, Measured, Optimizer
from quadrat.space import Fidelity, Float, Space

EVIL = "<script>alert(1)</script>"


def pairs_of(run: Optimizer) -> dict[str, str]:
    first = next(ET.fromstring(run._repr_html_()).iter("table"))  # noqa: S314  # our own text
    return {"".join(label.itertext()): "".join(text.itertext()) for label, text in first.iter("tr")}


def test_before_anything_was_told() -> None:
    run = Optimizer(Space(x=Float(0, 1)), direction="minimize", method="RandomSearch")
    html = run._repr_html_()
    assert "<b>Optimizer: minimize with RandomSearch</b>" in html
    assert pairs_of(run) == {"method": run.method.facts.title, "trials": "0 complete, 0 failed, 0 pending"}
    assert "<svg" not in html
    assert "0.0 to 1.0" in html


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_what_was_told(direction: str) -> None:
    run = Optimizer(Space.from_dict({EVIL: Float(0, 1)}), direction=direction, method="RandomSearch")
    outcomes: list[Any] = [3.0, FAILED, 5.0, 1 / 3]
    for place, outcome in enumerate(outcomes):
        run.add({EVIL: place / 7}, outcome)
    run.ask()
    said = pairs_of(run)
    assert said["trials"] == "3 complete, 1 failed, 1 pending"
    seen = f"5 in trial 2: {EVIL}=0.285714" if direction == "maximize" else f"0.333333 in trial 3: {EVIL}=0.428571"
    assert said["best seen"] == seen
    assert said["progress"] == f"best seen, 3 to {'5' if direction == 'maximize' else '0.333333'}"
    html = run._repr_html_()
    assert html.count("<svg") == 1
    assert "<script" not in html


def test_it_changes_nothing_and_asks_nothing_of_the_method(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Optimizer(Space(x=Float(0, 1)), direction="minimize")
    for place in range(8):
        run.add({"x": place / 8}, (place - 3) ** 2)
    state = run.state()
    monkeypatch.setattr(Optimizer, "recommend", lambda *_: pytest.fail("a repr fits no model"))
    run._repr_html_()
    assert run.state() == state


def test_constraints_that_held_nowhere_are_said() -> None:
    run = Optimizer(Space(x=Float(0, 1)), direction="minimize")
    run.add({"x": 0.5}, Measured(1.0, {"c": 2.0}))
    assert pairs_of(run)["best seen"].endswith("(no trial met all constraints; this one violated them least)")


def test_only_the_fidelity_that_counts_is_in_the_curve() -> None:
    space = Space(x=Float(0, 1), epochs=Fidelity([1, 10], cost=[1, 10]))
    run = Optimizer(space, direction="minimize", method=MFGPUCB())
    for x, epochs, value in [(0.1, 1, -9.0), (0.2, 10, 5.0), (0.3, 1, -8.0), (0.4, 10, 4.0)]:
        run.add({"x": x, "epochs": epochs}, value)
    said = pairs_of(run)
    assert said["progress"] == "best seen, 5 to 4"
    assert said["best seen"].startswith("4 in trial 3")
    assert said["cost"] == "22"


def test_five_thousand_trials_stay_small() -> None:
    run = Optimizer(Space(x=Float(0, 1)), direction="minimize", method="RandomSearch")
    run.add_trials([{"x": i / 5000} for i in range(5000)], [1.0 / (i + 1) for i in range(5000)])
    html = run._repr_html_()
    assert "best seen, 1 to 0.0002 (log scale)" in html
    assert len(re.findall("H", html)) <= 100
    assert len(html) < 10_000
