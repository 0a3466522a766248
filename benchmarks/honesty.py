"""Whether the default method's statements are true: intervals and gains over functions, dimensions, noises and sizes.

    python benchmarks/honesty.py [--seeds 0-6] [--until 50] [--noises 0.1 0.5 1 2] [--workers 1] [--report] [--smoke]

Seven functions whose constants the seed draws (bowl, sine, kinks, rough, flat, ridge, spike) in 1, 2, 5 and 8
dimensions, and the seven shifted classics of benchmarks/regret in theirs; values are divided by the function's standard
deviation over the cube, and have normal noise of .1, .5, 1 and 2 of it; `--noises 0` declares that there is none. After
12, 25, 50, 100 and 300 trials, as far as `--until` goes, the recommendation's intervals (50, 80 and 90 %) are compared
with f at the recommended point, and the gain's 90 % quantile with the true one. `--pending` asks with four evaluations
running, `--failures` lets a fifth of the evaluations fail, at random. `--early` compares after 4, 5 and 6 trials, with
one and two parameters, where so many trials are not too few to say.

Finished runs are kept in benchmarks/results/honesty.jsonl and not run again; then benchmarks/results/honesty.md is
written from those of even seeds. The method was made with odd ones. `--report` only writes. Rows of before gains were
drawn as they are have no upper value; their intervals are those of the method as it is, bit for bit.
"""

from __future__ import annotations

from timing import ROOT, table  # isort: skip  # sets the number of BLAS threads

import sys

sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "src")]

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from regret.suite import SUITES

import problems
from quadrat._core.arrays import Array
from quadrat.methods.auto.method import Auto, AutoSearch
from quadrat.methods.base import Domain, Observation
from quadrat.randomness import generator

Row: TypeAlias = dict[str, Any]
Function: TypeAlias = Callable[[Array], Array]

DRAWN = ("bowl", "sine", "kinks", "rough", "flat", "ridge", "spike")
DIMENSIONS = (1, 2, 5, 8)
NOISES = (0.1, 0.5, 1.0, 2.0)
SIZES = (12, 25, 50, 100, 300)
EARLY = (4, 5, 6)
LEVELS = (0.5, 0.8, 0.9)
ROWS = ROOT / "benchmarks" / "results" / "honesty.jsonl"
PAGE = ROOT / "benchmarks" / "results" / "honesty.md"
WAYS = ("one at a time", "four running", "a fifth fails")
SOON = "after four to six trials"
_SPREAD_OF = 4000  # points that the standard deviation over the cube is of
_MAXIMUM_OF = 20000  # and the maximum; with the points around the best of them
_FUNCTION, _NOISE = 71, 72  # name the streams


class Cell(NamedTuple):
    """What names a run."""

    function: str
    dimension: int
    noise: float
    seed: int
    way: str


def drawn_function(name: str, dimension: int, rng: np.random.Generator) -> Function:
    """Return one of `DRAWN`, from points (m, D) to values (m,), with constants that `rng` draws."""
    c = rng.uniform(0.2, 0.8, dimension)
    w, phase = rng.uniform(2, 6, dimension), rng.uniform(0, 2 * np.pi, dimension)
    direction = rng.standard_normal(dimension)
    direction /= np.linalg.norm(direction)
    return {
        "bowl": lambda x: -((x - c) ** 2).sum(axis=1),
        "sine": lambda x: np.sin(w * x + phase).sum(axis=1),
        "kinks": lambda x: -np.abs(x - c).sum(axis=1),
        "rough": lambda x: (-np.sqrt(np.abs(x - c)) + 0.1 * np.sin(40 * x)).sum(axis=1),
        "flat": lambda x: np.zeros(len(x)),
        "ridge": lambda x: -(np.abs((x - c) @ direction) ** 1.5),
        "spike": lambda x: np.exp(-0.5 * (((x - c) / 0.05) ** 2).sum(axis=1)) - 0.5 * ((x - c) ** 2).sum(axis=1),
    }[name]


