"""Leave-one-out: every observation as all others predict it, in closed form, and whether the model fits.

Let A = K + diag(v) be the covariance of the observations y under one member of an ensemble, u = A^-1 1, and
P = A^-1 - u u' / (1' u). With an unknown constant mean, given all observations but y_i, y_i is normal, noise included,
and [D83]

    y_i - mean_i = (P y)_i / P_ii,    variance_i = 1 / P_ii.

This is exact for the hyper-parameters of a member. Members are samples of the posterior given all observations. Under
the posterior given all but y_i, a member's weight is proportional to 1 / p(y_i | the others, member); these weights are
Pareto-smoothed [V17], and nothing is fitted again. Measurements at one point are one observation, their mean, and are
left out together: their scatter, which tells the noise, counts in the weight.

Where the model is right, the residuals (normal quantiles of the probability integral transforms [D84]) are standard
normal, but not independent. Noise and length-scales are learned from the same observations, so a wrong model has
residuals of about the right size, and a wrong shape: many small ones and some large ones. That shape is tested, by
Anderson and Darling's statistic of normality with unknown mean and variance [S74]. Its distribution for a right model
is simulated from the members, with the dependence that the residuals have.

References
----------
[D83]  Dubrule (1983). Cross validation of kriging in a unique neighborhood. Mathematical Geology 15.
[D84]  Dawid (1984). Present position and potential developments: some personal views: statistical theory: the
       prequential approach. Journal of the Royal Statistical Society A 147.
[S74]  Stephens (1974). EDF statistics for goodness of fit and some comparisons. JASA 69.
[V17]  Vehtari, Gelman and Gabry (2017). Practical Bayesian model evaluation using leave-one-out cross-validation and
       WAIC. Statistics and Computing 27.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from quadrat._core.arrays import Array, Bools
from quadrat._core.printing import printed
from quadrat.errors import InvalidInput
from quadrat.gp.ensemble import Ensemble, EnsemblePrediction
from quadrat.gp.hyper_posterior import pareto_smooth

__all__ = ["LeaveOneOut"]

FALSE_ALARMS = 0.02  # of the runs whose model is right, in which there is a warning all the same
_TAILS = (0.05, 0.95)  # of the 90 % intervals
_MATTERS = 0.01  # of the standard deviation of the observations: smaller errors are no misfit, whatever their shape,
# and nor are errors below that share of their deviations
_FEWEST = 8  # observations with errors that matter, without which nothing is tested
_NAMED = 3  # outliers that are named
_SIMULATED = 16  # times the residuals are simulated from each member


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Each of n observations beside the prediction of it from all others, noise included.

    Attributes
    ----------
    observed
        Means of the measurements at each point, shape (n,).
    seen
        The same as the model sees them, shape (n,): absurd values near all others.
    predicted, deviation
        Mean and standard deviation of the prediction of each, shape (n,).
    lower, upper
        Its 90 % interval, shape (n,): of the observation, not of f.
    residuals
        Standardised residuals, shape (n,): normal quantiles of the chance of an observation that is lower. Standard
        normal where the model is right.
    noise_share
        The share of noise in the variance of the prediction, shape (n,).
    p_value
        The chance that residuals of a right model are at least as far from normal as these.
    trials
        Numbers of the trials that each observation is the mean of.
    outliers
        Which observations have more variance than the others, and count for little (`find_outliers`).

    Examples
    --------
    >>> from quadrat.gp import HyperPosterior, Observations
    >>> from quadrat.kernels import Matern
    >>> rng = np.random.default_rng(0)
    >>> x = np.linspace(0, 1, 20)[:, None]
    >>> data = Observations.merge(x, np.sin(6 * x[:, 0]) + 0.1 * rng.standard_normal(20))
    >>> kernels = [Matern(2.5, 1.0)]
    >>> ensemble = Ensemble.of_samples(data, kernels, HyperPosterior(data, kernels).sample(64, rng), [0])
    >>> found = LeaveOneOut.of(ensemble, rng)
    >>> found.coverage([0.5, 0.9]).tolist(), found.warning
    ([0.5, 0.85], None)
    """

    observed: Array
    seen: Array
    predicted: Array
    deviation: Array
    lower: Array
    upper: Array
    residuals: Array
    noise_share: Array
    p_value: float
    trials: tuple[tuple[int, ...], ...]
    outliers: tuple[int, ...] = ()

    __repr__ = printed

    @classmethod
    def of(
        cls, ensemble: Ensemble, rng: np.random.Generator, trials: Sequence[Sequence[int]] | None = None
    ) -> LeaveOneOut:
        """Return the predictions of an ensemble of samples (`Ensemble.of_samples`); `rng` simulates the test.

        Parameters
        ----------
        ensemble
            Some 50 members or more, so that their weights can be smoothed.
        rng
            Draws residuals of a right model.
        trials
            As of this class; None numbers the observations.

        Raises
        ------
        InvalidInput
            Fewer than two observations.
        """
        data = ensemble.data
        n = len(data)
        if n < 2:
            raise InvalidInput(f"ensemble: expected at least two observations at different points, got {n}")
        errors, deviations = ensemble.leave_one_out()
        weights = _weights(ensemble, errors / deviations, deviations)
        left_out = EnsemblePrediction(data.y - errors, deviations)
        lower, upper = left_out.quantiles(_TAILS, weights)
        predicted = (weights * left_out.mean).sum(axis=0)
        deviation = np.sqrt((weights * (deviations**2 + (left_out.mean - predicted) ** 2)).sum(axis=0))
        residuals = _normal_quantiles(errors / deviations, weights)
        matters = np.maximum(deviation, np.abs(data.y - predicted)) > _MATTERS * np.std(data.y)
        noise = np.array([data.noise_variance(unknown) for unknown in ensemble.noise_variance])
        return cls(
            data.y,
            data.y,
            predicted,
            deviation,
            lower,
            upper,
            residuals,
            (weights * noise / deviations**2).sum(axis=0),
            _p_value(ensemble, residuals, deviations, matters, rng),
            tuple((i,) for i in range(n)) if trials is None else tuple(map(tuple, trials)),
            tuple(np.flatnonzero((data.count > 0) & (data.known_variance > 0)).tolist()),
        )

    def __len__(self) -> int:
        return len(self.observed)

    @property
    def pit(self) -> Array:
        """The probability integral transform: the chance of an observation below this one, shape (n,)."""
        from scipy.special import ndtr

        return np.asarray(ndtr(self.residuals))

    def coverage(self, levels: Sequence[float]) -> Array:
        """Return the share of observations within their central intervals of these levels, shape (len(levels),)."""
        central = np.abs(2 * self.pit - 1)
        return np.asarray((central <= np.asarray(levels, dtype=np.float64)[:, None]).mean(axis=1))

    @property
    def warning(self) -> str | None:
        """That there are outliers, or that the model fits badly, and what to do; None where nothing says so.

        About 2 % of the runs whose model is right have a warning that it fits badly.
        """
        return " ".join(part for part in (self._outliers_said(), self._misfit_said()) if part) or None

    @property
    def warning_of_trials(self) -> str | None:
        """The warning, if it is about certain trials; None where nothing but the shape of all errors is unusual.

        That shape is unusual in more runs than 2 % on ordinary functions too, such as a peak in a plain.
        """
        return self.warning if self.outliers or self._far() else None

    def _far(self) -> list[int]:
        """Which observations are too far off for a right model, the farthest first; none where its shape fits."""
        if self.p_value > FALSE_ALARMS:
            return []
        from scipy.special import ndtr

        distances = np.abs(self.residuals)
        return [int(i) for i in np.argsort(-distances) if 2 * len(self) * ndtr(-distances[i]) <= FALSE_ALARMS]

    def _outliers_said(self) -> str | None:
        if not self.outliers:
            return None
        each = [
            f"trial{'s' * (len(self.trials[i]) > 1)} {', '.join(map(str, self.trials[i]))} gave"
            f" {self.observed[i]:.4g} where {self.predicted[i]:.4g} was expected"
            for i in self.outliers[:_NAMED]
        ]
        more = len(self.outliers) - len(each)
        return (
            f"Outliers: {'; '.join(each)}{f'; and {more} more' if more else ''}. They count for little; measure there"
            " again where it matters."
        )

    def _misfit_said(self) -> str | None:
        if self.p_value > FALSE_ALARMS:
            return None
        far = self._far()
        if not far:
            return (
                "The model fits badly: its errors, each trial predicted from all others, are not those of one normal"
                " noise. The objective may jump, the noise may differ from place to place, or a parameter that matters"
                " may be missing: rely less on intervals, and measure the recommended setting again."
            )
        worst, *more = far
        also = [str(number) for i in more for number in self.trials[i]]
        beside = f", and trial{'s' * (len(also) > 1)} {', '.join(also)} {'are' if len(also) > 1 else 'is'} as far off"
        return (
            f"The model fits badly: trial{'s' * (len(self.trials[worst]) > 1)}"
            f" {', '.join(map(str, self.trials[worst]))} gave {self.observed[worst]:.4g}, where all others predict"
            f" {self.lower[worst]:.4g} to {self.upper[worst]:.4g} (90 %){beside if also else ''}. Measure there again,"
            " and rely less on intervals: outliers widen them, and where the objective jumps they are wrong."
        )

    def mapped(self, rising: Callable[[Array], Array]) -> LeaveOneOut:
        """Return the same in the units that a `rising` function gives; its deviations are to first order."""
        ends = rising(self.predicted - self.deviation), rising(self.predicted + self.deviation)
        return replace(
            self,
            observed=rising(self.observed),
            seen=rising(self.seen),
            predicted=rising(self.predicted),
            lower=rising(self.lower),
            upper=rising(self.upper),
            deviation=0.5 * (ends[1] - ends[0]),
        )

    def turned(self) -> LeaveOneOut:
        """Return the same for the negatives of the observations."""
        return replace(
            self,
            observed=-self.observed,
            seen=-self.seen,
            predicted=-self.predicted,
            lower=-self.upper,
            upper=-self.lower,
            residuals=-self.residuals,
        )

    def renumbered(self, numbers: Sequence[int]) -> LeaveOneOut:
        """Return the same where trial i is called `numbers[i]`."""
        return replace(self, trials=tuple(tuple(numbers[i] for i in some) for some in self.trials))


