"""What was told, as rows: the same for every fitted method."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.gp import GaussianProcess, Observations
from quadrat.kernels import Matern
from quadrat.methods.base import Observation
from quadrat.methods.dataset import Dataset, merged, spread
from quadrat.methods.surrogate import Frame

FRAME = Frame(Matern(2.5, 0.3), shift=1.0, scale=2.0)


def rows() -> Dataset:
    data = Dataset(1)
    data.tell(Observation(0, np.array([0.2]), np.array([1.0, 3.0])), noise=0.2)
    data.tell(Observation(1, np.array([0.7]), np.array([2.0, 4.0]), variance=0.5), noise=0.2)
    data.tell(Observation(2, np.array([0.2]), np.array([1e300])), noise=np.nan)
    return data


def test_replicates_are_rows_and_a_mean_with_its_error_is_one() -> None:
    data = rows()
    assert data.x.ravel().tolist() == [0.2, 0.2, 0.7, 0.2]
    assert data.y.tolist() == [1.0, 3.0, 3.0, 1e100], "squares of what models see are numbers"
    np.testing.assert_allclose(data.variance, [0.04, 0.04, 0.5, np.nan])


def test_parts_and_copies_are_their_own() -> None:
    data = rows()
    part = data.part(np.array([2, 0]))
    data.extend([[0.1]], [7.0], [0.1])
    assert (part.y.tolist(), len(data), len(part)) == ([3.0, 1.0], 5, 2)
    with pytest.raises(ValueError, match="read-only"):
        data.y[0] = 1.0


def test_a_posterior_grows_by_what_it_has_not_seen_bit_for_bit() -> None:
    data, seen = Dataset(1), (GaussianProcess(FRAME.kernel, noise_variance=0.1) for _ in range(2))
    at_once, in_turn = seen
    for number in range(6):
        data.tell(Observation(number, np.array([number / 6]), np.array([float(number % 3)])), noise=0.2)
        data.grow(in_turn, FRAME, in_turn.n_observations)
        data.grow(in_turn, FRAME, in_turn.n_observations)
    data.grow(at_once, FRAME, 0)
    grid = np.linspace(0, 1, 9)[:, None]
    np.testing.assert_array_equal(at_once.predict(grid).mean, in_turn.predict(grid).mean)
    usual = GaussianProcess(FRAME.kernel, noise_variance=0.1)
    noisier = GaussianProcess(FRAME.kernel, noise_variance=0.1)
    data.grow(usual, FRAME, 0)
    data.grow(noisier, FRAME, 0, times=9.0)
    assert (noisier.predict(grid).deviation > usual.predict(grid).deviation).all()


def test_repeats_are_one_observation_in_model_units() -> None:
    data = Dataset(1)
    for number, value in enumerate((1.0, 3.0, 5.0)):
        data.tell(Observation(number, np.array([0.2 if number < 2 else 0.8]), np.array([value])), noise=0.2)
    seen = data.merged(FRAME)
    assert sorted(seen.y.tolist()) == [0.5, 2.0]


def test_known_and_unknown_noise_stay_apart() -> None:
    x, y = np.array([[0.1], [0.1], [0.5]]), np.array([1.0, 2.0, 3.0])
    seen = merged(x, y, np.array([np.nan, 1e-9, 0.3]), least=1e-4)
    assert isinstance(seen, Observations)
    assert sorted(seen.known_variance.tolist()) == [0.0, 1e-4, 0.3]
    assert seen.count.sum() == 1


def test_the_scale_of_values_that_are_equal_is_one() -> None:
    assert spread(np.array([3.0, 3.0])) == 1.0
    assert spread(np.array([1e9, 1e9 + 1e-6])) == 1.0, "up to rounding"
    assert spread(np.array([0.0, 2.0])) == 1.0
    assert spread(np.array([0.0, 2.0]), np.array([3.0, 4.0])) == pytest.approx(12.5**0.5)
