"""Small runs that reports are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import quadrat as qd
from quadrat.loop import Result

SCRIPT = "</script><script>alert(1)</script>"
IMAGE = "</script><img src=x onerror=alert(2)>"


def fitted(n: int = 14) -> Result:
    """A run of Auto over a mixed space, with names and choices that try to be scripts; one trial fails."""
    space = qd.Space.from_dict(
        {SCRIPT: qd.Float(1e-4, 1, log=True), "depth": qd.Int(1, 9), "kind": qd.Categorical(["adam", IMAGE])}
    )
    rng = np.random.default_rng(0)
    calls = iter(range(n))

    def value(params: dict[str, Any]) -> float:
        if next(calls) == 2:
            raise ValueError(IMAGE)
        bowl: float = (
            (math.log10(params[SCRIPT]) + 2) ** 2 + (params["depth"] - 4) ** 2 / 10 + (params["kind"] == IMAGE)
        )
        return -bowl + 0.05 * float(rng.standard_normal())

    return qd.maximize(value, space, n_trials=n, seed=0)


def certified(n: int = 16) -> Result:
    """A run of LP-GP-UCB."""
    method = qd.LPGPUCB(kernel=qd.Matern(2.5, 0.5), norm_bound=1.0, noise=0.05, budget=n, degree=0)
    rng = np.random.default_rng(0)
    space = qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1))
    return qd.minimize(
        lambda params: 0.3 * math.cos(3 * params["x"]) * params["y"] + 0.05 * float(rng.standard_normal()),
        space,
        n_trials=n,
        method=method,
        seed=0,
    )


def long(n: int = 5000) -> qd.Optimizer:
    """An optimizer that was told thousands of results."""
    space = qd.Space(
        lr=qd.Float(1e-5, 1, log=True), depth=qd.Int(1, 12), kind=qd.Categorical(["a", "b"]), x=qd.Float(-1, 1)
    )
    rng = np.random.default_rng(0)
    params = space.sample(n, rng)
    values = [
        -((math.log10(one["lr"]) + 2) ** 2) - one["x"] ** 2 + 0.2 * float(rng.standard_normal()) for one in params
    ]
    optimizer = qd.Optimizer(space, direction="maximize", seed=0)
    optimizer.add_trials(params, [math.nan if i % 50 == 0 else value for i, value in enumerate(values)])
    return optimizer


@pytest.fixture(scope="session")
def fitted_run() -> Result:
    return fitted()


@pytest.fixture(scope="session")
def certified_run() -> Result:
    return certified()


@pytest.fixture(scope="session")
def long_run() -> qd.Optimizer:
    return long()
