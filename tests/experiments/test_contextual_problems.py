from __future__ import annotations

import numpy as np
import pytest
from contextual_problems import ContextualProblem, ContextualTrace

import problems
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator


@pytest.mark.parametrize("context", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_best_in_a_context_is_that_of_a_fine_grid(context: float, axis: int) -> None:
    branin = ContextualProblem(problems.get("branin2"), (axis,))
    point, value = branin.best([context])
    grid = np.linspace(0, 1, 20_001)[:, None]
    highest = branin.problem.values(branin.joined(grid, [context])).max()
    assert point[axis] == context
    assert branin.problem.values(point[None])[0] == value
    assert highest - 1e-12 <= value <= highest + 1e-6


def test_the_best_of_an_rkhs_function_in_two_actions() -> None:
    f = draw_rkhs_function(Matern(2.5, 0.3), 3, rng=generator(5))
    problem = ContextualProblem(problems.from_rkhs(f), (1,))
    line = np.linspace(0, 1, 201)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    highest = f.values(problem.joined(grid, [0.4])).max()
    assert highest <= problem.best([0.4])[1] <= highest + 1e-3


def test_regrets_by_the_definition() -> None:
    """r_t = max_x f(x, z_t) - f(x_t, z_t), R_t their sums, R_t / t (Krause and Ong 2011, section 2)."""
    branin = ContextualProblem(problems.get("branin2"), (1,))
    points = np.array([[0.2, 0.1], [0.9, 0.6], [0.5, 0.1]])
    best = [branin.best([z])[1] for z in points[:, 1]]
    expected = best - branin.problem.values(points)
    trace = ContextualTrace.of(branin, points)
    np.testing.assert_array_equal(trace.instantaneous, expected)
    np.testing.assert_allclose(trace.cumulative, [expected[:1].sum(), expected[:2].sum(), expected.sum()])
    np.testing.assert_allclose(trace.average, trace.cumulative / [1, 2, 3])
    assert ContextualTrace.of(branin, [branin.best([0.25])[0]]).average[0] == 0.0
    assert (trace.instantaneous > 0).all()


def test_what_is_remembered_is_not_changed_from_outside() -> None:
    branin = ContextualProblem(problems.get("branin2"), [0])
    first = branin.best([0.5])[0]
    first[:] = 0.0
    assert branin.best([0.5])[0][0] == 0.5
    assert branin.actions == (1,)


@pytest.mark.parametrize("axes", [(), (0, 1), (2,), (-1,), (0, 0)])
def test_wrong_axes(axes: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match="contexts: expected some, but not all, of the axes 0 to 1"):
        ContextualProblem(problems.get("branin2"), axes)


def test_no_points() -> None:
    with pytest.raises(InvalidInput, match="at least one evaluated point"):
        ContextualTrace.of(ContextualProblem(problems.get("branin2"), (0,)), np.empty((0, 2)))
