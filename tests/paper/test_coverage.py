"""Coverage: random f with ||f||_K = B exactly, adaptive designs, all points and all times at once.

Each bound may fail in at most delta of the runs. A test passes when the number of failing runs is not above the
threshold that a bound failing with probability exactly delta would exceed once in a thousand times (one-sided
binomial). Seeds are fixed. Settings are the sharp ones: sigma = 1 against B = 1, where nothing else gives slack, and
sigma = .1. To show that the tests can fail, mutations of each bound (no log 1/delta, half of b, the whole of delta for
every cell) go through the same runs and must be caught by the same threshold.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from quadrat._core.arrays import Array
from quadrat.confidence import (
    AdaptiveBand,
    Assumptions,
    Band,
    ChowdhuryGopalanBand,
    LocalBand,
    LocalPolynomial,
    SimpleBand,
    average_half_width,
    cell_average,
)
from quadrat.confidence.bands import LADDER
from quadrat.confidence.budget import cell_share
from quadrat.kernels import Kernel, Matern, SquaredExponential
from quadrat.partition import Cell
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

DELTA = 0.1
KERNEL = Matern(2.5, 0.3)


def most_failures(runs: int, delta: float = DELTA) -> int:
    """The largest count that a bound with failure probability delta exceeds at most once in a thousand times."""
    return int(binom.ppf(0.999, runs, delta))


# --- the Gaussian-process bands


def band_fails(make: Callable[[], Band], kernel: Kernel, dimension: int, noise: float, n: int, seed: int) -> bool:
    """One run: points chosen by the band's own upper bound, so that the design depends on the noise.

    f is checked on a grid that holds the design, after every observation.
    """
    rng = generator(seed, 1)
    f = draw_rkhs_function(kernel, dimension, norm=1.0, rng=rng)
    grid = rng.random((60, dimension))
    truth = np.asarray(f(grid))
    band = make()
    interval = band.interval(grid)
    for _ in range(n):
        pick = int(np.argmax(interval.upper + 1e-9 * rng.random(60)))
        band.add(grid[pick][None], [truth[pick] + noise * rng.normal()])
        interval = band.interval(grid)
        if (truth > interval.upper + 1e-9).any() or (truth < interval.lower - 1e-9).any():
            return True
    return False


@pytest.mark.parametrize(("noise", "dimension"), [(1.0, 1), (0.1, 2)])
@pytest.mark.parametrize("kind", [AdaptiveBand, SimpleBand])
def test_band_covers_with_probability_one_minus_delta(
    kind: type[AdaptiveBand] | type[SimpleBand], noise: float, dimension: int
) -> None:
    """|f - mu_N| <= beta_N sigma_N for all x and N at once, in at least 1 - delta of runs."""
    runs = 250
    given = Assumptions(KERNEL, 1.0, noise)
    failures = sum(band_fails(lambda: kind(given, DELTA), KERNEL, dimension, noise, 25, seed) for seed in range(runs))
    assert failures <= most_failures(runs)


def one_arm(runs: int, n: int, noise: float = 1.0) -> tuple[Array, Array]:
    """f nearly constant, all observations at one point: values of f, shape (runs,), and noise means (runs, n).

    The self-normalised bounds are then boundaries for a single random walk, and nearly exact.
    """
    rng = np.random.default_rng(20)
    f = rng.choice([-0.05, 0.05], runs)
    walk = (noise * rng.normal(size=(runs, n))).cumsum(1)
    return f, walk


def ridge_one_arm(f: Array, walk: Array, lam: float) -> tuple[Array, Array, Array]:
    """mu_N, sigma_N^2 and log det for N observations of one point with K = 1, in closed form; shapes (runs, n)."""
    counts = np.arange(1, walk.shape[1] + 1)
    mean = (counts * f[:, None] + walk) / (counts + lam)
    return mean, lam / (counts + lam), np.log1p(counts / lam)


@pytest.mark.parametrize(("mutation", "caught"), [("none", False), ("no log 1/delta", True), ("half the width", True)])
def test_simple_band_is_sharp_enough_to_notice_mutations(mutation: str, caught: bool) -> None:
    """2,000 walks of 2,000 steps at one point, B = .05, lambda = sigma^2 = 1; the closed form is checked beside."""
    runs, B, lam = 2000, 0.05, 1.0
    f, walk = one_arm(runs, 2000)
    mean, variance, logdet = ridge_one_arm(f, walk, lam)
    log_term = 0.0 if mutation == "no log 1/delta" else 2 * np.log(1 / DELTA)
    factor = 0.5 if mutation == "half the width" else 1.0
    beta = factor * np.sqrt(B**2 + (log_term + logdet) / lam)
    failures = int((np.abs(f[:, None] - mean) > beta * np.sqrt(variance)).any(1).sum())
    assert (failures > most_failures(runs)) == caught, failures
    if mutation == "none":
        assert failures > 0.02 * runs, "a bound that never fails here would be far too wide"
        for run, count in ((0, 40), (1, 400), (2, 2000)):  # the class computes what was tested here
            band = SimpleBand(Assumptions(SquaredExponential(5.0), B, 1.0), DELTA, regulariser=lam)
            band.add(np.full((count, 1), 0.5), f[run] + np.diff(walk[run, :count], prepend=0.0))
            assert band.beta == pytest.approx(beta[count - 1], rel=1e-9)


@pytest.mark.parametrize(("mutation", "caught"), [("none", False), ("no log 1/delta", True), ("half the width", True)])
def test_adaptive_band_is_sharp_enough_to_notice_mutations(mutation: str, caught: bool) -> None:
    """The same walks through the adaptive formula; B = 4, so that its lambda is 1; the class is checked beside."""
    runs, B = 2000, 4.0
    f, walk = one_arm(runs, 400)
    log_term = 0.0 if mutation == "no log 1/delta" else 2 * np.log(1 / (0.9 * DELTA))
    lower, upper = adaptive_one_arm(f, walk, B, log_term, 0.5 if mutation == "half the width" else 1.0)
    failures = int(((f[:, None] > upper) | (f[:, None] < lower)).any(1).sum())
    assert (failures > most_failures(runs)) == caught, failures
    if mutation == "none":
        for run, count in ((0, 40), (1, 200), (2, 400)):  # the class computes what was tested here
            band = AdaptiveBand(Assumptions(SquaredExponential(5.0), B, 1.0), DELTA)
            band.add(np.full((count, 1), 0.5), f[run] + np.diff(walk[run, :count], prepend=0.0))
            np.testing.assert_allclose(band.interval([[0.5]]).upper, upper[run, count - 1], rtol=1e-6)


def adaptive_one_arm(f: Array, walk: Array, B: float, log_term: float, factor: float) -> tuple[Array, Array]:
    """Lower and upper bounds at the one point after N observations, sigma = 1, in closed form; shapes (runs, n)."""
    squares = (np.diff(walk, prepend=0.0, axis=1) + f[:, None]) ** 2
    counts = np.arange(1, walk.shape[1] + 1)
    lam = 16 / B**2
    total = counts * f[:, None] + walk

    def quadratic(a: float) -> Array:  # y^T (K + a I)^-1 y with K the matrix of ones
        return np.asarray((squares.cumsum(1) - total**2 / (counts + a)) / a)

    R2 = log_term + np.log1p(counts / lam) + lam * quadratic(lam)
    lower, upper = np.full(walk.shape, -B), np.full(walk.shape, B)
    for a in lam * np.array(LADDER):
        mean, variance, _ = ridge_one_arm(f, walk, a)
        radicand = R2 + a * B**2 - a * quadratic(a)
        half = factor * np.sqrt(variance / a * np.maximum(radicand, 0.0))
        lower, upper = np.maximum(lower, mean - half), np.minimum(upper, mean + half)
    return lower, upper


# --- bands of cells


CAPACITY = 8  # so that cells are divided within the few observations of a run


@pytest.mark.parametrize(("noise", "dimension"), [(1.0, 1), (0.1, 2)])
@pytest.mark.parametrize(("mutation", "caught"), [("none", False), ("half the width and all of delta", True)])
def test_local_band_covers_with_probability_one_minus_delta(
    mutation: str, caught: bool, noise: float, dimension: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bands of all cells at once, while observations that depend on the noise divide them.

    The mutation leaves the root as it is: only bands of cells that were divided off can fail.
    """
    runs, root = 30, DELTA * cell_share(0)

    class Narrow(AdaptiveBand):
        def _update(self) -> None:
            super()._update()
            if self.delta != root:
                self._reach = self._reach / 2

    def generous(depth: int) -> float:
        return 1.0 if depth else cell_share(0)

    if caught:
        monkeypatch.setattr("quadrat.confidence.local_band.AdaptiveBand", Narrow)
        monkeypatch.setattr("quadrat.confidence.local_band.cell_share", generous)
    given = Assumptions(KERNEL, 1.0, noise)
    made: list[LocalBand] = []

    def make() -> LocalBand:
        made.append(LocalBand(given, DELTA, dimension, capacity=CAPACITY))
        return made[-1]

    failures = sum(band_fails(make, KERNEL, dimension, noise, 30, seed) for seed in range(runs))
    assert (failures > most_failures(runs)) == caught, failures
    assert np.mean([band.cells > 1 for band in made]) >= 0.9
    assert caught or np.mean([band.cells for band in made]) > 4


