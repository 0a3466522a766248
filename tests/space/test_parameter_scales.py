"""The maps of one axis: the grids that make them invertible, and their ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quadrat._core.arrays import Array
from quadrat.space.parameter import Bins, Grid, Linear, Logarithmic, LogBins, round_decimal

often = settings(derandomize=True, max_examples=200, deadline=None)

units = st.lists(st.floats(0, 1), min_size=1, max_size=20).map(lambda u: np.array([0.0, 1.0, *u]))
magnitudes = st.floats(-140, 140).map(lambda e: 10.0**e)


@st.composite
def linear_scales(draw: st.DrawFn) -> Linear:
    size = draw(st.one_of(magnitudes, st.just(1.0)))
    low = draw(st.one_of(st.just(0.0), st.floats(-1, 1).map(lambda x: 0.0 if abs(x) < 1e-9 else x))) * size
    width = draw(st.floats(1e-8, 2.0)) * size
    return Linear(low, low + width)


@st.composite
def log_scales(draw: st.DrawFn) -> Logarithmic:
    low, high = sorted(draw(st.tuples(magnitudes, magnitudes)))
    return Logarithmic(low, max(high, 1.0001 * low))


@often
@given(st.one_of(linear_scales(), log_scales()), units)
def test_what_a_continuous_scale_gives_comes_back_bit_for_bit(scale: Linear | Logarithmic, u: Array) -> None:
    values = scale.decode(u)
    again = scale.encode(values)
    assert scale.decode(again).tolist() == values.tolist()
    assert again.min() >= 0
    assert again.max() <= 1


@often
@given(st.one_of(linear_scales(), log_scales()), units)
def test_bounds_are_hit_at_the_ends_and_never_passed(scale: Linear | Logarithmic, u: Array) -> None:
    values = scale.decode(u)
    assert values[:2].tolist() == [scale.low, scale.high]
    assert values.min() >= scale.low
    assert values.max() <= scale.high
    assert scale.encode(values[:2]).tolist() == [0.0, 1.0]


@often
@given(log_scales(), st.floats(0, 1))
def test_log_values_of_thirteen_digits_come_back(scale: Logarithmic, position: float) -> None:
    """Stated in `Float`: 13 significant digits are kept, 11 when high / low > 1e19."""
    digits = 13 if scale.high / scale.low <= 1e19 else 11
    value = float(f"{scale.low * (scale.high / scale.low) ** position:.{digits - 1}e}")
    if scale.low <= value <= scale.high:
        assert scale.decode(scale.encode(np.array([value])))[0] == value


@often
@given(linear_scales(), st.floats(0, 1))
def test_linear_values_of_thirteen_digits_come_back(scale: Linear, position: float) -> None:
    """Stated in `Float`: 13 digits, from the value's first when low = 0, else from the larger bound's."""
    value = scale.low + position * (scale.high - scale.low)
    leading = abs(value) if scale.low == 0 else max(abs(scale.low), abs(scale.high))
    if leading > 1e-100 * scale.high or scale.low != 0:
        value = round(value, 12 - math.floor(math.log10(leading)))
        if scale.low <= value <= scale.high:
            assert scale.decode(scale.encode(np.array([value])))[0] == value


@often
@given(st.one_of(linear_scales(), log_scales()), st.floats(0, 1))
def test_any_other_value_comes_back_close(scale: Linear | Logarithmic, position: float) -> None:
    """Half a unit of the digits kept: 5e-13 of the value or the larger bound with 13, 5e-11 with 11."""
    if isinstance(scale, Linear):
        value, leading = scale.low + position * (scale.high - scale.low), max(abs(scale.low), abs(scale.high))
    else:
        value = leading = scale.low * (scale.high / scale.low) ** position
    value = min(max(value, scale.low), scale.high)
    wide = isinstance(scale, Logarithmic) and scale.high / scale.low > 1e19
    back = scale.decode(scale.encode(np.array([value])))[0]
    assert abs(back - value) <= (6e-11 if wide else 6e-13) * leading


@pytest.mark.parametrize("high", [1.0, 2.0, 0.25, 2.0**40])
def test_every_float_comes_back_from_zero_to_a_power_of_two(high: float) -> None:
    values = np.random.default_rng(0).random(1000) * high
    scale = Linear(0.0, high)
    assert scale.decode(scale.encode(values)).tolist() == values.tolist()


def test_bounds_that_are_one_ulp_from_a_round_number_keep_it_apart() -> None:
    """0.1 is on the grid and high is not; they are neighbours, and each comes back as itself."""
    high = math.nextafter(0.1, 1.0)
    for scale in (Linear(0.01, high), Logarithmic(0.01, high), Linear(0.0, high)):
        assert scale.decode(scale.encode(np.array([0.1, high]))).tolist() == [0.1, high]


@pytest.mark.parametrize("value", [0.1, 0.3, 0.9, 1e-3, 0.123456789, 0.9999999999, 1e-6, 1.0])
def test_numbers_as_people_write_them(value: float) -> None:
    scale = Logarithmic(1e-6, 1.0)
    assert scale.decode(scale.encode(np.array([value])))[0] == value


def test_tiny_values_above_zero_keep_their_digits() -> None:
    scale = Linear(0.0, 0.3)
    values = [1.23456789e-8, 7e-20, 3.21e-100, 0.0]
    assert scale.decode(scale.encode(np.array(values))).tolist() == values
    assert scale.decode(scale.encode(np.array([1e-130]))).tolist() == [0.0]


@often
@given(st.integers(1, 10**12), st.integers(-(10**12), 10**12), st.integers(0, 10**12))
def test_bins_invert_at_any_size(count: int, first: int, k: int) -> None:
    values = np.array([first, first + k % count, first + count - 1], dtype=float)
    scale = Bins(count, first)
    assert scale.decode(scale.encode(values)).tolist() == values.tolist()
    assert scale.decode(np.array([0.0, 1.0])).tolist() == [first, first + count - 1]


def test_bins_have_equal_width() -> None:
    u = (np.arange(5000) + 0.5) / 5000
    assert np.bincount(Bins(5).decode(u).astype(int)).tolist() == [1000] * 5


@often
@given(st.integers(1, 10**12 - 1), st.integers(1, 10**12), st.integers(0, 10**12))
def test_log_bins_invert_at_any_size(low: int, width: int, k: int) -> None:
    high = min(low + width, 10**12)
    values = np.array([low, low + k % (high - low + 1), high], dtype=float)
    scale = LogBins(low, high)
    assert scale.decode(scale.encode(values)).tolist() == values.tolist()
    assert scale.decode(np.array([0.0, 1.0])).tolist() == [low, high]


def test_log_bins_lie_between_half_integers_in_log_space() -> None:
    """The bin of v is [log(v - 1/2), log(v + 1/2)]: shares of a fine grid agree to the grid's width."""
    n, scale = 100_000, LogBins(1, 8)
    shares = np.bincount(scale.decode((np.arange(n) + 0.5) / n).astype(int))[1:] / n
    v = np.arange(1, 9)
    assert np.abs(shares - np.log((v + 0.5) / (v - 0.5)) / np.log(8.5 / 0.5)).max() <= 1 / n


