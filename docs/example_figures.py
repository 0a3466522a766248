"""Draw the figures of the worked examples as SVG, from runs of their scripts made here.

python docs/example_figures.py        writes docs/figures/example_*.svg
"""

from __future__ import annotations

import sys
from math import log10, sqrt
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "docs"), str(ROOT), str(ROOT / "examples" / "instrument")]

import numpy as np
import reader
from charts import Line, Panel, Points, chart

import quadrat as qd
from examples import good_enough

FOLDER = ROOT / "docs" / "figures"
COLOURS = {"above": "#0072B2", "below": "#D55E00", "undecided": "#b8bec6"}
WIDTH, HEIGHT, LEFT, TOP = 720, 420, 64, 20  # pixels
TRIALS = 50  # as on the page


def level_set_figure() -> str:
    """The cells of the map with their labels, on the scales that are searched, and the trials."""
    optimizer = good_enough.search(TRIALS)
    wide, tall = WIDTH - LEFT - 20, HEIGHT - TOP - 90

    def place(penalty: float, gamma: float) -> tuple[float, float]:
        x, y = good_enough.SPACE.to_unit({"penalty": penalty, "gamma": gamma})
        return LEFT + wide * float(x), TOP + tall * (1 - float(y))

    words = 'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#1f2933"'
    title = f"Where the score is above {good_enough.LIMIT}, below it, or undecided, after {TRIALS} trials"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">',
        f'<title>{title}</title><rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="white"/>',
    ]
    for cell in optimizer.level_set().cells:
        (p0, p1), (g0, g1) = cell.ranges["penalty"], cell.ranges["gamma"]
        (left, bottom), (right, top) = place(p0, g0), place(p1, g1)
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{bottom - top:.1f}"'
            f' fill="{COLOURS[cell.label]}" fill-opacity="0.75" stroke="white" stroke-width="0.6"/>'
        )
    for record in optimizer.trials:
        x, y = place(record.params["penalty"], record.params["gamma"])
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#1f2933" stroke="white" stroke-width="0.8"/>')
    low, high = (good_enough.SPACE.from_unit(np.full(2, end)) for end in (0.0, 1.0))
    for name, across in (("penalty", True), ("gamma", False)):
        for power in range(round(log10(low[name])), round(log10(high[name])) + 1):
            x, y = place(*((10.0**power, low["gamma"]) if across else (low["penalty"], 10.0**power)))
            anchor, dx, dy = ("middle", 0, 18) if across else ("end", -8, 4)
            parts.append(
                f'<text x="{x + dx:.1f}" y="{y + dy:.1f}" {words} text-anchor="{anchor}">{10.0**power:g}</text>'
            )
    parts.append(f'<text x="{LEFT + wide / 2:.0f}" y="{TOP + tall + 38}" {words} text-anchor="middle">penalty</text>')
    parts.append(
        f'<text transform="translate(18 {TOP + tall / 2:.0f}) rotate(-90)" {words} text-anchor="middle">gamma</text>'
    )
    for i, (label, colour) in enumerate(COLOURS.items()):
        x = LEFT + 150 * i
        parts.append(f'<rect x="{x}" y="{HEIGHT - 28}" width="14" height="14" fill="{colour}" fill-opacity="0.75"/>')
        parts.append(f'<text x="{x + 20}" y="{HEIGHT - 16}" {words}>{label}</text>')
    parts.append(f'<circle cx="{LEFT + 457}" cy="{HEIGHT - 21}" r="3" fill="#1f2933"/>')
    parts.append(f'<text x="{LEFT + 470}" y="{HEIGHT - 16}" {words}>trials</text>')
    return "\n".join([*parts, "</svg>", ""])


def instrument_figure(n_trials: int = 24) -> str:
    """What was read in each trial, with standard errors, and the truth that no reading shows."""
    space = qd.Space.from_file(ROOT / "examples" / "instrument" / "space.toml")
    found = qd.maximize(reader.readings, space, n_trials=n_trials, seed=0)
    numbers = [float(record.number) for record in found.trials]
    means = [float(np.mean(record.values)) for record in found.trials]
    errors = [float(np.std(record.values, ddof=1)) / sqrt(len(record.values)) for record in found.trials]
    truths = [reader.truth(record.params) for record in found.trials]
    read = Points(
        "mean of three readings, with its standard error",
        numbers,
        means,
        [m - e for m, e in zip(means, errors, strict=True)],
        [m + e for m, e in zip(means, errors, strict=True)],
    )
    panel = Panel("Read rightly", "trial", "share", [Line("all digits", numbers, truths), read])
    return chart([panel], 1, title="Readings of the instrument and the truth, trial by trial")


def main() -> None:
    """Write every figure."""
    (FOLDER / "example_level_set.svg").write_text(level_set_figure())
    (FOLDER / "example_instrument.svg").write_text(instrument_figure())


if __name__ == "__main__":
    main()
