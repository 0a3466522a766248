from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.methods.base import Axis, Domain
from quadrat.methods.robust.choice import robust_choice

LINE, PLANE = Domain.cube(1), Domain.cube(2)


def bumps(x: Array) -> Array:
    """A narrow peak of height 1 at .2 and a broad one of height .7 at .65."""
    narrow, broad = np.exp(-0.5 * ((x - 0.2) / 0.04) ** 2), 0.7 * np.exp(-0.5 * ((x - 0.65) / 0.15) ** 2)
    return np.maximum(narrow, broad)


def data(n: int, seed: int, noise: float = 0.02) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random((n, 1)), axis=0)
    return x, bumps(x[:, 0]) + noise * rng.standard_normal(n)


@pytest.mark.parametrize("seed", range(3))
def test_the_broad_peak_is_chosen_and_its_worst_case_covered(seed: int) -> None:
    x, y = data(60, seed)
    choice = robust_choice(LINE, x, y, None, 0.1, seed)
    assert abs(choice.point[0] - 0.65) < 0.06
    truth = float(bumps(np.linspace(choice.point[0] - 0.1, choice.point[0] + 0.1, 401)).min())
    assert choice.worst_interval[0] - 0.02 <= truth <= choice.worst_interval[1] + 0.02
    assert choice.worst_interval[0] <= choice.worst <= choice.worst_interval[1]
    assert choice.belief.interval()[0] <= choice.belief.value <= choice.belief.interval()[1]
    assert choice.worst < choice.belief.value
    assert np.abs(choice.worst_at - choice.point) <= 0.1 + 1e-12


def test_a_tiny_radius_leaves_the_maximum() -> None:
    x, y = data(80, 0, noise=0.005)
    assert abs(robust_choice(LINE, x, y, None, 1e-3, 0).point[0] - 0.2) < 0.03


def test_equal_arguments_give_equal_answers_in_any_units() -> None:
    x, y = data(30, 1)
    first, again = robust_choice(LINE, x, y, None, 0.1, 3), robust_choice(LINE, x, y, None, [0.1], 3)
    scaled = robust_choice(LINE, x, 1e4 * y - 7e5, None, 0.1, 3)
    assert first.point.tolist() == again.point.tolist()
    assert (first.worst, first.worst_interval) == (again.worst, again.worst_interval)
    np.testing.assert_allclose(scaled.point, first.point, atol=1e-2)
    assert scaled.worst == pytest.approx(1e4 * first.worst - 7e5, abs=500)


def test_only_smooth_axes_are_perturbed() -> None:
    """f is highest for the choice "b", and along x broad at .7: integers and choices stay where they are."""
    kinds, sizes = Axis((0.25, 0.75), ordered=False), Axis((1 / 6, 0.5, 5 / 6))

    def rounded(points: Array) -> Array:
        return np.stack([points[:, 0], np.where(points[:, 1] < 0.5, 0.25, 0.75), _third(points[:, 2])], axis=1)

    domain = Domain((Axis(), kinds, sizes), rounded)
    x = rounded(np.random.default_rng(0).random((90, 3)))
    y = bumps(x[:, 0]) + 0.3 * (x[:, 1] == 0.75) - np.abs(x[:, 2] - 0.5)
    choice = robust_choice(domain, x, y, None, 0.1, 0)
    assert choice.point[1:].tolist() == choice.worst_at[1:].tolist() == [0.75, 0.5]
    assert abs(choice.point[0] - 0.65) < 0.1


def test_only_continua_are_perturbed() -> None:
    """The second axis is smooth and no continuum: many integers, of which f depends steeply."""

    def rounded(points: Array) -> Array:
        return np.stack([points[:, 0], np.round(points[:, 1] * 999) / 999], axis=1)

    domain = Domain((Axis(), Axis()), rounded, continuous=(True, False))
    x = rounded(np.random.default_rng(0).random((60, 2)))
    choice = robust_choice(domain, x, bumps(x[:, 0]) + 2 * x[:, 1], None, 0.1, 0)
    assert choice.worst_at[1] == choice.point[1]
    assert np.array_equal(rounded(choice.point[None, :])[0], choice.point)
    with pytest.raises(InvalidInput, match="radius: expected one > 0 on a Float without steps or conditions"):
        robust_choice(domain, x, x[:, 0], None, [0.0, 0.1], 0)


