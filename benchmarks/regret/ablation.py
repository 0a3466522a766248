"""What each ingredient of our default method buys: its regret with one thing changed, over that of the full method.

    python benchmarks/regret/ablation.py [--problems shifted levy8 ...] [--seeds 1-3,7] [--n 50] [--workers 1]
                                         [--redo failed] [--report] [--smoke]

`VARIANTS` lists the changes. Problems and noise are those of run.py: every variant meets the same noise at the same
evaluation. Seeds are odd, 41 to 79: choices were made on smaller ones, and even ones are kept for the comparison with
peers.

Rows, as there but without curves, are kept in results/ablation.jsonl and not run again; then results/ablation.md is
written from those of odd seeds. `--report` only writes that; docs/default_method_page.py puts the same table on its
page. `--smoke` runs a few evaluations, prints the page and keeps nothing.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf, log
from types import ModuleType
from typing import Any

import numpy as np
from timing import table

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.gp import HyperPriors, LogNormal
from quadrat.methods.auto import acquisition as auto_score
from quadrat.methods.auto import method as auto_method
from quadrat.methods.auto import surrogate as auto_model
from quadrat.methods.auto.method import Auto, AutoSearch
from quadrat.methods.base import Domain, Proposal
from quadrat.space import Space
from regret import suite
from regret.adapter import Quadrat
from regret.comparison import Comparison, Measure, ratio_of_medians, words
from regret.rows import RESULTS, Row, complete, read_rows, recorded, stamp
from regret.run import outcome, seeds_of

__all__ = ["EVALUATIONS", "FULL", "ROWS", "VARIANTS", "Variant", "report", "run"]

SUITES = ("shifted", "plain")
SEEDS = tuple(range(41, 80, 2))
EVALUATIONS = 50
SMOKE = "rastrigin3~"
ROWS = RESULTS / "ablation.jsonl"
MEASURES: dict[Measure, str] = {"recommended": "recommended", "evaluated": "best evaluated"}
MISSING = "rows missing"
LEAST = 1e-3  # regret, in standard deviations of the function over the cube: a hundredth of the noise
REPORT = """Each figure is the geometric mean, over problems and seeds, of (regret / that of the full method on the same
problem and seed, whose noise is the same), with its 95 % bootstrap interval over seeds; above 1, the variant is worse.
Regrets below .001 count as that. CPU is that of all asking and telling in a run, as a ratio of medians. Odd seeds,
n = {n}, noise .1; rows are of {commits}.

{tables}"""
PAGE = """# What each ingredient of the default method buys

Made by `python benchmarks/regret/ablation.py` from the rows beside it; the variants are described there.

{report}
"""


@dataclass(frozen=True, kw_only=True)
class AveragedOver(Auto):
    """The default method, whose search averages over another number of samples."""

    samples: int

    def start(self, domain: Domain, seed: int) -> AutoSearch:
        search = super().start(domain, seed)
        search.model.samples = self.samples
        return search


@dataclass(frozen=True, kw_only=True)
class Uncentred(Auto):
    """The default method, whose first point is one of the Sobol sequence like those after it."""

    def start(self, domain: Domain, seed: int) -> AutoSearch:
        return _UncentredSearch(self, domain, seed)


class _UncentredSearch(AutoSearch):
    def ask(self, number: int, pending: Array, context: Array | None = None) -> Proposal:
        return self._design.ask(number, pending, context) if number == 0 else super().ask(number, pending, context)


@dataclass(frozen=True, kw_only=True)
class LookingOnce(Auto):
    """The default method, which always asks for the point of largest expected improvement."""

    def start(self, domain: Domain, seed: int) -> AutoSearch:
        return _OneLookSearch(self, domain, seed)


class _OneLookSearch(AutoSearch):
    def _worth_repeating(self, point: Array, evaluated: Array, pending: Array) -> None:
        """Return None: nothing is."""


@dataclass(frozen=True)
class Variant:
    """The full method with one thing changed.

    Attributes
    ----------
    what
        Is changed, in one line.
    method
        Is run.
    constants
        Of `module`, with the values that they have meanwhile.
    """

    what: str
    method: Auto = field(default_factory=Auto)
    constants: Mapping[str, object] = field(default_factory=dict)
    module: ModuleType = auto_model

    @contextmanager
    def in_force(self) -> Iterator[Auto]:
        """Give the constants their values, yield the method, give them back the values they had."""
        before = {name: getattr(self.module, name) for name in self.constants}
        try:
            for name, value in self.constants.items():
                setattr(self.module, name, value)
            yield self.method
        finally:
            for name, value in before.items():
                setattr(self.module, name, value)


def _priors(**changed: Any) -> Callable[..., HyperPriors]:
    """Return what makes the priors with these in the place of the default's."""
    return lambda **given: HyperPriors(**changed, **given)


