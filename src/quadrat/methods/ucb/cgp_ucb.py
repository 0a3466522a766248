"""CGP-UCB: a context is given in every round, and the action with the highest upper bound in it is taken.

[K11]: Krause and Ong (2011). Contextual Gaussian process bandit optimization. NIPS 24. In round t the context z_t comes
from outside, and

    s_t = argmax over actions s of mu_(t-1)(s, z_t) + sqrt(beta_t) sigma_(t-1)(s, z_t)           [K11]

with one posterior over pairs (s, z): what was seen in one context counts in others as far as the kernel says. It
takes beta_t from the bandit without contexts, on the joint domain, and bounds the contextual regret, the sum of
max_s f(s, z_t) - f(s_t, z_t), by sqrt(C T beta_T gamma_T). gamma_T grows no faster than for actions alone, up to a
factor, where contexts are few (a product with a context kernel of finite rank), and is at most a sum of both
gains and a logarithm where effects add up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.errors import InvalidInput
from quadrat.gp import Bounds, GaussianProcess, LogNormal, Observations, Priors, fit_map
from quadrat.kernels import Kernel, Matern, OnAxes, Product, Sum, Tied
from quadrat.methods.acquisition import (
    Acquisition,
    Effort,
    Score,
    SearchRegion,
    gain_at,
    maximise,
    points_around,
    upper_bound,
)
from quadrat.methods.base import Domain, Incumbent, MethodFacts, Observation, Proposal, Search, sample_if_thin
from quadrat.methods.surrogate import Learned, ModelBased, Surrogate
from quadrat.methods.ucb.gp_ucb import GPUCB, Agnostic, Continuous, Finite
from quadrat.randomness import generator

__all__ = ["CGPUCB", "Composition", "ContextSlice", "columns", "composed", "learn_composed", "require_free_axis"]

Composition: TypeAlias = Literal["product", "sum"]

_ACQUISITION, _GAIN, _ASCENT = 1, 2, 3  # names of streams beside (seed, trial number), which draws the initial points
_UNIFORM = 256  # points of the slice that are candidates
_EFFORT = Effort(uniform=0, near=12, climbs=8, by_batch=False, steps=12, fine_steps=20)
_TRIES = 8  # batches drawn until one has a point that may be evaluated
_CENTRES = 4  # observed actions around which the slice of a context is searched
_POINTS, _DRAWS = 256, 256  # points of the slice at which f is drawn to estimate what is still to gain, and draws
_PRIORS = Priors(LogNormal(-0.7, 1.0), None, None, None)  # a median of .5; 90 % between a tenth of the side and 2.6


def columns(domain: Domain) -> tuple[list[int], list[int]]:
    """Return the columns of `domain.features` that belong to actions, and those that belong to contexts."""
    given = set(domain.context)
    numbered = list(enumerate(domain.groups))
    return [i for i, axis in numbered if axis not in given], [i for i, axis in numbered if axis in given]


def composed(action: Kernel, context: Kernel, domain: Domain, composition: Composition) -> Kernel:
    """Return k_S(x, x') k_Z(z, z') or k_S(x, x') + k_Z(z, z') on features [K11].

    Where there is no context, k_S alone.

    Parameters
    ----------
    action, context
        k_S on the columns of actions and k_Z on those of contexts.
    domain
        Says which columns these are.
    composition
        "product" or "sum".
    """
    of_actions, of_contexts = columns(domain)
    if not of_contexts:
        return OnAxes(action, of_actions)
    both = OnAxes(action, of_actions), OnAxes(context, of_contexts)
    return Product(*both) if composition == "product" else Sum(*both)


def learn_composed(
    form: Learned, domain: Domain, composition: Composition, data: Observations, previous: Kernel | None = None
) -> Kernel:
    """Return the composed kernel of highest posterior density: one length-scale for each axis, action or context.

    A product has the configured amplitude. In a sum, the amplitudes of both parts are learned, between a tenth of the
    configured one and itself: how much is due to the context is what a sum is about.

    Parameters
    ----------
    form
        Smoothness, amplitude, and the range of the length-scales; the prior within is log-normal around .5.
    domain, composition
        As of `composed`.
    data
        Merged observations of features in model units, noise variances known.
    previous
        The fit before, a further start.
    """
    of_actions, of_contexts = columns(domain)
    amplitude, bounds = form.amplitude, (form.amplitude, form.amplitude * (1 + 1e-12))
    if of_contexts and composition == "product":
        amplitude, bounds = sqrt(form.amplitude), (sqrt(form.amplitude), sqrt(form.amplitude) * (1 + 1e-12))
    elif of_contexts:
        amplitude, bounds = form.amplitude / sqrt(2), (form.amplitude / 10, form.amplitude)
    parts = [_part(form.nu, amplitude, [domain.groups[i] for i in some]) for some in (of_actions, of_contexts) if some]
    fit = fit_map(
        composed(parts[0], parts[-1], domain, composition),
        data,
        noise_variance=0.0,  # every observation brings its own
        mean=0.0,
        priors=_PRIORS,
        bounds=Bounds(lengthscale=form.lengthscales, amplitude=bounds),
        starts=[] if previous is None else [previous.hyperparameters],
        standardise=False,
    )
    return fit.kernel


def _part(nu: float, amplitude: float, axes: list[int]) -> Kernel:
    """A Matérn kernel with one length-scale for each axis: the columns of a choice share theirs."""
    kernel = Matern(nu, np.full(len(axes), 0.5), amplitude=amplitude)
    names = list(dict.fromkeys(axes))
    return kernel if len(names) == len(axes) else Tied(kernel, [names.index(axis) for axis in axes])


def require_free_axis(domain: Domain) -> None:
    """Raise `InvalidInput` where every axis is a context: nothing is left to choose."""
    if len(set(domain.context)) >= domain.dimension:
        raise InvalidInput(
            f"contexts: expected at least one parameter that is not a context, got {domain.dimension} of "
            f"{domain.dimension} that are; without one there is nothing to choose"
        )


class ContextSlice:
    """All points of a domain with the coordinates of one context.

    Parameters
    ----------
    domain
        The cube with what is behind it.
    context
        Shape (D,): coordinates on the axes that are fixed, NaN on those that are free.
    """

    def __init__(self, domain: Domain, context: Array) -> None:
        self.domain, self.context = domain, context
        self.part = SearchRegion(domain, fixed=context)
        self.placed = self.part.placed

    def uniform(self, count: int, rng: np.random.Generator) -> Array:
        """Return `count` random points of the slice, (count, D), whether they may be evaluated or not."""
        return self.placed(rng.random((count, self.domain.dimension)))

    def draw(self, count: int, rng: np.random.Generator) -> Array:
        """Return up to `count` random points of the slice that may be evaluated, (m, D); any, where none is found."""
        for _ in range(_TRIES):
            points = self.uniform(count, rng)
            allowed = self.domain.allowed(points)
            if allowed.any():
                return np.asarray(points[allowed])
        return points

    def highest(
        self, function: Acquisition, rng: np.random.Generator, *, centres: Array, avoided: Array
    ) -> tuple[Array, float]:
        """Return the point of the slice, (D,), with the highest value of an acquisition, and that value.

        Parameters
        ----------
        function
            The acquisition.
        rng
            Draws where the search starts.
        centres
            Points (c, D), of whatever context, around which the slice is looked at closely; c may be 0.
        avoided
            Points (p, D) that are not worth asking again: not returned, unless there is nothing else.
        """

        def values(points: Array) -> Array:
            return np.where(self.domain.allowed(points), function.values(points), -np.inf)

        candidates = np.vstack([self.draw(_UNIFORM, rng), centres])
        return maximise(
            values, function.slopes, rng, self.part,
            centres=self.placed(centres), effort=_EFFORT, candidates=candidates, avoided=avoided,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CGPUCB(ModelBased):
    """Evaluate, in the context given, where mu + sqrt(beta_t) sigma is largest [K11].

    The model sees features: an unordered choice, action or context, is a column for each value. Without contexts it is
    GP-UCB.

    Parameters
    ----------
    kernel
        k_S of the actions, used as it is; or `Learned(...)`, for both kernels: one length-scale for each axis. None is
        `Learned(lengthscales=(0.1, 5.0), refit_every="doubling")`.
    context_kernel
        k_Z of the contexts; to be given where k_S is, and only there.
    composition
        "product" for k_S k_Z: the best action depends on the context. "sum" for k_S + k_Z: contexts shift the values of
        all actions alike, so that one action is best in all of them [K11].
    form, delta, scale
        beta_t [K11]: as of `GPUCB`, with t counting rounds in all contexts and D all axes. The theorem is
        `scale` = 1; it explores for very long.
    noise, n_initial, standardise, sketch
        As of `GPUCB`.

    Examples
    --------
    >>> round(CGPUCB(scale=1.0, form=Finite(arms=100)).beta(t=10, dimension=2, gain=0.0), 2)
    33.23
    """

    facts: ClassVar[MethodFacts] = MethodFacts(
        title="CGP-UCB, GP-UCB in contexts",
        paper="Krause and Ong 2011, Contextual Gaussian process bandit optimization, NIPS",
        assumes="f is a draw of the Gaussian process on actions and contexts, or of norm at most B",
        best_for="a best setting for each context: site, customer, weather",
        handles=("pending points", "replicates", "contexts"),
    )

    context_kernel: Kernel | None = None
    composition: Composition = "product"
    form: Finite | Continuous | Agnostic | Literal["finite", "continuous", "agnostic"] = "finite"
    delta: float = 0.001
    scale: float = 0.1

    def check(self) -> None:
        if self.composition not in ("product", "sum"):
            raise InvalidInput(f'composition: expected "product" or "sum", got {self.composition!r}')
        if isinstance(self.context_kernel, Kernel) and not isinstance(self.kernel, Kernel):
            raise InvalidInput(
                f"kernel: expected a kernel of the actions beside that of the contexts, got {self.kernel!r}; give "
                "both, or neither to learn both"
            )
        if not isinstance(self.context_kernel, Kernel | None):
            raise InvalidInput(f"context_kernel: expected a kernel or None, got {self.context_kernel!r}")
        schedule = GPUCB(form=self.form, delta=as_number(self.delta, name="delta"), scale=self.scale)
        for name in ("form", "delta", "scale"):
            object.__setattr__(self, name, getattr(schedule, name))

    @property
    def form_of_kernel(self) -> Kernel | Learned:
        return Learned(lengthscales=(0.1, 5.0), refit_every="doubling") if self.kernel is None else self.kernel

    def beta(self, t: int, dimension: int, gain: float) -> float:
        """Return beta_t of [K11], scaled: round t >= 1, `dimension` axes in all, `gain` nats gained so far."""
        assert not isinstance(self.form, str)
        return self.scale * max(self.form.beta(t, self.delta, dimension, gain), 0.0)

    def score(self, model: Surrogate) -> tuple[Score, str]:
        assert isinstance(model, ContextModel)
        root = sqrt(self.beta(model.trials + 1, model.domain.dimension, model.gain))
        return upper_bound(root), f"largest upper confidence bound in this context, sqrt(beta) = {root:.3g}"

    def start(self, domain: Domain, seed: int) -> ContextModelSearch:  # type: ignore[override]  # another search
        return ContextModelSearch(self, domain, seed)


class ContextModel(Surrogate):
    """The Gaussian process over the features of actions and contexts."""

    method: CGPUCB

    def __init__(self, method: CGPUCB, domain: Domain, seed: int) -> None:
        super().__init__(method, len(domain.groups), seed)
        self.domain = domain
        self._composed: Kernel | None = None  # the composed kernel, where its parts are stated
        if isinstance(method.kernel, Kernel):
            of_actions, of_contexts = columns(domain)
            if of_contexts and method.context_kernel is None:
                raise InvalidInput(
                    "context_kernel: expected a kernel of the contexts beside that of the actions, got None; give "
                    "both, or neither to learn both"
                )
            method.kernel.check_dimension(len(of_actions))
            self._composed = composed(method.kernel, method.context_kernel or method.kernel, domain, method.composition)
            self._composed.check_dimension(self.dimension)

    def tell(self, observation: Observation) -> None:
        super().tell(replace(observation, x=self.domain.features(observation.x[None, :])[0]))

    @property
    def stated(self) -> Kernel | None:
        return self._composed

    def fitted(self, form: Learned, data: Observations, previous: Kernel | None) -> Kernel:
        return learn_composed(form, self.domain, self.method.composition, data, previous)


class ContextModelSearch(Search):
    """CGP-UCB at work: uniform actions first, then the highest index in the context given."""

    def __init__(self, method: CGPUCB, domain: Domain, seed: int) -> None:
        require_free_axis(domain)
        self.method = method
        self.domain = domain
        self.seed = seed
        self.model = ContextModel(method, domain, seed)
        self._points: list[Array] = []  # as told, one a trial

    def _slice(self, context: Array | None) -> ContextSlice:
        """Return the points among which to choose; in a domain without contexts, all of them."""
        return ContextSlice(self.domain, np.full(self.domain.dimension, np.nan) if context is None else context)

    def tell(self, observation: Observation) -> None:
        self.model.tell(observation)
        self._points.append(np.array(observation.x, dtype=np.float64))

    # --- asking

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        within = self._slice(context)
        if not self.model.settled:
            of = f"{self.model.trials} of {self.method.n_initial} initial trials told"
            return Proposal(within.draw(1, generator(self.seed, number))[0], f"uniform: {of}")
        score, why = self.method.score(self.model)
        seen = self.domain.features(pending) if len(pending) else pending.reshape(0, self.model.dimension)
        with self.model.pending(seen) as gp:
            x, value = self._highest(gp, score, within, generator(self.seed, number, _ACQUISITION), pending)
        return Proposal(x, f"{why} ({value:.4g})")

    def _highest(
        self, gp: GaussianProcess, score: Score, within: ContextSlice, rng: np.random.Generator, avoided: Array
    ) -> tuple[Array, float]:
        """Maximise a score of the posterior over a slice; look closely around the actions that are best there."""
        moved = within.placed(np.unique(np.array(self._points), axis=0))
        means = gp.predict_mean(self.domain.features(moved))
        centres = moved[np.argsort(-means, kind="stable")[:_CENTRES]]

        return within.highest(Acquisition(gp, score, self.domain), rng, centres=centres, avoided=avoided)

    # --- answers

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the point of the slice with the highest posterior mean, with a 90 % credible interval.

        It need not have been evaluated. The gain is that within the slice, over what may be evaluated there; None where
        too few such points are known.
        """
        within, gp = self._slice(context), self.model.posterior
        rng = generator(self.seed, self.model.trials, _ASCENT)
        nowhere = np.empty((0, self.domain.dimension))
        x, _ = self._highest(gp, upper_bound(0.0), within, rng, nowhere)
        at = gp.predict(self.domain.features(x[None, :]))
        mean, deviation = float(at.mean[0]), float(at.deviation[0])
        rng = generator(self.seed, self.model.trials, _GAIN)
        others = within.placed(np.vstack([x[None, :], points_around(x, _POINTS - 1, rng)]))
        sample = sample_if_thin(within.uniform, self.domain.feasible)
        if sample is None:
            return self.model.frame.incumbent(x, mean, deviation, None)
        features = self.domain.features(np.vstack([x[None, :], others[self.domain.allowed(others)], sample]))
        return self.model.frame.incumbent(x, mean, deviation, gain_at(gp, features, _DRAWS, rng))

    def explain(self) -> dict[str, object]:
        return self.model.explain()
