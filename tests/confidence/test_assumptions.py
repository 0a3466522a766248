from __future__ import annotations

import numpy as np
import pytest

from quadrat.confidence import Assumptions, UserHolder
from quadrat.errors import InvalidInput
from quadrat.kernels import GammaExponential, Kernel, Matern, OnAxes, RationalQuadratic, SquaredExponential
from quadrat.partition import Cell, PartitionTree
from quadrat.randomness import generator


def test_variation_is_the_modulus_times_the_norm() -> None:
    given = Assumptions(Matern(2.5, 0.3, amplitude=2.0), norm_bound=3.0, noise=0.1)
    offsets = np.random.default_rng(0).random((5, 2))
    np.testing.assert_allclose(given.variation(offsets), 3.0 * given.kernel.modulus(offsets))
    assert given.ceiling == pytest.approx(6.0)


def test_a_users_own_bound_enters_where_it_is_smaller() -> None:
    kernel = Matern(2.5, 0.3)
    given = Assumptions(kernel, norm_bound=1.0, noise=0.1, holder=UserHolder(0.5, 1.0))
    near, far = np.array([0.01, 0.0]), np.array([0.9, 0.9])
    assert given.variation(near) == pytest.approx(0.5 * 0.01)
    assert given.variation(near) < kernel.modulus(near)
    loose = Assumptions(kernel, norm_bound=1.0, noise=0.1, holder=UserHolder(100.0))
    assert loose.variation(far) == kernel.modulus(far)


def test_cells() -> None:
    given = Assumptions(SquaredExponential((0.2, 0.8)), norm_bound=1.0, noise=0.1)
    cell = Cell([0.0, 0.25], [0.5, 0.5])
    assert given.cell_variation(cell) == given.variation([0.5, 0.25])
    assert given.half_variation(cell) == given.variation([0.25, 0.125])


def test_the_rule_halves_the_axis_of_largest_variation() -> None:
    given = Assumptions(SquaredExponential((0.2, 0.8)), norm_bound=1.0, noise=0.1)
    tree = PartitionTree(2, axis_rule=given.axis_rule())
    left, _ = tree.split(0)
    np.testing.assert_allclose(tree.cell(left).sides, [0.5, 1.0])
    left, _ = tree.split(left)
    left, _ = tree.split(left)
    np.testing.assert_allclose(tree.cell(left).sides, [0.125, 1.0])
    additive = Assumptions(OnAxes(Matern(2.5, 0.1), [1]), norm_bound=1.0, noise=0.1)
    assert additive.axis_rule()(np.array([1.0, 0.5])) == 1


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Assumptions("matern", 1.0, 0.1), "kernel: expected a kernel"),  # type: ignore[arg-type]
        (
            lambda: Assumptions(Matern(), 0.0, 0.1),
            "norm_bound: expected a finite number >= 1e-100 and <= 1e.100, got 0.0",
        ),
        (lambda: Assumptions(Matern(), 1.0, -0.1), "noise: expected a finite number >= 1e-100.*got -0.1"),
        (lambda: Assumptions(Matern(), 1.0, 0.0), "noise: expected a finite number >= 1e-100"),
        (lambda: Assumptions(Matern(), 1.0, 0.1, holder=(1, 1)), "holder: expected UserHolder"),  # type: ignore[arg-type]
        (lambda: UserHolder(0.0), "constant: expected"),
        (lambda: UserHolder(1.0, 1.5), "exponent: expected a finite number > 0 and <= 1, got 1.5"),
    ],
)
def test_bad_input(build: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        build()  # type: ignore[operator]


@pytest.mark.parametrize(
    "kernel",
    [
        Matern(2.5, [0.3, 0.7], amplitude=2.0),
        Matern(1.5, 0.4),
        Matern(1.2, 0.4),
        SquaredExponential([0.2, 0.5]),
        RationalQuadratic(0.4),
        Matern(2.5, 0.3) + Matern(1.5, 0.8, amplitude=0.5),
        OnAxes(Matern(2.5, 0.3), [1]) + OnAxes(SquaredExponential(0.5), [0]),
    ],
    ids=str,
)
def test_interpolation_between_corners_is_off_by_no_more_than_stated(kernel: Kernel) -> None:
    """The norm of f -> f(x) - sum_v p_v f(v), which some f attains, is computed as a matrix form and compared."""
    given = Assumptions(kernel, 3.0, 0.1)
    for sides in ([0.4, 0.4], [0.1, 0.02], [0.0, 0.3], [0.01, 0.01]):
        corners = np.array([[i, j] for i in (0.0, 1.0) for j in (0.0, 1.0)])
        worst = 0.0
        for t in [*generator(4).random((40, 2)), np.array([0.5, 0.5])]:
            weights = np.prod(np.where(corners > 0, t, 1 - t), axis=1)
            points = np.vstack([t, corners]) * sides
            functional = np.append(1.0, -weights)
            worst = max(worst, 3.0 * float(np.sqrt(max(functional @ kernel(points) @ functional, 0.0))))
        bound = float(given.interpolation_error(sides))
        assert worst <= bound * (1 + 1e-6) + 1e-7
        if max(sides) <= 0.1:
            assert bound <= 2.5 * worst + 1e-6, "and it is not much more than that"


@pytest.mark.parametrize(
    "kernel", [Matern(0.5, 0.3), Matern(0.8, 0.3), GammaExponential(1.0, 0.3), Matern(2.5) * Matern(2.5)]
)
def test_where_nothing_is_known_of_interpolation_it_is_infinite(kernel: Kernel) -> None:
    assert Assumptions(kernel, 1.0, 0.1).interpolation_error([0.1, 0.1]) == np.inf
