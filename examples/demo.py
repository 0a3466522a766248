"""A real tuning job, with workers. Run by `make demo`.

Tunes scikit-learn's gradient boosting on the diabetes data that come with it, as anybody would with one command, and
compares what it recommends with the luckiest trial and with the model's own defaults, on splits that nobody tuned on.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from threadpoolctl import threadpool_limits

import quadrat as qd
from quadrat.cli import main
from quadrat.cli.study_commands import opened
from quadrat.studies import ObjectiveReference

FOLDER = Path(__file__).parent / "boosting"
SEED = 1  # of the splits for the comparison, the same for all


def run(n_trials: int = 60, fresh: int = 60) -> int:
    """Tune, then compare on so many fresh splits; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        journal = str(Path(folder) / "demo.journal")
        options = ["--space", str(FOLDER / "space.toml"), "--direction", "maximize", "--n-trials", str(n_trials)]
        workers = ["--workers", str(min(4, os.cpu_count() or 1))]
        print(f"$ quadrat tune train.py:score --space space.toml {' '.join([*options[2:], *workers])}\n")
        status = main(["tune", f"{FOLDER / 'train.py'}:score", *options, *workers, "--storage", journal])
        if status == 0:
            compare(qd.recommend(opened(None, journal)), n_trials, fresh)
    return status


def compare(found: qd.Recommendation, n_trials: int, fresh: int) -> None:
    """Print scores on fresh splits."""
    score = ObjectiveReference.read(f"{FOLDER / 'train.py'}:score").load()
    settings = {"recommended": found.params, "best seen": found.best_seen.params, "the model's own defaults": {}}
    print(f"\nR² on {fresh} other splits, the same for all:")
    for name, params in settings.items():
        with threadpool_limits(1):
            value = score(dict(params), splits=fresh, seed=SEED)
        print(f"  {name:26}{value:.3f}")
    low, high = found.interval(0.9)
    print(
        f"The luckiest of {n_trials} trials promised {found.best_seen.value:.3f}, the recommendation {found.value:.3f}"
        f" ({low:.3f} to {high:.3f}, 90 %)."
    )
    if found.noise is not None:
        print(f"One trial at the same setting differs from the next by a standard deviation of {found.noise:.3f}.")


if __name__ == "__main__":
    sys.exit(run())
