"""A safe search never leaves what is certified, is rebuilt bit for bit, and stops where nothing is known any more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from quadrat.confidence import Assumptions
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.methods.base import Domain, Failure, Observation, Pruned, Update
from quadrat.methods.safe.bounds import Guard, SafeBounds
from quadrat.methods.safe.search import SafeSearch

NOTHING = np.empty((0, 1))


@pytest.mark.parametrize("dimension", [1, 2])
def test_it_is_never_unsafe_and_gets_on(known: Callable[..., Any], dimension: int) -> None:
    """Ten functions each, of exactly the stated norm: no evaluation is unsafe, and most make half of the way."""
    progress = []
    for seed in range(10):
        one = known(seed, dimension)
        search = one.search(seed)
        points = one.run(search, 25)
        assert (one.f.values(points) >= one.limit).all()
        best, first = one.f.maximum()[1], float(one.f(one.start))
        progress.append((float(one.f(search.recommend().x)) - first) / (best - first))
    assert np.median(progress) > 0.5


def test_batches_are_safe_too_and_pending_points_differ_where_they_can(known: Callable[..., Any]) -> None:
    one = known(1)
    search = one.search()
    points = np.empty((0, 1))
    for first in range(0, 24, 4):
        pending = np.empty((0, 1))
        for number in range(first, first + 4):
            pending = np.vstack([pending, search.ask(number, pending).x])
        if first:
            assert len(np.unique(pending, axis=0)) == 4
        else:  # one setting is all that is known to be safe
            assert (pending == one.start).all()
        points = np.vstack([points, pending])
        for number, x in zip(range(first, first + 4), pending, strict=True):
            search.tell(one.told(number, x))
    assert (one.f.values(points) >= one.limit).all()


def test_asking_and_looking_change_nothing_and_it_is_rebuilt_bit_for_bit(known: Callable[..., Any]) -> None:
    one = known(2, 2)
    looked, updates = one.search(), list[Update]()
    for number in range(18):
        x = looked.ask(number, np.empty((0, 2))).x
        looked.recommend()
        if number % 6 == 5:
            looked.safe_region()
            looked.certificate(x)
        updates.append(Failure(number, x) if number % 7 == 6 else one.told(number, x))
        looked.update(updates[-1])
    rebuilt = one.search()
    rebuilt.rebuild(updates)
    assert (rebuilt.ask(18, np.empty((0, 2))).x == looked.ask(18, np.empty((0, 2))).x).all()
    assert rebuilt.explain() == looked.explain()


def test_it_stops_at_a_rejection_with_the_reason(known: Callable[..., Any]) -> None:
    one = known(1)
    search = one.search()
    one.run(search, 3)
    assert search.exhausted(NOTHING) is None
    for number in range(3, 9):
        search.tell(Observation(number, one.start + 1e-4 * number, np.array([0.9 * (-1) ** number])))
    why = search.exhausted(NOTHING)
    assert why is not None
    assert "has stopped" in why
    assert "assumptions rejected by the data" in why
    assert search.predict(np.array([[0.5]])) is None
    assert search.recommend().interval is None
    region = search.safe_region()
    assert region.best_reachable is None
    assert region.rejection is not None
    certificate = search.certificate(one.start)
    assert not isinstance(certificate, str)
    assert certificate.rejection is not None


def test_it_stops_where_a_value_was_pruned_or_is_an_estimate(known: Callable[..., Any]) -> None:
    one = known(1)
    pruned, estimated = one.search(), one.search()
    pruned.update(Pruned(0, one.start))
    assert "trial 0 was pruned" in str(pruned.exhausted(NOTHING))
    estimated.tell(Observation(3, one.start, np.array([0.1]), variance=0.01))
    assert "trial 3 was told with a standard error" in str(estimated.exhausted(NOTHING))
    assert not estimated.bounds.count


def test_failures_are_not_asked_again_and_where_all_is_failed_it_stops(known: Callable[..., Any]) -> None:
    one = known(1)
    search = one.search()
    search.fail(0, one.start)
    assert "all settings that are known to be safe have failed" in str(search.exhausted(one.start[None]))
    going = one.search()
    one.run(going, 4)
    x = going.ask(4, NOTHING).x
    going.fail(4, x)
    assert going.exhausted(x[None]) is None
    assert (going.ask(5, x[None]).x != x).any()


def test_what_a_known_constraint_forbids_is_not_proposed(known: Callable[..., Any]) -> None:
    one = known(1)
    below = float(one.start[0])
    domain = Domain(Domain.cube(1).axes, feasible=lambda points: points[:, 0] <= below)
    search = SafeSearch(one.bounds(), domain, 0)
    points = one.run(search, 20)
    assert (points <= below).all()
    assert search.recommend().x[0] <= below


def test_a_constraint_is_guarded_and_the_objective_need_not_be() -> None:
    """The objective rises to the right, the constraint breaks at .7."""
    given = Assumptions(Matern(2.5, 1.0), 3.0, 0.01)
    guards = (Guard("f", given, None), Guard("c", given, 0.0))
    bounds = SafeBounds(guards, 1, delta=0.05, stated=np.array([[0.2]]))
    search = SafeSearch(bounds, Domain.cube(1), 0, names=("c",))
    for number in range(25):
        x = search.ask(number, NOTHING).x
        assert x[0] <= 0.7
        search.tell(Observation(number, x, x.copy(), constraints=(float(x[0] - 0.7),)))
    assert 0.6 < search.recommend().x[0] <= 0.7
    with pytest.raises(InvalidInput, match=r"constraints: expected 'c', .* got 0 numbers in trial 25"):
        search.tell(Observation(25, np.array([0.2]), np.array([0.2])))


def test_it_expands_across_a_dip_to_what_may_be_better() -> None:
    """Two bumps with a safe valley between them: the far one is higher, and the search gets there."""

    def f(x: np.ndarray) -> np.ndarray:
        return np.asarray(0.25 * np.exp(-((x - 0.2) ** 2) / 0.02) + 0.45 * np.exp(-((x - 0.8) ** 2) / 0.02) + 0.3)

    given = Assumptions(Matern(2.5, 0.5), 6.0, 0.005)
    bounds = SafeBounds((Guard("f", given, 0.1),), 1, delta=0.05, stated=np.array([[0.2]]))
    search, why = SafeSearch(bounds, Domain.cube(1), 0), []
    for number in range(60):
        proposal = search.ask(number, NOTHING)
        why.append(proposal.why)
        assert f(proposal.x)[0] >= 0.1
        search.tell(Observation(number, proposal.x, f(proposal.x)))
    assert any(reason.startswith("expands") for reason in why)
    assert abs(search.recommend().x[0] - 0.8) < 0.05
