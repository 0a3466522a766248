"""Short trainings tell where long ones are worth it.

    python examples/fidelities.py

The score of a training depends on its rate x and on how many epochs it has: with few epochs it is lower, and the best
rate is higher. Training for 100 epochs costs 100; MF-GP-UCB chooses the epochs of every trial too.
"""

from __future__ import annotations

import math
from collections import Counter

import quadrat as qd

BUDGET = 1500  # as much as 15 trainings of 100 epochs


def score(params: dict[str, float]) -> float:
    """How well a training does; an imitation of one, without noise."""
    rate, epochs = params["x"], params["epochs"]
    best = 0.62 + 0.4 / math.sqrt(epochs)
    return 0.9 - 1.5 * (rate - best) ** 2 - 0.5 / math.sqrt(epochs)


def main(budget: float = BUDGET) -> None:
    """Tune and say what was spent on what."""
    space = qd.Space(x=qd.Float(0, 1), epochs=qd.Fidelity([5, 25, 100], cost=[5, 25, 100]))
    result = qd.maximize(score, space, max_cost=budget, method=qd.MFGPUCB(noise=0.01))
    trials = Counter(trial.params["epochs"] for trial in result.trials)
    for epochs in (5, 25, 100):
        print(f"{trials[epochs]:4d} trainings of {epochs:3d} epochs, cost {epochs * trials[epochs]}")
    print(f"recommended: x = {result.params['x']:.3f}, {result.params['epochs']} epochs, score {result.value:.3f}")
    print(f"the best possible: x = {0.62 + 0.04:.3f}, score {score({'x': 0.66, 'epochs': 100}):.3f}")


if __name__ == "__main__":
    main()
