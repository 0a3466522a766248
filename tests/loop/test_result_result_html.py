"""A result in a notebook says what its repr says, and draws progress."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from quadrat.loop import Result, maximize, minimize
from quadrat.methods import MFGPUCB
from quadrat.optimizer import FAILED, Optimizer
from quadrat.space import Categorical, Fidelity, Float, Space

EVIL = "<script>alert(1)</script>"


def pairs_of(result: Result) -> list[tuple[str, str]]:
    found = ET.fromstring(result._repr_html_())  # noqa: S314  # our own text
    return [("".join(label.itertext()), "".join(text.itertext())) for label, text in found.iter("tr")]


@pytest.mark.parametrize("method", ["RandomSearch", None])
def test_it_says_what_the_repr_says(method: str | None) -> None:
    result = minimize(lambda p: (p["x"] - 0.3) ** 2, Space(x=Float(0, 1)), n_trials=8, method=method, seed=1)
    lines = repr(result).splitlines()
    assert f"<b>{lines[0]}</b>" in result._repr_html_()
    *said, progress = pairs_of(result)
    assert [f"{label} {text}".split() for label, text in said] == [line.split() for line in lines[1:]]
    first = (result.trials[0].params["x"] - 0.3) ** 2
    assert progress[1].startswith(f"best seen, {first:.6g} to {result.best_seen.value:.6g}")


def test_names_values_and_messages_are_text() -> None:
    space = Space.from_dict({EVIL: Categorical([EVIL, "&"]), "x": Float(0, 1)})
    outcomes = iter([1.0, FAILED, 2.0])
    result = maximize(lambda _: next(outcomes), space, n_trials=3, method="RandomSearch")
    html = result._repr_html_()
    assert "<script" not in html
    assert EVIL in dict(pairs_of(result))["params"]


def test_values_that_are_not_compared_make_no_curve() -> None:
    space = Space(x=Float(0, 1), epochs=Fidelity([1, 10], cost=[1, 10]))
    run = Optimizer(space, direction="minimize", method=MFGPUCB())
    run.add_trials([{"x": x, "epochs": e} for x, e in [(0.1, 1), (0.2, 10), (0.3, 10)]], [-9.0, 5.0, 4.0])
    result = Result.of(run, "enough")
    assert result.best_seen.value == 4.0
    assert "<svg" not in result._repr_html_()
