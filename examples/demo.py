"""Find the maximum of an unknown function from noisy values, and say how far from it one can still be.

Run by `make demo`. The function is drawn from the ball of norm 1 of a Matérn kernel; the search knows the kernel, the
norm and the noise, never the function. Each point is where the certified upper bound is highest. Every line printed
under "certified" holds with probability 95 %, and the last column shows that it did.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

import quadrat as qd
from quadrat.confidence import AdaptiveBand, Assumptions, certificate_curve, certified_maximum, certify
from quadrat.partition import PartitionTree, draw_plane
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

NOISE, BUDGET, SEED = 0.05, 160, 1


def main() -> None:
    """Search, certify, and compare with the truth that only the demo knows."""
    console = Console(width=100, highlight=False)
    space = qd.Space(temperature=qd.Float(20.0, 90.0), pressure=qd.Float(0.1, 10.0, log=True))
    kernel = qd.Matern(2.5, 0.3)
    f = draw_rkhs_function(kernel, dimension=space.dimension, norm=1.0, rng=generator(SEED))
    truth = f.maximum()[1]
    noise = generator(SEED, 1)

    console.print("\n[bold]An instrument with two knobs, noisy readings, no gradient.[/bold]")
    console.print(f"Assumed before the data: Matérn 5/2, length-scale 0.3, norm at most 1, noise at most {NOISE}.\n")
    table = Table(title="Certified as it goes (95 %)")
    for heading in (
        "readings",
        "recommended",
        "its value lies in",
        "best possible is at most",
        "certificate",
        "true regret",
    ):
        table.add_column(heading, justify="right")

    band = AdaptiveBand(Assumptions(kernel, norm_bound=1.0, noise=NOISE), delta=0.05)
    candidates = generator(SEED, 2).random((400, 2))
    tree = PartitionTree(2)
    readings: list[float] = []
    for reading in range(1, BUDGET + 1):
        x = candidates[int(np.argmax(band.interval(candidates).upper))][None]
        y = float(f(x[0])) + NOISE * noise.normal()
        band.add(x, [y])
        readings.append(y)
        tree.add(x[0])
        while tree.count(leaf := tree.locate(x[0])) > 4 and tree.depth(leaf) < 12:
            tree.split(leaf)
        if reading in (10, 20, 40, 80, BUDGET):
            certificate = certify(band, dimension=2, max_cells=400)
            low, high = certificate.certified_interval
            settings = space.from_unit(certificate.point)
            table.add_row(
                str(reading),
                f"{settings['temperature']:.1f} °C, {settings['pressure']:.2f} bar",
                f"[{low:.3f}, {high:.3f}]",
                f"{certificate.maximum:.3f}",
                f"{certificate.value:.3f}",
                f"{truth - float(f(certificate.point)):.3f}",
            )
    console.print(table)
    console.print("\n[bold]Where it looked.[/bold] Cells halve where readings gather; each number counts readings.\n")
    console.print(draw_plane(tree, width=60))

    console.print("\n[bold]Nobody knows the norm.[/bold] What each bound would buy with these readings:\n")
    curve = certificate_curve(
        kernel, tree.points, readings, noise=NOISE, norm_bounds=[0.25, 0.5, 1.0, 2.0, 4.0], max_cells=300
    )
    console.print(str(curve))
    console.print(f"\nThe truth, which only this demo knows: the maximum is {truth:.3f}.")
    top = certified_maximum(band, dimension=2, max_cells=400).value
    console.print(f"Certified: at most {top:.3f}. " + ("It held." if truth <= top else "It failed."))


if __name__ == "__main__":
    main()