@pytest.mark.parametrize(("mutation", "caught"), [("none", False), ("all of delta for every cell", True)])
def test_shares_of_cells_are_sharp_enough_to_notice_that_they_are_missing(mutation: str, caught: bool) -> None:
    """One walk in each of 16 cells, 1,000 runs of 100 steps a cell: all bands hold at once, or one of them fails.

    The length-scale is so short that cells know nothing of each other; the class is checked beside.
    """
    runs, n, B, depth = 1000, 100, 4.0, 4
    f, walk = one_arm(16 * runs, n)
    share = 1.0 if mutation == "all of delta for every cell" else cell_share(depth)
    lower, upper = adaptive_one_arm(f, walk, B, 2 * np.log(1 / (0.9 * DELTA * share)), 1.0)
    failed = ((f[:, None] > upper) | (f[:, None] < lower)).any(1)
    failures = int(failed.reshape(runs, 16).any(1).sum())
    assert (failures > most_failures(runs)) == caught, failures
    if mutation == "none":
        centres = (np.arange(16)[:, None] + 0.5) / 16
        band = LocalBand(Assumptions(SquaredExponential(0.005), B, 1.0), DELTA, 1, capacity=2)
        values = f[:16, None] + np.diff(walk[:16], prepend=0.0, axis=1)
        for steps in np.split(np.arange(n), 5):
            band.add(np.tile(centres, (len(steps), 1)), values[:, steps].T.ravel())
        assert band.cells == 16
        np.testing.assert_allclose(band.interval(centres).upper, upper[:16, -1], rtol=1e-6)
        np.testing.assert_allclose(band.interval(centres).lower, lower[:16, -1], rtol=1e-6)


