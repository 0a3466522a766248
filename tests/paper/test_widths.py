"""Width, so that an infinite bound cannot pass, and rejection, so that a wrong one is noticed."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.confidence import AdaptiveBand, Assumptions, LocalBand, SimpleBand
from quadrat.confidence.bands import contradiction
from quadrat.kernels import Matern
from quadrat.methods.base import Domain, Observation
from quadrat.methods.lp.method import information_gain
from quadrat.methods.lp.search import CellOptions, CertifiedSearch
from quadrat.problems import RKHSFunction, draw_rkhs_function
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

    Observation B = 1 the data reject in at least 80 % of runs; told B = 4 in at most delta of them (2 of 40).
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
            at = band.interval(rng.random((200, 2)))
            rejected = contradiction(band, empty=at.is_empty(norm)) is not None
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


# --- bands of cells


def widths_of_cells(X: Array, y: Array, top: Array, rng: np.random.Generator) -> tuple[float, float]:
    """Median half-width of a local band over that of an adaptive one, in the square and within about .05 of a point."""
    given = Assumptions(KERNEL, 1.0, 0.1)
    local, whole = LocalBand(given, 0.05, 2, capacity=128), AdaptiveBand(given, 0.05)
    for band in (local, whole):
        for rows in np.array_split(np.arange(len(y)), 20):
            band.add(X[rows], y[rows])
    assert local.cells > 4
    places = rng.random((300, 2)), np.clip(top + 0.05 * rng.normal(size=(300, 2)), 0, 1)
    square, near = (
        float(np.median(local.interval(at).half_width) / np.median(whole.interval(at).half_width)) for at in places
    )
    return square, near


def searched(f: RKHSFunction, n: int, seed: int) -> tuple[Array, Array]:
    """Points and values of a certified search with one band for all: they gather around the maximum, and repeat."""
    threshold = information_gain(KERNEL, n, 0.1**2, 2).value / np.sqrt(n)
    search = CertifiedSearch(
        Assumptions(KERNEL, 1.0, 0.1), Domain.cube(2), seed,
        CellOptions(budget=n, degree=0, delta=0.05, threshold=threshold, max_cells=100_000), capacity=None,
    )  # fmt: skip
    points, values = np.empty((n, 2)), np.empty(n)
    for i in range(n):
        points[i] = search.ask(i, np.empty((0, 2))).x
        values[i] = float(f(points[i])) + 0.1 * generator(seed, i, 5).normal()
        search.tell(Observation(i, points[i], values[i : i + 1]))
    return points, values


def test_bands_of_cells_are_narrower_where_a_search_has_been() -> None:
    """600 observations of a certified search, about half of them repeats, capacity 128, delta = .05, 3 functions.

    Ratios of half-widths, medians over the functions: .92 in the square and .88 near the maximum.
    """
    found = []
    for seed in (0, 2, 4):
        f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=generator(seed, 10))
        X, y = searched(f, 600, seed)
        assert len(np.unique(X, axis=0)) < 400
        found.append(widths_of_cells(X, y, f.maximum()[0], generator(seed, 11)))
    square, near = np.median(found, axis=0)
    assert square < 0.97
    assert near < 0.95


def test_bands_of_cells_are_not_much_wider_where_nothing_repeats() -> None:
    """600 points, three quarters of them within about .08 of the maximum, none twice: what a band of cells may cost.

    All of these are less than a length-scale apart, so that each tells of all, and a cell sees 128 of them at most.
    Ratios of half-widths, medians over 4 functions: 1.05 in the square and 1.23 near the maximum.
    """
    found = []
    for seed in range(4):
        rng = generator(seed, 7)
        f = draw_rkhs_function(KERNEL, 2, norm=1.0, rng=rng)
        top = f.maximum()[0]
        X = rng.random((600, 2))
        X[:450] = np.clip(top + 0.08 * rng.normal(size=(450, 2)), 0, 1)
        X = rng.permutation(X)
        found.append(widths_of_cells(X, f(X) + 0.1 * rng.normal(size=600), top, rng))
    square, near = np.median(found, axis=0)
    assert square < 1.2
    assert near < 1.4
