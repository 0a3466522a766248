"""Write the comparison from the rows in results/: report.md, its figure regret.svg, and summary.md, which README shows.

    python benchmarks/regret/report.py [--seeds even|odd|all] [--n 50] [--print]

Even seeds count unless others are asked for: odd ones are for tuning our own method. `--print` shows the page and
writes nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / "benchmarks"), str(_ROOT / "src"), str(_ROOT / "docs")]

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from charts import Line, Panel, chart

from regret.comparison import Comparison, Interval, Measure, words
from regret.roster import OURS, ROSTER, Entry
from regret.rows import RESULTS, Row, read_rows
from regret.suite import PROBLEMS, SUITES

__all__ = ["BASE", "failures", "figure", "median_table", "page", "summary"]

BASE = "random"
TITLES = {
    "plain": "Plain: seven classics, noise .1",
    "shifted": "Shifted: the same, the optimum moved by each seed",
    "bbob": "BBOB: eight functions in five dimensions, noise .1",
    "tuning": "Tuning: eight scikit-learn models, noise of random splits",
}
COUNTED = {"even": (0,), "odd": (1,), "all": (0, 1)}
EIGHT = tuple(name for name in PROBLEMS if name.removesuffix("~") in ("branin8", "goldstein8", "levy8"))
# Families share a colour.
LINES = {
    OURS: ("#0072B2", False), "optuna_gp": ("#D55E00", False), "optuna_tpe": ("#D55E00", True),
    "botorch": ("#009E73", False), "turbo": ("#009E73", True), "ax": ("#CC79A7", False), "hebo": ("#E69F00", False),
    "egobox": ("#56B4E9", False), "cma": ("#8a929b", False), BASE: ("#8a929b", True),
}  # fmt: skip
PAGE = """# Regret against peers

Made by `python benchmarks/regret/report.py` from the rows beside it; {seeds}, n = {n}. Problems, methods and what a row
holds are described in `suite.py`, `roster.py` and `rows.py`; every method meets the same noise at the same evaluation.
{earlier}

Regret is that of the recommended point, without noise: medians over seeds, the lowest in bold. "/ random" is the
geometric mean over problems of a method's median over random search's; "ours /" that of our median over the method's;
both over the seeds in common, with 95 % bootstrap intervals over seeds. Below 1 under "ours /", we are better.

{suites}

## Mean ranks

Within each problem and seed, 1 is the best; over problems and seeds that all methods of a column have; 95 % bootstrap
intervals over problems and seeds. A method without rows on some problem of a column is left out of it.

{ranks}

## Statements

How true what we say of the recommended point is, at the end of a run: how often the 90 % interval holds its value, how
often the upper value of the estimated gain holds the true gain (the regret), medians of estimate and upper value over
the true gain, and the median upper value over the 90 % quantile of true gains. Of the runs that have statements of the
method as it is.

{beliefs}

## CPU time

Milliseconds of one core for a suggestion (ask and tell) at the end of a run, median; on the problems of eight
dimensions, on BBOB (five) and on tunings. Rows were made on machines of different speed, some of them busy, so that
times are a rough guide; benchmarks/suggestion.py compares three methods in one run.

{times}

## Regret against evaluations

![regret against evaluations](regret.svg)

Best evaluated point (tunings: best observed); geometric mean over problems of the median regret over random search's
final one. Methods without curves on a whole suite are not drawn.

## Runs that failed

