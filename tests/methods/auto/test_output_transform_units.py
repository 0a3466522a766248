"""Units: told values as a model sees them; compression of low ones, by its definition and by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from quadrat._core.arrays import Array
from quadrat.methods.auto.output_transform import OutputTransform, Warp

RNG = np.random.default_rng(0)
SKEWED = np.concatenate([RNG.normal(size=20), [-30.0, -500.0]])
PLATEAU = np.array([0.0] * 9 + [-1.0, -0.7, 0.005])


def test_plain_units_standardise() -> None:
    values = RNG.normal(3.0, 5.0, 11)
    transform = OutputTransform.of(values)
    assert transform.warp is None
    assert transform.shift == pytest.approx(values.mean())
    assert transform.scale == transform.above == pytest.approx(values.std())
    np.testing.assert_allclose(transform.apply(values), (values - values.mean()) / values.std())
    np.testing.assert_allclose(transform.undo(transform.apply(values)), values)
    np.testing.assert_array_equal(transform.log_slope(values), 0.0)
    np.testing.assert_allclose(transform.variance(np.full(11, 4.0), values), 4 / values.var())


@pytest.mark.parametrize("values", [SKEWED, PLATEAU], ids=["skewed", "plateau"])
def test_compressed_values_follow_the_definition(values: Array) -> None:
    """Above the median a straight line, below it logarithms of distances in units of the upper half's own spread."""
    z = (values - values.mean()) / values.std()
    knee = np.median(z)
    width = max(np.sqrt(np.mean((z[z >= knee] - knee) ** 2)), 0.01)
    bent = np.array([one if one >= knee else knee - width * np.log(1 + (knee - one) / width) for one in z])
    wanted = (bent - bent.mean()) / bent.std()
    np.testing.assert_allclose(OutputTransform.of(values, warped=True).apply(values), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("values", [SKEWED, PLATEAU], ids=["skewed", "plateau"])
def test_compression_is_increasing_and_can_be_undone(values: Array) -> None:
    transform = OutputTransform.of(values, warped=True)
    others = np.sort(np.concatenate([values, RNG.uniform(values.min(), values.max(), 200)]))
    seen = transform.apply(others)
    assert (np.diff(seen)[np.diff(others) > 1e-9] > 0).all()
    np.testing.assert_allclose(transform.undo(seen), others, rtol=1e-8, atol=1e-10)
    assert seen.mean() == pytest.approx(transform.apply(others).mean())
    upper = np.array([np.median(values) + 1e-9, values.max()])
    assert np.diff(upper)[0] == pytest.approx(transform.above * np.diff(transform.apply(upper))[0], rel=1e-6)


def test_slopes_are_those_of_finite_differences() -> None:
    transform = OutputTransform.of(SKEWED, warped=True)
    at = np.array([-400.0, -3.0, -0.5, 0.5, 2.0])
    step = 1e-5
    numeric = (
        (transform.apply(at + step) - transform.apply(at - step)) / (2 * step) * transform.scale
    )  # by the standardised value
    np.testing.assert_allclose(np.exp(transform.log_slope(at)), numeric, rtol=1e-5)
    np.testing.assert_allclose(
        transform.variance(np.full(5, 0.04), at),
        0.04 / transform.scale**2 * numeric**2,
        rtol=1e-4,
        err_msg="the delta method",
    )


def test_the_log_slope_turns_densities_of_compressed_values_into_those_of_standardised_ones() -> None:
    """A density over what is seen, times the slope, integrates to 1 over standardised values."""
    warp = OutputTransform.of(SKEWED, warped=True).warp
    assert warp is not None
    z = np.concatenate([-np.geomspace(1e5, 1e-6, 400_001), np.linspace(1e-6, 60, 100_001)])
    density = norm.pdf(warp(z), loc=-0.3, scale=0.8) * np.exp(warp.log_slope(z))
    assert np.trapezoid(density, z) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("size", [1e-200, 1e-9, 1.0, 1e9, 1e200])
def test_units_follow_the_size_of_the_values(size: float) -> None:
    for warped in (False, True):
        seen = OutputTransform.of(size * SKEWED, warped=warped).apply(size * SKEWED)
        np.testing.assert_allclose(seen, OutputTransform.of(SKEWED, warped=warped).apply(SKEWED), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("values", [[3.0] * 4, [0.0] * 3, [1e6, 1e6 + 1e-7]], ids=str)
def test_values_that_do_not_differ_are_not_compressed(values: list[float]) -> None:
    transform = OutputTransform.of(np.array(values), warped=True)
    assert transform.warp is None
    assert np.isfinite(transform.apply(np.array(values))).all()


def test_undoing_what_no_value_can_be_gives_minus_infinity() -> None:
    warp = Warp.of((PLATEAU - PLATEAU.mean()) / PLATEAU.std())
    assert warp.undone(np.array([-1e6]))[0] == -np.inf


@pytest.mark.parametrize("warped", [False, True])
def test_units_within_units_are_one_after_the_other(warped: bool) -> None:
    outer = OutputTransform.of(SKEWED)
    inner = OutputTransform.of(outer.apply(SKEWED)[::2], warped=warped)
    both = inner.within(outer)
    np.testing.assert_allclose(both.apply(SKEWED), inner.apply(outer.apply(SKEWED)), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(both.undo(both.apply(SKEWED)), SKEWED, rtol=1e-9, atol=1e-9)
