"""Pairwise certificates: the bound of f(x) - f(z) by brute force, its coverage, and that mistakes in it are seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.confidence import AdaptiveBand, Assumptions, LocalBand, certified_gap, certify
from quadrat.confidence.bands import default_regulariser
from quadrat.confidence.contextual_band import ContextualBand
from quadrat.gp import GaussianProcess, Prediction
from quadrat.kernels import Kernel, Matern, RationalQuadratic, SquaredExponential
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNELS: list[Kernel] = [Matern(2.5, 0.3), Matern(1.5, 0.4, amplitude=1.5), SquaredExponential(0.3), Matern(0.5, 0.5)]
DELTA = 0.1


def brute_force(kernel: Kernel, X: Array, y: Array, x: Array, z: Array, B: float, sigma: float) -> float:
    """min over the ladder of a of mu_a(x) - mu_a(z) + sigma_a(x, z)/sqrt a sqrt(R^2 + a B^2 - a y^T (K + a I)^-1 y)."""
    lam = max(16 * sigma**2 / B**2, 1e-8 * kernel.variance)
    K, eye = kernel(X), np.eye(len(X))
    delta = 0.9 * DELTA  # a tenth bounds the noise
    R2 = sigma**2 * (2 * np.log(1 / delta) + np.linalg.slogdet(eye + K / lam)[1])
    R2 += lam * y @ np.linalg.solve(K + lam * eye, y)
    both = np.vstack([x, z])
    prior, cross, weights = kernel(both), kernel(both, X), np.array([1.0, -1.0])
    found = []
    for a in lam * np.array([1 / 16, 1 / 4, 1, 4, 16, 64]):
        inverse = np.linalg.inv(K + a * eye)
        variance = weights @ (prior - cross @ inverse @ cross.T) @ weights
        radius2 = R2 + a * B**2 - a * y @ inverse @ y
        found.append(weights @ cross @ inverse @ y + np.sqrt(max(variance, 0.0) / a * radius2))
    return float(min(found))


def told(kernel: Kernel, D: int, n: int, seed: int, noise: float = 0.1) -> tuple[AdaptiveBand, Any, Array, Array]:
    rng = generator(seed, 5)
    f = draw_rkhs_function(kernel, D, norm=1.0, rng=rng)
    X = rng.random((n, D))
    X[n // 2 :] = X[: n - n // 2]  # replicates
    y = f.values(X) + noise * rng.normal(size=n)
    band = AdaptiveBand(Assumptions(kernel, 1.0, noise), DELTA)
    band.add(X, y)
    return band, f, X, y


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("D", [1, 3])
def test_it_is_the_formula_or_what_is_smaller(kernel: Kernel, D: int) -> None:
    band, _, X, y = told(kernel, D, 24, D)
    given, points = band.assumptions, generator(2, D).random((12, D))
    z = points[0]
    at, apart = band.compare(points, z)
    plain = band.interval(points)
    assert np.allclose(at.upper, plain.upper)
    assert np.allclose(at.lower, plain.lower)
    for x, upper, bound in zip(points, plain.upper, apart, strict=True):
        pairs = brute_force(kernel, X, y, x, z, 1.0, 0.1)
        ends, modulus = upper - plain.lower[0], float(given.variation(x - z))
        assert bound == pytest.approx(min(pairs, ends, modulus), rel=0.01, abs=1e-6)
    assert apart[0] == 0.0, "f(z) - f(z)"


def test_pairs_are_narrower_than_both_ends_where_points_are_near() -> None:
    band, _, _, _ = told(Matern(2.5, 0.3), 2, 80, 1)
    z = np.array([0.4, 0.6])
    near = z + 0.05 * generator(1).uniform(-1, 1, (50, 2))
    at, apart = band.compare(near, z)
    ends = at.upper - band.interval(z[None]).lower[0]
    assert (apart <= ends).all()
    assert np.median(apart) < 0.5 * np.median(ends)


def test_rounding_never_makes_a_close_pair_too_small() -> None:
    """Against 60 digits, from 1e-9 to 1e-2 apart, with noise of 1e-4: pairs whose variance cancels."""
    mpmath = pytest.importorskip("mpmath")
    kernel, sigma = SquaredExponential(0.5), 1e-4
    X = np.linspace(0, 1, 12)[:, None]
    y = np.sin(3 * X[:, 0]) / 4
    band = AdaptiveBand(Assumptions(kernel, 1.0, sigma), DELTA)
    band.add(X, y)
    posterior = GaussianProcess(kernel, noise_variance=band.regulariser, jitter=False)
    posterior.add(X, y)
    z = 0.37
    with mpmath.workdps(60):

        def k(u: float, v: float) -> Any:
            return mpmath.exp(-((mpmath.mpf(u) - mpmath.mpf(v)) ** 2) / (2 * mpmath.mpf(0.5) ** 2))

        A = mpmath.matrix([[k(u, v) for v in X[:, 0]] for u in X[:, 0]]) + mpmath.mpf(band.regulariser) * mpmath.eye(12)
        for gap in 10.0 ** np.arange(-9, -1):
            x = z + gap
            c = mpmath.matrix([k(x, v) - k(z, v) for v in X[:, 0]])
            exact = 2 - 2 * k(x, z) - (c.T * mpmath.lu_solve(A, c))[0]
            prior = kernel.squared_modulus(np.array([[x - z]]))
            _, pair = posterior.predict_differences(posterior.cross([[x]]), posterior.cross([[z]]), prior)
            assert float(pair.deviation[0]) ** 2 >= float(exact)


# --- coverage, and that it can fail

RUNS, STEPS = 60, 18


def fails(seed: int) -> bool:
    """Whether f(x) - f(z) leaves its bound at any of 15 x 15 pairs after any of the evaluations, which adapt to it."""
    rng = generator(seed, 6)
    kernel = KERNELS[seed % 3]
    f = draw_rkhs_function(kernel, 1, norm=1.0, rng=rng)
    points = rng.random((15, 1))
    truth = f.values(points)
    band = AdaptiveBand(Assumptions(kernel, 1.0, 1.0), DELTA)
    for step in range(STEPS):
        pick = int(np.argmax(band.interval(points).upper + 1e-9 * rng.random(15))) if step % 2 else seed % 15
        band.add(points[pick : pick + 1], [truth[pick] + rng.normal()])
        for z, at in zip(points[::5], truth[::5], strict=True):
            if (truth - at > band.compare(points, z)[1] + 1e-9).any():
                return True
    return False


def test_pairs_cover_at_all_times() -> None:
    assert sum(fails(seed) for seed in range(RUNS)) <= DELTA * RUNS + 6


def with_plus_sign(self: GaussianProcess, cross: Array, at: Array, prior: Array) -> tuple[Prediction, Prediction]:
    """|U^-T (k_x + k_z)|^2 in the place of |U^-T (k_x - k_z)|^2."""
    w = self.cholesky.half_solve(np.vstack([cross, at]).T)
    together = w[:, :-1] + w[:, -1:]
    here, pair = PLAIN(self, cross, at, prior)
    variance = np.maximum(prior - np.einsum("ij,ij->j", together, together), 0.0)
    return here, Prediction(pair.mean, np.sqrt(variance))


def without_root(self: GaussianProcess, cross: Array, at: Array, prior: Array) -> tuple[Prediction, Prediction]:
    """1/sqrt lambda in the place of 1/sqrt a: the rung's factor is dropped."""
    here, pair = PLAIN(self, cross, at, prior)
    rung = self.noise_variance / default_regulariser(Assumptions(self.kernel, 1.0, 0.1))
    return here, Prediction(pair.mean, pair.deviation * np.sqrt(rung))


