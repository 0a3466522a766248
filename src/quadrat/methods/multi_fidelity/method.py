"""MF-GP-UCB: cheap approximations tell where the expensive function is worth an evaluation.

With the posterior of each level m = 1, ..., M, and |f^(M) - f^(m)| <= zeta^(m) [K16]:

    phi^(m)(x) = mean^(m)(x) + sqrt(beta_t) deviation^(m)(x) + zeta^(m),    phi(x) = min_m phi^(m)(x),
    x_t = argmax phi,    m_t = min {m : sqrt(beta_t) deviation^(m)(x_t) >= gamma^(m), or m = M}.

Every phi^(m) is an upper bound of f^(M), hence so is phi; the cheapest level that is still uncertain at x_t is asked,
and the target once all cheaper ones have said what they can there. gamma^(m) = zeta^(m) sqrt(lambda^(m)/lambda^(m+1))
for costs lambda [K16], at least 1 % of the range of the values, which doubles whenever trials in a row at m
and below have cost as much as one at m + 1 [K16, appendix on implementation; there the trials themselves are counted].

What is ours: where zeta is not stated, levels have an offset too (`quadrat.methods.multi_fidelity.model`); and a level
whose zeta is no less than the target's own sqrt(beta_t) deviation at x_t is passed over, since no number of evaluations
there could tell more of f^(M)(x_t) than is known.

References
----------
[K16]  Kandasamy, Dasarathy, Oliva, Schneider and Poczos (2016). Gaussian process bandit optimisation with
       multi-fidelity evaluations. NeurIPS.
[S12]  Srinivas, Krause, Kakade and Seeger (2012). Information-theoretic regret bounds for Gaussian process
       optimization in the bandit setting. IEEE Transactions on Information Theory 58.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import sqrt
from typing import ClassVar, Literal

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.errors import InvalidInput
from quadrat.gp import GaussianProcess
from quadrat.kernels import Kernel
from quadrat.methods.acquisition import Effort, SearchRegion, draws, gain_points, maximise, top_points, unvisited
from quadrat.methods.base import (
    CREDIBLE,
    Domain,
    FidelityAxis,
    Incumbent,
    Method,
    MethodFacts,
    Observation,
    Proposal,
    Search,
    refuse_context,
)
from quadrat.methods.multi_fidelity.model import FidelityModel, Gaps
from quadrat.methods.statements import Gain
from quadrat.methods.surrogate import Learned
from quadrat.methods.ucb.gp_ucb import GPUCB, Agnostic, Continuous, Finite
from quadrat.randomness import generator

__all__ = ["MFGPUCB", "FidelitySearch"]

# Names of streams beside (seed, trial number), which draws uniform points.
_ACQUISITION, _GAIN, _DESIGN = 1, 2, 3
_TOP = 2  # observed points of each level around which the index is searched
# phi has kinks where two levels meet, on which a climb along gradients stops short: chance steps do not.
_OF_INDEX = Effort(near=32, scales=(0.1, 0.01), zooms=(0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005))
# How far a recommended point may move from an evaluated one, step by step.
_OF_SUREST = Effort(uniform=0, near=0, climbs=2, zooms=(0.05, 0.02, 0.01, 0.005, 0.002))
_DRAWS = 256  # of the target, to estimate what is still to gain
_LEAST_AT_TARGET = 2
_AFFORDABLE, _POINTS_AN_AXIS = 0.25, 10  # what a level of the initial design may cost, in evaluations of the target


@dataclass(frozen=True, kw_only=True)
class MFGPUCB(Method):
    """Evaluate where the least of all levels' upper bounds is largest, at the cheapest level that is uncertain there.

    Parameters
    ----------
    kernel
        A kernel of all levels, used as it is, or `Learned(...)`; None learns it whenever the trials have doubled.
    noise
        Standard deviation of one observation at any level, > 0, in the units of the values.
    zeta
        Bounds of |f^(M) - f^(m)| over the cube, one for each level below the target, from the cheapest, in the units of
        the values; None estimates them from the data and doubles them when levels contradict each other.
    n_initial
        Trials at the cheapest level before the model decides, >= 2; a level that costs c times as much has some of the
        same points, fewer by the factor c, at least two. Any level has more, up to 10 for each axis, as long as they
        cost no more than a quarter of one evaluation of the target. Trials that failed are made up for; results that
        were not asked for count.
    standardise
        Whether the kernel is for values less their level's mean and divided by their common standard deviation.
    form, delta, scale
        Of beta_t, as of `GPUCB` for one level; t counts trials at all levels. [K16] also has M, the number of levels,
        in the logarithm, so that the bounds of all levels hold at once. [S12, section VI] scales by .2.

    Examples
    --------
    >>> from quadrat.methods.base import Axis
    >>> axis = FidelityAxis(1, (0.25, 0.75), (1.0, 10.0))
    >>> search = MFGPUCB().start(Domain((Axis(), Axis((0.25, 0.75))), fidelity=axis), seed=0)
    >>> search.ask(0, np.empty((0, 2))).why
    'initial design: level 1 of 2'
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="MF-GP-UCB",
        paper="Kandasamy, Dasarathy, Oliva, Schneider and Poczos 2016, NeurIPS",
        assumes="levels are draws of Gaussian processes, and each is within zeta of the target",
        best_for="cheap, less accurate evaluations beside costly ones",
        handles=("pending points", "replicates", "fidelities"),
    )
    estimates_gain: ClassVar[bool] = True

    kernel: Kernel | Learned | None = None
    noise: float = 0.1
    zeta: Sequence[float] | None = None
    n_initial: int = 10
    standardise: bool = True
    form: Finite | Continuous | Agnostic | Literal["finite", "continuous", "agnostic"] = "finite"
    delta: float = 0.001
    scale: float = 0.2

    def __post_init__(self) -> None:
        single = self.at_the_target  # checks all options that it has too
        for name in ("noise", "n_initial", "form", "delta", "scale"):
            object.__setattr__(self, name, getattr(single, name))
        if self.n_initial < _LEAST_AT_TARGET:
            raise InvalidInput(f"n_initial: expected an integer >= {_LEAST_AT_TARGET}, got {self.n_initial!r}")
        if self.zeta is not None:
            given: object = self.zeta
            if isinstance(given, str) or not isinstance(given, Sequence):
                raise InvalidInput(f"zeta: expected a bound for each level below the target or None, got {given!r}")
            bounds = tuple(as_number(bound, name="zeta", at_least=0.0) for bound in self.zeta)
            object.__setattr__(self, "zeta", bounds)

    @property
    def at_the_target(self) -> GPUCB:
        """GP-UCB with the same kernel, noise and beta, for evaluations of the target alone."""
        form = Learned(refit_every="doubling") if self.kernel is None else self.kernel
        return GPUCB(
            kernel=form, noise=self.noise, n_initial=self.n_initial, standardise=self.standardise,
            form=self.form, delta=self.delta, scale=self.scale,
        )  # fmt: skip

    def start(self, domain: Domain, seed: int) -> FidelitySearch:
        """Begin a search in `domain`, named by `seed`, that chooses the level of every trial too."""
        axis = domain.fidelity
        if axis is None:
            raise InvalidInput(
                "MFGPUCB: expected a space with a fidelity, got a plain cube; add a parameter such as "
                "epochs=Fidelity([5, 25, 100], cost=[5, 25, 100]), or use GPUCB"
            )
        if domain.dimension < 2:
            raise InvalidInput("MFGPUCB: expected a parameter beside the fidelity, got the fidelity alone")
        below = len(axis.costs) - 1
        if self.zeta is not None and len(self.zeta) != below:
            raise InvalidInput(
                f"zeta: expected {below} bounds, one for each level below the target, got {len(self.zeta)}"
            )
        return FidelitySearch(self, domain, axis, seed)


