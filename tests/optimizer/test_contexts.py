"""Contexts through the optimizer: given with every ask, kept in every trial, asked for by recommendations."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.confidence import Certificate
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import Matern
from quadrat.loop import maximize
from quadrat.methods.base import Ability, Domain, Incumbent, Method, MethodFacts, Observation, Proposal, Search
from quadrat.methods.lp.method import LP0
from quadrat.methods.registry import all_methods
from quadrat.optimizer import Optimizer
from quadrat.randomness import generator
from quadrat.space import Categorical, Context, Float, Int, Space

SPACE = Space(x=Float(0, 1), site=Context(Categorical(["north", "south"])))


@dataclass(frozen=True, kw_only=True)
class Uniform(Method):
    """Asks uniform points of the context and recommends the best told there."""

    facts: ClassVar[MethodFacts] = MethodFacts(
        "Uniform", "none", "nothing", certifies=True, handles=("pending points", "contexts")
    )

    def start(self, domain: Domain, seed: int) -> Search:
        return UniformSearch(domain, seed)


class UniformSearch(Search):
    def __init__(self, domain: Domain, seed: int) -> None:
        self.domain, self.seed = domain, seed
        self.told: list[Observation] = []

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:  # noqa: ARG002
        assert context is not None, "never asked without a context"
        assert np.flatnonzero(~np.isnan(context)).tolist() == list(self.domain.context)
        drawn = generator(self.seed, number).random(len(context))
        return Proposal(np.where(np.isnan(context), drawn, context), "uniform")

    def tell(self, observation: Observation) -> None:
        self.told.append(observation)

    def recommend(self, context: Array | None = None) -> Incumbent:
        assert context is not None, "never asked without a context"
        best = max(self.told, key=lambda told: float(told.values[0]))
        return Incumbent(np.where(np.isnan(context), best.x, context), float(best.values[0]))

    def certificate(self, point: Array) -> Certificate:
        return Certificate(float(point[list(self.domain.context)].sum()), point, (0.0, 1.0), 1.0)


def value_of(params: dict[str, Any]) -> float:
    return float(params["x"]) + (10.0 if params["site"] == "south" else 0.0)


def told_run(n: int = 8, seed: int = 3) -> Optimizer:
    optimizer = Optimizer(SPACE, direction="maximize", method=Uniform(), seed=seed)
    for i in range(n):
        trial = optimizer.ask(context={"site": ("north", "south", "north")[i % 3]})
        optimizer.tell(trial, value_of(trial.params))
    return optimizer


def test_the_search_chooses_what_the_context_leaves_free() -> None:
    optimizer = told_run()
    sites = [record.params["site"] for record in optimizer.trials]
    assert sites == ["north", "south", "north", "north", "south", "north", "north", "south"]
    assert len({record.params["x"] for record in optimizer.trials}) == 8


def test_recommendations_and_best_seen_are_of_the_context() -> None:
    optimizer = told_run()
    north, south = (optimizer.recommend({"site": site}) for site in ("north", "south"))
    assert north.params["site"] == "north"
    assert south.params["site"] == "south"
    of_north = [record for record in optimizer.trials if record.params["site"] == "north"]
    assert north.best_seen.number == max(of_north, key=lambda record: record.values[0]).number
    assert south.best_seen.params["site"] == "south"
    only_north = told_run(1)
    assert only_north.recommend({"site": "south"}).best_seen.params["site"] == "north"


def test_certificates_are_of_the_context_and_a_choice_may_be_one() -> None:
    optimizer = told_run()
    assert optimizer.certificate({"site": "north"}).value == 0.25
    assert optimizer.certificate({"site": "south"}).value == 0.75
    north = {"site": "north"}
    assert optimizer.certificate(north).params == optimizer.recommend(north).params


def test_a_rebuilt_run_goes_on_in_its_contexts(caplog: pytest.LogCaptureFixture) -> None:
    optimizer = told_run()
    state = json.loads(json.dumps(optimizer.state()))
    rebuilt = Optimizer.from_state(SPACE, state, method=Uniform())
    assert "suggests" not in caplog.text
    assert rebuilt.trials == optimizer.trials
    assert rebuilt.ask(context={"site": "south"}) == optimizer.ask(context={"site": "south"})


def test_collisions_and_constraints_leave_the_context_alone() -> None:
    space = Space(n=Int(1, 3), site=Context(Categorical(["a", "b"]))).subject_to(lambda p: p["n"] != 2)
    optimizer = Optimizer(space, direction="minimize", method=Uniform())
    trials = [optimizer.ask(context={"site": "b"}) for _ in range(2)]
    assert [trial.params["site"] for trial in trials] == ["b", "b"]
    assert sorted(trial.params["n"] for trial in trials) == [1, 3]
    nowhere = Space(n=Int(1, 3), site=Context(Categorical(["a", "b"]))).subject_to(lambda p: p["site"] == "a")
    with pytest.raises(InvalidInput, match="expected one in which the space's constraint allows some point"):
        Optimizer(nowhere, direction="minimize", method=Uniform()).ask(context={"site": "b"})


def test_what_is_refused() -> None:
    optimizer = Optimizer(SPACE, direction="maximize", method=Uniform())
    with pytest.raises(InvalidInput, match="expected values of 'site', got none"):
        optimizer.ask()
    with pytest.raises(InvalidInput, match="expected none beside params"):
        optimizer.ask({"x": 0.5, "site": "north"}, context={"site": "north"})
    optimizer.tell(optimizer.ask({"x": 0.5, "site": "north"}), 1.0)
    with pytest.raises(InvalidInput, match="expected values of 'site', got none"):
        optimizer.recommend()
    plain = Optimizer(Space(x=Float(0, 1)), direction="maximize", method="RandomSearch")
    with pytest.raises(InvalidInput, match=r"marked with Context\(...\)"):
        plain.ask(context={"site": "north"})
    with pytest.raises(InvalidInput, match=r"got the contexts 'site'; they are given trial by trial"):
        maximize(value_of, SPACE, n_trials=3, method=Uniform())


@pytest.mark.parametrize("method", ["Auto", "RandomSearch"])
def test_a_method_without_contexts_is_refused_with_those_that_have_them(method: str) -> None:
    with pytest.raises(
        InvalidInput, match=rf"handles contexts \(.*\), got {method}; the space has the contexts 'site'"
    ):
        Optimizer(SPACE, direction="maximize", method=method)


def test_a_sequential_method_takes_one_trial_at_a_time() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Sequential(Uniform):
        facts: ClassVar[MethodFacts] = MethodFacts("Sequential", "none", "nothing", handles=("contexts",))

    optimizer = Optimizer(SPACE, direction="maximize", method=Sequential())
    trial = optimizer.ask(context={"site": "north"})
    with pytest.raises(InvalidInput, match=r"handles pending points \(Auto, .*\), got Sequential; trial 0 is pending"):
        optimizer.ask(context={"site": "north"})
    optimizer.tell(trial, 1.0)
    optimizer.ask(context={"site": "north"})


def test_every_ability_is_one_that_methods_may_name() -> None:
    for method in all_methods().values():
        assert set(method.facts.handles) <= set(get_args(Ability))


def test_a_context_has_the_digits_that_the_cube_keeps(caplog: pytest.LogCaptureFixture) -> None:
    """So a run is replayed in the contexts that it had, and the best seen of a context is found again."""
    space = Space(x=Float(0, 1), t=Context(Float(0.1, 3, log=True)))
    optimizer = Optimizer(space, direction="maximize", method="CGPUCB")
    contexts = [{"t": 0.1 + 2.9 * float(generator(5, i).random())} for i in range(8)]
    for i, context in enumerate(contexts):
        trial = optimizer.ask(context=context)
        optimizer.tell(trial, -abs(trial.params["x"] - 0.3) - 0.1 * i)
    rebuilt = Optimizer.from_state(space, json.loads(json.dumps(optimizer.state())), method="CGPUCB")
    assert "suggests" not in caplog.text
    assert rebuilt.trials == optimizer.trials
    for i, context in enumerate(contexts):
        assert optimizer.recommend(context).best_seen.number == i
    optimizer.add({"x": 0.3, "t": contexts[2]["t"]}, 5.0)  # with all its digits
    assert optimizer.recommend(contexts[2]).best_seen.value == 5.0


def test_no_curve_over_contexts() -> None:
    space = Space(x=Float(0, 1), t=Context(Float(0, 1)))
    method = LP0(kernel=Matern(2.5, 0.5), norm_bound=2.0, noise=0.1, budget=10)
    optimizer = Optimizer(space, direction="maximize", method=method)
    optimizer.tell(optimizer.ask(context={"t": 0.5}), 0.1)
    with pytest.raises(NotAvailable, match="expected a space without contexts"):
        optimizer.certificate_curve([1.0, 2.0])
