"""`minimize` beside SciPy's own optimisers: the same arguments, the same result, and noise that is not believed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.optimize
from scipy.optimize import Bounds, OptimizeResult

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.integrations.scipy import minimize

BOX = [(-1.0, 2.0), (0.0, 1.0)]


def bowl(x: Array, a: float = 0.3, b: float = 0.6) -> float:
    return float((x[0] - a) ** 2 + (x[1] - b) ** 2)


def quick(fun: Any = bowl, bounds: Any = BOX, **more: Any) -> OptimizeResult:
    return minimize(fun, bounds, **{"maxfun": 8, "rng": 0, "method": "RandomSearch", **more})


def test_the_module_does_not_shadow_scipy() -> None:
    ours = importlib.import_module("quadrat.integrations.scipy")
    assert ours is not scipy
    assert scipy.optimize.minimize is not ours.minimize
    assert isinstance(quick(), scipy.optimize.OptimizeResult)


def test_it_finds_what_differential_evolution_finds_with_the_same_call() -> None:
    ours = minimize(bowl, BOX, (0.1, 0.2), maxfun=18, rng=0)
    theirs = scipy.optimize.differential_evolution(bowl, Bounds([-1.0, 0.0], [2.0, 1.0]), (0.1, 0.2), rng=0)
    np.testing.assert_allclose(ours.x, theirs.x, atol=0.02)
    assert ours.success
    assert ours.message == "all 18 evaluations done"
    assert (ours.nfev, ours.nit) == (18, 18)
    low, high = ours.credible_interval
    assert low <= ours.fun <= high
    assert ours.best_seen.fun == bowl(ours.best_seen.x, 0.1, 0.2)


def test_with_noise_the_estimate_is_nearer_to_the_truth_than_the_lowest_value() -> None:
    """The lowest of 20 values of noise .3 is lucky by some .3 to .6; over 3 runs the estimate is off by less."""
    ours, lucky = [], []
    for seed in range(3):
        noise = np.random.default_rng(seed)
        found = minimize(lambda x, draw=noise: bowl(x) + draw.normal(0, 0.3), BOX, maxfun=20, rng=seed)
        ours.append(abs(found.fun - bowl(found.x)))
        lucky.append(abs(found.best_seen.fun - bowl(found.best_seen.x)))
    assert np.mean(ours) < 0.6 * np.mean(lucky)


def test_bounds_in_both_forms_with_a_fixed_coordinate() -> None:
    seen: list[Array] = []

    def noted(x: Array) -> float:
        seen.append(x)
        return bowl(x)

    found = [quick(noted, form) for form in (Bounds([-1.0, 0.5], [2.0, 0.5]), [(-1.0, 2.0), (0.5, 0.5)])]
    np.testing.assert_array_equal(found[0].x, found[1].x)
    assert {float(x[1]) for x in seen} == {0.5}
    assert all(-1 <= x[0] <= 2 and x.shape == (2,) for x in seen)
    broadcast = quick(bounds=Bounds(0.0, [1.0, 1.0]))
    assert broadcast.x.shape == (2,)


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        ([(0.0, np.inf)], r"got \(0.0, inf\) for axis 0"),
        ([(0.0, 1.0), (2.0, 1.0)], "for axis 1"),
        ([1.0, 2.0], "shape"),
        ("box", "Bounds or finite pairs"),
        ([(1.0, 1.0)], "low < high for at least one axis"),
        (None, "bounds: expected"),
    ],
)
def test_bounds_that_are_none(bounds: Any, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        quick(bounds=bounds)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"maxfun": 0}, "maxfun: expected a whole number >= 1"),
        ({"rng": -1}, "rng: expected"),
        ({"rng": "seed"}, "rng: expected"),
        ({"workers": 0}, "workers: expected"),
        ({"workers": "all"}, "workers: expected"),
        ({"x0": [5.0, 0.5]}, "x0: expected points within the bounds"),
        ({"x0": [0.5]}, "x0"),
        ({"fun": 3}, "fun: expected a function"),
        ({"fun": lambda _x: "low"}, "outcome"),
    ],
)
def test_arguments_that_are_none(more: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        quick(**more)


def test_starts_are_evaluated_first() -> None:
    seen: list[list[float]] = []

    def noted(x: Array) -> float:
        seen.append(x.tolist())
        return bowl(x)

    quick(noted, x0=[0.25, 0.5], maxfun=2)
    quick(noted, x0=[[0.25, 0.5], [1.0, 1.0]], maxfun=2)
    assert seen[0] == seen[2] == [0.25, 0.5]
    assert seen[3] == [1.0, 1.0]


def test_the_same_rng_repeats_a_run() -> None:
    points = [quick(rng=rng).x.tolist() for rng in (3, 3, np.random.default_rng(3), np.random.default_rng(3), 4)]
    assert points[0] == points[1] != points[4]
    assert points[2] == points[3]
    assert quick(rng=None).x.tolist() != quick(rng=None).x.tolist()


def test_callbacks_in_both_forms() -> None:
    results: list[OptimizeResult] = []
    points: list[Array] = []

    def whole(intermediate_result: OptimizeResult) -> None:
        results.append(intermediate_result)

    found = quick(callback=whole)
    quick(callback=points.append)
    assert [result.nfev for result in results] == list(range(1, 9))
    np.testing.assert_array_equal(results[-1].x, found.x)
    np.testing.assert_array_equal(points[-1], found.x)


def raises(intermediate_result: OptimizeResult) -> None:
    if intermediate_result.nfev == 3:
        raise StopIteration


@pytest.mark.parametrize("callback", [raises, lambda intermediate_result: intermediate_result.nfev == 3])
def test_a_callback_ends_the_run(callback: Callable[..., Any]) -> None:
    found = quick(callback=callback)
    assert found.nfev == 3
    assert found.success
    assert found.message == "stopped by the callback after 3 evaluations"


def test_a_map_gets_batches_whose_points_differ() -> None:
    batches: list[list[Array]] = []

    def mapped(fun: Callable[[Array], Any], points: Iterable[Array]) -> list[Any]:
        batches.append(list(points))
        return [fun(point) for point in batches[-1]]

    found = minimize(bowl, BOX, maxfun=10, rng=0, workers=mapped)
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert (found.nfev, found.nit) == (10, 3)
    assert len({tuple(point) for batch in batches for point in batch}) == 10


def test_processes_evaluate_what_one_would() -> None:
    here = quick(workers=lambda fun, points: [fun(point) for point in points], maxfun=4)
    there = quick(workers=2, maxfun=4)
    assert (there.nfev, there.nit) == (4, 2)
    np.testing.assert_array_equal(there.x, here.x)


def test_values_that_are_not_finite_are_failures() -> None:
    found = quick(lambda x: bowl(x) if x[0] < 0.5 else np.nan, maxfun=12)
    assert found.success
    assert found.x[0] < 0.5
    assert {record.state for record in found.optimizer.trials} == {"complete", "failed"}
    nothing = quick(lambda _x: np.inf)
    assert not nothing.success
    assert np.isnan(nothing.x).all()
    assert "told inf" in nothing.message


def test_what_the_function_raises_is_raised() -> None:
    def broken(x: Array) -> float:
        raise RuntimeError("no licence")

    with pytest.raises(RuntimeError, match="no licence"):
        quick(broken)


def test_vectors_of_one_entry_are_numbers() -> None:
    assert quick(lambda x: np.array([bowl(x)])).fun == quick().fun
