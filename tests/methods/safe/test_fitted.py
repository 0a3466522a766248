"""The fitted mode: nothing is called certified, steps are short at first, and few evaluations break the limit."""

from __future__ import annotations

import numpy as np
import pytest

import quadrat as qd
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.methods.base import Domain, Observation
from quadrat.methods.safe.fitted import FittedSafeSearch

NOTHING = np.empty((0, 1))


def search(limit: float | None = -0.5, names: tuple[str, ...] = ()) -> FittedSafeSearch:
    return FittedSafeSearch(
        Domain.cube(1), 0, stated=np.array([[0.2]]), limit=limit, names=names, risk=0.05, noise=None
    )


def bowl(x: float) -> float:
    return -4 * (x - 0.5) ** 2


def test_it_steps_out_slowly_and_gets_to_the_top() -> None:
    one, points = search(), list[float]()
    for number in range(20):
        x = one.ask(number, NOTHING).x
        known = [0.2, *points]
        assert min(abs(x[0] - other) for other in known) <= 0.05 + 0.01 * number + 1e-9
        points.append(float(x[0]))
        one.tell(Observation(number, x, np.array([bowl(points[-1])])))
    assert points[0] == 0.2
    assert np.mean(np.array([bowl(x) for x in points]) < -0.5) <= 0.1
    assert abs(one.recommend().x[0] - 0.5) < 0.1


def test_asking_changes_nothing_and_equal_runs_are_equal() -> None:
    first, again = search(), search()
    for number in range(8):
        x = first.ask(number, NOTHING).x
        first.ask(number, x[None])
        first.recommend() if number else None
        told = Observation(number, x, np.array([bowl(float(x[0]))]))
        first.tell(told)
        again.tell(told)
    assert (first.ask(8, NOTHING).x == again.ask(8, NOTHING).x).all()


def test_pending_points_are_apart() -> None:
    one = search()
    for number, x in enumerate((0.2, 0.22, 0.25)):
        one.tell(Observation(number, np.array([x]), np.array([bowl(x)])))
    pending = NOTHING
    for number in range(3, 6):
        pending = np.vstack([pending, one.ask(number, pending).x])
    assert len(np.unique(pending)) == 3


def test_constraints_count() -> None:
    one = search(limit=None, names=("c",))
    points = []
    for number in range(15):
        x = one.ask(number, NOTHING).x
        points.append(float(x[0]))
        one.tell(Observation(number, x, x.copy(), constraints=(points[-1] - 0.4,)))
    assert sum(x > 0.4 for x in points) <= 2
    assert max(points) > 0.3
    with pytest.raises(InvalidInput, match="expected 'c', got 0 numbers"):
        one.tell(Observation(15, np.array([0.2]), np.array([0.2])))


def test_nothing_is_called_certified() -> None:
    optimizer = qd.Optimizer(
        qd.Space(x=qd.Float(0, 1)), direction="maximize", method=qd.FittedSafe(threshold=-0.5, safe=[{"x": 0.2}])
    )
    for _ in range(6):
        trial = optimizer.ask()
        optimizer.tell(trial, bowl(trial.params["x"]))
    found = optimizer.recommend()
    assert found.certified_interval is None
    assert found.credible_interval is not None
    assert optimizer.certificate().value is None
    with pytest.raises(NotAvailable, match=r"nothing is certified: .* a chance of at most 0.05 to be unsafe"):
        optimizer.safe_region()
    assert "at most 0.05" in str(optimizer.explain()["search"])


def test_it_stops_where_a_stated_setting_is_believed_to_break_the_limit() -> None:
    """A growth of -.26 at a limit of 0: twenty of twenty trials were below it before."""
    rng = np.random.default_rng(1)
    space, method = qd.Space(dose=qd.Float(0, 10)), qd.FittedSafe(threshold=0.0, safe=[{"dose": 1.0}])
    found = qd.maximize(lambda _: -0.26 + 0.02 * rng.standard_normal(), space, n_trials=20, method=method)
    assert len(found.trials) <= 5
    assert (
        "a chance of more than 99 % to break the limit of the objective, 0; state other settings that are safe"
        in found.message
    )


def test_it_stops_where_a_limit_is_out_of_reach_when_minimised_and_with_constraints() -> None:
    one = search(limit=5.0)
    for number in range(3):
        assert one.exhausted(NOTHING) is None
        one.tell(Observation(number, np.array([0.2]), np.array([0.24 + 0.01 * number])))
    assert "has stopped" in str(one.exhausted(NOTHING))
    guarded = search(limit=None, names=("c",))
    for number in range(3):
        guarded.tell(Observation(number, np.array([0.2]), np.array([1.0]), constraints=(0.5 + 0.01 * number,)))
    assert "has stopped" in str(guarded.exhausted(NOTHING))
    assert "to break the limit of the constraint 'c', 0" in str(guarded.limit_warning(np.array([0.2])))
    space = qd.Space(dose=qd.Float(0, 10))
    found = qd.minimize(lambda _: 0.3, space, n_trials=9, method=qd.FittedSafe(threshold=0.0, safe=[{"dose": 1.0}]))
    assert "has stopped" in found.message


def test_what_is_likelier_unsafe_than_not_is_not_repeated_for_ever() -> None:
    one, values = search(limit=0.0), [-0.3, 0.2, -0.25, 0.1, -0.2, -0.3, 0.15, -0.2]
    for number, value in enumerate(values):
        one.tell(Observation(number, np.array([0.2]), np.array([value])))
    assert "each setting that is stated to be safe" in str(one.exhausted(NOTHING))


def test_a_stated_setting_near_its_limit_stops_nothing() -> None:
    one, rng = search(limit=-0.4), np.random.default_rng(3)
    for number in range(8):
        assert one.exhausted(NOTHING) is None
        one.tell(Observation(number, np.array([0.2]), bowl(0.2) + 0.06 + 0.02 * rng.standard_normal(1)))
    assert one.limit_warning(np.array([0.2])) is None