{failures}
"""


def page(rows: Sequence[Row], *, seeds: str, n: int) -> str:
    """Return the report in Markdown."""
    compared = _comparison(rows, seeds, n)
    counted = compared.rows
    earlier = sum("source" in row for row in counted)
    return PAGE.format(
        seeds="all seeds" if seeds == "all" else f"{seeds} seeds",
        n=n,
        earlier=f"Of {len(counted)} rows, {earlier} are from an earlier harness with the same settings.",
        suites="\n\n".join(_suite(compared, suite) for suite in SUITES),
        ranks=_ranks(compared),
        beliefs=_beliefs(compared),
        times=_times(compared),
        failures=failures(counted),
    )


def summary(rows: Sequence[Row], *, seeds: str, n: int) -> str:
    """Return one table of the suites with the most to say: regret over random search's, ours over each peer's, CPU."""
    compared = _comparison(rows, seeds, n)
    shown = ("shifted", "plain", "bbob", "tuning")
    lines = []
    for method, entry in ROSTER.items():
        cells = []
        for suite in shown:
            problems = SUITES[suite]
            complete = compared.covers(method, problems) and compared.covers(OURS, problems)
            found = compared.ratio(OURS, method, problems, "recommended") if complete and method != OURS else None
            cells.append(words(found, len(problems)))
        counts = [len(compared.seeds(method, problem)) for problem in SUITES["shifted"]]
        over_base = compared.ratio(method, BASE, SUITES["shifted"], "recommended") if method != BASE else None
        times = _times_of(compared, method, EIGHT)
        speed = _milliseconds(times)
        lines.append([entry.title, str(min(counts)), f"{over_base.value:.2f}" if over_base else "1", *cells, speed])
    head = ["method", "seeds", "regret / random's", *(f"ours / theirs, {suite}" for suite in shown), "ms a suggestion"]
    return _table(head, lines) + "\n"


def figure(rows: Sequence[Row], *, seeds: str, n: int) -> str:
    """Return the regret-against-evaluations chart as SVG."""
    compared = _comparison(rows, seeds, n)
    panels = []
    for suite in SUITES:
        lines = []
        for method in _methods(compared, SUITES[suite]):
            found = compared.curve(method, BASE, suite)
            if found is not None:
                lines.append(Line(ROSTER[method].title, *found, dashed=LINES[method][1]))
        if lines:  # suites without rows yet have nothing to show
            panels.append(Panel(suite, "evaluations", "regret / random's last", lines, log_y=True))
    colours = {ROSTER[method].title: colour for method, (colour, _) in LINES.items()}
    return chart(panels, 2, colours, title="Regret against evaluations")


def _comparison(rows: Sequence[Row], seeds: str, n: int) -> Comparison:
    return Comparison([row for row in rows if row["n"] == n and row["seed"] % 2 in COUNTED[seeds]])


def _methods(compared: Comparison, problems: Sequence[str], roster: Mapping[str, Entry] = ROSTER) -> list[str]:
    """Methods with a row on any of the problems, in the order of the roster."""
    return [method for method in roster if any(compared.seeds(method, problem) for problem in problems)]


def median_table(compared: Comparison, problems: Sequence[str], roster: Mapping[str, Entry] = ROSTER) -> str:
    """Return median regrets of the methods with rows on the problems, and ratios; nothing where there are no rows."""
    methods = _methods(compared, problems, roster)
    if not methods:
        return ""
    medians = {
        (method, problem): float(np.median(compared.regrets(method, problem, "recommended")))
        for method in methods
        for problem in problems
        if compared.seeds(method, problem)
    }
    lowest = {problem: min(medians.get((method, problem), np.inf) for method in methods) for problem in problems}
    lines = []
    for method in methods:
        counts = [len(compared.seeds(method, problem)) for problem in problems]
        cells = []
        for problem in problems:
            median = medians.get((method, problem))
            figure = "" if median is None else f"{median:.3g}"
            cells.append(f"**{figure}**" if median is not None and median <= lowest[problem] else figure)
        said = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
        lines.append([roster[method].title, said, *cells, *_ratios(compared, method, problems, "recommended")])
    return _table(["method", "seeds", *problems, "/ random", "ours /"], lines)


def _suite(compared: Comparison, suite: str) -> str:
    problems = SUITES[suite]
    methods = _methods(compared, problems)
    if not methods:
        return f"## {TITLES[suite]}\n\nNo rows yet."
    evaluated = [
        [
            ROSTER[method].title,
            *_ratios(compared, method, problems, "evaluated"),
            *_ratios(compared, method, problems, "observed"),
        ]
        for method in methods
    ]
    second = ["method", "best evaluated / random", "ours /", "best observed / random", "ours /"]
    return f"## {TITLES[suite]}\n\n{median_table(compared, problems)}\n\n{_table(second, evaluated)}"


def _ratios(compared: Comparison, method: str, problems: Sequence[str], measure: Measure) -> tuple[str, str]:
    over_base = None if method == BASE else compared.ratio(method, BASE, problems, measure)
    over_method = None if method == OURS else compared.ratio(OURS, method, problems, measure)
    return words(over_base, len(problems)), words(over_method, len(problems))


def _ranks(compared: Comparison) -> str:
    columns = {**SUITES, "all": PROBLEMS}
    ranked: dict[str, dict[str, Interval]] = {}
    for name, problems in columns.items():
        methods = [method for method in ROSTER if compared.covers(method, problems)]
        ranked[name] = compared.ranks(methods, problems, "recommended") if len(methods) > 1 else {}
    lines = []
    for method, entry in ROSTER.items():
        cells = [ranked[name].get(method) for name in columns]
        if any(cells):
            lines.append([entry.title, *(f"{c.value:.1f} ({c.low:.1f} to {c.high:.1f})" if c else "" for c in cells)])
    head = [f"{name}, {max((c.problems for c in ranked[name].values()), default=0)} problems" for name in columns]
    return _table(["method", *head], lines) if lines else "No column has two methods with rows on all its problems."


def _beliefs(compared: Comparison) -> str:
    lines = []
    for name, problems in {**SUITES, "all": PROBLEMS}.items():
        held, above, ratios, upper, gains = [], [], [], [], []
        for row in compared.good:
            if row["method"] != OURS or row["problem"] not in problems or "beliefs" not in row:
                continue
            believed, gain = row["beliefs"], compared.regret(row, "recommended")
            low, high = believed["interval"]
            held.append(low <= row["best"] - row["regret"]["recommended"] <= high)
            above.append(believed["gain_upper"] >= gain)
            upper.append(believed["gain_upper"])
            gains.append(gain)
            ratios.append((believed["gain"] / max(gain, 1e-9), believed["gain_upper"] / max(gain, 1e-9)))
        if held:
            shares = (f"{100 * np.mean(part):.0f} %" for part in (held, above))
            medians = (*np.median(ratios, axis=0), np.median(upper) / np.quantile(gains, 0.9))
            lines.append([name, str(len(held)), *shares, *(f"{ratio:.2f}" for ratio in medians)])
    head = ["suite", "runs", "interval holds", "upper gain holds", "gain / true", "upper gain / true", "upper / 90 %"]
    return _table(head, lines) if lines else "No rows yet."


def _times(compared: Comparison) -> str:
    columns = (EIGHT, SUITES["bbob"], SUITES["tuning"])
    lines = []
    for method, entry in ROSTER.items():
        found = [_times_of(compared, method, problems) for problems in columns]
        if any(found):
            lines.append([entry.title, *(_milliseconds(times) for times in found)])
    return _table(["method", "D = 8", "bbob", "tuning"], lines) if lines else "No times yet."


def _times_of(compared: Comparison, method: str, problems: Sequence[str]) -> list[float]:
    """CPU seconds of one suggestion at the end of each run that has them."""
    return [
        row["cpu_per_suggestion"]
        for row in compared.good
        if row["method"] == method and row["problem"] in problems and "cpu_per_suggestion" in row
    ]


def _milliseconds(times: Sequence[float]) -> str:
    """The median of times in seconds, in milliseconds, for a table."""
    if not times:
        return ""
    median = 1e3 * float(np.median(times))
    return f"{median:,.0f}" if median >= 100 else f"{median:.2g}"


def failures(rows: Sequence[Row], roster: Mapping[str, Entry] = ROSTER) -> str:
    """Return a table of the runs that failed."""
    found = Counter((row["method"], row["problem"], row["error"]) for row in rows if "error" in row)
    lines = [[roster[m].title, p, str(count), error.replace("|", "/")] for (m, p, error), count in found.items()]
    return _table(["method", "problem", "runs", "error"], lines) if lines else "None."


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


def main() -> None:
    """Read the rows, write the report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", choices=COUNTED, default="even")
    parser.add_argument("--n", type=int, default=50)
    parser.add_argument("--print", action="store_true", help="show the page and write nothing")
    given = parser.parse_args()
    rows = [row for method in ROSTER for row in read_rows(RESULTS / f"{method}.jsonl")]
    text = page(rows, seeds=given.seeds, n=given.n)
    if given.print:
        print(text)
        return
    (RESULTS / "report.md").write_text(text)
    (RESULTS / "summary.md").write_text(summary(rows, seeds=given.seeds, n=given.n))
    (RESULTS / "regret.svg").write_text(figure(rows, seeds=given.seeds, n=given.n))


if __name__ == "__main__":
    main()
