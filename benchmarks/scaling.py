"""What many observations cost our default method: time of ask and tell, memory, restarts; peers beside it.

    python benchmarks/scaling.py [--smoke] [--write]

Each measurement is a process of its own; `scaling_measurement` says what is measured. hartmann6, noise .1; times are of
one thread. Rounds over all sizes are repeated with three seeds; tables have medians over them, and ratios are taken
within rounds.

Measurements are kept in benchmarks/results/scaling.jsonl and not made again. Those of peers need `make peers` and are
left out without. --write updates benchmarks/results/scaling.md and scaling.svg.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path[:0] = [str(ROOT / "src"), str(ROOT / "docs")]

import json
import statistics
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from charts import Line, Panel, chart
from regret.roster import OURS, ROSTER
from regret.rows import Cell, Row, complete, read_rows, recorded
from scaling_measurement import PEERS, PROBLEM

SIZES = (50, 100, 300, 1000, 3000, 10_000, 30_000, 100_000)
WITH_PEERS, RESTARTED = 1000, (100, 20_000)
SEEDS = (0, 2, 4)
TURNS = {"curve": 60, "peers": 3, "restart": 120}
UNIT = 1000  # the size whose time others are divided by
SMOKE_SIZES, SMOKE_TURNS = (30, 60), 2
LIMIT = 3600  # seconds of a measurement
RESULTS = ROOT / "benchmarks" / "results"
PEER_PYTHON = ROOT / ROSTER[PEERS[0]].environment / "bin" / "python"
SCRIPT = Path(__file__).with_name("scaling_measurement.py")
RESTART_CALLS = {
    "ask": "one ask",
    "state": "state, as JSON",
    "from_state": "from_state",
    "next_ask_after_restart": "the next ask after it",
}
HOW = """`load` takes in all N results. Then come a first ask and tell, and {turns} more: medians, and the highest,
which are those that learn, where any do. A suggestion is ask and tell together, the mean. MB are resident memory: of
the whole process, the most that it had, and what is added to one that holds the old results themselves."""


def run(what: str, problem: str, seed: int, n: int) -> Row:
    """Measure once; the measurement stands in the place of the method."""
    return measured_apart(what, problem, seed, n, TURNS[what])


def measured_apart(what: str, problem: str, seed: int, n: int, turns: int) -> Row:
    """Return the row of a measurement in a process of its own; one that dies, or takes too long, leaves an error."""
    python = str(PEER_PYTHON) if what == "peers" else sys.executable
    command = [python, str(SCRIPT), what, str(n), str(seed), str(turns)]
    try:
        out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=LIMIT).stdout
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        ended = f"exit status {error.returncode}" if isinstance(error, subprocess.CalledProcessError) else "too long"

        def fail() -> Row:
            raise RuntimeError(ended)

        return recorded((what, problem, seed, n), fail)
    found: Row = json.loads(out.splitlines()[-1])
    return found


def cells(sizes: Sequence[int], with_peers: int, restarted: Sequence[int], seeds: Sequence[int]) -> list[Cell]:
    """Return what is measured, round by round."""
    found: list[Cell] = []
    for seed in seeds:
        found += [("curve", PROBLEM, seed, size) for size in sizes]
        if PEER_PYTHON.exists():
            found.append(("peers", PROBLEM, seed, with_peers))
        found += [("restart", PROBLEM, seed, size) for size in restarted]
    return found


def tables(rows: Sequence[Row]) -> str:
    """Return the tables of what was measured, and what was not."""
    good = [row for row in rows if "error" not in row]
    parts = []
    by_kind = {what: [row for row in good if row["method"] == what] for what in TURNS}
    if by_kind["curve"]:
        turns = " or ".join(map(str, sorted({row["turns"] for row in by_kind["curve"]})))
        parts += [_curve(by_kind["curve"]), HOW.format(turns=turns)]
    if by_kind["peers"]:
        parts.append(_peers(by_kind["peers"]))
    if by_kind["restart"]:
        for size in sorted({row["n"] for row in by_kind["restart"]}):
            parts.append(_restart([row for row in by_kind["restart"] if row["n"] == size]))
    parts += [
        f"Not measured: {row['method']} with {row['n']:,}, seed {row['seed']}: {row['error']}."
        for row in rows
        if "error" in row
    ]
    return "\n\n".join(parts)


def _median_of(row: Row, call: str, clock: str = "cpu") -> float:
    """The median seconds of a call."""
    return float(statistics.median(row["seconds_of"][call][clock]))


def _mean_of(row: Row, call: str) -> float:
    """The mean CPU seconds of a call."""
    return float(statistics.mean(row["seconds_of"][call]["cpu"]))


def _over_rows(rows: Sequence[Row], figure: Callable[[Row], float], form: str = ",.3g") -> str:
    """The median of a figure of rows, written."""
    return _written(statistics.median(figure(row) for row in rows), form)


def _written(value: float, form: str = ",.3g") -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:{form}}"


def _highest_of(row: Row, call: str) -> float:
    """The highest CPU seconds of a call."""
    return float(max(row["seconds_of"][call]["cpu"]))


def _mean_suggestion(row: Row) -> float:
    """Mean CPU seconds of an ask and a tell."""
    return sum(statistics.fmean(row["seconds_of"][call]["cpu"]) for call in ("ask", "tell"))


def _first_suggestion(row: Row) -> float:
    """CPU seconds of the first ask and tell."""
    return _median_of(row, "first_ask") + _median_of(row, "first_tell")


def _curve(rows: Sequence[Row]) -> str:
    units = {row["seed"]: _mean_suggestion(row) for row in rows if row["n"] == UNIT}
    lines = []
    for size in sorted({row["n"] for row in rows}):
        found = [row for row in rows if row["n"] == size]
        ratios = [_mean_suggestion(row) / units[row["seed"]] for row in found if row["seed"] in units]
        cells = [f"{size:,}", str(len(found)), _over_rows(found, lambda row: _median_of(row, "load", "wall"))]
        cells.append(_over_rows(found, lambda row: 1e3 * _first_suggestion(row)))
        for call in ("ask", "tell"):
            of_calls = (
                [_median_of(row, call) for row in found],
                [_median_of(row, call, "wall") for row in found],
                [_highest_of(row, call) for row in found],
            )
            cells += [_written(1e3 * statistics.median(seconds)) for seconds in of_calls]
        cells.append(_over_rows(found, lambda row: 1e3 * _mean_suggestion(row)))
        cells.append(f"{statistics.median(ratios):.2f}" if ratios else "")
        cells.append(_over_rows(found, lambda row: row["mb"]["now"], ".0f"))
        cells.append(_over_rows(found, lambda row: row["mb"]["most"], ".0f"))
        cells.append(_over_rows(found, lambda row: row["mb"]["now"] - row["mb"]["before"], ".1f"))
        lines.append(tuple(cells))
    head = (
        "N", "rounds", "load, s", "first ask and tell, CPU ms", "ask, CPU ms", "wall ms", "highest, CPU ms",
        "tell, CPU ms", "wall ms", "highest, CPU ms", "suggestion, CPU ms", f"/ that at N = {UNIT:,}",
        "MB", "most", "added",
    )  # fmt: skip
    return table(head, lines)


def _peers(rows: Sequence[Row]) -> str:
    lines = []
    size = rows[0]["n"]
    for name in (OURS, *PEERS):
        cells = [ROSTER[name].title]
        for average in (statistics.median, statistics.fmean):
            times = [1e3 * average(row["cpu"][name]) for row in rows]
            ratios = [average(row["cpu"][name]) / average(row["cpu"][OURS]) for row in rows]
            cells.append(_written(statistics.median(times)))
            spread = f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
            cells.append("" if name == OURS else spread)
        lines.append(tuple(cells))
    head = (
        f"suggestion after {size:,} old results", "CPU ms, median of a round", "/ ours (lowest to highest round)",
        "CPU ms, mean of a round", "/ ours (lowest to highest round)",
    )  # fmt: skip
    return table(head, lines)


def _restart(rows: Sequence[Row]) -> str:
    lines = []
    for call, title in RESTART_CALLS.items():
        seconds = [_mean_of(row, call) for row in rows]
        ratios = [_mean_of(row, call) / _mean_of(row, "ask") for row in rows]
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        lines.append((title, _written(statistics.median(seconds)), "" if call == "ask" else spread))
    text = table((f"restart at N = {rows[0]['n']:,}", "CPU s", "/ one ask (lowest to highest round)"), lines)
    same = sum(row["same"] for row in rows)
    megabytes = _over_rows(rows, lambda row: row["state_mb"])
    how = f"One ask is the mean of the last {min(rows[0]['turns'], rows[0]['n'])}: some are quicker than others."
    found = f"The next suggestion is identical in {same} of {len(rows)} rounds. The state is {megabytes} MB."
    return f"{text}\n\n{how} {found}"


def figure(rows: Sequence[Row]) -> str:
    """Return time and memory against N as SVG."""
    good = [row for row in rows if row["method"] == "curve" and "error" not in row]
    sizes = sorted({row["n"] for row in good})

    def line(name: str, of_row: Callable[[Row], float]) -> Line:
        heights = [statistics.median(of_row(row) for row in good if row["n"] == size) for size in sizes]
        return Line(name, sizes, heights, marks=True)

    times = [
        line("ask", lambda row: 1e3 * _median_of(row, "ask")),
        line("tell", lambda row: 1e3 * _median_of(row, "tell")),
        line("suggestion, mean", lambda row: 1e3 * _mean_suggestion(row)),
    ]
    memory = [
        line("resident MB", lambda row: row["mb"]["now"]),
        line("highest resident MB", lambda row: row["mb"]["most"]),
    ]
    panels = [
        Panel("Time", "old results", "CPU ms", times, log_x=True, log_y=True),
        Panel("Memory of the process", "old results", "MB", memory, log_x=True, log_y=True),
    ]
    return chart(panels, 2, title="Time of ask and tell, and memory, against the number of observations")


def main() -> None:
    chosen = options(__doc__)
    if not PEER_PYTHON.exists():
        print("The peers are not installed; `make peers` installs them. Their rows are left out.", file=sys.stderr)
    if chosen.smoke:
        found = [
            measured_apart(*cell, SMOKE_TURNS) for cell in cells(SMOKE_SIZES, SMOKE_SIZES[0], SMOKE_SIZES[:1], (0,))
        ]
        print(tables(found))
        return
    path = RESULTS / "scaling.jsonl"
    complete(path, run, cells(SIZES, WITH_PEERS, RESTARTED, SEEDS))
    rows: list[Row] = read_rows(path)
    commits = " and ".join(sorted({row["commit"] for row in rows}))
    text = f"{tables(rows)}\n\n![time and memory against observations](scaling.svg)"
    measured = f"each measurement in a process of its own, medians over rounds, one BLAS thread; rows of {commits}"
    publish("scaling", "What many observations cost", text, write=chosen.write, measured=measured)
    if chosen.write:
        (RESULTS / "scaling.svg").write_text(figure(rows))


if __name__ == "__main__":
    main()
