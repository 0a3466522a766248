"""Additive fits: their kernels, what they learn, and what another partition inherits."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.gp import Observations
from quadrat.methods.additive.model import AdditiveFit, fit_additive, inherited

GROUPS = ((0, 2), (1,))


def example(noise: float = 0.2, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    x = rng.random((60, 3))
    return x, scale * (np.sin(6 * x[:, 0] * x[:, 2]) + 3 * x[:, 1] + noise * rng.standard_normal(60))


def test_the_variance_of_f_is_the_sum_of_the_groups() -> None:
    fit = AdditiveFit(GROUPS, (0.3, 0.4, 0.5), (2.0, 1.0), 2.5, 0.01, 0.0, 0.0)
    assert fit.kernel.variance == 5.0
    assert tuple(fit.parts[0].lengthscales) == (0.3, 0.5)  # type: ignore[arg-type]
    assert inherited(fit, ((0,), (1, 2))) == pytest.approx([np.sqrt(2), np.sqrt(3)])


def test_noise_is_learned_or_kept_and_units_are_those_of_the_values() -> None:
    """Learned to within a third of .2 from 60 values; scaling y by 50 scales amplitudes and noise, nothing else."""
    small = fit_additive(Observations.merge(*example()), GROUPS, nu=2.5, noise_variance=None)
    assert np.sqrt(small.noise_variance) == pytest.approx(0.2, rel=0.34)
    large = fit_additive(Observations.merge(*example(scale=50.0)), GROUPS, nu=2.5, noise_variance=None)
    assert large.amplitudes == pytest.approx([50 * a for a in small.amplitudes], rel=1e-3)
    assert large.lengthscales == pytest.approx(small.lengthscales, rel=1e-3)
    assert fit_additive(Observations.merge(*example()), GROUPS, nu=2.5, noise_variance=0.09).noise_variance == 0.09


def test_a_start_from_itself_stays() -> None:
    data = Observations.merge(*example(scale=50.0))
    first = fit_additive(data, GROUPS, nu=2.5, noise_variance=None)
    again = fit_additive(data, GROUPS, nu=2.5, noise_variance=None, previous=first)
    assert again.log_posterior == pytest.approx(first.log_posterior, abs=0.05)
    assert again.log_posterior >= first.log_posterior - 1e-9


def test_where_all_variances_are_known_one_more_is_like_them() -> None:
    x, y = example()
    fit = fit_additive(Observations.merge(x, y, 0.04), GROUPS, nu=2.5, noise_variance=None)
    assert fit.noise_variance == pytest.approx(0.04)
