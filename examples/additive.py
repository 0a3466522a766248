"""Six settings that act in pairs: learn which belong together, and tune all of them at once.

    python examples/additive.py

The yield of a made-up process depends on heat with time, acid with salt, and speed with load. Nothing says so to the
method; after 80 noisy trials it knows.
"""

from __future__ import annotations

import numpy as np

from quadrat.methods.add_gp_ucb import AddGPUCB
from quadrat.methods.base import Told

NAMES = ("heat", "acid", "speed", "time", "salt", "load")


def process(x: np.ndarray) -> float:
    """The yield at a setting, shape (6,), each from 0 to 1; at most 3."""
    heat, acid, speed, time, salt, load = x
    return float(np.sin(3 * heat * time + 0.5) + np.cos(4 * (acid - salt)) + np.cos(4 * (speed + load - 1)))


def run(n_trials: int = 80, seed: int = 0) -> float:
    """Tune, print what was found, and return the yield at the recommended setting."""
    search = AddGPUCB().start(len(NAMES), seed)
    noise = np.random.default_rng(seed)
    for number in range(n_trials):
        x = search.ask(number, np.empty((0, len(NAMES)))).x
        search.tell(Told(number, x, np.array([process(x) + 0.1 * noise.normal()])))
    found = search.explain()["groups"]
    assert isinstance(found, list)
    print("these act together:", "; ".join(" and ".join(NAMES[axis] for axis in group) for group in found))
    guess = search.recommend()
    assert guess.interval is not None
    print("recommended:", ", ".join(f"{name} {value:.2f}" for name, value in zip(NAMES, guess.x, strict=True)))
    print(f"predicted yield {guess.value:.2f}, 90 % credible from {guess.interval[0]:.2f} to {guess.interval[1]:.2f}")
    print(f"its yield is {process(guess.x):.2f}; the best possible is 3.00")
    return process(guess.x)


if __name__ == "__main__":
    run()