def scaled(cell: Cell) -> tuple[Function, float]:
    """Return the function of a cell, with standard deviation 1 over the cube, and its maximum."""
    rng = generator(cell.seed, cell.dimension, _name(cell), _FUNCTION)
    if cell.function not in DRAWN:
        known = problems.get(f"{cell.function}{cell.seed}")
        assert known.optimal_value is not None
        return lambda x: np.asarray(known.values(x)), known.optimal_value  # these are standardised
    f = drawn_function(cell.function, cell.dimension, rng)
    spread = float(f(rng.random((_SPREAD_OF, cell.dimension))).std()) or 1.0
    points = rng.random((_MAXIMUM_OF, cell.dimension))
    for scale in (0.1, 0.01, 0.001):
        best = points[np.argmax(f(points))]
        points = np.clip(best + scale * rng.standard_normal((_MAXIMUM_OF, cell.dimension)), 0.0, 1.0)
        points[0] = best
    return lambda x: f(x) / spread, float(f(points).max()) / spread


def _name(cell: Cell) -> int:
    """Return a number for the name of a function: functions that share a seed share no constant and no noise."""
    return [*DRAWN, *SUITES["shifted"]].index(cell.function)


def run(cell: Cell, until: int) -> Row:
    """Run the default method; return, for every size, what was stated and what is true."""
    f, top = scaled(cell)
    rng = generator(cell.seed, cell.dimension, _name(cell), round(1000 * cell.noise), _NOISE)
    search = Auto(noise=None if cell.noise else 0.0).start(Domain.cube(cell.dimension), cell.seed)
    waiting: list[tuple[int, Array]] = []
    row: Row = {**cell._asdict(), "until": until, "sizes": []}
    ended = number = 0
    while ended < until:
        ahead = 4 if cell.way == "four running" else 0
        while len(waiting) <= ahead:
            pending = np.array([x for _, x in waiting]).reshape(-1, cell.dimension)
            waiting.append((number, search.ask(number, pending).x))
            number += 1
        first, x = waiting.pop(0)
        if cell.way == "a fifth fails" and rng.random() < 0.2:
            search.fail(first, x)
        else:
            value = float(f(x[None, :])[0]) + cell.noise * float(rng.standard_normal())
            search.tell(Observation(first, x, np.array([value])))
        ended += 1
        if ended in (EARLY if until in EARLY else SIZES):
            row["sizes"].append(stated(search, f, top, ended))
    return row


def stated(search: AutoSearch, f: Function, top: float, size: int) -> Row:
    """Return what is stated of the recommended point, and what is true."""
    found = search.recommend()
    assert found.distribution is not None
    assert found.gain is not None
    truth = float(f(found.x[None, :])[0])
    below = found.distribution.chance_at_most(truth)
    low, high = found.distribution.interval(0.9)
    return {
        "n": size,
        "place": round(below, 4),  # of the truth among the quantiles: |place - 1/2| <= level / 2 where it holds
        "exact": bool(low <= truth <= high),
        "width": float(f"{high - low:.4g}"),
        "error": float(f"{found.value - truth:.4g}"),
        "upper": float(f"{found.gain.upper:.4g}"),
        "regret": float(f"{max(top - truth, 0.0):.4g}"),
    }


def cells(seeds: Sequence[int], noises: Sequence[float], ways: Sequence[str]) -> Iterator[Cell]:
    """Yield the runs to be made, seed after seed."""
    for seed, way, noise in product(seeds, ways, noises):
        for name, dimension in product(DRAWN, DIMENSIONS if way in WAYS else DIMENSIONS[:2]):
            yield Cell(name, dimension, noise, seed, way)
        for name in SUITES["shifted"] if way in WAYS else ():
            yield Cell(name, problems.get(f"{name}{seed}").dimension, noise, seed, way)


def statements(rows: Sequence[Row]) -> list[Row]:
    """Return one entry for every statement: that of the run and that of the size. The longest run of a cell counts."""
    longest: dict[tuple[object, ...], Row] = {}
    for row in sorted(rows, key=lambda row: int(row["until"])):
        longest[tuple(row[name] for name in Cell._fields)] = row
    return [{**row, **size} for row in longest.values() for size in row["sizes"]]


