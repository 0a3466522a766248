"""What batches cost: eight points at a time against one, with the same number of evaluations.

    python experiments/batches.py [--smoke] [--runs 20] [--workers 2] [--report]

n = 160 evaluations with Gaussian noise of .1, one at a time or in 20 batches: ask 8, evaluate, tell 8. Problems:

- Hartmann 6, standardised as in the catalogue;
- bumpy, D = 2, and rough, D = 3: draws of norm exactly 1 from the RKHS of Matérn 5/2 with length-scale .3, a new
  function for every seed.

Methods, each in batches against its sequential form on the same seeds (same function, same noise by number of trial):

- GP-BUCB (C = 0) and GP-UCB-PE (region_scale = .05) against GP-UCB. All three have the finite schedule with 1,000 arms,
  delta = .001, and beta divided by 5. On draws they are given the kernel, on Hartmann 6 they learn it again whenever
  the number of trials has doubled. "As proved" are the forms of the theorems, for comparison, on the first five seeds:
  C the information of the pending points, region_scale = 1.
- LP-GP-UCB with k = 1, delta = .05, B = 1 against itself. On draws it is given the kernel and certifies; on Hartmann 6
  it learns the kernel from the first five trials and certifies nothing.

A run records the simple regret of the recommended point. Ratios are geometric means over seeds; a regret below .001, a
hundredth of the noise, counts as .001. Runs of LP-GP-UCB on draws check after every batch, or every eighth trial, that
the certificate is at least the true regret of its point; one in which the data reject the (true) assumptions counts as
failed. Finished runs are kept as JSON lines in experiments/results/batches.jsonl and not run again; --report prints the
tables from that file alone.
"""

from __future__ import annotations

from grid import Cell, Row, complete, finished, options, run_here  # isort: skip  # sets the number of BLAS threads

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

import numpy as np
from paired import pairs_of, ratio, words

import problems
import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.confidence import Certificate
from quadrat.kernels import Kernel
from quadrat.methods.base import Domain, Method, Observation
from quadrat.methods.lp.method import LPGPUCB
from quadrat.methods.surrogate import Learned
from quadrat.methods.ucb.gp_bucb import GPBUCB
from quadrat.methods.ucb.gp_ucb import GPUCB
from quadrat.methods.ucb.gp_ucb_pe import GPUCBPE
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL, NOISE, DELTA, N, BATCH = qd.Matern(2.5, 0.3), 0.1, 0.05, 160, 8
SCALE, REGION_SCALE = 0.2, 0.05
PROBLEMS = ("hartmann6", "bumpy, D = 2", "rough, D = 3")
SEQUENTIAL = {  # method in batches: what it is held against
    "GPBUCB": "GPUCB",
    "GPUCBPE": "GPUCB",
    "LPGPUCB": "LPGPUCB",
    "GPBUCB as proved": "GPUCB",
    "GPUCBPE as proved": "GPUCB",
}
KINDS = (("GPUCB", 1), ("LPGPUCB", 1), *((method, BATCH) for method in SEQUENTIAL))
AS_PROVED = 5  # seeds of the forms of the theorems
ALLOWED = 1.5
LEAST = NOISE / 100


@dataclass(frozen=True)
class Objective:
    """f on the cube, from points (m, D) to values (m,), its maximum, and its kernel where that is known."""

    values: Callable[[Array], Array]
    maximum: float
    dimension: int
    kernel: Kernel | None


def objective(problem: str, seed: int) -> Objective:
    """Return the function of a seed."""
    if problem == "hartmann6":
        known = problems.get(problem)
        assert known.optimal_value is not None
        return Objective(known.values, known.optimal_value, known.dimension, None)
    dimension = int(problem[-1])
    style = "bumpy" if problem.startswith("bumpy") else "rough"
    f = draw_rkhs_function(KERNEL, dimension, norm=1.0, rng=generator(seed, dimension, 60), style=style)  # type: ignore[arg-type]  # a literal
    return Objective(f.values, f.maximum()[1], dimension, KERNEL)


def configured(method: str, kernel: Kernel | None, n: int) -> Method:
    """Return the method; a kernel of None is learned."""
    if method == "LPGPUCB":
        return LPGPUCB(kernel=kernel, norm_bound=1.0, noise=NOISE, budget=n, delta=DELTA)
    known = kernel is not None
    model = kernel if kernel is not None else Learned(refit_every="doubling")
    proved = method.endswith("as proved")
    if method.startswith("GPUCBPE"):
        region = 1.0 if proved else REGION_SCALE
        return GPUCBPE(kernel=model, noise=NOISE, standardise=not known, scale=SCALE, region_scale=region)
    if method.startswith("GPBUCB"):
        information = None if proved else 0.0
        return GPBUCB(kernel=model, noise=NOISE, standardise=not known, scale=SCALE, information=information)
    return GPUCB(kernel=model, noise=NOISE, standardise=not known, scale=SCALE)


