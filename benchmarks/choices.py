"""Many choices: how well the acquisition is searched, and what a suggestion costs.

    python benchmarks/choices.py [--smoke] [--write] [--workers 1]

Three spaces: a choice of 100 levels beside others, binary switches, and conditions that are nested three deep. Each has
a small case, whose 1,600 to 2,316 settings can all be looked at, and a large one, for which that is too much.

searched     the default method, whose search climbs from candidates and moves to better neighbours as long as there are
             any, on the small case
exhaustive   the same, which looks at all settings that are left at every trial
former       the same, whose search moves once to a better neighbour, of twelve of a choice at most: as it was before
             version 4 of the method, and is in other methods

The small cases have 50 trials without noise and 20 even seeds; a seed draws the values of choices, the optimum, and
what the method draws. "Found" counts the runs that evaluated the optimum. "As high" is the share of suggestions of
`searched` whose acquisition is that of the best of all settings, up to 1e-9, and "short by" the mean difference where
it is not, in the log of expected improvement. CPU seconds are those of a suggestion in the large case: in each of ten
rounds the method is told 45 uniform settings, and the median of five suggestions counts. Rows are kept in
benchmarks/results/choices.jsonl and not run again. --write updates benchmarks/results/choices.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

import statistics
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from regret.rows import Row, complete, read_rows, recorded, rounded, stamp

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.methods.auto import acquisition
from quadrat.methods.auto import method as auto
from quadrat.methods.auto.acquisition import AutoAcquisition
from quadrat.randomness import generator
from quadrat.space.parameter import Parameter

TRIALS, SMOKE_TRIALS = 50, 14
SEEDS = tuple(range(0, 40, 2))
TOLD, ASKED, ROUNDS = 45, 5, 10
ROWS = ROOT / "benchmarks" / "results" / "choices.jsonl"
SEARCHED, EXHAUSTIVE, FORMER, COST = "searched", "exhaustive", "former", "cost"
SMALL = (SEARCHED, EXHAUSTIVE, FORMER)
_AS_HIGH = 1e-9
_TOLD_STREAM = 77
LEVELS = [f"level {i}" for i in range(100)]
BITS = ["off", "on"]


@dataclass(frozen=True)
class Case:
    """A space with many choices, small and large."""

    name: str
    small: qd.Space
    large: qd.Space


def _nested(small: bool) -> qd.Space:
    def number(**when: Any) -> Parameter:
        return qd.Int(0, 11, when=when or None) if small else qd.Float(0.0, 1.0, when=when or None)

    return qd.Space(
        model=qd.Categorical(["linear", "kernel", "trees"]),
        rate=number(),
        penalty=number(model=["linear", "kernel"]),
        booster=qd.Categorical(["plain", "dart", "goss"], when={"model": "trees"}),
        depth=number(booster=["plain", "dart"]),
        sampling=qd.Categorical(["uniform", "gradient"], when={"booster": "goss"}),
        top=number(sampling="gradient"),
        rest=number(sampling="gradient"),
    )


CASES = {
    one.name: one
    for one in (
        Case(
            "100 levels",
            qd.Space(level=qd.Categorical(LEVELS), kind=qd.Categorical(["a", "b"]), size=qd.Int(0, 7)),
            qd.Space(level=qd.Categorical(LEVELS), kind=qd.Categorical(["a", "b"]), x=qd.Float(0, 1), y=qd.Float(0, 1)),
        ),
        Case(
            "switches",
            qd.Space.from_dict({f"switch_{i}": qd.Categorical(BITS) for i in range(11)}),
            qd.Space.from_dict({f"switch_{i}": qd.Categorical(BITS) for i in range(20)}),
        ),
        Case("three conditions", _nested(small=True), _nested(small=False)),
    )
}


def values_of(space: qd.Space, name: str, seed: int) -> Any:
    """Return the function of a seed, from parameters to a value; the higher, the better.

    Choices have normal effects, half of the switches next to none, and numbers a best value.
    """
    rng = np.random.default_rng([zlib.crc32(name.encode()), seed])
    effects: dict[str, dict[Any, float]] = {}
    best: dict[str, float] = {}
    for key, parameter in space.items():
        if isinstance(parameter, qd.Categorical):
            weight = rng.choice([0.05, 1.0]) if key.startswith("switch") else 1.0
            effects[key] = {choice: float(weight * rng.normal()) for choice in parameter.choices}
        else:
            best[key] = rng.uniform(0.1, 0.9)

    def value(params: Mapping[str, Any]) -> float:
        total = 0.0
        for key, given in params.items():
            if key in effects:
                total += effects[key][given]
            else:
                [unit] = space[key].encode(space[key].read([given])).tolist()
                total -= 2.0 * (unit - best[key]) ** 2
        return total

    return value


def all_settings(space: qd.Space) -> list[dict[str, Any]]:
    """Return every setting of a small case."""
    from quadrat.space.constraint import listed_settings

    points = listed_settings(space)
    assert points is not None
    found: list[dict[str, Any]] = space.from_units(points)
    return found


@contextmanager
def searching(kind: str, gaps: list[float]) -> Iterator[None]:
    """Have the acquisition searched as a contender does; collect how far each search falls short."""
    few = 10**6 if kind == EXHAUSTIVE else auto.FEW
    rounds, levels = (1, 12) if kind == FORMER else (acquisition.ROUNDS, acquisition.LEVELS)
    maximise = AutoAcquisition.maximise

    def compared(
        self: AutoAcquisition, best: Array, rng: np.random.Generator, box: tuple[Array, Array] | None = None
    ) -> tuple[Array, float]:
        point, value = maximise(self, best, rng, box)
        if self.domain.settings is not None:
            gaps.append(float(self.at(self.domain.settings).max()) - value)
        return point, value

    with (
        patch.object(auto, "FEW", few), patch.object(AutoAcquisition, "maximise", compared),
        patch.object(acquisition, "ROUNDS", rounds), patch.object(acquisition, "LEVELS", levels),
    ):  # fmt: skip
        yield


def outcome(kind: str, case: str, seed: int, n: int) -> Row:
    """Run one of the contenders on a small case, or measure the large one in the round that the seed names."""
    if kind == COST:
        return {"cpu": rounded(cost_of(CASES[case], seed, n))}
    space = CASES[case].small
    gaps: list[float] = []
    value = values_of(space, case, seed)
    top = max(map(value, all_settings(space)))
    with searching(kind, gaps):
        found = qd.maximize(value, space, n_trials=n, seed=seed)
    short = [gap for gap in gaps if gap > _AS_HIGH]
    return {
        "found": any(record.value is not None and record.value >= top for record in found.trials),
        "regret": rounded(top - value(found.params)),
        "searches": len(gaps),
        "short": len(short),
        "short by": rounded(statistics.fmean(short)) if short else 0.0,
    }


def cost_of(case: Case, round_: int, n: int) -> float:
    """Return the median CPU seconds of a suggestion and its tell, in the large case, after all but five of n trials."""
    value = values_of(case.large, case.name, round_)
    optimizer = qd.Optimizer(case.large, direction="maximize", seed=round_)
    noise = generator(round_, _TOLD_STREAM)
    told = case.large.sample(n - ASKED, noise)
    optimizer.add_trials(told, [value(params) + 0.1 * noise.normal() for params in told])
    taken = []
    for _ in range(ASKED):
        begin = time.process_time()
        trial = optimizer.ask()
        optimizer.tell(trial, value(trial.params) + 0.1 * noise.normal())
        taken.append(time.process_time() - begin)
    return statistics.median(taken)


def run(kind: str, case: str, seed: int, n: int) -> Row:
    """Run once."""
    return recorded((kind, case, seed, n), lambda: outcome(kind, case, seed, n))


def tables(rows: Sequence[Row]) -> str:
    """Return tables of what was found, and of how well and how fast was searched."""
    good = [row for row in rows if "error" not in row]
    lines, second = [], []
    for name, case in CASES.items():
        of = {kind: {r["seed"]: r for r in good if r["method"] == kind and r["problem"] == name} for kind in KINDS}
        common = [seed for seed in of[SEARCHED] if all(seed in of[kind] for kind in SMALL)]
        if not common:
            continue
        rows_of = {kind: [of[kind][seed] for seed in common] for kind in SMALL}
        lines.append((
            name, f"{len(all_settings(case.small)):,}", str(len(common)),
            *(str(sum(row["found"] for row in rows_of[kind])) for kind in SMALL),
            *(f"{statistics.fmean(row['regret'] for row in rows_of[kind]):.3f}" for kind in SMALL),
        ))  # fmt: skip
        cpu = [row["cpu"] for row in of[COST].values()]
        second.append((
            name, *(words for kind in (SEARCHED, FORMER) for words in _heights(rows_of[kind])),
            f"{1e3 * statistics.median(cpu):.0f} ({1e3 * min(cpu):.0f} to {1e3 * max(cpu):.0f})" if cpu else "",
        ))  # fmt: skip
    head = (
        "small case", "settings", "seeds",
        *(f"found, {kind}" for kind in SMALL), *(f"mean regret, {kind}" for kind in SMALL),
    )  # fmt: skip
    other = (
        "search", *(f"{words}, {kind}" for kind in (SEARCHED, FORMER) for words in ("as high", "short by")),
        "large case: CPU ms a suggestion at n = 50",
    )  # fmt: skip
    failed = sum("error" in row for row in rows)
    note = f"\n\nLeft out: {failed} of {len(rows)} runs, which raised an error." if failed else ""
    return f"{table(head, lines)}\n\n{table(other, second)}{note}"


def _heights(rows: Sequence[Row]) -> tuple[str, str]:
    """Return which share of the searches came as high as the best setting, and by how much the others fell short."""
    searches, short = sum(row["searches"] for row in rows), sum(row["short"] for row in rows)
    by = sum(row["short"] * row["short by"] for row in rows) / short if short else 0.0
    return f"{100 * (1 - short / searches):.1f} % of {searches}" if searches else "", f"{by:.2g}" if short else ""


KINDS = (*SMALL, COST)


def main() -> None:
    chosen = options(__doc__, workers=True)
    if chosen.smoke:
        print(tables([run(kind, case, 0, SMOKE_TRIALS) for case in CASES for kind in KINDS]))
        return
    small = [(kind, case, seed, TRIALS) for seed in SEEDS for case in CASES for kind in SMALL]
    cost = [(COST, case, number, TOLD + ASKED) for number in range(ROUNDS) for case in CASES]
    stamp(())  # before anything runs: what runs is what is on disk now
    complete(ROWS, run, [*cost, *small], workers=chosen.workers)
    rows: list[Row] = read_rows(ROWS)
    commits = " and ".join(sorted({row["commit"] for row in rows}))
    measured = f"{TRIALS} trials without noise, seeds {SEEDS[0]}, {SEEDS[1]}, ..., {SEEDS[-1]}; rows of {commits}"
    publish("choices", "Many choices", tables(rows), write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
