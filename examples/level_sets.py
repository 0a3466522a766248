"""Find where a process keeps its yield above a limit, from noisy runs: a map of what is safe, unsafe and undecided.

The yield is drawn from the ball of norm 2 of a Matérn kernel; the search knows kernel, norm and noise, never the yield.
All labels are right at once with probability 95 %; the last line compares them with the truth.
"""

from __future__ import annotations

import numpy as np

import quadrat as qd
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

SIGNS = {"above": "+", "below": "-", "undecided": "?"}


def explore(n_trials: int = 120, width: int = 48) -> None:
    """Search, then print the map."""
    noise, seed, limit = 0.05, 0, 0.3
    kernel = qd.Matern(2.5, 0.3)
    f = draw_rkhs_function(kernel, 2, norm=2.0, rng=generator(seed))
    space = qd.Space(temperature=qd.Float(20.0, 90.0), pressure=qd.Float(0.1, 10.0, log=True))
    method = qd.research.MultiScaleLevelSet(threshold=limit, kernel=kernel, norm_bound=2.0, noise=noise, accuracy=0.1)
    optimizer = qd.Optimizer(space, direction="maximize", method=method, seed=seed)
    for i in range(n_trials):
        trial = optimizer.ask()
        optimizer.tell(trial, float(f(space.to_unit(trial.params))) + noise * generator(seed, i).normal())
        if i + 1 in (n_trials // 4, n_trials // 2, n_trials):
            found = optimizer.level_set()
            shares = ", ".join(f"{found.volume(label):.0%} {label}" for label in SIGNS)  # type: ignore[arg-type]
            print(f"after {i + 1:3} runs: {shares}")

    print(f"\nYield above {limit} (+), below (-) or undecided (?); pressure from .1 (bottom) to 10 bar:\n")
    right = wrong = 0
    for row in (np.arange(width // 2)[::-1] + 0.5) / (width // 2):
        line = ""
        for column in (np.arange(width) + 0.5) / width:
            x = np.array([column, row])
            label = found.label_at(space.from_unit(x))
            line += SIGNS[label]
            holds = {"above": f(x) > limit - 0.1, "below": f(x) < limit + 0.1}.get(label)
            right, wrong = right + (holds is True), wrong + (holds is False)
        print("  " + line)
    print("  20 °C" + " " * (width - 10) + "90 °C")
    print(f"\nThe truth, which only this example knows: {right} points have the right label, {wrong} a wrong one.")


if __name__ == "__main__":
    explore()
