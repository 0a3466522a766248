"""CARP-S: its tasks that run without a download, by its protocol, and a page of what came out.

    python benchmarks/hpo/carps_run.py [METHOD ...] [--seeds 0,2,4] [--smoke] [--report]

CARP-S [B24] is a collection of benchmarks with subsets that were chosen to stand for them. Read are the task files of
its two subsets for black boxes, 20 tasks each ("dev" and "test"). Tasks run where their objective function can be made
from what is installed: here the four and eight functions of BBOB, by `pip install carps ioh`. Those of YAHPO Gym and
HPOBench need the packages' own downloads. As many evaluations as a task file says, without noise, one at a time; what
counts there, and is compared, is the best evaluation: its regret from the known minimum. Methods are not told that
there is no noise.

Rows are kept in results/carps/METHOD.jsonl and not run again. `--report` only writes results/carps.md.
`make carps` installs what is needed in .venv-carps.

References
----------
[B24]  Benjamins et al. (2024). CARP-S: a framework for comparing optimizers in black-box hyperparameter optimization.
"""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / "benchmarks"), str(_ROOT / "src")]

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from regret import rows
from regret.comparison import Comparison, words
from regret.report import failures, median_table
from regret.roster import OURS, Entry
from regret.rows import Row, read_rows, recorded
from regret.run import go_to_environment_of, outcome, seeds_of
from regret.task import Params, Task
from timing import table

from hpo.roster import BASE
from hpo.roster import METHODS as SURROGATES
from quadrat.space import Float, Space

__all__ = ["METHODS", "CarpsTask", "page", "run", "space_of", "tasks"]

RESULTS = Path(__file__).with_name("results")
ROWS = RESULTS / "carps"
SEEDS = (0, 2, 4)
SUBSETS = ("dev", "test")
LEAST = 1e-3  # regret that is as good as none
SMOKE, SMOKE_TRIALS = "dev/bbob/2/12/0", 6
METHODS: Mapping[str, Entry] = {
    name: replace(SURROGATES[name], environment=".venv-carps") for name in (OURS, "optuna_tpe", BASE)
}
PAGE = """# CARP-S

Made by `python benchmarks/hpo/carps_run.py` from the rows in carps/ beside it, of {commits}: the tasks of the subsets
for black boxes that run without a download, named subset/bbob/dimensions/function/instance, with {counts} evaluations,
as their files say, and no noise. Regret is that of the best evaluation; less than {least} counts as {least}.

{ranks}

{medians}

## Runs that failed

{failures}
"""


@dataclass(frozen=True)
class Known:
    """A task file: what `hydra` makes the objective function from, and how many evaluations it grants."""

    objective: Any
    n: int


@cache
def tasks() -> dict[str, Known]:
    """Return the tasks of the subsets whose objective functions can be made here, by name, in the order of files."""
    import carps
    from hydra.errors import InstantiationException
    from hydra.utils import instantiate
    from omegaconf import OmegaConf

    folder = Path(carps.__file__).parent / "configs" / "task" / "subselection" / "blackbox"
    found = {}
    for subset in SUBSETS:
        for path in sorted((folder / subset).glob("*.yaml")):
            read: Any = OmegaConf.load(path)
            read.seed = 0
            try:
                instantiate(read.task.objective_function)
            except InstantiationException:  # its package or its data are not here
                continue
            found[f"{subset}/{read.task.name}"] = Known(
                read.task.objective_function, int(read.task.optimization_resources.n_trials)
            )
    return found


def space_of(configurations: Any) -> Space:
    """Return a space of ConfigSpace as one of ours; all of the tasks that run have floats alone."""
    given = {name: configurations[name] for name in configurations}
    strange = [name for name, one in given.items() if type(one).__name__ != "UniformFloatHyperparameter"]
    if strange:
        raise ValueError(f"expected uniform floats, got {given[strange[0]]!r}; add its kind to space_of")
    return Space.from_dict({name: Float(one.lower, one.upper, log=one.log) for name, one in given.items()})


