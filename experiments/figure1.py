"""Figure 1 of the paper: do LP0 and Heuristic find higher points of the 8-dimensional sums than EI, PI and IGP-UCB?

    python experiments/figure1.py [--smoke] [--runs 20] [--workers 2] [--report] [--part figure|diagnostics]

f(x) = sum_i c_i g(x[2i-1:2i]), c = 1, .1, .1, .1, n = 100, observation noise .1, the methods as `paper_preset` has
them, 20 seeds. Runs are paired: for one seed all methods have the same noise in trial i and, but for Quadrat's default
method, which begins in its own way, the same 5 uniform points first. Kept in
experiments/results/figure1.jsonl: regret after 5, 6, ..., 10, 15, ..., 100 evaluations,

    evaluated     f* - the highest f among the points evaluated, noise left out
    recommended   f* - f(the point that the method recommends)
    luckiest      f* - f(the point with the highest observation)
    observed      f* - the highest observation, noise included: it can be negative

"Best function value" in the paper may be any but the second. `ordering` says whether its claim holds of the medians.

The second part, kept in figure1_diagnostics.jsonl, changes one choice at a time and tells which decides the order: 6
seeds, final regrets only. `VARIANTS` names them.

What the paper leaves open, and what is done here: the unit of g (standardised over the square, so that noise of .1
means the same for all), whether Goldstein is taken in logarithms (both: goldstein8 is, goldstein8_raw is not), n (100),
the number of repetitions, and what `quadrat.methods.preset` lists: above all the units of values, the range of
length-scales and how the 10 restarts of L-BFGS are started.
"""

from __future__ import annotations

from grid import Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from math import log, pi, sqrt
from typing import Any, ClassVar

import numpy as np

import quadrat as qd
from quadrat import problems
from quadrat.arrays import Array
from quadrat.confidence import Assumptions, ChowdhuryGopalanBand, UserHolder
from quadrat.gp import GaussianProcess, Observations
from quadrat.kernels import Kernel, Matern
from quadrat.methods import registry
from quadrat.methods.acquisition import Score, log_expected_improvement, log_probability_of_improvement
from quadrat.methods.base import Guess, Method, MethodFacts, Proposal, Search, Told
from quadrat.methods.heuristic import Heuristic, HeuristicSearch
from quadrat.methods.igp_ucb import IGPUCB
from quadrat.methods.improvement import ExpectedImprovement, ProbabilityOfImprovement
from quadrat.methods.lp_cells import CellBounds
from quadrat.methods.lp_gp_ucb import LP0, information_gain
from quadrat.methods.lp_search import CellLoop
from quadrat.methods.preset import PAPER_METHODS, paper_preset
from quadrat.methods.surrogate import Learned, ModelBased, ModelSearch, Surrogate, learn_kernel
from quadrat.partition import from_regression_tree
from quadrat.randomness import generator

PROBLEMS = ("branin8", "goldstein8", "goldstein8_raw")
CLAIMED = ("LP0", "Heuristic")
RIVALS = ("IGPUCB", "ExpectedImprovement", "ProbabilityOfImprovement")
METHODS = (*CLAIMED, *RIVALS, "RandomSearch", "default")
QUANTITIES = ("evaluated", "recommended", "luckiest", "observed")
N, NOISE, INITIAL, DELTA = 100, 0.1, 5, 0.001
DIAGNOSTIC_RUNS = 6
PRESET = "as in the preset"
_NOISE_STREAM, _UNIFORM_STREAM, _RESTART_STREAM, _TREE_STREAM, _LEAF_STREAM = 50, 51, 52, 53, 54
_HOLDER = UserHolder(sqrt(2), 1.0)  # L and alpha of the paper's experiments
_RESTARTS = 10  # appendix "Details of Experiments"


# --- one run


def checkpoints(n: int) -> list[int]:
    """Evaluation counts at which regret is kept: 5, 6, ..., 10, 15, 20, ..., and n itself."""
    return sorted({t for t in (*range(INITIAL, 10), *range(10, n + 1, 5), n) if t <= n})


@dataclass(frozen=True)
class Track:
    """What one run did: points (n, D), their observations (n,), and the points recommended at the checkpoints."""

    points: Array
    observed: Array
    recommended: Array


