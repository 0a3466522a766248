"""Draw how LP-GP-UCB zooms in, from real runs, as SVG.

    python docs/zooming_figures.py        writes docs/figures/zooming.svg and zooming_steps.svg

zooming.svg        the cells of a run on the unit square, at four moments
zooming_steps.svg  the cells of a run on the unit interval, with their upper bounds over the curve, at four moments

The functions are sums of kernel sections, so that their norms are known exactly. No plotting library is needed, and
equal input gives equal output.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from charts import INK, PALETTE, SOFT

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.problems import RKHSFunction
from quadrat.randomness import generator

FOLDER = Path(__file__).with_name("figures")
BLUE, ORANGE, GREEN, RED = PALETTE[0], PALETTE[4], PALETTE[2], PALETTE[1]
PAPER, RULED_OUT = "#ffffff", "#dde1e6"
COLOURS = {"norm": SOFT, "parent": SOFT, "posterior": BLUE, "average": ORANGE, "polynomial": GREEN}
WIDTH = 900.0
LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8)  # of the contours

Piece: TypeAlias = tuple[tuple[float, float], tuple[float, float]]


# --- runs


@dataclass(frozen=True)
class Cell:
    """A box of the unit cube; f is at most `bound` in it, and `active` says which of all `bounds` that is."""

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    bounds: dict[str, float]

    @property
    def active(self) -> str:
        """The name of the smallest bound."""
        return min(self.bounds, key=lambda name: self.bounds[name])

    @property
    def bound(self) -> float:
        """The smallest bound: they hold all at once."""
        return self.bounds[self.active]

    @property
    def volume(self) -> float:
        """Its share of the cube."""
        return float(np.prod(np.subtract(self.upper, self.lower)))


@dataclass(frozen=True, eq=False)
class Moment:
    """A run after some evaluations, when the next one is chosen.

    Attributes
    ----------
    x, y
        What was told, shapes (n, D) and (n,).
    cells
        They tile the cube.
    floor
        The best value that is guaranteed somewhere: a cell whose bound is below does not hold the maximum.
    certificate
        How far from the maximum the recommended point can be; None before the first evaluation.
    asked
        Where f is evaluated next, shape (D,).
    splits
        The reasons for which cells were split since the evaluation before, with their counts.
    """

    x: Array
    y: Array
    cells: tuple[Cell, ...]
    floor: float
    certificate: float | None
    asked: Array
    splits: Counter[str]

    @property
    def ruled_out(self) -> float:
        """The share of the cube that cannot hold the maximum."""
        return sum(cell.volume for cell in self.cells if cell.bound < self.floor)


def run(f: RKHSFunction, *, norm_bound: float, noise: float, moments: Sequence[int], degree: int) -> list[Moment]:
    """Run LP-GP-UCB on f with normal noise and look at it after so many evaluations, in ascending order."""
    axes = [f"x{axis}" for axis in range(f.dimension)]
    method = qd.LPGPUCB(kernel=f.kernel, norm_bound=norm_bound, noise=noise, budget=moments[-1], degree=degree)
    space = qd.Space(**{name: qd.Float(0.0, 1.0) for name in axes})
    optimizer = qd.Optimizer(space, direction="maximize", method=method, seed=0)
    rng = generator(0, 1)
    found: list[Moment] = []
    points, values = np.empty((0, f.dimension)), np.empty(0)
    while len(found) < len(moments):
        trial = optimizer.ask()
        asked = np.array([trial.params[name] for name in axes])
        if len(values) == moments[len(found)]:
            found.append(_look(optimizer, trial.number, points, values, asked))
        points = np.vstack([points, asked])
        values = np.append(values, f.values(asked[None])[0] + noise * rng.normal())
        optimizer.tell(trial, float(values[-1]))
    return found


def _look(optimizer: qd.Optimizer, number: int, points: Array, values: Array, asked: Array) -> Moment:
    search: Any = optimizer.explain()["search"]
    cells = tuple(_cell(one) for one in search["cells"])
    why = Counter(
        one["condition"].split(":")[0]
        for one in search["rounds"]
        if one["trial"] == number and one["action"] == "split"
    )
    report = optimizer.certificate()
    floor = -np.inf if report.certified_interval is None else report.certified_interval[0]
    return Moment(points, values, cells, floor, report.value, asked, why)


def _cell(one: dict[str, Any]) -> Cell:
    """A cell with its bounds as of now; the stored one, which may be older, was renewed only when it mattered."""
    bounds = {name: float(one[name]) for name in ("posterior", "average", "polynomial") if one[name] is not None}
    bounds[one["active"]] = min(one["bound"], bounds.get(one["active"], np.inf))
    return Cell(tuple(one["lower"]), tuple(one["upper"]), bounds)


# --- pieces of SVG


@dataclass(frozen=True)
class Axis:
    """A linear map from [low, high] to pixels [start, end]."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def words(x: float, y: float, text: str, *, size: float = 12, colour: str = INK, anchor: str = "start") -> str:
    """A line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}" text-anchor="{anchor}">{text}</text>'


def bold(x: float, y: float, text: str) -> str:
    """A title."""
    return words(x, y, f'<tspan font-weight="bold">{text}</tspan>', size=13)


def box(x0: float, y0: float, x1: float, y1: float, style: str) -> str:
    """A rectangle between two corners."""
    return f'<rect x="{x0:.1f}" y="{y0:.1f}" width="{x1 - x0:.1f}" height="{y1 - y0:.1f}" {style}/>'


def line(points: Sequence[tuple[float, float]], style: str) -> str:
    """A path through points."""
    steps = " ".join(f"{'L' if i else 'M'}{a:.1f},{b:.1f}" for i, (a, b) in enumerate(points))
    return f'<path d="{steps}" fill="none" {style}/>'


def dot(x: float, y: float, radius: float, colour: str) -> str:
    """An observation."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}" stroke="white" stroke-width="0.6"/>'


