"""The certified maximum and the certificate, at the level of single bands."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.confidence import (
    AdaptiveBand,
    Assumptions,
    SimpleBand,
    certified_maximum,
    certify,
    remaining_regret,
)
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern, SquaredExponential
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, 0.3)


def told_band(seed: int, dimension: int, n: int, noise: float = 0.1) -> tuple[AdaptiveBand, object]:
    rng = generator(seed, 77)
    f = draw_rkhs_function(KERNEL, dimension, norm=1.0, rng=rng)
    X = rng.random((n, dimension))
    band = AdaptiveBand(Assumptions(KERNEL, 1.0, noise), 0.05)
    band.add(X, f(X) + noise * rng.normal(size=n))
    return band, f


@pytest.mark.parametrize("dimension", [1, 2])
def test_maximum_is_above_a_fine_grid_and_close_to_it(dimension: int) -> None:
    band, _ = told_band(1, dimension, 40)
    top = certified_maximum(band, dimension=dimension, max_cells=5000, tolerance=0.02)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 60)] * dimension), -1).reshape(-1, dimension)
    upper = band.interval(grid).upper.max()
    assert top.resolved
    assert upper - 1e-9 <= top.value <= upper + 0.02 + band.assumptions.variation(np.full(dimension, 1 / 118))
    assert top.centres.shape == (len(top.lowers), dimension)


def test_more_cells_never_loosen_it() -> None:
    band, _ = told_band(2, 2, 40)
    values = [certified_maximum(band, dimension=2, max_cells=cells).value for cells in (1, 4, 64, 512)]
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(1.0), "one cell is the norm bound alone"
    assert not certified_maximum(band, dimension=2, max_cells=4).resolved
    with pytest.raises(InvalidInput, match="max_cells"):
        certified_maximum(band, dimension=2, max_cells=0)


@pytest.mark.parametrize("seed", range(6))
def test_certificate_covers_the_regret_of_its_point(seed: int) -> None:
    band, f = told_band(seed, 2, 60)
    certificate = certify(band, dimension=2, max_cells=600)
    assert certificate.rejection is None
    value = float(f(certificate.point[None])[0])  # type: ignore[operator]
    best = float(f.maximum()[1])  # type: ignore[attr-defined]
    assert best - value <= certificate.value
    low, high = certificate.certified_interval
    assert low <= value <= high
    assert best <= certificate.maximum
    assert certificate.value <= certificate.maximum - low + 1e-8


def test_the_point_has_the_highest_lower_bound_among_those_looked_at() -> None:
    band, _ = told_band(3, 1, 30)
    certificate = certify(band, dimension=1)
    assert certificate.certified_interval[0] >= band.interval(band.x).lower.max()


def test_a_rejected_band_has_no_certificate() -> None:
    rng = generator(5)
    f = draw_rkhs_function(KERNEL, 2, norm=6.0, rng=rng)
    X = rng.random((80, 2))
    band = AdaptiveBand(Assumptions(KERNEL, 1.0, 0.1), 0.05)
    band.add(X, f(X) + 0.1 * rng.normal(size=80))
    certificate = certify(band, dimension=2, max_cells=50)
    assert np.isnan(certificate.value)
    assert certificate.rejection is not None
    assert "assumptions rejected by the data" in certificate.rejection


def test_without_data_the_certificate_is_what_f_can_vary_over_the_cube() -> None:
    """|f| <= B s alone would leave 3; from the centre no point is further than the half-diagonal."""
    given = Assumptions(KERNEL, 1.5, 0.1)
    certificate = certify(AdaptiveBand(given, 0.05), dimension=2, point=[0.5, 0.5], max_cells=16)
    assert certificate.value == pytest.approx(float(given.variation([0.5, 0.5])))
    corner = certify(AdaptiveBand(Assumptions(Matern(2.5, 0.1), 1.5, 0.1), 0.05), dimension=2, point=[0, 0])
    assert corner.value == pytest.approx(1.5 * np.sqrt(2), rel=1e-3), "far away, two values are as good as independent"


def test_a_simple_band_certifies_too() -> None:
    rng = generator(9)
    f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=rng)
    X = rng.random((50, 1))
    simple = SimpleBand(Assumptions(KERNEL, 1.0, 0.1), 0.05)
    adaptive = AdaptiveBand(Assumptions(KERNEL, 1.0, 0.1), 0.05)
    y = f(X) + 0.1 * rng.normal(size=50)
    simple.add(X, y)
    adaptive.add(X, y)
    assert certify(adaptive, dimension=1).value < certify(simple, dimension=1).value


def test_rounding_cannot_undercut() -> None:
    assert remaining_regret(1.0, 1.0, 1.0) == pytest.approx(1e-9)


def test_points_outside_the_cube_are_no_candidates() -> None:
    kernel = SquaredExponential(0.2)
    f = RKHSFunction(kernel, np.array([[1.6]]), np.array([1.0]))
    X = np.vstack([generator(3).random((20, 1)), np.full((10, 1), 1.6)])
    band = AdaptiveBand(Assumptions(kernel, 1.0, 0.01), 0.05)
    band.add(X, f(X))
    certificate = certify(band, dimension=1)
    assert certificate.rejection is None
    assert 0 <= certificate.point[0] <= 1


@pytest.mark.parametrize(
    "options", [{"tolerance": np.nan}, {"tolerance": -1.0}, {"max_cells": True}, {"max_cells": 2.5}]
)
def test_bad_effort(options: dict[str, object]) -> None:
    band, _ = told_band(1, 1, 5)
    with pytest.raises(InvalidInput, match=r"tolerance|max_cells"):
        certified_maximum(band, dimension=1, **options)  # type: ignore[arg-type]


def test_cells_are_made_only_while_they_can_help() -> None:
    """A loose tolerance is met with few cells; none are made beyond `max_cells`."""
    band, _ = told_band(1, 1, 40)
    loose = certified_maximum(band, dimension=1, max_cells=400, tolerance=0.3)
    assert loose.resolved
    assert 1 < len(loose.centres) < 40
    for most in (1, 2, 7):
        assert len(certified_maximum(band, dimension=1, max_cells=most, tolerance=0.0).centres) <= 2 * most


def test_any_point_has_a_certificate() -> None:
    """It covers the regret there, and names the point; the default is the point with the best lower bound."""
    band, f = told_band(4, 2, 60)
    best = float(f.maximum()[1])  # type: ignore[attr-defined]
    chosen = certify(band, dimension=2, max_cells=256)
    for z in [*generator(8).random((5, 2)), np.zeros(2), chosen.point]:
        found = certify(band, dimension=2, point=z, max_cells=256)
        assert found.point.tolist() == z.tolist()
        assert best - float(f(z[None])[0]) <= found.value  # type: ignore[operator]
        assert found.certified_interval[0] <= chosen.certified_interval[0]
    assert found.value == pytest.approx(chosen.value)


@pytest.mark.parametrize("point", [[0.5], [0.5, 1.5], [np.nan, 0.5], [[0.5, 0.5]], ["a", "b"]])
def test_a_point_that_cannot_be_meant(point: object) -> None:
    band, _ = told_band(4, 2, 5)
    with pytest.raises(InvalidInput, match="point"):
        certify(band, dimension=2, point=point)  # type: ignore[arg-type]
