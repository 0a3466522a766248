"""The choices that the diagnostics of figure 1 change, one at a time: methods of the paper's preset taken apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from math import log, pi, sqrt
from typing import Any, ClassVar

import numpy as np
from as_printed import PrintedLPGPUCB, paper_preset
from figure1 import CLAIMED, DELTA, INITIAL, NOISE, RIVALS, N

from quadrat._core.arrays import Array
from quadrat.confidence import Assumptions, ChowdhuryGopalanBand, UserHolder
from quadrat.gp import GaussianProcess, Observations
from quadrat.kernels import Kernel, Matern
from quadrat.methods.acquisition import Score, log_expected_improvement, log_probability_of_improvement
from quadrat.methods.base import Domain, Incumbent, Method, MethodFacts, Observation, Proposal, Search, refuse_context
from quadrat.methods.lp.cells import CellBounds
from quadrat.methods.lp.method import information_gain
from quadrat.methods.lp.search import CellLoop
from quadrat.methods.surrogate import Learned, ModelBased, ModelSearch, Surrogate, learn_kernel
from quadrat.methods.ucb.heuristic import Heuristic, HeuristicSearch
from quadrat.methods.ucb.igp_ucb import IGPUCB
from quadrat.methods.ucb.improvement import ExpectedImprovement, ProbabilityOfImprovement
from quadrat.partition import from_regression_tree
from quadrat.randomness import generator

_UNIFORM_STREAM, _RESTART_STREAM, _TREE_STREAM, _LEAF_STREAM = 51, 52, 53, 54
_HOLDER = UserHolder(sqrt(2), 1.0)  # L and alpha of the paper's experiments
_RESTARTS = 10  # appendix "Details of Experiments"

# --- LP0


class PlainAverages(CellBounds):
    """Cells whose b(E) is the main text's sqrt(2 log(n/delta)/n_E), without sigma."""

    def average_width(self, node: int) -> float:
        count = int(self.tree.count(node))
        return sqrt(2 * log(N / DELTA) / count) if count else float("inf")


@dataclass(frozen=True, kw_only=True)
class OpenLP0(Method):
    """LP0 of `paper_preset` with what that preset decides as options; the defaults are the preset, bit for bit.

    Parameters
    ----------
    budget
        n.
    kernel
        Fixed, or how to learn it.
    standardise
        Whether values are standardised by those that the kernel was learned from.
    norm_bound, holder
        B, and (L, alpha); None takes the kernel's modulus of continuity alone.
    noise_regulariser
        lambda = sigma^2 in the band, as is customary, instead of 1 + 2/n.
    threshold_scale
        What gamma_n / sqrt(n), which decides between the lines that split, is multiplied by.
    sigma_in_b
        False gives the cell averages the main text's width.
    uniform
        Evaluate a uniform point of the chosen cell (Algorithm 1, line 4), not the most promising of a few.
    from_last_axis
        Of axes along which f can vary equally, halve the last first. By default the first is, and x_1 and x_2 are the
        pair that counts most: a chance that no other method has.
    as_printed
        Algorithm 1 line by line: 2^D cells a split, the printed rho_0 and widths.
    printed_recommendation
        The paper's Recommend: the centre of the smallest cell, or the point of least width.
    """

    facts: ClassVar[MethodFacts] = MethodFacts("LP0, taken apart", "the LP-GP-UCB paper", "nothing that is certified")

    budget: int
    kernel: Kernel | Learned = field(default_factory=Learned)
    standardise: bool = True
    norm_bound: float = 1.0
    holder: UserHolder | None = _HOLDER
    noise_regulariser: bool = False
    threshold_scale: float = 1.0
    sigma_in_b: bool = True
    uniform: bool = False
    from_last_axis: bool = False
    as_printed: bool = False
    printed_recommendation: bool = False

    def start(self, domain: Domain, seed: int) -> OpenLP0Search:
        return OpenLP0Search(self, domain, seed)

    def loop(self, kernel: Kernel, noise: float, dimension: int, seed: int) -> CellLoop:
        """Return the loop of Algorithm 1 for this kernel and noise, both in model units."""
        given = Assumptions(kernel, self.norm_bound, noise, self.holder)
        regulariser = noise**2 if self.noise_regulariser else None
        band = ChowdhuryGopalanBand(given, DELTA / 3, budget=self.budget, regulariser=regulariser)
        form = CellBounds if self.sigma_in_b else PlainAverages
        cells = form(given, dimension, delta=DELTA, degree=0, band=band)
        threshold = information_gain(kernel, self.budget, noise**2, dimension).value / float(np.sqrt(self.budget))
        return CellLoop(cells, seed, budget=self.budget, threshold=self.threshold_scale * threshold)

    def printed(self, kernel: Kernel, noise: float, dimension: int, seed: int) -> Search:
        """Return the printed search for this kernel and noise."""
        method = PrintedLPGPUCB(
            kernel=kernel, norm_bound=self.norm_bound, noise=noise, budget=self.budget, degree=0, delta=DELTA,
            holder=self.holder, max_cells=4096,
        )  # fmt: skip
        return method.start(Domain.cube(dimension), seed)


