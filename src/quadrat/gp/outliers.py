"""Outliers by relevance pursuit: which measurements have more variance than the others, and how much [A24].

An outlier i has the extra variance v_i, in addition to the noise that all measurements share. With the other parameters
held fixed, the best v_i is known in closed form. Write C = A^-1 - A^-1 1 1' A^-1 / (1' A^-1 1), A as in
`hyper_posterior`, and alpha = C y: the leave-one-out residual is alpha_i / C_ii and its variance s^2 / C_ii. An extra
variance s^2 d takes the share w = d C_ii / (1 + d C_ii) of the residual's square out of the quadratic form
T = 2 b + y' C y + S / rho. The log density of the values then grows by

    log(1 - w) / 2 - c log(1 - w q),      q = alpha_i^2 / (C_ii T),  where s^2 is integrated, c = a + (N - 1) / 2
    log(1 - w) / 2 + w z^2 / 2,           z^2 = alpha_i^2 / (C_ii s^2),  where s^2 is given

which is largest at w = (c q - 1/2) / (q (c - 1/2)) and at w = 1 - 1 / z^2: the second is v_i = residual^2 - variance.

Measurements are added one after the other, the best one first, each changing C by a matrix of rank one. Then all other
parameters are learned anew, and the set stays only if Laplace's evidence has grown by more than the prior asks. The
prior: outliers exist with probability 1/20; if so, each measurement is one with an unknown probability, Beta(1, 19);
the logarithm of an outlier's variance is uniform over a range that is the same for all.

One measurement does not tell an outlier from a narrow peak of f. A second one at the same point does.

References
----------
[A24]   Ament, Santorella, Eriksson, Letham, Balandat and Bakshy (2024). Robust Gaussian processes via relevance
        pursuit. NeurIPS 37, arXiv 2410.24222.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, pi

import numpy as np
from scipy.linalg import lapack

from quadrat._core.arrays import Array, Bools, Ints
from quadrat._core.printing import printed
from quadrat.errors import InvalidInput
from quadrat.gp.hyper_posterior import HyperPosterior
from quadrat.gp.observations import Observations

__all__ = ["Outliers", "find_outliers"]

_FEWEST = 8  # measurements, without which nothing says that one is an outlier
_MOST = 0.25  # of all measurements
_ANY = 0.05  # probability that there are outliers at all: a steep place of f looks like one too
_EXPECTED = 0.05  # of all measurements, by the prior, where there are outliers
_RANGE = log(1e6)  # of the logs of an outlier's variance: deviations may differ by a factor of 1000
# The posterior of log v_i has the deviation sqrt(2), so that v_i at its best exceeds the average over the range by:
_OF_VARIANCE = log(_RANGE / (2 * pi * 2) ** 0.5)
_SLACK = 3.0  # of the evidence: what learning the other parameters anew may add
_VAGUE = 1e-2  # shape of the prior of s^2, and its rate over a robust variance: outliers say nothing about the unit
_ROUNDING = 1e-15
_NEAR = 0.5  # difference of logs of two extra variances that are as good as equal: their own deviation is 1.4
_PASSES = 3
_ROUNDS = 20


@dataclass(frozen=True)
class Outliers:
    """Measurements with more variance than the others.

    Attributes
    ----------
    rows
        Their numbers, ascending, shape (k,).
    extra_variance
        In addition to the noise of every measurement, in the units of the values squared, shape (k,).
    high
        Whether each lies above what the others say, shape (k,). A search that maximises measures such a point again
        before it counts less.
    gain
        Log of the posterior odds of these outliers against none; 0 where there are none.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> x = np.linspace(0, 1, 20)[:, None]
    >>> y = np.sin(6 * x[:, 0])
    >>> y[7] += 30.0
    >>> data = Observations.merge(x, y)
    >>> found = find_outliers(HyperPosterior(data, [Matern(2.5, 1.0)]))
    >>> found.rows.tolist(), found.high.tolist(), bool(abs(found.extra_variance[0] - 900) < 30)
    ([7], [True], True)
    >>> found.applied(data).known_variance.nonzero()[0].tolist()
    [7]
    """

    rows: Ints
    extra_variance: Array
    high: Bools
    gain: float

    __repr__ = printed

    def __len__(self) -> int:
        return len(self.rows)

    def applied(self, measurements: Observations) -> Observations:
        """Return the measurements with the extra variances; the others are merged, outliers stay apart."""
        return measurements.with_extra(self.rows, self.extra_variance).merged()


def find_outliers(posterior: HyperPosterior, measurements: Observations | None = None) -> Outliers:
    """Decide which measurements are outliers, and how much variance each has in addition.

    The answer is a function of the measurements. Where no leave-one-out residual at the modes of `posterior` is larger
    than Gaussian noise leaves it now and then, nothing more is computed.

    Parameters
    ----------
    posterior
        Of all measurements, repeats merged.
    measurements
        The same measurements with each repeat as a row of its own, so that one of several at a point can be an outlier;
        None takes the rows of `posterior`.

    Raises
    ------
    InvalidInput
        Other values have known variances than in the posterior.
    """
    data = posterior.data if measurements is None else measurements
    n = len(data)
    none = Outliers(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0, dtype=np.bool_), 0.0)
    unit = _robust_variance(data.y)
    if n < _FEWEST or not unit > 0:
        return none
    apart = posterior if measurements is None else posterior.of(data)
    if apart.names != posterior.names:
        raise InvalidInput(f"measurements: expected those of the posterior, {posterior.names}, got {apart.names}")
    if not _pursue(apart, np.zeros(n), n, posterior).added:
        return none
    # The amplitude's prior is one for values whose unit is their deviation, which an outlier decides: here it is vague.
    priors = replace(posterior.priors, shape=_VAGUE, rate=_VAGUE * unit)
    current = posterior.of(data, priors=priors)
    start = height = current.log_evidence
    extra, most = np.zeros(n), n
    for _ in range(_ROUNDS):
        # Variances are at their best before further outliers are looked for, so that these are judged alone.
        step = _pursue(current, extra, 0)
        if not _differ(step.extra, extra):
            step = _pursue(current, extra, most)
        if not _differ(step.extra, extra):
            break
        tried = posterior.of(data.with_extra(np.arange(n), step.extra), priors=priors)
        found = tried.log_evidence - sum(_cost(n, k) for k in range(int((step.extra > 0).sum())))
        if found > height:
            current, extra, height, most = tried, step.extra, found, n
        elif step.added > 1:
            most = step.added // 2
        else:
            break
    rows = np.flatnonzero(extra)
    if not len(rows):
        return none
    last = _pursue(current, extra, 0)
    return Outliers(rows, np.where(last.extra > 0, last.extra, extra)[rows], last.high[rows], height - start)


class _State:
    """C, alpha and T at fixed parameters, while extra variances change."""

    def __init__(self, posterior: HyperPosterior, kernel: int, mode: Array) -> None:
        (scales,), (ratio,), (self.s2,) = posterior._read(mode[None, :])
        factor = posterior._factor(kernel, scales, ratio, self.s2)[1]
        upper = lapack.dpotri(factor, lower=0)[0]
        inverse = upper + np.triu(upper, 1).T
        u = inverse.sum(axis=1)
        self.C = inverse - np.outer(u, u) / u.sum()
        self.alpha = self.C @ posterior.data.y
        self.T = 2 * posterior.priors.rate + float(posterior.data.y @ self.alpha + posterior._within(ratio))
        self.c = posterior._shape
        # Extra variances are kept in proportion to s^2, so that s^2 may be integrated, unless others are known.
        self.is_given = bool((posterior.data.count == 0).any())

    def gains(self, extra: Array | float = 0.0) -> tuple[Array, Array]:
        """Return the best extra variance of each measurement, in s^2, and what it adds to the log density, each (n,).

        Both are those of a measurement without extra variance; `extra`, (n,) in s^2, is the one that is in C now.
        """
        diagonal = np.diagonal(self.C)
        left = np.maximum(1 - extra * diagonal, _ROUNDING)  # share of the variance that is not extra
        squares = self.alpha**2 / (diagonal * left)
        if self.is_given:
            z2 = np.maximum(squares / self.s2, 1.0)
            return (z2 - 1) * left / diagonal, 0.5 * (z2 - 1 - np.log(z2))
        T = self.T + extra * self.alpha**2 / left
        c, q = self.c, np.minimum(squares / T, 1 - _ROUNDING)
        w = np.maximum((c * q - 0.5) / (np.maximum(q, 0.5 / c) * (c - 0.5)), 0.0)
        return w / (1 - w) * left / diagonal, 0.5 * np.log1p(-w) - c * np.log1p(-w * q)

    def add(self, row: int, change: float) -> None:
        """Change the extra variance of a measurement by so many s^2."""
        step = change / (1 + change * self.C[row, row])
        self.T -= step * float(self.alpha[row]) ** 2
        column = self.C[row].copy()
        self.alpha -= step * self.alpha[row] * column
        self.C -= step * np.outer(column, column)

    @property
    def variance(self) -> float:
        """s^2, or its mean under the posterior, where it is integrated."""
        return float(self.s2 if self.is_given else self.T / (2 * self.c))


@dataclass(frozen=True)
class _Step:
    """Extra variances (n,), how many measurements have a new one, and the gain that is expected of them."""

    extra: Array
    added: int
    gain: float
    high: Bools


def _pursue(posterior: HyperPosterior, extra: Array, most: int, merged: HyperPosterior | None = None) -> _Step:
    """Return the best step at the modes of all kernels, the gain being at most that of the log posterior.

    Parameters
    ----------
    posterior
        Of the measurements with the variances `extra`, shape (n,).
    most
        How many measurements are added at most.
    merged
        The posterior whose modes these are; None: the same.
    """
    shapes = (merged or posterior)._shapes
    total = np.logaddexp.reduce([shape.evidence for shape in shapes])
    steps = [_pursue_at(_State(posterior, k, shape.mode), extra, most) for k, shape in enumerate(shapes)]
    steps = [replace(step, gain=step.gain + shape.evidence - total) for step, shape in zip(steps, shapes, strict=True)]
    return max(steps, key=lambda step: step.gain)


def _pursue_at(state: _State, extra: Array, most: int) -> _Step:
    """Return the step at fixed parameters."""
    n, relative, count = len(extra), extra / state.s2, int((extra > 0).sum())
    # Several outliers hide one another: each makes the others look like noise. So one that does not pay for itself is
    # not the end, and as many stay as pay best together.
    tried: list[int] = []
    totals = [-_SLACK]
    while len(tried) < most and count + len(tried) < int(_MOST * n):
        best, gain = state.gains(relative)
        gain[relative > 0] = 0.0
        row = int(np.argmax(gain))
        if not gain[row] > 0:
            break
        totals.append((totals[-1] if tried else 0.0) + gain[row] - _cost(n, count + len(tried)))
        state.add(row, best[row])
        relative[row] = best[row]
        tried.append(row)
    added = int(np.argmax(totals))
    for row in tried[added:][::-1]:
        state.add(row, -relative[row])
        relative[row] = 0.0
    total, count = totals[added] if added else 0.0, count + added
    for row in _PASSES * np.flatnonzero(relative).tolist():  # each anew, given the others
        if relative[row] == 0.0:
            continue
        best, gain = (part[row] for part in state.gains(relative))
        if not added and gain <= _cost(n, count - 1):
            total, count = total + _cost(n, count - 1) - gain, count - 1
            best = 0.0 * best
        state.add(row, best - relative[row])
        relative[row] = best
    return _Step(relative * state.variance, added, float(total), state.alpha > 0)


def _differ(left: Array, right: Array) -> bool:
    """Whether extra variances (n,) are those of other measurements, or so different that all else is learned anew."""
    both = (left > 0) & (right > 0)
    return bool(((left > 0) != (right > 0)).any() or (np.abs(np.log(left[both] / right[both])) > _NEAR).any())


def _cost(n: int, count: int) -> float:
    """Return minus the log prior odds of one given outlier more, when `count` of `n` measurements are outliers."""
    others = 1 / _EXPECTED - 1  # Beta(1, others) of the probability
    return log((n - count - 1 + others) / (count + 1)) + _OF_VARIANCE + (0.0 if count else -log(_ANY))


def _robust_variance(values: Array) -> float:
    """Return the variance of Gaussian values with this median absolute deviation; theirs where that is 0."""
    deviation = float(np.median(np.abs(values - np.median(values)))) / 0.6745
    return deviation**2 or float(np.var(values))
