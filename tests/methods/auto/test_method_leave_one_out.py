"""Leave-one-out of the default method: whose trials an observation is, in which units, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.errors import NotAvailable
from quadrat.methods.auto.method import Auto, AutoSearch
from quadrat.methods.auto.surrogate import LARGEST
from quadrat.methods.base import Domain, Observation
from quadrat.optimizer import FAILED, Estimate, Optimizer
from quadrat.space import Categorical, Float, Space

SPACE = Space(x=Float(0, 1), kind=Categorical(["a", "b"]))


def told(number: int, x: Array, *values: float, variance: float | None = None) -> Observation:
    return Observation(number, x, np.array(values), variance)


def search_after(history: list[Observation]) -> AutoSearch:
    search = Auto().start(Domain.cube(2), seed=0)
    search.tell_many(history)
    return search


def trials(n: int) -> list[Observation]:
    rng = np.random.default_rng(n)
    points = rng.random((n, 2))
    return [told(i, x, float(np.sin(5 * x[0]) + x[1] + 0.1 * rng.normal())) for i, x in enumerate(points)]


def test_trials_at_one_point_are_left_out_together_and_numbered() -> None:
    """Replicates and repeats of unknown noise are one observation, those of known variance another."""
    history = trials(8)
    x = history[2].x
    history += [
        told(20, x, 1.0, 1.2),
        told(31, x, 1.1, variance=0.01),
        told(40, x, 0.9),
        told(41, x, 1.0, variance=0.04),
    ]
    found = search_after(history).leave_one_out()
    assert found is not None
    assert sorted(found.trials) == [(0,), (1,), (2, 20, 40), (3,), (4,), (5,), (6,), (7,), (31, 41)]
    together = found.trials.index((2, 20, 40))
    wanted = np.mean([history[2].values[0], 1.0, 1.2, 0.9])
    assert found.observed[together] == pytest.approx(wanted)
    known = found.trials.index((31, 41))
    assert found.observed[known] == pytest.approx((1.1 / 0.01 + 1.0 / 0.04) / (1 / 0.01 + 1 / 0.04))
    assert (found.lower < found.upper).all()


def test_it_is_a_function_of_what_was_told_and_changes_nothing() -> None:
    search, other = search_after(trials(12)), search_after(trials(12))
    first = search.leave_one_out()
    other.recommend()
    again = other.leave_one_out()
    assert first is not None
    assert again is not None
    np.testing.assert_array_equal(first.residuals, again.residuals)
    assert first.p_value == again.p_value
    np.testing.assert_array_equal(search.ask(12, np.empty((0, 2))).x, other.ask(12, np.empty((0, 2))).x)


def test_few_trials_and_too_many_have_none() -> None:
    assert search_after(trials(4)).leave_one_out() is None
    search = Auto(n_initial=2).start(Domain.cube(2), seed=0)
    search.tell_many([told(i, np.array([0.5, 0.5]), float(i)) for i in range(6)])
    assert search.leave_one_out() is None, "one point"
    assert search_after(trials(LARGEST + 1)).leave_one_out() is None


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_an_optimizer_answers_in_the_users_direction_and_units(direction: str) -> None:
    """The same values either way: intervals around them, and a value that is far off is named with its trial."""
    optimizer = Optimizer(SPACE, direction=direction, seed=0)
    rng = np.random.default_rng(3)
    points = SPACE.sample(30, rng)
    values = [1000 + 10 * float(np.sin(5 * p["x"])) + 5 * (p["kind"] == "b") + float(rng.normal()) for p in points]
    values[17] += 80
    for i, (params, value) in enumerate(zip(points, values, strict=True)):
        optimizer.add(params, FAILED if i == 3 else Estimate(value, 1.0) if i % 5 == 0 else value)
    found = optimizer.leave_one_out()
    assert sorted(found.trials) == [(i,) for i in range(30) if i != 3]
    assert found.observed == pytest.approx([values[i] for (i,) in found.trials])
    assert ((found.lower < found.predicted) & (found.predicted < found.upper)).all()
    assert found.residuals[found.trials.index((17,))] > 3
    assert found.warning is not None
    assert "trial 17 gave" in found.warning


def test_methods_without_a_model_of_all_trials_are_refused() -> None:
    optimizer = Optimizer(SPACE, direction="minimize", method="RandomSearch", seed=0)
    with pytest.raises(
        NotAvailable, match=r"expected a run of Auto.*5 to 256 complete trials, got RandomSearch with 0"
    ):
        optimizer.leave_one_out()
