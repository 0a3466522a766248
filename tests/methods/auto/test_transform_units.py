"""Units: told values as a model sees them; compression of low ones, by its definition and by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from quadrat._core.arrays import Array
from quadrat.methods.auto.surrogate import Compression, Units

RNG = np.random.default_rng(0)
SKEWED = np.concatenate([RNG.normal(size=20), [-30.0, -500.0]])
PLATEAU = np.array([0.0] * 9 + [-1.0, -0.7, 0.005])


def test_plain_units_standardise() -> None:
    values = RNG.normal(3.0, 5.0, 11)
    units = Units.of(values)
    assert units.compression is None
    assert units.shift == pytest.approx(values.mean())
    assert units.scale == units.above == pytest.approx(values.std())
    np.testing.assert_allclose(units.seen(values), (values - values.mean()) / values.std())
    np.testing.assert_allclose(units.told(units.seen(values)), values)
    np.testing.assert_array_equal(units.log_slope(values), 0.0)
    np.testing.assert_allclose(units.variance(np.full(11, 4.0), values), 4 / values.var())


@pytest.mark.parametrize("values", [SKEWED, PLATEAU], ids=["skewed", "plateau"])
def test_compressed_values_follow_the_definition(values: Array) -> None:
    """Above the median a straight line, below it logarithms of distances in units of the upper half's own spread."""
    z = (values - values.mean()) / values.std()
    knee = np.median(z)
    width = max(np.sqrt(np.mean((z[z >= knee] - knee) ** 2)), 0.01)
    bent = np.array([one if one >= knee else knee - width * np.log(1 + (knee - one) / width) for one in z])
    wanted = (bent - bent.mean()) / bent.std()
    np.testing.assert_allclose(Units.of(values, compressed=True).seen(values), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("values", [SKEWED, PLATEAU], ids=["skewed", "plateau"])
def test_compression_is_increasing_and_can_be_undone(values: Array) -> None:
    units = Units.of(values, compressed=True)
    others = np.sort(np.concatenate([values, RNG.uniform(values.min(), values.max(), 200)]))
    seen = units.seen(others)
    assert (np.diff(seen)[np.diff(others) > 1e-9] > 0).all()
    np.testing.assert_allclose(units.told(seen), others, rtol=1e-8, atol=1e-10)
    assert seen.mean() == pytest.approx(units.seen(others).mean())
    upper = np.array([np.median(values) + 1e-9, values.max()])
    assert np.diff(upper)[0] == pytest.approx(units.above * np.diff(units.seen(upper))[0], rel=1e-6)


def test_slopes_are_those_of_finite_differences() -> None:
    units = Units.of(SKEWED, compressed=True)
    at = np.array([-400.0, -3.0, -0.5, 0.5, 2.0])
    step = 1e-5
    numeric = (units.seen(at + step) - units.seen(at - step)) / (2 * step) * units.scale  # by the standardised value
    np.testing.assert_allclose(np.exp(units.log_slope(at)), numeric, rtol=1e-5)
    np.testing.assert_allclose(
        units.variance(np.full(5, 0.04), at), 0.04 / units.scale**2 * numeric**2, rtol=1e-4, err_msg="the delta method"
    )


def test_the_log_slope_turns_densities_of_compressed_values_into_those_of_standardised_ones() -> None:
    """A density over what is seen, times the slope, integrates to 1 over standardised values."""
    compression = Units.of(SKEWED, compressed=True).compression
    assert compression is not None
    z = np.concatenate([-np.geomspace(1e5, 1e-6, 400_001), np.linspace(1e-6, 60, 100_001)])
    density = norm.pdf(compression(z), loc=-0.3, scale=0.8) * np.exp(compression.log_slope(z))
    assert np.trapezoid(density, z) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("size", [1e-200, 1e-9, 1.0, 1e9, 1e200])
def test_units_follow_the_size_of_the_values(size: float) -> None:
    for compressed in (False, True):
        seen = Units.of(size * SKEWED, compressed=compressed).seen(size * SKEWED)
        np.testing.assert_allclose(seen, Units.of(SKEWED, compressed=compressed).seen(SKEWED), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("values", [[3.0] * 4, [0.0] * 3, [1e6, 1e6 + 1e-7]], ids=str)
def test_values_that_do_not_differ_are_not_compressed(values: list[float]) -> None:
    units = Units.of(np.array(values), compressed=True)
    assert units.compression is None
    assert np.isfinite(units.seen(np.array(values))).all()


def test_undoing_what_no_value_can_be_gives_minus_infinity() -> None:
    compression = Compression.of((PLATEAU - PLATEAU.mean()) / PLATEAU.std())
    assert compression.undone(np.array([-1e6]))[0] == -np.inf


@pytest.mark.parametrize("compressed", [False, True])
def test_units_within_units_are_one_after_the_other(compressed: bool) -> None:
    outer = Units.of(SKEWED)
    inner = Units.of(outer.seen(SKEWED)[::2], compressed=compressed)
    both = inner.within(outer)
    np.testing.assert_allclose(both.seen(SKEWED), inner.seen(outer.seen(SKEWED)), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(both.told(both.seen(SKEWED)), SKEWED, rtol=1e-9, atol=1e-9)
