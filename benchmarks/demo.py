"""Whether `make demo` tells the truth: what it recommends, over many seeds, against scores on fresh splits.

    python benchmarks/demo.py [--runs 20] [--trials 60] [--splits 200] [--workers 1 2] [--emulated] [--report] [--smoke]

Every run is the command of the demo, `quadrat tune` on examples/boosting, with a seed of its own, on one and on two
workers. Its objective draws random splits anew whenever it is called, so that a run cannot be repeated, nor its noise.
The truth is the mean score at the recommended setting on so many further splits, the same for all runs; it is known to
about .006.

`--emulated` runs the default method on the demo's space with a function in the place of the trainings: a bell around a
point that the seed draws, between .16 and .46, with the noise of a score on four splits. Of two trials at a time the
noise is drawn for each, or shared, correlated as two scores on the same splits are (both figures are of forty pairs of
scores). It was shared as long as both workers were forked from one process and drew from copies of one generator.

Runs are kept in benchmarks/results/demo.jsonl and not run again; then benchmarks/results/demo.md is written. `--report`
only writes that. Seeds are even.
"""

from __future__ import annotations

from timing import ROOT, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

import argparse
import contextlib
import io
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from regret.rows import stamp

import quadrat as qd
from quadrat.cli import main as quadrat
from quadrat.cli.study_commands import opened
from quadrat.randomness import generator
from quadrat.studies import ObjectiveReference

Row: TypeAlias = dict[str, Any]

FOLDER = ROOT / "examples" / "boosting"
ROWS = ROOT / "benchmarks" / "results" / "demo.jsonl"
PAGE = ROOT / "benchmarks" / "results" / "demo.md"
LEVELS = (0.5, 0.8, 0.9)
NOISE, CORRELATION = 0.032, 0.95  # of a score on four splits; between the scores of two settings on the same splits
BEST, RANGE = 0.46, 0.3  # of the function in the place of trainings
_FRESH = 1  # the seed of the splits that are the truth
_EMULATED = 83  # names the stream


def run(seed: int, workers: int, trials: int, splits: int) -> Row:
    """Tune once; return what was promised and what is true."""
    objective = f"{FOLDER / 'train.py'}:score"
    with tempfile.TemporaryDirectory() as folder:
        journal = str(Path(folder) / "demo.journal")
        options = ["--direction", "maximize", "--n-trials", str(trials), "--workers", str(workers)]
        options += ["--space", str(FOLDER / "space.toml"), "--seed", str(seed), "--storage", journal]
        with contextlib.redirect_stdout(io.StringIO()):
            status = quadrat(["tune", objective, *options])
        if status:
            raise RuntimeError(f"quadrat tune ended with {status}")
        found = qd.recommend(opened(None, journal))
    score = ObjectiveReference.read(objective).load()
    assert found.value is not None
    assert found.best_seen.value is not None
    return {
        "seed": seed,
        "workers": workers,
        "trials": trials,
        "splits": splits,
        "promised": found.value,
        "intervals": [found.interval(level) for level in LEVELS],
        "noise": found.noise,
        "luckiest promised": found.best_seen.value,
        "true": score(dict(found.params), splits=splits, seed=_FRESH),
        "luckiest true": score(dict(found.best_seen.params), splits=splits, seed=_FRESH),
        **stamp(("scikit-learn",)),
    }