class OpenLP0Search(Search):
    """Uniform points first; then the loop of Algorithm 1 in model units, begun anew whenever the kernel is learned."""

    def __init__(self, method: OpenLP0, domain: Domain, seed: int) -> None:
        self.method, self.dimension, self.seed = method, domain.dimension, seed
        self.told: list[Observation] = []
        self.kernel: Kernel | None = None
        self.shift, self.scale = 0.0, 1.0
        self.inner: CellLoop | Search | None = None
        self.belief: GaussianProcess
        self.least: tuple[float, Array] | None = None  # xi of Recommend, and the point where it is attained

    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        refuse_context(self, context)
        if self.inner is None:
            return Proposal(generator(self.seed, number).random(self.dimension), "uniform")
        x = self.inner.ask(number, self.turn(pending)).x
        if isinstance(self.inner, CellLoop):
            cells = self.inner.cells
            if self.method.uniform:
                cell = cells.tree.cell(cells.tree.locate(x))
                x = cell.sample(generator(self.seed, number, _UNIFORM_STREAM), 1)[0]
            width = float(cells.band.interval(x[None]).half_width[0])
            if self.least is None or width < self.least[0]:
                self.least = width, x
        return Proposal(self.turn(x), "highest upper bound")

    def turn(self, x: Array) -> Array:
        """From the axes of the cube to those that the cells are halved along, and back; shape (..., D)."""
        return x[..., ::-1] if self.method.from_last_axis else x

    def tell(self, observation: Observation) -> None:
        self.told.append(observation)
        form = self.method.kernel
        if form.due(len(self.told), INITIAL) if isinstance(form, Learned) else len(self.told) == INITIAL:
            self.begin()
        elif self.inner is not None:
            self.absorb(observation)

    def begin(self) -> None:
        """Learn the kernel and start over with all that was told."""
        method, form = self.method, self.method.kernel
        X, y = np.array([told.x for told in self.told]), np.concatenate([told.values for told in self.told])
        if method.standardise:
            self.shift, self.scale = float(np.mean(y)), float(np.std(y))
        noise = NOISE / self.scale
        if isinstance(form, Learned):
            data = Observations.merge(X, (y - self.shift) / self.scale, noise**2)
            self.kernel = learn_kernel(form, data, self.kernel)
        else:
            self.kernel = form
        build = method.printed if method.as_printed else method.loop
        self.inner = build(self.kernel, noise, self.dimension, self.seed)
        self.belief = GaussianProcess(self.kernel, noise_variance=noise**2)
        self.least = None
        for told in self.told:
            self.absorb(told)

    def absorb(self, observation: Observation) -> None:
        """Pass one trial on, in model units."""
        values = (observation.values - self.shift) / self.scale
        if isinstance(self.inner, CellLoop):
            self.inner.cells.add(self.turn(observation.x), values)
        elif self.inner is not None:
            self.inner.tell(replace(observation, values=values))
        self.belief.add(np.repeat(observation.x[None], len(values), axis=0), values)

    def recommend(self, context: Array | None = None) -> Incumbent:
        refuse_context(self, context)
        if self.inner is None:
            best = max(self.told, key=lambda told: float(told.values[0]))
            return Incumbent(best.x, float(best.values[0]))
        if self.method.printed_recommendation:
            assert isinstance(self.inner, CellLoop)
            return self.recommend_as_printed(self.inner.cells)
        means = self.belief.predict_mean(self.belief.x)
        best_row = int(np.argmax(means))
        return Incumbent(self.belief.x[best_row].copy(), float(means[best_row]) * self.scale + self.shift)

    def recommend_as_printed(self, cells: CellBounds) -> Incumbent:
        """Definition of Recommend, with omega(diam E) for L (sqrt(D) r_E)^alpha_1."""
        leaves = cells.tree.leaves()
        smallest = int(leaves[np.argmin([cells.variation(int(leaf)) for leaf in leaves])])
        if self.least is None or cells.variation(smallest) <= self.least[0]:
            point = cells.tree.cell(smallest).centre
        else:
            point = self.least[1]
        point = self.turn(point)
        return Incumbent(point, float(self.belief.predict_mean(point[None])[0]) * self.scale + self.shift)


