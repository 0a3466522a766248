"""Gaussian processes of every kernel, at numerical extremes: `benchmarks/extremes.py` runs many more of these cases."""

from __future__ import annotations

import extreme_cases
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from quadrat.gp import GaussianProcess, Observations, fit_map
from quadrat.kernels import Matern


@pytest.mark.parametrize("name", extreme_cases.KERNELS)
@settings(max_examples=8, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(case=extreme_cases.designs())
def test_predictions_are_finite_and_undoing_is_exact(name: str, case: extreme_cases.Design) -> None:
    extreme_cases.check_gp(name, case)


def test_a_thousand_points_of_which_a_third_nearly_repeat() -> None:
    rng = np.random.default_rng(0)
    x = rng.random((1000, 2))
    x[1::3] = np.clip(x[::3][: len(x[1::3])] + 1e-15, 0.0, 1.0)
    case = extreme_cases.Design(x, rng.standard_normal(1000), 1e200, 1e3, 1e-12)
    extreme_cases.check_gp("SquaredExponential", case, sketched=False)


@pytest.mark.parametrize("size", [1e200, 1e300])
def test_replicates_whose_squares_are_no_numbers_leave_the_posterior_finite(size: float) -> None:
    """Their density is 0 to working precision, and that is said: the log evidence is minus infinity, not an error."""
    gp = GaussianProcess(Matern(2.5, 0.3), noise_variance=1.0)
    gp.add([[0.2], [0.2], [0.7]], [size, -size, 0.5 * size])
    at = gp.predict([[0.2], [0.5]])
    assert np.isfinite(at.mean).all()
    assert at.mean[0] == pytest.approx(gp.predict_mean([[0.2]])[0])
    assert gp.quadratic_form == np.inf
    assert gp.log_evidence == -np.inf


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-145])
def test_a_fit_to_values_whose_squares_vanish_takes_them_for_equal(size: float) -> None:
    data = Observations.merge([[0.1], [0.4], [0.9]], [size, -size, 2 * size])
    fit = fit_map(Matern(2.5, 0.3), data)
    assert np.isfinite(fit.log_posterior)
    assert fit.mean == pytest.approx(0.0, abs=1e-100)
    at = fit.posterior(data).predict([[0.3]])
    assert np.isfinite(at.mean).all()
    assert at.deviation[0] > 0