PLAIN = GaussianProcess.predict_differences


@pytest.mark.parametrize("mutation", [with_plus_sign, without_root])
def test_mistakes_are_seen(mutation: Callable[..., object], monkeypatch: pytest.MonkeyPatch) -> None:
    """By the brute force above: a wrong sign in the pair's variance and a dropped factor of the rung."""
    band, f, X, y = told(KERNELS[0], 1, 24, 3)
    points = generator(2).random((12, 1))
    pairs = np.array([brute_force(KERNELS[0], X, y, x, points[0], 1.0, 0.1) for x in points[1:]])
    honest = band.compare(points, points[0])[1][1:]
    monkeypatch.setattr(GaussianProcess, "predict_differences", mutation)
    wrong = band.compare(points, points[0])[1][1:]
    assert (honest >= np.minimum(pairs, honest) - 1e-9).all()
    assert (wrong < 0.9 * honest).any(), "bounds too small"
    truth = f.values(points)
    violated = 0
    for seed in range(12):
        band, f, X, y = told(KERNELS[0], 1, 24, 100 + seed)
        truth = f.values(points)
        for z, at in zip(points, truth, strict=True):
            violated += int((truth - at > band.compare(points, z)[1] + 1e-9).any())
    assert violated, "and f leaves them"


# --- the branch and bound over pairs


