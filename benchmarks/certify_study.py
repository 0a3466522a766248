"""How long does it take to certify a stored Optuna study?

    python benchmarks/certify_study.py [--trials 1000] [--repeats 3] [--smoke] [--write]

A study of Floats, by random search, in a journal; D = 2 and 5; plain values with noise .05. Measured is the time that a
user waits for `quadrat certify`: the study is opened, read and certified, the point that the default method recommends
and one more setting, with 4,096 cells. CPU seconds of one process, one BLAS thread, medians: what it takes where
nothing else runs.
"""

from __future__ import annotations

import os

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import optuna

import quadrat as qd
from quadrat.randomness import generator

DIMENSIONS = (2, 5)
NOISE = 0.05
STATED = qd.RunAssumptions(
    kernel=qd.Matern(2.5, 0.7), lengthscales="unit cube", norm_bound=3.0, offset=0.0, noise=NOISE
)


def stored(path: Path, dimension: int, trials: int) -> None:
    """Write a study."""
    study = optuna.create_study(
        storage=qd.journal_storage(path),
        study_name="measured",
        sampler=optuna.samplers.RandomSampler(seed=0),
    )

    def objective(trial: optuna.Trial) -> float:
        x = np.array([trial.suggest_float(f"x{i}", 0.0, 1.0) for i in range(dimension)])
        return float(((x - 0.4) ** 2).sum() / dimension + NOISE * generator(0, trial.number).normal())

    study.optimize(objective, n_trials=trials)


def seconds(path: Path, dimension: int) -> tuple[float, qd.Certification]:
    """Return the CPU seconds to open and certify a study, and what came out."""
    begin = time.process_time()
    study = optuna.load_study(study_name="measured", storage=qd.journal_storage(path))
    setting = {f"x{i}": 0.5 for i in range(dimension)}
    found = qd.certify(study, STATED, params=setting, stated_before_data=True, every_value_counts=True)
    return time.process_time() - begin, found


def measured(trials: int, repeats: int) -> str:
    """Return a Markdown table."""
    lines = ["| D | trials | CPU seconds | certificate of the recommended point |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for dimension in DIMENSIONS:
            path = Path(folder) / f"{dimension}.journal"
            stored(path, dimension, trials)
            took = [seconds(path, dimension) for _ in range(repeats)]
            found = took[0][1].recommended
            width = "rejected" if found is None else f"{found.remaining_regret:.3f}"
            lines.append(f"| {dimension} | {trials:,} | {np.median([one for one, _ in took]):.1f} | {width} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--smoke", action="store_true", help="30 trials, once")
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/certify_study.md")
    chosen = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    trials, repeats = (30, 1) if chosen.smoke else (chosen.trials, chosen.repeats)
    table = measured(trials, repeats)
    print(table)
    if chosen.write and not chosen.smoke:
        made = "Made by `python benchmarks/certify_study.py --write`; medians, one process, one BLAS thread."
        Path(__file__).with_name("results").joinpath("certify_study.md").write_text(
            f"# Certifying a stored study\n\n{made}\n\n{table}\n"
        )


if __name__ == "__main__":
    main()
