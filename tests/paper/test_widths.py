"""Width, so that an infinite bound cannot pass, and rejection, so that a wrong one is noticed."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat.confidence import AdaptiveBand, Assumptions, SimpleBand
from quadrat.kernels import Matern
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL = Matern(2.5, 0.3)


@pytest.mark.parametrize("style", ["bumpy", "rough"])
def test_adaptive_band_is_at_most_half_as_wide_as_the_simple_one(style: str) -> None:
    """Matérn 5/2, theta = .3, B = 1, sigma = .1, 200 observations spread over the square, delta = .05.

    Medians over the square and over 8 functions. The simple band with the customary lambda = sigma^2; with
    16 sigma^2/B^2, the adaptive band's own lambda, it is narrower, and the adaptive band still narrower.
    """
    adaptive: list[float] = []
    simple: list[float] = []
    wide: list[float] = []
    for seed in range(8):
        rng = generator(seed, 4)
        f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=rng, style=style)  # type: ignore[arg-type]
        X, query = rng.random((200, 2)), rng.random((300, 2))
        y = f(X) + 0.1 * rng.normal(size=200)
        given = Assumptions(KERNEL, 1.0, 0.1)
        ours = AdaptiveBand(given, 0.05)
        for band, widths in (
            (ours, adaptive),
            (SimpleBand(given, 0.05), simple),
            (SimpleBand(given, 0.05, regulariser=ours.regulariser), wide),
        ):
            band.add(X, y)
            widths.append(float(np.median(band.interval(query).half_width)))
    assert np.median(adaptive) <= 0.5 * np.median(simple)
    assert np.median(adaptive) <= 0.9 * np.median(wide)
    assert np.median(adaptive) < 0.4, "B s = 1 is what is known without any data"


def test_a_norm_four_times_too_small_is_rejected_and_the_true_one_is_not() -> None:
    """D = 2, theta = .3, sigma = .1, true norm 4, 100 observations, delta = .05, 40 runs.

    Told B = 1 the data reject in at least 80 % of runs; told B = 4 in at most delta of them (2 of 40).
    """
    told_one = told_four = 0
    for seed in range(40):
        rng = generator(seed, 5)
        f = draw_rkhs_function(KERNEL, 2, norm=4.0, rng=rng, style="rough" if seed % 2 else "bumpy")
        X = rng.random((100, 2))
        y = f(X) + 0.1 * rng.normal(size=100)
        for norm in (1.0, 4.0):
            band = AdaptiveBand(Assumptions(KERNEL, norm, 0.1), 0.05)
            band.add(X, y)
            band.interval(rng.random((200, 2)))
            rejected = band.rejection is not None
            told_one += rejected and norm == 1.0
            told_four += rejected and norm == 4.0
    assert told_one >= 0.8 * 40
    assert told_four <= 2


def test_width_falls_with_observations() -> None:
    rng = generator(0, 6)
    f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=rng)
    band = AdaptiveBand(Assumptions(KERNEL, 1.0, 0.1), 0.05)
    query = np.linspace(0, 1, 50)[:, None]
    widths = []
    for _ in range(4):
        X = rng.random((100, 1))
        band.add(X, f(X) + 0.1 * rng.normal(size=100))
        widths.append(float(np.median(band.interval(query).half_width)))
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.75 * widths[0]
