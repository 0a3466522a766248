"""Outliers: gains in closed form against direct ones, and which measurements are found in drawn data."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import HyperPosterior, HyperPriors, Observations
from quadrat.gp.ensemble import Ensemble
from quadrat.gp.outliers import _cost, _State, find_outliers
from quadrat.kernels import Matern, SquaredExponential
from quadrat.kernels.stationary import Stationary

KERNELS: tuple[Stationary, ...] = (Matern(0.5, 1.0), Matern(1.5, 1.0), Matern(2.5, 1.0), SquaredExponential(1.0))


def drawn(n: int, dimension: int, ratio: float, seed: int) -> tuple[Array, Array, float]:
    """Return points, a draw of a Gaussian process with noise there, and the noise's standard deviation."""
    rng = np.random.default_rng([seed, n, dimension])
    x = rng.random((n, dimension))
    h = np.sqrt((((x[:, None] - x[None]) / 0.5) ** 2).sum(axis=2))
    root = np.linalg.cholesky(KERNELS[2].profile(h) + 1e-9 * np.eye(n))
    noise = ratio**0.5
    return x, root @ rng.standard_normal(n) + noise * rng.standard_normal(n), noise


def posterior_of(x: Array, y: Array) -> HyperPosterior:
    """As a method sees them: values of mean 0 and standard deviation 1."""
    return HyperPosterior(Observations.merge(x, (y - y.mean()) / y.std()), KERNELS)


def test_gains_are_those_of_the_likelihood_where_the_amplitude_is_integrated() -> None:
    """Against the density of every extra variance on a fine grid, worked out anew."""
    x, y, _ = drawn(9, 2, 0.1, 0)
    y[4] += 3.0
    data = Observations.merge(np.vstack([x, x[:2]]), np.append(y, y[:2] + 0.3))
    posterior = HyperPosterior(data, KERNELS)
    theta, rho = np.array([0.5, 0.7]), 0.1
    found, gain = _State(posterior, 1, np.log([*theta, rho])).gains()
    h = np.sqrt((((data.x[:, None] - data.x[None]) / theta) ** 2).sum(axis=2))
    A = KERNELS[1].profile(h) + (1e-10) * np.eye(9) + rho * np.diag(1 / data.count)

    def density(extra: float, row: int) -> float:
        B = A.copy()
        B[row, row] += extra
        inverse = np.linalg.inv(B)
        u = inverse.sum(axis=1)
        Q = data.y @ inverse @ data.y - (u @ data.y) ** 2 / u.sum() + data.scatter.sum() / rho
        return float(
            -0.5 * np.linalg.slogdet(B)[1] - 0.5 * log(u.sum()) - (1 + (11 - 1) / 2) * log(HyperPriors().rate + Q / 2)
        )

    grid = np.append(0.0, np.exp(np.linspace(-9, 9, 1801)))
    for row in range(9):
        each = np.array([density(extra, row) for extra in grid]) - density(0.0, row)
        assert gain[row] == pytest.approx(each.max(), abs=1e-4)
        assert found[row] == pytest.approx(grid[each.argmax()], rel=0.02, abs=2e-4)
    assert gain.argmax() == 4


def test_gains_are_those_of_the_posterior_where_variances_are_known() -> None:
    """And the extra variance is the square of the leave-one-out residual minus its variance."""
    x, y, _ = drawn(10, 1, 0.1, 1)
    y[3] -= 2.0
    data = Observations.merge(x[:6], y[:6]) + Observations.merge(x[6:], y[6:], 0.05)
    posterior = HyperPosterior(data, KERNELS)
    mode = np.log([0.4, 0.1, 1.3])
    state = _State(posterior, 2, mode)
    found, gain = state.gains()
    at = posterior.value_and_gradient(2, mode)[0]
    for row in range(10):
        for factor in (0.9, 1.0, 1.1):
            more = data.with_extra(np.array([row]), np.array([found[row] * factor * 1.3**2]))
            higher = posterior.of(more).value_and_gradient(2, mode)[0] - at
            assert higher == pytest.approx(gain[row], abs=1e-7) if factor == 1.0 else higher <= gain[row] + 1e-9
    residual, variance = state.alpha[3] / state.C[3, 3], 1.3**2 / state.C[3, 3]
    assert found[3] * 1.3**2 == pytest.approx(residual**2 - variance)


