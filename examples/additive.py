"""Six settings that act in pairs: learn which belong together, and tune all of them at once.

    python examples/additive.py

The yield of a made-up process depends on heat with time, acid with salt, and speed with load. Nothing says so to the
method; after 80 noisy trials it knows. (Who knows it before says AddGPUCB(groups=[["heat", "time"], ...]).)
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

import quadrat as qd

SPACE = qd.Space(**{name: qd.Float(0, 1) for name in ("heat", "acid", "speed", "time", "salt", "load")})


def process(heat: float, acid: float, speed: float, time: float, salt: float, load: float) -> float:
    """The yield at a setting; at most 3."""
    return float(np.sin(3 * heat * time + 0.5) + np.cos(4 * (acid - salt)) + np.cos(4 * (speed + load - 1)))


def run(n_trials: int = 80, seed: int = 0) -> float:
    """Tune, print what was found, and return the yield at the recommended setting."""
    optimizer = qd.Optimizer(SPACE, direction="maximize", method=qd.research.AddGPUCB(), seed=seed)
    noise = np.random.default_rng(seed)
    for _ in range(n_trials):
        trial = optimizer.ask()
        optimizer.tell(trial, process(**trial.params) + 0.1 * noise.normal())
    groups = cast(Any, optimizer.explain()["search"])["groups"]
    print("these act together:", "; ".join(" and ".join(group) for group in groups))
    advice = optimizer.recommend()
    assert advice.credible_interval is not None
    low, high = advice.credible_interval
    print("recommended:", ", ".join(f"{name} {value:.2f}" for name, value in advice.params.items()))
    print(f"predicted yield {advice.value:.2f}, 90 % credible from {low:.2f} to {high:.2f}")
    best = process(**advice.params)
    print(f"its yield is {best:.2f}; the best possible is 3.00")
    return best


if __name__ == "__main__":
    run()