FULL = "full"
VARIANTS = {
    FULL: Variant("nothing"),
    "one sample": Variant("one sample of the hyper-parameters, nothing is averaged", AveragedOver(samples=1)),
    "five samples": Variant("averaged over 5 samples", AveragedOver(samples=5)),
    "thirty samples": Variant("averaged over 30 samples", AveragedOver(samples=30)),
    "one smoothness": Variant("always Matérn 5/2", constants={"KERNELS": auto_model.USUAL}),
    "separate length-scales": Variant(
        "each length-scale has its own prior, LogNormal(-0.7, 1.1), and nothing in common",
        constants={"HyperPriors": _priors(lengthscale=LogNormal(-0.7, 1.1), common_lengthscale=0.0)},
    ),
    "longer length-scales": Variant(
        "length-scales are expected to grow with the square root of the number of axes, here of 6",
        constants={"HyperPriors": _priors(lengthscale=LogNormal(-0.7 + 0.5 * log(6), 0.5))},
    ),
    "wider length-scales": Variant(
        "the scale that length-scales have in common differs from its mean by an sd of 1.5",
        constants={"HyperPriors": _priors(common_lengthscale=1.5)},
    ),
    "learned at every trial": Variant(
        "samples are drawn anew at every trial", constants={"last_due": lambda trials, _: trials}
    ),
    "never compressed": Variant("low values are always seen as they are told", constants={"WARP_FROM": inf}),
    "compressed lightly": Variant(
        "low values are compressed wherever the evidence is in favour of it", constants={"WARP_FROM": 0.0}
    ),
    "no centre": Variant("the first point is one of the Sobol sequence too", Uncentred()),
    "ten initial points": Variant("the model decides from the eleventh trial on", Auto(n_initial=10)),
    "no climbs": Variant("the best of the candidates is asked for as it is", constants={"STEPS": 1}, module=auto_score),
    "no wider deviations": Variant(
        "the improvement is computed with the deviations of the posterior, not"
        f" {auto_score.DEVIATION_FACTOR:g} times those",
        constants={"DEVIATION_FACTOR": 1.0},
        module=auto_score,
    ),
    "highest mean": Variant(
        "what is to be improved upon is the highest posterior mean, not the expected highest value",
        constants={"expected_highest": lambda _ensemble, _known, means, _rng: means.max(axis=1)},
        module=auto_method,
    ),
    "no second looks": Variant("no point is evaluated again for its worth", LookingOnce()),
}


class _Adapter(Quadrat):
    """Ours with a given method."""

    recommends_along_the_way = False  # rows have no curves, and times are those of suggestions alone

    def __init__(self, space: Space, n: int, seed: int, method: Auto) -> None:
        super().__init__(space, n, seed)
        self.optimizer = qd.Optimizer(space, direction="maximize", method=method, seed=seed)


def run(variant: str, problem: str, seed: int, n: int) -> Row:
    """Run once; the variant stands in the place of the method."""

    def begun() -> Row:
        task = suite.task(problem, seed)
        with VARIANTS[variant].in_force() as method:
            found = outcome(task, _Adapter(task.space, n, seed, method), n)
        return {name: value for name, value in found.items() if name != "curve"}

    return recorded((variant, problem, seed, n), begun)