def follow(method: Method | None, problem: problems.Problem, seed: int, n: int, after: Sequence[int]) -> Track:
    """Run a method for n evaluations and ask for its recommendation after each of the counts in `after`.

    None is the optimizer's default method.
    """
    names = [f"x{axis + 1}" for axis in range(problem.dimension)]
    space = qd.Space(**{name: qd.Float(0.0, 1.0) for name in names})
    optimizer = qd.Optimizer(space, direction="maximize", method=method, seed=seed)

    def point(params: Mapping[str, Any]) -> Array:
        return np.array([params[name] for name in names], dtype=np.float64)

    points, observed, recommended = [], [], []
    for i in range(n):
        trial = optimizer.ask()
        points.append(point(trial.params))
        observed.append(float(problem(points[-1])) + NOISE * float(generator(seed, i, _NOISE_STREAM).normal()))
        optimizer.tell(trial, observed[-1])
        if i + 1 in after:
            recommended.append(point(optimizer.recommend().params))
    return Track(np.array(points), np.array(observed), np.array(recommended))


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """One run of the figure; every list of regrets has an entry for each of `checkpoints(n)`.

    "lengthscale" is the most likely one for this run's first 5 observations: what the paper's methods go on with.
    """
    if method in PAPER_METHODS:
        chosen: Method | None = paper_preset(method, n)
    else:
        chosen = None if method == "default" else registry.get(method)
    task, after = problems.get(problem), checkpoints(n)
    track = follow(chosen, task, seed, n, after)
    trace = problems.RegretTrace.of(task, track.points, observed=track.observed)
    assert task.optimal_value is not None
    assert trace.best_observed is not None
    at = np.array(after) - 1
    first, values = track.points[:INITIAL], track.observed[:INITIAL]
    spread = float(np.std(values))
    data = Observations.merge(first, (values - np.mean(values)) / spread, (NOISE / spread) ** 2)
    return {
        "evaluated": _digits(trace.best_evaluated[at]),
        "recommended": _digits(problems.regrets(task, track.recommended)),
        "luckiest": _digits(trace.best_observed[at]),
        "observed": _digits(task.optimal_value - np.maximum.accumulate(track.observed)[at]),
        "lengthscale": _digits(np.asarray(learn_kernel(Learned(), data).lengthscales))[0],
    }


def _digits(values: Array) -> list[float]:
    """Six significant digits, so that result files stay small."""
    return [float(f"{value:.6g}") for value in np.ravel(values)]


# --- what changes in the diagnostics: LP0 taken apart


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

    def start(self, dimension: int, seed: int) -> OpenLP0Search:
        return OpenLP0Search(self, dimension, seed)

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
        method = LP0(
            kernel=kernel, norm_bound=self.norm_bound, noise=noise, budget=self.budget, delta=DELTA,
            holder=self.holder, as_printed=True, max_cells=4096,
        )  # fmt: skip
        return method.start(dimension, seed)


class OpenLP0Search(Search):
    """Uniform points first; then the loop of Algorithm 1 in model units, begun anew whenever the kernel is learned."""

    def __init__(self, method: OpenLP0, dimension: int, seed: int) -> None:
        self.method, self.dimension, self.seed = method, dimension, seed
        self.told: list[Told] = []
        self.kernel: Kernel | None = None
        self.shift, self.scale = 0.0, 1.0
        self.inner: CellLoop | Search | None = None
        self.belief: GaussianProcess
        self.least: tuple[float, Array] | None = None  # xi of Recommend, and the point where it is attained

    def ask(self, number: int, pending: Array) -> Proposal:
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

    def tell(self, told: Told) -> None:
        self.told.append(told)
        form = self.method.kernel
        if form.due(len(self.told), INITIAL) if isinstance(form, Learned) else len(self.told) == INITIAL:
            self.begin()
        elif self.inner is not None:
            self.absorb(told)

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

    def absorb(self, told: Told) -> None:
        """Pass one trial on, in model units."""
        values = (told.values - self.shift) / self.scale
        if isinstance(self.inner, CellLoop):
            self.inner.cells.add(self.turn(told.x), values)
        elif self.inner is not None:
            self.inner.tell(replace(told, values=values))
        self.belief.add(np.repeat(told.x[None], len(values), axis=0), values)

    def recommend(self) -> Guess:
        if self.inner is None:
            best = max(self.told, key=lambda told: float(told.values[0]))
            return Guess(best.x, float(best.values[0]))
        if self.method.printed_recommendation:
            assert isinstance(self.inner, CellLoop)
            return self.recommend_as_printed(self.inner.cells)
        means = self.belief.predict_mean(self.belief.x)
        best_row = int(np.argmax(means))
        return Guess(self.belief.x[best_row].copy(), float(means[best_row]) * self.scale + self.shift)

    def recommend_as_printed(self, cells: CellBounds) -> Guess:
        """Definition of Recommend, with omega(diam E) for L (sqrt(D) r_E)^alpha_1."""
        leaves = cells.tree.leaves()
        smallest = int(leaves[np.argmin([cells.variation(int(leaf)) for leaf in leaves])])
        if self.least is None or cells.variation(smallest) <= self.least[0]:
            point = cells.tree.cell(smallest).centre
        else:
            point = self.least[1]
        point = self.turn(point)
        return Guess(point, float(self.belief.predict_mean(point[None])[0]) * self.scale + self.shift)


