"""GP-UCB-PE: the relevant region, exploration within it, which trial is the first of a batch."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.kernels import Matern
from quadrat.methods.base import Domain, Observation
from quadrat.methods.ucb.gp_ucb import GPUCB
from quadrat.methods.ucb.gp_ucb_pe import GPUCBPE, ExploringSearch, Region, explore
from quadrat.optimizer import FAILED, Optimizer
from quadrat.randomness import generator
from quadrat.space import Float, Space

KERNEL = Matern(2.5, 0.3)
NONE = np.empty((0, 2))
SIDE = np.linspace(0, 1, 81)
GRID = np.stack(np.meshgrid(SIDE, SIDE), -1).reshape(-1, 2)


def value_of(x: Array) -> float:
    return float(2 * np.exp(-12 * ((x[0] - 0.3) ** 2 + (x[-1] - 0.6) ** 2)))


def told_at_uniform_points(n: int = 40, seed: int = 0, **options: Any) -> ExploringSearch:
    method = GPUCBPE(kernel=KERNEL, standardise=False, scale=0.2, **options)
    search = method.start(Domain.cube(2), seed)
    for number, x in enumerate(generator(seed, 71).random((n, 2))):
        search.tell(Observation(number, x, np.array([value_of(x)])))
    return search


# --- the region


@pytest.mark.parametrize(("seed", "scale"), [(0, 1.0), (1, 1.0), (2, 0.25)])
def test_the_region_is_that_of_the_paper(seed: int, scale: float) -> None:
    """Contal et al. 2013, section 3: mu + 2 sqrt(beta_(t+1)) sigma >= max (mu - sqrt(beta_t) sigma), on a grid."""
    search = told_at_uniform_points(seed=seed, region_scale=scale)
    region = search.region()
    schedule = GPUCB(scale=0.2 * scale)
    at = search.model.gp.predict(GRID)
    lower = at.mean - sqrt(schedule.beta(41, 2, 0.0)) * at.deviation
    assert lower.max() <= region.reached <= lower.max() + 0.01
    upper = at.mean + 2 * sqrt(schedule.beta(42, 2, 0.0)) * at.deviation
    np.testing.assert_array_equal(region.contains(GRID), upper >= region.reached)
    assert 0.01 < region.contains(GRID).mean() < 0.6
    assert region.contains(region.anchor[None])[0]


def test_the_region_does_not_know_what_is_pending() -> None:
    search = told_at_uniform_points()
    region = search.region()
    before = region.margin(GRID)
    with search.model.pending(np.array([[0.3, 0.6], [0.5, 0.5]])):
        np.testing.assert_array_equal(region.margin(GRID), before)
        np.testing.assert_array_equal(search.region().reached, region.reached)
    search.ask(41, np.array([[0.3, 0.6]]))
    np.testing.assert_array_equal(search.region().margin(GRID), before)


# --- exploration


@pytest.mark.parametrize("seed", range(4))
def test_others_have_the_largest_deviation_in_the_region(seed: int) -> None:
    """Algorithm 1: pending points narrow the deviation, the region stays; the grid has nothing better inside."""
    search = told_at_uniform_points(seed=seed)
    pending = [search.ask(40, NONE).x]
    region = search.region()
    for number in range(41, 46):
        x = search.ask(number, np.array(pending)).x
        assert region.margin(x[None])[0] >= -1e-9
        both = GaussianProcess(KERNEL, noise_variance=0.01)
        both.add(np.vstack([search.model.gp.x, pending]), np.zeros(40 + len(pending)))
        best = both.predict(GRID).deviation[region.contains(GRID)].max()
        assert both.predict(x[None]).deviation[0] >= 0.99 * best
        pending.append(x)
    assert len({x.tobytes() for x in pending}) == 6


@pytest.mark.parametrize("dimension", [1, 2, 6])
def test_a_tiny_region_is_never_left(dimension: int) -> None:
    """With so little width that uniform points miss the region, its anchor and what lies around it are left."""
    rng = generator(dimension, 72)
    gp = GaussianProcess(KERNEL, noise_variance=1e-4)
    X = rng.random((60, dimension))
    gp.add(X, [value_of(x) for x in X])
    anchor = gp.x[int(np.argmax(gp.predict_mean(gp.x)))]
    at = gp.predict(anchor[None])
    region = Region(gp, 1e-3, float(at.mean[0]), anchor)
    assert region.contains(rng.random((2000, dimension))).mean() < 0.05
    x, deviation = explore(gp, region, generator(0, dimension))
    assert region.margin(x[None])[0] >= -1e-9
    assert deviation >= at.deviation[0] * (1 - 1e-9)


def test_a_taken_point_is_not_returned() -> None:
    """Loud noise: the end of the line keeps the largest deviation after it was asked."""
    gp = GaussianProcess(KERNEL, noise_variance=4.0)
    gp.add([[0.0], [0.2], [0.4], [0.6]], [1.0] * 4, 1e-4)
    region = Region(gp, 3.0, -5.0, np.array([0.2]))
    corner = np.array([[1.0]])
    with gp.pending(corner):
        assert explore(gp, region, generator(3))[0].tolist() == [1.0]
        x, _ = explore(gp, region, generator(3), corner)
    assert x.tolist() != [1.0]


def test_the_gradient_of_the_shortfall() -> None:
    region = told_at_uniform_points().region()
    outside = GRID[~region.contains(GRID)][::400]
    steps = 1e-6 * np.eye(2)
    slope = [(region.shortfalls(outside + step)[0] - region.shortfalls(outside - step)[0]) / 2e-6 for step in steps]
    np.testing.assert_allclose(region.shortfalls(outside)[1], np.transpose(slope), rtol=1e-4, atol=1e-6)
    assert region.shortfalls(region.anchor[None])[0] == 0.0


# --- which trial is the first


def is_first(search: ExploringSearch, number: int, pending: Array) -> bool:
    return search.ask(number, pending).why.startswith("first of a batch")


def test_the_first_of_a_batch() -> None:
    """By number with a batch size; else the trial asked while nothing is pending, where failed points do not count."""
    one = np.array([[0.1, 0.2]])
    sized = told_at_uniform_points(10, batch_size=4)
    assert [is_first(sized, number, one) for number in (10, 11, 12, 13)] == [False, False, True, False]
    free = told_at_uniform_points(10)
    assert is_first(free, 10, NONE)
    assert not is_first(free, 11, one)
    free.fail(9, one[0])
    assert is_first(free, 11, one)
    assert not is_first(free, 11, np.vstack([[[0.3, 0.3]], one]))


def test_batches_of_one_are_gp_ucb_bit_for_bit() -> None:
    runs = []
    for method in (GPUCBPE(scale=0.2), GPUCBPE(scale=0.2, batch_size=1), GPUCB(scale=0.2)):
        search, points = method.start(Domain.cube(2), 3), []
        for number in range(7):
            points.append(search.ask(number, NONE).x)
            search.tell(Observation(number, points[-1], np.array([value_of(points[-1])])))
        runs.append(np.array(points))
    np.testing.assert_array_equal(runs[0], runs[2])
    np.testing.assert_array_equal(runs[1], runs[2])


@pytest.mark.parametrize("options", [{}, {"batch_size": 5}], ids=str)
def test_batches_through_the_optimizer_differ_and_are_rebuilt(options: dict[str, Any]) -> None:
    space = Space(x=Float(0, 1), y=Float(1e-3, 1e3, log=True))
    optimizer = Optimizer(space, direction="maximize", method=GPUCBPE(**options), seed=4)
    for batch in range(3):
        pending = [optimizer.ask() for _ in range(5)]
        assert len({tuple(trial.params.values()) for trial in pending}) == 5
        for trial in reversed(pending):
            failed = trial.number % 5 == 3
            optimizer.tell(trial, FAILED if failed else value_of(space.to_unit(trial.params)) + 0.01 * batch)
    optimizer.ask()
    rebuilt = Optimizer.from_state(space, optimizer.state(), method=optimizer.method)
    assert rebuilt.trials == optimizer.trials
    assert rebuilt.recommend() == optimizer.recommend()
    assert rebuilt.ask() == optimizer.ask()
    firsts = [record.number for record in optimizer.trials if record.why.startswith("first of a batch")]
    assert firsts == [10, 15]  # the initial design is told only with the second batch


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "infinite"}, "form: expected Finite"),
        ({"delta": 1.0}, "delta: expected a probability"),
        ({"scale": 0.0}, "scale: expected a finite number > 0"),
        ({"batch_size": 0}, "batch_size: expected"),
        ({"region_scale": 0.0}, "region_scale: expected"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        GPUCBPE(**options)
