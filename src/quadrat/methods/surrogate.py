"""What the methods with a Gaussian-process model share: how they start, what they learn, what they recommend.

The paper's recipe (appendix "Details of Experiments"): the first 5 points uniform, the length-scale of a Matérn kernel
with nu = 2.5 by maximum likelihood on those, fixed from then on. What it leaves open is decided here and in
`quadrat.methods.lp.preset`:

- the prior mean is 0 and, unless `Learned` says otherwise, the prior deviation 1, both in model units: those of the
  values, or, with `standardise`, of the values less their mean and divided by their standard deviation, both taken from
  the data that the kernel was learned from and frozen with it, so that the posterior grows by appending;
- the recommended point is the evaluated one of highest posterior mean.

A model is a pure function of what was told, in the order of telling: nothing is learned between the scheduled times.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Literal, TypeVar

import numpy as np

from quadrat._core.arrays import Array, as_number
from quadrat.errors import InvalidInput
from quadrat.gp import Bounds, GaussianProcess, Observations, Priors, fit_map
from quadrat.gp.prediction import Posterior
from quadrat.gp.sketch import Sketch, SketchedProcess
from quadrat.kernels import Kernel, Matern
from quadrat.methods.acquisition import Acquisition, Score, expected_gain
from quadrat.methods.base import CREDIBLE, Domain, Incumbent, Method, Observation, Proposal, Search, refuse_context
from quadrat.methods.dataset import Dataset, spread
from quadrat.methods.statements import Affine, Gain, Mixture
from quadrat.partition.unit_cube import as_count
from quadrat.randomness import generator

__all__ = [
    "Frame",
    "Learned",
    "Learning",
    "ModelBased",
    "ModelSearch",
    "Surrogate",
    "is_due",
    "learn_kernel",
]

_LEAST_VARIANCE = 1e-8  # of the prior variance: a standard error of 0 must not make the matrix singular
# Names of streams beside (seed, trial number), which draws the initial points.
_ACQUISITION, _GAIN = 1, 2


@dataclass(frozen=True, kw_only=True)
class Learned:
    """A Matérn kernel with one length-scale for all axes, learned by maximum likelihood.

    Parameters
    ----------
    nu
        Smoothness, > 0.
    amplitude
        Prior standard deviation s > 0, in model units; not learned.
    lengthscales
        The range (low, high) that is searched, in units of the cube's side. Five points often have a likelihood that
        grows all the way to 0 or to infinity; the paper does not say what it did then.
    refit_every
        None learns once, from the first `n_initial` trials, as in the paper. A number k learns again, from everything
        told, k, 2k, ... trials later; "doubling" whenever the number of trials has doubled. Each fit starts from
        the one before.

    Raises
    ------
    InvalidInput
        A number that is not positive, or a range that is none.

    Examples
    --------
    >>> import quadrat as qd
    >>> qd.research.GPUCB(kernel=Learned(nu=1.5, refit_every="doubling"), noise=0.05).kernel.refit_every
    'doubling'
    """

    nu: float = 2.5
    amplitude: float = 1.0
    lengthscales: tuple[float, float] = (0.1, 2.0)
    refit_every: int | Literal["doubling"] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "nu", as_number(self.nu, name="nu", above=0.0))
        object.__setattr__(self, "amplitude", as_number(self.amplitude, name="amplitude", above=0.0))
        low, high = self.lengthscales
        if not 0 < low < high < np.inf:
            raise InvalidInput(f"lengthscales: expected a range 0 < low < high, got {self.lengthscales!r}")
        every = self.refit_every
        if not (every is None or every == "doubling" or (isinstance(every, int) and every is not True and every > 0)):
            raise InvalidInput(f'refit_every: expected None, "doubling" or a number of trials >= 1, got {every!r}')

    def start(self) -> Matern:
        """Return the kernel with the length-scale in the middle of the range."""
        return Matern(self.nu, float(np.sqrt(np.prod(self.lengthscales))), amplitude=self.amplitude)

    def due(self, trials: int, n_initial: int) -> bool:
        """Whether the kernel is learned when this many trials are told, `n_initial` of them at first."""
        if trials <= n_initial or self.refit_every is None:
            return trials == n_initial
        if self.refit_every == "doubling":
            share, rest = divmod(trials, n_initial)
            return rest == 0 and share.bit_count() == 1
        return (trials - n_initial) % self.refit_every == 0


def learn_kernel(form: Learned, data: Observations, previous: Kernel | None = None) -> Matern:
    """Return the kernel of this form whose length-scale has the highest likelihood, with prior mean 0.

    Parameters
    ----------
    form
        Smoothness, amplitude and the range of length-scales.
    data
        Merged observations in model units, noise variances known.
    previous
        The fit before, where the search then starts; otherwise it starts from five length-scales of the range.
    """
    low, high = form.lengthscales
    grid = np.geomspace(low, high, 5)
    start = form.start() if previous is None else previous
    logs = [np.log([scale, form.amplitude]) for scale in grid] if previous is None else []
    fit = fit_map(
        start,
        data,
        noise_variance=0.0,  # every observation brings its own
        mean=0.0,
        priors=Priors.flat(),
        # An interval of no width: the amplitude is configured, not learned.
        bounds=Bounds(lengthscale=(low, high), amplitude=(form.amplitude, form.amplitude * (1 + 1e-12))),
        starts=logs,
        standardise=False,
    )
    return Matern(form.nu, float(np.exp(fit.parameters[0])), amplitude=form.amplitude)


def is_due(form: Kernel | Learned, trials: int, n_initial: int) -> bool:
    """Whether a model learns when this many trials are told; one with a stated kernel learns its units, once."""
    return form.due(trials, n_initial) if isinstance(form, Learned) else trials == n_initial


@dataclass(frozen=True)
class Frame:
    """What was learned: the kernel, and the affine map between values and model units."""

    kernel: Kernel
    shift: float
    scale: float

    def to_model(self, values: Array) -> Array:
        """Return values in model units."""
        return (values - self.shift) / self.scale

    def to_values(self, units: float) -> float:
        """Return a number of model units as a value."""
        return self.shift + self.scale * units

    def variances(self, variances: Array) -> Array:
        """Return noise variances in model units, never so small that the matrix becomes singular."""
        return np.maximum(variances / self.scale**2, _LEAST_VARIANCE * self.kernel.variance)

    def incumbent(self, x: Array, mean: float, deviation: float, gain: Gain | None) -> Incumbent:
        """Return what is believed of f at x (D,), in the units of the values, with a 90 % credible interval.

        `gain` is what is still to gain, in model units like mean and deviation; None where there is none.
        """
        belief = Mixture(np.array([mean]), np.array([deviation]), Affine(self.shift, self.scale))
        return Incumbent.believed(x, belief, None if gain is None else replace(gain, scale=self.scale))


F = TypeVar("F")


class Learning(ABC, Generic[F]):
    """A model that learns at times that are planned, and is held in between; `trials` is the number told."""

    def __init__(self) -> None:
        self.trials = 0
        self._learned: F | None = None
        self._provisional: F | None = None

    @property
    def settled(self) -> bool:
        """Whether the initial design is told, so that the model may decide."""
        return self._learned is not None

    @property
    def frame(self) -> F:
        """What was learned last; before the initial design is complete, from whatever there is."""
        if self._learned is not None:
            return self._learned
        if self._provisional is None:
            self._provisional = self._learn()
        return self._provisional

    def _count(self, trials: int = 1) -> None:
        """Count trials that were told; forget what was learned before the initial design is complete; learn if due."""
        self.trials += trials
        self._provisional = None
        if self._is_due():
            self._learned = self._learn()

    @abstractmethod
    def _is_due(self) -> bool:
        """Whether to learn, now that so many trials are told."""

    @abstractmethod
    def _learn(self) -> F:
        """Return what is learned from everything told."""


class Surrogate(Learning[Frame]):
    """The Gaussian process of a search: told trials go in, posteriors come out, in model units.

    With the method's `sketch` both posteriors are sketched; `seed` is that of their dictionaries.
    """

    def __init__(self, method: ModelBased, dimension: int, seed: int = 0) -> None:
        super().__init__()
        self.method, self.dimension, self.seed = method, dimension, seed
        self.data = Dataset(dimension)
        self._built: Frame | None = None  # what the two posteriors below were built with
        self._absorbed = 0  # observations that they have taken in
        self._index: GaussianProcess
        self._posterior: GaussianProcess | None = None  # None where a sketched one is yet to be made from `_index`

    # --- what was told

    @property
    def x(self) -> Array:
        """Points of all observations, repeats included, shape (N, D)."""
        return self.data.x

    @property
    def y(self) -> Array:
        """All observations in model units, shape (N,)."""
        return self.frame.to_model(self.data.y)

    @property
    def variances(self) -> Array:
        """Their noise variances in model units, shape (N,)."""
        return self.frame.variances(self.data.variance)

    def tell(self, observation: Observation) -> None:
        """Take in one trial; learn the kernel where that is due."""
        self.data.tell(observation, self.method.noise)
        self._count()

    def _is_due(self) -> bool:
        return is_due(self.method.form_of_kernel, self.trials, self.method.n_initial)

    # --- what is believed

    @property
    def gp(self) -> GaussianProcess:
        """The posterior that the acquisition reads, with the method's regulariser for noise."""
        self._update()
        return self._index

    @property
    def posterior(self) -> GaussianProcess:
        """The posterior under the stated noise, which recommends; it is `gp` unless the method regularises more."""
        self._update()
        if self._posterior is None:
            assert isinstance(self._index, SketchedProcess)
            # One dictionary serves both: a second sketch would cost as much again, for an answer that is seldom read.
            self._posterior = self._index.with_noise(self.noise**2 / self._index.noise_variance)
        return self._posterior

    @property
    def noise(self) -> float:
        """Standard deviation of one observation's noise, in model units."""
        return float(np.sqrt(self.frame.variances(np.array([self.method.noise**2]))[0]))

    @property
    def gain(self) -> float:
        """The information gained so far, log det(I + K/lambda)/2 over the observations of `gp`, in nats."""
        return 0.5 * self.gp.logdet

    def best_mean(self) -> float:
        """Return the highest posterior mean over the observed points: the incumbent, free of the luck of one draw."""
        return float(self.gp.predict_mean(self.gp.x).max())

    @contextmanager
    def pending(self, points: Array) -> Iterator[GaussianProcess]:
        """Within the block, `gp` counts these points (p, D) as observed at their own mean."""
        gp = self.gp
        if not len(points):
            yield gp
            return
        with gp.pending(points):
            yield gp

    def _update(self) -> None:
        """Append to the posteriors what was told since they were last asked for; build them where units changed."""
        frame = self.frame
        if self._built is not frame:
            self._begin(frame)
        told = len(self.data)
        if self._absorbed == told:
            return
        if isinstance(self._index, SketchedProcess) and self._posterior is not self._index:
            self._posterior = None
        ratio = self._index.noise_variance / self.noise**2
        if self._posterior is not None:
            self.data.grow(self._posterior, frame, self._absorbed)
        if self._index is not self._posterior:
            self.data.grow(self._index, frame, self._absorbed, times=ratio)
        self._absorbed = told

    def _begin(self, frame: Frame) -> None:
        """Start both posteriors anew in these units."""
        noise, sketch = self.noise**2, self.method.sketch
        regulariser = self.method.regulariser(noise)
        same = regulariser == noise
        if sketch is None:
            self._posterior = self.exact(frame, noise)
            self._index = self._posterior if same else self.exact(frame, regulariser)
        else:
            self._index = SketchedProcess(frame.kernel, noise_variance=regulariser, sketch=sketch, seed=self.seed)
            self._posterior = self._index if same else None
        self._built, self._absorbed = frame, 0

    def exact(self, frame: Frame, noise_variance: float) -> GaussianProcess:
        """Return the posterior without data, where it is not sketched."""
        return GaussianProcess(frame.kernel, noise_variance=noise_variance)

    @property
    def stated(self) -> Kernel | None:
        """The kernel, where it is not learned."""
        form = self.method.form_of_kernel
        return form if isinstance(form, Kernel) else None

    def fitted(self, form: Learned, data: Observations, previous: Kernel | None) -> Kernel:
        """Return the kernel learned from merged observations in model units; `previous` is the one before."""
        return learn_kernel(form, data, previous)

    def _learn(self) -> Frame:
        y, form = self.data.y, self.method.form_of_kernel
        shift, scale = (float(np.mean(y)), spread(y)) if self.method.standardise else (0.0, 1.0)
        if self.stated is not None:
            return Frame(self.stated, shift, scale)
        assert isinstance(form, Learned)
        units = Frame(form.start(), shift, scale)
        previous = None if self._learned is None else self._learned.kernel
        return replace(units, kernel=self.fitted(form, self.data.merged(units), previous))

    def explain(self) -> dict[str, object]:
        """Return what was learned, as plain data."""
        if not self.trials:
            return {"trials": 0}
        frame = self.frame
        return {
            "trials": self.trials,
            "initial design complete": self.settled,
            "kernel": repr(frame.kernel),
            "shift": frame.shift,
            "scale": frame.scale,
            "log evidence": self.posterior.log_evidence,
            "information gain": self.gain,
        }


