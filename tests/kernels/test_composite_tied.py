"""Tied length-scales: the inner kernel's values, one hyper-parameter for each group, and what the fit makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.gp import LogPosterior, Observations, fit_map
from quadrat.kernels import GammaExponential, Matern, PiecewisePolynomial, RationalQuadratic, SquaredExponential, Tied
from quadrat.kernels.stationary import Stationary, squared_differences

RNG = np.random.default_rng(5)
X, Z = RNG.random((7, 4)), RNG.random((5, 4))
SCALES = (0.25, 0.5, 0.25, 0.5)  # powers of two: exact under any rounding
GROUPS = (0, 1, 0, 1)
KERNELS: dict[str, Stationary] = {
    "matern": Matern(2.5, SCALES, amplitude=2.0),
    "rough": Matern(0.5, SCALES),
    "se": SquaredExponential(SCALES),
    "ge": GammaExponential(1.5, SCALES),
    "pp": PiecewisePolynomial(2, 4, (2.0, 4.0, 2.0, 4.0)),
}


@pytest.fixture(params=list(KERNELS.values()), ids=list(KERNELS))
def inner(request: pytest.FixtureRequest) -> Stationary:
    assert isinstance(request.param, Stationary)
    return request.param


def difference(function: object, at: Array, step: float = 1e-6) -> Array:
    """Central differences of a scalar function in each entry of `at`."""
    steps = step * np.eye(len(at))
    return np.array([(function(at + e) - function(at - e)) / (2 * step) for e in steps])  # type: ignore[operator]


def test_values_gradients_and_facts_are_those_of_the_inner_kernel(inner: Stationary) -> None:
    tied = Tied(inner, GROUPS)
    np.testing.assert_array_equal(tied(X, Z), inner(X, Z))
    np.testing.assert_array_equal(tied(X), inner(X))
    W = RNG.normal(size=(7, 5))
    np.testing.assert_array_equal(tied.x_vjp(X, Z)[1](W), inner.x_vjp(X, Z)[1](W))
    offsets = X[:5] - Z
    np.testing.assert_array_equal(tied.modulus(offsets), inner.modulus(offsets))
    np.testing.assert_array_equal(tied.taylor_remainder(offsets, 0), inner.taylor_remainder(offsets, 0))
    assert (tied.variance, tied.dimension, tied.holder()) == (inner.variance, 4, inner.holder())
    assert tied.information_gain_rate(4) == inner.information_gain_rate(4)
    with pytest.raises(InvalidInput, match="4"):
        tied.check_dimension(3)


@pytest.mark.parametrize("groups", [(0, 1, 0, 1), (1, 0, 1, 0), (0, 1, 2, 3), (2, 1, 0, 1)], ids=str)
def test_hyper_gradient_equals_finite_differences(inner: Stationary, groups: tuple[int, ...]) -> None:
    """With and without Z, for groups that interleave, count backwards, or hold one column each."""
    tied = Tied(inner, groups)
    start = tied.hyperparameters
    assert len(tied.hyperparameter_names) == start.size == max(groups) + 2
    K, pull = tied.hyper_vjp(X, Z)
    np.testing.assert_allclose(K, inner(X, Z), rtol=1e-14)
    W = RNG.normal(size=K.shape)
    numeric = difference(lambda logs: np.vdot(W, tied.with_hyperparameters(logs)(X, Z)), start)
    np.testing.assert_allclose(pull(W), numeric, rtol=2e-6, atol=2e-8)
    W = RNG.normal(size=(7, 7))
    W += W.T
    numeric = difference(lambda logs: np.vdot(W, tied.with_hyperparameters(logs)(X)), start)
    np.testing.assert_allclose(tied.hyper_vjp(X)[1](W), numeric, rtol=2e-6, atol=2e-8)


@pytest.mark.parametrize("groups", [(0, 1, 0, 1), (1, 0, 1, 0), (0, 1, 2, 3), (2, 1, 0, 1)], ids=str)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_upper_hyper_gradient_is_the_symmetric_one(inner: Stationary, groups: tuple[int, ...], n: int) -> None:
    """One entry for each group, from the diagonal of the weights and what is above it."""
    tied = Tied(inner, groups)
    W = RNG.normal(size=(n, n))
    W += W.T
    K, pull = tied.upper_hyper_vjp(squared_differences(X[:n]), n)
    np.testing.assert_allclose(np.triu(K), np.triu(inner(X[:n])), rtol=1e-12)
    assert not np.tril(K, -1).any()
    got = pull(np.triu(W) + np.tril(np.full((n, n), 99.0), -1))
    assert got.shape == (max(groups) + 2,)
    np.testing.assert_allclose(got, tied.hyper_vjp(X[:n])[1](W), rtol=1e-9, atol=1e-11)


def test_a_kernel_built_without_checks_is_the_checked_one(inner: Stationary) -> None:
    tied = Tied(inner, GROUPS)
    logs = tied.hyperparameters + np.linspace(-0.4, 0.3, 3)
    unchecked, checked = tied._with_logs(logs), tied.with_hyperparameters(logs)
    assert unchecked == checked
    assert (hash(unchecked), repr(unchecked)) == (hash(checked), repr(checked))
    assert unchecked == Tied(unchecked.kernel, unchecked.groups)  # what the constructor accepts, unchanged
    np.testing.assert_array_equal(unchecked(X, Z), checked(X, Z))
    squares = squared_differences(X)
    np.testing.assert_array_equal(unchecked.upper_hyper_vjp(squares, 7)[0], checked.upper_hyper_vjp(squares, 7)[0])


def test_new_hyperparameters_go_to_every_column_of_their_group() -> None:
    tied = Tied(Matern(2.5, (0.5, 0.25, 0.25), amplitude=2.0), [1, 0, 0])
    np.testing.assert_allclose(np.exp(tied.hyperparameters), [0.25, 0.5, 2.0])
    moved = tied.with_hyperparameters(np.log([0.3, 0.7, 1.1]))
    np.testing.assert_allclose(np.asarray(moved.kernel.lengthscales), [0.7, 0.3, 0.3])
    assert moved.variance == pytest.approx(1.21)
    assert moved.groups == tied.groups == (1, 0, 0)
    np.testing.assert_allclose(moved.hyperparameters, np.log([0.3, 0.7, 1.1]), atol=1e-15)


@pytest.mark.parametrize("scale", [0.01, 0.03, 0.1, 0.3, 1 / 3, 3.0])
def test_equal_scales_are_taken_whatever_they_are(scale: float) -> None:
    """exp(log x) is not always x: that is no reason to call equal numbers unequal, or to change them."""
    tied = Tied(Matern(2.5, (scale, scale, 0.7), amplitude=scale), [0, 0, 1])
    assert tied.kernel.lengthscales == (scale, scale, 0.7)


def test_kernels_with_equal_fields_are_equal() -> None:
    one, other = (Tied(Matern(2.5, (0.5, 0.5)), groups) for groups in ([0, 0], (0, 0)))
    assert one == other
    assert hash(one) == hash(other)
    assert one != Tied(Matern(2.5, (0.5, 0.5)), [0, 1])


def test_the_fit_is_that_of_the_inner_kernel_along_equal_scales() -> None:
    """Its evidence is the inner kernel's at the spread parameters, and no step of 2 % along any of them is better."""
    x = RNG.random((30, 3))
    y = np.sin(6 * x[:, 0]) + 0.3 * (x[:, 1] + x[:, 2]) + 0.05 * RNG.normal(size=30)
    data = Observations.merge(x, 10 + 5 * y)
    fit = fit_map(Tied(Matern(2.5, (0.5, 0.5, 0.5)), [0, 1, 1]), data)
    assert isinstance(fit.kernel, Tied)
    assert isinstance(fit.kernel.kernel, Matern)
    short, long, same = np.asarray(fit.kernel.kernel.lengthscales)
    assert long == same > short
    assert fit.converged
    inner = LogPosterior(Matern(2.5, (0.5, 0.5, 0.5)), data)
    spread = fit.parameters[[0, 1, 1, 2, 3]]
    assert fit.log_evidence == pytest.approx(inner.evaluate(spread)[0], abs=1e-8)
    tied = LogPosterior(Tied(Matern(2.5, (0.5, 0.5, 0.5)), [0, 1, 1]), data)
    assert tied.names == ("lengthscale[0]", "lengthscale[1]", "amplitude", "noise_variance")
    best, _ = tied(fit.parameters)
    for step in 0.02 * np.vstack([np.eye(4), -np.eye(4)]):
        assert tied(fit.parameters + step)[0] <= best + 1e-3
    posterior = fit.posterior(data)
    assert np.corrcoef(posterior.predict_mean(x), y)[0, 1] > 0.99


