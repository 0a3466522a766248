"""GP-UCB-PE: the first point of a batch by its upper bound, the others by pure exploration where the maximum may be.

With mu, sigma the posterior after what was told, and beta_t GP-UCB's:

    y_dot = max_x mu(x) - sqrt(beta_t) sigma(x)                                   what is reached already
    R+    = {x : mu(x) + 2 sqrt(beta_(t+1)) sigma(x) >= y_dot}                    the relevant region

The first point of a batch maximises mu + sqrt(beta_t) sigma. Each other one maximises, over R+, the deviation that
counts those before it as observed [C13]. R+ does not know pending points. It has the factor
2 so that it contains the next batch's first point with high probability.

[C13]: Contal, Buffoni, Robicquet and Vayatis (2013). Parallel Gaussian process optimization with upper confidence bound
and pure exploration. ECML PKDD.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, Literal

import numpy as np

from quadrat._core.arrays import Array, Bools, as_number
from quadrat.gp import GaussianProcess
from quadrat.methods.acquisition import Acquisition, Effort, Score, SearchRegion, peaks, top_points, upper_bound
from quadrat.methods.base import Domain, MethodFacts, Proposal
from quadrat.methods.surrogate import ModelBased, ModelSearch, Surrogate
from quadrat.methods.ucb.gp_ucb import GPUCB, Agnostic, Continuous, Finite
from quadrat.partition.unit_cube import as_count
from quadrat.randomness import generator

__all__ = ["GPUCBPE", "ExploringSearch", "Region", "explore"]

_ACQUISITION, _LOWER = 1, 3  # streams: the first is that of `ModelSearch`
_EFFORT = Effort(uniform=0, near=48, scales=(0.2, 0.05, 0.01), climbs=16, apart=0.1, by_batch=False, steps=40)
_UNIFORM = 768  # further candidates
_BEYOND = 0.1  # they are drawn from a cube so much larger and clipped: deviations are largest on faces
_PENALTY = 100.0  # per squared shortfall, both in prior deviations
_HALVINGS = 30


@dataclass(frozen=True)
class Region:
    """R+, the points at which f may still exceed what is reached.

    Attributes
    ----------
    gp
        The posterior after what was told, without pending points.
    width
        2 sqrt(beta_(t+1)).
    reached
        y_dot, in model units.
    anchor
        The point where it is reached, shape (D,): always in the region.
    """

    gp: GaussianProcess
    width: float
    reached: float
    anchor: Array

    def margin(self, X: Array) -> Array:
        """Return mu + width sigma - y_dot at the rows of X, shape (m,)."""
        at = self.gp.predict(X)
        return np.asarray(at.mean + self.width * at.deviation - self.reached)

    def contains(self, X: Array) -> Bools:
        """Return whether each row of X is in the region."""
        return np.asarray(self.margin(X) >= 0)

    def shortfalls(self, X: Array) -> tuple[Array, Array]:
        """Return max(-margin, 0) at the rows of X, shape (m,), and its gradient, (m, D)."""
        upper, slope = Acquisition(self.gp, upper_bound(self.width), Domain.cube(X.shape[1])).slopes(X)
        short = np.maximum(self.reached - upper, 0.0)
        return short, np.where(short[:, None] > 0, -slope, 0.0)


def explore(
    gp: GaussianProcess, region: Region, rng: np.random.Generator, taken: Array | None = None
) -> tuple[Array, float]:
    """Return the point of the region with the largest deviation, shape (D,), and that deviation.

    Uniform points and points around the best ones are scored. From the best of those in the region that lie apart
    climbs start, with a penalty outside. One that ends outside goes back along the straight line to its start, by
    halving, until it is inside. So the answer is always in the region.

    Parameters
    ----------
    gp
        The posterior whose deviation counts; it may hold pending points, unlike the region's.
    region
        R+.
    rng
        Draws the points.
    taken
        Points that are not to be returned while there is another, shape (p, D): with noise, a corner of the cube may
        have the largest deviation twice.
    """
    dimension = len(region.anchor)
    unit = float(np.sqrt(gp.kernel.variance))

    def inside(points: Array) -> Array:
        return np.where(region.contains(points), gp.predict(points).deviation, -np.inf)

    def penalised(points: Array) -> tuple[Array, Array]:
        at, (short, slope) = gp.predict_with_gradients(points), region.shortfalls(points)
        assert at.deviation_gradient is not None
        value = at.deviation / unit - _PENALTY * (short / unit) ** 2
        return value, at.deviation_gradient / unit - 2 * _PENALTY * (short / unit**2)[:, None] * slope

    centres = np.vstack([region.anchor, top_points(region.gp, dimension)])
    uniform = np.clip(rng.uniform(-_BEYOND, 1 + _BEYOND, (_UNIFORM, dimension)), 0.0, 1.0)
    part, candidates = SearchRegion(Domain.cube(dimension)), np.vstack([region.anchor, uniform])
    starts, climbed = peaks(inside, penalised, rng, part, centres=centres, effort=_EFFORT, candidates=candidates)
    within = region.contains(starts)
    mended = [_back_inside(region, *pair) for pair in zip(starts[within], climbed[within], strict=True)]
    ends = np.vstack([region.anchor, starts[within], *mended])
    # Once more, all together: a point on the border may fall on either side of it by rounding. The anchor never does.
    kept = ends[np.append(True, region.contains(ends[1:]))]
    if taken is not None:
        free = ~(kept[:, None] == taken[None]).all(-1).any(1)
        kept = kept[free] if free.any() else kept
    deviations = gp.predict(kept).deviation
    best = int(np.argmax(deviations))
    return kept[best], float(deviations[best])


def _back_inside(region: Region, inside: Array, end: Array) -> Array:
    """Return the end, or the last point found inside on the way to it, shape (D,)."""
    if region.contains(end[None, :])[0]:
        return end
    reach, beyond = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (reach + beyond) / 2
        if region.contains((inside + middle * (end - inside))[None, :])[0]:
            reach = middle
        else:
            beyond = middle
    return inside + reach * (end - inside)


@dataclass(frozen=True, kw_only=True)
class GPUCBPE(ModelBased):
    """One point of a batch where the upper bound is largest, the others where most is to be learned [C13].

    Parameters
    ----------
    form, delta, scale
        beta_t, as of `GPUCB`; t counts trials told, of which there are more than batches.
    batch_size
        K: trial 0, K, 2 K, ... is the first of a batch. None: the trial that is asked while nothing is pending.
    region_scale
        What beta_t is multiplied by in y_dot and R+. 1 is the theorem. Its region is most of the cube for long, where
        exploring teaches little about the maximum: with 0.05 (and `scale` = 0.2) R+ reaches about 1.3 deviations up.
    kernel, noise, n_initial, standardise, sketch
        As of `GPUCB`.

    Examples
    --------
    >>> import quadrat as qd
    >>> method = GPUCBPE(batch_size=2, scale=0.2, region_scale=0.05)
    >>> optimizer = qd.Optimizer(qd.Space(x=qd.Float(0, 1)), direction="maximize", method=method)
    >>> optimizer.add_trials([{"x": i / 8} for i in range(6)], [-((i / 8 - 0.3) ** 2) for i in range(6)])
    range(0, 6)
    >>> pair = [optimizer.ask(), optimizer.ask()]  # to be evaluated at the same time
    >>> [trial.why[:17] for trial in pair]
    ['first of a batch:', 'largest deviation']
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="GP-UCB-PE, upper bound and pure exploration in batches",
        paper="Contal, Buffoni, Robicquet and Vayatis 2013, ECML PKDD",
        assumes="f is a draw of the Gaussian process",
        best_for="batches of a fixed size that also explore",
    )

    form: Finite | Continuous | Agnostic | Literal["finite", "continuous", "agnostic"] = "finite"
    delta: float = 0.001
    scale: float = 1.0
    batch_size: int | None = None
    region_scale: float = 1.0

    def check(self) -> None:
        schedule = self.schedule
        for name in ("form", "delta", "scale"):
            object.__setattr__(self, name, getattr(schedule, name))
        if self.batch_size is not None:
            object.__setattr__(self, "batch_size", as_count(self.batch_size, name="batch_size", at_least=1))
        object.__setattr__(self, "region_scale", as_number(self.region_scale, name="region_scale", above=0.0))

    @property
    def schedule(self) -> GPUCB:
        """GP-UCB with the same beta_t."""
        return GPUCB(form=self.form, delta=self.delta, scale=self.scale)

    def root(self, model: Surrogate, *, ahead: int = 0, region: bool = False) -> float:
        """Return sqrt(beta_(t + ahead)), t - 1 trials told to the `model`; or the one that the region takes."""
        beta = self.schedule.beta(model.trials + 1 + ahead, model.dimension, model.gain)
        return sqrt(self.region_scale * beta if region else beta)

    def start(self, domain: Domain, seed: int) -> ExploringSearch:
        return ExploringSearch(self, domain, seed)

    def score(self, model: Surrogate) -> tuple[Score, str]:
        root = self.root(model)
        return upper_bound(root), f"first of a batch: largest upper confidence bound, sqrt(beta) = {root:.3g}"


