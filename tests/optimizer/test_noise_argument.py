"""`Optimizer(noise=...)`: the noise that is known from outside."""

from __future__ import annotations

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput

LINE = qd.Space(x=qd.Float(0, 1))


def test_noise_goes_to_the_default_method() -> None:
    assert qd.Optimizer(LINE, direction="maximize", noise=0).method == qd.Auto(noise=0.0)
    assert qd.Optimizer(LINE, direction="maximize").method == qd.Auto()


def test_noise_beside_a_method_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"noise: expected None beside a method.*method=Auto\(noise=0.1\)"):
        qd.Optimizer(LINE, direction="maximize", method="RandomSearch", noise=0.1)


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), "none"])
def test_what_is_no_noise_is_refused(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="noise: expected"):
        qd.maximize(lambda p: p["x"], LINE, n_trials=3, noise=wrong)  # type: ignore[arg-type]


def test_without_noise_the_value_is_exact() -> None:
    found = qd.maximize(lambda p: -((p["x"] - 0.3) ** 2), LINE, n_trials=15, noise=0)
    assert abs(found.value - -((found.params["x"] - 0.3) ** 2)) < 1e-7
    assert found.params["x"] == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize("n", [12, 40, 280])
@pytest.mark.parametrize("offset", [0.0, 1e9, -1e-12])
def test_without_noise_what_is_stated_is_what_was_told(n: int, offset: float) -> None:
    """To the last bit, also where the posterior's matrix is close to singular, and where one model has not seen all."""
    optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1)), direction="minimize", noise=0, seed=1)
    rng = np.random.default_rng(0)
    params = [{"x": float(x), "y": float(y)} for x, y in rng.random((n, 2)) ** 3]
    values = [offset + (one["x"] - 0.1) ** 2 + 1e-3 * one["y"] for one in params]
    optimizer.add_trials(params, values)
    found = optimizer.recommend()
    assert found.value == min(values)
    assert found.params == params[values.index(min(values))]
    assert found.interval(0.99) == (found.value, found.value)
    assert f"{found.value:.6g} exactly: there is no noise" in str(found)


def test_exact_repeats_say_that_there_is_no_noise() -> None:
    optimizer = qd.Optimizer(LINE, direction="maximize", seed=0)
    points = [0.1, 0.5, 0.5, 0.5, 0.9, 0.3]
    optimizer.add_trials([{"x": x} for x in points], [np.sin(3 * x) / 3 for x in points])
    found = optimizer.recommend()
    assert found.noise == 0.0
    assert found.interval(0.9) == (np.sin(1.5) / 3, np.sin(1.5) / 3)
