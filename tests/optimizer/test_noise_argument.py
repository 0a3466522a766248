"""`Optimizer(noise=...)`: the noise that is known from outside."""

from __future__ import annotations

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
