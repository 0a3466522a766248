"""What is known of a function at several fidelities: one Gaussian process a level, and how far levels are apart.

Levels m = 1, ..., M have independent processes with a common kernel [K16], each with a prior mean of its
own; all of them are in the same model units. Beside them stands how far the levels are apart: f^(M) lies within
zeta^(m) of f^(m) + offset^(m), with zeta^(M) = offset^(M) = 0. Bounds zeta^(m) that are stated hold without an offset,
as in the paper. Where none are stated, both come from the data. At every point evaluated at a level l > m

    apart = mean^(l) + offset^(l) - mean^(m),
    tolerance = zeta^(l) + q sqrt(deviation^(l)^2 + deviation^(m)^2),    q the normal quantile of .95.

The offset is the median of these differences; zeta^(m) is the least of z, 2 z, 4 z, ... such that no difference is
farther from the offset than zeta^(m) + tolerance. It starts at z = 1 % of the range of the values and doubles when
fidelities contradict each other [K16, appendix on implementation], so that a cheap level that misleads is found out by
the first point that shows it. The offset is ours: that a short training scores less than a long one everywhere is no
reason not to trust it. Until the target has data nothing says how far it is, and zeta^(m) is the range of the values.

References
----------
[K16]  Kandasamy, Dasarathy, Oliva, Schneider and Poczos (2016). Gaussian process bandit optimisation with
       multi-fidelity evaluations. NeurIPS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, log2

import numpy as np

from quadrat._core.arrays import Array
from quadrat.gp import GaussianProcess, Observations
from quadrat.kernels import Kernel
from quadrat.methods.base import CREDIBLE, Observation
from quadrat.methods.dataset import Dataset, spread
from quadrat.methods.surrogate import Frame, Learned, Learning, is_due, learn_kernel

__all__ = ["FidelityModel", "Gaps", "LevelFrame"]

_APART = 500.0  # longest length-scales between levels on an axis of its own: no kernel that is learned correlates them
_LEAST_VARIANCE = 1e-8  # of the prior variance: a standard error of 0 must not make the matrix singular
_START = 0.01  # of the range of the values: the smallest zeta [K16, appendix on implementation]


@dataclass(frozen=True)
class LevelFrame(Frame):
    """What was learned, for all levels: beside kernel and units, the prior mean of each level and the smallest zeta."""

    means: tuple[float, ...]
    start: float


@dataclass(frozen=True)
class Gaps:
    """How far levels are from the target: f^(M) lies within zeta^(m) of f^(m) + offset^(m); both have M entries."""

    zeta: tuple[float, ...]
    offset: tuple[float, ...]


class FidelityModel(Learning[LevelFrame]):
    """The processes of M levels: told trials go in, posteriors come out, in model units.

    Parameters
    ----------
    levels, dimension
        M and D, the fidelity's own axis not counted.
    form
        The kernel, or how to learn it.
    noise
        Standard deviation of one observation, in the units of the values.
    standardise
        Whether the kernel is for values less their level's mean and divided by their common standard deviation.
    n_initial
        Trials after which the kernel is learned first.
    zeta
        Stated bounds, one for each level below the target; None to estimate them.
    """

    def __init__(
        self,
        levels: int,
        dimension: int,
        *,
        form: Kernel | Learned,
        noise: float,
        standardise: bool,
        n_initial: int,
        zeta: tuple[float, ...] | None,
    ) -> None:
        super().__init__()
        self.levels, self.dimension = levels, dimension
        self._form, self._noise, self._standardise = form, noise, standardise
        self._n_initial, self._stated = n_initial, zeta
        self.history: list[int] = []  # the level of every trial, in the order of telling
        self.data = [Dataset(dimension) for _ in range(levels)]
        self._gaps: Gaps | None = None

    # --- what was told

    def tell(self, level: int, x: Array, observation: Observation) -> None:
        """Take in one trial at x, shape (D,), at a level from 0; learn the kernel where that is due."""
        self.data[level].tell(replace(observation, x=x), self._noise)
        self.history.append(level)
        self._gaps = None
        self._count()

    def _is_due(self) -> bool:
        return is_due(self._form, self.trials, self._n_initial)

    # --- what is believed

    @property
    def gps(self) -> Sequence[GaussianProcess]:
        """The posterior of each level."""
        frame = self.frame
        process = partial(
            GaussianProcess, frame.kernel, noise_variance=float(frame.variances(np.array(self._noise**2)))
        )
        return [
            data.posterior(frame, partial(process, mean=mean))
            for data, mean in zip(self.data, frame.means, strict=True)
        ]

    @property
    def gain(self) -> float:
        """The information gained so far at all levels, in nats."""
        return 0.5 * sum(gp.logdet for gp in self.gps if len(gp))

    @contextmanager
    def pending(self, points: Array, levels: Sequence[int]) -> Iterator[Sequence[GaussianProcess]]:
        """Within the block, deviations count these points (p, D) as observed at their levels, at their own mean."""
        gps, at = self.gps, np.asarray(levels, dtype=np.intp)
        with ExitStack() as stack:
            for level in np.unique(at):
                stack.enter_context(gps[level].pending(points[at == level]))
            yield gps

    @property
    def gaps(self) -> Gaps:
        """How far the levels are from the target."""
        if self._stated is not None or len(self.data[-1]):
            return self.seen_gaps
        prior = self.frame.start / _START
        return replace(self.seen_gaps, zeta=(*((prior,) * (self.levels - 1)), 0.0))

    @property
    def seen_gaps(self) -> Gaps:
        """How far the levels are from the target, by what was told, also before anything was told of the target."""
        if self._gaps is None:
            self._gaps = self._estimate() if self._stated is None else self._as_stated(self._stated)
        return self._gaps

    def blend(self, points: Array, gaps: Gaps | None = None) -> tuple[Array, Array]:
        """Return mean and deviation of the target at points (n, D) from what all levels say, each shape (n,).

        Levels are weighted by their precision, as if each were off by a normal error of deviation zeta^(m) of its own:
        a cheap level counts where the target was not evaluated, and only as far as zeta allows. `gaps` are those of the
        model unless others are given.
        """
        gaps = self.gaps if gaps is None else gaps
        precision, total = np.zeros(len(points)), np.zeros(len(points))
        for gp, zeta, offset in zip(self.gps, gaps.zeta, gaps.offset, strict=True):
            at = gp.predict(points)
            weight = 1 / np.maximum(at.deviation**2 + zeta**2, _LEAST_VARIANCE)
            precision += weight
            total += weight * (at.mean + offset)
        return total / precision, 1 / np.sqrt(precision)

    def _as_stated(self, zeta: tuple[float, ...]) -> Gaps:
        return Gaps((*(bound / self.frame.scale for bound in zeta), 0.0), (0.0,) * self.levels)

    def _estimate(self) -> Gaps:
        gps, start = self.gps, self.frame.start
        zeta, offset = [0.0] * self.levels, [0.0] * self.levels
        for level in range(self.levels - 2, -1, -1):
            apart, tolerance = [], []
            for above in range(level + 1, self.levels):
                if len(gps[above]):
                    there, here = gps[above].predict(gps[above].x), gps[level].predict(gps[above].x)
                    apart.append(there.mean + offset[above] - here.mean)
                    tolerance.append(zeta[above] + CREDIBLE * np.hypot(there.deviation, here.deviation))
            needed = 0.0
            if apart:
                offset[level] = float(np.median(np.concatenate(apart)))
                contradictions = np.abs(np.concatenate(apart) - offset[level]) - np.concatenate(tolerance)
                needed = float(contradictions.max())
            zeta[level] = doubled(start, needed)
        return Gaps(tuple(zeta), tuple(offset))

    def _learn(self) -> LevelFrame:
        values = [data.y for data in self.data]
        together = np.concatenate(values)
        form, none = self._form, (0.0,) * self.levels
        units = LevelFrame(form.start() if isinstance(form, Learned) else form, 0.0, 1.0, none, 1.0)
        if self._standardise:
            own = [float(y.mean()) if len(y) else float(together.mean()) for y in values]
            scale = spread(together, np.concatenate([y - mean for y, mean in zip(values, own, strict=True)]))
            means = tuple((mean - own[-1]) / scale for mean in own)
            units = replace(units, shift=own[-1], scale=scale, means=means)
        units = replace(units, start=_START * (float(np.ptp(together)) / units.scale or 1.0))
        if isinstance(form, Learned):
            units = replace(units, kernel=self._learn_kernel(form, units))
        return replace(units, means=self._likeliest_means(units)) if self._standardise else units

    def _learn_kernel(self, form: Learned, units: LevelFrame) -> Kernel:
        """Return the kernel of the highest likelihood over all levels, which are independent."""
        points, values, variances = [], [], []
        apart = _APART * form.lengthscales[1]
        for level, told in enumerate(self.data):
            points.append(np.column_stack([told.x, np.full(len(told), apart * level)]))
            values.append(units.to_model(told.y) - units.means[level])
            variances.append(units.variances(told.variance))
        data = Observations.merge(np.vstack(points), np.concatenate(values), np.concatenate(variances))
        return learn_kernel(form, data, None if self._learned is None else self._learned.kernel)

    def _likeliest_means(self, units: LevelFrame) -> tuple[float, ...]:
        """Return the prior mean of each level that has the highest likelihood: crowded points add little to it."""
        means = list(units.means)
        for level, told in enumerate(self.data):
            if len(told):
                noise = np.diag(units.variances(told.variance))
                weights = np.linalg.solve(units.kernel(told.x) + noise, np.ones(len(told)))
                means[level] = float(weights @ units.to_model(told.y) / weights.sum())
        return tuple(means)


def doubled(start: float, needed: float) -> float:
    """Return the least of start, 2 start, 4 start, ... that is at least `needed`."""
    return start * 2.0 ** max(ceil(log2(needed / start)), 0) if needed > start else start
