"""A million results in a CSV file: how long `quadrat tell --csv` takes, in how much memory, and what a kill leaves.

    python benchmarks/imports.py [--smoke] [--write]

On each storage the command imports a file of a million rows with three parameters; the same command again finds all of
them. Then, in a new storage, it is killed (kill -9) when it has written a part of the rows, and repeated to its end;
with 50,000 rows it is killed ten times in turn. Whether each row is there once is read from the storage, not
asked of the command: by the identity that a trial keeps of its row, and by the sum of all values.
Unless it is --smoke, rows are kept in benchmarks/results/imports.jsonl, and what is there is not done again;
--write updates imports.md beside it.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path[:0] = [str(ROOT), str(ROOT / "src")]

import json
import math
import os
import random
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import RDBStorage
from regret.rows import Row, read_rows, stamp
from tests.postgres import PostgresServer, why_not

from quadrat.studies import open_storage
from quadrat.studies.journal import SoundJournalBackend
from quadrat.studies.storage import close_storage
from quadrat.studies.transitions import ROW

ROWS = ROOT / "benchmarks" / "results" / "imports.jsonl"
HEAD = ("storage", "rows", "command", "kills", "minutes", "CPU minutes", "GiB", "lost", "twice")
SPACE = """
[rate]
type = "float"
low = 1e-5
high = 1.0
log = true
[layers]
type = "int"
low = 1
high = 8
[kind]
type = "categorical"
choices = ["a", "b", "c"]
"""
SEED = 2
MANY, FEWER, SMOKE = 1_000_000, 50_000, 400
KILLS = 10  # of the import of the smaller file
LOOK = 0.05  # seconds between looks at how many rows are there
_CREATED = 4  # Optuna's code for the record of a new trial


@dataclass(frozen=True)
class Ended:
    """How a command ended: its status, its seconds, and the most memory that it had, in GiB."""

    status: int
    seconds: float
    cpu: float
    memory: float


def write_file(path: Path, count: int) -> float:
    """Write a file of results; return the sum of their values."""
    rng = random.Random(SEED)  # noqa: S311
    values = []
    with path.open("w") as file:
        file.write("rate,layers,kind,value\n")
        for _ in range(count):
            values.append(round(rng.gauss(0.0, 1.0), 9))
            rate = 10 ** rng.uniform(-5.0, 0.0)
            file.write(f"{rate:.12g},{rng.randrange(1, 9)},{rng.choice('abc')},{values[-1]!r}\n")
    return math.fsum(values)


def run(folder: Path, count: int, where: str, *, until: int | None = None) -> Ended:
    """Import a file; kill that when so many rows are there."""
    program = "import sys; from quadrat.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = ["tell", "--csv", f"{count}.csv", "--space", "space.toml", "--storage", where]
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=folder, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    if until is not None:
        count_rows = counter(folder, where)
        while process.poll() is None and count_rows() < until:
            time.sleep(LOOK)
        process.kill()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Ended(
        process.returncode, time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / (1 << 20)
    )


def counter(folder: Path, where: str) -> Callable[[], int]:
    """Return what says how many trials there are about, without reading them."""
    if "://" not in where:
        path = folder / where
        each = 700.0  # bytes of a record
        return lambda: int(path.stat().st_size / each) if path.exists() else 0
    from sqlalchemy import create_engine, text

    engine = create_engine(where.replace("sqlite:///", f"sqlite:///{folder}/"))

    def count() -> int:
        try:
            with engine.connect() as connection:
                return int(connection.execute(text("SELECT count(*) FROM trials")).scalar_one())
        except Exception:  # there is no table yet
            return 0

    return count


def found(folder: Path, where: str) -> Iterator[tuple[str, float]]:
    """Yield the identity and the value of each trial in a storage."""
    if "://" not in where:
        for record in SoundJournalBackend(str(folder / where)).read_logs(0):
            if record["op_code"] == _CREATED:
                yield record["system_attrs"][ROW], record["value"]
        return
    from sqlalchemy import text

    storage: Any = open_storage(where.replace("sqlite:///", f"sqlite:///{folder}/"))
    backend = storage if isinstance(storage, RDBStorage) else storage._backend
    query = text(
        "SELECT a.value_json, v.value FROM trials t"
        " LEFT JOIN trial_system_attributes a ON a.trial_id = t.trial_id AND a.key = :row"
        " LEFT JOIN trial_values v ON v.trial_id = t.trial_id"
    ).bindparams(row=ROW)
    with backend.engine.connect() as connection:
        yield from ((json.loads(name), value) for name, value in connection.execute(query))
    close_storage(storage)


def audit(folder: Path, where: str, count: int, total: float) -> tuple[int, int]:
    """Return how many rows are lost, and how many are there twice."""
    names, values = set[str](), []
    for name, value in found(folder, where):
        names.add(name)
        values.append(value)
    twice = len(values) - len(names)
    assert twice or len(names) != count or math.fsum(values) == total, "all rows are there, with other values"
    return count - len(names), twice


def measure(name: str, count: int, kills: int, new: Callable[[], str]) -> Iterator[Row]:
    """Import, and import again; or kill the import, and repeat it."""
    with tempfile.TemporaryDirectory() as inside:
        folder, where = Path(inside), new()
        (folder / "space.toml").write_text(SPACE)
        total = write_file(folder / f"{count}.csv", count)
        rng = random.Random(SEED + count)  # noqa: S311
        ends = sorted(rng.randrange(count // 20, count) for _ in range(kills))
        killed = [run(folder, count, where, until=end) for end in ends]
        assert all(one.status in (0, -signal.SIGKILL) for one in killed), killed
        # One that ended before it was killed does not count.
        really = sum(one.status != 0 for one in killed)
        for command in ("repeated",) if kills else ("first", "again"):
            yield row_of(name, count, command, really, run(folder, count, where), audit(folder, where, count, total))


def row_of(name: str, count: int, command: str, kills: int, ended: Ended, judged: tuple[int, int]) -> Row:
    assert ended.status == 0, ended
    lost, twice = judged
    sizes = {"seconds": round(ended.seconds, 1), "cpu": round(ended.cpu, 1), "memory": round(ended.memory, 2)}
    row: Row = {"storage": name, "rows": count, "command": command, "kills": kills, "lost": lost, "twice": twice}
    return {**row, **sizes, **stamp(("optuna",))}


@contextmanager
def storages() -> Iterator[dict[str, Callable[[], str]]]:
    """Yield what makes a new storage of each kind, of those that there are here."""
    kinds: dict[str, Callable[[], str]] = {
        "journal": lambda: "imported.journal",
        "SQLite": lambda: "sqlite:///imported.db",
    }
    reason = why_not()
    if reason is not None:
        print(f"PostgreSQL: not possible here: {reason}", file=sys.stderr)
        yield kinds
        return
    with PostgresServer() as server:
        yield {**kinds, "PostgreSQL": server.new_database}


def imported(smoke: bool) -> list[Row]:
    rows: list[Row] = [] if smoke or not ROWS.exists() else read_rows(ROWS)
    done = {(row["storage"], row["rows"], row["kills"] > 0) for row in rows}
    cases: list[tuple[int, int]] = [(SMOKE, 0), (SMOKE, 2)] if smoke else [(MANY, 0), (FEWER, KILLS), (MANY, 1)]
    with storages() as kinds:
        for count, kills in cases:
            for name, new in kinds.items():
                if (name, count, kills > 0) in done or (smoke and name != "journal"):
                    continue
                print(f"{name}, {count:,} rows, {kills} kills ...", file=sys.stderr, flush=True)
                these = list(measure(name, count, kills, new))
                rows += these
                if not smoke:
                    with ROWS.open("a") as file:
                        file.writelines(json.dumps(row) + "\n" for row in these)
    return rows


def cells(row: Row) -> tuple[str, ...]:
    command = {"first": "first", "again": "again, all there", "repeated": "repeated after the last kill"}[
        row["command"]
    ]
    times = (f"{row[name] / 60:.1f}" for name in ("seconds", "cpu"))
    counts = (f"{row[name]:,}" for name in ("lost", "twice"))
    return row["storage"], f"{row['rows']:,}", command, str(row["kills"]), *times, f"{row['memory']:.2f}", *counts


def main() -> None:
    chosen = options(__doc__)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    rows = sorted(imported(chosen.smoke), key=lambda row: (-row["rows"], row["kills"]))
    versions = ", ".join(sorted({row["versions"]["optuna"] for row in rows}))
    commits = ", ".join(sorted({row["commit"] for row in rows}))
    text = f"{table(HEAD, [cells(row) for row in rows])}\n\nQuadrat at {commits}; optuna {versions}."
    measured = "minutes passed on a machine of two cores that other programs kept busy"
    publish("imports", "A million results in a file", text, write=chosen.write, measured=measured)


if __name__ == "__main__":
    main()