# --- the other methods


@dataclass(frozen=True, kw_only=True)
class OpenHeuristic(Heuristic):
    """Heuristic with lambda = 1 + 2/n in its posterior, or with the main text's b, which has no sigma."""

    igp_regulariser: bool = False
    sigma_in_b: bool = True

    def regulariser(self, noise_variance: float) -> float:
        return 1 + 2 / self.budget if self.igp_regulariser else noise_variance

    def start(self, domain: Domain, seed: int) -> HeuristicSearch:
        return (HeuristicSearch if self.sigma_in_b else PlainAveragesSearch)(self, domain, seed)


class PlainAveragesSearch(HeuristicSearch):
    """Algorithm 3 with b = sqrt(2 log(n/delta)/n_E); nothing pending."""

    def decide(self, number: int, pending: Array) -> Proposal:  # noqa: ARG002  # one trial at a time here
        from sklearn.tree import DecisionTreeRegressor

        model, method = self.model, self.method
        tree = DecisionTreeRegressor(random_state=int(generator(self.seed, number, _TREE_STREAM).integers(2**31)))
        cells = from_regression_tree(tree.fit(model.x, model.y))
        where = cells.locate_many(model.x)
        count = np.bincount(where, minlength=len(cells))
        average = np.bincount(where, model.y, len(cells)) / count + np.sqrt(2 * log(method.budget / DELTA) / count)
        points = cells.lower + generator(self.seed, number, _LEAF_STREAM).random(cells.lower.shape) * cells.sides
        at = model.gp.predict(points)
        posterior = method.score(model)[0](at.mean, at.deviation)[0]
        upper = np.minimum(posterior, average) + method.variation(model, cells.sides)
        return Proposal(points[int(np.argmax(upper))], "highest cell")


class CustomaryIGPUCB(IGPUCB):
    """IGP-UCB with the customary lambda = sigma^2, for which its band is not proved."""

    def regulariser(self, noise_variance: float) -> float:
        return noise_variance


class LuckyExpectedImprovement(ExpectedImprovement):
    """EI over the highest observation, luck included, instead of the highest posterior mean."""

    def score(self, model: Surrogate) -> tuple[Score, str]:
        return log_expected_improvement(float(model.y.max())), "largest log expected improvement"


class LuckyProbabilityOfImprovement(ProbabilityOfImprovement):
    """PI over the highest observation."""

    def score(self, model: Surrogate) -> tuple[Score, str]:
        return log_probability_of_improvement(float(model.y.max()) + self.xi), "largest log probability"


@dataclass(frozen=True, kw_only=True)
class PlainRestarts(Method):
    """A method whose acquisition is maximised as the appendix says: L-BFGS from 10 uniform points, nothing else.

    EI and PI are taken as they are, not by their logarithms: both are 0 in double precision, and flat, over much of the
    cube.
    """

    facts: ClassVar[MethodFacts] = MethodFacts("Plain restarts", "the LP-GP-UCB paper", "nothing")

    inner: ModelBased

    def start(self, domain: Domain, seed: int) -> PlainRestartsSearch:
        return PlainRestartsSearch(self.inner, domain, seed)


class PlainRestartsSearch(ModelSearch):
    """The search of `PlainRestarts`; nothing pending."""

    def decide(self, number: int, pending: Array) -> Proposal:  # noqa: ARG002  # one trial at a time here
        from scipy.optimize import minimize

        gp, score = self.model.gp, plain_score(self.method, self.model)

        def downhill(x: Array) -> tuple[float, Array]:
            at = gp.predict_with_gradients(x[None, :])
            assert at.mean_gradient is not None
            assert at.deviation_gradient is not None
            value, in_mean, in_deviation = score(at.mean, at.deviation)
            return -float(value[0]), -(in_mean[0] * at.mean_gradient[0] + in_deviation[0] * at.deviation_gradient[0])

        starts = generator(self.seed, number, _RESTART_STREAM).random((_RESTARTS, self.dimension))
        bounds = [(0.0, 1.0)] * self.dimension
        ends = [minimize(downhill, start, jac=True, method="L-BFGS-B", bounds=bounds) for start in starts]
        best = min(ends, key=lambda end: float(end.fun))
        return Proposal(np.clip(np.asarray(best.x, dtype=np.float64), 0.0, 1.0), "best of 10 restarts")


