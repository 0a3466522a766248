"""`Optimizer(noise=...)`: the noise that is known from outside."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput, QuadratWarning

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
    assert f"{found.value:.6g} exactly, as it is stated that there is no noise" in str(found)


def test_exact_repeats_say_that_there_is_no_noise() -> None:
    optimizer = qd.Optimizer(LINE, direction="maximize", seed=0)
    points = [0.1, 0.5, 0.5, 0.5, 0.9, 0.3]
    optimizer.add_trials([{"x": x} for x in points], [np.sin(3 * x) / 3 for x in points])
    found = optimizer.recommend()
    assert found.noise == 0.0
    assert found.interval(0.9) == (np.sin(1.5) / 3, np.sin(1.5) / 3)


def test_the_noise_of_one_result_is_that_of_one_replicate() -> None:
    optimizer = qd.Optimizer(LINE, direction="maximize", noise=0.1, seed=0)
    for number in range(6):
        trial = optimizer.ask()
        optimizer.tell(trial, [np.sin(number), np.sin(number) + 0.1, np.sin(number) - 0.1])
    found = optimizer.recommend()
    assert found.noise == pytest.approx(0.1)
    assert found.noise_stated
    assert "0.1 in one result, standard deviation  (as stated)" in str(found)


def test_pass_and_fail_say_nothing_of_noise() -> None:
    """Equal results of few kinds are chance, and the rarer kind is no outlier; what it takes is said."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        optimizer = qd.Optimizer(LINE, direction="maximize", seed=seed)
        for _ in range(16):
            trial = optimizer.ask()
            optimizer.tell(trial, float(rng.random() < 0.6))
        found = optimizer.recommend()
        assert found.noise != 0
        assert found.too_few == "all results are one of two values; tell means of several"
        assert "too few trials to say: all results are one of two values" in str(found)
        assert "Outliers" not in (optimizer.leave_one_out().warning or "")


@pytest.mark.parametrize("offset", [1e9, 1e12])
def test_a_large_offset_changes_nothing(offset: float) -> None:
    params = [{"x": i / 12} for i in range(13)]
    values = [float(np.sin(4 * one["x"])) + 0.05 * (-1) ** i for i, one in enumerate(params)]
    near, far = (qd.Optimizer(LINE, direction="maximize", seed=0) for _ in range(2))
    near.add_trials(params, values)
    far.add_trials(params, [offset + value for value in values])
    one, other = near.recommend(), far.recommend()
    assert other.params == one.params
    assert other.value - offset == pytest.approx(one.value, abs=0.01)
    assert other.noise == pytest.approx(one.noise, rel=0.05)


@pytest.mark.parametrize("noise", [0, None])
def test_with_choices_no_more_is_to_be_gained_than_the_values_allow(noise: float | None) -> None:
    """Points that differ in a choice's coordinate alone are one point: twice the same must not amplify anything."""
    space = qd.Space(T=qd.Float(20, 90), S=qd.Categorical(["a", "b"]), R=qd.Float(1, 10))
    for seed in range(3):
        found = qd.maximize(
            lambda p: float(10 * np.exp(-(((p["T"] - 60) / 20) ** 2)) + (p["S"] == "b") - 0.05 * (p["R"] - 4) ** 2),
            space, n_trials=25, seed=seed, noise=noise,
        )  # fmt: skip
        assert found.gain is not None
        assert found.gain.upper < 24  # twice the range of all values


def test_equal_results_say_nothing_of_what_is_left() -> None:
    found = qd.maximize(lambda _: 3.0, LINE, n_trials=10, seed=0)
    assert found.too_few == "all results are the same"
    assert qd.maximize(lambda _: 3.0, LINE, n_trials=10, seed=0, noise=0).too_few is None


def test_results_that_differ_where_there_is_said_to_be_no_noise_are_warned_of_once() -> None:
    optimizer = qd.Optimizer(LINE, direction="minimize", noise=0, seed=0)
    optimizer.tell(optimizer.ask(), 1.0)
    with pytest.warns(QuadratWarning, match=r"noise=0 is stated, but one setting gave .*2 and .*2.5: state how large"):
        optimizer.tell(optimizer.ask(), [2.0, 2.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.tell(optimizer.ask(), [3.0, 3.5])
