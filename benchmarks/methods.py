"""Speed of the methods: LP0 against BoTorch, LP-GP-UCB at n = 5,000, and milliseconds a suggestion for all.

    python benchmarks/methods.py [--smoke] [--write]

BoTorch runs in .venv-peers (made by `make peers`); its row is left out where it is not installed. Medians, one BLAS
thread; a suggestion is one ask and one tell. --write updates benchmarks/results/methods.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import json
import subprocess
import sys
import time

import numpy as np

import problems
from problems import Problem
from quadrat.confidence import UserHolder
from quadrat.kernels import Matern
from quadrat.methods import registry
from quadrat.methods.base import Domain, Method, Observation, Search
from quadrat.methods.lp.method import LP0, LPGPUCB
from quadrat.randomness import generator

sys.path.append(str(ROOT / "experiments"))

from as_printed import PAPER_METHODS, PrintedLPGPUCB, paper_preset

PEER_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
PEER_SCRIPT = ROOT / "benchmarks" / "methods_peer.py"

# LP-GP-UCB with k = 1 in two dimensions, on its own, so that the memory of the process is its own.
LONG_RUN = """
import json, resource, time
import numpy as np
from quadrat.kernels import Matern
from quadrat.methods.base import Observation
from quadrat.methods.base import Domain
from quadrat.methods.lp.method import LPGPUCB
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator
n = {n}
kernel = Matern(2.5, 0.3)
f = draw_rkhs_function(kernel, 2, norm=1.0, rng=generator(0))
search = LPGPUCB(kernel=kernel, norm_bound=1.0, noise=0.1, budget=n, degree=1).start(Domain.cube(2), 0)
start = time.perf_counter()
for i in range(n):
    x = search.ask(i, np.empty((0, 2))).x
    search.tell(Observation(i, x, np.array([float(f(x)) + 0.1 * generator(0, i, 1).normal()])))
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
certificate = search.certificate(search.recommend().x).value
print(json.dumps([seconds, peak, len(search.band.x), certificate]))
"""


def steps(search: Search, problem: Problem, start: int, count: int) -> list[float]:
    """Seconds of each ask and tell."""
    none = np.empty((0, problem.dimension))
    times = []
    for i in range(start, start + count):
        begin = time.perf_counter()
        x = search.ask(i, none).x
        asked = time.perf_counter() - begin
        value = np.array([float(problem(x)) + 0.1 * generator(0, i, 3).normal()])
        begin = time.perf_counter()
        search.tell(Observation(i, x, value))
        times.append(asked + time.perf_counter() - begin)
    return times


def against_botorch(count: int, *, peer: bool) -> list[tuple[str, ...]]:
    """LP0 with the paper's settings (one posterior), and certified (six), beside ten suggestions of BoTorch."""
    problem = problems.get("branin8")
    forms: dict[str, Method] = {
        "the paper's settings": paper_preset("LP0", count),
        "certified": LP0(kernel=Matern(2.5, 1.0), norm_bound=5.0, noise=0.1, budget=count),
    }
    seconds = {form: sum(steps(method.start(Domain.cube(8), 0), problem, 0, count)) for form, method in forms.items()}
    rows = [(f"LP0, {form}, {count:,} steps, D = 8", f"{seconds[form]:.2f} s") for form in forms]
    if not peer or not PEER_PYTHON.exists():
        print("BoTorch is not asked for or not installed (`make peers`); its row is left out.", file=sys.stderr)
        return [(*row, "") for row in rows]
    run = subprocess.run([str(PEER_PYTHON), str(PEER_SCRIPT)], capture_output=True, text=True, check=True)
    theirs = float(json.loads(run.stdout.splitlines()[-1]))
    notes = [f"{taken / theirs:.2f} of BoTorch's time (aim: < 1)" for taken in seconds.values()]
    peer_row = ("BoTorch qLogNoisyEI, 10 suggestions at n = 50, D = 8", f"{theirs:.2f} s", "")
    return [*((*row, note) for row, note in zip(rows, notes, strict=True)), peer_row]