# --- what changes in the diagnostics: the other methods


@dataclass(frozen=True, kw_only=True)
class OpenHeuristic(Heuristic):
    """Heuristic with lambda = 1 + 2/n in its posterior, or with the main text's b, which has no sigma."""

    igp_regulariser: bool = False
    sigma_in_b: bool = True

    def regulariser(self, noise_variance: float) -> float:
        return 1 + 2 / self.budget if self.igp_regulariser else noise_variance

    def start(self, dimension: int, seed: int) -> HeuristicSearch:
        return (HeuristicSearch if self.sigma_in_b else PlainAveragesSearch)(self, dimension, seed)


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

    def start(self, dimension: int, seed: int) -> PlainRestartsSearch:
        return PlainRestartsSearch(self.inner, dimension, seed)


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


_FIVE, _BANDS = (*CLAIMED, *RIVALS), ("LP0", "Heuristic", "IGPUCB")

VARIANTS: dict[str, dict[str, Build]] = {
    "length-scale .2": _for(_FIVE, kernel=Matern(2.5, 0.2)),
    "length-scale .5": _for(_FIVE, kernel=Matern(2.5, 0.5)),
    "length-scale 1": _for(_FIVE, kernel=Matern(2.5, 1.0)),
    "length-scale and units learned again at 10, 20, 40, 80": _for(_FIVE, kernel=Learned(refit_every="doubling")),
    "values as they are": _for(_FIVE, standardise=False),
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


def run_variant(variant: str, method: str, problem: str, seed: int, n: int) -> Row:
    """One run of the diagnostics: the final regrets of a method with one choice changed."""
    task = problems.get(problem)
    track = follow(VARIANTS[variant][method](n), task, seed, n, [n])
    trace = problems.RegretTrace.of(task, track.points, observed=track.observed)
    assert trace.best_observed is not None
    last = [trace.best_evaluated[-1], problems.regrets(task, track.recommended)[0], trace.best_observed[-1]]
    return dict(zip(("evaluated", "recommended", "luckiest"), _digits(np.array(last)), strict=True))


# --- what the rows say


def curves(rows: Sequence[Row], problem: str, method: str, quantity: str) -> tuple[Array, Array, Array, Array]:
    """Return what the figure draws: evaluation counts, lower quartile, median and upper quartile, each shape (m,).

    Parameters
    ----------
    rows
        Of `run`, all with the same n.
    problem, method
        Of `PROBLEMS` and `METHODS`.
    quantity
        Of `QUANTITIES`: a regret, in standard deviations of g.
    """
    group = [row for row in rows if (row["problem"], row["method"]) == (problem, method)]
    if not group:
        none = np.empty(0)
        return none, none, none, none
    low, middle, high = np.quantile([_numbers(row[quantity]) for row in group], [0.25, 0.5, 0.75], axis=0)
    return np.array(checkpoints(int(str(group[0]["n"]))), dtype=np.float64), low, middle, high


def finals(rows: Sequence[Row], problem: str, method: str, quantity: str) -> dict[int, float]:
    """Return the regret at the end of every run, by seed."""
    return {
        int(str(row["seed"])): _numbers(row[quantity])[-1]
        for row in rows
        if (row["problem"], row["method"]) == (problem, method)
    }


def _numbers(entry: object) -> list[float]:
    return [float(value) for value in entry] if isinstance(entry, list) else [float(str(entry))]


@dataclass(frozen=True)
class Standing:
    """Where a method of the paper's claim ends, in the median.

    Attributes
    ----------
    problem, quantity, method
        What is compared: a quantity of `QUANTITIES`, a method of `CLAIMED`.
    median
        Its median final regret.
    ahead_of, behind
        The rivals with a larger median regret, and the others.
    """

    problem: str
    quantity: str
    method: str
    median: float
    ahead_of: tuple[str, ...]
    behind: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether it ends above EI, PI and IGP-UCB, as in the paper."""
        return not self.behind


def ordering(rows: Sequence[Row], quantities: Sequence[str] = ("evaluated", "recommended")) -> list[Standing]:
    """Return, for every problem, whether LP0 and Heuristic end above EI, PI and IGP-UCB in the median."""
    found = []
    for problem, quantity in product(PROBLEMS, quantities):
        medians = _medians(rows, problem, quantity)
        found += [
            _standing(problem, quantity, method, medians)
            for method in CLAIMED
            if method in medians and set(RIVALS) <= set(medians)
        ]
    return found


def _medians(rows: Sequence[Row], problem: str, quantity: str) -> dict[str, float]:
    regrets = {method: list(finals(rows, problem, method, quantity).values()) for method in METHODS}
    return {method: float(np.median(values)) for method, values in regrets.items() if values}


def _standing(problem: str, quantity: str, method: str, medians: Mapping[str, float]) -> Standing:
    ahead = tuple(rival for rival in RIVALS if medians[method] < medians[rival])
    behind = tuple(rival for rival in RIVALS if rival not in ahead)
    return Standing(problem, quantity, method, medians[method], ahead, behind)


def report(rows: Sequence[Row]) -> str:
    """A Markdown table a problem: regrets at the end, and LP0 and Heuristic against each method, seed by seed."""
    present = [problem for problem in PROBLEMS if any(row["problem"] == problem for row in rows)]
    return "\n\n".join([*(table(rows, problem) for problem in present), ordering_table(rows)])


def table(rows: Sequence[Row], problem: str) -> str:
    """One problem: median regret (quartiles); then the median of the paired differences and in how many seeds < 0."""
    shown = ("evaluated", "recommended")
    heads = ["best evaluated", "recommended", *(f"{one} less it, {two}" for one, two in product(CLAIMED, shown))]
    lines = [f"| {problem} | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for method in METHODS:
        regrets = {quantity: finals(rows, problem, method, quantity) for quantity in shown}
        if not regrets["evaluated"]:
            continue
        cells = [_quartiles(list(regrets[quantity].values())) for quantity in shown]
        for one, quantity in product(CLAIMED, shown):
            mine, its = finals(rows, problem, one, quantity), regrets[quantity]
            differences = [mine[seed] - its[seed] for seed in sorted(set(mine) & set(its))]
            cells.append("" if one == method else _paired(differences))
        lines.append(f"| {_label(method)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _quartiles(values: Sequence[float]) -> str:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"


def _paired(differences: Sequence[float]) -> str:
    if not differences:
        return ""
    below = sum(difference < 0 for difference in differences)
    return f"{np.median(differences):+.2g} ({below} of {len(differences)})"


def _label(method: str) -> str:
    return {"ExpectedImprovement": "EI", "ProbabilityOfImprovement": "PI", "default": "Quadrat's default"}.get(
        method, method
    )


def _names(methods: Sequence[str]) -> str:
    return ", ".join(_label(method) for method in methods) or "none"


def ordering_table(rows: Sequence[Row]) -> str:
    """`ordering` as a Markdown table."""
    lines = ["| problem | by | method | ends above | not above | as in the paper |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {found.problem} | {found.quantity} | {found.method} | {_names(found.ahead_of)} | {_names(found.behind)}"
        f" | {'yes' if found.holds else 'no'} |"
        for found in ordering(rows)
    ]
    return "\n".join(lines)


def diagnosed(rows: Sequence[Row], figure: Sequence[Row], quantity: str) -> dict[str, list[Standing]]:
    """Return by variant, the preset first, where LP0 and Heuristic stand when that one choice is changed.

    Methods that the choice does not touch keep their runs of the figure; of those, only seeds that the diagnostics have
    are counted.

    Parameters
    ----------
    rows
        Of `run_variant`.
    figure
        Of `run`, with the same n.
    quantity
        "evaluated", "recommended" or "luckiest".
    """
    found: dict[str, list[Standing]] = {}
    for variant in (PRESET, *VARIANTS):
        for problem in PROBLEMS:
            medians = _changed_medians(rows, figure, variant, problem, quantity)
            if set(_FIVE) <= set(medians) and (variant == PRESET or any(row["variant"] == variant for row in rows)):
                found.setdefault(variant, []).extend(
                    _standing(problem, quantity, method, medians) for method in CLAIMED
                )
    return found


def _changed_medians(
    rows: Sequence[Row], figure: Sequence[Row], variant: str, problem: str, quantity: str
) -> dict[str, float]:
    seeds = {row["seed"] for row in rows}
    changed = [row for row in rows if row["variant"] == variant]
    base = [row for row in figure if row["seed"] in seeds]
    return _medians(base, problem, quantity) | _medians(changed, problem, quantity)


def diagnostic_table(rows: Sequence[Row], figure: Sequence[Row], problem: str, quantity: str) -> str:
    """One problem as a Markdown table: median final regrets by choice, in bold where the choice changes the method.

    The last two columns name the rivals that LP0 and Heuristic end above; an arrow marks a claim that flips.
    """
    heads = [_label(method) for method in _FIVE] + [f"{method} ends above" for method in CLAIMED]
    lines = [f"| {problem}, {quantity} | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    standings = diagnosed(rows, figure, quantity)
    preset = {found.method: found.holds for found in standings.get(PRESET, []) if found.problem == problem}
    for variant, found in standings.items():
        medians = _changed_medians(rows, figure, variant, problem, quantity)
        touched = VARIANTS.get(variant, {})
        cells = [f"**{medians[name]:.3g}**" if name in touched else f"{medians[name]:.3g}" for name in _FIVE]
        for one in found:
            if one.problem == problem:
                named = "all three" if one.holds else _names(one.ahead_of)
                cells.append(f"→ {named}" if one.holds != preset[one.method] else named)
        lines.append(f"| {variant} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def diagnostic_report(rows: Sequence[Row], figure: Sequence[Row]) -> str:
    """`diagnostic_table` for every problem, by best evaluated, recommended and best observed point."""
    present = [problem for problem in PROBLEMS if any(row["problem"] == problem for row in rows)]
    wanted = product(present, ("evaluated", "recommended", "luckiest"))
    return "\n\n".join(diagnostic_table(rows, figure, problem, quantity) for problem, quantity in wanted)


# --- the grid


def figure_cells(runs: int, n: int = N, names: Sequence[str] = PROBLEMS) -> list[Row]:
    """The grid of the figure."""
    return [
        {"method": method, "problem": problem, "seed": seed, "n": n}
        for seed, problem, method in product(range(runs), names, METHODS)
    ]


def diagnostic_cells(runs: int, n: int = N, names: Sequence[str] = PROBLEMS) -> list[Row]:
    """The grid of the diagnostics."""
    return [
        {"variant": variant, "method": method, "problem": problem, "seed": seed, "n": n}
        for seed, problem in product(range(runs), names)
        for variant, methods in VARIANTS.items()
        for method in methods
    ]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20, settings=("part",))
    parts = ("figure", "diagnostics") if chosen.part is None else (chosen.part,)
    if chosen.smoke:
        rows = run_here(run, figure_cells(1, 6, PROBLEMS[:1]))
        variants = run_here(run_variant, diagnostic_cells(1, 6, PROBLEMS[:1]))
    elif chosen.report:
        rows, variants = finished("figure1"), finished("figure1_diagnostics")
    else:
        rows, variants = finished("figure1"), finished("figure1_diagnostics")
        if "figure" in parts:
            rows = complete("figure1", run, figure_cells(chosen.runs), chosen.workers)
        if "diagnostics" in parts:
            cells = diagnostic_cells(min(chosen.runs, DIAGNOSTIC_RUNS))
            variants = complete("figure1_diagnostics", run_variant, cells, chosen.workers)
    print(report(rows))
    print()
    print(diagnostic_report(variants, rows))


if __name__ == "__main__":
    main()