class ExploringSearch(ModelSearch):
    """GP-UCB-PE at work."""

    method: GPUCBPE

    def __init__(self, method: GPUCBPE, domain: Domain, seed: int) -> None:
        super().__init__(method, domain, seed)
        self._failed = 0
        self._reached: tuple[int, Array, float] | None = None  # trials told, and where and what is reached after them

    def fail(self, number: int, x: Array) -> None:  # noqa: ARG002
        self._failed += 1

    def decide(self, number: int, pending: Array) -> Proposal:
        size = self.method.batch_size
        # Failed points are among the pending ones for ever, and in no batch.
        first = len(pending) <= self._failed if size is None else number % size == 0
        if first:
            return super().decide(number, pending)
        region = self.region()
        with self.model.pending(pending) as gp:
            x, deviation = explore(gp, region, generator(self.seed, number, _ACQUISITION), pending)
        return Proposal(x, f"largest deviation where {region.reached:.4g} may be exceeded ({deviation:.4g})")

    def region(self) -> Region:
        """Return R+ after what was told; its posterior is a copy, which pending points do not reach."""
        model = self.model
        told = deepcopy(model.gp)
        if self._reached is None or self._reached[0] != model.trials:
            lower = upper_bound(-self.method.root(model, region=True))
            found = Acquisition(told, lower, Domain.cube(self.dimension))
            self._reached = model.trials, *found.maximise(generator(self.seed, model.trials, _LOWER))
        _, anchor, reached = self._reached
        return Region(told, 2 * self.method.root(model, ahead=1, region=True), reached, anchor)
