from __future__ import annotations

import numpy as np
import pytest

import problems
from problems import Gaussian, Heteroscedastic, NoiseLaw, NoisyProblem, StudentT, Uniform
from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.randomness import generator

HERE = np.array([0.5, 0.5])


def _sloped(point: Array) -> float:
    return 0.1 + 0.2 * float(point[0])


LAWS: dict[str, NoiseLaw] = {
    "gaussian": Gaussian(0.3),
    "uniform": Uniform(0.4),
    "student": StudentT.with_sd(0.3, degrees=5),
    "heteroscedastic": Heteroscedastic(_sloped, 0.3),
}


def _draws(law: NoiseLaw, count: int) -> Array:
    rng = generator(1)
    return np.array([law.draw(HERE, rng) for _ in range(count)])


@pytest.mark.parametrize(
    ("law", "sd"), [("gaussian", 0.3), ("uniform", 0.4 / 3**0.5), ("student", 0.3), ("heteroscedastic", 0.2)]
)
def test_laws_have_mean_zero_and_the_stated_spread(law: str, sd: float) -> None:
    """40,000 draws: the mean within 5 standard errors, the standard deviation within 5 % (heavy tails need it)."""
    errors = _draws(LAWS[law], 40_000)
    assert abs(errors.mean()) < 5 * sd / 200
    assert errors.std() == pytest.approx(sd, rel=0.05)


def test_sub_gaussian_constants() -> None:
    assert LAWS["gaussian"].sub_gaussian == 0.3
    assert LAWS["uniform"].sub_gaussian == pytest.approx(0.4 / 3**0.5)
    assert LAWS["student"].sub_gaussian is None
    assert LAWS["heteroscedastic"].sub_gaussian == 0.3


def test_uniform_constant_is_the_least_possible() -> None:
    """E exp(s e) = sinh(a s) / (a s) <= exp(s^2 R^2 / 2) with R = a / sqrt(3), for s over four decades.

    No smaller R can do, because R is the standard deviation: R less 1 % fails near 0.
    """
    s = np.geomspace(1e-2, 300, 2000)
    exact = np.sinh(s) / s
    constant = Uniform(1.0).sub_gaussian
    assert (np.log(exact) <= s**2 * constant**2 / 2 * (1 + 1e-9)).all()
    assert np.log(exact[0]) > s[0] ** 2 * (0.99 * constant) ** 2 / 2


def test_uniform_is_bounded() -> None:
    assert np.abs(_draws(LAWS["uniform"], 5000)).max() <= 0.4


@pytest.mark.parametrize("law", LAWS)
def test_noise_depends_on_the_number_and_not_on_the_order(law: str) -> None:
    noisy = NoisyProblem(problems.get("branin2"), LAWS[law], seed=3)
    points = generator(2).random((6, 2))
    together = noisy.observe(points)
    backwards = [noisy.evaluate(points[i], number=i) for i in reversed(range(6))]
    assert tuple(reversed(backwards)) == together
    assert noisy.observe(points[2:], first=2) == together[2:]


def test_the_noiseless_value_is_kept() -> None:
    problem = problems.get("branin2")
    points = generator(3).random((50, 2))
    seen = NoisyProblem(problem, Gaussian(0.1), seed=0).observe(points)
    # a row by itself may round differently from the same row in a matrix
    np.testing.assert_allclose([o.noiseless for o in seen], problem.values(points), rtol=1e-14)
    errors = np.array([o.value - o.noiseless for o in seen])
    assert 0.05 < errors.std() < 0.2
    assert len(set(errors.tolist())) == 50


def test_no_noise_gives_the_value_itself() -> None:
    seen = NoisyProblem(problems.get("branin2"), Gaussian(0.0), seed=0).evaluate(HERE, number=0)
    assert seen.value == seen.noiseless


def test_seeds_and_an_optimisers_stream_are_kept_apart() -> None:
    """With equal seeds and numbers, the errors are not the numbers an optimiser would draw."""
    noisy = [
        NoisyProblem(problems.get("branin2"), Gaussian(1.0), seed=seed).observe(np.full((20, 2), 0.5))
        for seed in (0, 1)
    ]
    errors = [[o.value - o.noiseless for o in run] for run in noisy]
    assert not np.allclose(errors[0], errors[1])
    assert not np.allclose(errors[0], [generator(0, i).standard_normal() for i in range(20)])


def test_heteroscedastic_noise_follows_the_point_and_its_bound() -> None:
    law = Heteroscedastic(_sloped, 0.3)
    quiet, loud = (abs(law.draw(np.array([x, 0.0]), generator(4))) for x in (0.0, 1.0))
    assert loud == pytest.approx(3 * quiet)
    with pytest.raises(InvalidInput, match="sd at the point"):
        Heteroscedastic(_sloped, 0.2).draw(np.array([1.0, 0.0]), generator(4))


def test_student_scale() -> None:
    assert StudentT.with_sd(1.0, degrees=4).scale == pytest.approx(0.5**0.5)
    assert StudentT(0.1, degrees=1.5).sub_gaussian is None


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidInput, match="sd"):
        Gaussian(-1.0)
    with pytest.raises(InvalidInput, match="half_width"):
        Uniform(-1.0)
    with pytest.raises(InvalidInput, match="degrees"):
        StudentT(1.0, degrees=1.0)
    with pytest.raises(InvalidInput, match="degrees"):
        StudentT.with_sd(1.0, degrees=2.0)
    with pytest.raises(InvalidInput, match="largest"):
        Heteroscedastic(_sloped, -1.0)
    problem = problems.get("branin2")
    with pytest.raises(InvalidInput, match="seed"):
        NoisyProblem(problem, Gaussian(0.1), seed=-1)
    noisy = NoisyProblem(problem, Gaussian(0.1), seed=0)
    with pytest.raises(InvalidInput, match="one point"):
        noisy.evaluate([[0.1, 0.2], [0.3, 0.4]], number=0)
    with pytest.raises(InvalidInput, match="evaluation number"):
        noisy.evaluate(HERE, number=-1)
    with pytest.raises(InvalidInput, match="points"):
        noisy.observe([[0.1]])
