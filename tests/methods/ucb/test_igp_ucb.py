from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from quadrat.confidence import Assumptions, ChowdhuryGopalanBand
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.methods.base import Domain, Observation
from quadrat.methods.surrogate import Learned
from quadrat.methods.ucb.igp_ucb import IGPUCB

KERNEL = Matern(2.5, 0.3)


def test_index_is_the_band_of_chowdhury_and_gopalan() -> None:
    """beta_t, lambda and the upper bound equal those of `ChowdhuryGopalanBand`, whose coverage is tested elsewhere."""
    method = IGPUCB(kernel=KERNEL, noise=0.2, norm_bound=1.5, delta=0.05, budget=30, standardise=False)
    search = method.start(Domain.cube(2), 0)
    band = ChowdhuryGopalanBand(Assumptions(KERNEL, 1.5, 0.2), 0.05, budget=30)
    rng = np.random.default_rng(0)
    for number in range(7):
        x, y = rng.random(2), rng.standard_normal()
        search.tell(Observation(number, x, np.array([y])))
        band.add(x[None, :], [y])
    assert method.multiplier(search.model) == pytest.approx(band.beta)
    gain = search.model.gain
    assert band.beta == pytest.approx(1.5 + 0.2 * sqrt(2 * (gain + 1 + log(20))))
    grid = rng.random((9, 2))
    score, _ = method.score(search.model)
    at = search.model.gp.predict(grid)
    assert score(at.mean, at.deviation)[0] == pytest.approx(band.interval(grid).upper)


def test_recommends_under_the_stated_noise_not_under_lambda() -> None:
    search = IGPUCB(kernel=KERNEL, n_initial=1, standardise=False).start(Domain.cube(1), 0)
    search.tell(Observation(0, np.array([0.3]), np.array([1.0])))
    assert search.model.gp.noise_variance == 1.02
    assert search.recommend().value == pytest.approx(1 / 1.01)


def test_standard_errors_weigh_the_same_in_both_posteriors() -> None:
    search = IGPUCB(kernel=KERNEL, n_initial=1, standardise=False, noise=0.1).start(Domain.cube(1), 0)
    search.tell(Observation(0, np.array([0.3]), np.array([1.0]), variance=0.04))
    assert search.model.posterior.noise_variances.tolist() == [0.04]
    assert search.model.gp.noise_variances == pytest.approx([4 * 1.02])


def test_lambda_stays_what_it_is_where_noise_is_tiny_beside_the_values() -> None:
    search = IGPUCB(budget=50, n_initial=2).start(Domain.cube(1), 0)
    for number, y in enumerate([0.0, 1e9]):
        search.tell(Observation(number, np.array([0.1 + 0.5 * number]), np.array([y])))
    assert search.model.gp.noise_variances == pytest.approx([1.04, 1.04])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": Matern(2.5, 0.3, amplitude=1.1)}, r"K\(x, x\) <= 1"),
        ({"kernel": Learned(amplitude=2.0)}, r"K\(x, x\) <= 1"),
        ({"norm_bound": 0.0}, "norm_bound"),
        ({"delta": 0.0}, "delta"),
        ({"budget": 0}, "budget: expected an integer >= 1"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        IGPUCB(**options)
