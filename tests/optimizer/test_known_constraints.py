"""What a space's own constraint forbids is neither asked nor recommended, nor is a certificate about it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from quadrat.kernels import Matern
from quadrat.methods import LP0, LPGPUCB, LevelSet, Method, MultiScaleLevelSet
from quadrat.optimizer import Optimizer
from quadrat.randomness import generator
from quadrat.space import Context, Float, Space

ASSUMED: dict[str, Any] = {"kernel": Matern(2.5, 1.0), "norm_bound": 4.0, "noise": 0.01}


def allowed(params: Mapping[str, Any]) -> bool:
    """Not where the best values are."""
    return not 0.45 < params["x"] < 0.65


def told(method: Method, space: Space) -> Optimizer:
    optimizer = Optimizer(space, direction="maximize", method=method)
    for i in range(30):
        trial = optimizer.ask(context={"z": i % 3 / 2} if space.contexts else None)
        assert allowed(trial.params)
        noise = 0.01 * generator(0, i).normal()
        optimizer.tell(trial, math.exp(-0.5 * ((trial.params["x"] - 0.55) / 0.3) ** 2) + noise)
    return optimizer


@pytest.mark.parametrize(
    "method",
    [
        LP0(**ASSUMED, budget=30),
        LPGPUCB(**ASSUMED, budget=30),
        LevelSet(**ASSUMED, threshold=0.5),
        MultiScaleLevelSet(**ASSUMED, threshold=0.5),
    ],
    ids=lambda method: type(method).__name__,
)
def test_certified_methods(method: Method) -> None:
    optimizer = told(method, Space(x=Float(0, 1)).subject_to(allowed))
    assert allowed(optimizer.recommend().params)
    report = optimizer.certificate()
    assert report.params is None or allowed(report.params)


def test_in_a_context() -> None:
    optimizer = told(LP0(**ASSUMED, budget=30), Space(x=Float(0, 1), z=Context(Float(0, 1))).subject_to(allowed))
    for z in (0.0, 0.3):
        assert allowed(optimizer.recommend({"z": z}).params)
        report = optimizer.certificate({"z": z})
        assert report.params is not None
        assert allowed(report.params)