@dataclass(frozen=True, kw_only=True)
class ModelBased(Method):
    """Options that every method with a Gaussian-process model shares.

    Parameters
    ----------
    kernel, noise, n_initial, standardise, sketch
        As of `quadrat.methods.ucb.gp_ucb.GPUCB`.
    """

    estimates_gain: ClassVar[bool] = True

    kernel: Kernel | Learned | None = None
    noise: float = 0.1
    n_initial: int = 5
    standardise: bool = True
    sketch: Sketch | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel | Learned | None):
            raise InvalidInput(
                f"kernel: expected a kernel such as Matern(2.5, 0.3), Learned() or None, got {self.kernel!r}"
            )
        if not isinstance(self.sketch, Sketch | None):
            raise InvalidInput(f"sketch: expected Sketch(...) or None for the exact posterior, got {self.sketch!r}")
        object.__setattr__(self, "noise", as_number(self.noise, name="noise", above=0.0))
        object.__setattr__(self, "n_initial", as_count(self.n_initial, name="n_initial", at_least=1))
        self.check()

    def check(self) -> None:
        """Check the options that a method adds."""

    @property
    def form_of_kernel(self) -> Kernel | Learned:
        """The kernel, or how to learn it."""
        return Learned() if self.kernel is None else self.kernel

    def start(self, domain: Domain, seed: int) -> ModelSearch:
        return ModelSearch(self, domain, seed)

    def regulariser(self, noise_variance: float) -> float:
        """Return the lambda of K + lambda I, from the `noise_variance`, both in model units."""
        return noise_variance

    @abstractmethod
    def score(self, model: Surrogate) -> tuple[Score, str]:
        """Return the acquisition after what the model was told, and a phrase that says why its maximum is worth it."""


