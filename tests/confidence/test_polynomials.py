"""The certified local polynomial against dense algebra and against the worst function of the ball."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.confidence import Assumptions, LegendreBasis, LocalPolynomial
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern, SquaredExponential
from quadrat.partition import Cell

RNG = np.random.default_rng(6)
GIVEN = Assumptions(Matern(2.5, (0.4, 0.7), amplitude=1.2), norm_bound=1.5, noise=0.2)
CELL = Cell([0.25, 0.0], [0.5, 0.5])
X = RNG.uniform(CELL.lower, CELL.upper, (15, 2))
Y = RNG.normal(size=15)
QUERY = RNG.uniform(CELL.lower, CELL.upper, (8, 2))


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_estimate_and_error_are_their_formulas(degree: int) -> None:
    model = LocalPolynomial(CELL, X, Y, degree=degree, assumptions=GIVEN, delta=0.01)
    basis = LegendreBasis(CELL, degree)
    phi, target = basis(X), basis(QUERY)
    V = phi.T @ phi + np.eye(len(basis))
    W = target @ np.linalg.solve(V, phi.T)  # rows: weights at each query
    K, k, kk = GIVEN.kernel(X), GIVEN.kernel(QUERY, X), GIVEN.kernel.variance
    bias = 1.5 * np.sqrt(kk - 2 * (W * k).sum(1) + np.einsum("ij,jk,ik->i", W, K, W))
    leverage = np.einsum("ip,pq,iq->i", target, np.linalg.inv(V), target)
    noise = 0.2 * np.sqrt(leverage) * np.sqrt(2 * np.log(100) + np.linalg.slogdet(V)[1])
    np.testing.assert_allclose(model.estimate(QUERY), W @ Y, atol=1e-10)
    np.testing.assert_allclose(model.bias(QUERY), bias, rtol=1e-6)
    np.testing.assert_allclose(model.noise_error(QUERY), noise, rtol=1e-9)
    np.testing.assert_allclose(model.error(QUERY), bias + noise, rtol=1e-6)


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_bias_is_attained_by_a_function_of_the_ball(degree: int) -> None:
    """f = B (K_x - sum w_i K_(x_i)) / norm has norm B, and without noise its estimate is off by exactly the bias."""
    model = LocalPolynomial(CELL, X, Y, degree=degree, assumptions=GIVEN, delta=0.01)
    x = QUERY[:1]
    basis = LegendreBasis(CELL, degree)
    phi = basis(X)
    w = (basis(x) @ np.linalg.solve(phi.T @ phi + np.eye(len(basis)), phi.T))[0]
    both, c = np.vstack([x, X]), np.concatenate([[1.0], -w])
    norm = np.sqrt(c @ GIVEN.kernel(both) @ c)
    worst = 1.5 / norm * GIVEN.kernel(both, both) @ c
    assert worst[0] - w @ worst[1:] == pytest.approx(model.bias(x)[0], rel=1e-6)


def test_children_use_their_parents_model() -> None:
    model = LocalPolynomial(CELL, X, Y, degree=1, assumptions=GIVEN, delta=0.01)
    child = CELL.halves(0)[1]
    centre = child.centre[None]
    expected = model.estimate(centre)[0] + model.error(centre)[0] + GIVEN.half_variation(child)
    assert model.upper(child) == pytest.approx(expected)
    at_corners = model.error(np.array(list(CELL.corners(4))))
    assert model.largest_error() >= at_corners.max() - 1e-12


def test_no_data_is_the_prior() -> None:
    model = LocalPolynomial(CELL, np.zeros((0, 2)), [], degree=2, assumptions=GIVEN, delta=0.01)
    np.testing.assert_array_equal(model.estimate(QUERY), 0.0)
    np.testing.assert_allclose(model.bias(QUERY), GIVEN.ceiling, rtol=1e-6)


def test_replicates_count_one_by_one() -> None:
    twice = LocalPolynomial(CELL, np.vstack([X, X]), np.tile(Y, 2), degree=1, assumptions=GIVEN, delta=0.01)
    once = LocalPolynomial(CELL, X, Y, degree=1, assumptions=GIVEN, delta=0.01)
    assert (twice.noise_error(QUERY) < once.noise_error(QUERY)).all()


def test_bad_input() -> None:
    with pytest.raises(InvalidInput, match="inside the cell"):
        LocalPolynomial(CELL, [[0.9, 0.9]], [0.0], degree=1, assumptions=GIVEN, delta=0.01)
    with pytest.raises(InvalidInput, match="inside the cell"):
        LocalPolynomial(CELL, np.vstack([X, [[0.9, 0.9]]]), [*Y, 0.0], degree=1, assumptions=GIVEN, delta=0.01)
    with pytest.raises(InvalidInput, match="delta: expected"):
        LocalPolynomial(CELL, X, Y, degree=1, assumptions=GIVEN, delta=0.0)
    with pytest.raises(InvalidInput, match="y: expected 15 entries, got 1"):
        LocalPolynomial(CELL, X, [1.0], degree=1, assumptions=GIVEN, delta=0.1)


def test_many_replicates_of_few_points_keep_the_bias_honest() -> None:
    """Three points, 3,000 replicates each, a tiny cell, almost no noise: what is left of the error is bias."""
    kernel = SquaredExponential(5.0)
    cell = Cell(np.zeros(2), np.full(2, 2.0**-10))
    rng = np.random.default_rng(0)
    for replicates in (1, 300, 3000):
        design = np.repeat(cell.sample(rng, 3), replicates, axis=0)
        target = cell.sample(rng, 200)

        def f(at: np.ndarray) -> np.ndarray:
            return kernel(at, np.full((1, 2), 0.3 * 2.0**-10))[:, 0]

        model = LocalPolynomial(
            cell, design, f(design), degree=2, assumptions=Assumptions(kernel, 1.0, 1e-9), delta=0.05
        )
        assert (np.abs(model.estimate(target) - f(target)) <= model.error(target)).all()
