"""A robust recommendation from the results of any run, in the user's parameters and direction."""

from __future__ import annotations

import math

import pytest

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.optimizer import FAILED, Optimizer
from quadrat.space import Categorical, Float, Int, Space

SPACE = Space(x=Float(0, 10), kind=Categorical(["a", "b"]))


def two_peaks(x: float) -> float:
    """A narrow peak of 1 at 2 and a broad one of .7 at 7."""
    return max(math.exp(-0.5 * ((x - 2) / 0.3) ** 2), 0.7 * math.exp(-0.5 * ((x - 7) / 1.5) ** 2))


def told(direction: str) -> Optimizer:
    sign = 1 if direction == "maximize" else -1
    optimizer = Optimizer(SPACE, direction=direction, method="RandomSearch")
    for i in range(41):
        optimizer.add({"x": i / 4, "kind": "b"}, sign * two_peaks(i / 4))
    optimizer.add({"x": 5.0, "kind": "a"}, -sign * 1.0)
    return optimizer


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_the_broad_peak_is_recommended_with_its_worst_case(direction: str) -> None:
    optimizer, sign = told(direction), 1 if direction == "maximize" else -1
    assert optimizer.recommend().params["x"] == 2.0
    robust = optimizer.recommend(robust_to=0.1)
    assert robust.params["x"] == pytest.approx(7, abs=0.5)
    assert robust.worst_case is not None
    true = sign * two_peaks(robust.params["x"] + 1.0)
    low, high = robust.worst_case.credible_interval
    assert low <= robust.worst_case.value <= high
    assert robust.worst_case.value == pytest.approx(true, abs=0.1)
    assert abs(robust.worst_case.params["x"] - robust.params["x"]) <= 1.0 + 1e-9
    assert robust.worst_case.params["kind"] == robust.params["kind"]  # a choice is not missed
    assert robust.certified_interval is None
    assert optimizer.recommend(robust_to={"x": 0.1}) == robust
    assert optimizer.recommend().worst_case is None


def test_minimising_is_maximising_the_negative() -> None:
    high, low = (told(direction).recommend(robust_to=0.1) for direction in ("maximize", "minimize"))
    assert high.params == low.params
    assert high.worst_case is not None
    assert low.worst_case is not None
    assert low.worst_case.value == -high.worst_case.value


def test_what_is_refused() -> None:
    optimizer = told("maximize")
    with pytest.raises(InvalidInput, match="expected names of x, which vary freely, got 'kind'"):
        optimizer.recommend(robust_to={"kind": 0.1})
    for wrong in (0, -0.1, 0.6, "much"):
        with pytest.raises(InvalidInput, match="robust_to"):
            optimizer.recommend(robust_to=wrong)  # type: ignore[arg-type]
    with pytest.raises(NotAvailable, match="expected at least one complete trial"):
        Optimizer(SPACE, direction="maximize", method="RandomSearch").recommend(robust_to=0.1)
    whole = Optimizer(Space(n=Int(1, 5)), direction="maximize", method="RandomSearch")
    whole.add({"n": 1}, 1.0)
    with pytest.raises(InvalidInput, match=r"robust_to: expected a space with a Float without steps .* got n"):
        whole.recommend(robust_to=0.1)
    for nothing in ({}, {"x": 0}):
        with pytest.raises(InvalidInput, match="robust_to: expected a share > 0 for at least one of x, got"):
            optimizer.recommend(robust_to=nothing)
    constrained = Optimizer(Space(x=Float(0, 1)), direction="maximize")
    constrained.add({"x": 0.5}, 1.0, constraints={"c": -1.0})
    with pytest.raises(InvalidInput, match="expected a run without constraints, got c"):
        constrained.recommend(robust_to=0.1)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_places_that_crash_are_not_robust(direction: str) -> None:
    """f = x, and every trial beyond .5 fails: what failed counts as the worst value told."""
    sign = 1 if direction == "maximize" else -1
    optimizer = Optimizer(Space(x=Float(0, 1)), direction=direction, method="RandomSearch")
    for i in range(21):
        optimizer.add({"x": i / 20}, sign * i / 20 if i <= 10 else FAILED)
    got = optimizer.recommend(robust_to=0.1)
    assert 0.2 < got.params["x"] < 0.5
    assert got.worst_case is not None
    assert sign * got.worst_case.value < 0.5