def splitting(n: int, printed: int) -> list[tuple[str, ...]]:
    """How many cells 8 dimensions cost: halving as certified, 2^D at a time as printed."""
    problem = problems.get("branin8")
    rows: list[tuple[str, ...]] = []
    for form, degree, count in (("halving", 0, n), ("halving", 1, n), ("as printed", 0, printed)):
        kernel = Matern(2.5, 1.0)
        if printed_form(form):  # with the constants of the paper's experiments
            method: LPGPUCB = PrintedLPGPUCB(
                kernel=kernel, norm_bound=1.0, noise=0.1, budget=n, degree=degree, delta=0.001,
                holder=UserHolder(np.sqrt(2)),
            )  # fmt: skip
        else:
            method = LPGPUCB(kernel=kernel, norm_bound=5.0, noise=0.1, budget=n, degree=degree)
        search = method.start(Domain.cube(8), 0)
        seconds = sum(steps(search, problem, 0, count))
        cells = search.explain()["cells"]
        assert isinstance(cells, list)
        splits = (len(cells) - 1) / (2**8 - 1 if printed_form(form) else 1)
        note = f"{len(cells):,} cells, {splits / count:.2f} splits an evaluation"
        rows.append((f"LPGPUCB, {form}, k = {degree}, D = 8, {count} evaluations", f"{seconds:.1f} s", note))
    return rows


def printed_form(form: str) -> bool:
    return form == "as printed"


def long_run(n: int) -> list[tuple[str, ...]]:
    run = subprocess.run([sys.executable, "-c", LONG_RUN.format(n=n)], capture_output=True, text=True, check=True)
    seconds, peak, distinct, certificate = json.loads(run.stdout)
    note = f"{peak:,.0f} MiB at most (aim: 2,048); {distinct:,} distinct points; certificate {certificate:.3f}"
    return [(f"LPGPUCB, k = 1, D = 2, n = {n:,}", f"{seconds:.0f} s", note)]


def suggestions(sizes: tuple[int, ...]) -> list[tuple[str, ...]]:
    """hartmann6, the paper's settings; the certified LPGPUCB and LP0 with a stated kernel beside them."""
    problem = problems.get("hartmann6")
    given = {"kernel": Matern(2.5, 0.5), "norm_bound": 3.0, "noise": 0.1, "budget": sizes[-1]}
    methods: dict[str, Method] = {name: registry.get(name) for name in ("RandomSearch", "SobolSearch")}
    methods |= {f"{name} (preset)": paper_preset(name, sizes[-1]) for name in PAPER_METHODS}
    for name in ("LP0", "LPGPUCB"):
        methods[f"{name} (certified)"] = registry.all_methods()[name](**given)
    rows = []
    for name, method in methods.items():
        search, done, cells = method.start(Domain.cube(problem.dimension), 0), 0, []
        for n in sizes:
            times = steps(search, problem, done, n - done)
            done = n
            cells.append(f"{1e3 * float(np.median(times[-5:])):.2f}")
        rows.append((name, *cells))
    return rows


def main() -> None:
    chosen = options(__doc__)
    sizes = (6, 8) if chosen.smoke else (25, 50, 100, 200, 400)
    first = against_botorch(10 if chosen.smoke else 1000, peer=not chosen.smoke)
    parts = [
        table(
            ("what", "time", "note"),
            [*first, *splitting(*((5, 3) if chosen.smoke else (200, 60))), *long_run(20 if chosen.smoke else 5000)],
        ),
        table(("ms a suggestion, hartmann6", *(f"n = {n}" for n in sizes)), suggestions(sizes)),
    ]
    publish("methods", "How fast methods suggest", "\n\n".join(parts), write=chosen.write)


if __name__ == "__main__":
    main()
