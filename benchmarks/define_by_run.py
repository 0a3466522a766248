"""What it costs not to declare a conditional space: objectives that define it as they run, and the same declared.

    python benchmarks/define_by_run.py [--smoke] [--write] [--workers 1]

Five problems, 40 trials without noise, 20 even seeds (development used odd ones). A seed moves the optimum, chooses the
best branch and starts the sampler. Contenders, all in Optuna studies:

declared    QuadratSampler(search_space=...) with the conditions declared
learned     QuadratSampler(): the objective asks for parameters, and nothing is declared
TPE         TPESampler(multivariate=True, group=True), whose groups are for such objectives
random      RandomSampler

Regret is the best value seen less the optimum, which is 0; values of random settings are of the order of 1, and regrets
below .001 count as .001. Ratios are paired over seeds. Their geometric means come with 95 % bootstrap intervals over
all runs. "Recommended" counts the studies for which `qd.recommend` returns a setting that the objective can evaluate,
with all of its parameters. Rows are kept in benchmarks/results/define_by_run.jsonl and not run again. --write updates
benchmarks/results/define_by_run.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

import math
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import optuna
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.trial import BaseTrial, FixedTrial
from regret.rows import Row, complete, read_rows, recorded, rounded, stamp

import quadrat as qd
from quadrat.space.parameter import Parameter

TRIALS, SMOKE_TRIALS = 40, 8
SEEDS = tuple(range(0, 40, 2))
FLOOR = 1e-3
RESAMPLED = 10_000
ROWS = ROOT / "benchmarks" / "results" / "define_by_run.jsonl"
DECLARED, LEARNED, TPE, RANDOM = "declared", "learned", "TPE", "random"


@dataclass(frozen=True)
class Conditional:
    """A family of objectives on a conditional space, one for each seed; its values are >= 0, and 0 at the optimum.

    Attributes
    ----------
    space
        What is declared.
    asked
        What the objective that defines its space as it runs calls a parameter, where that is another name.
    worse
        How much worse each choice is than the next better one.
    """

    name: str
    space: qd.Space
    asked: Mapping[str, str] = field(default_factory=dict)
    worse: float = 0.1

    def by_run(self, trial: BaseTrial) -> dict[str, Any]:
        """Return the parameters of a trial, asked for one by one, by the names of the space."""

        def suggest(name: str, parameter: Parameter) -> Any:
            called = self.asked.get(name, name)
            if isinstance(parameter, qd.Float):
                return trial.suggest_float(called, parameter.low, parameter.high, log=parameter.log)
            if isinstance(parameter, qd.Int):
                return trial.suggest_int(called, parameter.low, parameter.high, log=parameter.log)
            assert isinstance(parameter, qd.Categorical)
            return trial.suggest_categorical(called, parameter.choices)

        return self.space.choose_each(suggest)

    def loss(self, seed: int) -> Callable[[Mapping[str, Any]], float]:
        """Return the function of one seed, from parameters by the names of the space."""
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), seed])
        best = {name: rng.uniform(0.15, 0.85) for name in self.space}
        weight = {name: math.exp(rng.normal(0.0, 0.5)) for name in self.space}
        order = {
            name: dict(zip(parameter.choices, rng.permutation(len(parameter.choices)).tolist(), strict=True))
            for name, parameter in self.space.items()
            if isinstance(parameter, qd.Categorical)
        }
        target = {
            name: int(rng.integers(parameter.low, parameter.high + 1))
            for name, parameter in self.space.items()
            if isinstance(parameter, qd.Int) and not parameter.log
        }

        def value(params: Mapping[str, Any]) -> float:
            total, last = 0.0, 0.0
            for name, given in params.items():
                parameter = self.space[name]
                if name in order:
                    total += self.worse * order[name][given]
                elif name in target:
                    total += 1.5 * ((given - target[name]) / (parameter.high - parameter.low)) ** 2  # type: ignore[attr-defined]  # an Int
                else:
                    [unit] = parameter.encode(parameter.read([given])).tolist()
                    miss = unit - best[name]
                    # Neighbours interact, and there are ripples: 0 at the optimum alone.
                    total += weight[name] * (miss**2 + 0.8 * miss * last) + 0.02 * (1 - math.cos(4 * math.pi * miss))
                    last = miss if weight[name] <= 1 else 0.0
            return total

        return value


def _layers(most: int) -> dict[str, Parameter]:
    """A number of layers, and the width of each."""
    widths = {f"width_{i}": qd.Int(8, 512, log=True, when={"layers": [*range(i + 1, most + 1)]}) for i in range(most)}
    return {"layers": qd.Int(1, most), **widths}


PROBLEMS = {
    one.name: one
    for one in (
        Conditional(
            "model choice",
            qd.Space(
                model=qd.Categorical(["svm", "forest", "boosting", "linear"]),
                c=qd.Float(1e-3, 1e3, log=True, when={"model": "svm"}),
                gamma=qd.Float(1e-5, 1e1, log=True, when={"model": "svm"}),
                trees=qd.Int(10, 1000, log=True, when={"model": "forest"}),
                features=qd.Float(0.1, 1.0, when={"model": "forest"}),
                eta=qd.Float(1e-3, 1.0, log=True, when={"model": "boosting"}),
                leaves=qd.Int(2, 256, log=True, when={"model": "boosting"}),
                subsample=qd.Float(0.3, 1.0, when={"model": "boosting"}),
                alpha=qd.Float(1e-6, 1e2, log=True, when={"model": "linear"}),
            ),
        ),
        Conditional(
            "layers in a loop",
            qd.Space(rate=qd.Float(1e-5, 1e-1, log=True), dropout=qd.Float(0.0, 0.7), **_layers(4)),
        ),
        Conditional(
            "nested three deep",
            qd.Space(
                seasonal=qd.Float(0.0, 1.0),
                kind=qd.Categorical(["boosting", "kernel"]),
                bandwidth=qd.Float(1e-2, 1e2, log=True, when={"kind": "kernel"}),
                booster=qd.Categorical(["tree", "dart", "linear"], when={"kind": "boosting"}),
                reg=qd.Float(1e-6, 1e1, log=True, when={"booster": "linear"}),
                depth=qd.Int(2, 64, log=True, when={"booster": ["tree", "dart"]}),
                drop=qd.Float(0.0, 0.9, when={"booster": "dart"}),
                sampling=qd.Categorical(["uniform", "gradient"], when={"booster": "tree"}),
                top=qd.Float(0.05, 0.5, when={"sampling": "gradient"}),
                rest=qd.Float(0.05, 0.5, when={"sampling": "gradient"}),
            ),
        ),
        Conditional(
            "shared names, own bounds",
            qd.Space(
                optimizer=qd.Categorical(["sgd", "adam", "rmsprop"]),
                sgd_rate=qd.Float(1e-3, 1.0, log=True, when={"optimizer": "sgd"}),
                adam_rate=qd.Float(1e-6, 1e-2, log=True, when={"optimizer": "adam"}),
                rmsprop_rate=qd.Float(1e-5, 1e-1, log=True, when={"optimizer": "rmsprop"}),
                momentum=qd.Float(0.0, 0.99, when={"optimizer": ["sgd", "rmsprop"]}),
                beta=qd.Float(0.5, 0.999, when={"optimizer": "adam"}),
                decay=qd.Float(1e-6, 1e-1, log=True),
                warmup=qd.Float(0.0, 0.5),
            ),
            asked={"sgd_rate": "rate", "adam_rate": "rate", "rmsprop_rate": "rate"},
        ),
        Conditional(
            "switches at a cost",
            qd.Space(
                rate=qd.Float(1e-4, 1.0, log=True),
                augment=qd.Categorical([False, True]),
                strength=qd.Float(0.0, 1.0, when={"augment": True}),
                crops=qd.Float(0.1, 1.0, when={"augment": True}),
                smooth=qd.Categorical([False, True]),
                smoothing=qd.Float(0.0, 0.5, when={"smooth": True}),
                average=qd.Categorical([False, True]),
                decay=qd.Float(0.5, 0.999, when={"average": True}),
                width=qd.Float(0.0, 1.0),
            ),
            worse=0.15,
        ),
    )
}

SAMPLERS: dict[str, Callable[[Conditional, int], BaseSampler]] = {
    DECLARED: lambda problem, seed: qd.QuadratSampler(search_space=problem.space, seed=seed),
    LEARNED: lambda _, seed: qd.QuadratSampler(seed=seed),
    TPE: lambda _, seed: TPESampler(multivariate=True, group=True, seed=seed),
    RANDOM: lambda _, seed: RandomSampler(seed=seed),
}


def outcome(method: str, problem: Conditional, seed: int, n: int) -> Row:
    """Run a study; return the regret of the best trial, and whether a complete setting is recommended."""
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    loss = problem.loss(seed)
    study = optuna.create_study(sampler=SAMPLERS[method](problem, seed))
    if method == DECLARED:
        study.optimize(lambda trial: loss(qd.suggest(trial, problem.space)), n_trials=n)
        return {"regret": rounded(study.best_value)}
    study.optimize(lambda trial: loss(problem.by_run(trial)), n_trials=n)
    if method in (TPE, RANDOM):
        return {"regret": rounded(study.best_value)}
    params = qd.recommend(study).params
    found = problem.by_run(FixedTrial(params))  # raises where a parameter is missing
    return {
        "regret": rounded(study.best_value),
        "recommended": rounded(loss(found)),
        "complete": len(found) == len(params),
    }


def run(method: str, problem: str, seed: int, n: int) -> Row:
    """Run once."""
    return recorded((method, problem, seed, n), lambda: outcome(method, PROBLEMS[problem], seed, n), ("optuna",))


@dataclass(frozen=True)
class Compared:
    """Logarithms of paired ratios of regret."""

    logs: Sequence[float]

    @property
    def mean(self) -> float:
        """The geometric mean of the ratios."""
        return math.exp(float(np.mean(self.logs)))

    @cached_property
    def interval(self) -> tuple[float, float]:
        """A 95 % bootstrap interval of it, over runs."""
        rng = np.random.default_rng(0)
        logs = np.array(self.logs)
        means = logs[rng.integers(len(logs), size=(RESAMPLED, len(logs)))].mean(axis=1)
        low, high = np.quantile(means, [0.025, 0.975]).tolist()
        return math.exp(low), math.exp(high)

    def __str__(self) -> str:
        return "{:.2f} ({:.2f} to {:.2f})".format(self.mean, *self.interval)


def tables(rows: Sequence[Row], n: int) -> str:
    """Return median regrets and paired ratios, from the rows with n trials."""
    good = [row for row in rows if row["n"] == n and "error" not in row]
    regret = {(row["method"], row["problem"], row["seed"]): max(row["regret"], FLOOR) for row in good}
    complete_ones = {(row["problem"], row["seed"]): row["complete"] for row in good if row["method"] == LEARNED}
    problems = [name for name in PROBLEMS if any(row["problem"] == name for row in good)]
    medians, ratios = [], []
    everything: dict[str, list[float]] = {method: [] for method in (DECLARED, TPE, RANDOM)}
    for problem in problems:
        of = {method: {s: r for (m, p, s), r in regret.items() if m == method and p == problem} for method in SAMPLERS}
        done = [whole for (p, _), whole in complete_ones.items() if p == problem]
        middle = (f"{np.median([*of[method].values()]):.4f}" if of[method] else "" for method in SAMPLERS)
        medians.append((problem, str(len(done)), *middle, f"{sum(done)} of {len(done)}"))
        cells = []
        for method, logs in everything.items():
            paired = [math.log(r / of[method][s]) for s, r in of[LEARNED].items() if s in of[method]]
            logs += paired
            cells.append(str(Compared(paired)) if paired else "")
        ratios.append((problem, *cells))
    ratios.append(("all", *(str(Compared(logs)) if logs else "" for logs in everything.values())))
    first = table(("regret, median", "seeds", *SAMPLERS, "recommended"), medians)
    second = table(("regret of learned over that of", *everything), ratios)
    failed = sum("error" in row for row in rows)
    note = f"\n\nLeft out: {failed} of {len(rows)} runs, which raised an error." if failed else ""
    return f"{first}\n\n{second}{note}"


def main() -> None:
    chosen = options(__doc__, workers=True)
    if chosen.smoke:
        print(tables([run(method, name, 0, SMOKE_TRIALS) for name in PROBLEMS for method in SAMPLERS], SMOKE_TRIALS))
        return
    cells = [(method, problem, seed, TRIALS) for seed in SEEDS for problem in PROBLEMS for method in SAMPLERS]
    stamp(("optuna",))  # before anything runs: what runs is what is on disk now
    complete(ROWS, run, cells, workers=chosen.workers)
    rows: list[Row] = read_rows(ROWS)
    commits = " and ".join(sorted({row["commit"] for row in rows}))
    measured = f"{TRIALS} trials without noise, seeds {SEEDS[0]}, {SEEDS[1]}, ..., {SEEDS[-1]}; rows of {commits}"
    publish("define_by_run", "Spaces that are learned", tables(rows, TRIALS), write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
