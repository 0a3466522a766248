"""The interval score of 90 % intervals: ours against those of BoTorch's and Optuna's own posteriors, on the same data.

    .venv-peers/bin/python benchmarks/interval_score.py [--seeds 0-4] [--workers 1] [--smoke] [--write]

The functions of benchmarks/honesty.py but for the spike, with noise of half their standard deviation; 12, 25 and 50
trials, which the default method chose or which are uniform. Each model states an interval of f at the evaluated point
that it recommends, which is the one of its highest posterior mean, and at the one that ours recommends. The score is
the width, plus 20 times the distance by which f lies outside (Gneiting and Raftery 2007, eq. 43): lower is better, and
no interval scores better on average than that of the truth. Units are the function's standard deviation.

BoTorch is SingleTaskGP as it comes, fitted by fit_gpytorch_mll; Optuna's is that of GPSampler, by its own fit. Both
are normal posteriors of f without noise. Seeds are even. --write updates benchmarks/results/interval_score.md.
"""

from __future__ import annotations

from timing import ROOT, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

import argparse
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from typing import NamedTuple, TypeAlias

import numpy as np
from honesty import Cell, cells, scaled

from quadrat._core.arrays import Array
from quadrat.methods.auto.method import Auto
from quadrat.methods.base import Domain, Observation
from quadrat.randomness import generator

NOISE, SIZES, LEVEL = 0.5, (12, 25, 50), 0.9
NORMAL = 1.6448536269514722  # half the width of a 90 % interval, in standard deviations
KINDS = ("searched", "uniform")
_NOISE, _POINTS = 73, 74  # name the streams

Posterior: TypeAlias = Callable[[Array, Array], tuple[Array, Array]]
"""From points (n, D) and values (n,) to means and standard deviations of f at the points, each (n,)."""


class Stated(NamedTuple):
    """A statement: by whom, of which point, on which data; its interval's score, and whether it held."""

    model: str
    point: str
    kind: str
    dimension: int
    n: int
    score: float
    holds: bool


def interval_score(low: float, high: float, truth: float, level: float = LEVEL) -> float:
    """Return the interval score: the width, plus 2 / (1 - level) times the distance of the truth to the interval."""
    return high - low + 2 / (1 - level) * (max(low - truth, 0.0) + max(truth - high, 0.0))


