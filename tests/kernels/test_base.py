"""What holds for every kernel: symmetry, positivity, gradients against finite differences, clear refusals."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.kernels import (
    GammaExponential,
    Kernel,
    Matern,
    OnAxes,
    PiecewisePolynomial,
    RationalQuadratic,
    SquaredExponential,
)

RNG = np.random.default_rng(0)
X, Z = RNG.random((7, 3)), RNG.random((5, 3))


def difference(function: object, at: Array, step: float = 1e-6) -> Array:
    """Central differences of a scalar function in each entry of `at`."""
    gradient = np.empty_like(at)
    for index in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[index] += step
        down[index] -= step
        gradient[index] = (function(up) - function(down)) / (2 * step)  # type: ignore[operator]
    return gradient


def test_matrix_is_symmetric_with_constant_diagonal(kernel: Kernel) -> None:
    K = kernel(X)
    np.testing.assert_allclose(K, K.T, atol=1e-15)
    np.testing.assert_allclose(np.diag(K), kernel.variance, rtol=1e-14)
    np.testing.assert_array_equal(kernel(X, X.copy()), K)


def test_no_eigenvalue_is_negative_at_any_distance(kernel: Kernel) -> None:
    """Points over a fraction of a length-scale, and over many: exp(-h^4) fails here, and nowhere else."""
    for spread in (0.1, 1.0, 3.0, 10.0):
        points = spread * np.random.default_rng(1).random((40, 3))
        assert np.linalg.eigvalsh(kernel(points)).min() >= -1e-12 * 40 * kernel.variance


def test_x_gradient_equals_finite_differences(kernel: Kernel) -> None:
    K, pull = kernel.x_vjp(X, Z)
    np.testing.assert_allclose(K, kernel(X, Z), rtol=1e-14)
    W = RNG.normal(size=K.shape)
    np.testing.assert_allclose(pull(W), difference(lambda x: np.vdot(W, kernel(x, Z)), X), rtol=2e-6, atol=2e-8)


def test_x_gradient_is_finite_where_points_coincide(kernel: Kernel) -> None:
    _, pull = kernel.x_vjp(X, X)
    assert np.isfinite(pull(np.ones((7, 7)))).all()


def test_hyper_gradient_equals_finite_differences(kernel: Kernel) -> None:
    K, pull = kernel.hyper_vjp(X, Z)
    np.testing.assert_allclose(K, kernel(X, Z), rtol=1e-14)
    W = RNG.normal(size=K.shape)
    start = kernel.hyperparameters
    numeric = difference(lambda logs: np.vdot(W, kernel.with_hyperparameters(logs)(X, Z)), start)
    np.testing.assert_allclose(pull(W), numeric, rtol=2e-6, atol=2e-8)
    assert len(kernel.hyperparameter_names) == start.size
    np.testing.assert_allclose(kernel.with_hyperparameters(start).hyperparameters, start, atol=1e-15)


def test_symmetric_hyper_gradient_is_the_general_one(kernel: Kernel) -> None:
    """Without Z each pair is worked out once, and the lower triangle of the weights is not looked at."""
    W = RNG.normal(size=(7, 7))
    W += W.T
    K, pull = kernel.hyper_vjp(X)
    general_K, general_pull = kernel.hyper_vjp(X, X.copy())
    np.testing.assert_allclose(K, general_K, rtol=1e-14)
    np.testing.assert_allclose(
        pull(np.triu(W) + np.tril(np.full((7, 7), 99.0), -1)), general_pull(W), rtol=1e-10, atol=1e-12
    )
    one, pull_one = kernel.hyper_vjp(X[:1])
    assert one.shape == (1, 1)
    assert np.isfinite(pull_one(np.ones((1, 1)))).all()


def test_hyper_gradient_is_finite_where_points_coincide(kernel: Kernel) -> None:
    _, pull = kernel.hyper_vjp(np.vstack([X, X]))
    assert np.isfinite(pull(np.ones((14, 14)))).all()


def test_gradients_survive_points_that_nearly_coincide(kernel: Kernel) -> None:
    """Points 1e-9 apart: analytic against differences, for rough kernels too, whose slope is unbounded there."""
    near = np.vstack([X, X + np.array([0.0, 1e-9, 0.0])])
    W = RNG.normal(size=(14, 14))
    W += W.T
    start = kernel.hyperparameters
    numeric = difference(lambda logs: np.vdot(W, kernel.with_hyperparameters(logs)(near)), start, 1e-5)
    np.testing.assert_allclose(kernel.hyper_vjp(near)[1](W), numeric, rtol=2e-4, atol=2e-6)
    np.testing.assert_allclose(kernel.hyper_vjp(near, near.copy())[1](W), numeric, rtol=2e-4, atol=2e-6)


def test_modulus_is_the_distance_of_kernel_sections(kernel: Kernel) -> None:
    direct = np.sqrt(2 * (kernel.variance - kernel(X, Z)))
    np.testing.assert_allclose(kernel.modulus(X[:, None] - Z[None]), direct, rtol=1e-12)
    assert kernel.modulus(np.zeros(3)) == 0.0


def test_modulus_grows_with_every_axis(kernel: Kernel) -> None:
    small = RNG.random((50, 3))
    large = small + RNG.random((50, 3)) * RNG.integers(0, 2, (50, 3))
    assert (kernel.modulus(large) >= kernel.modulus(small) * (1 - 1e-14)).all()


def test_kernels_are_values(kernel: Kernel) -> None:
    same = kernel.with_hyperparameters(kernel.hyperparameters)
    assert type(same) is type(kernel)
    assert hash(kernel) == hash(kernel)
    with pytest.raises(AttributeError):
        kernel.amplitude = 2.0  # type: ignore[attr-defined]


def test_a_kernel_built_without_checks_is_the_checked_one(kernel: Kernel) -> None:
    """Equal in every respect that can be seen: value, hash, text, matrices and gradients to the last bit."""
    logs = kernel.hyperparameters + np.linspace(-0.4, 0.3, kernel.hyperparameters.size)
    for unchecked in (kernel._with_logs(logs), kernel._with_logs(logs)._with_logs(logs)):
        checked = kernel.with_hyperparameters(logs)
        assert unchecked == checked
        assert (hash(unchecked), repr(unchecked)) == (hash(checked), repr(checked))
        np.testing.assert_array_equal(unchecked.hyperparameters, checked.hyperparameters)
        assert unchecked.hyperparameter_names == checked.hyperparameter_names
        np.testing.assert_array_equal(unchecked(X, Z), checked(X, Z))
        for (K, pull), (other, other_pull) in (
            (unchecked.x_vjp(X, Z), checked.x_vjp(X, Z)),
            (unchecked.hyper_vjp(X, Z), checked.hyper_vjp(X, Z)),
        ):
            np.testing.assert_array_equal(K, other)
            np.testing.assert_array_equal(pull(K), other_pull(K))


def test_building_without_checks_leaves_the_kernel_as_it_was(kernel: Kernel) -> None:
    before = repr(kernel), kernel.hyperparameters, kernel(X)
    kernel._with_logs(kernel.hyperparameters + 0.5)
    assert repr(kernel) == before[0]
    np.testing.assert_array_equal(kernel.hyperparameters, before[1])
    np.testing.assert_array_equal(kernel(X), before[2])


@dataclass(frozen=True)
class Remembering(SquaredExponential):
    """A user's kernel whose `__post_init__` keeps more than its fields."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "doubled", 2 * np.asarray(self.lengthscales))


