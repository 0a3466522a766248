"""Information gain: exact values, and upper bounds that dominate what no design can exceed."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from quadrat.errors import InvalidInput
from quadrat.gp import greedy_gain, realised_gain, set_gain
from quadrat.kernels import Kernel, Matern, SquaredExponential


def direct(kernel: Kernel, X: np.ndarray, lam: float) -> float:
    return float(0.5 * np.linalg.slogdet(np.eye(len(X)) + kernel(X) / lam)[1])


def test_realised_gain_is_the_log_determinant_also_with_repeats() -> None:
    X = np.random.default_rng(0).random((6, 2))[[0, 1, 2, 0, 3, 0, 4, 5]]
    gain = realised_gain(Matern(2.5, 0.3, amplitude=1.4), X, 0.2)
    assert gain.value == pytest.approx(direct(Matern(2.5, 0.3, amplitude=1.4), X, 0.2), abs=1e-10)
    assert gain.rigorous


def test_greedy_reaches_its_share_of_the_best_on_a_finite_set() -> None:
    """Nemhauser et al.: greedy >= (1 - 1/e) max, by enumeration of all multisets of size 4 out of 7."""
    kernel, lam = Matern(1.5, 0.4), 0.3
    G = np.random.default_rng(1).random((7, 1))
    best = max(direct(kernel, G[list(c)], lam) for c in itertools.combinations_with_replacement(range(7), 4))
    bound = greedy_gain(kernel, 4, lam, dimension=1, candidates=G)
    assert not bound.rigorous
    assert "in between" in bound.how
    assert best <= bound.value <= best / (1 - 1 / math.e) + 1e-12


@pytest.mark.parametrize(
    "kernel", [Matern(2.5, 0.3), Matern(0.5, 0.5), SquaredExponential(0.4, amplitude=1.5)], ids=repr
)
@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("lam", [0.01, 1.0])
def test_upper_bounds_dominate_every_design_tried(kernel: Kernel, dimension: int, lam: float) -> None:
    n = 25
    rng = np.random.default_rng(dimension)
    designs = [rng.random((n, dimension)) for _ in range(20)]
    designs += [np.round(design * 4) / 4 for design in designs[:5]]
    largest = max(direct(kernel, design, lam) for design in designs)
    for bound in (
        greedy_gain(kernel, n, lam, dimension=dimension),
        set_gain(kernel, n, lam, dimension=dimension),
    ):
        assert bound.rigorous
        assert bound.value >= largest
        assert "grid" in bound.how
    ceiling = 0.5 * n * np.log1p(kernel.variance / lam)
    assert set_gain(kernel, n, lam, dimension=dimension).value <= ceiling + 1e-9


def test_the_set_bound_is_useful_in_one_dimension() -> None:
    bound = set_gain(Matern(2.5, 0.3), 500, 0.1, dimension=1)
    spread = realised_gain(Matern(2.5, 0.3), np.linspace(0, 1, 500)[:, None], 0.1)
    assert bound.value <= 2 * spread.value


def test_greedy_without_candidates_needs_its_discretisation_term() -> None:
    """The printed route stops at the grid: on a coarse grid a design off the grid exceeds it."""
    kernel, lam, n = Matern(0.5, 0.02), 0.05, 40
    coarse = (np.arange(4)[:, None] + 0.5) / 4
    printed = greedy_gain(kernel, n, lam, dimension=1, candidates=coarse).value
    assert direct(kernel, np.linspace(0, 1, n)[:, None], lam) > printed
    assert greedy_gain(kernel, n, lam, dimension=1).value >= direct(kernel, np.linspace(0, 1, n)[:, None], lam)


def test_given_candidates_make_an_estimate_of_the_set_bound() -> None:
    bound = set_gain(Matern(2.5, 0.3), 10, 0.1, dimension=6, candidates=np.random.default_rng(0).random((200, 6)))
    assert not bound.rigorous


def test_nothing_observed_gains_nothing() -> None:
    assert realised_gain(Matern(2.5), np.zeros((0, 1)), 0.1).value == 0.0
    assert set_gain(Matern(2.5), 0, 0.1, dimension=1).value == 0.0


def test_a_grid_of_one_point_covers_the_cube_from_its_centre() -> None:
    """In 13 dimensions two ticks an axis are too many points. The bound is that of the docstring, with G the centre."""
    kernel, n, lam = Matern(2.5, 3.0), 4, 0.5
    on_set = 0.5 * np.log1p(n / lam) / (1 - np.exp(-1))
    distance = float(kernel.modulus(np.full(13, 0.5)))
    found = greedy_gain(kernel, n, lam, dimension=13)
    assert found.rigorous
    assert found.value == pytest.approx((np.sqrt(on_set) + distance * np.sqrt(n / (2 * lam))) ** 2, rel=1e-9)


def test_many_dimensions_give_the_trivial_bound() -> None:
    bound = set_gain(Matern(2.5, 0.3), 10, 0.1, dimension=70)
    assert bound.rigorous
    assert bound.value <= 5 * np.log(11) + 1e-9


def test_bad_input() -> None:
    with pytest.raises(InvalidInput, match="dimension: expected a whole number >= 1, got 0"):
        set_gain(Matern(2.5), 5, 0.1, dimension=0)
    with pytest.raises(InvalidInput, match=r"noise_variance: expected a finite number > 0, got 0"):
        set_gain(Matern(2.5), 5, 0.0, dimension=1)
    with pytest.raises(InvalidInput, match=r"n: expected"):
        greedy_gain(Matern(2.5), -1, 0.1, dimension=1)
    with pytest.raises(InvalidInput, match=r"candidates: expected at least one"):
        greedy_gain(Matern(2.5), 1, 0.1, dimension=1, candidates=np.zeros((0, 1)))


def test_one_candidate_observed_again_and_again_in_closed_form() -> None:
    """Before observation t + 1 the variance is 1/(1 + t/lambda); beyond 400 steps, that of the last stands for all."""
    lam = 0.3
    steps = 0.5 * np.log1p(1 / (1 + np.arange(400) / lam) / lam)
    for n, total in ((7, steps[:7].sum()), (400, steps.sum()), (1000, steps.sum() + 600 * steps[-1])):
        found = greedy_gain(Matern(2.5, 0.3), n, lam, dimension=1, candidates=[[0.5]])
        assert found.value == pytest.approx(total / (1 - 1 / math.e), rel=1e-9)


@pytest.mark.parametrize(("dimension", "size"), [(1, 4096), (2, 64**2), (3, 16**3), (4, 8**4), (5, 5**5), (12, 2**12)])
def test_the_grid_is_the_finest_of_at_most_4096_points(dimension: int, size: int) -> None:
    assert f"grid of {size} " in greedy_gain(Matern(2.5, 0.3), 1, 0.1, dimension=dimension).how
