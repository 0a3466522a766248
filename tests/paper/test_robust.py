"""Theorem 1 of Bogunovic, Scarlett, Jegelka and Cevher (2018), simulated on functions of known norm.

With bounds that hold, the robust regret of x~_t is in every round t at most ucb - lcb at the point sampled, which is
2 b_t sigma_(t-1)(x~_t + d_t): the step of the proof from which the theorem follows.
"""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.kernels import Matern
from quadrat.methods.base import Domain, Observation
from quadrat.methods.robust.method import StableOpt
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator

KERNEL, NOISE, RADIUS = Matern(2.5, 0.2), 0.1, 0.1
GRID = np.linspace(0, 1, 401)


def worst_cases(values: Array) -> Array:
    """min over |z - x| <= r, on the grid."""
    reach = round(RADIUS * 400)
    padded = np.pad(values, reach, constant_values=np.inf)
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1).min(axis=1))


@pytest.mark.parametrize("seed", range(2))
def test_robust_regret_is_at_most_twice_the_width_where_it_samples(seed: int) -> None:
    """Norm 1, sigma = .1, delta = .05, 17 rounds: in each, the robust regret of x~_t against its bound, slack .02."""
    f = draw_rkhs_function(KERNEL, 1, norm=1.0, rng=generator(seed, 90))
    worst = worst_cases(f.values(GRID[:, None]))
    method = StableOpt(
        perturbation=RADIUS, kernel=KERNEL, noise=NOISE, standardise=False, multiplier=None, norm_bound=1.0, delta=0.05
    )
    search = method.start(Domain.cube(1), seed)
    rng, none = np.random.default_rng(seed), np.empty((0, 1))
    widths = []
    for number in range(22):
        x = search.ask(number, none).x
        if number >= 5:
            gp, width = search.model.gp, method.width(search.model)
            aim = search._most_robust(gp, width, generator(seed, number, 1))  # the stream of `ask`
            regret = worst.max() - float(worst[int(np.argmin(np.abs(GRID - aim.point[0])))])
            widths.append(2 * width * float(gp.predict(x[None, :]).deviation[0]))
            assert regret <= widths[-1] + 0.02
        search.tell(Observation(number, x, np.array([float(f.values(x[None, :])[0]) + NOISE * rng.standard_normal()])))
    assert min(widths) < 0.8 * widths[0]  # the bound shrinks: what it says is not empty
    # The recommended point's worst case is at least its worst lower bound: the band holds there too.
    choice = search._choice()
    assert float(worst[int(np.argmin(np.abs(GRID - choice.point[0])))]) >= choice.value - 0.02
