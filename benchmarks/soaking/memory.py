"""Memory and time of one optimizer that is asked and told for a long time.

    python benchmarks/soaking/memory.py N SEED CHECKPOINT [CHECKPOINT ...]

hartmann6, noise .1, maximised by the default method, one trial after another. At every checkpoint: resident memory of
the process; the bytes that the optimizer keeps alive, by part; CPU milliseconds of ask and of tell since the checkpoint
before. At the end the state is written as JSON and a new optimizer is built from it: what that one keeps alive is what
the records need, so that what the run holds beyond it would be a leak. Both are asked for the next trial.

Progress goes to standard error, the row, as JSON, to standard output.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from timing import ROOT  # isort: skip  # sets the number of BLAS threads

sys.path.insert(0, str(ROOT / "src"))

import gc
import json
import time
from collections.abc import Sequence

import numpy as np
from regret.rows import Row, recorded, rounded
from regret.task import NOISE, unit_space
from scaling_measurement import resident, warm_up

import problems
import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.randomness import generator
from soaking.held import bytes_held, in_a_copy

__all__ = ["PROBLEM", "measured"]

PROBLEM = "hartmann6"
_NOISE = 61  # names the stream


def measured(n: int, seed: int, checkpoints: Sequence[int]) -> Row:
    """Return the row of a run; what it raises becomes "error"."""
    return recorded(("memory", PROBLEM, seed, n), lambda: soaked(n, seed, checkpoints))


def soaked(n: int, seed: int, checkpoints: Sequence[int]) -> Row:
    """Ask and tell n times; return what was seen at the checkpoints and after a restart."""
    problem, rng = problems.get(PROBLEM), generator(seed, _NOISE)
    space = unit_space(problem.dimension)
    warm_up()  # what is imported at first use is no cost of many trials
    seconds = np.zeros((n, 2))  # of ask and of tell: in one block, which is there before the first trial
    optimizer = qd.Optimizer(space, direction="maximize", seed=seed)
    found: list[Row] = [_looked_at(optimizer, 0, seconds[:0])]
    for number in range(n):
        begin = time.process_time()
        trial = optimizer.ask()
        asked = time.process_time()
        value = float(problem.values(space.to_unit(trial.params))[0] + NOISE * rng.normal())
        ready = time.process_time()
        optimizer.tell(trial, value)
        seconds[number] = asked - begin, time.process_time() - ready
        if number + 1 in checkpoints or number + 1 == n:
            found.append(_looked_at(optimizer, number + 1, seconds[found[-1]["n"] : number + 1]))
            print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    return {"checkpoints": found, **_restarted(optimizer)}


def _looked_at(optimizer: qd.Optimizer, n: int, seconds: Array) -> Row:
    """Memory now, and the times of the last trials, (k, 2)."""
    gc.collect()
    row: Row = {"n": n, "mb": resident(), "objects": len(gc.get_objects())}
    row["bytes"] = in_a_copy(lambda: bytes_held(_parts(optimizer)))
    if len(seconds):
        for i, call in enumerate(("ask", "tell")):
            milliseconds = 1e3 * seconds[:, i]
            kinds = {"mean": milliseconds.mean(), "median": np.median(milliseconds), "most": milliseconds.max()}
            row[call] = {name: rounded(float(value)) for name, value in kinds.items()}
    return row


def _parts(optimizer: qd.Optimizer) -> dict[str, object]:
    """What keeps something of every trial: the log, the history, and what the search has learned from."""
    run = optimizer._run
    return {"space": optimizer.space, "log": run.events, "history": run.history, "search": run.search, "rest": run}


def _restarted(optimizer: qd.Optimizer) -> Row:
    """Build the optimizer again from its state, as it comes back from JSON."""
    begin = time.process_time()
    text = json.dumps(optimizer.state())
    written = time.process_time()
    rebuilt = qd.Optimizer.from_state(optimizer.space, json.loads(text))
    seconds = {"state": written - begin, "from_state": time.process_time() - written}
    size = len(text)
    del text
    gc.collect()
    kept, again = optimizer.ask(), rebuilt.ask()
    return {
        "rebuilt_bytes": in_a_copy(lambda: bytes_held(_parts(rebuilt))),
        "same": (kept.number, kept.params) == (again.number, again.params),
        "state_mb": rounded(size / (1 << 20)),
        "seconds_of": {name: rounded(value) for name, value in seconds.items()},
    }


def main() -> None:
    n, seed, *checkpoints = map(int, sys.argv[1:])
    print(json.dumps(measured(n, seed, checkpoints)))


if __name__ == "__main__":
    main()