class CarpsTask(Task):
    """A task of CARP-S, turned to be maximised."""

    def __init__(self, objective: Any, space: Space, best: float) -> None:
        super().__init__(space, best=best, cheap=True)
        self.objective = objective

    @classmethod
    def of(cls, known: Known) -> CarpsTask:
        """Return the task of a file."""
        from hydra.utils import instantiate

        objective = instantiate(known.objective)
        return cls(objective, space_of(objective.configspace), -float(objective.f_min))

    def observe(self, params: Params, number: int) -> float:  # noqa: ARG002  # there is no noise
        return self.value(params)

    def value(self, params: Params) -> float:
        from carps.utils.trials import TrialInfo
        from ConfigSpace import Configuration

        configuration = Configuration(self.objective.configspace, values=params)
        return -float(self.objective.evaluate(TrialInfo(config=configuration)).cost)


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """Run a method once; what it raises becomes the row's "error"."""

    def begun() -> Row:
        made = CarpsTask.of(tasks()[problem])
        return outcome(made, METHODS[method].adapter_class()(made.space, n, seed), n)

    return recorded((method, problem, seed, n), begun, ("carps", "ioh", *METHODS[method].distributions))


def page(found: Sequence[Row]) -> str:
    """Return the page in Markdown; what was observed takes the place of what is recommended."""
    found = [
        row if "error" in row else {**row, "regret": {**row["regret"], "recommended": row["regret"]["observed"]}}
        for row in found
    ]
    problems = list(dict.fromkeys(row["problem"] for row in found))
    compared = Comparison(found, problems, LEAST)
    methods = [method for method in METHODS if compared.covers(method, problems)]
    ranks = compared.ranks(methods, problems, "recommended") if len(methods) > 1 else {}
    lines = [
        (
            METHODS[method].title,
            f"{rank.value:.2f} ({rank.low:.2f} to {rank.high:.2f})",
            words(compared.ratio(method, BASE, problems, "recommended"), len(problems)) if method != BASE else "",
            words(compared.ratio(OURS, method, problems, "recommended"), len(problems)) if method != OURS else "",
        )
        for method, rank in ranks.items()
    ]
    counts = sorted({row["n"] for row in found})
    return PAGE.format(
        commits=" and ".join(sorted({row["commit"] for row in found if "commit" in row})) or "no commit",
        counts=f"{counts[0]} to {counts[-1]}" if counts else "no",
        least=f"{LEAST:g}",
        ranks=table(("CARP-S", "mean rank", "regret / random's", "ours / theirs"), lines),
        medians=median_table(compared, problems, METHODS),
        failures=failures(found, METHODS),
    )


def main() -> None:
    """Read the command line, run what is missing, write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("methods", nargs="*", default=[], help="which; all")
    parser.add_argument("--seeds", type=seeds_of, default=list(SEEDS), help="such as 0,2,4")
    parser.add_argument("--report", action="store_true", help="only write the page of what is kept")
    parser.add_argument("--smoke", action="store_true", help="a few evaluations; nothing is kept")
    given = parser.parse_args()
    if unknown := set(given.methods) - set(METHODS):
        parser.error(f"expected some of {', '.join(METHODS)}, got {', '.join(sorted(unknown))}")
    methods = given.methods or list(METHODS)
    if given.smoke or not given.report:
        go_to_environment_of(METHODS[methods[0]], ["carps", "ioh"])
    if given.smoke:
        for method in methods:
            print(json.dumps(run(method, SMOKE, 0, SMOKE_TRIALS)))
        return
    if not given.report:
        ROWS.mkdir(parents=True, exist_ok=True)
        for seed in given.seeds:
            for method in methods:
                cells = [(method, name, seed, known.n) for name, known in tasks().items()]
                rows.complete(ROWS / f"{method}.jsonl", run, cells)
    found: list[Any] = [row for method in METHODS for row in read_rows(ROWS / f"{method}.jsonl")]
    (RESULTS / "carps.md").write_text(page([row for row in found if row["seed"] % 2 == 0]))


if __name__ == "__main__":
    main()
