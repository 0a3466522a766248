"""Run the grid of the comparison by its plan, and write results/report.md from the rows.

    python benchmarks/hpo/table.py [--data FOLDER] [--methods random quadrat ...] [--minutes 25] [--report]

Each part of the plan is one command of run.py: a method at a noise level with some seeds. All methods have their first
seeds at every level before any has more, so that an interrupted run leaves a table of fewer seeds. With `--minutes` no
part begins later than that. Finished runs are not run again. `--report` only writes the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / "benchmarks"), str(_ROOT / "src"), str(_ROOT / "docs")]

import argparse
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from regret.comparison import Comparison, words
from regret.report import failures, median_table
from regret.roster import OURS
from regret.rows import ROOT, Row, read_rows
from timing import table

from hpo.roster import BASE, BY_RUN, METHODS, SLOW, TPE
from hpo.run import RESULTS
from hpo.tasks import PROBLEMS, SCENARIOS, TABLES, data_folder

__all__ = ["Part", "page", "plan"]

GRID = ((0.5, 50), (0.0, 50), (0.5, 100), (0.0, 100))  # noise and evaluations, in the order to run
FIRST, LATER = (0, 2, 4), (6, 8, 10, 12, 14, 16, 18)
RIVALS = {method: entry for method, entry in METHODS.items() if method != BY_RUN}
LEAST = 0.01  # units: less regret is as good as none
PAGE = """# Regret on surrogates of real tunings

Made by `python benchmarks/hpo/table.py` from the rows in the folders noise_* beside it: even seeds, instances that
nothing was developed on; rows are of {commits}. The surrogates are those of YAHPO Gym 1.0.2 (Pfisterer et al. 2022,
Apache 2.0), at full fidelity; they are not part of this repository. Every method meets the same noise at the same
evaluation.

A unit of an instance is the 95 % quantile of random configurations less their median: noise is its standard deviation
in units. Regret is that of the recommended point, without noise, from the best value known, in units; less than {least}
counts as {least}. "/ random" is the geometric mean over instances of the method's median divided by random search's;
"ours /" is that of Quadrat's median divided by the method's, both with 95 % bootstrap intervals over seeds. Ranks are
taken within each instance and seed, among the methods that have rows on all instances; 1 is the best. A method with
fewer seeds than others has them for want of time.

{parts}

## Runs that failed

{failures}
"""


@dataclass(frozen=True)
class Part:
    """One command of run.py."""

    method: str
    noise: float
    n: int
    seeds: tuple[int, ...]

    def command(self, data: Path) -> list[str]:
        """Return the command, with the interpreter of the method's environment where that is installed."""
        python = ROOT / METHODS[self.method].environment / "bin" / "python"
        return [
            str(python) if python.exists() else sys.executable, str(Path(__file__).with_name("run.py")), self.method,
            "--data", str(data), "--noise", f"{self.noise:g}", "--n", str(self.n),
            "--seeds", ",".join(map(str, self.seeds)),
        ]  # fmt: skip


def plan() -> Iterator[Part]:
    """Yield all parts, the first seeds of all methods first."""
    for seeds in (FIRST, *((seed,) for seed in LATER)):
        for noise, n in GRID:
            for method in METHODS:
                if method not in SLOW or (seeds == FIRST and n == GRID[0][1]):
                    yield Part(method, noise, n, seeds)


def page(rows: Sequence[Row]) -> str:
    """Return the page in Markdown from the rows with even seeds on the instances of the tables."""
    counted = [row for row in rows if row["seed"] % 2 == 0 and row["problem"] in TABLES]
    commits = sorted({row["commit"] for row in counted if "commit" in row})
    parts = [_part(counted, noise, n) for n in sorted({n for _, n in GRID}) for noise in sorted({x for x, _ in GRID})]
    return PAGE.format(
        commits=" and ".join(commits) or "no commit",
        least=f"{LEAST:g}",
        parts="\n\n".join(part for part in parts if part) or "No rows yet.",
        failures=failures(counted, METHODS),
    )


def _part(rows: Sequence[Row], noise: float, n: int) -> str:
    compared = Comparison([row for row in rows if (row["noise"], row["n"]) == (noise, n)], PROBLEMS, LEAST)
    if not compared.good:
        return ""
    texts = [f"## Noise {noise:g}, {n} evaluations", _summary(compared, f"noise {noise:g}, n = {n}")]
    for scenario in SCENARIOS:
        problems = [problem for problem in TABLES if problem.startswith(f"{scenario}:")]
        found = median_table(compared, problems, RIVALS)
        if found:
            texts.append(f"### {scenario}: medians at noise {noise:g}, n = {n}\n\n{found}")
    return "\n\n".join(text for text in [*texts, _by_run(compared, noise, n)] if text)


def _by_run(compared: Comparison, noise: float, n: int) -> str:
    """What it costs not to declare the conditional spaces; nothing where there are no rows."""
    problems = [problem for problem in TABLES if compared.seeds(BY_RUN, problem)]
    if not problems:
        return ""
    over = {other: compared.paired_ratio(BY_RUN, other, problems, "recommended", least=LEAST) for other in (OURS, TPE)}
    medians = [
        (
            problem,
            str(len(compared.seeds(BY_RUN, problem))),
            *(f"{np.median(compared.regrets(method, problem, 'recommended')):.3g}" for method in (OURS, BY_RUN)),
        )
        for problem in problems
    ]
    head = (f"define-by-run, noise {noise:g}, n = {n}", "seeds", "declared", "by run")
    declared, theirs = (words(over[other], len(problems)) for other in (OURS, TPE))
    said = f"Regret by run over that declared, paired: {declared}; over TPE's: {theirs}."
    return f"### Objectives that define their space as they run\n\n{table(head, medians)}\n\n{said}"


def _summary(compared: Comparison, title: str) -> str:
    """Mean ranks and ratios over all instances."""
    methods = [method for method in RIVALS if compared.covers(method, TABLES)]
    ranks = compared.ranks(methods, TABLES, "recommended") if len(methods) > 1 else {}
    lines = []
    for method, entry in RIVALS.items():
        rank = ranks.get(method)
        over_base = None if method == BASE else compared.ratio(method, BASE, TABLES, "recommended")
        over = None if method == OURS else compared.ratio(OURS, method, TABLES, "recommended")
        if rank or over_base or over:
            seeds = min(len(compared.seeds(method, problem)) for problem in TABLES)
            ranked = f"{rank.value:.2f} ({rank.low:.2f} to {rank.high:.2f})" if rank else ""
            lines.append((entry.title, str(seeds), ranked, words(over_base, len(TABLES)), words(over, len(TABLES))))
    head = (title, "seeds", "mean rank", "regret / random's", "ours / theirs")
    return table(head, lines) if lines else ""


def main() -> None:
    """Read the command line, run what is missing, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", help="folder of the surrogates; ../shared/data")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS), help="to run; all")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="after which no part begins")
    parser.add_argument("--report", action="store_true", help="only write the page of what is kept")
    given = parser.parse_args()
    begin = time.monotonic()
    if not given.report:
        for part in plan():
            if part.method in given.methods and time.monotonic() - begin < 60 * given.minutes:
                subprocess.run(part.command(data_folder(given.data)), check=True)
    rows = [row for path in sorted(RESULTS.glob("noise_*/*.jsonl")) for row in read_rows(path)]
    text = page(rows)
    print(text)
    (RESULTS / "report.md").write_text(text)


if __name__ == "__main__":
    main()
