"""All labels of a level set are right at once, at all times, with probability 1 - delta: checked by simulation.

Functions of norm exactly B and adaptive points; labels are compared with f on a fine grid after every few evaluations.
Without what f varies by within a cell, or with half the width of the band, labels are wrong in too many runs.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from tests.labels import labels_at

from quadrat.confidence import AdaptiveBand
from quadrat.kernels import Matern, SquaredExponential
from quadrat.methods.base import ABOVE, BELOW, UNDECIDED, Domain, Observation
from quadrat.methods.level_sets.cells import LevelCells
from quadrat.methods.level_sets.method import LevelSet, MultiScaleLevelSet
from quadrat.methods.level_sets.search import LevelSearch
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

DELTA, KERNEL, NOISE = 0.1, Matern(2.5, 0.2), 0.05
FINE = np.linspace(0.0, 1.0, 1001)[:, None]


def most(runs: int) -> int:
    """The largest count that a guarantee with failure probability delta exceeds at most once in a thousand times."""
    return int(binom.ppf(0.999, runs, DELTA))


def fails(make: type[LevelSet] | type[MultiScaleLevelSet], seed: int, options: dict[str, object]) -> bool:
    """One run of 25 evaluations in one dimension; the threshold is the median of f, accuracy 0."""
    f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=generator(seed, 11))
    truth = f.values(FINE)
    threshold = float(np.median(truth))
    stated = {"threshold": threshold, "kernel": KERNEL, "norm_bound": 1.0, "noise": NOISE, "delta": DELTA}
    search = make(**stated, **options).start(Domain.cube(1), seed)  # type: ignore[arg-type]
    decided = 0
    for i in range(25):
        x = search.ask(i, np.empty((0, 1))).x
        search.tell(Observation(i, x, np.array([float(f(x)) + NOISE * generator(seed, i, 12).normal()])))
        if i % 5 == 4:
            labels = labels_at(search.level_set(), FINE)
            decided = int((labels != UNDECIDED).sum())
            if ((labels == ABOVE) & (truth <= threshold)).any() or ((labels == BELOW) & (truth >= threshold)).any():
                return True
    assert decided or options, "labels that are never given would never be wrong"
    return False


@pytest.mark.parametrize(("make", "options"), [(MultiScaleLevelSet, {}), (LevelSet, {"cells": 32})])
def test_labels_are_right_with_probability_one_minus_delta(
    make: type[LevelSet] | type[MultiScaleLevelSet], options: dict[str, object]
) -> None:
    runs = 12
    assert sum(fails(make, seed, options) for seed in range(runs)) <= most(runs)


def test_without_the_variation_within_cells_labels_are_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cells, each labelled as its centre is: f lies on both sides of its median in one of them at least."""
    monkeypatch.setattr(LevelCells, "way", lambda _self, _depth: (False, 0.0))
    runs = 8
    assert sum(fails(LevelSet, seed, {"cells": 2, "rule": "ambiguity"}) for seed in range(runs)) > most(runs)


@pytest.mark.parametrize(("share", "caught"), [(1.0, False), (0.5, True)])
def test_half_the_width_is_noticed(share: float, caught: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sharp case: f is the threshold, all observations at one point; whatever label is given is wrong.

    The length-scale is so long that f is constant over the one cell; B = 4 and sigma = 1 make lambda 1.
    """

    class Narrow(AdaptiveBand):
        def _update(self) -> None:
            super()._update()
            self._reach = self._reach * share

    monkeypatch.setattr("quadrat.methods.level_sets.cells.AdaptiveBand", Narrow)
    runs, failures = 30, 0
    for seed in range(runs):
        method = LevelSet(
            threshold=0.0, kernel=SquaredExponential(500.0), norm_bound=4.0, noise=1.0, delta=DELTA, cells=1
        )
        search: LevelSearch = method.start(Domain.cube(1), seed)
        noise = generator(seed, 13).normal(size=40)
        for i, y in enumerate(noise):
            search.tell(Observation(i, np.array([0.5]), np.array([y])))
        failures += bool(search.level_set().label[0] != UNDECIDED)
    assert (failures > most(runs)) == caught, failures
