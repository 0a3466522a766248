"""What the default method learns: hyper-parameters with their uncertainty, from everything told, at scheduled times.

Model: values standardised to mean 0 and sd 1; a constant mean at its optimum; a Matérn kernel with nu = 5/2 and a
length-scale for each axis; noise variance, amplitude and length-scales with the priors of `quadrat.gp.Priors`. The most
likely setting is found by L-BFGS from the previous one and from the prior; further settings are drawn around it, and
whatever is computed is averaged over all of them.

The settings are a pure function of what was told, in the order of telling, and of the seed: they are learned when a
trial is told, at scheduled numbers of trials, each time from the setting before.
"""

from __future__ import annotations

import numpy as np

from quadrat.arrays import Array
from quadrat.gp import LogPosterior, Observations, fit_map
from quadrat.gp.ensemble import Ensemble
from quadrat.kernels import Kernel, Matern, Tied
from quadrat.methods.base import Told
from quadrat.methods.domain import Domain
from quadrat.randomness import generator

__all__ = ["LearnedModel", "is_due"]

SETTINGS = 5  # the most likely one and draws around it
SPREAD = 0.35  # of the draws, in each log hyper-parameter
_LARGEST_VARIANCE = 1e100  # in standardised units: such an observation says nothing, and sums stay finite
_DRAWS = 11  # names the stream


def is_due(trials: int, first: int) -> bool:
    """Whether settings are learned when this many trials have been told.

    From the first time on at every trial up to 64, then at every second, from 128 on at every fourth, and so on: some
    32 times for every doubling.
    """
    return trials >= first and trials % (1 << max(trials.bit_length() - 6, 0)) == 0


class LearnedModel:
    """Told trials go in, an ensemble of posteriors comes out, in standardised units and over features of the domain.

    `settings` is how many there are in it; one is the most likely alone.
    """

    def __init__(self, domain: Domain, seed: int, first: int, settings: int = SETTINGS) -> None:
        self.domain, self.seed, self.first, self.settings = domain, seed, first, settings
        self.trials = 0
        self._x: list[Array] = []
        self._y: list[float] = []
        self._variance: list[float] = []  # NaN where it is to be learned
        self._settings: Array | None = None
        self._current: tuple[LogPosterior, Ensemble] | None = None

    def tell(self, told: Told) -> None:
        """Take in one trial; learn where that is due."""
        # The first value of unknown noise makes the noise something to learn: what was learned before does not fit.
        grown = self.settled and told.variance is None and not np.isnan(self._variance).any()
        values = told.values if told.variance is None else np.array([float(np.mean(told.values))])
        for value in values:
            self._x.append(np.asarray(told.x, dtype=np.float64))
            self._y.append(float(value))
            self._variance.append(np.nan if told.variance is None else float(told.variance))
        self.trials += 1
        self._current = None
        if grown or is_due(self.trials, self.first):
            self._settings = self._learn(None if grown or self._settings is None else self._settings[0])

    @property
    def settled(self) -> bool:
        """Whether anything was learned, so that the model may decide."""
        return self._settings is not None

    @property
    def x(self) -> Array:
        """Points of all observations, repeats included, shape (N, D)."""
        return np.array(self._x).reshape(-1, self.domain.dimension)

    @property
    def y(self) -> Array:
        """All observations, shape (N,)."""
        return np.array(self._y)

    def units(self) -> tuple[float, float]:
        """Return the mean and the standard deviation of all observations; their size where they do not differ."""
        largest = float(np.abs(self.y).max()) or 1.0  # so that squares neither overflow nor vanish
        scaled = self.y / largest
        spread = float(np.std(scaled))
        return largest * float(np.mean(scaled)), largest * (spread if spread > 1e-12 else 1.0)

    def current(self) -> tuple[LogPosterior, Ensemble]:
        """Return the observations in standardised units, and the ensemble that has seen all of them.

        Before anything was learned, from whatever there is, without keeping it: looking must not change the run.
        """
        if self._current is None:
            settings = self._learn(None) if self._settings is None else self._settings
            objective = self._objective()
            self._current = objective, Ensemble(objective, settings)
        return self._current

    def _objective(self) -> LogPosterior:
        return LogPosterior(self._form(), self._data(), standardise=False)

    def _data(self) -> Observations:
        shift, scale = self.units()
        x, y = self.domain.features(self.x), self.y / scale - shift / scale
        with np.errstate(over="ignore"):
            variance = np.minimum(np.array(self._variance) / scale / scale, _LARGEST_VARIANCE)
        known = ~np.isnan(variance)
        if not known.any():
            return Observations.merge(x, y)
        stated = Observations.merge(x[known], y[known], variance[known])
        return stated if known.all() else Observations.merge(x[~known], y[~known]) + stated

    def _form(self) -> Kernel:
        groups = self.domain.groups
        kernel = Matern(2.5, np.full(len(groups), 0.5))
        return kernel if len(groups) == self.domain.dimension else Tied(kernel, groups)

    def _learn(self, previous: Array | None) -> Array:
        """Return log hyper-parameters, (M, p): the most likely ones, searched from the previous ones too, and draws."""
        starts = [] if previous is None else [previous]
        mode = fit_map(self._form(), self._data(), starts=starts, standardise=False).parameters
        draws = generator(self.seed, self.trials, _DRAWS).standard_normal((self.settings - 1, len(mode)))
        return np.vstack([mode, mode + SPREAD * draws])