def test_chowdhury_gopalan_holds_as_published_and_fails_with_the_customary_regulariser() -> None:
    """sigma = .1, delta = .1, n = 30: with lambda = 1 + 2/n it covers; with lambda = sigma^2 it fails in most runs."""
    runs, n, noise = 40, 30, 0.1
    given = Assumptions(KERNEL, 1.0, noise)

    def published() -> ChowdhuryGopalanBand:
        return ChowdhuryGopalanBand(given, DELTA, budget=n)

    def customary() -> ChowdhuryGopalanBand:
        return ChowdhuryGopalanBand(given, DELTA, budget=n, regulariser=noise**2)

    assert sum(band_fails(published, KERNEL, 2, noise, n, seed) for seed in range(runs)) <= most_failures(runs)
    failing = sum(band_fails(customary, KERNEL, 2, noise, n, seed) for seed in range(runs))
    assert failing >= 0.9 * runs


# --- averages over cells


@pytest.mark.parametrize(("mutation", "caught"), [("none", False), ("no log 1/delta", True), ("half of b", True)])
def test_cell_average_bound_covers_and_its_mutations_do_not(mutation: str, caught: bool) -> None:
    """All times at once: the mean of the noise stays below b(F), in 2,000 walks of 2,000 steps."""
    runs, n = 2000, 2000
    _, walk = one_arm(runs, n)
    delta = 1 - 1e-12 if mutation == "no log 1/delta" else DELTA
    b = np.array([average_half_width(count, 1.0, delta) for count in range(1, n + 1)])
    b *= 0.5 if mutation == "half of b" else 1.0
    failures = int((np.abs(walk) / np.arange(1, n + 1) > b).any(1).sum())
    assert (failures > most_failures(runs)) == caught, failures