class ModelSearch(Search):
    """A search that maximises the method's score; what differs between methods is in the method.

    Parameters
    ----------
    method, domain, seed
        The options, the cube with what is behind it, and the seed of all draws.
    columns
        How many coordinates the model sees of a point; None is D, the point itself.

    Attributes
    ----------
    dimension
        How many coordinates the model sees of a point.
    """

    def __init__(self, method: ModelBased, domain: Domain, seed: int, *, columns: int | None = None) -> None:
        self.method, self.domain, self.seed = method, domain, seed
        self.dimension = domain.dimension if columns is None else columns
        if isinstance(method.kernel, Kernel):
            method.kernel.check_dimension(self.dimension)
        self.model = Surrogate(method, self.dimension, seed)

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        if not self.model.settled:
            of = f"{self.model.trials} of {self.method.n_initial} initial trials told"
            return Proposal(generator(self.seed, number).random(self.dimension), f"uniform: {of}")
        return self.decide(number, pending)

    def decide(self, number: int, pending: Array) -> Proposal:
        """Propose a point from the model."""
        return self.maximise(number, pending, *self.method.score(self.model))

    def maximise(self, number: int, pending: Array, score: Score, why: str) -> Proposal:
        """Propose the point of the cube with the highest score, where deviations count pending points (p, D)."""
        with self.model.pending(pending) as gp:
            rng = generator(self.seed, number, _ACQUISITION)
            x, value = Acquisition(gp, score, Domain.cube(self.dimension)).maximise(rng)
        return Proposal(x, f"{why} ({value:.4g})")

    def tell(self, observation: Observation) -> None:
        self.model.tell(observation)

    def recommend(self, context: Array | None = None) -> Incumbent:
        """Return the evaluated point of highest posterior mean, with a 90 % credible interval."""
        refuse_context(self, context)
        gp = self.model.posterior
        at = gp.predict(gp.x)
        best = int(np.argmax(at.mean))
        gain = expected_gain(gp, gp.x[best], generator(self.seed, self.model.trials, _GAIN), self.domain)
        return self.model.frame.incumbent(gp.x[best].copy(), float(at.mean[best]), float(at.deviation[best]), gain)

    @property
    def posterior(self) -> Posterior:
        """The posterior under the stated noise, in model units."""
        return self.model.posterior

    def predict(self, points: Array) -> tuple[Array, Array, Array]:
        """Posterior mean under the stated noise, with a 90 % credible interval, shapes (m,)."""
        frame, at = self.model.frame, self.posterior.predict(points)
        mean, half = frame.shift + frame.scale * at.mean, frame.scale * CREDIBLE * at.deviation
        return mean, mean - half, mean + half

    def explain(self) -> dict[str, object]:
        return self.model.explain()
