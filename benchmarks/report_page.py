"""How long a report takes and how large its page is, against the number of trials.

    python benchmarks/report_page.py [--smoke] [--write]

An optimizer is told that many results of a mixed space of four parameters, one in fifty of them failed; then
`quadrat.report.report_html` makes the page, in CPU seconds (of all threads), beside what one suggestion takes after the
same results. Aims: 10 s and 8 MB at 5,000 trials.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path.insert(0, str(ROOT / "src"))

import math
import statistics
import time

import numpy as np

import quadrat as qd

SIZES = (100, 1_000, 5_000)
MOST_SECONDS, MOST_BYTES = 10.0, 8_000_000


def told(n: int) -> qd.Optimizer:
    """An optimizer that was told n results."""
    space = qd.Space(
        lr=qd.Float(1e-5, 1, log=True), depth=qd.Int(1, 12), kind=qd.Categorical(["a", "b"]), x=qd.Float(-1, 1)
    )
    rng = np.random.default_rng(0)
    params = space.sample(n, rng)
    noise = 0.2 * rng.standard_normal(n)
    values = [-((math.log10(one["lr"]) + 2) ** 2) - one["x"] ** 2 + noise[i] for i, one in enumerate(params)]
    optimizer = qd.Optimizer(space, direction="maximize", seed=0)
    optimizer.add_trials(params, [math.nan if i % 50 == 0 else value for i, value in enumerate(values)])
    return optimizer


def measured(n: int) -> tuple[float, float, int]:
    """CPU seconds of the report, of a suggestion, and the bytes of the page."""
    reporting, asking = told(n), told(n)
    start = time.process_time()
    page = qd.report.report_html(reporting)
    middle = time.process_time()
    asking.ask()
    return middle - start, time.process_time() - middle, len(page.encode())


def main() -> None:
    """Print the table."""
    arguments = options(__doc__)
    sizes, repeats = ((12,), 1) if arguments.smoke else (SIZES, 3)
    if not arguments.smoke:
        measured(12)  # imports
    rows = []
    for n in sizes:
        seconds, suggestion, size = zip(*(measured(n) for _ in range(repeats)), strict=True)
        rows.append((
            f"{n:,}",
            f"{statistics.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})",
            f"{statistics.median(seconds) / statistics.median(suggestion):.1f}",
            f"{size[0] / 1e6:.2f}",
            f"{MOST_SECONDS:.0f} s, {MOST_BYTES / 1e6:.0f} MB" if n == SIZES[-1] else "",
        ))  # fmt: skip
    text = table(("trials", "CPU s", "times the first suggestion", "MB", "at most"), rows)
    publish("report_page", "A report, against trials", text, write=arguments.write, measured="medians of three runs")


if __name__ == "__main__":
    main()
