"""Eight ovens, one recipe: ask for eight settings, bake, tell eight results.

The oven's response is drawn from the ball of norm 1 of a Matérn kernel. LP-GP-UCB picks eight settings at a time: those
that are in the ovens already narrow the choice of the next, and never enter what it certifies. GP-BUCB and GP-UCB-PE
pick in batches too, from a model that learns its kernel, and certify nothing.
"""

from __future__ import annotations

import quadrat as qd
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

OVENS, NOISE, SEED = 8, 0.05, 1
KERNEL = qd.Matern(2.5, 0.3)
SPACE = qd.Space(temperature=qd.Float(160.0, 240.0), minutes=qd.Float(5.0, 45.0))


def bake(batches: int = 5) -> None:
    """Run all three methods on the same dough and compare with the truth that only the example knows."""
    f = draw_rkhs_function(KERNEL, dimension=2, norm=1.0, rng=generator(SEED))
    truth = f.maximum()[1]
    methods = {
        "LP-GP-UCB": qd.LPGPUCB(kernel=KERNEL, norm_bound=1.0, noise=NOISE, budget=batches * OVENS, degree=0),
        "GP-BUCB": qd.research.GPBUCB(noise=NOISE, scale=0.2),
        "GP-UCB-PE": qd.research.GPUCBPE(noise=NOISE, scale=0.2, region_scale=0.05, batch_size=OVENS),
    }
    for name, method in methods.items():
        optimizer = qd.Optimizer(SPACE, direction="maximize", method=method, seed=SEED)
        print(f"\n{name}")
        for batch in range(batches):
            trials = [optimizer.ask() for _ in range(OVENS)]
            for trial in trials:
                value = float(f(SPACE.to_unit(trial.params)))
                optimizer.tell(trial, value + NOISE * generator(SEED, trial.number).normal())
            advice, certificate = optimizer.recommend(), optimizer.certificate()
            regret = truth - float(f(SPACE.to_unit(advice.params)))
            stated = "not certified" if certificate.value is None else f"certified at most {certificate.value:.3f}"
            setting = f"{advice.params['temperature']:.0f} °C, {advice.params['minutes']:.0f} min"
            print(f"  batch {batch + 1}: {setting}, {regret:.3f} below the best ({stated})")


if __name__ == "__main__":
    bake()