def _third(column: Array) -> Array:
    return np.asarray(np.array([1 / 6, 0.5, 5 / 6])[np.minimum((3 * column).astype(int), 2)])


def test_what_may_not_be_evaluated_is_not_chosen() -> None:
    x = np.random.default_rng(0).random((40, 2))
    domain = Domain((Axis(), Axis()), feasible=lambda points: points[:, 0] <= 0.5)
    choice = robust_choice(domain, x[x[:, 0] <= 0.5], x[x[:, 0] <= 0.5].sum(axis=1), None, 0.1, 0)
    assert choice.point[0] <= 0.5


def test_known_variances_count() -> None:
    """A high value at .2 with a large standard error does not lure: the same value without one does."""
    x = np.repeat(np.linspace(0, 1, 21), 2)[:, None]
    y = 0.5 * np.exp(-0.5 * ((x[:, 0] - 0.7) / 0.2) ** 2)
    odd = np.abs(x[:, 0] - 0.2) < 0.07
    y = np.where(odd, 1.0, y)
    vague = np.where(odd, 25.0, 1e-4)
    assert abs(robust_choice(LINE, x, y, vague, 0.05, 0).point[0] - 0.7) < 0.1
    assert abs(robust_choice(LINE, x, y, np.full(42, 1e-4), 0.05, 0).point[0] - 0.2) < 0.1
    mixed = np.where(odd, 25.0, np.nan)
    assert abs(robust_choice(LINE, x, y, mixed, 0.05, 0).point[0] - 0.7) < 0.1


@pytest.mark.parametrize("y", [[1.0], [2.0, 2.0, 2.0]])
def test_few_and_equal_values(y: list[float]) -> None:
    x = np.linspace(0.2, 0.8, len(y))[:, None] @ np.ones((1, 2))
    choice = robust_choice(PLANE, x, y, None, 0.1, 0)
    assert np.isfinite([choice.belief.value, choice.worst, *choice.worst_interval]).all()
    assert choice.belief.value == pytest.approx(y[0], abs=1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": 0.0}, "radius: expected half-sides >= 0"),
        ({"radius": [0.1, 0.1]}, "radius: expected 1 entries"),
        ({"x": np.empty((0, 1)), "y": []}, "expected at least one observation"),
        ({"y": [1.0]}, "y: expected 2 entries"),
        ({"variances": [0.1]}, "variances: expected 2 numbers"),
        ({"variances": [-0.1, 0.1]}, "variances: expected 2 numbers >= 0"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"x": [[0.1], [0.2]], "y": [0.0, 1.0], "variances": None, "radius": 0.1, **options}
    with pytest.raises(InvalidInput, match=message):
        robust_choice(LINE, seed=0, **given)


def test_low_values_are_kept_beyond_the_most_that_the_posterior_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plateau of 1 with a hole of -1 at .4: kept by value, the hole would be forgotten, and .25 would seem safe."""
    monkeypatch.setattr("quadrat.methods.robust.choice._KEPT", 80)
    x = np.random.default_rng(0).random((200, 1))
    y = np.where(np.abs(x[:, 0] - 0.4) < 0.06, -1.0, 1.0) + 0.2 * np.exp(-0.5 * ((x[:, 0] - 0.25) / 0.1) ** 2)
    choice = robust_choice(LINE, x, y, None, 0.15, 0)
    assert abs(choice.point[0] - 0.4) > 0.2
    assert choice.point.tolist() == robust_choice(LINE, x, y, None, 0.15, 0).point.tolist()