def test_grids_look_right() -> None:
    centres = Bins(11).encode(np.arange(11.0))
    assert Grid(0.0, 1.0, 0.1).decode(centres).tolist() == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert Grid(0.05, 0.4, 0.1).decode(np.array([0.0, 0.3, 0.6, 1.0])).tolist() == [0.05, 0.15, 0.25, 0.35]
    assert Grid(0.0, 1.0, 1 / 11).count == 12
    assert Grid(0.0, 1.0, 1 / 11).decode(np.array([1.0]))[0] == 1.0
    assert Grid(0.0, 3e-29, 1e-29).decode(np.array([0.99]))[0] == 3e-29


@often
@given(
    st.floats(-1e6, 1e6),
    st.one_of(st.sampled_from([0.1, 0.25, 1e-3, 5.0, 1 / 3, 0.7]), st.floats(0.01, 10)),
    st.integers(1, 10**6),
    units,
)
def test_grids_invert(low: float, step: float, count: int, u: Array) -> None:
    scale = Grid(low, low + count * step, step)
    values = scale.decode(u)
    assert scale.decode(scale.encode(values)).tolist() == values.tolist()
    assert scale.nearest(values).tolist() == values.tolist()
    assert values[0] == low
    assert values.max() <= scale.high


@often
@given(st.floats(-1e20, 1e20).filter(lambda x: x == 0 or abs(x) > 1e-290), st.integers(1, 15))
def test_rounding_gives_the_floats_that_literals_denote(x: float, digits: int) -> None:
    """Against formatting, which is exact; the two may differ by one unit where x is within 1e-16 of a tie."""
    ours = round_decimal(np.array([x]), digits=digits, decimals=400)[0]
    literal = float(f"{x:.{digits - 1}e}")
    assert float(f"{ours:.{digits - 1}e}") == ours
    assert abs(ours - x) <= abs(literal - x) + 4e-16 * abs(x)
