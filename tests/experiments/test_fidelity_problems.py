"""Problems with several fidelities: published values, maxima, gaps between levels."""

from __future__ import annotations

import numpy as np
import pytest
from fidelity_problems import MULTI_FIDELITY, MultiFidelityProblem

from problems import get
from quadrat.errors import InvalidInput


@pytest.fixture(params=sorted(MULTI_FIDELITY))
def problem(request: pytest.FixtureRequest) -> MultiFidelityProblem:
    return MULTI_FIDELITY[str(request.param)]


def test_no_point_beats_the_stated_maximum(problem: MultiFidelityProblem) -> None:
    """Neither uniform points nor points around the maximiser, at five scales."""
    rng = np.random.default_rng(0)
    best = np.array(problem.optimizer)
    steps = np.repeat([0.1, 0.01, 1e-3, 1e-4, 1e-5], 400)[:, None] * rng.standard_normal((2000, problem.dimension))
    points = np.vstack([rng.random((20_000, problem.dimension)), np.clip(best + steps, 0.0, 1.0)])
    values = problem.values(points, level=problem.target)
    assert values.max() <= problem.optimal_value + 1e-9
    assert values.max() >= problem.optimal_value - 1e-4
    assert problem.regret(best) == 0.0


def test_costs_ascend_and_every_level_is_vectorised(problem: MultiFidelityProblem) -> None:
    assert len(problem.costs) == len(problem.levels)
    assert list(problem.costs) == sorted(set(problem.costs))
    points = np.vstack([np.zeros(problem.dimension), np.ones(problem.dimension), np.full(problem.dimension, 0.3)])
    for level in range(len(problem.levels)):
        values = problem.values(points, level=level)
        assert np.isfinite(values).all()
        single = [problem.values(point, level=level)[0] for point in points]
        np.testing.assert_allclose(values, single, rtol=1e-14)


def test_published_values() -> None:
    """Maxima as printed by Surjanovic and Bingham's library: Currin 13.798, Park 25.589, Hartmann 3.86278, 3.32237."""
    printed = {"currin2": 13.798722, "park4": 25.5893, "hartmann3": 3.86278, "hartmann6": 3.32237}
    for name, value in printed.items():
        assert MULTI_FIDELITY[name].optimal_value == pytest.approx(value, abs=6e-6 if name != "park4" else 6e-5)


def test_currin_by_hand() -> None:
    """f(.5, .5) = (1 - e^-1) (287.5 + 475 + 1046 + 60) / (12.5 + 125 + 2 + 20); the cheap level is a mean of four."""
    currin = MULTI_FIDELITY["currin2"]
    assert currin.values([0.5, 0.5], level=1)[0] == pytest.approx((1 - np.exp(-1)) * 1868.5 / 159.5)
    around = [[0.55, 0.55], [0.55, 0.45], [0.45, 0.55], [0.45, 0.45]]
    assert currin.values([0.5, 0.5], level=0)[0] == pytest.approx(currin.values(around, level=1).mean())
    edge = [[0.55, 0.06], [0.55, 0.0], [0.45, 0.06], [0.45, 0.0]]  # x_2 - .05 is cut off at 0
    assert currin.values([0.5, 0.01], level=0)[0] == pytest.approx(currin.values(edge, level=1).mean())


def test_park_by_hand() -> None:
    """At (1, 1, 1, 1): (sqrt 3 - 1)/2 + 4 exp(1 + sin 1); the cheap level is (1 + sin(1)/10) of it + .5."""
    park = MULTI_FIDELITY["park4"]
    value = (np.sqrt(3) - 1) / 2 + 4 * np.exp(1 + np.sin(1))
    assert park.values(np.ones(4), level=1)[0] == pytest.approx(value)
    assert park.values(np.ones(4), level=0)[0] == pytest.approx((1 + np.sin(1) / 10) * value + 0.5)


def test_hartmann_levels_are_equally_far_apart() -> None:
    """Heights change by the same steps, so that f^(m) - f^(m+1) does not depend on m; f^(M) is the classic."""
    points = np.random.default_rng(1).random((50, 6))
    hartmann = MULTI_FIDELITY["hartmann6"]
    values = np.array([hartmann.values(points, level=level) for level in range(4)])
    np.testing.assert_allclose(np.diff(values, axis=0), [values[1] - values[0]] * 3, atol=1e-14)
    classic = get("hartmann6")
    np.testing.assert_allclose(values[-1], classic.in_original_units(classic.values(points)))
    assert 0.05 < np.abs(values[0] - values[3]).max() < 0.5


def test_the_cheap_level_misleads() -> None:
    problem = MULTI_FIDELITY["misleading2"]
    points = np.random.default_rng(2).random((20_000, 2))
    cheap, target = (problem.values(points, level=level) for level in range(2))
    assert problem.regret(points[np.argmax(cheap)]) > 0.9
    assert np.corrcoef(cheap, target)[0, 1] < 0.0


def test_noise_is_that_of_the_number_and_the_seed() -> None:
    problem = MULTI_FIDELITY["hartmann3"]
    x = np.full(3, 0.4)
    errors = np.array(
        [
            problem.observe(x, level=1, number=i, seed=5) - float(problem.values(x, level=1)[0])
            for i in range(400)
        ]
    )  # fmt: skip
    assert abs(errors.std() / problem.noise - 1) < 0.12
    assert abs(errors.mean()) < 3.5 * problem.noise / 20
    again = problem.observe(x, level=1, number=3, seed=5)
    assert again - float(problem.values(x, level=1)[0]) == errors[3]
    assert problem.observe(x, level=1, number=3, seed=6) != again


@pytest.mark.parametrize("level", [-1, 2, 0.5])
def test_levels_that_do_not_exist(level: int) -> None:
    with pytest.raises(InvalidInput, match=r"level: expected one of 0, ..., 1"):
        MULTI_FIDELITY["currin2"].values([0.5, 0.5], level=level)
