from __future__ import annotations

import numpy as np
import pytest

from problems import Problem, RegretTrace, from_rkhs, get, regrets
from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import Matern
from quadrat.problems import draw_rkhs_function
from quadrat.randomness import generator


def _identity(points: Array) -> Array:
    return np.asarray(points[:, 0])


RAMP = Problem(name="ramp", dimension=1, function=_identity, optimizers=np.array([[1.0]]), optimal_value=1.0)
POINTS = np.array([[0.5], [0.25], [0.75], [0.0]])
OBSERVED = np.array([0.4, 0.9, 0.7, 0.9])


def test_every_term_by_hand() -> None:
    trace = RegretTrace.of(RAMP, POINTS, observed=OBSERVED, recommended=np.array([[0.5], [0.5], [1.0], [0.75]]))
    np.testing.assert_array_equal(trace.instantaneous, [0.5, 0.75, 0.25, 1.0])
    np.testing.assert_array_equal(trace.cumulative, [0.5, 1.25, 1.5, 2.5])
    np.testing.assert_array_equal(trace.best_evaluated, [0.5, 0.5, 0.25, 0.25])
    # the lucky second observation is held against the better third, and against the tie of the fourth
    np.testing.assert_array_equal(trace.best_observed, [0.5, 0.75, 0.75, 0.75])
    np.testing.assert_array_equal(trace.recommended, [0.5, 0.5, 0.0, 0.25])
    assert trace.summary() == {
        "evaluations": 4.0,
        "cumulative": 2.5,
        "average": 0.625,
        "best_evaluated": 0.25,
        "best_observed": 0.75,
        "recommended": 0.25,
    }


def test_brute_force_on_a_noisy_run() -> None:
    """Each entry recomputed from the definition, for 60 evaluations of a shifted problem."""
    problem = get("hartmann6~4")
    assert problem.optimal_value is not None
    rng = generator(1)
    points = rng.random((60, 6))
    true = problem.values(points)
    noisy = true + rng.normal(0, 1.0, 60)
    trace = RegretTrace.of(problem, points, observed=noisy)
    assert trace.best_observed is not None
    for t in range(60):
        assert trace.best_evaluated[t] == pytest.approx(problem.optimal_value - max(true[: t + 1]), abs=1e-12)
        lucky = int(np.argmax(noisy[: t + 1]))
        assert trace.best_observed[t] == pytest.approx(problem.optimal_value - true[lucky], abs=1e-12)
        assert trace.cumulative[t] == pytest.approx(sum(problem.optimal_value - true[: t + 1]), abs=1e-9)
    assert (trace.best_evaluated <= trace.best_observed).all()
    assert (trace.instantaneous >= 0).all()


def test_terms_that_were_not_given_are_absent() -> None:
    trace = RegretTrace.of(RAMP, POINTS)
    assert trace.best_observed is None
    assert trace.recommended is None
    assert set(trace.summary()) == {"evaluations", "cumulative", "average", "best_evaluated"}


def test_an_unknown_optimum_must_be_stated() -> None:
    f = draw_rkhs_function(Matern(2.5, 0.3), 2, rng=generator(2))
    problem = from_rkhs(f)
    points = generator(3).random((5, 2))
    with pytest.raises(NotAvailable, match="optimal_value="):
        RegretTrace.of(problem, points)
    _, best = f.maximum()
    stated = RegretTrace.of(problem, points, optimal_value=best, recommended=points)
    carried = RegretTrace.of(from_rkhs(f, optimum=f.maximum()), points)
    np.testing.assert_array_equal(stated.instantaneous, carried.instantaneous)
    np.testing.assert_array_equal(stated.recommended, stated.instantaneous)


def test_a_stated_optimum_is_preferred_and_nothing_is_clipped() -> None:
    np.testing.assert_array_equal(regrets(RAMP, POINTS, optimal_value=0.5), [0.0, 0.25, -0.25, 0.5])


def test_one_recommended_point() -> None:
    assert regrets(get("branin"), [0.5, 0.5]).shape == (1,)


def test_arguments_are_checked() -> None:
    with pytest.raises(InvalidInput, match="at least one"):
        RegretTrace.of(RAMP, np.empty((0, 1)))
    with pytest.raises(InvalidInput, match="observed"):
        RegretTrace.of(RAMP, POINTS, observed=[0.1])
    with pytest.raises(InvalidInput, match="recommended: expected 4 rows"):
        RegretTrace.of(RAMP, POINTS, recommended=np.array([[0.5]]))
    with pytest.raises(InvalidInput, match="points"):
        RegretTrace.of(RAMP, np.zeros((3, 2)))
