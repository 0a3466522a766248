"""Draw the figures of the README and the documentation as SVG, from computations made here.

    python docs/figures.py        writes docs/figures/*.svg

No plotting library is needed here: the figure is a few paths and words. Charts with axes are in docs/charts.py.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from quadrat._core.arrays import Array
from quadrat.confidence import AdaptiveBand, Assumptions, SimpleBand
from quadrat.kernels import Matern
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

FOLDER = Path(__file__).with_name("figures")
WIDTH, HEIGHT, MARGIN = 720, 300, 34
BLUE, GREY, INK, RED = "#2563a8", "#9aa3ad", "#1f2933", "#c2410c"


def place(x: Array, y: Array, low: float, high: float) -> list[tuple[float, float]]:
    """Data to pixels: x in [0, 1], y in [low, high]."""
    across = MARGIN + x * (WIDTH - 2 * MARGIN)
    down = MARGIN + (high - y) / (high - low) * (HEIGHT - 2 * MARGIN)
    return list(zip(across.tolist(), down.tolist(), strict=True))


def path(points: list[tuple[float, float]], style: str, *, closed: bool = False) -> str:
    """One SVG path through the points."""
    steps = " ".join(f"{'M' if i == 0 else 'L'}{a:.1f},{b:.1f}" for i, (a, b) in enumerate(points))
    return f'<path d="{steps}{" Z" if closed else ""}" {style}/>'


def text(x: float, y: float, words: str, colour: str = INK, anchor: str = "start", size: int = 13) -> str:
    """A label."""
    font = "font-family='Helvetica, Arial, sans-serif'"
    return (
        f"<text x='{x:.0f}' y='{y:.0f}' {font} font-size='{size}' fill='{colour}' text-anchor='{anchor}'>{words}</text>"
    )


def band_figure() -> str:
    """A function of norm 1, 40 noisy values, the adaptive band inside the simple one, and the certificate."""
    kernel, noise = Matern(2.5, 0.12), 0.1
    f = draw_rkhs_function(kernel, 1, norm=1.0, rng=generator(12))
    given = Assumptions(kernel, norm_bound=1.0, noise=noise)
    adaptive, simple = AdaptiveBand(given, 0.05), SimpleBand(given, 0.05)
    rng = generator(12, 1)
    X = rng.random((40, 1))
    X = X[(X[:, 0] < 0.55) | (X[:, 0] > 0.75)]
    y = np.asarray(f(X)) + noise * rng.normal(size=len(X))
    grid = np.linspace(0, 1, 241)[:, None]
    for band in (adaptive, simple):
        band.add(X, y)
    inner, outer, truth = adaptive.interval(grid), simple.interval(grid), np.asarray(f(grid))
    low, high = -1.08, 1.08
    t = grid[:, 0]
    parts = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' role='img'>"]
    parts.append("<title>A certified band around an unknown function</title>")
    parts.append(f"<rect width='{WIDTH}' height='{HEIGHT}' fill='white'/>")
    for interval, style in (
        (outer, f"fill='{GREY}' fill-opacity='0.22' stroke='{GREY}' stroke-dasharray='4 3' stroke-width='1'"),
        (inner, f"fill='{BLUE}' fill-opacity='0.22' stroke='{BLUE}' stroke-width='1.2'"),
    ):
        upper, lower = place(t, interval.upper, low, high), place(t, interval.lower, low, high)
        parts.append(path(upper + lower[::-1], style, closed=True))
    parts.append(path(place(t, truth, low, high), f"fill='none' stroke='{INK}' stroke-width='2'"))
    for a, b in place(X[:, 0], y, low, high):
        parts.append(f"<circle cx='{a:.1f}' cy='{b:.1f}' r='3' fill='{RED}' fill-opacity='0.85'/>")
    parts.append(path([(MARGIN, HEIGHT - MARGIN), (WIDTH - MARGIN, HEIGHT - MARGIN)], f"stroke='{INK}' fill='none'"))
    parts.append(text(MARGIN, HEIGHT - 12, "0"))
    parts.append(text(WIDTH - MARGIN, HEIGHT - 12, "1", anchor="end"))
    labels = (("the unknown function", INK), ("noisy values", RED), ("adaptive band", BLUE), ("simple band", GREY))
    for i, (words, colour) in enumerate(labels):
        parts.append(text(MARGIN + 170 * i, 20, words, colour))
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Write every figure."""
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "band.svg").write_text(band_figure())


if __name__ == "__main__":
    main()
