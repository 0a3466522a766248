"""What parallel evaluations cost: regret of our default method after the same number of evaluations, run in four ways.

    python benchmarks/regret/parallel.py [--problems plain shifted levy8 ...] [--seeds 0-9,12] [--n 50] [--workers 1]
                                         [--redo failed] [--report] [--smoke]

sequential     each evaluation is told before the next is asked: the rows of run.py
batch          four are asked, four are told, and so on
batch of 8     the same with eight
asynchronous   four are always pending: whichever ends first is told, and the next is asked. Evaluations last as long as
               a lognormal distribution says, drawn by seed and number: a few are much longer than the others

Problems and noise are those of run.py: evaluation number i meets the same noise in all of them. Rows, as there but
without curves, are kept in results/parallel.jsonl and not run again; then results/parallel.md is written from those of
even seeds. `--report` only writes that. `--smoke` runs a few evaluations, prints the page and keeps nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"
_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / "benchmarks"), str(_ROOT / "src")]

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal

from timing import table

import quadrat as qd
from quadrat.optimizer.trial import Trial
from quadrat.randomness import generator
from regret import suite
from regret.comparison import Comparison, Measure, words
from regret.roster import OURS, ROSTER
from regret.rows import RESULTS, Row, complete, read_rows, recorded, stamp
from regret.run import go_where_it_is_installed, seeds_of
from regret.task import Task, regrets

__all__ = ["MODES", "Mode", "page", "run", "schedule"]

SUITES = ("plain", "shifted", "bbob")
SMOKE = ("rastrigin3", "rosenbrock4~")
SPREAD = 0.5  # standard deviation of the log of durations
_DURATIONS = 4  # names the stream
MEASURES: dict[Measure, str] = {"recommended": "recommended", "evaluated": "best evaluated"}


@dataclass(frozen=True)
class Mode:
    """A way to run evaluations.

    Attributes
    ----------
    title
        In the table.
    workers
        Evaluations that may be under way at once.
    waits
        Whether new ones begin only when all have ended.
    """

    title: str
    workers: int
    waits: bool


SEQUENTIAL = "sequential"
MODES = {
    SEQUENTIAL: Mode("sequential", 1, True),
    "batch": Mode("batches of 4", 4, True),
    "batch of 8": Mode("batches of 8", 8, True),
    "asynchronous": Mode("asynchronous, 4 workers", 4, False),
}
PAGE = """# Regret when evaluations run in parallel

Made by `python benchmarks/regret/parallel.py` from the rows beside it; even seeds, n = {n}; rows are of {commits}. The
modes are described there. Each figure is the geometric mean over problems of (median regret over seeds / that of
sequential runs after as many evaluations), with its 95 % bootstrap interval over seeds. Below 1, the parallel runs are
better.

{table}
"""


def schedule(mode: Mode, seed: int, n: int) -> Iterator[tuple[Literal["ask", "tell"], int]]:
    """Yield what happens to which evaluation, in the order of time, until all n are told."""
    now, asked = 0.0, 0
    under_way: list[tuple[float, int]] = []  # (end, number), a heap
    while asked < n or under_way:
        free = 0 if mode.waits and under_way else mode.workers - len(under_way)
        for number in range(asked, min(asked + free, n)):
            yield "ask", number
            # Who waits for all has them all at once, in the order of asking.
            lasts = 1.0 if mode.waits else float(generator(seed, number, _DURATIONS).lognormal(0.0, SPREAD))
            heappush(under_way, (now + lasts, number))
            asked += 1
        now, number = heappop(under_way)
        yield "tell", number


def outcome(task: Task, mode: Mode, seed: int, n: int) -> Row:
    """Run our default method to the end; return the best value and the regrets."""
    optimizer = qd.Optimizer(task.space, direction="maximize", seed=seed)
    trials: list[Trial] = []
    observed: dict[int, float] = {}
    for event, number in schedule(mode, seed, n):
        if event == "ask":
            trials.append(optimizer.ask())
        else:
            observed[number] = task.observe(trials[number].params, number)
            optimizer.tell(trials[number], observed[number])
    told = [(trial.params, observed[trial.number]) for trial in trials]
    return {"best": task.best, "regret": regrets(task, told, optimizer.recommend().params)}


def run(mode: str, problem: str, seed: int, n: int) -> Row:
    """Run once; the mode stands in the place of the method."""
    return recorded((mode, problem, seed, n), lambda: outcome(suite.task(problem, seed), MODES[mode], seed, n))


def page(rows: Sequence[Row], n: int) -> str:
    """Return the page in Markdown from the rows that have n evaluations and even seeds."""
    counted = [row for row in rows if row["n"] == n and row["seed"] % 2 == 0]
    compared = Comparison(counted)
    groups = {name: suite.SUITES[name] for name in SUITES} | {"all": suite.chosen(SUITES)}
    lines = []
    for mode in MODES:
        for name, problems in groups.items():
            found = [compared.ratio(mode, SEQUENTIAL, problems, measure) for measure in MEASURES]
            if mode != SEQUENTIAL and found[0] is not None:
                cells = (words(interval, len(problems)) for interval in found)
                lines.append((MODES[mode].title, name, str(found[0].seeds), *cells))
    head = ("evaluations", "problems", "seeds", *(f"{title} / sequential" for title in MEASURES.values()))
    text = table(head, lines)
    failed = sum("error" in row for row in counted)
    if failed:
        text += f"\n\nLeft out: {failed} of {len(counted)} runs, which failed."
    commits = sorted({row["commit"] for row in counted if "commit" in row})
    return PAGE.format(n=n, commits=" and ".join(commits) or "no commit", table=text)


def main() -> None:
    """Read the command line, run what is missing, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=list(SUITES), help="problems or suites; all functions")
    parser.add_argument("--seeds", type=seeds_of, default=ROSTER[OURS].seeds, help="such as 0-3,7; ten even ones")
    parser.add_argument("--n", type=int, default=50, help="evaluations")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--redo", choices=["failed"], default="", help="rows to run again")
    parser.add_argument("--report", action="store_true", help="only write the page of what is kept")
    parser.add_argument("--smoke", action="store_true", help="a few evaluations; nothing is kept")
    given = parser.parse_args()
    if given.smoke:
        print(page([run(mode, problem, 0, 8) for mode in MODES for problem in SMOKE], 8))
        return
    try:
        problems = suite.chosen(given.problems)
    except ValueError as error:
        parser.error(str(error))
    if any(suite.suite_of(problem) not in SUITES for problem in problems):
        parser.error(f"problems: expected those of {', '.join(SUITES)}")
    path = RESULTS / "parallel.jsonl"
    if not given.report:
        go_where_it_is_installed(OURS, problems)
        modes = [mode for mode in MODES if mode != SEQUENTIAL]
        cells = [(mode, problem, seed, given.n) for seed in given.seeds for problem in problems for mode in modes]
        stamp(())  # before anything runs: what runs is what is on disk now
        complete(path, run, cells, workers=given.workers, redo=given.redo)
    rows = [row for row in read_rows(path) if row["method"] != SEQUENTIAL]
    ran = {(row["problem"], row["seed"]) for row in rows}
    sequential = [row for row in read_rows(RESULTS / f"{OURS}.jsonl") if (row["problem"], row["seed"]) in ran]
    text = page([*rows, *({**row, "method": SEQUENTIAL} for row in sequential)], given.n)
    print(text)
    path.with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()
