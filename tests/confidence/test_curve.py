"""Certificate curves: what each norm bound buys, which are rejected, and that all values hold at once."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.confidence import AdaptiveBand, Assumptions, certificate_curve, certificate_curves, certify
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, 0.3)


def test_curve_shows_what_each_bound_buys_and_which_are_rejected() -> None:
    rng = generator(11)
    f = draw_rkhs_function(KERNEL, 2, norm=2.0, rng=rng)
    X = rng.random((100, 2))
    y = f(X) + 0.1 * rng.normal(size=100)
    curve = certificate_curve(KERNEL, X, y, noise=0.1, norm_bounds=[0.25, 0.5, 2.0, 4.0, 8.0], max_cells=300)
    assert curve.rejected[0]
    assert not any(curve.rejected[2:])
    assert np.isnan(curve.values[0])
    assert curve.values[2] < curve.values[3] < curve.values[4], "a larger B costs width"
    assert curve.smallest_unrejected in (0.5, 2.0)
    assert "rejected by the data" in str(curve)
    all_out = certificate_curve(KERNEL, X, y, noise=0.1, norm_bounds=[0.1], max_cells=20)
    assert all_out.smallest_unrejected is None


@pytest.mark.parametrize("bounds", [[], [0.0], [-1.0, 2.0]])
def test_bad_bounds(bounds: list[float]) -> None:
    with pytest.raises(InvalidInput, match="norm_bounds"):
        certificate_curve(KERNEL, [[0.5]], [0.0], noise=0.1, norm_bounds=bounds)


def test_the_floor_under_the_norm_lies_above_every_rejected_bound() -> None:
    rng = generator(0)
    f = draw_rkhs_function(KERNEL, 2, rng=rng, norm=4.0)
    X = rng.random((100, 2))
    y = f(X) + 0.1 * rng.normal(size=100)
    bounds = np.geomspace(1e-6, 8, 9)
    curve = certificate_curve(KERNEL, X, y, noise=0.1, norm_bounds=bounds, max_cells=64)
    assert all(curve.rejected[:6]), "tiny bounds are rejected too"
    assert curve.smallest_unrejected is not None
    assert 0.5 < curve.smallest_unrejected <= 8


def test_a_curve_costs_little_against_a_band_of_its_own() -> None:
    """The mixture pays at most 2 sigma^2 log 10 for not knowing B; here no certificate is wider by a tenth."""
    rng = generator(3)
    f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=rng)
    X = rng.random((60, 2))
    y = f(X) + 0.1 * rng.normal(size=60)
    bounds = [1.0, 4.0, 16.0]
    curve = certificate_curve(KERNEL, X, y, noise=0.1, norm_bounds=bounds)
    for bound, value in zip(bounds, curve.values, strict=True):
        band = AdaptiveBand(Assumptions(KERNEL, bound, 0.1), 0.05)
        band.add(X, y)
        assert value <= 1.1 * certify(band, dimension=2, max_cells=1024).value


def test_values_do_not_depend_on_which_others_are_asked_for() -> None:
    """The radius contains no B: a curve may be asked for in parts, after looking."""
    rng = generator(5)
    X, y = rng.random((30, 1)), rng.normal(size=30) / 10
    whole = certificate_curve(KERNEL, X, y, noise=0.1, norm_bounds=[1.0, 2.0, 8.0])
    part = certificate_curve(KERNEL, X, y, noise=0.1, norm_bounds=[2.0])
    assert part.values[0] == whole.values[1]


def test_curves_of_several_kernels_name_them_and_take_a_point() -> None:
    rng = generator(6)
    X, y = rng.random((30, 1)), rng.normal(size=30) / 10
    kernels = [Matern(2.5, scale) for scale in (0.15, 0.3, 0.6)]
    curves = certificate_curves(kernels, X, y, noise=0.1, norm_bounds=[1.0, 2.0], point=[0.5])
    assert [curve.kernel for curve in curves] == kernels
    assert all(curve.values.shape == (2,) for curve in curves)
    assert curves[0].values[1] > curves[2].values[1], "rougher functions can be further away"


@pytest.mark.parametrize("kernels", [[], [KERNEL, KERNEL], ["Matern"]])
def test_bad_kernels(kernels: list[object]) -> None:
    with pytest.raises(InvalidInput, match="kernels"):
        certificate_curves(kernels, [[0.5]], [0.0], noise=0.1, norm_bounds=[1.0])  # type: ignore[arg-type]
