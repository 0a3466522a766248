"""The embedding results (propositions on embeddings; appendix B), re-checked in 60-digit arithmetic.

For every kernel, h on a log grid, dimensions 1 to 8, nu also near and at integers: kappa itself, the modulus
omega(h) = sqrt(2 (1 - kappa(h))), the Hölder pair (C, alpha) and the Taylor remainder rho_k.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import mpmath as mp
import numpy as np
import pytest

from quadrat.errors import NotAvailable
from quadrat.kernels import (
    GammaExponential,
    Matern,
    PiecewisePolynomial,
    RationalQuadratic,
    SquaredExponential,
    Stationary,
)

H = np.logspace(-7, 1.5, 24)
NU = [0.1, 0.5, 0.9, 0.999, 1.0, 1.001, 1.5, 1.99, 2.0, 2.01, 2.5, 3.0, 3.5, 7.2]
KERNELS: list[Stationary] = [
    SquaredExponential(),
    *(Matern(nu) for nu in NU),
    *(RationalQuadratic(a) for a in (0.3, 1.0, 8.0)),
    *(GammaExponential(a) for a in (0.3, 1.0, 1.7, 2.0)),
    *(PiecewisePolynomial(q, dimension) for q in range(4) for dimension in range(1, 9)),
]


def exact_profile(kernel: Stationary) -> Callable[[mp.mpf], mp.mpf]:
    """kappa, written down a second time, in multiple precision."""
    match kernel:
        case SquaredExponential():
            return lambda h: mp.exp(-(h**2) / 2)
        case Matern(nu=nu):
            v = mp.mpf(nu)

            def matern(h: mp.mpf) -> mp.mpf:
                u = mp.sqrt(2 * v) * h
                return 2 ** (1 - v) / mp.gamma(v) * u**v * mp.besselk(v, u)

            return matern
        case RationalQuadratic(a=a):
            return lambda h: (1 + h**2 / (2 * mp.mpf(a))) ** -mp.mpf(a)
        case GammaExponential(a=a):
            return lambda h: mp.exp(-(h ** mp.mpf(a)))
        case PiecewisePolynomial(q=q, for_dimension=dimension):
            j = dimension // 2 + q + 1

            def wendland(h: mp.mpf) -> mp.mpf:
                r = max(1 - h, mp.mpf(0))
                return (
                    r ** (j + q)
                    * (
                        mp.mpf(1),
                        (j + 1) * h + 1,
                        ((j**2 + 4 * j + 3) * h**2 + (3 * j + 6) * h + 3) / 3,
                        (
                            (j**3 + 9 * j**2 + 23 * j + 15) * h**3
                            + (6 * j**2 + 36 * j + 45) * h**2
                            + (15 * j + 45) * h
                            + 15
                        )
                        / 15,
                    )[q]
                )

            return wendland
    raise AssertionError(kernel)


def exact_remainder(kernel: Stationary, h: float, degree: int) -> mp.mpf:
    """rho_k by its definition, with numerical derivatives in 60 digits and moments from the tests' own formulas."""
    kappa = exact_profile(kernel)
    at = mp.mpf(h)
    total = mp.mpf(1)
    for p in range(degree + 1):
        derivative = kappa(at) if p == 0 else mp.diff(kappa, at, p, h=at * mp.mpf(10) ** -18)
        total -= 2 * (-at) ** p * derivative / factorial(p)
    for p in range(degree + 1):
        for q in range(degree + 1):
            if (p + q) % 2 == 0:
                moment = exact_moment(kernel, (p + q) // 2)
                sign = (-1) ** ((p + q) // 2 + q)
                total += sign * at ** (p + q) * moment / (factorial(p) * factorial(q))
    return mp.sqrt(max(total, mp.mpf(0)))


def exact_moment(kernel: Stationary, p: int) -> mp.mpf:
    """m_2p = E w^2p under the spectral law along one axis, from each family's mixture representation."""
    double_factorial = mp.fac2(2 * p - 1)
    match kernel:
        case SquaredExponential():
            return double_factorial
        case GammaExponential(a=2.0):
            return double_factorial * 2**p
        case RationalQuadratic(a=a):
            return double_factorial * mp.rf(mp.mpf(a), p) / mp.mpf(a) ** p
        case Matern(nu=nu):  # a Gaussian whose precision is Gamma distributed: Student's t
            v = mp.mpf(nu)
            return (2 * v) ** p * mp.gamma(p + mp.mpf(1) / 2) * mp.gamma(v - p) / (mp.sqrt(mp.pi) * mp.gamma(v))
        case PiecewisePolynomial():
            taylor = mp.taylor(exact_profile(kernel), mp.mpf(0), 2 * p, direction=1, h=mp.mpf(10) ** -9)
            return mp.nint((-1) ** p * mp.factorial(2 * p) * taylor[2 * p] * 15) / 15
    raise AssertionError(kernel)


@pytest.fixture(autouse=True)
def _sixty_digits() -> None:
    mp.mp.dps = 60


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_profile_and_modulus_equal_high_precision(kernel: Stationary) -> None:
    kappa = exact_profile(kernel)
    values = np.array([float(kappa(mp.mpf(h))) for h in H])
    moduli = np.array([float(mp.sqrt(2 * (1 - kappa(mp.mpf(h))))) for h in H])
    np.testing.assert_allclose(kernel.profile(H), values, rtol=1e-11, atol=1e-300)
    np.testing.assert_allclose(kernel.modulus(H[:, None]), moduli, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_holder_pair_dominates_the_modulus_and_is_tight(kernel: Stationary) -> None:
    """omega(h) <= C h^alpha everywhere; C is the limit as h -> 0, so no smaller constant would do."""
    if kernel == Matern(1.0):
        with pytest.raises(NotAvailable):
            kernel.holder()
        ratio = kernel.modulus(H[:, None]) / H
        assert ratio[0] > 1.3 * ratio[8], "at nu = 1 the modulus is not Lipschitz: the quotient keeps growing"
        return
    pair = kernel.holder()
    grid = np.logspace(-12, 2, 200)
    quotient = kernel.modulus(grid[:, None]) / grid**pair.exponent
    assert (quotient <= pair.constant * (1 + 1e-12)).all()
    if not 0.95 < getattr(kernel, "nu", 0.0) < 1.05:  # there the limit is reached only at astronomically small h
        assert quotient.max() > 0.99 * pair.constant


@pytest.mark.parametrize("dimension", range(1, 9))
@pytest.mark.parametrize("kernel", KERNELS[:20], ids=repr)
def test_modulus_is_attained_by_a_function_of_the_ball(kernel: Stationary, dimension: int) -> None:
    """(K_x - K_z) / ||K_x - K_z|| has norm 1 and varies by omega(x, z) between x and z; random f stay below it."""
    rng = np.random.default_rng(dimension)
    x, z, centres = rng.random((1, dimension)), rng.random((1, dimension)), rng.random((30, dimension))
    pair = np.vstack([x, z])
    K = kernel(pair)
    norm = np.sqrt(K[0, 0] + K[1, 1] - 2 * K[0, 1])
    extremal = (K[0] - K[1]) / norm
    omega = kernel.modulus(x - z)[0]
    assert extremal[0] - extremal[1] == pytest.approx(omega, rel=1e-9)
    weights = rng.normal(size=(200, 30))
    weights /= np.sqrt(np.einsum("ri,ij,rj->r", weights, kernel(centres), weights))[:, None]
    f = weights @ kernel(centres, pair)
    assert (np.abs(f[:, 0] - f[:, 1]) <= omega * (1 + 1e-9)).all()


REMAINDERS = [
    (kernel, degree)
    for kernel in KERNELS
    for degree in (1, 2, 3)
    if kernel.max_degree is None or degree <= kernel.max_degree
    if not isinstance(kernel, PiecewisePolynomial) or kernel.for_dimension in (1, 4, 8)
]


@pytest.mark.parametrize(("kernel", "degree"), REMAINDERS, ids=repr)
def test_taylor_remainder_dominates_and_is_tight(kernel: Stationary, degree: int) -> None:
    """rho_k as computed is never below the exact one, and within 1 % of it where double precision can tell."""
    grid = np.array([1e-6, 1e-4, 3e-3, 0.02, 0.09, 0.11, 0.4, 0.9, 1.3, 4.0])
    if isinstance(kernel, PiecewisePolynomial):
        grid = grid[grid != 1.0]
    exact = np.array([float(exact_remainder(kernel, h, degree)) for h in grid])
    ours = kernel.taylor_remainder(grid[:, None], degree)
    assert (ours >= exact * (1 - 1e-9)).all()
    floor = 3e-7  # the square root of some tens of roundings: below it the exact form has no digits left
    near_integer = isinstance(kernel, Matern) and abs(kernel.nu - (degree + 1)) < 0.6
    tell = (exact > 10 * floor) | (not near_integer)
    assert (ours <= 1.01 * exact + (floor if near_integer else 0.0))[tell].all()
    assert (np.diff(ours) > 0).all(), "it grows with the distance, so a cell's largest is at its corners"


@pytest.mark.parametrize("kernel", [SquaredExponential(), RationalQuadratic(2.0), Matern(2.5), Matern(3.5)], ids=repr)
@pytest.mark.parametrize("degree", [1, 2])
def test_taylor_remainder_bounds_functions_of_the_ball(kernel: Stationary, degree: int) -> None:
    """Directly: f of norm 1 in two dimensions, its Taylor polynomial along rays by differences in high precision."""
    rng = np.random.default_rng(degree)
    centres = rng.random((15, 2))
    weights = rng.normal(size=15)
    weights /= np.sqrt(weights @ kernel(centres) @ weights)
    kappa = exact_profile(kernel)

    def along(t: mp.mpf, direction: np.ndarray) -> mp.mpf:
        total = mp.mpf(0)
        for w, c in zip(weights, centres, strict=True):
            offset = [mp.mpf(0.5) + t * mp.mpf(d) - mp.mpf(ci) for d, ci in zip(direction, c, strict=True)]
            total += mp.mpf(w) * kappa(mp.sqrt(sum(o**2 for o in offset)))
        return total

    mp.mp.dps = 30
    for direction in rng.normal(size=(3, 2)) * 0.3:
        taylor = mp.taylor(lambda t, d=direction: along(t, d), 0, degree)
        remainder = abs(along(mp.mpf(1), direction) - sum(taylor))
        assert float(remainder) <= kernel.taylor_remainder(direction, degree)


def test_sums_add_squares_and_axes_restrict() -> None:
    from quadrat.kernels import OnAxes

    one, two = Matern(2.5, 0.3), SquaredExponential(0.5, amplitude=2.0)
    offset = np.array([0.2, 0.4])
    both = one.taylor_remainder(offset, 1) ** 2 + two.taylor_remainder(offset, 1) ** 2
    assert (one + two).taylor_remainder(offset, 1) == pytest.approx(np.sqrt(both))
    assert OnAxes(one, [1]).taylor_remainder(offset, 2) == pytest.approx(one.taylor_remainder(offset[1:], 2))
    assert (one * two).taylor_remainder(offset, 0) == pytest.approx((one * two).modulus(offset))
