"""Twenty-four versions of a page, shown to visitors one at a time: which one do they click most often?

UCB1 knows nothing but that a click is 0 or 1. GPUCB knows besides that neighbouring font sizes do alike.
"""

from __future__ import annotations

import numpy as np

import quadrat as qd
from quadrat.methods.base import Method
from quadrat.randomness import generator

SPACE = qd.Space(size=qd.Int(9, 16), colour=qd.Categorical(["red", "green", "blue"]))


def chance(size: int, colour: str) -> float:
    """Return the chance of a click, which only this example knows: at most .8, at 13 points in green."""
    return float(0.8 * np.exp(-0.5 * ((size - 13) / 2.5) ** 2) * {"red": 0.4, "green": 1.0, "blue": 0.7}[colour])


def show(visitors: int = 300, seed: int = 0) -> None:
    """Serve so many visitors with either method, and print how many clicks were lost."""
    methods: dict[str, Method] = {"UCB1": qd.research.UCB1(), "GPUCB": qd.research.GPUCB(noise=0.5, scale=0.2)}
    print("method   clicks lost   recommended          chance of a click there (the best has 0.80)")
    for name, method in methods.items():
        optimizer = qd.Optimizer(SPACE, direction="maximize", method=method, seed=seed)
        lost = 0.0
        for visitor in range(visitors):
            trial = optimizer.ask()
            clicks = chance(**trial.params)
            optimizer.tell(trial, float(generator(seed, visitor, 1).random() < clicks))
            lost += 0.8 - clicks
        got = optimizer.recommend().params
        print(f"{name:8} {lost:11.1f}   {got['size']} points, {got['colour']:10} {chance(**got):.2f}")


if __name__ == "__main__":
    show()