def botorch(x: Array, y: Array) -> tuple[Array, Array]:
    """Return BoTorch's posterior at the points."""
    import torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(1)
    points = torch.tensor(x).double()
    model = SingleTaskGP(points, torch.tensor(y).double().unsqueeze(-1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    with torch.no_grad():
        found = model.posterior(points)
        return found.mean.numpy()[:, 0], found.variance.numpy()[:, 0] ** 0.5


def optuna_gp(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the posterior of Optuna's GPSampler at the points."""
    import torch
    from optuna._gp import gp, prior

    torch.set_num_threads(1)
    middle, spread = float(y.mean()), max(float(y.std()), 1e-10)
    model = gp.fit_kernel_params(
        X=x,
        Y=(y - middle) / spread,
        is_categorical=np.zeros(x.shape[1], dtype=bool),
        log_prior=prior.default_log_prior,
        minimum_noise=prior.DEFAULT_MINIMUM_NOISE_VAR,
        deterministic_objective=False,
    )
    with torch.no_grad():
        mean, variance = model.posterior(torch.tensor(x).double())
    return middle + spread * mean.numpy(), spread * variance.numpy() ** 0.5


PEERS: dict[str, tuple[str, Posterior]] = {"BoTorch": ("botorch", botorch), "Optuna GP": ("optuna", optuna_gp)}


def run(cell: Cell, most: int = SIZES[-1]) -> list[Stated]:
    """Return the statements of all models on both kinds of data."""
    warnings.filterwarnings("ignore")
    f, _ = scaled(cell)
    found = []
    for kind in KINDS:
        rng = generator(cell.seed, cell.dimension, KINDS.index(kind), _NOISE)
        uniform = generator(cell.seed, cell.dimension, _POINTS)
        search = Auto().start(Domain.cube(cell.dimension), cell.seed)
        x, y = np.empty((0, cell.dimension)), np.empty(0)
        for number in range(most):
            at = uniform.random(cell.dimension) if kind == "uniform" else search.ask(number, x[:0]).x
            value = float(f(at[None, :])[0]) + cell.noise * float(rng.standard_normal())
            search.tell(Observation(number, at, np.array([value])))
            x, y = np.vstack([x, at]), np.append(y, value)
            if len(y) not in SIZES:
                continue
            ours = search.recommend()
            assert ours.distribution is not None
            truth = f(x)
            at_ours = int(np.flatnonzero((x == ours.x).all(axis=1))[0])
            low, high = ours.distribution.interval(LEVEL)
            intervals = [("Quadrat", "own", at_ours, low, high), ("Quadrat", "ours", at_ours, low, high)]
            for model, (module, posterior) in PEERS.items():
                if find_spec(module) and find_spec("torch"):
                    mean, deviation = posterior(x, y)
                    for point, at_row in (("own", int(np.argmax(mean))), ("ours", at_ours)):
                        reach = NORMAL * float(deviation[at_row])
                        intervals.append((model, point, at_row, mean[at_row] - reach, mean[at_row] + reach))
            for model, point, row, low, high in intervals:
                score = interval_score(low, high, float(truth[row]))
                holds = bool(low <= truth[row] <= high)
                found.append(Stated(model, point, kind, cell.dimension, len(y), float(score), holds))
    return found


def report(found: Sequence[Stated]) -> str:
    """Return the tables: mean scores, with two standard errors, and how often intervals hold."""
    parts = []
    for point, title in (
        ("own", "At the point that each recommends"),
        ("ours", "At the point that Quadrat recommends"),
    ):
        some = [one for one in found if one.point == point]
        models = list(dict.fromkeys(one.model for one in some))
        head = ("data", "statements", *(f"{model}: {what}" for model in models for what in ("score", "90 % holds")))
        groups: list[tuple[str, list[Stated]]] = [("all", some)]
        groups += [(kind, [one for one in some if one.kind == kind]) for kind in KINDS]
        groups += [(f"n = {n}", [one for one in some if one.n == n]) for n in SIZES]
        groups += [
            (f"D = {d}", [one for one in some if one.dimension == d]) for d in sorted({s.dimension for s in some})
        ]
        lines = [
            (
                name,
                str(sum(one.model == models[0] for one in of)),
                *(cell for model in models for cell in _cells([one for one in of if one.model == model])),
            )
            for name, of in groups
            if of
        ]
        parts.append(f"## {title}\n\n{table(head, lines)}")
    return "\n\n".join(parts)


def _cells(some: Sequence[Stated]) -> tuple[str, str]:
    scores = np.array([one.score for one in some])
    error = 2 * scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else 0.0
    return f"{scores.mean():.2f} +- {error:.2f}", f"{100 * np.mean([one.holds for one in some]):.0f} %"


def main() -> None:
    """Read the command line, run, print and keep the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", default="0-4", help="such as 0-4: the even ones of these")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--smoke", action="store_true", help="one function, 12 trials")
    parser.add_argument("--write", action="store_true", help="write the tables to benchmarks/results")
    given = parser.parse_args()
    if given.smoke:
        print(report(run(Cell("sine", 2, NOISE, 1, "one at a time"), SIZES[0])))
        return
    first, last = (int(part) for part in given.seeds.split("-"))
    asked = [c for c in cells(range(first, last + 1, 2), [NOISE], ["one at a time"]) if c.function != "spike"]
    with ProcessPoolExecutor(given.workers) as pool:
        found = [one for some in pool.map(run, asked) for one in some]
    measured = f"seeds {given.seeds}, even ones; means with two standard errors; lower is better"
    publish("interval_score", "Interval score at noise .5", report(found), write=given.write, measured=measured)


if __name__ == "__main__":
    main()
