"""Level sets in the user's parameters and direction."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import Matern
from quadrat.loop import maximize
from quadrat.methods.base import (
    ABOVE,
    BELOW,
    UNDECIDED,
    Classification,
    Domain,
    Incumbent,
    Method,
    MethodFacts,
    Observation,
    Proposal,
    Search,
)
from quadrat.methods.level_sets.method import LevelSet
from quadrat.optimizer import Optimizer
from quadrat.optimizer.level_sets import Label, LevelSetReport
from quadrat.space import Float, Int, Space

SPACE = Space(x=Float(0, 2), y=Float(1, 100, log=True))


@dataclass(frozen=True, kw_only=True)
class Halves(Method):
    """Says that the left half is above, the lower right quarter below, and nothing of the rest."""

    facts: ClassVar[MethodFacts] = MethodFacts(
        "Halves", "none", "nothing", certifies=True, handles=("pending points", "level sets")
    )
    threshold: float
    reason: str | None = None

    def start(self, domain: Domain, seed: int) -> Search:  # noqa: ARG002
        return HalvesSearch(self)

    def turned(self) -> Method:
        return replace(self, threshold=-self.threshold)


class HalvesSearch(Search):
    def __init__(self, method: Halves) -> None:
        self.method = method

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:  # noqa: ARG002
        return Proposal(np.full(2, 0.25), "scripted")

    def tell(self, observation: Observation) -> None: ...

    def recommend(self, context: Array | None = None) -> Incumbent:  # noqa: ARG002
        return Incumbent(np.full(2, 0.25), 1.0)

    def level_set(self) -> Classification:
        threshold = self.method.threshold
        return Classification(
            np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.5]]),
            np.array([[0.5, 1.0], [1.0, 0.5], [1.0, 1.0]]),
            np.array([ABOVE, BELOW, UNDECIDED]),
            np.array([threshold + 1, threshold - 3, threshold - 1]),
            np.array([threshold + 2, threshold - 2, threshold + 1]),
            threshold, 0.1, 0.05, self.method.reason,
        )  # fmt: skip


def report(direction: str = "maximize", reason: str | None = None) -> LevelSetReport:
    optimizer = Optimizer(SPACE, direction=direction, method=Halves(threshold=0.5, reason=reason))
    optimizer.tell(optimizer.ask(), 1.0)
    return optimizer.level_set()


def test_cells_are_ranges_of_parameters() -> None:
    found = report()
    assert [cell.label for cell in found.cells] == ["above", "below", "undecided"]
    assert found.cells[1].ranges == {"x": (1.0, 2.0), "y": (1.0, 10.0)}
    assert found.cells[0].interval == (1.5, 2.5)
    labels: tuple[Label, ...] = ("above", "below", "undecided")
    assert [found.volume(label) for label in labels] == [0.5, 0.25, 0.25]
    assert found.threshold == 0.5
    assert found.reason is None
    assert "50 % above, 25 % below, 25 % undecided (3 cells); all labels are right with probability 0.95" in repr(found)


def test_minimising_turns_everything_but_the_labels_meaning() -> None:
    """The search sees -f and -threshold: where that is above, the user's objective is below."""
    found = report("minimize")
    assert found.threshold == 0.5
    assert [cell.label for cell in found.cells] == ["below", "above", "undecided"]
    assert found.cells[0].interval == (-1.5, -0.5)
    assert found.cells[1].interval == (2.5, 3.5)


def test_which_cell_holds_parameters() -> None:
    found = report()
    assert found.label_at({"x": 0.0, "y": 100.0}) == "above"
    assert found.label_at({"x": 1.0, "y": 9.99}) == "below"
    assert found.label_at({"x": 1.0, "y": 10.0}) == "undecided"
    assert found.label_at({"x": 2.0, "y": 100.0}) == "undecided"
    with pytest.raises(InvalidInput, match=r"expected a number from 0.0 to 2.0"):
        found.label_at({"x": 3.0, "y": 1.0})


def test_exports(tmp_path: Path) -> None:
    found = report(reason="the length-scale was learned")
    found.to_csv(tmp_path / "cells.csv")
    found.to_json(tmp_path / "cells.json")
    rows = list(csv.DictReader((tmp_path / "cells.csv").read_text().splitlines()))
    assert rows[1]["x_from"] == "1.0"
    assert rows[1]["y_to"] == "10.0"
    assert [row["label"] for row in rows] == ["above", "below", "undecided"]
    assert sum(float(row["volume"]) for row in rows) == 1.0
    data = json.loads((tmp_path / "cells.json").read_text())
    assert data["certified"] is False
    assert data["volumes"] == {"above": 0.5, "below": 0.25, "undecided": 0.25}
    assert data["cells"][0]["ranges"]["y"] == [1.0, 100.0]
    assert "nothing is guaranteed: the length-scale was learned" in repr(found)


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"handles level sets \(.*\), got RandomSearch"):
        Optimizer(SPACE, direction="maximize", method="RandomSearch").level_set()
    whole = Space(n=Int(1, 3), x=Float(0, 1))
    with pytest.raises(NotAvailable, match="expected a space of Floats without steps or conditions, got n"):
        Optimizer(whole, direction="maximize", method=Halves(threshold=0.5)).level_set()


def test_recommendations_of_level_set_methods_are_certified() -> None:
    """They certify no remaining regret, but the interval of the recommended point."""
    method = LevelSet(threshold=0.2, kernel=Matern(2.5, 0.5), norm_bound=1.0, noise=0.05)
    space = Space(x=Float(0, 1))
    optimizer = Optimizer(space, direction="maximize", method=method)
    for _ in range(8):
        trial = optimizer.ask()
        optimizer.tell(trial, 0.5 * trial.params["x"])
    advice = optimizer.recommend()
    assert advice.certified_interval is not None
    assert optimizer.certificate().value is None
    assert "level set" in str(optimizer.certificate().reason)
    optimizer.add({"x": 0.5}, 0.25, sem=0.1)  # a standard error is an estimate
    estimated = optimizer.recommend()
    assert estimated.certified_interval is None
    assert "guaranteed" not in estimated.why
    with pytest.raises(InvalidInput, match="stop_at_certificate: expected a method that certifies"):
        maximize(lambda _: 1.0, space, n_trials=3, method=method, stop_at_certificate=1.0)
