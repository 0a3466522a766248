"""Write the comparison in twenty dimensions from the rows in results/: report.md and its figure, regret.svg.

    python benchmarks/high_dimensions/report.py [--n 2000] [--write]

Even seeds count. The page is printed; `--write` keeps it.
"""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / "benchmarks"), str(_ROOT / "src"), str(_ROOT / "docs")]

import argparse
from collections.abc import Sequence

import numpy as np
from charts import Line, Panel, chart
from checkpoints import milliseconds_at, row_at
from regret.comparison import Comparison, Measure, words
from regret.rows import Row, read_rows
from timing import table

from high_dimensions.contenders import BASE, CONTENDERS, OURS
from high_dimensions.twenty import PROBLEMS

__all__ = ["NUMBERS", "RESULTS", "N", "figure", "page"]

RESULTS = Path(__file__).with_name("results")
N, NUMBERS = 2000, (100, 200, 500, 1000, 1500)  # evaluations of a run; after which it is looked at, besides the end
MEASURES: dict[Measure, str] = {"recommended": "recommended point", "evaluated": "best evaluated point"}
COLOURS = dict(zip(CONTENDERS, ("#0072B2", "#56B4E9", "#009E73", "#E69F00", "#8a929b"), strict=True))
PAGE = """# Twenty dimensions

Made by `python benchmarks/high_dimensions/report.py --write` from the rows beside it; even seeds, n = {n}; rows are of
{commits}. Problems and methods are described in `twenty.py` and `contenders.py`; noise .1, and every method meets the
same at the same evaluation.

{regrets}

Regret without noise: medians over seeds, the lowest in bold. "/ random" is the geometric mean over problems of a
method's median over random search's; "ours /" that of our median over the method's, sequential runs; both over the
seeds in common, with 95 % bootstrap intervals over seeds. Below 1 under "ours /", we are better.

## On the way

Ours / theirs after so many evaluations.

{ratios}

![regret against evaluations](regret.svg)

Recommended point, medians over seeds; quartiles shaded.

## CPU time

Milliseconds of one core for a suggestion (ask and tell): means since the number of evaluations before, medians over
runs. Times compare only within one machine.

{times}
"""


def page(rows: Sequence[Row], *, n: int) -> str:
    """Return the report in Markdown, from the rows with n evaluations and even seeds."""
    counted = _counted(rows, n)
    at = _numbers(counted)
    commits = sorted({row["commit"] for row in counted if "commit" in row})
    failed = [row for row in counted if "error" in row]
    text = PAGE.format(
        n=n,
        commits=" and ".join(commits) or "no commit",
        regrets="\n\n".join(_regrets(Comparison(counted), measure) for measure in MEASURES),
        ratios="\n\n".join(_ratios(counted, at, measure) for measure in MEASURES),
        times=_times(counted, at),
    )
    for row in failed:
        text += f"\nLeft out: {row['method']} on {row['problem']}, seed {row['seed']}: {row['error']}\n"
    return text


def figure(rows: Sequence[Row], *, n: int) -> str:
    """Return the chart of regret against evaluations as SVG, a panel for each problem."""
    counted = _counted(rows, n)
    panels = []
    for problem in PROBLEMS:
        lines = []
        for method, entry in CONTENDERS.items():
            curves = [row["curve"] for row in _of(counted, method, problem)]
            if curves:
                low, middle, high = np.quantile([curve["recommended"] for curve in curves], (0.25, 0.5, 0.75), axis=0)
                dashed = method == BASE
                lines.append(Line(entry.title, curves[0]["n"], middle, low, high, dashed=dashed, marks=True))
        if lines:
            panels.append(Panel(problem, "evaluations", "regret", lines, log_x=True, log_y=True))
    colours = {CONTENDERS[method].title: colour for method, colour in COLOURS.items()}
    return chart(panels, 2, colours, title="Regret against evaluations in twenty dimensions")


def _counted(rows: Sequence[Row], n: int) -> list[Row]:
    return [row for row in rows if row["n"] == n and row["seed"] % 2 == 0]


def _numbers(rows: Sequence[Row]) -> list[int]:
    """Numbers of evaluations that runs were looked at."""
    return sorted({number for row in rows if "error" not in row for number in row["curve"]["n"]})


def _of(rows: Sequence[Row], method: str, problem: str | None = None) -> list[Row]:
    """Rows of a method, on a problem or all, that did not fail."""
    return [
        row for row in rows
        if row["method"] == method and problem in (None, row["problem"]) and "error" not in row
    ]  # fmt: skip


def _regrets(compared: Comparison, measure: Measure) -> str:
    medians = {
        (method, problem): float(np.median(compared.regrets(method, problem, measure)))
        for method in CONTENDERS
        for problem in PROBLEMS
        if compared.seeds(method, problem)
    }
    lines = []
    for method, entry in CONTENDERS.items():
        counts = [len(compared.seeds(method, problem)) for problem in PROBLEMS]
        if not any(counts):
            continue
        cells = []
        for problem in PROBLEMS:
            median = medians.get((method, problem), np.inf)
            lowest = min(medians.get((other, problem), np.inf) for other in CONTENDERS)
            written = f"{median:.3g}" if median < np.inf else ""
            cells.append(f"**{written}**" if written and median <= lowest else written)
        over_base = None if method == BASE else compared.ratio(method, BASE, PROBLEMS, measure)
        ours_over = None if method == OURS else compared.ratio(OURS, method, PROBLEMS, measure)
        ratios = (words(found, len(PROBLEMS)) for found in (over_base, ours_over))
        seeds = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
        lines.append((entry.title, seeds, *cells, *ratios))
    return table((f"{MEASURES[measure]}, regret", "seeds", *PROBLEMS, "/ random", "ours /"), lines)


def _ratios(rows: Sequence[Row], at: Sequence[int], measure: Measure) -> str:
    compared = [Comparison([row_at(row, number) for row in rows]) for number in at]
    lines = []
    for method, entry in CONTENDERS.items():
        found = [then.ratio(OURS, method, PROBLEMS, measure) for then in compared]
        if method != OURS and any(found):
            lines.append((entry.title, *(words(interval, len(PROBLEMS)) for interval in found)))
    return table((f"{MEASURES[measure]}, ours /", *(f"n = {number:,}" for number in at)), lines)


def _times(rows: Sequence[Row], at: Sequence[int]) -> str:
    lines = []
    for method, entry in CONTENDERS.items():
        found = _of(rows, method)
        if found:
            lines.append((entry.title, *(f"{milliseconds_at(found, number):.3g}" for number in at)))
    return table(("method", *(f"n = {number:,}" for number in at)), lines)


def main() -> None:
    """Read the rows, print the page, write it if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--n", type=int, default=N)
    parser.add_argument("--write", action="store_true", help="write the page and its figure to results")
    given = parser.parse_args()
    rows = [row for method in CONTENDERS for row in read_rows(RESULTS / f"{method}.jsonl")]
    text = page(rows, n=given.n)
    print(text)
    if given.write:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "report.md").write_text(text)
        (RESULTS / "regret.svg").write_text(figure(rows, n=given.n))


if __name__ == "__main__":
    main()
