"""Settings are never met exactly: choose the temperature and the dose that stay good when they are missed.

A narrow peak is the highest, a broad one nearly as high. A search for the maximum recommends the narrow one; StableOpt
knows by how much the settings may be missed, and recommends the broad one.
"""

from __future__ import annotations

import numpy as np

import quadrat as qd
from quadrat._core.arrays import Array
from quadrat.methods.surrogate import Learned
from quadrat.randomness import generator

SPACE = qd.Space(temperature=qd.Float(20.0, 80.0), dose=qd.Float(0.0, 5.0))
MISSED = 0.15  # of the range of either parameter: 9 degrees, .75 units
NOISE = 0.03


def quality(temperature: Array, dose: Array) -> Array:
    """Two peaks: 1 at (35, 3.75), narrow; .7 at (60, 1.75), broad."""
    u, v = (temperature - 20) / 60, dose / 5
    narrow = np.exp(-0.5 * (((u - 0.25) / 0.12) ** 2 + ((v - 0.75) / 0.12) ** 2))
    broad = 0.7 * np.exp(-0.5 * (((u - 0.667) / 0.25) ** 2 + ((v - 0.35) / 0.25) ** 2))
    return np.asarray(np.maximum(narrow, broad))


def worst(params: dict[str, float]) -> float:
    """Return the lowest quality when both settings are missed by up to MISSED of their range."""
    a = np.clip(params["temperature"] + np.linspace(-60, 60, 101) * MISSED, 20, 80)
    b = np.clip(params["dose"] + np.linspace(-5, 5, 101) * MISSED, 0, 5)
    return float(quality(a[:, None], b[None, :]).min())


def compare(n_trials: int = 40, seed: int = 3) -> None:
    """Run both searches and print what each recommends."""
    kernel = Learned(refit_every="doubling")
    methods = {
        "GPUCB": qd.research.GPUCB(kernel=kernel, noise=NOISE),
        "StableOpt": qd.StableOpt(perturbation=MISSED, kernel=kernel, noise=NOISE),
    }
    print("method      temperature  dose   quality there   if missed (true)   if missed (believed, 90 %)")
    for name, method in methods.items():
        optimizer = qd.Optimizer(SPACE, direction="maximize", method=method, seed=seed)
        for i in range(n_trials):
            trial = optimizer.ask()
            value = float(quality(np.array(trial.params["temperature"]), np.array(trial.params["dose"])))
            optimizer.tell(trial, value + NOISE * generator(seed, i, 1).normal())
        got = optimizer.recommend().params
        there = float(quality(np.array(got["temperature"]), np.array(got["dose"])))
        search = optimizer.explain()["search"]
        assert isinstance(search, dict)
        case = search.get("worst case")
        believed = "–" if case is None else "[{:.2f}, {:.2f}]".format(*case["credible interval"])
        print(
            f"{name:10} {got['temperature']:8.1f} °C {got['dose']:6.2f} {there:15.2f} {worst(got):17.2f}   {believed}"
        )


if __name__ == "__main__":
    compare()