@pytest.mark.parametrize(
    ("kernel", "groups", "words"),
    [
        (Matern(2.5, (0.5, 0.25)), (0, 0), ["equal length-scales", "(0.5, 0.25)"]),
        (Matern(2.5, (0.5, 0.5, 0.5 + 1e-12)), (0, 0, 0), ["equal length-scales"]),
        (Matern(2.5, (0.5, 0.5)), (0, 2), ["groups", "without gaps", "(0, 2)"]),
        (Matern(2.5, (0.5, 0.5)), (1, 1), ["groups", "without gaps"]),
        (Matern(2.5, (0.5, 0.5)), (-1, 0), ["groups", "without gaps"]),
        (Matern(2.5, (0.5, 0.5)), (0,), ["groups", "2 numbers"]),
        (Matern(2.5, (0.5, 0.5)), (0, 0, 0), ["groups", "2 numbers"]),
        (Matern(2.5, (0.5, 0.5)), (), ["groups", "2 numbers"]),
        (Matern(2.5, (0.5, 0.5)), (0.5, 0.2), ["groups"]),
        (Matern(2.5, (0.5, 0.5)), ("a", "b"), ["groups"]),
        (Matern(2.5, (0.5, 0.5)), None, ["groups"]),
        (Matern(2.5, 0.5), (0, 0), ["one length-scale for each column"]),
        (RationalQuadratic(1.5, (0.5, 0.5)), (0, 0), ["one length-scale for each column"]),
        (Matern(2.5, (0.5, 0.5)) + Matern(1.5, (0.5, 0.5)), (0, 0), ["one length-scale for each column"]),
        (0.5, (0, 0), ["one length-scale for each column", "0.5"]),
    ],
)
def test_bad_input_says_what_was_expected_and_what_came(kernel: Stationary, groups: object, words: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        Tied(kernel, groups)  # type: ignore[arg-type]
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("logs", [[0.0], [0.0, 0.0, 0.0], [0.0, np.nan]], ids=str)
def test_wrong_hyperparameters(logs: list[float]) -> None:
    with pytest.raises(InvalidInput, match="hyperparameters"):
        Tied(Matern(2.5, (0.5, 0.5)), (0, 0)).with_hyperparameters(logs)