def line(label: str, some: Sequence[Row]) -> tuple[str, ...]:
    """Return a line of a table."""
    places = np.array([one["place"] for one in some])
    shares = [float(np.mean(np.abs(places - 0.5) <= level / 2 + 1e-9)) for level in LEVELS]
    with_upper = [one for one in some if "upper" in one]  # others are of before gains were drawn as they are
    upper, regret = (np.array([one[name] for one in with_upper]) for name in ("upper", "regret"))
    gains = (
        ("",) * 4
        if not with_upper
        else (
            str(len(with_upper)),
            f"{100 * np.mean(regret <= upper + 1e-9):.0f} %",
            f"{np.median(upper):.2f}",
            f"{np.quantile(regret, 0.9):.2f}",
        )
    )
    return (
        label,
        str(len(some)),
        *(f"{100 * share:.0f} %" for share in shares),
        f"{np.mean([one['error'] for one in some]):+.2f}",
        f"{np.median([one['width'] for one in some]):.2f}",
        *gains,
    )


HEAD = ("statements of", "how many", *(f"{100 * level:.0f} % holds" for level in LEVELS),
        "value less truth, mean", "width of 90 %, median", "of gains", "upper gain holds", "upper gain, median",
        "true gain, 90 % quantile")  # fmt: skip


def report(rows: Sequence[Row]) -> str:
    """Return the page."""
    parts = []
    for way in (*WAYS, SOON):
        every = [one for one in statements(rows) if one["way"] == way]
        exact = [one for one in every if not one["noise"]]
        every = [one for one in every if one["noise"]]
        some = [one for one in every if one["function"] != "spike"]
        if not some:
            continue
        lines = [line("all", some)]
        for name, label in (("function", "{}"), ("dimension", "D = {}"), ("noise", "noise {}"), ("n", "n = {}")):
            values = dict.fromkeys(one[name] for one in sorted(some, key=lambda one: _order(one[name])))
            lines += [line(label.format(value), [one for one in some if one[name] == value]) for value in values]
        spikes = [one for one in every if one["function"] == "spike"]
        lines += [line("spike, which is in none of the others", spikes)] if spikes else []
        parts.append(f"## {way.capitalize()}\n\n{table(HEAD, lines)}")
        if exact:
            largest = max(abs(one["error"]) for one in exact)
            parts.append(
                f"Without noise, {len(exact)} statements: the largest error of a stated value is {largest:.1e}."
            )
    return "\n\n".join(parts)


def _order(value: object) -> tuple[int, object]:
    if not isinstance(value, str):
        return 0, value
    return (1, DRAWN.index(value)) if value in DRAWN else (2, value)


def read(path: Path) -> list[Row]:
    """Return the rows of a file; none where there is no file."""
    return [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []


def main() -> None:
    """Run what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", default="0-2", help="such as 0-6: the even ones of these, or the odd ones of 1-7")
    parser.add_argument("--until", type=int, default=50, choices=SIZES)
    parser.add_argument("--noises", type=float, nargs="+", default=list(NOISES))
    parser.add_argument("--pending", action="store_true")
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--early", action="store_true")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--smoke", action="store_true", help="two functions, 12 trials; keeps nothing")
    chosen = parser.parse_args()
    if chosen.smoke:
        print(report([run(Cell(name, 2, 0.5, 1, way), SIZES[0]) for name in ("sine", "spike") for way in WAYS]))
        return
    first, last = (int(part) for part in chosen.seeds.split("-"))
    ways = [SOON] if chosen.early else [WAYS[1]] if chosen.pending else [WAYS[2]] if chosen.failures else [WAYS[0]]
    until = EARLY[-1] if chosen.early else chosen.until
    done = {(*(row[name] for name in Cell._fields), row["until"]) for row in read(ROWS)}
    left = [
        cell
        for cell in cells(range(first, last + 1, 2), chosen.noises, ways)
        if not any((*cell, size) in done for size in (*EARLY, *SIZES) if size >= until)
    ]
    if not chosen.report:
        ROWS.parent.mkdir(exist_ok=True)
        with ROWS.open("a") as file, ProcessPoolExecutor(chosen.workers) as pool:
            for row in pool.map(run, left, [until] * len(left)):
                file.write(json.dumps(row) + "\n")
                file.flush()
    even = [row for row in read(ROWS) if row["seed"] % 2 == 0]
    how = "Made by `python benchmarks/honesty.py`, even seeds."
    PAGE.write_text(f"# Whether the default method's statements are true\n\n{how}\n\n{report(even)}\n")
    print(report(even))


if __name__ == "__main__":
    main()
