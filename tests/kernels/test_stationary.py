"""The stationary kernels against scikit-learn, against high precision arithmetic, and against each other."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.gaussian_process.kernels as sk

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import (
    GammaExponential,
    Holder,
    Matern,
    PiecewisePolynomial,
    RationalQuadratic,
    SquaredExponential,
    Stationary,
)
from quadrat.kernels.stationary import squared_differences

RNG = np.random.default_rng(1)
X, Z = RNG.random((9, 3)), RNG.random((6, 3))
ARD = np.array([0.3, 0.7, 1.4])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (SquaredExponential(ARD), sk.RBF(ARD)),
        (Matern(0.5, ARD), sk.Matern(ARD, nu=0.5)),
        (Matern(1.5, ARD), sk.Matern(ARD, nu=1.5)),
        (Matern(2.5, ARD), sk.Matern(ARD, nu=2.5)),
        (Matern(1.7, ARD), sk.Matern(ARD, nu=1.7)),
        (Matern(4.0, 0.6), sk.Matern(0.6, nu=4.0)),
        (RationalQuadratic(0.8, 0.5), sk.RationalQuadratic(0.5, alpha=0.8)),
    ],
    ids=repr,
)
def test_values_equal_scikit_learn(ours: Stationary, theirs: sk.Kernel) -> None:
    np.testing.assert_allclose(ours(X, Z), theirs(X, Z), rtol=1e-10)


@pytest.mark.parametrize(
    ("ours", "theirs", "order"),
    [
        (SquaredExponential(ARD), sk.RBF(ARD), [0, 1, 2]),
        (Matern(0.5, ARD), sk.Matern(ARD, nu=0.5), [0, 1, 2]),
        (Matern(1.5, ARD), sk.Matern(ARD, nu=1.5), [0, 1, 2]),
        (Matern(2.5, ARD), sk.Matern(ARD, nu=2.5), [0, 1, 2]),
        (RationalQuadratic(0.8, 0.5), sk.RationalQuadratic(0.5, alpha=0.8), [2, 0]),
    ],
    ids=repr,
)
def test_hyper_gradients_equal_scikit_learn(ours: Stationary, theirs: sk.Kernel, order: list[int]) -> None:
    _, gradient = theirs(X, eval_gradient=True)  # (n, n, p), without the amplitude; its alpha comes before its length
    W = RNG.normal(size=(9, 9))
    W += W.T
    ours_without_amplitude = np.delete(ours.hyper_vjp(X)[1](W), -2 if "a" in ours.hyperparameter_names else -1)
    theirs_in_our_order = np.einsum("ab,abp->p", W, gradient)[np.argsort(np.argsort(order))]
    np.testing.assert_allclose(ours_without_amplitude, theirs_in_our_order, rtol=1e-9, atol=1e-12)


# --- squared differences that are worked out once


@pytest.mark.parametrize(("n", "dimension"), [(0, 2), (1, 1), (1, 3), (2, 1), (2, 3), (6, 4)])
def test_squared_differences_equal_a_loop(n: int, dimension: int) -> None:
    """Pairs in the order (0, 1), (0, 2), ..., (1, 2), ...; none for one point."""
    points = RNG.normal(size=(n, dimension))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    wanted = np.array([[(points[i, axis] - points[j, axis]) ** 2 for i, j in pairs] for axis in range(dimension)])
    got = squared_differences(points)
    assert got.shape == (dimension, n * (n - 1) // 2)
    np.testing.assert_allclose(got, wanted.reshape(dimension, -1), rtol=1e-15)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_upper_hyper_gradient_is_the_symmetric_one(stationary: Stationary, n: int) -> None:
    """The matrix from the diagonal upwards, nothing below it; of the weights nothing below it is looked at."""
    W = RNG.normal(size=(n, n))
    W += W.T
    K, pull = stationary.upper_hyper_vjp(squared_differences(X[:n]), n)
    whole_K, whole_pull = stationary.hyper_vjp(X[:n])
    np.testing.assert_allclose(np.triu(K), np.triu(whole_K), rtol=1e-12)
    assert not np.tril(K, -1).any()
    got = pull(np.triu(W) + np.tril(np.full((n, n), 99.0), -1))
    assert got.shape == stationary.hyperparameters.shape
    np.testing.assert_allclose(got, whole_pull(W), rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(pull(np.triu(W)), got)


def test_upper_hyper_gradient_equals_finite_differences(stationary: Stationary) -> None:
    """Of the sum of all entries, weighted: those above the diagonal count twice."""
    W, start, step = np.triu(RNG.normal(size=(9, 9))), stationary.hyperparameters, 1e-6
    _, pull = stationary.upper_hyper_vjp(squared_differences(X), 9)
    twice = W + np.triu(W, 1)
    sums = [
        [np.vdot(twice, stationary.with_hyperparameters(start + side * step * e)(X)) for side in (1, -1)]
        for e in np.eye(len(start))
    ]
    np.testing.assert_allclose(pull(W), [(up - down) / (2 * step) for up, down in sums], rtol=2e-6, atol=2e-8)


def test_upper_hyper_gradient_where_points_coincide_or_nearly_do(stationary: Stationary) -> None:
    """Three points, the same again, and once more 1e-9 away: as accurate as the other way, and finite."""
    near = np.vstack([X[:3], X[:3], X[:3] + np.array([0.0, 1e-9, 0.0])])
    W = RNG.normal(size=(9, 9))
    W += W.T
    K, pull = stationary.upper_hyper_vjp(squared_differences(near), 9)
    np.testing.assert_allclose(np.triu(K), np.triu(stationary(near)), rtol=1e-12)
    np.testing.assert_allclose(pull(W), stationary.hyper_vjp(near)[1](W), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_general_matern_equals_the_closed_forms(nu: float) -> None:
    """The Bessel path, reached at nu + 1e-13, agrees with the closed forms in value, complement and slope."""
    h = np.logspace(-6, 1.3, 60)
    closed, general = Matern(nu), Matern(nu + 1e-13)
    np.testing.assert_allclose(general.profile(h), closed.profile(h), rtol=1e-10)
    np.testing.assert_allclose(general.complement(h), closed.complement(h), rtol=1e-10)
    np.testing.assert_allclose(general.slope(h), closed.slope(h), rtol=1e-10)


def test_matern_tends_to_the_squared_exponential() -> None:
    h = np.linspace(0, 3, 20)
    np.testing.assert_allclose(Matern(2000.0).profile(h), SquaredExponential().profile(h), atol=1e-3)
    np.testing.assert_allclose(Matern(1e4).profile(h), SquaredExponential().profile(h), atol=1e-4)
    assert Matern(1e4).profile(np.logspace(-9, 0, 100)).max() <= 1.0
    assert np.isfinite(Matern(0.005).modulus(np.array([[1e-200], [1e-120], [1e-16]]))).all()
    assert Matern(1.2).modulus([[np.inf]]) == pytest.approx(np.sqrt(2))
    assert Matern(2000.0).profile(np.array([0.0, 1e-12]))[1] == pytest.approx(1.0, abs=1e-12)


def test_known_relations() -> None:
    h = np.linspace(0, 2, 30)
    np.testing.assert_allclose(GammaExponential(1.0).profile(h), Matern(0.5).profile(h))
    np.testing.assert_allclose(GammaExponential(2.0).profile(h), SquaredExponential().profile(np.sqrt(2) * h))
    np.testing.assert_allclose(RationalQuadratic(1e9).profile(h), SquaredExponential().profile(h), atol=1e-8)


def test_slope_is_the_derivative_over_h(stationary: Stationary) -> None:
    h = np.array([0.05, 0.3, 0.8])
    step = 1e-6
    numeric = (stationary.profile(h + step) - stationary.profile(h - step)) / (2 * step * h)
    np.testing.assert_allclose(stationary.slope(h), numeric, rtol=1e-6, atol=1e-8)


def test_derivatives_follow_each_other(stationary: Stationary) -> None:
    top = 4 if stationary.max_degree is None else min(stationary.max_degree, 4)
    h = np.array([0.05, 0.3, 0.8])
    np.testing.assert_allclose(stationary.derivative(h, 0), stationary.profile(h), rtol=1e-14)
    for order in range(1, top + 1):
        step = 1e-5
        up, down = stationary.derivative(h + step, order - 1), stationary.derivative(h - step, order - 1)
        np.testing.assert_allclose(stationary.derivative(h, order), (up - down) / (2 * step), rtol=1e-5, atol=1e-6)


def test_piecewise_polynomial_facts() -> None:
    """m_2 = (j+1)(j+2), (j+3)(j+4)/3, (j+5)(j+6)/5 for q = 1, 2, 3, and nothing beyond h = 1."""
    for dimension in range(1, 9):
        for q in (1, 2, 3):
            kernel = PiecewisePolynomial(q, dimension)
            j = dimension // 2 + q + 1
            expected = ((j + 1) * (j + 2), (j + 3) * (j + 4) / 3, (j + 5) * (j + 6) / 5)[q - 1]
            assert kernel.j == j
            assert kernel.moment(1) == pytest.approx(expected, rel=1e-14)
        for q in range(4):
            beyond = PiecewisePolynomial(q, dimension)
            assert (beyond.profile(np.array([1.0, 1.5, 40.0])) == 0).all()
            assert (beyond.slope(np.array([1.0, 1.5, 40.0])) == 0).all()


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: Matern(1.0).holder(), ["nu = 1", "modulus"]),
        (lambda: (Matern(2.5) + Matern(1.5)).holder(), ["Sum", "Hölder", "modulus"]),
        (lambda: (Matern(2.5) * Matern(1.5)).holder(), ["Product", "Hölder"]),
        (lambda: (Matern(2.5) * Matern(1.5)).taylor_remainder([0.1], 1), ["Product", "degree 1"]),
        (lambda: (Matern(2.5) * Matern(1.5)).information_gain_rate(2), ["Product", "information-gain"]),
        (
            lambda: GammaExponential(1.5).taylor_remainder([0.1], 1),
            ["GammaExponential", "degree 1", "largest degree is 0"],
        ),
        (lambda: GammaExponential(1.5).moment(1), ["GammaExponential", "moment"]),
        (lambda: GammaExponential(1.5).derivative(np.ones(1), 1), ["GammaExponential"]),
        (lambda: Matern(2.0).taylor_remainder([0.1], 2), ["nu=2.0", "degree 2", "largest degree is 1"]),
        (lambda: Matern(2.0).moment(2), ["order 2", "order < nu"]),
        (lambda: PiecewisePolynomial(1, 2).taylor_remainder([0.1], 2), ["degree 2", "largest degree is 1"]),
        (lambda: PiecewisePolynomial(1, 2).moment(2), ["order 2", "order <= q"]),
    ],
)
def test_what_does_not_exist_is_refused_by_name(ask: object, words: list[str]) -> None:
    with pytest.raises(NotAvailable) as caught:
        ask()  # type: ignore[operator]
    for word in words:
        assert word in str(caught.value)


def test_a_single_offset_gives_a_single_number(stationary: Stationary) -> None:
    offset = np.array([0.1, 0.2, 0.3])
    assert stationary.modulus(offset).shape == ()
    assert stationary.modulus(np.tile(offset, (2, 4, 1))).shape == (2, 4)
    for degree in range(3 if stationary.max_degree is None else min(stationary.max_degree, 2) + 1):
        assert stationary.taylor_remainder(offset, degree).shape == ()
        assert stationary.taylor_remainder(np.zeros(3), degree) == 0.0


@pytest.mark.parametrize("degree", [-1, 1.0, True, "1"])
def test_a_degree_is_a_count(degree: object) -> None:
    with pytest.raises(InvalidInput, match="degree"):
        SquaredExponential().taylor_remainder([0.1], degree)  # type: ignore[arg-type]


def test_facts_read_well() -> None:
    assert str(Matern(2.5).information_gain_rate(5)) == "O(n^0.5 (log n)^0.5)"
    assert str(SquaredExponential().information_gain_rate(2)) == "O((log n)^3)"
    assert Matern(2.5).holder() == Holder(constant=np.sqrt(2.5 / 1.5), exponent=1.0)
    assert (Matern(0.5) + SquaredExponential()).information_gain_rate(1).power == pytest.approx(0.5)
    assert GammaExponential(1.0).information_gain_rate(3) == Matern(0.5).information_gain_rate(3)
    assert PiecewisePolynomial(2, 3).information_gain_rate(3).power == Matern(2.5).information_gain_rate(3).power
