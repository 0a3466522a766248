"""Errata on local polynomial estimators (problem LP, LocalPoly, MaxErr, ExpandAndBound), in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import comb, log, sqrt

import numpy as np

from quadrat._core.arrays import Array

Documented = Callable[[str, str], None]


def monomials(x: Array, degree: int) -> Array:
    """All monomials of total degree at most `degree`, shape (n, C(D + k, k))."""
    powers = [p for p in product(range(degree + 1), repeat=x.shape[1]) if sum(p) <= degree]
    return np.stack([np.prod(x ** np.array(p), axis=1) for p in powers], axis=1)


def weights(x: Array, z: Array, degree: int) -> Array:
    """The minimum-norm solution of problem LP at each z, shape (len(z), len(x))."""
    return np.asarray(monomials(z, degree) @ np.linalg.pinv(monomials(x, degree)))


def test_many_points_need_not_make_the_problem_feasible(documented: Documented) -> None:
    """Printed: more than (k+2)^D points guarantee a solution. 40 points on a circle, k = 2, D = 2: rank 5 of 6.

    No weights then reproduce all quadratics at the centre: x^2 + y^2 is constant on the circle. And far fewer points
    do in general position: C(D+k, k) = 45 instead of 65,536 in 8 dimensions.
    """
    angle = 2 * np.pi * np.arange(40) / 40
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    assert len(circle) > (2 + 2) ** 2
    rank = np.linalg.matrix_rank(monomials(circle, 2))
    documented("E24", f"rank {rank} of {comb(4, 2)}")
    found = weights(circle, np.zeros((1, 2)), 2)[0] @ (circle**2).sum(axis=1)
    assert found > 0.5  # 0 is required: the value of x^2 + y^2 at the centre
    enough = comb(10, 2)
    x = np.random.default_rng(0).random((enough, 8))
    assert np.linalg.matrix_rank(monomials(x, 2)) == enough
    documented("E24", f"{enough} points")
    documented("E24", f"{(2 + 2) ** 8:,}")


def test_the_plain_average_does_not_have_the_stated_error(documented: Documented) -> None:
    """LocalPoly with too few points takes w = 1/n_E; the error bound then counts Phi_k only.

    f(x) = x, k = 1, noiseless, observed at 0 and .1: Phi_1(f) = 0, so the lemma's bound is 0; at 1 the error is .95.
    """
    x = np.array([0.0, 0.1])
    error = abs(x.mean() - 1.0)
    stated = (1 + 1) * 0.0  # (1 + ||w||_1) Phi_1(f, E)
    assert error > stated
    documented("E25", f"{error:.2f}")


def test_the_error_bound_is_for_one_point_and_a_fixed_design(documented: Documented) -> None:
    """Lemma: at one x, fixed design, probability delta. MaxErr uses it for all x of the cell, and for all rounds.

    k = 2, D = 2, nominal 5 %, sigma = 1, 1,000 runs: at one x; for all x of a grid after 60 points; for all x and all
    numbers of points from 17 to 60. The ridge bound of quadrat.confidence holds for all of them at once.
    """
    rng = np.random.default_rng(1)
    x = 2 * rng.random((60, 2)) - 1
    axis = np.linspace(-1, 1, 9)
    grid = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    noise = rng.standard_normal((1000, 60))
    phi, at = monomials(x, 2), monomials(grid, 2)
    bad_any, ridge_any = np.zeros(1000, bool), np.zeros(1000, bool)
    for m in range(17, 61):
        w = weights(x[:m], grid, 2)
        bad = np.abs(noise[:, :m] @ w.T) > np.linalg.norm(w, axis=1) * sqrt(2 * log(2 / 0.05))
        bad_any |= bad.any(axis=1)
        v = phi[:m].T @ phi[:m] + np.eye(6)
        half = np.sqrt((at * np.linalg.solve(v, at.T).T).sum(axis=1))
        half *= sqrt(2 * log(1 / 0.05) + np.linalg.slogdet(v)[1])
        ridge = np.linalg.solve(v, at.T).T @ phi[:m].T
        ridge_any |= (np.abs(noise[:, :m] @ ridge.T) > half).any(axis=1)
    one, all_x, all_times = bad[:, len(grid) // 2].mean(), bad.any(axis=1).mean(), bad_any.mean()
    assert one <= 0.05 < all_x < all_times
    assert ridge_any.mean() <= 0.05
    for rate in (one, all_x, all_times):
        documented("E26", f"{100 * rate:.1f} %")


def test_children_have_no_data_of_their_own(documented: Documented) -> None:
    """LocalPoly(F, D, x_F) with F a child. D = 2, k = 1, ten points, r_tilde = r_E/8: most children are empty."""
    x = np.random.default_rng(2).random((10, 2))
    occupied = len({tuple(cell) for cell in np.floor(8 * x).astype(int)})
    assert 64 - occupied >= 54
    documented("E27", f"{64 - occupied} of 64")


def test_twice_the_error_at_the_centre_is_not_enough(documented: Documented) -> None:
    """u = f_hat + 2 err is an upper bound over the child with err = MaxErr over E, not with the error at x_F.

    f(x) = x, of C^(1,1) norm 2 on [0, 1], so L = 2; E = [0, .002], noiseless points in its left twentieth. f_hat is
    exact; e_D(x) = (1 + ||w_x||_1) L r_E^2 is small near the points and large at the far end. F = [0, r_tilde].
    """
    r_e, constant = 0.002, 2.0
    x, z = np.linspace(0, 0.05, 40)[:, None], np.linspace(0, 1, 201)[:, None]  # in units of r_E
    err = (1 + np.abs(weights(x, z, 1)).sum(axis=1)) * constant * r_e**2
    side = min(r_e / 2, err.max() / constant)
    at_centre = float(np.interp(side / 2 / r_e, z[:, 0], err))
    upper = side / 2 + 2 * at_centre
    assert upper < 0.8 * side  # f reaches `side` in F
    assert side / 2 + 2 * err.max() >= side
    documented("E28", f"{upper / side:.2f}")
