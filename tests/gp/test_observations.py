from __future__ import annotations

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.gp import Observations

RNG = np.random.default_rng(5)
X = RNG.random((4, 2))[[0, 1, 0, 2, 0, 1, 3]]
Y = RNG.normal(size=7)


def test_unknown_noise_keeps_means_counts_and_scatter() -> None:
    data = Observations.merge(X, Y)
    assert len(data) == 4
    np.testing.assert_array_equal(data.count, [3, 2, 1, 1])
    group = Y[[0, 2, 4]]
    assert data.y[0] == pytest.approx(group.mean())
    assert data.scatter[0] == pytest.approx(((group - group.mean()) ** 2).sum())
    np.testing.assert_allclose(data.noise_variance(0.6), [0.2, 0.3, 0.6, 0.6])


def test_within_likelihood_is_what_merging_leaves_out() -> None:
    """Product over raw values of N(y; f, v) = N(mean; f, v/r) * exp(within), for any f."""
    variance = 0.37
    data = Observations.merge(X, Y)
    f = RNG.normal(size=4)

    def log_normal(residual: np.ndarray, v: np.ndarray | float) -> float:
        return float(np.sum(-0.5 * (residual**2 / v + np.log(2 * np.pi * np.asarray(v)))) + 0.0 * residual.sum())

    raw = log_normal(Y - f[[0, 1, 0, 2, 0, 1, 3]], np.full(7, variance))
    merged = log_normal(data.y - f, data.noise_variance(variance))
    value, slope = data.within(variance)
    assert raw == pytest.approx(merged + value)
    step = 1e-6
    numeric = (data.within(variance * np.exp(step))[0] - data.within(variance * np.exp(-step))[0]) / (2 * step)
    assert slope == pytest.approx(numeric, rel=1e-6)


def test_known_variances_are_weighted_by_precision() -> None:
    v = RNG.uniform(0.1, 1.0, 7)
    data = Observations.merge(X, Y, v)
    rows = [0, 2, 4]
    assert data.y[0] == pytest.approx(np.average(Y[rows], weights=1 / v[rows]))
    assert data.known_variance[0] == pytest.approx(1 / (1 / v[rows]).sum())
    np.testing.assert_array_equal(data.noise_variance(99.0), data.known_variance)
    assert data.within(99.0) == (0.0, 0.0)


def test_noise_free_values_alone_count() -> None:
    data = Observations.merge([[0.1], [0.1], [0.1]], [5.0, 1.0, 2.0], [0.1, 0.0, 0.0])
    assert data.y[0] == 1.5
    assert data.known_variance[0] == 0.0


def test_two_kinds_stand_side_by_side() -> None:
    both = Observations.merge(X, Y) + Observations.merge(X[:1], [3.0], 0.2)
    assert len(both) == 5
    np.testing.assert_allclose(both.noise_variance(0.6)[[0, 4]], [0.2, 0.2])


def test_bad_input() -> None:
    with pytest.raises(InvalidInput, match=r"y: expected 7 entries, got 2"):
        Observations.merge(X, [1.0, 2.0])
    with pytest.raises(InvalidInput, match=r"noise_variance: expected variances >= 0, got -0.1"):
        Observations.merge(X, Y, -0.1)


def test_a_subset_keeps_what_is_known_of_its_means() -> None:
    data = Observations.merge([[0.1], [0.1], [0.2]], [1.0, 3.0, 5.0]) + Observations.merge([[0.1]], [7.0], 0.5)
    some = data.subset(np.array([2, 0]))
    assert some.x.tolist() == [[0.1], [0.1]]
    assert some.y.tolist() == [7.0, 2.0]
    assert some.count.tolist() == [0.0, 2.0]
    assert some.scatter.tolist() == [0.0, 2.0]
    assert some.known_variance.tolist() == [0.5, 0.0]


def test_an_extra_variance_comes_on_top() -> None:
    data = Observations.merge(X, Y) + Observations.merge(X[:1], [3.0], 0.2)
    more = data.with_extra(np.array([1, 4]), np.array([5.0, 7.0]))
    np.testing.assert_allclose(more.noise_variance(0.6), [0.2, 5.3, 0.6, 0.6, 7.2])
    np.testing.assert_array_equal(data.known_variance, [0, 0, 0, 0, 0.2])


def test_rows_are_merged_as_measurements_are() -> None:
    apart = Observations(X, Y, np.ones(7), np.zeros(7), np.zeros(7))
    for rows in (apart, Observations.merge(X[:4], Y[:4]) + Observations.merge(X[4:], Y[4:])):
        merged, wanted = rows.merged(), Observations.merge(X, Y)
        for name in ("x", "y", "count", "scatter", "known_variance"):
            np.testing.assert_allclose(getattr(merged, name), getattr(wanted, name), atol=1e-12)


def test_rows_with_a_known_part_stay_apart() -> None:
    apart = Observations(X, Y, np.ones(7), np.zeros(7), np.zeros(7)).with_extra(np.array([2]), np.array([9.0]))
    merged = (apart + Observations.merge(X[:1], [3.0], 0.2)).merged()
    assert merged.count.tolist() == [2, 2, 1, 1, 1, 0]
    assert merged.known_variance.tolist() == [0, 0, 0, 0, 9.0, 0.2]
    assert merged.y[4] == Y[2]
    assert len(merged.merged()) == 6


# --- noise factors


def test_factors_multiply_the_unknown_variance() -> None:
    """Of means, of replicates around them, and in every part of the observations."""
    data = Observations.merge(X, Y).with_noise_factor(np.full(len(Observations.merge(X, Y)), 4.0))
    plain = Observations.merge(X, Y)
    np.testing.assert_allclose(data.noise_variance(0.1), plain.noise_variance(0.4))
    np.testing.assert_allclose(data.within(0.1), plain.within(0.4))
    assert data.subset(np.array([0])).noise_factor.tolist() == [4.0]  # type: ignore[union-attr]
    assert data.with_extra(np.array([0]), np.array([1.0])).noise_factor is data.noise_factor
    both = plain + data
    assert both.noise_factor is not None
    assert both.noise_factor.tolist() == [1.0] * len(plain) + [4.0] * len(plain)
    assert (plain + plain).noise_factor is None


def test_replicates_with_uneven_factors_have_the_likelihood_of_each() -> None:
    """Against a sum over measurements around their means, with the variance of the point."""
    x, y = np.array([[0.1], [0.1], [0.9], [0.9], [0.9]]), np.array([1.0, 1.3, 2.0, 5.0, 3.5])
    apart = Observations(x, y, np.ones(5), np.zeros(5), np.zeros(5), np.array([0.5, 0.5, 3.0, 3.0, 3.0]))
    data = apart.merged()
    assert data.noise_factor is not None
    assert data.noise_factor.tolist() == [0.5, 3.0]
    np.testing.assert_allclose(data.noise_variance(0.2), [0.2 * 0.5 / 2, 0.2 * 3.0 / 3])
    wanted = 0.0
    for values, variance in ((y[:2], 0.1), (y[2:], 0.6)):
        r, scatter = len(values), ((values - values.mean()) ** 2).sum()
        wanted -= 0.5 * ((r - 1) * np.log(2 * np.pi * variance) + np.log(r) + scatter / variance)
    assert data.within(0.2)[0] == pytest.approx(wanted)
    assert data.within(0.2)[1] == pytest.approx((data.within(0.2 * np.exp(1e-6))[0] - wanted) / 1e-6, rel=1e-4)
