"""What knowing uneven noise buys: intervals over the cube and runs, with slopes of the noise and without.

    python benchmarks/uneven_noise.py [--smoke] [--write]

Functions of benchmarks/honesty.py, with standard deviation 1 over the cube. Noise is normal; its standard deviation is

steep    .05 at one side of the cube, 1 at the other, and grows exponentially along the first axis
linear   .05 + .95 x along the first axis
round    .05 in the middle of the cube and grows with the distance: no slope describes it
even     .3 everywhere

"Uniform designs" are 30, 60 or 120 random points in 1, 2 and 4 dimensions: intervals (90 %) of f at 200 other points,
and how often f at the recommended point lies in its interval. "Runs" are 50 trials that the method chooses itself, in 2
and 5 dimensions. Each number stands twice: as if noise were even / as it is. Even seeds; the method was made with odd
ones. Where no slope was found both are the same, bit for bit, and the table has the others alone.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
from honesty import Cell, Function, Row, scaled

from quadrat._core.arrays import Array
from quadrat.methods.auto.method import Auto, AutoSearch
from quadrat.methods.auto.surrogate import LearnedModel
from quadrat.methods.base import Domain, Observation
from quadrat.randomness import generator

LAWS: dict[str, Callable[[Array], Array]] = {
    "steep": lambda x: 0.05 * 20 ** x[:, 0],
    "linear": lambda x: 0.05 + 0.95 * x[:, 0],
    "round": lambda x: 0.05 + 0.95 * np.minimum(2 * np.sqrt(np.mean((x - 0.5) ** 2, axis=1)), 1.0),
    "even": lambda x: np.full(len(x), 0.3),
}
DESIGNS = ("bowl", "sine", "kinks", "ridge", "rough")
SIZES, DIMENSIONS = (30, 60, 120), (1, 2, 4)
RUNS, OF_RUNS, TRIALS = ("bowl", "sine", "kinks", "ridge"), (2, 5), 50
SEEDS = (0, 2, 4)
_STREAM = 75


def told(x: Array, f: Function, law: str, rng: np.random.Generator) -> Array:
    """Return values with noise at the rows of x, (n, D), shape (n,)."""
    return f(x) + LAWS[law](x) * rng.standard_normal(len(x))


def of_design(search: AutoSearch, f: Function, top: float, others: Array) -> Row:
    """Return what is said of f at the points (m, D) and of the recommended one, and what is true."""
    _, low, high = search.predict(others)
    truth, quiet = f(others), others[:, 0] < 0.5
    holds, width = (low <= truth) & (truth <= high), high - low
    row = {"quiet": (holds[quiet], width[quiet]), "loud": (holds[~quiet], width[~quiet])}
    return {**row, **of_recommended(search, f, top)}


def of_recommended(search: AutoSearch, f: Function, top: float) -> Row:
    """Return whether the recommended point's interval holds, its width, the error of its value and its regret."""
    found = search.recommend()
    assert found.interval is not None
    truth = float(f(found.x[None, :])[0])
    low, high = found.interval
    return {"holds": low <= truth <= high, "width": high - low, "error": found.value - truth, "regret": top - truth}


def design(name: str, dimension: int, law: str, size: int, seed: int) -> tuple[Row, Row] | None:
    """Return the rows as if noise were even and as it is; None where no slope was found."""
    f, top = scaled(Cell(name, dimension, 0.3, seed, "one at a time"))
    rng = generator(seed, dimension, size, _STREAM)
    x, others = rng.random((size, dimension)), rng.random((200, dimension))
    y = told(x, f, law, rng)
    rows = []
    for finds in (True, False):
        LearnedModel.finds_uneven_noise = finds
        search = Auto().start(Domain.cube(dimension), seed)
        search.tell_many([Observation(i, point, y[[i]]) for i, point in enumerate(x)])
        if finds and search.model.stated().fit.uneven is None:
            return None
        rows.append(of_design(search, f, top, others))
    return rows[1], rows[0]


