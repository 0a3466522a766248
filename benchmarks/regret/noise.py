"""Regret at other noise levels: standard deviations of .5 and 1, where functions are standardised, instead of .1.

    python benchmarks/regret/noise.py [--methods random egobox ...] [--n 50] [--report] [--smoke]

`FAST` methods run on all functions with ten even seeds, at both levels; `SLOW` ones with three on the shifted functions
at the lower level. Each part of `plan` is one command of run.py, in the environment of its method. Rows are kept in
results/noise_VALUE/METHOD.jsonl, and finished runs are not run again; then results/noise.md is written from those of
even seeds. `--report` only writes that. `--smoke` runs a few evaluations, prints the page and keeps nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / "benchmarks"), str(_ROOT / "src"), str(_ROOT / "docs")]

import argparse
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

from timing import table

from regret.comparison import Comparison, words
from regret.report import BASE, failures, median_table
from regret.roster import OURS, ROSTER
from regret.rows import RESULTS, ROOT, Row, read_rows
from regret.run import run
from regret.suite import ANY_NOISE, SUITES

__all__ = ["FAST", "LEVELS", "SLOW", "Part", "page", "plan", "rows_of_levels"]

LEVELS = (0.5, 1.0)
FAST = (OURS, "optuna_gp", "optuna_tpe", "egobox", BASE)
SLOW = ("botorch", "hebo")
FIRST, LATER = (0, 2, 4), (6, 8, 10, 12, 14, 16, 18)  # seeds: the first of every method come before the later ones
SMOKE = "rastrigin3~"
_COLUMNS = {**{name: SUITES[name] for name in ANY_NOISE}, "all": tuple(p for name in ANY_NOISE for p in SUITES[name])}
PAGE = """# Regret at other noise levels

Made by `python benchmarks/regret/noise.py` from the rows in the folders noise_* beside it; even seeds, n = {n}; rows
are of {commits}. Functions and methods are those of [the comparison at noise .1](report.md). Noise is its standard
deviation; functions are standardised, so that their own is 1. Every method meets the same noise at the same evaluation.

Regret is that of the recommended point, without noise. "/ random" is the geometric mean over problems of the method's
median divided by random search's; "ours /" is that of Quadrat's median divided by the method's. Both have 95 %
bootstrap intervals over seeds. Ranks are taken within each problem and seed, 1 is the best; their intervals are over
problems and seeds.

A run is one problem with one seed. Methods have different numbers of runs. A mean rank counts only the runs that all
methods of its column have, and a ratio only those that its two methods have; tables say how many. Medians are over all
seeds of a method.

{levels}

## Runs that failed

{failures}
"""


@dataclass(frozen=True)
class Part:
    """One command of run.py: a method at a noise level, on whole suites with some seeds."""

    method: str
    noise: float
    seeds: tuple[int, ...]
    suites: tuple[str, ...]

    def command(self, n: int) -> list[str]:
        """Return the command, with the interpreter of the method's environment where that is installed."""
        python = ROOT / ROSTER[self.method].environment / "bin" / "python"
        return [
            str(python) if python.exists() else sys.executable, str(Path(__file__).with_name("run.py")), self.method,
            "--noise", f"{self.noise:g}", "--seeds", ",".join(map(str, self.seeds)), "--n", str(n),
            "--problems", *self.suites,
        ]  # fmt: skip


def plan() -> Iterator[Part]:
    """Yield all parts; every method has its first seeds at every level before any has more."""
    for seeds in (FIRST, *((seed,) for seed in LATER)):
        for noise in LEVELS:
            for method in FAST:
                yield Part(method, noise, seeds, ANY_NOISE)
            if seeds == FIRST and noise == LEVELS[0]:
                for method in SLOW:
                    yield Part(method, noise, seeds, ("shifted",))


def rows_of_levels(folder: Path = RESULTS) -> list[Row]:
    """Return the kept rows of all noise levels but .1."""
    return [row for path in sorted(folder.glob("noise_*/*.jsonl")) for row in read_rows(path)]