def report(rows: Sequence[Row], n: int = EVALUATIONS) -> str:
    """Return what the rows with n evaluations and odd seeds say: a table of all problems, and one for each suite."""
    counted = [row for row in rows if row["n"] == n and row["seed"] % 2 == 1]
    compared = Comparison(counted)
    present = {suite.suite_of(row["problem"]) for row in counted} or {SUITES[0]}
    tables = {name: suite.SUITES[name] for name in SUITES if name in present}
    if len(tables) > 1:
        tables = {"all": tuple(problem for some in tables.values() for problem in some), **tables}
    text = "\n\n".join(_table(compared, name, problems) for name, problems in tables.items())
    failed = sum("error" in row for row in counted)
    if failed:
        text += f"\n\nLeft out: {failed} of {len(counted)} runs, which failed."
    commits = sorted({row["commit"] for row in counted if "commit" in row})
    return REPORT.format(n=n, commits=" and ".join(commits) or "no commit", tables=text)


def _table(compared: Comparison, name: str, problems: Sequence[str]) -> str:
    """A line for each variant; it says so where rows are missing."""
    most = max(len(compared.seeds(FULL, problem)) for problem in problems)
    lines = []
    for variant, entry in VARIANTS.items():
        ratios = [compared.paired_ratio(variant, FULL, problems, measure, least=LEAST) for measure in MEASURES]
        cpu = _cpu_ratio(compared, variant, problems)
        cells = [MISSING if ratio is None else words(ratio, len(problems)) for ratio in ratios]
        seeds = min((ratio.seeds for ratio in ratios if ratio is not None), default=0)
        said = f"{seeds}" if seeds == most else f"{seeds} of {most}"
        lines.append((variant, entry.what, said, *cells, MISSING if cpu is None else f"{cpu:.2f}"))
    head = (f"variant, {name} problems", "what is changed", "seeds")
    return table((*head, *(f"{title} / full" for title in MEASURES.values()), "CPU / full"), lines)


def _cpu_ratio(compared: Comparison, variant: str, problems: Sequence[str]) -> float | None:
    """The ratio of CPU seconds of all suggestions, over the seeds in common."""
    cpu = {(row["method"], row["problem"], row["seed"]): row["cpu_of_suggestions"] for row in compared.good}
    pairs = []
    for problem in problems:
        common = sorted(compared.seeds(variant, problem) & compared.seeds(FULL, problem))
        if common:
            mine, theirs = (np.array([cpu[name, problem, seed] for seed in common]) for name in (variant, FULL))
            pairs.append((mine, theirs))
    found = ratio_of_medians(pairs)
    return None if found is None else found.value


def main() -> None:
    """Read the command line, run what is missing, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=list(SUITES), help="problems or suites; all of both")
    parser.add_argument("--seeds", type=seeds_of, default=SEEDS, help="such as 41-43,47; twenty odd ones")
    parser.add_argument("--n", type=int, default=EVALUATIONS, help="evaluations")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--redo", choices=["failed"], default="", help="rows to run again")
    parser.add_argument("--report", action="store_true", help="only write the page of what is kept")
    parser.add_argument("--smoke", action="store_true", help="a few evaluations; nothing is kept")
    given = parser.parse_args()
    if given.smoke:
        print(report([run(variant, SMOKE, 1, 6) for variant in VARIANTS], 6))
        return
    try:
        problems = suite.chosen(given.problems)
    except ValueError as error:
        parser.error(str(error))
    if any(suite.suite_of(problem) not in SUITES for problem in problems):
        parser.error(f"problems: expected those of {' and '.join(SUITES)}")
    if not given.report:
        cells = [(name, problem, seed, given.n) for seed in given.seeds for problem in problems for name in VARIANTS]
        stamp(())  # before anything runs: what runs is what is on disk now
        complete(ROWS, run, cells, workers=given.workers, redo=given.redo)
    text = PAGE.format(report=report(read_rows(ROWS), given.n))
    print(text)
    ROWS.with_suffix(".md").write_text(text)


if __name__ == "__main__":
    main()
