"""Is the rule of `assumptions_from` true of functions that nobody drew from its kernel?

    python experiments/chosen_assumptions.py [--smoke]

For each function on the unit square, the rule is told the truth that an engineer could know: the range of the values,
and for each parameter the largest change over a twentieth of its range. Then the norm of the function minus the offset
under the chosen kernel is bounded from below by the norms of interpolants on grids of m x m points. These grow to the
norm with m. "About" is the last of them plus the last step, as if steps halved from grid to grid. The rule is true of a
function where the norm is at most the norm bound that it chose: "yes" where the last norm plus two steps is below it,
"no" where the last norm is above it, and otherwise it is not known.
"""

from __future__ import annotations

from grid import RESULTS  # isort: skip  # sets the number of BLAS threads

import argparse
from collections.abc import Callable

import numpy as np
from problems.classics import ackley, branin, log_goldstein_price, log_rosenbrock, rastrigin

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.optimizer import assumptions_from

SPACE = qd.Space(x=qd.Float(0, 1), y=qd.Float(0, 1))
FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "a plane": lambda u: u[:, 0] + 0.5 * u[:, 1],
    "a bowl": lambda u: (u[:, 0] - 0.4) ** 2 + (u[:, 1] - 0.6) ** 2,
    "a long valley": lambda u: (u[:, 0] - 0.4) ** 2 + 0.02 * (u[:, 1] - 0.6) ** 2,
    "a narrow hill": lambda u: np.exp(-((u - 0.6) ** 2).sum(1) / (2 * 0.12**2)),
    "two hills": lambda u: (
        np.exp(-((u - 0.25) ** 2).sum(1) / (2 * 0.15**2)) + 0.8 * np.exp(-((u - 0.8) ** 2).sum(1) / (2 * 0.12**2))
    ),
    "one wave": lambda u: np.sin(2 * np.pi * u[:, 0]) * np.cos(np.pi * u[:, 1]),
    "two waves and a half": lambda u: np.sin(5 * np.pi * u[:, 0]) + 0.3 * u[:, 1],
    "a yield": lambda u: 0.9 - ((20 + 70 * u[:, 0] - 65) / 60) ** 2 - 0.2 * np.log10(0.1 * 100 ** u[:, 1] / 2) ** 2,
    "saturation": lambda u: u[:, 0] / (0.1 + u[:, 0]) * (1 - 0.5 * u[:, 1]),
    "Branin": lambda u: branin(np.column_stack([15 * u[:, 0] - 5, 15 * u[:, 1]])),
    "log Goldstein-Price": lambda u: log_goldstein_price(4 * u - 2),
    "log Rosenbrock": lambda u: log_rosenbrock(4 * u - 2),
    "Ackley": lambda u: ackley(4 * u - 1.5),
    "Rastrigin": lambda u: rastrigin(2 * u - 0.9),
}
GRIDS = (26, 51)
SHARE = 0.05  # of each range: the distance of which the rule is told the largest change


def grid(m: int) -> Array:
    """Return m x m points of the square, shape (m^2, 2)."""
    side = np.linspace(0, 1, m)
    return np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)


def known(function: Callable[[Array], Array]) -> tuple[dict[str, tuple[float, float]], tuple[float, float]]:
    """Return the largest change over a twentieth of each range, and the range of the values."""
    points = grid(101)
    values = function(points)
    changes = {}
    for axis, name in enumerate(("x", "y")):
        begin = points[points[:, axis] <= 1 - SHARE + 1e-9]
        end = begin.copy()
        end[:, axis] += SHARE
        changes[name] = (SHARE, max(float(np.abs(function(end) - function(begin)).max()), 1e-6 * float(np.ptp(values))))
    return changes, (float(values.min()), float(values.max()))


def norm(kernel: qd.Matern, function: Callable[[Array], Array], offset: float, m: int) -> float:
    """Return the norm of the interpolant on m x m points."""
    points = grid(m)
    matrix = kernel(points)
    matrix[np.diag_indices_from(matrix)] += 1e-12
    return float(np.linalg.norm(np.linalg.solve(np.linalg.cholesky(matrix), function(points) - offset)))


def report(grids: tuple[int, ...]) -> str:
    """A Markdown table, a row for each function."""
    lines = [
        "| function | length-scales | norm bound / half range | norm / half range, about | true |",
        "|---|---|---|---|---|",
    ]
    for name, function in FUNCTIONS.items():
        changes, values = known(function)
        half = (values[1] - values[0]) / 2
        too_steep = any(change > 0.9 * half for _, change in changes.values())
        if too_steep:
            lines.append(f"| {name} | refused: too steep for a distance of {100 * SHARE:g} % | – | – | – |")
            continue
        choice = assumptions_from(SPACE, changes=changes, values=values, noise=0.01)
        kernel = choice.assumptions.on(SPACE).kernel
        assert isinstance(kernel, qd.Matern)
        norms = [norm(kernel, function, choice.assumptions.centre, m) / half for m in grids]
        last, step = norms[-1], norms[-1] - norms[-2]
        scales = ", ".join(f"{scale:.2f}" for scale in np.atleast_1d(kernel.lengthscales))
        bound = choice.assumptions.norm_bound / half
        holds = "yes" if last + 2 * step <= bound else "no" if last > bound else "not known"
        lines.append(f"| {name} | {scales} | {bound:.2f} | {last + step:.2f} | {holds} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table, and keep it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="small grids; nothing is kept")
    chosen = parser.parse_args()
    table = report(GRIDS if not chosen.smoke else (6, 9, 12))
    print(table)
    if not chosen.smoke:
        made = "Made by `python experiments/chosen_assumptions.py`."
        (RESULTS / "chosen_assumptions.md").write_text(f"# Is the rule true?\n\n{made}\n\n{table}\n")


if __name__ == "__main__":
    main()
