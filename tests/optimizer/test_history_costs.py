"""Costs of trials at different fidelities, through the optimizer and `maximize`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from quadrat.errors import InvalidInput
from quadrat.loop import maximize
from quadrat.methods.base import Domain, FidelityAxis, MethodFacts
from quadrat.methods.design import DesignSearch, RandomSearch
from quadrat.optimizer import FAILED, Optimizer
from quadrat.space import Fidelity, Float, Space

SPACE = Space(epochs=Fidelity([5, 100], cost=[1, 20]), x=Float(0, 1))


@dataclass(frozen=True, kw_only=True)
class AnyLevel(RandomSearch):
    """Random search that says that it handles fidelities."""

    facts: ClassVar[MethodFacts] = MethodFacts("AnyLevel", "none", "nothing", handles=("pending points", "fidelities"))

    def start(self, domain: Domain, seed: int) -> DesignSearch:
        assert domain.fidelity == FidelityAxis(0, (0.25, 0.75), (1.0, 20.0))
        return super().start(domain, seed)


def test_costs_add_up_from_the_moment_a_trial_begins() -> None:
    optimizer = Optimizer(SPACE, direction="maximize", method=AnyLevel())
    optimizer.ask({"epochs": 100, "x": 0.1})
    assert optimizer.cost == 20
    optimizer.tell(0, FAILED)
    optimizer.add({"epochs": 5, "x": 0.2}, 1.0)
    optimizer.add_trials([{"epochs": 5, "x": 0.3}, {"epochs": 100, "x": 0.3}], [1.0, 2.0])
    assert optimizer.cost == 42
    rebuilt = Optimizer.from_state(SPACE, optimizer.state(), method=AnyLevel())
    assert rebuilt.cost == 42
    plain = Optimizer(Space(x=Float(0, 1)), direction="maximize", method="RandomSearch")
    plain.ask()
    assert plain.cost == 1


def test_the_best_seen_is_at_the_fidelity_that_counts() -> None:
    optimizer = Optimizer(SPACE, direction="maximize", method=AnyLevel())
    optimizer.add({"epochs": 5, "x": 0.2}, 10.0)
    assert optimizer.best_seen is not None
    assert optimizer.best_seen.value == 10.0  # nothing else was seen yet
    optimizer.add({"epochs": 100, "x": 0.4}, 2.0)
    optimizer.add({"epochs": 100, "x": 0.5}, 3.0)
    assert optimizer.best_seen.value == 3.0


def test_a_budget_of_cost() -> None:
    spent: list[float] = []

    def train(params: dict[str, Any]) -> float:
        spent.append({5: 1.0, 100: 20.0}[params["epochs"]])
        return float(params["x"])

    result = maximize(train, SPACE, max_cost=100, method=AnyLevel())
    assert 100 <= sum(spent) < 120
    assert sum(spent[:-1]) < 100
    assert result.message == f"a cost of {sum(spent):g} is spent, after {len(spent)} trials"
    assert maximize(train, SPACE, max_cost=1e6, n_trials=3, method=AnyLevel()).n_trials == 3
    assert (
        maximize(
            train, Space(x=Float(0, 1), epochs=Fidelity([5, 100], cost=[1, 2])), max_cost=1, method=Free()
        ).n_trials
        == 1
    )


@dataclass(frozen=True, kw_only=True)
class Free(RandomSearch):
    """The same for any levels."""

    facts: ClassVar[MethodFacts] = AnyLevel.facts


def test_what_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"handles fidelities \(.*\), got Auto; the space has the fidelity 'epochs'"):
        Optimizer(SPACE, direction="maximize")
    with pytest.raises(InvalidInput, match=r"expected a number of trials, or max_cost=..., got neither"):
        maximize(lambda _: 1.0, Space(x=Float(0, 1)))
    with pytest.raises(InvalidInput, match="max_cost"):
        maximize(lambda _: 1.0, Space(x=Float(0, 1)), max_cost=0)