def plain_score(method: ModelBased, model: Surrogate) -> Score:
    """Return EI or PI themselves, with their slopes; any other method's own score."""
    match method:
        case ExpectedImprovement():
            target = model.best_mean()
        case ProbabilityOfImprovement(xi=xi):
            target = model.best_mean() + xi
        case _:
            return method.score(model)[0]

    def score(mean: Array, deviation: Array) -> tuple[Array, Array, Array]:
        from scipy.special import ndtr

        z = (mean - target) / deviation
        density, below = np.exp(-0.5 * z**2) / sqrt(2 * pi), np.asarray(ndtr(z))
        if isinstance(method, ExpectedImprovement):
            return deviation * (density + z * below), below, density
        return below, density / deviation, -z * density / deviation

    return score


Build = Callable[[int], Method]


def _options(method: Method) -> dict[str, Any]:
    return {option.name: getattr(method, option.name) for option in fields(method)}  # type: ignore[arg-type]


def _set(name: str, **changes: Any) -> Build:
    """The preset called `name` with other options; for LP0, of `OpenLP0`."""
    if name == "LP0":
        return lambda n: OpenLP0(budget=n, **changes)
    return lambda n: replace(paper_preset(name, n), **changes)  # type: ignore[type-var]


def _as(form: Callable[..., Method], name: str, **changes: Any) -> Build:
    """The preset called `name` as another class."""
    return lambda n: form(**_options(paper_preset(name, n)), **changes)


def _plain(name: str) -> Build:
    """The preset called `name` with the acquisition maximised from 10 uniform points."""

    def build(n: int) -> Method:
        inner = paper_preset(name, n)
        assert isinstance(inner, ModelBased)
        return PlainRestarts(inner=inner)

    return build


def _for(names: Sequence[str], **changes: Any) -> dict[str, Build]:
    return {name: _set(name, **changes) for name in names}


FIVE, _BANDS = (*CLAIMED, *RIVALS), ("LP0", "Heuristic", "IGPUCB")

VARIANTS: dict[str, dict[str, Build]] = {
    "length-scale .2": _for(FIVE, kernel=Matern(2.5, 0.2)),
    "length-scale .5": _for(FIVE, kernel=Matern(2.5, 0.5)),
    "length-scale 1": _for(FIVE, kernel=Matern(2.5, 1.0)),
    "length-scale and units learned again at 10, 20, 40, 80": _for(FIVE, kernel=Learned(refit_every="doubling")),
    "values as they are": _for(FIVE, standardise=False),
    "lambda the other way round": {
        "LP0": _set("LP0", noise_regulariser=True),
        "Heuristic": _as(OpenHeuristic, "Heuristic", igp_regulariser=True),
        "IGPUCB": _as(CustomaryIGPUCB, "IGPUCB"),
    },
    "B = 2": _for(_BANDS, norm_bound=2.0),
    "threshold halved": _for(("LP0",), threshold_scale=0.5),
    "threshold doubled": _for(("LP0",), threshold_scale=2.0),
    "threshold 0": _for(("LP0",), threshold_scale=0.0),
    "b without sigma": {
        "LP0": _set("LP0", sigma_in_b=False),
        "Heuristic": _as(OpenHeuristic, "Heuristic", sigma_in_b=False),
    },
    "the kernel's modulus for L": _for(CLAIMED, holder=None),
    "uniform point of the cell": _for(("LP0",), uniform=True),
    "cells halved from the last axis": _for(("LP0",), from_last_axis=True),
    "Algorithm 1 as printed": _for(("LP0",), as_printed=True),
    "Recommend as printed": _for(("LP0",), printed_recommendation=True),
    "10 plain restarts": {name: _plain(name) for name in RIVALS},
    "improvement over the highest observation": {
        "ExpectedImprovement": _as(LuckyExpectedImprovement, "ExpectedImprovement"),
        "ProbabilityOfImprovement": _as(LuckyProbabilityOfImprovement, "ProbabilityOfImprovement"),
    },
}