@pytest.mark.parametrize("noise", [1.0, 0.1])
def test_cell_average_bounds_the_maximum_over_the_cell(noise: float) -> None:
    """max_F f <= upper, at every time, for points drawn towards what looked high so far; D = 1 and a child cell too."""
    runs = 150
    given = Assumptions(KERNEL, 1.0, noise)
    failures = 0
    for seed in range(runs):
        rng = generator(seed, 2)
        f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=rng)
        cell = Cell([0.25], [0.5])
        inside = np.linspace(0.25, 0.5, 50)[:, None]
        truth = np.asarray(f(inside))
        top, bottom = float(truth.max()), float(truth.min())
        X, y = np.zeros((0, 1)), np.zeros(0)
        failed = False
        for step in range(40):
            centre = X[int(np.argmax(y))] if step % 2 and len(y) else rng.random(1)
            x = np.clip(centre + 0.02 * rng.normal(size=1), 0, 1)[None]
            X, y = np.vstack([X, x]), np.append(y, f(x) + noise * rng.normal())
            mask = cell.contains(X)
            bound = cell_average(cell, X[mask], y[mask], given, DELTA)
            failed |= top > bound.upper + 1e-9 or bottom < bound.lower - 1e-9
        failures += failed
    assert failures <= most_failures(runs)


# --- local polynomials


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("noise", [1.0, 0.1])
def test_polynomial_bound_covers(degree: int, noise: float) -> None:
    """|f - estimate| <= err on a grid of the cell, after every fifth observation, adaptive design, D = 1."""
    runs = 100
    given = Assumptions(KERNEL, 1.0, noise)
    cell = Cell([0.0], [0.5])
    grid = np.linspace(0.0, 0.4999, 25)[:, None]
    failures = 0
    for seed in range(runs):
        rng = generator(seed, 3)
        f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=rng)
        truth = f(grid)
        X, y = np.zeros((0, 1)), np.zeros(0)
        failed = False
        for step in range(40):
            pick = int(np.argmax(y)) if step % 2 and len(y) else -1
            x = np.clip((X[pick] if pick >= 0 else 0.5 * rng.random(1)) + 0.01 * rng.normal(size=1), 0, 0.4999)[None]
            X, y = np.vstack([X, x]), np.append(y, f(x) + noise * rng.normal())
            if step % 5 == 4:
                model = LocalPolynomial(cell, X, y, degree=degree, assumptions=given, delta=DELTA)
                failed |= bool((np.abs(truth - model.estimate(grid)) > model.error(grid) + 1e-9).any())
        failures += failed
    assert failures <= most_failures(runs)


@pytest.mark.parametrize(("mutation", "caught"), [("none", False), ("no log 1/delta", True), ("half the noise", True)])
def test_polynomial_noise_term_is_sharp_enough_to_notice_mutations(mutation: str, caught: bool) -> None:
    """Degree 1 over [0, 1], noise only: phi^T V^-1 Phi^T eta against its bound, all x and all times at once.

    The largest ratio over x is the self-normalised sum ||Phi^T eta||_(V^-1), which is computed directly.
    """
    runs, n = 1500, 300
    rng = np.random.default_rng(5)
    x = rng.random((runs, n))
    phi = np.stack([np.ones_like(x), np.sqrt(3) * (2 * x - 1)], -1)
    sums = (phi * rng.normal(size=(runs, n, 1))).cumsum(1)
    V = np.eye(2) + np.einsum("rnp,rnq->rnpq", phi, phi).cumsum(1)
    norm = np.sqrt(np.einsum("rnp,rnp->rn", sums, np.linalg.solve(V, sums[..., None])[..., 0]))
    logdet = np.linalg.slogdet(V)[1]
    log_term = 0.0 if mutation == "no log 1/delta" else 2 * np.log(1 / DELTA)
    bound = (0.5 if mutation == "half the noise" else 1.0) * np.sqrt(log_term + logdet)
    failures = int((norm > bound).any(1).sum())
    assert (failures > most_failures(runs)) == caught, failures
    if mutation == "none":
        model = LocalPolynomial(
            Cell.unit(1), x[0][:, None], np.zeros(n), degree=1, assumptions=Assumptions(KERNEL, 1.0, 1.0), delta=DELTA
        )
        leverage = np.sqrt(phi[0, 7] @ np.linalg.solve(V[0, -1], phi[0, 7]))
        assert model.noise_error(x[0, 7:8][:, None])[0] == pytest.approx(leverage * bound[0, -1], rel=1e-9)
