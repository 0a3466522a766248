"""Kandasamy et al. 2016: with true zeta, phi bounds the target from above at all rounds; with a wrong one it does not.

Algorithm 1 rests on this: for beta_t = 2 log(M |X| t^2 pi^2 / (6 delta)), with probability at least 1 - delta, every
level lies within sqrt(beta_t) deviation^(m) of its mean at all t and all points of X (a union bound over levels, as in
theorem 1 of Srinivas et al. 2012), and then phi >= f^(M) wherever |f^(M) - f^(m)| <= zeta^(m). Checked by whole runs on
draws of the process on a grid.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from quadrat._core.arrays import Array
from quadrat.kernels import Matern
from quadrat.methods.base import Axis, Domain, FidelityAxis, Observation
from quadrat.methods.multi_fidelity.method import MFGPUCB, Index
from quadrat.methods.ucb.gp_ucb import Finite

KERNEL, NOISE, DELTA = Matern(2.5, 0.2), 0.1, 0.1
GRID = np.linspace(0, 1, 41)
AXIS = FidelityAxis(1, (0.25, 0.75), (1.0, 4.0))
DOMAIN = Domain((Axis(), Axis(AXIS.coordinates)), fidelity=AXIS)
RUNS, ROUNDS = 20, 22


def levels(rng: np.random.Generator) -> Array:
    """Two correlated draws of the process on the grid, shape (2, 41)."""
    root = np.linalg.cholesky(KERNEL(GRID[:, None]) + 1e-10 * np.eye(len(GRID)))
    first, second = (root @ rng.standard_normal(len(GRID)) for _ in range(2))
    return np.array([first, 0.95 * first + np.sqrt(1 - 0.95**2) * second])


def bound_fails(seed: int, factor: float) -> bool:
    """Whether phi is below the target anywhere in a run with `factor` times the true zeta."""
    rng = np.random.default_rng([seed, 16])
    f = levels(rng)
    zeta = factor * float(np.abs(f[1] - f[0]).max())
    form = Finite(arms=2 * len(GRID))
    method = MFGPUCB(
        kernel=KERNEL, noise=NOISE, zeta=(zeta,), n_initial=4, standardise=False, form=form, delta=DELTA, scale=1.0
    )
    search = method.start(DOMAIN, seed)
    for number in range(ROUNDS):
        x = search.ask(number, np.empty((0, 2))).x
        nearest = int(np.abs(GRID - x[0]).argmin())
        level = AXIS.coordinates.index(float(x[1]))
        value = f[level, nearest] + NOISE * rng.standard_normal()
        search.tell(Observation(number, np.array([GRID[nearest], x[1]]), np.array([value])))
        index = Index(search.model.gps, search.model.gaps, search.root)
        if (index.values(GRID[:, None]) < f[1]).any():
            return True
    return False


@pytest.mark.parametrize(("factor", "holds"), [(1.0, True), (0.0, False)])
def test_phi_bounds_the_target_where_zeta_is_right(factor: float, holds: bool) -> None:
    """At most as many runs fail as 99.9 % of binomial draws with probability delta; with zeta = 0 most fail."""
    failures = sum(bound_fails(seed, factor) for seed in range(RUNS))
    allowed = int(binom.ppf(0.999, RUNS, DELTA))
    assert (failures <= allowed) == holds, f"{failures} of {RUNS} runs fail, {allowed} may"
