"""Values, B and sigma in other units are the same problem: every certified method suggests the same points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.kernels import Matern
from quadrat.methods import LP0, LPGPUCB, LevelSet, Method, MultiScaleLevelSet
from quadrat.methods.base import Axis, Domain, Observation
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, 0.3)
CUBE, CONTEXT = Domain.cube(2), Domain((Axis(), Axis()), context=(1,))
CERTIFIED: dict[str, tuple[Callable[..., Method], Domain]] = {
    "LPGPUCB": (lambda **given: LPGPUCB(budget=60, **given), CUBE),
    "LPGPUCB, smooth and noisy": (lambda **given: LPGPUCB(budget=60, **_noisy(given)), CUBE),
    "LPGPUCB, local bands": (lambda **given: LPGPUCB(budget=400, **given), CUBE),
    "LPGPUCB, contexts": (lambda **given: LPGPUCB(budget=60, **given), CONTEXT),
    "LP0": (lambda **given: LP0(budget=60, **given), CUBE),
    "LevelSet": (lambda **given: LevelSet(**_levels(given)), CUBE),
    "MultiScaleLevelSet": (lambda **given: MultiScaleLevelSet(**_levels(given)), CUBE),
}


def _noisy(given: dict[str, Any]) -> dict[str, Any]:
    return {**given, "kernel": Matern(2.5, 1.0), "noise": given["norm_bound"]}


def _levels(given: dict[str, Any]) -> dict[str, Any]:
    unit = float(str(given["norm_bound"]))
    return {**given, "threshold": 0.2 * unit, "accuracy": 0.05 * unit}


def suggestions(make: Callable[..., Method], domain: Domain, unit: float, amplitude: float = 1.0) -> Array:
    """What the method suggests when f = `unit` times a function of norm 1; with s = `amplitude`, B is less by that."""
    kernel = Matern(2.5, 0.3, amplitude=amplitude)
    search = make(kernel=kernel, norm_bound=unit / amplitude, noise=0.1 * unit).start(domain, 3)
    f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=generator(3))
    points = []
    for number in range(25):
        z = np.array([np.nan, (0.2, 0.7)[number % 2]]) if domain.context else None
        x = search.ask(number, np.empty((0, 2)), z).x
        y = float(f.values(x[None])[0]) + 0.1 * generator(9, number).normal()
        search.tell(Observation(number, x, np.array([unit * y])))
        points.append(x)
    return np.array(points)


@pytest.mark.parametrize("name", CERTIFIED)
def test_powers_of_two_change_nothing_bit_for_bit(name: str) -> None:
    make, domain = CERTIFIED[name]
    expected = suggestions(make, domain, 1.0)
    for unit in (1024.0, 2.0**-20):
        np.testing.assert_array_equal(suggestions(make, domain, unit), expected)


def test_the_scale_may_stand_in_the_norm_or_in_the_kernel() -> None:
    make, domain = CERTIFIED["LPGPUCB"]
    np.testing.assert_array_equal(suggestions(make, domain, 1.0, amplitude=4.0), suggestions(make, domain, 1.0))


def test_the_threshold_is_in_the_units_of_f() -> None:
    """gamma_n / sqrt n has no unit: B s times it is what a variation of f is compared with."""
    one = LPGPUCB(kernel=KERNEL, norm_bound=1.0, noise=0.1, budget=50)
    other = LPGPUCB(kernel=KERNEL, norm_bound=1024.0, noise=102.4, budget=50)
    thresholds = [method.start(CUBE, 0).loop.threshold for method in (one, other)]  # type: ignore[attr-defined]
    assert thresholds[1] == 1024 * thresholds[0] > 0


def test_the_threshold_decides_only_where_noise_is_as_large_as_f() -> None:
    """Against the largest variation of any cell: above it, lines 9 and 12 never fire."""
    largest = float(KERNEL.modulus([10.0, 10.0]))
    settings = [
        (1, 0.1, 60, 3.64),
        (1, 0.1, 200, 2.61),
        (2, 0.1, 60, 15.8),
        (2, 0.1, 200, 14.6),
        (1, 1.0, 60, 1.02),
        (1, 1.0, 200, 0.84),
    ]
    for D, noise, n, expected in settings:
        method = LP0(kernel=KERNEL, norm_bound=1.0, noise=noise, budget=n)
        threshold = method.start(Domain.cube(D), 0).loop.threshold  # type: ignore[attr-defined]
        assert threshold == pytest.approx(expected, rel=0.01)
        assert (threshold > largest) == (noise == 0.1)
