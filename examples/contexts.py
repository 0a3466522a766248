"""Each site has its own best setting, and what is learned at one site counts at the others.

The site is given with every trial; the search chooses the temperature for it. CGP-UCB learns from the trials how alike
the sites are. LP-GP-UCB rests on stated assumptions instead, and certifies its answer at every site.
"""

from __future__ import annotations

import numpy as np

import quadrat as qd
from quadrat.methods.base import Method
from quadrat.randomness import generator

BEST = {"north": 42.0, "middle": 50.0, "south": 64.0}  # what nobody knows: the best temperature of each site
SPACE = qd.Space(temperature=qd.Float(20.0, 80.0), site=qd.Context(qd.Categorical(list(BEST))))
NOISE = 0.03


def output(temperature: float, site: str) -> float:
    """What a site puts out at a temperature: at most 1."""
    return float(np.exp(-0.5 * ((temperature - BEST[site]) / 12) ** 2))


def run(method: Method, n_trials: int, seed: int = 0) -> qd.Optimizer:
    """Ask in whatever site comes next, and tell what it put out."""
    optimizer = qd.Optimizer(SPACE, direction="maximize", method=method, seed=seed)
    sites = generator(seed, 1).choice(list(BEST), size=n_trials).tolist()
    for i, site in enumerate(sites):
        trial = optimizer.ask(context={"site": site})
        optimizer.tell(trial, output(**trial.params) + NOISE * generator(seed, i, 2).normal())
    return optimizer


def main(n_trials: int = 45) -> None:
    """Print what is recommended at each site, by a learned model and by one that certifies."""
    learned = run(qd.CGPUCB(noise=NOISE), n_trials)
    certified = run(
        qd.research.LP0(kernel=qd.Matern(2.5, [0.3, 0.5]), norm_bound=2.0, noise=NOISE, budget=n_trials), n_trials
    )
    print(
        f"{'site':8} {'best':>7}   {'CGP-UCB':>8} (90 % interval)   {'LP-GP-UCB':>9}   at most this far from the best"
    )
    for site, best in BEST.items():
        guess = learned.recommend(context={"site": site})
        low, high = guess.credible_interval or (float("nan"),) * 2
        report = certified.certificate(context={"site": site})
        assert report.params is not None
        print(
            f"{site:8} {best:4.0f} °C   {guess.params['temperature']:5.1f} °C  [{low:.2f}, {high:.2f}]"
            f"    {report.params['temperature']:6.1f} °C   {report.value:.2f}"
        )


if __name__ == "__main__":
    main()
