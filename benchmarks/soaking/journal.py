"""A long study on a journal file with many worker processes: `quadrat tune`, watched from outside.

    python benchmarks/soaking/journal.py N WORKERS SEED

hartmann6, noise .1; an evaluation takes no time, so that the coordinator and the file are what limits. Workers write
down what they evaluate, each call one line of a file of its own kind: so it is known from the other side how often each
trial was evaluated. Resident memory of the coordinator and the size of the journal are looked at while it runs.

Then the study is opened again in another process: seconds to open it, and to have the next suggestion.

Prints a row as JSON.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from timing import ROOT  # isort: skip  # sets the number of BLAS threads

sys.path.insert(0, str(ROOT / "src"))

import json
import os
import subprocess
import tempfile
import time
from collections import Counter
from typing import Any

import numpy as np
from regret.rows import Row, recorded, rounded

__all__ = ["PROBLEM", "evaluate", "measured"]

PROBLEM = "hartmann6"
_DIMENSION = 6
_LOOK = 0.5  # seconds between looks at the coordinator
_PLACE = "SOAK_EVALUATED"  # the variable that tells workers where to write
_PARAMETER = '[x{}]\ntype = "float"\nlow = 0.0\nhigh = 1.0\n'


def evaluate(params: dict[str, float]) -> float:
    """Write down what is evaluated, in one write, and return its value with noise."""
    from regret.task import NOISE

    import problems

    line = json.dumps(params, sort_keys=True) + "\n"
    place = os.open(os.environ[_PLACE], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(place, line.encode())
    finally:
        os.close(place)
    point = np.array([params[f"x{axis}"] for axis in range(_DIMENSION)])
    # The noise of a point follows from it: no worker needs to know what others drew.
    noise = np.random.default_rng(np.frombuffer(point.tobytes(), dtype=np.uint32)).normal()
    return float(problems.get(PROBLEM).values(point)[0] + NOISE * noise)


def soaked(n: int, workers: int, seed: int) -> Row:
    """Run the study, look at it, and open it again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "space.toml").write_text("\n".join(_PARAMETER.format(axis) for axis in range(_DIMENSION)))
        seen = _watched(folder, n, workers, seed)
        size = (folder / "journal").stat().st_size
        found = json.loads(
            subprocess.run(
                [sys.executable, __file__, "reopen", str(folder / "journal")],
                stdout=subprocess.PIPE, check=True, text=True,
            ).stdout
        )  # fmt: skip
        evaluated = Counter((folder / "evaluated").read_text().splitlines())
        trials = Counter(found.pop("params"))
    return {
        "workers": workers,
        **seen,
        **found,
        "bytes_a_trial": rounded(size / n),
        "evaluated": sum(evaluated.values()),
        "once": evaluated == trials,  # every trial of the study exactly once, and nothing else
    }


def _watched(folder: Path, n: int, workers: int, seed: int) -> Row:
    """Run `quadrat tune` to its end; return its times, and its memory against the journal's size."""
    sources = os.pathsep.join([str(ROOT / "src"), str(ROOT / "benchmarks"), str(ROOT / "experiments")])
    environment = {**os.environ, "PYTHONPATH": sources, _PLACE: str(folder / "evaluated")}
    command = [
        sys.executable, "-m", "quadrat.cli", "tune", f"{__file__}:evaluate", "--space", str(folder / "space.toml"),
        "--direction", "maximize", "--seed", str(seed), "--n-trials", str(n), "--workers", str(workers),
        "--storage", str(folder / "journal"), "--json",
    ]  # fmt: skip
    begin, looks = time.perf_counter(), []
    with (folder / "out").open("w") as out:
        tuning = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=subprocess.STDOUT)
        while tuning.poll() is None:
            looks.append((_lines(folder / "evaluated"), *_memory_and_cpu(tuning.pid)))
            time.sleep(_LOOK)
    seconds = time.perf_counter() - begin
    if tuning.returncode != 0:
        raise RuntimeError(f"quadrat tune ended with {tuning.returncode}: {(folder / 'out').read_text()[-200:]}")
    alive = [look for look in looks if look[1] > 0]
    known = [look for look in alive if look[0] > 0] or alive  # a few trials may end between two looks
    kept = [known[i] for i in sorted({round(i) for i in np.linspace(0, len(known) - 1, min(len(known), 60))})]
    return {
        "trials_a_second": rounded(n / seconds),
        "cpu_a_trial": rounded(known[-1][2] / n),
        "looks": [{"evaluated": count, "mb": rounded(mb)} for count, mb, _ in kept],
    }


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _memory_and_cpu(pid: int) -> tuple[float, float]:
    """Resident MB of a process and the CPU seconds that it used; 0 where that is not known (any more)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0, 0.0
    resident = next((line for line in status.splitlines() if line.startswith("VmRSS")), None)
    ticks = int(fields[11]) + int(fields[12])
    return (int(resident.split()[1]) / 1024 if resident else 0.0), ticks / os.sysconf("SC_CLK_TCK")


def reopened(path: str) -> Row:
    """Open a study; return seconds, the states of its trials and what was evaluated."""
    import optuna
    from scaling_measurement import warm_up

    from quadrat.studies.distributions import suggest
    from quadrat.studies.notes import kept_space
    from quadrat.studies.opening import open_study
    from quadrat.studies.storage import open_storage

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warm_up()  # what is imported at first use is no cost of a long study
    begin = time.process_time()
    study = open_study(open_storage(path), None, space=None, direction=None, method=None, seed=None)
    opened = time.process_time()
    trials = study.get_trials(deepcopy=False)
    space = kept_space(study)
    assert space is not None
    suggest(study.ask(), space)
    asked = time.process_time()
    seconds = {"open": opened - begin, "next_ask": asked - opened}
    return {
        "states": Counter(trial.state.name for trial in trials),
        "numbers": sorted(trial.number for trial in trials) == list(range(len(trials))),
        "params": [json.dumps(trial.params, sort_keys=True) for trial in trials],
        "seconds_of": {name: rounded(value) for name, value in seconds.items()},
    }


def measured(n: int, workers: int, seed: int) -> Row:
    """Return the row of a run; what it raises becomes "error"."""
    return recorded((f"journal {workers}", PROBLEM, seed, n), lambda: soaked(n, workers, seed), ("optuna",))


def main() -> None:
    if sys.argv[1] == "reopen":
        found: dict[str, Any] = reopened(sys.argv[2])
    else:
        n, workers, seed = map(int, sys.argv[1:])
        found = measured(n, workers, seed)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