@pytest.mark.parametrize(
    ("kernel", "D"), [(KERNELS[0], 1), (KERNELS[0], 2), (KERNELS[1], 2), (RationalQuadratic(0.3), 2)]
)
def test_the_gap_is_above_every_pair_and_close_to_the_largest(kernel: Kernel, D: int) -> None:
    band, _, _, _ = told(kernel, D, 40, 7)
    z = np.full(D, 0.4)
    gap = certified_gap(band, z, dimension=D, max_cells=4096, tolerance=0.01)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 41)] * D), -1).reshape(-1, D)
    largest = band.compare(grid, z)[1].max()
    ceiling = band.assumptions.ceiling
    assert gap.resolved
    assert largest <= gap.value <= largest + 0.01 * ceiling + float(band.assumptions.variation(np.full(D, 1 / 80)))
    assert gap.maximum >= band.interval(grid).upper.max()


def test_a_gap_is_never_more_than_what_f_can_vary() -> None:
    band = AdaptiveBand(Assumptions(KERNELS[0], 2.0, 0.1), DELTA)
    assert certified_gap(band, [0.5], dimension=1).value <= float(band.assumptions.variation([0.5])) + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_every_band_has_pairs_that_hold(seed: int) -> None:
    rng = generator(seed, 8)
    kernel = Matern(2.5, 0.3)
    f = draw_rkhs_function(kernel, 2, norm=1.0, rng=rng)
    X = rng.random((60, 2))
    X[:30, 1] = 0.5
    given = Assumptions(kernel, 1.0, 0.1)
    local = LocalBand(given, DELTA, 2, capacity=16)
    context = ContextualBand(given, DELTA, np.array([False, True]))
    for band in (local, context):
        band.add(X, f.values(X) + 0.1 * rng.normal(size=60))
        grid, z = np.vstack([rng.random((200, 2)), X[:30]]), X[3]
        at, apart = band.compare(grid, z)
        assert (f.values(grid) - f.values(z[None]) <= apart + 1e-9).all()
        assert (apart <= at.upper - band.interval(z[None]).lower + 1e-12).all()
        assert (apart < at.upper - band.interval(z[None]).lower - 1e-3).any()
    assert local.cells > 1


def test_a_certificate_is_never_wider_than_max_less_lower_bound() -> None:
    band, f, _, _ = told(KERNELS[0], 2, 60, 11)
    found = certify(band, dimension=2)
    assert found.value <= found.maximum - found.certified_interval[0] + 1e-8
    assert f.maximum()[1] - float(f.values(found.point[None])[0]) <= found.value