@dataclass(frozen=True)
class Derived(SquaredExponential):
    """A user's kernel with a field that follows from the others."""

    shortest: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "shortest", float(np.min(self.lengthscales)))


def test_a_kernel_that_keeps_more_than_its_fields_is_built_by_its_constructor() -> None:
    logs = np.log([0.25, 0.5, 2.0])
    remembering = Remembering((0.3, 0.7))._with_logs(logs)
    np.testing.assert_array_equal(vars(remembering)["doubled"], 2 * np.exp(logs[:2]))
    derived = Derived((0.3, 0.7))._with_logs(logs)
    assert derived == Derived((0.3, 0.7)).with_hyperparameters(logs)
    assert vars(derived)["shortest"] == pytest.approx(0.25)


KERNELS = st.one_of(
    st.builds(Matern, st.floats(0.05, 12), st.floats(0.05, 5)),
    st.builds(Matern, st.integers(1, 4).map(float), st.floats(0.05, 5)),
    st.builds(SquaredExponential, st.floats(0.05, 5)),
    st.builds(RationalQuadratic, st.floats(0.05, 50), st.floats(0.05, 5)),
    st.builds(GammaExponential, st.floats(0.05, 2), st.floats(0.05, 5)),
)


@given(KERNELS, st.integers(1, 8), st.integers(0, 10**6))
def test_kernel_matrices_are_positive_semidefinite(kernel: Kernel, dimension: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.random((12, dimension))
    points[-1] = points[0] + 1e-9  # nearly repeated points are where rounding would show
    assert np.linalg.eigvalsh(kernel(points)).min() >= -1e-13 * 12


@given(st.integers(0, 3), st.integers(1, 8), st.floats(0.1, 5), st.integers(0, 10**6))
def test_piecewise_polynomial_matrices_are_positive_semidefinite(
    q: int, dimension: int, theta: float, seed: int
) -> None:
    points = np.random.default_rng(seed).random((14, dimension))
    kernel = PiecewisePolynomial(q, dimension, theta)
    assert np.linalg.eigvalsh(kernel(points)).min() >= -1e-13 * 14


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Matern(0.0), ["nu", "> 0", "0.0"]),
        (lambda: Matern(-1.5), ["nu", "> 0", "-1.5"]),
        (lambda: Matern(float("nan")), ["nu", "finite"]),
        (lambda: Matern(1e5), ["nu", "at most 10000", "SquaredExponential"]),
        (lambda: Matern(2.5, 1e-310), ["lengthscales", "positive"]),
        (lambda: Matern(2.5, amplitude=1e200), ["amplitude", "<= 1e+150"]),
        (lambda: Matern(2.5)([["1.0"]]), ["X", "numbers"]),
        (lambda: Matern("5/2"), ["nu", "number", "5/2"]),  # type: ignore[arg-type]
        (lambda: Matern(2.5, 0.0), ["lengthscales", "positive", "0.0"]),
        (lambda: Matern(2.5, [0.3, -0.1]), ["lengthscales", "positive", "-0.1"]),
        (lambda: Matern(2.5, []), ["lengthscales", "positive"]),
        (lambda: Matern(2.5, [0.3, float("nan")]), ["lengthscales", "nan"]),
        (lambda: Matern(2.5, [[0.3]]), ["lengthscales"]),  # type: ignore[list-item]
        (lambda: SquaredExponential(0.3, amplitude=0.0), ["amplitude", "> 0"]),
        (lambda: RationalQuadratic(0.0), ["a", "> 0"]),
        (lambda: GammaExponential(2.1), ["a", "<= 2", "2.1"]),
        (lambda: PiecewisePolynomial(4, 2), ["q", "4"]),
        (lambda: PiecewisePolynomial(1, 0), ["for_dimension", "0"]),
        (lambda: PiecewisePolynomial(1, 2, [0.1, 0.2, 0.3]), ["at most 2", "got 3", "for_dimension=3"]),
        (lambda: PiecewisePolynomial(1, 2)(np.zeros((1, 3))), ["at most 2", "got 3"]),
        (lambda: Matern(2.5, [0.1, 0.2])(np.zeros((1, 3))), ["2 columns", "(1, 3)"]),
        (lambda: Matern(2.5)(np.zeros((2, 2)), np.zeros((2, 3))), ["same number of columns", "(2, 2)", "(2, 3)"]),
        (lambda: Matern(2.5)([[0.0, np.nan]]), ["X", "finite", "nan"]),
        (lambda: Matern(2.5)([0.0, 1.0]), ["X", "matrix", "(2,)"]),
        (lambda: Matern(2.5).with_hyperparameters([0.0]), ["2 entries", "1"]),
        (lambda: Matern(2.5).with_hyperparameters([np.nan, 0.0]), ["hyperparameters", "finite", "nan"]),
        (lambda: Matern(2.5).with_hyperparameters([300.0, 0.0]), ["lengthscales", "1e-100 to 1e100"]),
        (lambda: Matern(2.5).with_hyperparameters([0.0, 400.0]), ["amplitude", "<= 1e+150"]),
        (lambda: (Matern(2.5) * Matern(0.5)).with_hyperparameters([0.0] * 3), ["4 entries", "3"]),
        (lambda: (Matern(2.5) + Matern(0.5)).with_hyperparameters([0.0, 0.0, -300.0, 0.0]), ["lengthscales", "1e-100"]),
        (lambda: OnAxes(Matern(2.5), [1]).with_hyperparameters([0.0, 400.0]), ["amplitude", "<= 1e+150"]),
        (lambda: Matern(2.5).modulus(0.3), ["offsets", "(..., D)"]),
        (lambda: Matern(2.5, [0.1, 0.2]).modulus([0.3]), ["offsets", "(..., 2)", "(1,)"]),
        (lambda: Matern(2.5, [0.1, 0.2]) + Matern(2.5, [0.1] * 3), ["one dimension", "2", "3", "OnAxes"]),
        (lambda: OnAxes(Matern(2.5), []), ["axes", "at least one"]),
        (lambda: OnAxes(Matern(2.5), [0, 0]), ["axes", "distinct"]),
        (lambda: OnAxes(Matern(2.5), [3])(np.zeros((1, 2))), ["at least 4 columns", "2"]),
        (lambda: Matern(2.5) + 1.0, ["two kernels", "1.0"]),  # type: ignore[operator]
    ],
)
def test_bad_input_says_what_was_expected_and_what_came(build: object, words: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        build()  # type: ignore[operator]
    for word in words:
        assert word in str(caught.value)