def ring(x: float, y: float) -> str:
    """Where the maximum is."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6.5" fill="none" stroke="{RED}" stroke-width="2.4"/>'


def card(height: float, title: str, parts: Sequence[str]) -> str:
    """Parts on white paper, which reads on light and on dark pages."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {height:g}" width="{WIDTH:g}"'
            f' height="{height:g}" role="img" aria-label="{title}" font-family="Helvetica, Arial, sans-serif">',
            f"<title>{title}</title>",
            f'<rect width="{WIDTH:g}" height="{height:g}" rx="8" fill="{PAPER}"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def counted(number: int, noun: str) -> str:
    """1 cell, 2 cells."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# --- the square


def square_run(moments: Sequence[int] = (6, 30, 60, 240)) -> tuple[RKHSFunction, list[Moment]]:
    """Three bumps on the unit square, of norm 1.2, with noise .02."""
    centres = np.array([[0.22, 0.3], [0.74, 0.36], [0.36, 0.8]])
    shape = RKHSFunction(qd.Matern(2.5, 0.2), centres, np.array([0.45, 0.9, 0.6]))
    f = RKHSFunction(shape.kernel, centres, shape.weights * 1.2 / shape.norm)
    return f, run(f, norm_bound=1.2, noise=0.02, moments=moments, degree=0)


def square_figure(f: RKHSFunction, moments: Sequence[Moment]) -> str:
    """The cells at each moment, from left to right."""
    edge, gap, top = 18.0, 16.0, 62.0
    side = (WIDTH - 2 * edge - gap * (len(moments) - 1)) / len(moments)
    parts = [bold(edge, 26, "Cells zoom in on the maximum of an unknown function, and certify how close they are")]
    best = f.maximum()[0]
    contours = [piece for level in LEVELS for piece in level_lines(f, level)]
    for number, moment in enumerate(moments):
        x = Axis(0.0, 1.0, edge + number * (side + gap), edge + number * (side + gap) + side)
        y = Axis(0.0, 1.0, top + side, top)
        parts.append(bold(x(0), top - 8, f"{counted(len(moment.y), 'evaluation')}"))
        parts += _square(moment, contours, x, y)
        parts.append(ring(x(best[0]), y(best[1])))
        said = (
            f"{counted(len(moment.cells), 'cell')}, {moment.ruled_out:.0%} ruled out;",
            "recommended: certified to be",
            f"within {moment.certificate:.2f} of the maximum",
        )
        parts += [words(x(0), y(0) + 18 + 16 * i, text, colour=SOFT) for i, text in enumerate(said)]
    height = top + side + 124
    parts += _square_key(edge, height - 40)
    return card(height, "Cells zooming in on a maximum", parts)


def _square(moment: Moment, contours: Sequence[Piece], x: Axis, y: Axis) -> list[str]:
    highest = max(cell.bound for cell in moment.cells)
    parts = []
    for cell in moment.cells:
        hope = (cell.bound - moment.floor) / max(highest - moment.floor, 1e-9)
        fill = f'fill="{BLUE}" fill-opacity="{0.16 + 0.5 * hope:.2f}"' if hope >= 0 else f'fill="{RULED_OUT}"'
        (a, b), (c, d) = cell.lower, cell.upper
        parts.append(box(x(a), y(d), x(c), y(b), f'{fill} stroke="{PAPER}" stroke-width="0.7"'))
    steps = " ".join(f"M{x(a):.1f},{y(b):.1f} {x(c):.1f},{y(d):.1f}" for (a, b), (c, d) in contours)
    parts.append(f'<path d="{steps}" fill="none" {_CONTOUR}/>')
    parts += [dot(x(a), y(b), 2.2, INK) for a, b in np.unique(moment.x, axis=0).tolist()]
    return [*parts, box(x(0), y(1), x(1), y(0), f'fill="none" stroke="{SOFT}"')]


_CONTOUR = f'stroke="{INK}" stroke-opacity="0.35" stroke-width="0.8"'


def _square_key(left: float, base: float) -> list[str]:
    """What the colours mean, in two rows."""
    parts = [
        box(left + 14 * i, base - 11, left + 14 * (i + 1), base + 1, f'fill="{BLUE}" fill-opacity="{0.16 + i / 4:.2f}"')
        for i in range(3)
    ]
    parts.append(words(left + 50, base, "cells that may hold the maximum (darker: higher upper bound)"))
    parts.append(box(left + 470, base - 11, left + 512, base + 1, f'fill="{RULED_OUT}"'))
    parts.append(words(left + 520, base, "cells that are proved not to hold it"))
    base += 22
    parts += [dot(left + 21, base - 4, 2.6, INK), words(left + 50, base, "evaluated")]
    parts += [ring(left + 153, base - 4), words(left + 168, base, "the true maximum")]
    parts.append(line([(left + 300, base - 4), (left + 330, base - 4)], _CONTOUR))
    parts.append(words(left + 338, base, "contours of the function: the search sees noisy values only"))
    return parts


def level_lines(f: RKHSFunction, level: float, fine: int = 28) -> list[Piece]:
    """Straight pieces of {f = level} on a grid of triangles."""
    ticks = np.linspace(0.0, 1.0, fine + 1)
    grid = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), -1)
    above = f.values(grid.reshape(-1, 2)).reshape(fine + 1, fine + 1) - level
    found: list[Piece] = []
    for i in range(fine):
        for j in range(fine):
            for corners in (((i, j), (i + 1, j), (i + 1, j + 1)), ((i, j), (i, j + 1), (i + 1, j + 1))):
                cuts = [
                    (grid[p] + (grid[q] - grid[p]) * above[p] / (above[p] - above[q])).tolist()
                    for p, q in pairwise([*corners, corners[0]])
                    if (above[p] > 0) != (above[q] > 0)
                ]
                if len(cuts) == 2:
                    (a, b), (c, d) = cuts
                    found.append(((a, b), (c, d)))
    return found


# --- the interval


def interval_run(moments: Sequence[int] = (1, 4, 16, 120)) -> tuple[RKHSFunction, list[Moment]]:
    """Three bumps on the unit interval, of norm 1.3, with noise .05."""
    centres = np.array([[0.14], [0.42], [0.76]])
    shape = RKHSFunction(qd.Matern(2.5, 0.1), centres, np.array([0.5, 0.7, 0.95]))
    f = RKHSFunction(shape.kernel, centres, shape.weights * 1.3 / shape.norm)
    return f, run(f, norm_bound=1.3, noise=0.05, moments=moments, degree=1)


_GUARANTEED = f'stroke="{RED}" stroke-width="1.3" stroke-dasharray="5 4"'
_NEXT = f'stroke="{INK}" stroke-dasharray="2 3"'


def interval_figure(f: RKHSFunction, moments: Sequence[Moment]) -> str:
    """The cells at each moment with their bounds as bars, two panels in a row."""
    edge, gap, tall, above, below = 18.0, 30.0, 220.0, 50.0, 26.0
    wide = (WIDTH - 2 * edge - gap) / 2
    parts: list[str] = []
    for number, moment in enumerate(moments):
        left = edge + (number % 2) * (wide + gap)
        top = above + (number // 2) * (tall + above + below)
        x = Axis(0.0, 1.0, left, left + wide)
        y = Axis(-0.3, 1.95, top + tall, top)
        title = f"After {counted(len(moment.y), 'evaluation')}: certificate {moment.certificate:.2f}"
        parts += [bold(left, top - 26, title), words(left, top - 9, _done(moment), colour=SOFT)]
        parts += _interval(f, moment, x, y)
    height = (above + tall + below) * ((len(moments) + 1) // 2) + 56
    return card(height, "Upper bounds over cells, at four moments", [*parts, *_interval_key(edge, height - 40)])


def _done(moment: Moment) -> str:
    """What happens between this evaluation and the next."""
    short = {"refinement of an earlier polynomial split": "its polynomial"}
    splits = ", ".join(f"{count} by {short.get(why, why)}" for why, count in moment.splits.items())
    cells = counted(len(moment.cells), "cell")
    return f"splits: {splits}; {cells}; then evaluates" if splits else f"no split; {cells}; evaluates"


def _interval(f: RKHSFunction, moment: Moment, x: Axis, y: Axis) -> list[str]:
    parts = []
    for cell in moment.cells:
        colour = COLOURS[cell.active]
        a, b, u = x(cell.lower[0]), x(cell.upper[0]), y(cell.bound)
        shade = RULED_OUT if cell.bound < moment.floor else colour
        parts.append(box(a, u, b, y(y.low), f'fill="{shade}" fill-opacity="{1 if shade == RULED_OUT else 0.13}"'))
        parts.append(line([(a, u), (a, y(y.low))], f'stroke="{PAPER}" stroke-width="1.5"'))
        for name, other in cell.bounds.items():
            if cell.bound < other <= y.high:
                parts.append(
                    line([(a + 2, y(other)), (b - 2, y(other))], f'stroke="{COLOURS[name]}" stroke-width="1.2"')
                )
        parts.append(line([(a + 0.7, u), (b - 0.7, u)], f'stroke="{colour}" stroke-width="3.4"'))
    if np.isfinite(moment.floor):
        parts.append(line([(x(0), y(moment.floor)), (x(1), y(moment.floor))], _GUARANTEED))
    ticks = np.linspace(0.0, 1.0, 201)
    curve = zip(ticks.tolist(), f.values(ticks[:, None]).tolist(), strict=True)
    parts.append(line([(x(a), y(b)) for a, b in curve], f'stroke="{INK}" stroke-width="1.8"'))
    parts += [dot(x(a), y(b), 2.8, RED) for (a,), b in zip(moment.x.tolist(), moment.y.tolist(), strict=True)]
    next_one = x(float(moment.asked[0]))
    parts.append(line([(next_one, y(y.low)), (next_one, y(y.high))], _NEXT))
    parts.append(line([(x(0), y(y.low)), (x(1), y(y.low))], f'stroke="{SOFT}"'))
    for end, anchor in ((0.0, "start"), (1.0, "end")):
        parts.append(words(x(end), y(y.low) + 15, f"{end:g}", colour=SOFT, anchor=anchor))
    return parts


def _interval_key(left: float, base: float) -> list[str]:
    """What the colours and lines mean, in two rows."""
    parts = [words(left, base, "Upper bounds of a cell (thick: the smallest):")]
    bars = {"posterior": "posterior", "average": "average", "polynomial": "polynomial", "parent": "parent's, or B"}
    for i, (name, said) in enumerate(bars.items()):
        at = left + 300 + (0, 120, 230, 360)[i]
        parts.append(line([(at, base - 4), (at + 22, base - 4)], f'stroke="{COLOURS[name]}" stroke-width="3.4"'))
        parts.append(words(at + 28, base, said))
    base += 22
    parts.append(line([(left, base - 4), (left + 24, base - 4)], f'stroke="{INK}" stroke-width="1.8"'))
    parts.append(words(left + 32, base, "the function"))
    parts += [dot(left + 142, base - 4, 2.8, RED), words(left + 154, base, "noisy values, told")]
    parts += [line([(left + 300, base - 4), (left + 324, base - 4)], _GUARANTEED)]
    parts.append(words(left + 332, base, "best guaranteed value"))
    parts.append(line([(left + 500, base - 12), (left + 500, base + 3)], _NEXT))
    parts.append(words(left + 510, base, "evaluated next"))
    parts.append(box(left + 636, base - 11, left + 660, base + 1, f'fill="{RULED_OUT}"'))
    parts.append(words(left + 668, base, "ruled out"))
    return parts


def main() -> None:
    """Write every figure."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "zooming.svg").write_text(square_figure(*square_run()))
    (FOLDER / "zooming_steps.svg").write_text(interval_figure(*interval_run()))


if __name__ == "__main__":
    main()