@pytest.mark.parametrize("known", [0, 3])
def test_the_state_follows_changes(known: int) -> None:
    """Rank-one changes give the state of the changed data, and the gain of a row without what it has already."""
    x, y, _ = drawn(12, 2, 0.1, 2)
    data = Observations.merge(x[known:], y[known:])
    data = data + Observations.merge(x[:known], y[:known], 0.1) if known else data
    mode = np.log([0.5, 0.5, 0.1, 1.0])
    posterior = HyperPosterior(data.with_extra(np.array([1]), np.array([0.3])), KERNELS)
    changed = HyperPosterior(data.with_extra(np.array([1, 5]), np.array([0.3, 2.0])), KERNELS)
    state, wanted = _State(posterior, 2, mode), _State(changed, 2, mode)
    before = state.gains()
    state.add(5, 2.0)
    np.testing.assert_allclose(state.C, wanted.C, atol=1e-9)
    np.testing.assert_allclose(state.alpha, wanted.alpha, atol=1e-9)
    assert pytest.approx(wanted.T) == state.T
    extra = np.zeros(12)
    extra[5] = 2.0
    for old, new in zip(before, state.gains(extra), strict=True):
        assert new[5] == pytest.approx(old[5], rel=1e-7, abs=1e-9)


def test_the_prior_of_a_set_is_beta_binomial() -> None:
    """Each further outlier costs less, as more are expected then; the first also pays for there being any."""
    costs = [_cost(50, k) for k in range(4)]
    assert costs == sorted(costs, reverse=True)
    of_variance = log(log(1e6) / (4 * np.pi) ** 0.5)
    assert costs[0] == pytest.approx(log(68) + of_variance + log(20))
    assert costs[2] == pytest.approx(log(66 / 3) + of_variance)


def test_gaussian_noise_has_no_outliers() -> None:
    """Of 60 runs none, or one by chance: at most 2 % are wanted, and a hundredth part of that is likely here."""
    cases = [(n, d, ratio) for n in (12, 25, 50) for d in (1, 3) for ratio in (0.01, 0.1, 1.0)]
    flagged = [len(find_outliers(posterior_of(*drawn(*case, seed)[:2]))) > 0 for case in cases for seed in (1, 3, 5)]
    assert sum(flagged) <= 1


@pytest.mark.parametrize("seed", [1, 3, 5, 7])
def test_outliers_are_found_with_their_sign_and_size(seed: int) -> None:
    x, y, noise = drawn(50, 2, 0.05, seed)
    rows, sizes = np.array([4, 20, 33]), noise * np.array([30.0, -60.0, 90.0])
    y[rows] += sizes
    found = find_outliers(posterior := posterior_of(x, y))
    assert set(rows) <= set(found.rows.tolist())
    assert len(found) <= 4
    at = np.searchsorted(found.rows, rows)
    assert found.high[at].tolist() == [True, False, True]
    np.testing.assert_allclose(np.sqrt(found.extra_variance[at]) * y.std(), np.abs(sizes), rtol=0.4)
    data = found.applied(posterior.data)
    assert np.flatnonzero(data.known_variance).tolist() == found.rows.tolist()
    assert (data.count == 1).all()


def test_the_posterior_is_nearly_that_without_outliers() -> None:
    x, y, noise = drawn(50, 2, 0.01, 9)
    spoiled = y.copy()
    spoiled[[3, 30]] += noise * np.array([80.0, -400.0])
    found = find_outliers(posterior_of(x, spoiled))
    kept = np.setdiff1d(np.arange(50), found.rows)
    shift, scale = spoiled[kept].mean(), spoiled[kept].std()
    plain = Observations.merge(x, (spoiled - shift) / scale)
    errors = []
    for data in (plain.with_extra(found.rows, found.extra_variance * (spoiled.std() / scale) ** 2), plain):
        samples = HyperPosterior(data, KERNELS).sample(16, np.random.default_rng(0))
        mean = Ensemble.of_samples(data, KERNELS, samples, [0, 1]).predict(x).mean.mean(axis=0)
        errors.append(np.sqrt(np.mean((shift + scale * mean - y)[kept] ** 2)))
    assert errors[0] < 1.5 * noise < 0.5 * errors[1]