def _weights(ensemble: Ensemble, residuals: Array, deviations: Array) -> Array:
    """Return the weight of each member when each observation is left out, (M, n); each column adds up to 1."""
    data, noise = ensemble.data, ensemble.noise_variance[:, None]
    if data.noise_factor is not None:
        noise = noise * data.noise_factor
    repeats = np.maximum(data.count - 1, 0.0)
    logs = 0.5 * residuals**2 + np.log(deviations)
    if repeats.any():
        logs += 0.5 * (repeats * np.log(noise) + data.scatter / noise)
    smoothed = np.array([pareto_smooth(column)[0] for column in logs.T]).T
    weights = np.exp(smoothed - smoothed.max(axis=0))
    return np.asarray(weights / weights.sum(axis=0))


def _normal_quantiles(residuals: Array, weights: Array) -> Array:
    """Return the residuals of a weighted mixture, (n,), from those of its members, (M, n); exact in both tails."""
    from scipy.special import log_ndtr, logsumexp, ndtri_exp

    below, above = (logsumexp(log_ndtr(side * residuals), axis=0, b=weights) for side in (1, -1))
    return np.where(below < above, ndtri_exp(np.minimum(below, 0.0)), -ndtri_exp(np.minimum(above, 0.0)))


def _p_value(
    ensemble: Ensemble, residuals: Array, deviations: Array, matters: Bools, rng: np.random.Generator
) -> float:
    """Return the share of simulations with a statistic at least as large as that of the residuals (n,)."""
    if matters.sum() < _FEWEST or np.abs(residuals[matters]).max() < _MATTERS:  # such as constant values
        return 1.0
    found = _distance_from_normal(residuals[None, matters])[0]
    simulated = [
        _distance_from_normal(drawn[:, matters]) for drawn in ensemble.simulated_residuals(deviations, _SIMULATED, rng)
    ]
    return float((1 + np.sum(np.array(simulated) >= found)) / (1 + len(ensemble) * _SIMULATED))


def _distance_from_normal(residuals: Array) -> Array:
    """Return Anderson and Darling's statistic, (m,), of each row of residuals (m, n) after it is standardised."""
    from scipy.special import log_ndtr

    spread = np.std(residuals, axis=1, ddof=1, keepdims=True)
    ordered = np.sort(
        (residuals - np.mean(residuals, axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0), axis=1
    )
    n = residuals.shape[1]
    odd = 2 * np.arange(1, n + 1) - 1
    return np.asarray(-n - (odd * (log_ndtr(ordered) + log_ndtr(-ordered[:, ::-1]))).mean(axis=1))
