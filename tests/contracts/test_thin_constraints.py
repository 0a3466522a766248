"""A constraint that hardly any setting meets is refused at every door, before anything is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import optuna
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.integrations import QuadratSampler, QuadratSearchCV, recommend
from quadrat.studies.opening import open_study
from quadrat.studies.recommendation import run_of

REFUSED = r"space: expected a constraint that at least 1 in 1,000 uniform settings meets, got \d+ of 20,000; solve"


def within(slack: float) -> Callable[[Mapping[str, Any]], bool]:
    """The constraint that components sum to one, with so much slack; a state knows it by its name."""

    def sums_to_one(params: Mapping[str, Any]) -> bool:
        return bool(abs(sum(params.values()) - 1) < slack)

    return sums_to_one


THREE = qd.Space(a=qd.Float(0, 1), b=qd.Float(0, 1), c=qd.Float(0, 1))
MIXTURE = THREE.subject_to(within(1e-6))
# Eight of nine components, the ninth is what is left: 1 in 40,320.
SLACK = qd.Space(**{f"x{i}": qd.Float(0, 1) for i in range(8)}).subject_to(lambda p: sum(p.values()) <= 1)


def never(params: Mapping[str, Any]) -> float:
    raise AssertionError(f"evaluated {params}")


def told_study() -> optuna.Study:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(lambda trial: sum(qd.suggest(trial, THREE).values()), n_trials=2)
    return study


def from_state() -> qd.Optimizer:
    earlier = qd.Optimizer(THREE.subject_to(within(0.5)), direction="maximize")
    earlier.tell(earlier.ask(), 1.0)
    return qd.Optimizer.from_state(MIXTURE, earlier.state())


def searched_cv() -> object:
    space = qd.Space(C=qd.Float(1e-2, 1e2, log=True)).subject_to(lambda p: abs(p["C"] - 1) < 1e-6)
    return QuadratSearchCV(SVC(), space, n_iter=3).fit(*load_iris(return_X_y=True))


DOORS: dict[str, Callable[[], object]] = {
    "Optimizer": lambda: qd.Optimizer(MIXTURE, direction="maximize"),
    "Optimizer, nine components": lambda: qd.Optimizer(SLACK, direction="minimize"),
    "from_state": from_state,
    "maximize": lambda: qd.maximize(never, MIXTURE, n_trials=20),
    "minimize": lambda: qd.minimize(never, SLACK, n_trials=20, method="RandomSearch"),
    "QuadratSampler": lambda: QuadratSampler(search_space=MIXTURE),
    "recommend": lambda: recommend(told_study(), search_space=MIXTURE),
    "run_of": lambda: run_of(told_study(), search_space=MIXTURE, method="RandomSearch"),
    "QuadratSearchCV": searched_cv,
}


@pytest.mark.parametrize("door", DOORS)
def test_it_is_refused(door: str) -> None:
    with pytest.raises(InvalidInput, match=REFUSED):
        DOORS[door]()


def test_nothing_is_written_to_a_storage() -> None:
    storage = optuna.storages.InMemoryStorage()
    with pytest.raises(InvalidInput, match=REFUSED):
        open_study(storage, "new", space=MIXTURE, direction=None, method=None, seed=None)
    assert storage.get_all_studies() == []


@pytest.mark.parametrize("seed", range(6))
def test_the_refusal_does_not_depend_on_the_seed(seed: int) -> None:
    with pytest.raises(InvalidInput, match=r"got 0 of 20,000"):
        qd.Optimizer(SLACK, direction="maximize", seed=seed)


def test_what_the_refusal_advises_works() -> None:
    """The mixture of the first sentence, with c = 1 - a - b: the best is 0, at a = 0.2, b = 0.3."""

    def objective(params: Mapping[str, Any]) -> float:
        a, b = params["a"], params["b"]
        c = 1 - a - b
        return -float((a - 0.2) ** 2 + (b - 0.3) ** 2 + (c - 0.5) ** 2)

    space = qd.Space(a=qd.Float(0, 1), b=qd.Float(0, 1)).subject_to(lambda p: p["a"] + p["b"] <= 1)
    result = qd.maximize(objective, space, n_trials=20, seed=0)
    assert objective(result.params) > -0.005
    assert result.estimated_gain_upper is not None


def test_contexts_count_like_other_parameters() -> None:
    """What is feasible in one context of two is half of all; a context without a feasible setting is refused."""
    space = qd.Space(n=qd.Int(1, 3), site=qd.Context(qd.Categorical(["a", "b"])))
    optimizer = qd.Optimizer(space.subject_to(lambda p: p["site"] == "a"), direction="maximize", method="CGPUCB")
    optimizer.tell(optimizer.ask(context={"site": "a"}), 1.0)
    assert optimizer.recommend({"site": "a"}).params["site"] == "a"
    for refused in (lambda: optimizer.ask(context={"site": "b"}), lambda: optimizer.recommend({"site": "b"})):
        with pytest.raises(InvalidInput, match="in which the space's constraint allows some point, found none"):
            refused()
