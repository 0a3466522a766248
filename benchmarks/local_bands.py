"""What bands of cells buy LP-GP-UCB in long runs: time of a trial and the certificate, against one band for all.

    python benchmarks/local_bands.py [--smoke] [--write] [--workers 1]

local      a certified band for each cell of a dyadic family, divided when it has more than `CAPACITY` points
one band   the same search with one band of all observations

Functions of norm 1 of a Matérn 5/2 kernel, noise .1: length-scale .3 in 2 dimensions, .6 in 4. The assumptions are
true. Both searches have the same functions, the same noise in the same trials, seeds 0, 2 and 4, and 10,000 planned
evaluations. After 300, 1,000, 3,000 and 10,000 a certificate and a recommendation are asked for, which changes nothing.
A run ends when asking and telling have taken 120 CPU seconds; tables have "-" where a run did not get so far.

Runs are kept in benchmarks/results/local_bands.jsonl and not run again. --write updates
benchmarks/results/local_bands.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from regret.rows import Row, complete, read_rows, recorded, rounded, stamp

from quadrat.confidence import Assumptions, Certificate, LocalBand
from quadrat.confidence.local_band import CAPACITY
from quadrat.kernels import Kernel, Matern
from quadrat.methods.base import Domain, Observation
from quadrat.methods.lp.method import LPGPUCB, information_gain
from quadrat.methods.lp.search import CellOptions, CertifiedSearch
from quadrat.problems import RKHSFunction, draw_rkhs_function
from quadrat.randomness import generator

N, NUMBERS = 10_000, (300, 1000, 3000)  # evaluations; after which a run is looked at, besides the end
SEEDS = (0, 2, 4)
SMOKE_N, SMOKE_NUMBERS, SMOKE_CAPACITY = 40, (20,), 8
LIMIT = 120.0  # CPU seconds of a run
LAST = 100  # trials whose time is averaged
NORM, NOISE = 1.0, 0.1
LOCAL, ONE = "local", "one band"
ROWS = ROOT / "benchmarks" / "results" / "local_bands.jsonl"
_FUNCTION, _NOISE = 48, 49  # name streams


@dataclass(frozen=True)
class Setting:
    """Where functions are drawn."""

    dimension: int
    lengthscale: float

    @property
    def kernel(self) -> Kernel:
        """The kernel that they are drawn from, and that is assumed."""
        return Matern(2.5, self.lengthscale)


SETTINGS = {"matern2": Setting(2, 0.3), "matern4": Setting(4, 0.6)}


@cache
def function(problem: str, seed: int) -> tuple[RKHSFunction, float]:
    """Return f and its largest value."""
    setting = SETTINGS[problem]
    f = draw_rkhs_function(setting.kernel, setting.dimension, norm=NORM, rng=generator(seed, _FUNCTION))
    return f, f.maximum()[1]


def search(problem: str, seed: int, n: int, capacity: int | None) -> CertifiedSearch:
    """Return what `LPGPUCB` starts, with a capacity of its bands or with one band."""
    setting = SETTINGS[problem]
    method = LPGPUCB(kernel=setting.kernel, norm_bound=NORM, noise=NOISE, budget=n, degree=1, goal="regret")
    return CertifiedSearch(
        Assumptions(setting.kernel, NORM, NOISE),
        Domain.cube(setting.dimension),
        seed,
        CellOptions(
            budget=n,
            degree=method.degree,
            delta=method.delta,
            threshold=_threshold(problem, n),
            max_cells=method.max_cells,
        ),
        capacity=capacity,
    )


@cache
def _threshold(problem: str, n: int) -> float:
    """That of `LPGPUCB`."""
    setting = SETTINGS[problem]
    return information_gain(setting.kernel, n, NOISE**2, setting.dimension).value / float(np.sqrt(n))


def outcome(method: str, problem: str, seed: int, numbers: Sequence[int], capacity: int, limit: float) -> Row:
    """Run until the last of the numbers of evaluations, or until the limit of CPU seconds.

    Returns
    -------
    How many evaluations were made, in how many CPU seconds; and the curve: at each number that was reached CPU
    milliseconds of a trial (the mean of the last `LAST`), the certificate, the regret of the recommended point, whether
    the certificate held, the number of bands, and CPU seconds of the certificate.
    """
    f, best = function(problem, seed)
    run = search(problem, seed, numbers[-1], None if method == ONE else capacity)
    nothing_pending = np.empty((0, f.dimension))
    curve: dict[str, list[float]] = {}
    seconds: list[float] = []
    taken = 0.0
    while len(seconds) < numbers[-1] and taken < limit:
        number = len(seconds)
        begin = time.process_time()
        x = run.ask(number, nothing_pending).x
        asked = time.process_time() - begin
        told = Observation(number, x, np.array([float(f(x)) + NOISE * generator(seed, number, _NOISE).normal()]))
        begin = time.process_time()
        run.tell(told)
        seconds.append(asked + time.process_time() - begin)
        taken += seconds[-1]
        if len(seconds) in numbers:
            begin = time.process_time()
            certificate = run.certificate(run.recommend().x)
            to_certify = time.process_time() - begin
            if not isinstance(certificate, Certificate) or certificate.rejection is not None:
                raise RuntimeError(f"after {len(seconds)}: {certificate}")
            found = {
                "n": len(seconds),
                "ms": 1e3 * statistics.fmean(seconds[-LAST:]),
                "certificate": certificate.value,
                "regret": best - float(f(run.recommend().x)),
                "held": best - float(f(certificate.point)) <= certificate.value and best <= certificate.maximum,
                "bands": run.band.cells if isinstance(run.band, LocalBand) else 1,
                "cpu_to_certify": to_certify,
            }
            for name, figure in found.items():
                curve.setdefault(name, []).append(rounded(figure))
    return {"best": rounded(best), "evaluations": len(seconds), "cpu": rounded(taken), "curve": curve}


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """Run once."""
    return recorded((method, problem, seed, n), lambda: outcome(method, problem, seed, (*NUMBERS, n), CAPACITY, LIMIT))


def tables(rows: Sequence[Row], numbers: Sequence[int]) -> str:
    """Return a table for each setting, and how far runs got."""
    good = [row for row in rows if "error" not in row and row["n"] == numbers[-1]]
    parts = []
    for problem, setting in SETTINGS.items():
        found = {method: [row for row in good if (row["method"], row["problem"]) == (method, problem)]
                 for method in (LOCAL, ONE)}  # fmt: skip
        if all(found.values()):
            head = f"D = {setting.dimension}, length-scale {setting.lengthscale:g}: n"
            parts += [_compared(head, found[LOCAL], found[ONE], numbers), _ended(found, numbers[-1])]
    parts += [f"Left out: {row['method']}, {row['problem']}, seed {row['seed']}: {row['error']}."
              for row in rows if "error" in row]  # fmt: skip
    return "\n\n".join(part for part in parts if part)


def _compared(head: str, local: Sequence[Row], one: Sequence[Row], numbers: Sequence[int]) -> str:
    lines = []
    for n in numbers:
        seeds = sorted({row["seed"] for row in local} & {row["seed"] for row in one})
        cells = [f"{n:,}", str(len(seeds))]
        for name in ("ms", "certificate"):
            of_local, of_one = _figures(local, seeds, name, n), _figures(one, seeds, name, n)
            cells += [_median(of_local, ".3g"), _median(of_one, ".3g")]
            cells.append(
                _median([a / b for a, b in zip(of_local, of_one, strict=True)] if of_local and of_one else [], ".2f")
            )
        for rows in (local, one):
            cells.append(_median(_figures(rows, seeds, "regret", n), ".2g"))
        for rows in (local, one):
            held = _figures(rows, seeds, "held", n)
            cells.append(f"{sum(held):.0f} of {len(held)}" if held else "-")
        cells.append(_median(_figures(local, seeds, "bands", n), ".0f"))
        lines.append(tuple(cells))
    columns = (
        head, "seeds", "CPU ms a trial, local", ONE, "ratio", "certificate, local", ONE, "ratio",
        "regret, local", ONE, "certificate held, local", ONE, "bands",
    )  # fmt: skip
    return table(columns, lines)


def _figures(rows: Sequence[Row], seeds: Sequence[int], name: str, n: int) -> list[float]:
    """A figure after n evaluations, by seed; none at all where a run did not get so far."""
    by_seed = {row["seed"]: row["curve"] for row in rows}
    reached = [seed for seed in seeds if n in by_seed[seed].get("n", [])]
    return [by_seed[seed][name][by_seed[seed]["n"].index(n)] for seed in reached] if reached == [*seeds] else []


def _median(figures: Sequence[float], form: str) -> str:
    return f"{statistics.median(figures):{form}}" if figures else "-"


def _ended(found: dict[str, list[Row]], n: int) -> str:
    """Say which runs were ended early."""
    words = []
    for method, rows in found.items():
        short = sorted(row["evaluations"] for row in rows if row["evaluations"] < n)
        if short:
            words.append(f"{method}: {len(short)} of {len(rows)}, after {short[0]:,} to {short[-1]:,} evaluations")
    return f"Ended by the limit of CPU time: {'; '.join(words)}." if words else ""


def main() -> None:
    chosen = options(__doc__, workers=True)
    if chosen.smoke:
        numbers = (*SMOKE_NUMBERS, SMOKE_N)

        def tiny(method: str, problem: str) -> Callable[[], Row]:
            return lambda: outcome(method, problem, 0, numbers, SMOKE_CAPACITY, LIMIT)

        found = [
            recorded((method, problem, 0, SMOKE_N), tiny(method, problem))
            for problem in SETTINGS
            for method in (LOCAL, ONE)
        ]
        print(tables(found, numbers))
        return
    stamp(())  # before anything runs: what runs is what is on disk now
    cells = [(method, problem, seed, N) for seed in SEEDS for problem in SETTINGS for method in (LOCAL, ONE)]
    complete(ROWS, run, cells, workers=chosen.workers)
    rows: list[Row] = read_rows(ROWS)
    commits = " and ".join(sorted({row["commit"] for row in rows}))
    measured = f"medians over seeds, ratios of the same seed; one BLAS thread; rows of {commits}"
    text = tables(rows, (*NUMBERS, N))
    publish("local_bands", "Bands of cells against one band", text, write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
