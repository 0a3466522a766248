"""Find the maximum of an unknown function from noisy values, and state how far from it one can still be.

The function is drawn from the ball of norm 1 of a Matérn kernel; the search knows kernel, norm and noise, never the
function. Everything printed as certified holds with probability 95 %; the last column shows that it did.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

import quadrat as qd
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

console = Console(width=100, highlight=False)


def certify() -> None:
    """Search with LP-GP-UCB and compare with the truth that only the demo knows."""
    noise, budget, seed = 0.05, 160, 1
    kernel = qd.Matern(2.5, 0.3)
    f = draw_rkhs_function(kernel, dimension=2, norm=1.0, rng=generator(seed))
    truth = f.maximum()[1]
    space = qd.Space(temperature=qd.Float(20.0, 90.0), pressure=qd.Float(0.1, 10.0, log=True))
    method = qd.LPGPUCB(kernel=kernel, norm_bound=1.0, noise=noise, budget=budget, degree=0)
    optimizer = qd.Optimizer(space, direction="maximize", method=method, seed=seed)

    console.print("\n[bold]An instrument with two knobs[/bold] (certified)\n")
    console.print(f"Assumed before the data: Matérn 5/2, length-scale 0.3, norm at most 1, noise at most {noise}.\n")
    table = Table(title="Certified as it goes (95 %)")
    for heading in ("readings", "recommended", "its value lies in", "certificate", "true regret"):
        table.add_column(heading, justify="right")
    for reading in range(1, budget + 1):
        trial = optimizer.ask()
        optimizer.tell(trial, float(f(space.to_unit(trial.params))) + noise * generator(seed, reading).normal())
        if reading in (10, 20, 40, 80, budget):
            advice, certificate = optimizer.recommend(), optimizer.certificate()
            assert advice.certified_interval is not None
            low, high = advice.certified_interval
            value = float(f(space.to_unit(advice.params)))
            table.add_row(
                str(reading),
                f"{advice.params['temperature']:.1f} °C, {advice.params['pressure']:.2f} bar",
                f"[{low:.3f}, {high:.3f}]",
                f"{certificate.value:.3f}",
                f"{truth - value:.3f}",
            )
    console.print(table)
    console.print("\nNobody knows the norm. What each bound would buy with these readings:\n")
    console.print(str(optimizer.certificate_curve(np.array([0.25, 0.5, 1.0, 2.0, 4.0]))))
    console.print(f"\nThe truth, which only this example knows: the maximum is {truth:.3f}.")


if __name__ == "__main__":
    certify()
