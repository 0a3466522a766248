"""How noisy one result is, and a warning where the model fits badly."""

from __future__ import annotations

import numpy as np
import pytest

import quadrat as qd
from quadrat.report import report_html
from quadrat.report.findings import noise_of


def test_stated_noise_is_taken_as_it_is() -> None:
    method = qd.LPGPUCB(kernel=qd.Matern(2.5, 0.5), norm_bound=1.0, noise=0.07, budget=10)
    assert noise_of(qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method=method)) == 0.07


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_fitted_noise_is_in_the_users_units(unit: float) -> None:
    rng = np.random.default_rng(0)
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize", seed=0)
    x = rng.random(80)
    values = unit * (np.sin(5 * x) + 0.1 * rng.standard_normal(80))
    optimizer.add_trials([{"x": float(one)} for one in x], values.tolist())
    found = noise_of(optimizer)
    assert found is not None
    assert 0.07 * unit < found < 0.14 * unit


@pytest.mark.parametrize("outlier", [0.0, 9.0])
def test_a_page_warns_of_a_model_that_fits_badly(outlier: float, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("plotly", reason="plotly is not installed: pip install 'quadrat[plots]'")
    monkeypatch.setattr(
        "quadrat.report.page.figures_of", lambda *_: ()
    )  # they take their time, and are tested elsewhere
    rng = np.random.default_rng(0)
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="minimize", seed=0)
    values = [float(np.sin(i / 4) + 0.1 * rng.standard_normal() + outlier * (i == 8)) for i in range(20)]
    optimizer.add_trials([{"x": i / 20} for i in range(20)], values)
    page = report_html(optimizer)
    assert ("Before you rely on the model" in page) == (outlier > 0)
    assert ("The model fits badly: trial 8 gave" in page) == (outlier > 0)
