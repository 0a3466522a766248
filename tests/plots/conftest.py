"""Small runs that figures are drawn from."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import optuna
import pytest

from quadrat.kernels import Matern
from quadrat.loop import Result, minimize
from quadrat.methods import LPGPUCB, MultiScaleLevelSet
from quadrat.optimizer import FAILED, Optimizer
from quadrat.plots import RunView
from quadrat.space import Categorical, Float, Int, Space

PLANE = Space(x=Float(0, 2), rate=Float(1e-3, 1, log=True))
MIXED = Space.from_dict(
    {
        "lr": Float(1e-5, 1, log=True),
        "kind": Categorical(["tree", "<b>line</b>", None]),
        "depth": Int(1, 9, when={"kind": "tree"}),
        "n<1>": Int(1, 3),
        "drop": Float(0, 0.9, step=0.3),
    }
)


def words_of(figure: Any) -> str:
    """The title and what is said below it, without tags."""
    return re.sub(r"<[^>]*>", "", figure.layout.title.text.replace("<br>", " "))


def certified(n: int = 16, *, space: Space = PLANE, direction: str = "minimize") -> Optimizer:
    """A run of LP-GP-UCB on a parabola with a little noise."""
    method = LPGPUCB(kernel=Matern(2.5, 0.5), norm_bound=2.0, noise=0.05, budget=24)
    optimizer = Optimizer(space, direction=direction, method=method, seed=1)
    sign = 1.0 if direction == "minimize" else -1.0
    rng = np.random.default_rng(0)
    for _ in range(n):
        trial = optimizer.ask()
        u = space.to_unit(trial.params)
        optimizer.tell(trial, sign * float(((u - 0.3) ** 2).sum() + 0.05 * rng.standard_normal()))
    return optimizer


def mixed(n: int = 24, method: str = "Auto") -> Optimizer:
    """A run with a log, a conditional, an integer, a stepped and a categorical parameter; two trials failed."""
    optimizer = Optimizer(MIXED, direction="maximize", method=method, seed=0)
    rng = np.random.default_rng(0)
    params = MIXED.sample(n, rng)
    for i, one in enumerate(params):
        value: Any = FAILED if i in (3, 9) else -((np.log10(one["lr"]) + 3) ** 2) - (one["kind"] is None)
        optimizer.add(one, value)
    return optimizer


@pytest.fixture(scope="session")
def certified_view() -> RunView:
    return RunView.of(certified())


@pytest.fixture(scope="session")
def mixed_view() -> RunView:
    return RunView.of(mixed())


@pytest.fixture(scope="session")
def result() -> Result:
    return minimize(lambda p: (p["x"] - 1.0) ** 2 + p["rate"], PLANE, n_trials=9, method="SobolSearch", seed=3)


@pytest.fixture(scope="session")
def level_view() -> RunView:
    space = Space(x=Float(0, 2), y=Float(1, 100, log=True))
    method = MultiScaleLevelSet(kernel=Matern(2.5, 0.5), norm_bound=2.0, noise=0.05, threshold=0.2, accuracy=0.1)
    optimizer = Optimizer(space, direction="minimize", method=method, seed=0)
    for _ in range(30):
        trial = optimizer.ask()
        optimizer.tell(trial, float(2 * ((space.to_unit(trial.params) - 0.4) ** 2).sum() - 0.3))
    return RunView.of(optimizer)


@pytest.fixture(scope="session")
def study() -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    found = optuna.create_study(
        direction="minimize", sampler=optuna.samplers.RandomSampler(seed=0), study_name="my <study>"
    )

    def objective(trial: optuna.Trial) -> float:
        kind = trial.suggest_categorical("kind", ["b", "a", None])
        n = trial.suggest_int("n", 10, 50, step=10)
        rate = trial.suggest_float("rate", 1e-6, 1, log=True)
        if trial.number == 2:
            raise ValueError("diverged")
        return float((np.log10(rate) + 2) ** 2 + n / 50 + (kind == "a"))

    found.optimize(objective, n_trials=16, catch=(ValueError,))
    return found