def emulated(seed: int, workers: int, trials: int, *, shared: bool) -> Row:
    """Run the default method on a function with noise; of trials that run at a time it may be `shared`."""
    rng = generator(seed, _EMULATED)
    space = qd.Space.from_toml(FOLDER / "space.toml")
    centre, widths = rng.uniform(0.2, 0.8, 6), rng.permutation(np.geomspace(0.3, 3.0, 6))
    optimizer = qd.Optimizer(space, direction="maximize", seed=seed)

    def score(params: Mapping[str, Any]) -> float:
        return float(BEST - RANGE * -np.expm1(-np.sum(((space.to_unit(params) - centre) / widths) ** 2)))

    for _ in range(trials // workers):
        common, running = rng.standard_normal(), [optimizer.ask() for _ in range(workers)]
        for trial in running:
            own = rng.standard_normal()
            drawn = CORRELATION**0.5 * common + (1 - CORRELATION) ** 0.5 * own if shared else own
            optimizer.tell(trial, score(trial.params) + NOISE * drawn)
    found = optimizer.recommend()
    assert found.value is not None
    return {
        "seed": seed,
        "workers": workers,
        "trials": trials,
        "emulated": "shared" if shared else "own",
        "promised": found.value,
        "intervals": [found.interval(level) for level in LEVELS],
        "noise": found.noise,
        "luckiest promised": found.best_seen.value,
        "true": score(found.params),
        "luckiest true": score(found.best_seen.params),
        **stamp(()),
    }


def _cell(row: Row) -> tuple[str, int]:
    """What runs of a line of the table have in common."""
    return row.get("emulated", ""), row["workers"]


def report(rows: Sequence[Row], trials: int) -> str:
    """Return the table: a line for each number of workers, then those of functions in the place of trainings."""
    lines = []
    for cell in sorted({_cell(row) for row in rows}):
        some = [row for row in rows if _cell(row) == cell]
        held = [
            sum(row["intervals"][i][0] <= row["true"] <= row["intervals"][i][1] for row in some)
            for i in range(len(LEVELS))
        ]
        promised, true, lucky, lucky_true, noise = (
            np.array([row[name] for row in some], dtype=np.float64)
            for name in ("promised", "true", "luckiest promised", "luckiest true", "noise")
        )
        widths = [row["intervals"][-1][1] - row["intervals"][-1][0] for row in some]
        lines.append(
            (
                str(cell[1]) + (f", emulated, noise {cell[0]}" if cell[0] else ""),
                str(len(some)),
                *(f"{count}" for count in held),
                f"{np.median(widths):.3f}",
                f"{np.mean(promised):.3f}",
                f"{np.mean(true):.3f}",
                f"{np.mean(promised - true):+.3f}",
                f"{np.mean(lucky):.3f}",
                f"{np.mean(lucky_true):.3f}",
                f"{np.median(noise):.3f}",
            )
        )
    head = (
        "workers", "runs", *(f"{100 * level:.0f} % holds in" for level in LEVELS), "width of 90 %, median",
        "promised, mean", "true, mean", "difference", "luckiest trial promised", "true", "noise found, median",
    )  # fmt: skip
    commits = sorted({row["commit"] for row in rows if row.get("commit")})
    return f"{trials} trials a run; rows are of {' and '.join(commits) or 'no commit'}.\n\n{table(head, lines)}"


def main() -> None:
    """Run what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--emulated", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--smoke", action="store_true", help="one run of 6 trials; keeps nothing")
    chosen = parser.parse_args()
    if chosen.smoke:
        print(report([run(1, 1, 6, 2), emulated(1, 2, 6, shared=True)], 6))
        return
    rows = [json.loads(text) for text in ROWS.read_text().splitlines()] if ROWS.exists() else []
    done = {(row["seed"], _cell(row), row["trials"]) for row in rows}
    kinds = [("own", 1), ("own", 2), ("shared", 2)] if chosen.emulated else [("", each) for each in chosen.workers]
    for seed in range(0, 0 if chosen.report else 2 * chosen.runs, 2):
        for kind, workers in kinds:
            if (seed, (kind, workers), chosen.trials) in done:
                continue
            if kind:
                rows.append(emulated(seed, workers, chosen.trials, shared=kind == "shared"))
            else:
                rows.append(run(seed, workers, chosen.trials, chosen.splits))
            with ROWS.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    text = report([row for row in rows if row["trials"] == chosen.trials], chosen.trials)
    PAGE.write_text(f"# Whether the demo tells the truth\n\nMade by `python benchmarks/demo.py`; {text}\n")
    print(text)


if __name__ == "__main__":
    main()
