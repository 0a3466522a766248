"""(LP), LocalPoly and MaxErr as printed."""

from __future__ import annotations

import numpy as np
import pytest
from as_printed import interpolation_weights, local_poly, max_err
from as_printed.polynomials import _largest_square

from quadrat.confidence import LegendreBasis
from quadrat.errors import InvalidInput
from quadrat.partition import Cell

RNG = np.random.default_rng(2)
CELL = Cell([0.25, 0.0], [0.5, 0.5])


def points(n: int) -> np.ndarray:
    return np.asarray(RNG.uniform(CELL.lower, CELL.upper, (n, 2)))


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_weights_are_the_minimum_norm_solution_of_problem_lp(degree: int) -> None:
    """Against the pseudo-inverse of the constraints p(z) = sum_i v_i p(x_i), in monomials, not in our basis."""
    X, z = points(30), points(5)

    def monomials(at: np.ndarray) -> np.ndarray:
        t = (at - CELL.centre) / CELL.sides
        return np.stack([t[:, 0] ** i * t[:, 1] ** j for i in range(3) for j in range(3) if i + j <= degree])

    least = np.linalg.pinv(monomials(X)) @ monomials(z)
    np.testing.assert_allclose(interpolation_weights(CELL, X, z, degree), least.T, atol=1e-10)


@pytest.mark.parametrize("degree", [0, 1, 2])
def test_polynomials_are_reproduced(degree: int) -> None:
    X, z = points(30), points(5)

    def f(at: np.ndarray) -> np.ndarray:
        return np.asarray(1 + (3 * at[:, 0] - at[:, 1]) ** degree)

    np.testing.assert_allclose(local_poly(CELL, X, f(X), z, degree), f(z), atol=1e-10)


@pytest.mark.parametrize(("n", "degree"), [(9, 1), (16, 2), (1, 0)])
def test_too_few_points_give_the_plain_average(n: int, degree: int) -> None:
    X, y = points(n), RNG.normal(size=n)
    np.testing.assert_allclose(local_poly(CELL, X, y, points(3), degree), y.mean())


def test_points_on_a_circle_do_not_determine_a_quadratic() -> None:
    """40 > (k+2)^D = 16 points, and yet rank 5 of 6: the sufficient condition in the paper is not one."""
    angle = 2 * np.pi * np.arange(40) / 40
    X = CELL.centre + 0.1 * np.stack([np.cos(angle), np.sin(angle)], 1)
    assert np.linalg.matrix_rank(LegendreBasis(CELL, 2)(X)) == 5
    np.testing.assert_allclose(interpolation_weights(CELL, X, CELL.centre[None], 2), 1 / 40)


@pytest.mark.parametrize(("degree", "exact"), [(0, True), (1, True), (2, False)])
def test_max_err_dominates_every_point(degree: int, exact: bool) -> None:
    X = points(40)
    found = max_err(CELL, X, degree=degree, smoothness=degree + 0.5, constant=2.0, noise=0.3, delta=0.05)
    z = np.vstack([points(300), np.array(list(CELL.corners(4)))])
    w = interpolation_weights(CELL, X, z, degree)
    errors = (1 + np.abs(w).sum(1)) * 2.0 * (np.sqrt(2) * 0.5) ** (degree + 0.5)
    errors += 0.3 * np.linalg.norm(w, axis=1) * np.sqrt(2 * np.log(40))
    assert found >= errors.max() - 1e-12
    if exact:
        assert found == pytest.approx(errors.max())


@pytest.mark.parametrize("seed", range(4))
def test_max_err_looks_at_every_corner_in_three_dimensions(seed: int) -> None:
    rng, cube = np.random.default_rng(seed), Cell.unit(3)
    X = rng.random((40, 3))
    corners = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    w = interpolation_weights(cube, X, corners, 1)
    errors = (1 + np.abs(w).sum(1)) * 2.0 * np.sqrt(3) ** 1.5
    errors += 0.3 * np.linalg.norm(w, axis=1) * np.sqrt(2 * np.log(40))
    found = max_err(cube, X, degree=1, smoothness=1.5, constant=2.0, noise=0.3, delta=0.05)
    assert found == pytest.approx(errors.max())


def test_max_err_without_enough_points() -> None:
    few = max_err(CELL, points(4), degree=1, smoothness=1.5, constant=2.0, noise=0.3, delta=0.05)
    assert few == pytest.approx(2 * 2.0 * (np.sqrt(2) * 0.5) ** 1.5 + 0.3 / 2 * np.sqrt(2 * np.log(40)))
    assert max_err(CELL, np.zeros((0, 2)), degree=1, smoothness=1.5, constant=2.0, noise=0.3, delta=0.05) == np.inf
    with pytest.raises(InvalidInput, match="at least one observation"):
        interpolation_weights(CELL, np.zeros((0, 2)), points(1), 1)


def test_largest_square_is_reached_at_a_corner() -> None:
    basis = LegendreBasis(Cell.unit(2), 2)
    values = (basis(np.random.default_rng(0).random((500, 2))) ** 2).sum(1)
    corner = (basis([[1.0, 1.0]]) ** 2).sum()
    largest = _largest_square(basis)
    assert largest == pytest.approx(corner)
    assert values.max() <= largest
