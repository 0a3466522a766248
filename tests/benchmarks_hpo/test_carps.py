"""CARP-S: its spaces as ours, costs turned, rows that become a page; its own packages are not needed for that."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from hpo import carps_run
from regret.roster import OURS
from regret.rows import Row

from quadrat.space import Float, Space


@dataclass
class UniformFloatHyperparameter:
    lower: float
    upper: float
    log: bool = False


@dataclass
class CategoricalHyperparameter:
    choices: tuple[str, ...] = ("a", "b")


def test_a_space_of_floats_is_read_and_another_is_refused() -> None:
    given: dict[str, Any] = {"x0": UniformFloatHyperparameter(-5, 5), "rate": UniformFloatHyperparameter(0.1, 1, True)}
    assert carps_run.space_of(given) == Space(x0=Float(-5, 5), rate=Float(0.1, 1, log=True))
    with pytest.raises(ValueError, match="expected uniform floats, got CategoricalHyperparameter"):
        carps_run.space_of({**given, "kind": CategoricalHyperparameter()})


def test_costs_are_turned_and_have_no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"carps": SimpleNamespace(), "carps.utils": SimpleNamespace()}
    trials = SimpleNamespace(TrialInfo=lambda config: config)
    config_space = SimpleNamespace(Configuration=lambda _, values: values)
    for name, module in {**names, "carps.utils.trials": trials, "ConfigSpace": config_space}.items():
        monkeypatch.setitem(__import__("sys").modules, name, module)
    objective = SimpleNamespace(configspace=None, evaluate=lambda params: SimpleNamespace(cost=params["x"] ** 2 + 3))
    task = carps_run.CarpsTask(objective, Space(x=Float(-5, 5)), -3.0)
    assert task.value({"x": 2.0}) == task.observe({"x": 2.0}, 7) == -7.0
    assert task.best - task.value({"x": 0.0}) == 0.0


def test_rows_become_a_page_with_medians_and_failures() -> None:
    rows: list[Row] = []
    for method, regret in ((OURS, 1e-9), ("random", 0.5)):
        for seed in (0, 2, 4):
            cell = {"method": method, "problem": "test/bbob/2/6/1", "seed": seed, "n": 77}
            rows.append(
                {**cell, "best": 1.0, "regret": dict.fromkeys(("recommended", "evaluated", "observed"), regret)}
            )
    rows.append({"method": "optuna_tpe", "problem": "test/bbob/2/6/1", "seed": 0, "n": 77, "error": "none"})
    text = carps_run.page(rows)
    assert "| Quadrat | 1.00 (1.00 to 1.00) | 0.00 (0.00 to 0.00) |  |" in text
    assert "| Quadrat | 3 | **0.001** |" in text, "less than the least counts as it"
    assert "| Optuna TPE (group) | test/bbob/2/6/1 | 1 | none |" in text
    assert all(entry.environment == ".venv-carps" for entry in carps_run.METHODS.values())
