from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from quadrat.errors import InvalidInput, NumericalFailure
from quadrat.kernels import (
    GammaExponential,
    Kernel,
    Matern,
    PiecewisePolynomial,
    RationalQuadratic,
    SquaredExponential,
)
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator

Style = Literal["bumpy", "rough"]
STYLES: tuple[Style, ...] = ("bumpy", "rough")
KERNELS: dict[str, Kernel] = {
    "squared exponential": SquaredExponential(0.3),
    "very smooth": SquaredExponential(20.0),
    "matern 1/2": Matern(0.5, 0.2),
    "matern 5/2": Matern(2.5, 0.3, amplitude=3.0),
    "rational quadratic": RationalQuadratic(1.5, 0.3),
    "gamma exponential": GammaExponential(0.7, 0.4),
    "piecewise polynomial": PiecewisePolynomial(1, 2, 0.8),
    "one length-scale an axis": Matern(1.5, (0.2, 0.9), amplitude=0.01),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", KERNELS)
def test_the_norm_is_exact(name: str, style: Style) -> None:
    """The form w' K w summed term by term in extended precision where the machine has it; |norm - B| <= 1e-12 B."""
    for seed in range(10):
        for norm in (1.0, 1e-3, 250.0):
            f = draw_rkhs_function(KERNELS[name], 2, norm=norm, style=style, rng=generator(seed))
            matrix = KERNELS[name](f.centres, f.centres).astype(np.longdouble)
            weights = f.weights.astype(np.longdouble)
            assert abs(float(np.sqrt((np.outer(weights, weights) * matrix).sum())) - norm) <= 1e-12 * norm
            assert abs(f.norm - norm) <= 1e-12 * norm


@pytest.mark.parametrize("style", STYLES)
def test_nearly_singular_matrices_are_survived(style: Style) -> None:
    """60 centres on a line under a smooth kernel: the matrix has numerical rank 1 to 8."""
    for lengthscale in (0.5, 5.0, 1e3, 1e9):
        for seed in range(20):
            f = draw_rkhs_function(SquaredExponential(lengthscale), 1, n_centres=60, style=style, rng=generator(seed))
            assert np.isfinite(f.values(np.linspace(0, 1, 11)[:, None])).all()
            assert abs(f.norm - 1) <= 1e-12


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", KERNELS)
def test_values_obey_the_norm(name: str, style: Style) -> None:
    """|f(x)| <= B s and |f(x) - f(z)| <= B modulus(x - z), consequences of the norm that the bounds rest on."""
    kernel = KERNELS[name]
    rng = generator(3)
    f = draw_rkhs_function(kernel, 2, norm=2.0, style=style, rng=rng)
    points, others = rng.random((200, 2)), rng.random((200, 2))
    slack = 1e-9 * np.sqrt(kernel.variance)
    assert np.abs(f.values(points)).max() <= 2.0 * np.sqrt(kernel.variance) + slack
    gaps = np.abs(f.values(points) - f.values(others))
    assert (gaps <= 2.0 * kernel.modulus(points - others) + slack).all()


def test_the_reproducing_property() -> None:
    """The squared norm of f + g is that of the joint sum, and the inner product with K(., x) is f(x)."""
    kernel = Matern(2.5, 0.4)
    f = draw_rkhs_function(kernel, 2, rng=generator(4))
    x = np.array([[0.3, 0.6]])
    joint = RKHSFunction(kernel, np.concatenate([f.centres, x]), np.append(f.weights, 1.0))
    inner = (joint.norm**2 - f.norm**2 - kernel.variance) / 2
    assert inner == pytest.approx(f.values(x)[0], abs=1e-12)


def test_rough_runs_through_a_sample_path() -> None:
    """f(centres) = K^1/2 z for a scaled normal z, so that f(centres)' K^-1 f(centres) = |z|^2 = B^2.

    Checked on a well-conditioned matrix, margin 1e-9.
    """
    kernel = Matern(0.5, 0.1)
    f = draw_rkhs_function(kernel, 2, norm=3.0, n_centres=30, style="rough", rng=generator(5))
    matrix = kernel(f.centres)
    z = np.linalg.eigh(matrix)[1].T @ f.weights * np.sqrt(np.linalg.eigvalsh(matrix))
    assert float(z @ z) == pytest.approx(9.0, rel=1e-9)
    at_centres = f.values(f.centres)
    assert float(at_centres @ np.linalg.solve(matrix, at_centres)) == pytest.approx(9.0, rel=1e-9)


def test_rough_is_wigglier_than_bumpy() -> None:
    """Mean slope over mean size of the values, at equal kernel and norm: larger for rough, on average over 20 draws."""
    points = generator(6).random((300, 2))

    def wiggle(style: Style) -> float:
        draws = [draw_rkhs_function(Matern(2.5, 0.5), 2, style=style, rng=generator(7, seed)) for seed in range(20)]
        return float(np.mean([np.linalg.norm(f.gradient(points)) / np.linalg.norm(f.values(points)) for f in draws]))

    assert wiggle("rough") > 1.3 * wiggle("bumpy")


@pytest.mark.parametrize("name", KERNELS)
def test_gradients_agree_with_central_differences(name: str) -> None:
    """At random points, away from kinks; error of order step^2 times third derivatives: margin 1e-5 of the scale."""
    rng = generator(8)
    f = draw_rkhs_function(KERNELS[name], 2, rng=rng)
    points, step = rng.random((20, 2)), 1e-5
    scale = np.sqrt(KERNELS[name].variance)
    for axis, shift in enumerate(step * np.eye(2)):
        slope = (f.values(points + shift) - f.values(points - shift)) / (2 * step)
        np.testing.assert_allclose(f.gradient(points)[:, axis], slope, rtol=1e-5, atol=1e-5 * scale)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", KERNELS)
def test_maximum_beats_a_fine_grid(name: str, style: Style) -> None:
    f = draw_rkhs_function(KERNELS[name], 2, style=style, rng=generator(9))
    point, value = f.maximum()
    ticks = np.linspace(0, 1, 151)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    assert ((point >= 0) & (point <= 1)).all()
    assert f(point) == value
    assert value >= f.values(grid).max() - 1e-14 * np.abs(f.values(grid)).max()  # a row alone rounds differently


def test_maximum_is_deterministic_and_agrees_across_sequences() -> None:
    f = draw_rkhs_function(Matern(2.5, 0.3), 3, rng=generator(10))
    point, value = f.maximum()
    again, _ = f.maximum()
    np.testing.assert_array_equal(point, again)
    moved = [f.maximum(generator(11)), f.maximum(generator(11))]
    np.testing.assert_array_equal(moved[0][0], moved[1][0])
    assert moved[0][1] == pytest.approx(value, abs=1e-9)


def test_maximum_of_one_bump_is_its_height() -> None:
    """No f with norm B exceeds B s; a single bump attains it at its centre."""
    f = RKHSFunction(Matern(0.5, 0.3, amplitude=2.0), np.array([[0.2, 0.7]]), np.array([0.5]))
    point, value = f.maximum()
    np.testing.assert_allclose(point, [0.2, 0.7], atol=1e-12)
    assert value == pytest.approx(f.norm * 2.0, rel=1e-12)


def test_maximum_on_a_face_and_of_zero() -> None:
    outside = RKHSFunction(SquaredExponential(0.5), np.array([[1.5, 0.5]]), np.array([1.0]))
    np.testing.assert_allclose(outside.maximum()[0], [1.0, 0.5], atol=1e-6)
    zero = RKHSFunction(SquaredExponential(0.5), np.array([[0.5, 0.5]]), np.array([0.0]))
    assert zero.norm == 0.0
    assert zero.maximum()[1] == 0.0


def test_cancelling_weights_do_not_give_nan() -> None:
    centres = np.linspace(0, 1, 12)[:, None]
    f = RKHSFunction(SquaredExponential(3.0), centres, np.array([1.0, -1.0] * 6) * 1e8)
    assert f.norm >= 0.0


def test_equal_generators_give_equal_functions() -> None:
    draws = [draw_rkhs_function(Matern(2.5, 0.3), 2, rng=generator(13)) for _ in range(2)]
    np.testing.assert_array_equal(draws[0].weights, draws[1].weights)
    np.testing.assert_array_equal(draws[0].centres, draws[1].centres)


def test_arguments_are_checked() -> None:
    kernel, rng = Matern(2.5, 0.3), generator(0)
    with pytest.raises(InvalidInput, match="norm"):
        draw_rkhs_function(kernel, 2, norm=0.0, rng=rng)
    with pytest.raises(InvalidInput, match="dimension"):
        draw_rkhs_function(kernel, 0, rng=rng)
    with pytest.raises(InvalidInput, match="n_centres"):
        draw_rkhs_function(kernel, 2, n_centres=0, rng=rng)
    with pytest.raises(InvalidInput, match="style"):
        draw_rkhs_function(kernel, 2, style="smooth", rng=rng)  # type: ignore[arg-type]  # what is being tested
    with pytest.raises(InvalidInput, match="2 columns"):
        draw_rkhs_function(Matern(2.5, (0.3, 0.3)), 3, rng=rng)
    with pytest.raises(InvalidInput, match="weights"):
        RKHSFunction(kernel, np.zeros((2, 2)), np.zeros(3))
    with pytest.raises(InvalidInput, match="centres"):
        RKHSFunction(kernel, np.zeros((0, 2)), np.zeros(0))
    with pytest.raises(InvalidInput, match="candidates"):
        draw_rkhs_function(kernel, 2, rng=rng).maximum(candidates=0)


def test_hopeless_draws_end_in_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quadrat.problems.rkhs._LEAST_SHARE", 2.0)
    with pytest.raises(NumericalFailure, match="degenerate"):
        draw_rkhs_function(Matern(2.5, 0.3), 2, rng=generator(0))