def run(name: str, dimension: int, law: str, trials: int, seed: int) -> tuple[Row, Row] | None:
    """As `design`; a slope counts as found where it was at any trial."""
    f, top = scaled(Cell(name, dimension, 0.3, seed, "one at a time"))
    rows = []
    for finds in (True, False):
        LearnedModel.finds_uneven_noise = finds
        search, found = Auto().start(Domain.cube(dimension), seed), False
        for i in range(trials):
            x = search.ask(i, np.empty((0, dimension))).x
            search.tell(Observation(i, x, told(x[None, :], f, law, generator(seed, i, _STREAM))))
            found = found or search.model.current().fit.uneven is not None
        if finds and not (found or search.model.stated().fit.uneven is not None):
            return None
        rows.append(of_recommended(search, f, top))
    return rows[1], rows[0]


def both(pairs: Sequence[tuple[Row, Row]], of: Callable[[Sequence[Row]], float], form: str) -> str:
    """Return a number of both models, as text."""
    return " / ".join(form.format(of([pair[which] for pair in pairs])) for which in (0, 1)) if pairs else ""


def shares(key: str) -> Callable[[Sequence[Row]], float]:
    """Return what gives the percentage of intervals that hold."""
    return lambda rows: 100 * float(np.mean(np.concatenate([row[key][0] for row in rows])))


def widths(key: str) -> Callable[[Sequence[Row]], float]:
    """Return what gives the mean width."""
    return lambda rows: float(np.mean(np.concatenate([row[key][1] for row in rows])))


def recommended(pairs: Sequence[tuple[Row, Row]]) -> Iterator[str]:
    """Yield the columns that designs and runs share."""
    yield both(pairs, lambda rows: 100 * float(np.mean([row["holds"] for row in rows])), "{:.0f} %")
    yield both(pairs, lambda rows: float(np.median([row["width"] for row in rows])), "{:.2f}")
    yield both(pairs, lambda rows: float(np.sqrt(np.mean([row["error"] ** 2 for row in rows]))), "{:.2f}")
    yield both(pairs, lambda rows: float(np.mean([row["regret"] for row in rows])), "{:.3f}")


RECOMMENDED = ("recommended: 90 % holds", "width, median", "error, root mean square", "regret, mean")


def of_designs(cells: Sequence[tuple[str, int, str, int, int]]) -> str:
    """Return the table of uniform designs."""
    lines = []
    for law, size in sorted({(cell[2], cell[3]) for cell in cells}, key=lambda pair: ([*LAWS].index(pair[0]), pair[1])):
        found = [design(*cell) for cell in cells if cell[2:4] == (law, size)]
        pairs = [pair for pair in found if pair is not None]
        halves = [
            text
            for half in ("quiet", "loud")
            for text in (both(pairs, shares(half), "{:.0f} %"), both(pairs, widths(half), "{:.2f}"))
        ]
        lines.append((law, str(size), f"{len(pairs)} of {len(found)}", *halves, *recommended(pairs)))
    head = ("noise", "points", "slope found", "first half: 90 % holds", "width, mean", "second half: 90 % holds",
            "width, mean", *RECOMMENDED)  # fmt: skip
    return table(head, lines)


def of_runs(cells: Sequence[tuple[str, int, str, int, int]]) -> str:
    """Return the table of runs."""
    lines = []
    for law in dict.fromkeys(cell[2] for cell in cells):
        found = [run(*cell) for cell in cells if cell[2] == law]
        pairs = [pair for pair in found if pair is not None]
        lines.append((law, f"{len(pairs)} of {len(found)}", *recommended(pairs)))
    return table(("noise", "slope found", *RECOMMENDED), lines)


def main() -> None:
    """Run all, then write the page."""
    chosen = options(__doc__)
    designs, runs = (
        list(product(DESIGNS, DIMENSIONS, LAWS, SIZES, SEEDS)),
        list(product(RUNS, OF_RUNS, LAWS, [TRIALS], SEEDS)),
    )
    if chosen.smoke:
        designs, runs = [("sine", 1, "steep", 60, 2), ("bowl", 1, "even", 12, 0)], [("bowl", 1, "steep", 7, 0)]
    text = f"## Uniform designs\n\n{of_designs(designs)}\n\n## Runs\n\n{of_runs(runs)}"
    publish("uneven_noise", "What knowing uneven noise buys", text, write=chosen.write,
            measured="even seeds; as if noise were even / as it is")  # fmt: skip


if __name__ == "__main__":
    main()
