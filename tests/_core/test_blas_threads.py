"""One BLAS thread and NumPy's usual error states while Quadrat computes, and what was set before afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import optuna
import pytest
from threadpoolctl import ThreadpoolController

import quadrat as qd
from quadrat import Categorical, Float, Int, Optimizer, Space
from quadrat._core.blas_threads import _blas, with_own_numerics
from quadrat.methods.auto import method as auto


def threads() -> list[int]:
    return [library.num_threads for library in _blas().lib_controllers]


@pytest.fixture
def two_threads() -> Iterator[None]:
    with ThreadpoolController().limit(limits=2):
        yield


def test_the_libraries_of_numpy_and_scipy_are_known() -> None:
    assert len(threads()) >= 1
    assert all(library.user_api == "blas" for library in _blas().lib_controllers)


@pytest.mark.usefixtures("two_threads")
def test_one_thread_within_and_as_many_as_before_afterwards() -> None:
    if set(threads()) != {2}:
        pytest.skip("this BLAS does not take a number of threads")
    assert set(with_own_numerics(threads)()) == {1}
    assert set(threads()) == {2}

    @with_own_numerics
    def fails() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert set(threads()) == {2}
    assert with_own_numerics(with_own_numerics(threads))() == [1] * len(threads())


@pytest.mark.usefixtures("two_threads")
def test_an_optimizer_computes_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[int] = set()

    def spied(name: str) -> None:
        original = getattr(auto.AutoSearch, name)

        def wrapped(*args: object) -> object:
            seen.update(threads())
            return original(*args)

        monkeypatch.setattr(auto.AutoSearch, name, wrapped)

    for name in ("ask", "tell", "tell_many", "recommend", "rebuild"):
        spied(name)
    optimizer = Optimizer(Space(x=Float(0, 1)), direction="maximize")
    optimizer.add_trials([{"x": 0.1}, {"x": 0.6}], [0.0, 1.0])
    optimizer.tell(optimizer.ask(), 0.5)
    optimizer.recommend()
    Optimizer.from_state(optimizer.space, optimizer.state())
    assert seen == {1}
    assert set(threads()) == {2}


SPACE = Space(x=Float(-1, 1), kind=Categorical(["a", "b"]), n=Int(1, 9))


def loss(params: dict[str, Any]) -> float:
    return float(params["x"] ** 2 + (params["kind"] == "a") + params["n"])


@pytest.mark.parametrize("method", ["Auto", "ExpectedImprovement", "Heuristic"])
def test_what_the_user_set_for_numpy_does_not_reach_the_package(method: str) -> None:
    def run() -> tuple[Optimizer, dict[str, Any]]:
        optimizer = Optimizer(SPACE, direction="minimize", method=method, seed=0)
        for _ in range(12):
            trial = optimizer.ask()
            optimizer.tell(trial, loss(trial.params))
        return optimizer, optimizer.recommend().params

    _, expected = run()
    with np.errstate(all="raise"):
        optimizer, found = run()
        optimizer.predict([found])
        optimizer.explain()
        again = Optimizer.from_state(SPACE, optimizer.state(), method=method)
        assert again.recommend().params == found == expected


def test_nor_a_study() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=qd.QuadratSampler(search_space=SPACE, seed=0))
    seen = []

    def objective(trial: optuna.Trial) -> float:
        seen.append(np.geterr()["under"])  # what the user set applies to the user's code
        return loss(qd.suggest(trial, SPACE))

    with np.errstate(all="raise"):
        study.optimize(objective, n_trials=12)
        qd.recommend(study)
    assert seen == ["raise"] * 12
