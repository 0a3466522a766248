"""The problems of twenty dimensions: standardised, moved, and nowhere above the optimum that they state."""

from __future__ import annotations

import numpy as np
import pytest
from high_dimensions import twenty

from problems import classics
from quadrat._core.arrays import Array
from quadrat.randomness import generator

SEEDS = (0, 3, 8)


def around(point: Array, count: int) -> Array:
    """Points at all distances from one, from 1e-6 of the cube's side on; some differ from it in one coordinate only."""
    rng = generator(5)
    steps = rng.normal(size=(count, len(point))) * 10.0 ** rng.uniform(-6, 0, size=(count, 1))
    alone = rng.random(count) < 0.5
    steps[alone] *= np.eye(len(point))[rng.integers(len(point), size=alone.sum())]
    return np.clip(point + steps, 0.0, 1.0)


@pytest.mark.parametrize("name", ["ackley20~", "levy20~"])
def test_standardisation_constants_follow_from_their_definition(name: str) -> None:
    values = twenty.unmoved(name, 0).values(generator(12345).random((100_000, 20)))
    np.testing.assert_allclose([values.mean(), values.std()], [0.0, 1.0], rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", twenty.PROBLEMS)
def test_nothing_is_above_the_stated_optimum(name: str, seed: int) -> None:
    """At 20,000 points around it and 20,000 uniform ones; and the optimum is reached where it is said to be."""
    problem, best = twenty.moved(name, seed), twenty.task(name, seed).best
    optimum = problem.optimizers[0]
    assert problem.dimension == 20
    assert problem.values(optimum)[0] == pytest.approx(best, abs=1e-12)
    points = np.concatenate([around(optimum, 20_000), generator(6).random((20_000, 20))])
    assert problem.values(points).max() <= best + 1e-12
    assert ((optimum >= 0.15 - 1e-4) & (optimum <= 0.85 + 1e-4)).all()  # Hartmann's is moved by six digits of its place


@pytest.mark.parametrize("name", twenty.PROBLEMS)
def test_seeds_move_the_optimum(name: str) -> None:
    first, second = (twenty.moved(name, seed).optimizers[0] for seed in (0, 2))
    assert abs(first - second).max() > 0.1


def test_they_are_the_classics() -> None:
    points = generator(7).random((50, 20))
    for name, classic, minimiser, width in (
        ("ackley20~", classics.ackley, 0.0, 15.0),
        ("levy20~", classics.levy, 1.0, 20.0),
    ):
        problem = twenty.moved(name, 3)
        own = minimiser + width * (points - problem.optimizers[0])
        assert problem.in_original_units(problem.values(points)) == pytest.approx(-classic(own), rel=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_six_axes_count_and_the_others_do_nothing(seed: int) -> None:
    problem, axes = twenty.moved("hartmann6in20~", seed), twenty.active_axes(seed)
    rng = generator(8)
    points = problem.optimizers[0] + 0.05 * rng.normal(size=(20, 20))
    values = problem.values(points)
    for axis in range(20):
        other = points.copy()
        other[:, axis] = rng.random(20)
        assert (problem.values(other) != values).any() == (axis in axes)


def test_seeds_draw_the_axes() -> None:
    drawn = {tuple(twenty.active_axes(seed).tolist()) for seed in range(5)}
    assert len(drawn) == 5
    assert all(len(set(axes)) == 6 for axes in drawn)


def test_what_is_observed_has_noise_that_repeats() -> None:
    task = twenty.task("levy20~", 2)
    params = task.space.sample(1, generator(9))[0]
    assert task.observe(params, 3) == task.observe(params, 3) != task.observe(params, 4)
    assert abs(task.observe(params, 3) - task.value(params)) < 0.6