class FidelitySearch(Search):
    """MF-GP-UCB at work. Points in here have D - 1 coordinates: the fidelity's axis is taken out."""

    asking_changes_nothing: ClassVar[bool] = True

    def __init__(self, method: MFGPUCB, domain: Domain, axis: FidelityAxis, seed: int) -> None:
        self.method, self.single, self.domain, self.axis, self.seed = method, method.at_the_target, domain, axis, seed
        self.dimension = domain.dimension - 1
        if isinstance(self.single.kernel, Kernel):
            self.single.kernel.check_dimension(self.dimension)
        self.levels = len(axis.costs)
        costs = np.array(axis.costs)
        counts = np.maximum(np.round(method.n_initial * costs[0] / costs), _LEAST_AT_TARGET)
        affordable = np.minimum(_AFFORDABLE * costs[-1] / costs, _POINTS_AN_AXIS * self.dimension)
        self.design: list[int] = np.maximum(counts, np.floor(affordable)).astype(int).tolist()  # trials of each level
        self._failed = [0] * self.levels
        zeta = None if method.zeta is None else tuple(method.zeta)
        self.model = FidelityModel(
            self.levels, self.dimension, form=self.single.form_of_kernel, noise=method.noise,
            standardise=method.standardise, n_initial=sum(self.design), zeta=zeta,
        )  # fmt: skip

    # --- between the cube and (point, level)

    def _split(self, points: Array) -> tuple[Array, list[int]]:
        """Return points without the fidelity (n, D - 1), and their levels."""
        coordinates = np.array(self.axis.coordinates)
        nearest = np.abs(points[:, self.axis.axis, None] - coordinates).argmin(axis=1)
        return np.delete(points, self.axis.axis, axis=1), nearest.tolist()

    def _join(self, x: Array, level: int) -> Array:
        return np.insert(x, self.axis.axis, self.axis.coordinates[level])

    @cached_property
    def _first_points(self) -> Array:
        from scipy.stats import qmc

        sequence = qmc.Sobol(self.dimension, scramble=True, seed=generator(self.seed, 0, _DESIGN))
        return np.asarray(sequence.random_base2(int(np.ceil(np.log2(max(self.design))))), dtype=np.float64)

    # --- what the optimizer calls

    def tell(self, observation: Observation) -> None:
        points, levels = self._split(np.asarray(observation.x, dtype=np.float64)[None, :])
        self.model.tell(levels[0], points[0], observation)

    def fail(self, number: int, x: Array) -> None:  # noqa: ARG002
        _, levels = self._split(np.asarray(x, dtype=np.float64)[None, :])
        self._failed[levels[0]] += 1

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        points, levels = self._split(pending)
        initial = self._next_initial(levels)
        if initial is not None:
            return self._initial(number, *initial)
        if not self.model.settled:
            x = generator(self.seed, number).random(self.dimension)
            return Proposal(self._join(x, 0), "uniform at the cheapest level: the initial design is not told yet")
        root = self.root
        with self.model.pending(points, levels) as gps:
            index = Index(gps, self.model.gaps, root)
            x, value = index.maximise(generator(self.seed, number, _ACQUISITION), self.dimension)
            level = index.level(x, self.gamma)
        why = f"largest upper bound over {self.levels} levels ({self.model.frame.to_values(value):.4g})"
        reason = "the target" if level == self.levels - 1 else f"level {level + 1}, still uncertain here"
        return Proposal(self._join(x, level), f"{why}, at {reason}")

    def _next_initial(self, taken: list[int]) -> tuple[int, int] | None:
        """Return the level and the row of the next trial of the initial design, from the levels of taken points.

        None where every level has as many trials, told or pending, as planned.
        """
        begun, attempts = [], []
        for level, failed in enumerate(self._failed):
            told, waiting = self.model.history.count(level), max(taken.count(level) - failed, 0)
            begun.append(told + waiting)
            attempts.append(told + waiting + failed)
        short = [level for level, planned in enumerate(self.design) if begun[level] < planned]
        if not short:
            return None
        # A level that failed as often as it has trials lets others go first: nothing may work there.
        level = min(short, key=lambda level: self._failed[level] // self.design[level])
        if self.model.settled and not begun[-1]:  # by results that were not asked for
            level = self.levels - 1
        return level, attempts[level]

    def _initial(self, number: int, level: int, row: int) -> Proposal:
        first = self._first_points
        x = first[row] if row < len(first) else generator(self.seed, number).random(self.dimension)
        return Proposal(self._join(x, level), f"initial design: level {level + 1} of {self.levels}")

    @property
    def root(self) -> float:
        """sqrt(beta_t) of the next trial."""
        return sqrt(self.single.beta(self.model.trials + 1, self.dimension, self.model.gain))

    @property
    def gamma(self) -> tuple[float, ...]:
        """gamma^(m) of each level below the target, in model units."""
        costs = self.axis.costs
        found = []
        for level in range(self.levels - 1):
            above = costs[level + 1]
            doublings = sum(int(spent / above + 1e-9) for spent in self._spent_below(level))
            least = self.model.frame.start * 2.0 ** min(doublings, 60)
            found.append(max(self.model.gaps.zeta[level] * sqrt(costs[level] / above), least))
        return tuple(found)

    def _spent_below(self, level: int) -> list[float]:
        """What each unbroken run of trials at this level and below has cost, since the initial design."""
        history = self.model.history[sum(self.design) :]
        runs = groupby(history, lambda at: at <= level)
        return [sum(self.axis.costs[at] for at in run) for below, run in runs if below]

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the point, at the target, of which the most is certain, with a 90 % credible interval.

        It has the highest mean less deviation of all levels taken together (`FidelityModel.blend`), among the points
        evaluated at any level and points near the best of them.
        """
        refuse_context(self, context)
        model = self.model
        rng = generator(self.seed, model.trials, _GAIN)
        points = self._at_target(np.vstack([gp.x for gp in model.gps if len(gp)]))
        best, _ = maximise(
            self._sureness,
            None,
            rng,
            SearchRegion(self._target),
            centres=points[:0],
            effort=_OF_SUREST,
            candidates=points,
        )
        (mean,), (deviation,) = model.blend(best[None, :])
        gain = self._gain(best, rng)
        return model.frame.incumbent(self._join(best, self.levels - 1), float(mean), float(deviation), gain)

    def _sureness(self, points: Array) -> Array:
        # Which is best rests on what was seen: a target of which nothing is known is as far away at all points.
        mean, deviation = self.model.blend(points, self.model.seen_gaps)
        return np.where(self._target.allowed(points), mean - deviation, -np.inf)

    def _joined(self, points: Array) -> Array:
        """Return points (n, D - 1) as points of the cube, (n, D), at the target."""
        return np.insert(points, self.axis.axis, self.axis.coordinates[-1], axis=1)

    def _at_target(self, points: Array) -> Array:
        """Return the points that stand for the settings at these, (n, D - 1)."""
        return np.delete(self.domain.rounded(self._joined(points)), self.axis.axis, axis=1)

    @cached_property
    def _target(self) -> Domain:
        """The points that may be evaluated at the target, with D - 1 axes."""
        axes = [axis for i, axis in enumerate(self.domain.axes) if i != self.axis.axis]
        constrained = self.domain.feasible is not None
        feasible = (lambda points: self.domain.allowed(self._joined(points))) if constrained else None
        return Domain(axes, self._at_target, feasible=feasible)

    def _gain(self, x: Array, rng: np.random.Generator) -> Gain | None:
        """Return what is believed of max f - f(x) at the target, in model units.

        No draw exceeds what cheaper levels allow. Over what may be evaluated at the target; None where too few such
        points are known.
        """
        gps, gaps = self.model.gps, self.model.gaps
        points = gain_points(gps[-1], x, rng, self._target)
        if points is None:
            return None
        drawn = draws(gps[-1].predict_mean(points), gps[-1].covariance(points), _DRAWS, rng)
        if self.levels > 1:
            cheaper = Gaps(gaps.zeta[:-1], gaps.offset[:-1])
            drawn = np.minimum(drawn, Index(gps[:-1], cheaper, CREDIBLE).values(points)[:, None])
        nowhere = [unvisited(gp.kernel, points, gp.x) for gp in gps if len(gp)]
        return Gain.of(drawn, np.all(nowhere, axis=0))

    def explain(self) -> dict[str, object]:
        trials = [self.model.history.count(level) for level in range(self.levels)]
        if not self.model.trials:
            return {"trials": 0}
        frame, gaps = self.model.frame, self.model.gaps
        return {
            "trials": self.model.trials,
            "trials of each level": trials,
            "initial design complete": self.model.settled,
            "kernel": repr(frame.kernel),
            "scale": frame.scale,
            "zeta": [frame.scale * zeta for zeta in gaps.zeta],
            "offset": [frame.scale * offset for offset in gaps.offset],
            "gamma": [frame.scale * gamma for gamma in self.gamma],
        }


@dataclass(frozen=True)
class Index:
    """phi of [K16] in model units: the posteriors of M levels, their gaps to the target, sqrt(beta_t)."""

    gps: Sequence[GaussianProcess]
    gaps: Gaps
    root: float

    def bounds(self, points: Array) -> Array:
        """Return phi^(m) at points (n, D), shape (M, n)."""
        rows = []
        for gp, zeta, offset in zip(self.gps, self.gaps.zeta, self.gaps.offset, strict=True):
            at = gp.predict(points)
            rows.append(at.mean + offset + self.root * at.deviation + zeta)
        return np.array(rows)

    def values(self, points: Array) -> Array:
        """Return phi at points (n, D), shape (n,)."""
        return np.asarray(self.bounds(points).min(axis=0))

    def level(self, x: Array, gamma: Sequence[float]) -> int:
        """Return the level, from 0, at which x, shape (D,), is evaluated."""
        widths = [self.root * float(gp.predict(x[None, :]).deviation[0]) for gp in self.gps]
        for level, least in enumerate(gamma):
            if widths[level] >= least and self.gaps.zeta[level] < widths[-1]:
                return level
        return len(self.gps) - 1

    def maximise(self, rng: np.random.Generator, dimension: int) -> tuple[Array, float]:
        """Return the point of the cube, shape (D,), where phi is largest, and phi there."""
        centres = np.vstack([top_points(gp, dimension, _TOP) for gp in self.gps if len(gp)])
        part = SearchRegion(Domain.cube(dimension))
        return maximise(self.values, self.slopes, rng, part, centres=centres, effort=_OF_INDEX)

    def slopes(self, points: Array) -> tuple[Array, Array]:
        """Return phi (n,) and its gradient (n, D) at points (n, D): that of the level which is least there."""
        least, slope = np.full(len(points), np.inf), np.zeros_like(points)
        for gp, zeta, offset in zip(self.gps, self.gaps.zeta, self.gaps.offset, strict=True):
            at = gp.predict_with_gradients(points)
            assert at.mean_gradient is not None
            assert at.deviation_gradient is not None
            value = at.mean + offset + self.root * at.deviation + zeta
            lower = value < least
            least = np.where(lower, value, least)
            slope = np.where(lower[:, None], at.mean_gradient + self.root * at.deviation_gradient, slope)
        return least, slope
