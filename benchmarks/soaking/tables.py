"""The tables of benchmarks/soak.py, from its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from regret.rows import Row
from timing import table

from soaking.fleet import COUNTS, TIMES

__all__ = ["growth", "tables"]

MINUTE = 60.0  # seconds of an evaluation, for how many workers one coordinator feeds
UNIT = 1000  # the number of trials whose time others are divided by
_PARTS = ("log", "history", "search")
_HOW_MEMORY = """Resident memory, after garbage collection, is of the whole process. Held is what is reached from the
optimizer, in bytes for every trial: the log that a restart needs, the history, and what the search has learned from.
Times are CPU milliseconds since the checkpoint before; a suggestion is ask and tell together, the mean. Documented is
that of [scaling.md](scaling.md), where as many results were loaded at once."""
_HOW_JOURNAL = """The coordinator alone is counted in memory and CPU time, not the workers. Opening is what a restart
costs until the study is there, next ask until its first suggestion."""
_HOW_FLEET = """Evaluations take log-normal virtual times of mean 1. Times are of the coordinator's process: asking,
telling and all between, while the fleet is filled and when it is full. Fed is how many workers, with evaluations of one
minute, it could keep busy. Busy is the share of the workers' virtual time that was used: less than all, because the
last evaluations are waited for. Asked while it ran: points that were asked for when the very same was being
evaluated; second looks come after it had ended."""
_HOW_REGRET = """Regret of the best point whose evaluation had ended, without noise, at virtual times, in mean
evaluation times; then after the same number of evaluations; at the end, of the recommended point. In series one
evaluation comes after another."""


def tables(rows: Sequence[Row], documented: Mapping[int, float]) -> str:
    """Return all tables of what was measured, and what was not.

    Parameters
    ----------
    rows
        Of any parts.
    documented
        CPU milliseconds of a suggestion by the number of results, from another measurement.
    """
    good = [row for row in rows if "error" not in row]

    def of(*kinds: str) -> list[Row]:
        return [row for row in good if row["method"].split()[0] in kinds]

    parts = [part for row in of("memory") for part in (_memory(row, documented), _HOW_MEMORY, _leaks(row))]
    journals, fleets = of("journal"), of("study", "maximize", "random")
    if journals:
        parts += [_journals(journals), _HOW_JOURNAL]
    if fleets:
        parts += [_fleets([row for row in fleets if row["workers"] > 1]), _HOW_FLEET, _regrets(fleets), _HOW_REGRET]
    parts += [
        f"Not measured: {row['method']} with {row['n']:,} trials: {row['error']}." for row in rows if "error" in row
    ]
    return "\n\n".join(parts)


def growth(checkpoints: Sequence[Row], figure: Callable[[Row], float]) -> float:
    """Return what a figure grows by for every trial, from the checkpoint nearest to the middle to the last."""
    last = checkpoints[-1]
    middle = min(checkpoints[:-1], key=lambda row: abs(row["n"] - last["n"] / 2))
    return (figure(last) - figure(middle)) / int(last["n"] - middle["n"])


def _held(row: Row) -> int:
    return sum(int(row["bytes"][part]) for part in _PARTS)


def _suggestion(seen: Row) -> float:
    """Mean CPU milliseconds of ask and tell together."""
    return float(seen["ask"]["mean"] + seen["tell"]["mean"])


def _memory(row: Row, documented: Mapping[int, float]) -> str:
    lines, checkpoints = [], [seen for seen in row["checkpoints"] if seen["n"]]
    # The first thousand learn at every few trials, from all of them; what comes then is to stay as it is.
    unit = _suggestion(next((seen for seen in checkpoints if seen["n"] > UNIT), checkpoints[-1]))
    for seen in checkpoints:
        n = seen["n"]
        suggestion = _suggestion(seen)
        lines.append(
            (
                f"{n:,}",
                f"{seen['mb']['now']:.0f}",
                *(f"{seen['bytes'][part] / n:,.0f}" for part in _PARTS),
                *(_short(seen["ask"][kind]) for kind in ("median", "mean", "most")),
                _short(seen["tell"]["mean"]),
                _short(suggestion),
                f"{suggestion / unit:.2f}",
                _short(documented[n]) if n in documented else "",
                f"{documented[n] / documented[UNIT]:.2f}" if n in documented and UNIT in documented else "",
            )
        )
    head = (
        "trials", "resident MB", *(f"held a trial: {part}, bytes" for part in _PARTS), "ask, median", "mean", "highest",
        "tell, mean", "suggestion", "/ that of the next after the first thousand", "documented", f"/ that at {UNIT:,}",
    )  # fmt: skip
    return table(head, lines)


def _leaks(row: Row) -> str:
    seen = row["checkpoints"]
    resident = growth(seen, lambda one: float(one["mb"]["now"] * (1 << 20)))
    held = growth(seen, _held)
    rebuilt = sum(row["rebuilt_bytes"][part] for part in _PARTS)
    lines = [
        ("resident memory grows in the second half, bytes a trial", f"{resident:,.0f}"),
        ("what the optimizer holds grows, bytes a trial", f"{held:,.0f}"),
        ("ratio", f"{resident / held:.2f}"),
        ("held at the end / by an optimizer built from its state", f"{_held(seen[-1]) / rebuilt:.3f}"),
        ("state as JSON, MB", _short(row["state_mb"])),
        ("state, CPU s", _short(row["seconds_of"]["state"])),
        ("from_state, CPU s", _short(row["seconds_of"]["from_state"])),
        ("the next suggestion after a restart is the same", "yes" if row["same"] else "no"),
    ]
    return table((f"after {row['n']:,} trials", ""), lines)


def _journals(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        looks = [{"n": look["evaluated"], "mb": look["mb"]} for look in row["looks"]]
        states = row["states"]
        lines += [
            ("workers", str(row["workers"])),
            ("trials, complete", f"{states.get('COMPLETE', 0):,} of {row['n']:,}"),
            ("left running", str(states.get("RUNNING", 0))),
            ("numbered without gaps", "yes" if row["numbers"] else "no"),
            ("evaluations", f"{row['evaluated']:,}"),
            ("every trial evaluated exactly once", "yes" if row["once"] else "no"),
            ("trials a second", _short(row["trials_a_second"])),
            ("coordinator, CPU ms a trial", _short(1e3 * row["cpu_a_trial"])),
            ("journal, bytes a trial", f"{row['bytes_a_trial']:,.0f}"),
            ("coordinator, resident MB at the end", f"{looks[-1]['mb']:.0f}"),
            ("it grows in the second half, bytes a trial", _bytes_a_look(looks)),
            ("opening, CPU s", _short(row["seconds_of"]["open"])),
            ("next ask, CPU s", _short(row["seconds_of"]["next_ask"])),
        ]
    return table(("a study on a journal file", ""), lines)


def _resident_bytes(seen: Row) -> float:
    return float(seen["mb"] * (1 << 20))


def _bytes_a_look(looks: Sequence[Row]) -> str:
    if len({look["n"] for look in looks}) < 3:
        return ""
    end = next(look for look in looks if look["n"] == looks[-1]["n"])  # afterwards it only cleans up
    before = [look for look in looks if look["n"] < end["n"]]
    return f"{growth([*before, end], _resident_bytes):,.0f}"


def _fleets(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        kind, filling, full = row["method"].split()[0], row["cpu"]["filling"], row["cpu"]["full"]
        lines.append(
            (
                kind,
                f"{row['workers']:,}",
                f"{row['n']:,}",
                _short(1e3 * filling),
                _short(1e3 * full) if full else "",
                _short(1 / full) if full else "",
                f"{MINUTE / full:,.0f}" if full else "",
                f"{row['busy']:.2f}",
                str(row["repeats"]["running"]),
                str(row["repeats"]["later"]),
                f"{row['mb']['most']:.0f}",
            )
        )
    head = (
        "coordinator", "workers", "evaluations", "CPU ms a suggestion, filling", "full", "suggestions a second",
        "fed", "busy", "asked while it ran", "second looks", "highest MB",
    )  # fmt: skip
    return table(head, lines)


def _regrets(rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        regret, kind = row["regret"], row["method"].split()[0]
        name = "in series" if row["workers"] == 1 else f"{kind}, {row['workers']:,} workers"
        at = [regret["at"].get(str(time)) for time in TIMES]
        after = [regret["after"].get(str(count)) for count in COUNTS]
        lines.append((name, *map(_regret, at), *map(_regret, after), _regret(regret["recommended"])))
    head = ("", *(f"at {time}" for time in TIMES), *(f"after {count:,}" for count in COUNTS), "recommended")
    return table(head, lines)


def _regret(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