def page(rows: Sequence[Row], n: int) -> str:
    """Return the page in Markdown from the rows that have n evaluations and even seeds."""
    counted = [row for row in rows if row["n"] == n and row["seed"] % 2 == 0]
    levels = sorted({row["noise"] for row in counted})
    commits = sorted({row["commit"] for row in counted if "commit" in row})
    return PAGE.format(
        n=n,
        commits=" and ".join(commits) or "no commit",
        levels="\n\n".join(_level(counted, noise) for noise in levels) or "No rows yet.",
        failures=failures(counted),
    )


def _level(rows: Sequence[Row], noise: float) -> str:
    compared = Comparison([row for row in rows if row["noise"] == noise])
    parts = [f"## Noise {noise:g}", _ranks(compared, noise)]
    parts += [_ratios(compared, noise, over) for over in (BASE, OURS)]
    for name in ANY_NOISE:
        found = median_table(compared, SUITES[name])
        if found:
            parts.append(f"### Noise {noise:g}, {name}: medians\n\n{found}")
    return "\n\n".join(part for part in parts if part)


def _ranks(compared: Comparison, noise: float) -> str:
    """Mean ranks on each suite among the fast methods; then with slow ones, those with most runs first."""
    columns: dict[str, dict[str, str]] = {}
    for name, problems in _COLUMNS.items():
        with_rows = [method for method in ROSTER if compared.covers(method, problems)]
        runs = {method: _runs(compared, [method], problems) for method in with_rows if method not in FAST}
        for least in (inf, *sorted(set(runs.values()), reverse=True)):
            methods = [method for method in with_rows if runs.get(method, inf) >= least]
            ranked = compared.ranks(methods, problems, "recommended") if len(methods) > 1 else {}
            if ranked:
                slow = " and ".join(ROSTER[method].title for method in methods if method in runs)
                among = f"{name} with {slow}" if slow else name
                head = f"{among}, {_runs(compared, methods, problems)} runs"
                columns[head] = {m: f"{r.value:.1f} ({r.low:.1f} to {r.high:.1f})" for m, r in ranked.items()}
    lines = [
        (entry.title, *(column.get(method, "") for column in columns.values()))
        for method, entry in ROSTER.items()
        if any(method in column for column in columns.values())
    ]
    return table((f"mean rank, noise {noise:g}", *columns), lines) if lines else ""


def _ratios(compared: Comparison, noise: float, other: str) -> str:
    """Every method over random search, or ours over every method; with the number of runs that both have."""
    lines = []
    for method, entry in ROSTER.items():
        above, below = (method, other) if other == BASE else (other, method)
        cells = []
        for problems in _COLUMNS.values():
            complete = method != other and compared.covers(method, problems)
            found = compared.ratio(above, below, problems, "recommended") if complete else None
            runs = f", {_runs(compared, (method, other), problems)} runs" if found else ""
            cells.append(f"{words(found, len(problems))}{runs}")
        if any(cells):
            lines.append((entry.title, *cells))
    title = "regret / random's" if other == BASE else "ours / theirs"
    return table((f"{title}, noise {noise:g}", *_COLUMNS), lines) if lines else ""


def _runs(compared: Comparison, methods: Sequence[str], problems: Sequence[str]) -> int:
    """How many pairs of a problem and a seed all these methods have."""
    return sum(len(set.intersection(*(compared.seeds(method, problem) for method in methods))) for problem in problems)


def main() -> None:
    """Read the command line, run what is missing, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--methods", nargs="+", choices=(*FAST, *SLOW), default=(*FAST, *SLOW), help="to run; all")
    parser.add_argument("--n", type=int, default=50, help="evaluations")
    parser.add_argument("--report", action="store_true", help="only write the page of what is kept")
    parser.add_argument("--smoke", action="store_true", help="a few evaluations; nothing is kept")
    given = parser.parse_args()
    if given.smoke:
        print(page([run(method, SMOKE, 0, 6, noise) for method in (OURS, BASE) for noise in LEVELS], 6))
        return
    if not given.report:
        for part in plan():
            if part.method in given.methods:
                subprocess.run(part.command(given.n), check=True)
    text = page(rows_of_levels(), given.n)
    print(text)
    (RESULTS / "noise.md").write_text(text)


if __name__ == "__main__":
    main()