def test_one_of_two_measurements_of_a_point_is_an_outlier() -> None:
    """The other one still counts: it stays in the data as a measurement like all others."""
    x, y, noise = drawn(30, 1, 0.01, 3)
    x, y = np.vstack([x, x[5:9]]), np.append(y, y[5:9] + noise * np.array([0.4, -0.5, 0.6, 0.2]))
    y[6] += 50 * noise  # measured again as row 31
    y = (y - y.mean()) / y.std()
    merged = HyperPosterior(Observations.merge(x, y), KERNELS)
    apart = Observations(x, y, np.ones(34), np.zeros(34), np.zeros(34))
    found = find_outliers(merged, apart)
    assert found.rows.tolist() == [6]
    assert found.high.tolist() == [True]
    data = found.applied(apart)
    assert len(data) == 31
    assert data.count.sum() == 34
    assert (data.count == 2).sum() == 3
    assert data.y[-1] == y[6]
    assert data.known_variance[-1] > 0


def test_a_peak_that_was_measured_twice_is_no_outlier() -> None:
    x = np.linspace(0, 1, 30)[:, None]
    rng = np.random.default_rng(1)
    y = np.sin(6 * x[:, 0]) + 0.05 * rng.standard_normal(30)
    y[12] += 5.0
    once = find_outliers(posterior_of(x, y))
    assert once.rows.tolist() == [12]
    x, y = np.vstack([x, x[12:13], x[12:13]]), np.append(y, y[12] + np.array([0.04, -0.05]))
    y = (y - y.mean()) / y.std()
    apart = Observations(x, y, np.ones(32), np.zeros(32), np.zeros(32))
    assert not len(find_outliers(HyperPosterior(apart.merged(), KERNELS), apart))


def test_a_known_variance_does_not_protect_from_being_an_outlier() -> None:
    x, y, noise = drawn(30, 1, 0.01, 5)
    y[[2, 27]] += noise * np.array([60.0, -70.0])
    y = (y - y.mean()) / y.std()
    variance = (noise / 1.0) ** 2
    data = Observations.merge(x[:15], y[:15]) + Observations.merge(x[15:], y[15:], variance)
    found = find_outliers(HyperPosterior(data, KERNELS))
    assert {2, 27} <= set(found.rows.tolist())
    assert found.applied(data).known_variance[27] > 10 * variance


def test_where_nothing_can_be_said_there_are_none() -> None:
    x = np.linspace(0, 1, 12)[:, None]
    assert not len(find_outliers(HyperPosterior(Observations.merge(x, np.ones(12)), KERNELS)))
    few = np.array([0.0, 0.1, 0.0, 50.0, 0.1, 0.0, 0.1])
    assert not len(find_outliers(HyperPosterior(Observations.merge(x[:7], few), KERNELS)))


def test_a_quarter_at_most() -> None:
    rng = np.random.default_rng(3)
    x = rng.random((20, 1))
    y = np.sin(3 * x[:, 0]) + 0.01 * rng.standard_normal(20)
    y[:8] += rng.choice([-1, 1], 8) * 10 ** rng.uniform(1, 3, 8)
    assert len(find_outliers(posterior_of(x, y))) <= 5


def test_measurements_of_another_kind_are_refused() -> None:
    x, y, _ = drawn(10, 1, 0.1, 0)
    posterior = posterior_of(x, y)
    with pytest.raises(InvalidInput, match=r"measurements: expected those of the posterior"):
        find_outliers(posterior, Observations.merge(x, y, 0.1))