def run(problem: str, method: str, batch: int, seed: int, n: int) -> Row:
    """One whole run."""
    f = objective(problem, seed)
    search = configured(method, f.kernel, n).start(Domain.cube(f.dimension), seed)
    held: bool | None = None
    certificate: float | None = None
    for first in range(0, n, batch):
        points: list[Array] = []
        for number in range(first, min(first + batch, n)):
            points.append(search.ask(number, np.array(points).reshape(-1, f.dimension)).x)
        values = f.values(np.array(points))
        for number, (x, value) in enumerate(zip(points, values.tolist(), strict=True), first):
            search.tell(Observation(number, x, np.array([value + NOISE * generator(seed, number, 61).normal()])))
        told = first + len(points)
        if method == "LPGPUCB" and f.kernel is not None and (told % BATCH == 0 or told == n):
            found = search.certificate(search.recommend().x)
            assert isinstance(found, Certificate)
            regret = f.maximum - float(f.values(found.point[None])[0])
            held = (True if held is None else held) and regret <= found.value  # a rejection is NaN: not held
            certificate = float(f"{found.value:.6g}") if isfinite(found.value) else None
    regret = f.maximum - float(f.values(search.recommend().x[None])[0])
    return {"regret": float(f"{regret:.6g}"), "held": held, "certificate": certificate}


def report(rows: list[Row]) -> str:
    """Two Markdown tables: what batches cost, and whether certificates held."""
    return costs(rows) + "\n\n" + certificates(rows)


def costs(rows: list[Row]) -> str:
    """A Markdown table: regrets of batches against those in sequence."""
    lines = [
        f"| batches of {BATCH} | in sequence | problem | pairs | regret in sequence | regret in batches"
        f" | ratio (95 %) | at most {ALLOWED}? |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for method, other in SEQUENTIAL.items():
        for problem in (*PROBLEMS, "all"):
            chosen = [row for row in rows if problem in (row["problem"], "all")]
            pairs = pairs_of(chosen, "regret", {"method": method, "batch": BATCH}, {"method": other, "batch": 1})
            if not pairs or (problem == "all" and len(pairs) < 2):
                continue
            estimate = ratio(pairs, LEAST)
            batches, sequence = (_geometric([value for pair in pairs for value in pair[side]]) for side in (0, 1))
            lines.append(
                f"| {method} | {other} | {problem} | {sum(len(pair[0]) for pair in pairs)} | {sequence:.4f}"
                f" | {batches:.4f} | {words(estimate)} | {'yes' if estimate[0] <= ALLOWED else 'no'} |"
            )
    return "\n".join(lines)


def _geometric(values: list[float]) -> float:
    return float(np.exp(np.log(np.maximum(values, LEAST)).mean()))


def certificates(rows: list[Row]) -> str:
    """A Markdown table: LP-GP-UCB's certificates on draws."""
    lines = [
        "| problem | batch | runs | certificate failed | allowed | median certificate | median regret |",
        "|---|---|---|---|---|---|---|",
    ]
    for problem in PROBLEMS:
        for batch in (1, BATCH):
            kind = {"problem": problem, "batch": batch, "method": "LPGPUCB"}
            group = [row for row in rows if kind.items() <= row.items() and row["held"] is not None]
            if group:
                known = [float(str(row["certificate"])) for row in group if row["certificate"] is not None]
                regrets = [float(str(row["regret"])) for row in group]
                lines.append(
                    f"| {problem} | {batch} | {len(group)} | {sum(not row['held'] for row in group)}"
                    f" | {DELTA:.0%} | {np.median(known) if known else np.nan:.3f} | {np.median(regrets):.4f} |"
                )
    return "\n".join(lines)


def cells(runs: int, n: int = N) -> list[Cell]:
    """The grid, seed by seed."""
    return [
        {"problem": problem, "method": method, "batch": batch, "seed": seed, "n": n}
        for seed in range(runs)
        for problem in PROBLEMS
        for method, batch in KINDS
        if seed < AS_PROVED or not method.endswith("as proved")
    ]


def main() -> None:
    """Run what is missing, then report."""
    chosen = options(__doc__, runs=20)
    if chosen.smoke:
        rows = run_here(run, cells(1, 2 * BATCH))
    elif chosen.report:
        rows = finished("batches")
    else:
        rows = complete("batches", run, cells(chosen.runs), chosen.workers)
    print(report(rows))


if __name__ == "__main__":
    main()
