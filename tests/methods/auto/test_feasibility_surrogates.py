"""What the default method believes: from all trials, and near a place, against models that were told those alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat._core.nearest import nearest
from quadrat.methods.auto.feasibility import Constraints, Feasibility, Surrogates
from quadrat.methods.auto.surrogate import LearnedModel
from quadrat.methods.base import Axis, Domain, Failure, Observation

VALUES = (1 / 6, 0.5, 5 / 6)
GRID = np.random.default_rng(99).random((60, 2))
PLANE = Domain.cube(2)


def started(domain: Domain = PLANE, first: int = 5) -> Surrogates:
    return Surrogates(
        domain, LearnedModel(domain, 0, first), Constraints(domain, 0, first), Feasibility(len(domain.groups))
    )


def trial(number: int, constrained: bool = True) -> Observation:
    rng = np.random.default_rng(number)
    x = rng.random(2)
    value = np.sin(5 * x[0]) + x[1] + 0.1 * rng.normal()
    return Observation(number, x, np.array([value]), constraints=(x[0] - 0.6,) if constrained else ())


def fails(x: Array) -> bool:
    return bool(x[1] > 0.8)


def told(surrogates: Surrogates, trials: list[Observation], *, together: bool = False) -> Surrogates:
    complete = [one for one in trials if not fails(one.x)]
    if together:
        surrogates.tell(complete)
    else:
        for one in complete:
            surrogates.tell([one])
    for one in trials:
        if fails(one.x):
            surrogates.tell([Failure(one.number, one.x)])
    return surrogates


def test_every_model_is_told_of_every_trial() -> None:
    trials = [trial(number) for number in range(12)]
    complete = [one for one in trials if not fails(one.x)]
    assert 0 < len(complete) < 12
    surrogates = told(started(), trials)
    model, constraints, feasibility = LearnedModel(PLANE, 0, 5), Constraints(PLANE, 0, 5), Feasibility(2)
    for one in complete:
        model.tell([one])
        constraints.tell([one])
        feasibility.add(one.x, True)
    for one in trials:
        if fails(one.x):
            feasibility.add(one.x, False)
    for pair in ((surrogates.model, model), (surrogates.constraints._models[0], constraints._models[0])):
        got, wanted = (each.current().ensemble.predict(GRID).mean for each in pair)
        np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(surrogates.feasibility.log_chance(GRID)[0], feasibility.log_chance(GRID)[0])


def test_what_is_told_at_once_is_the_same() -> None:
    trials = [trial(number) for number in range(14)]
    one, other = told(started(), trials), told(started(), trials, together=True)
    same_beliefs(one, other)
    for mine, its in ((one.model, other.model), (one.constraints._models[0], other.constraints._models[0])):
        at, there = (model.current().ensemble.predict(GRID) for model in (mine, its))
        np.testing.assert_array_equal(at.mean, there.mean)
        np.testing.assert_array_equal(at.deviation, there.deviation)


def mixed_trials(n: int, constrained_from: int) -> list[Observation | Failure]:
    """Replicates and known variances, and failures among them; constraints from some trial on."""
    happened: list[Observation | Failure] = []
    for number in range(n):
        one = trial(number, constrained=number >= constrained_from)
        values = one.values + 0.1 * np.arange(1 + number % 3)
        one = replace(one, values=values, variance=0.01 if number % 4 == 3 else None)
        happened.append(Failure(number, one.x) if fails(one.x) else one)
    return happened


def same_beliefs(one: Surrogates, other: Surrogates) -> None:
    """What was taken in, bit for bit."""
    pairs = [(one.model, other.model), *zip(one.constraints._models, other.constraints._models, strict=True)]
    for mine, its in pairs:
        for name in ("x", "y", "places", "means"):
            assert getattr(mine, name).tobytes() == getattr(its, name).tobytes(), name
        np.testing.assert_array_equal(mine.data.variance, its.data.variance)
        assert mine.trials == its.trials
    at = np.vstack([GRID, one.model.places])
    np.testing.assert_array_equal(one.constraints.violated(at), other.constraints.violated(at))
    for got, wanted in zip(one.feasibility.log_chance(GRID), other.feasibility.log_chance(GRID), strict=True):
        assert got.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("constrained_from", [0, 13, 99])
def test_many_that_are_told_at_once_are_one_by_one(constrained_from: int) -> None:
    """What is known near a place is then the same too, to the last bit."""
    happened = mixed_trials(40, constrained_from)
    assert {type(one) for one in happened[20:]} == {Observation, Failure}
    alone, together, some = started(), started(), started()
    for one in happened:
        alone.tell([one])
    together.tell(happened)
    for part in (happened[:3], [], happened[3:4], happened[4:]):
        some.tell(part)
    same_beliefs(together, alone)
    same_beliefs(some, alone)
    near, other = (surrogates.near(np.array([0.4, 0.5]), np.array([0.2, 0.3]), 15) for surrogates in (alone, together))
    same_beliefs(near, other)
    np.testing.assert_array_equal(near.model.current().ensemble.settings, other.model.current().ensemble.settings)
    assert near.constraints.explain() == other.constraints.explain()
    assert len(near.constraints._models) == (constrained_from < 40)


def test_nothing_is_learned_until_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LearnedModel, "_learn", None)  # would be called if anything were learned
    surrogates = started()
    for number in range(20):
        surrogates.tell([trial(number, constrained=number >= 8)])
    assert (surrogates.model.trials, surrogates.constraints._models[0].trials) == (20, 12)


# --- near a place


@pytest.mark.parametrize("box", [False, True])
def test_near_a_place_each_model_is_of_its_own_nearest_trials(box: bool) -> None:
    """As many of those that failed or not as of complete ones."""
    trials = [trial(number) for number in range(60)]
    surrogates = told(started(first=60), trials)
    centre, sides, count = np.array([0.3, 0.6]), np.array([0.1, 0.3]), 15
    near = surrogates.near(centre, sides, count, box=box, samples=1)
    complete = [one for one in trials if not fails(one.x)]
    chosen = nearest(np.array([one.x for one in complete]), centre, sides, count, box=box)
    assert near.model.places.tolist() == [complete[i].x.tolist() for i in chosen]
    assert near.model.samples == 1
    assert near.constraints._models[0].places.tolist() == near.model.places.tolist()
    outcomes = [(one.x, True) for one in complete] + [(one.x, False) for one in trials if fails(one.x)]
    feasibility = Feasibility(2)
    for i in nearest(np.array([x for x, _ in outcomes]), centre, sides, count, box=box):
        feasibility.add(*outcomes[i])
    assert feasibility.any_failed
    np.testing.assert_array_equal(near.feasibility.log_chance(GRID)[0], feasibility.log_chance(GRID)[0])


def test_a_choice_counts_as_one_step_for_failures_whatever_the_sides() -> None:
    """At the same number, another choice is as far as one side of the cell, and no farther."""
    domain = Domain((Axis(), Axis(VALUES, ordered=False)))
    surrogates = started(domain)
    other_choice, two_sides_away = np.array([0.5, VALUES[0]]), np.array([0.52, VALUES[2]])
    surrogates.tell([Failure(0, other_choice), Failure(1, two_sides_away)])
    near = surrogates.near(np.array([0.5, VALUES[2]]), np.array([0.01, 0.01]), 1)
    np.testing.assert_array_equal(near.feasibility._x.view, domain.features(other_choice[None, :]))


def test_with_fewer_trials_than_are_wanted_it_is_of_all() -> None:
    surrogates = told(started(), [trial(number) for number in range(10)])
    near = surrogates.near(np.array([0.5, 0.5]), np.ones(2), 50)
    np.testing.assert_array_equal(near.model.x, surrogates.model.x)
    assert near.feasibility is surrogates.feasibility
    assert near.model.samples == surrogates.model.samples


# --- points


def test_points_are_those_of_the_model_each_once() -> None:
    surrogates = started()
    x = np.array([[0.1, 0.2], [0.3, 0.4], [0.1, 0.2]])
    for number, point in enumerate(x):
        surrogates.tell([Observation(number, point, np.array([1.0, 2.0]))])
    assert surrogates.points.tolist() == x[:2].tolist()


def test_spent_are_points_that_run_and_those_that_were_evaluated() -> None:
    surrogates = told(started(), [trial(number, constrained=False) for number in range(8)])
    running = np.array([[0.5, 0.5], [0.6, 0.6]])
    np.testing.assert_array_equal(surrogates.spent(running), np.vstack([surrogates.points, running]))
    np.testing.assert_array_equal(surrogates.spent(np.empty((0, 2))), surrogates.points)


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_among_integers_alone_a_setting_is_spent_when_its_value_is_known(noise: float) -> None:
    """Under noise a second look says something; without, it does not."""
    values = tuple(((np.arange(8) + 0.5) / 8).tolist())
    domain = Domain((Axis(values), Axis(values)))
    surrogates, rng = started(domain, first=31), np.random.default_rng(0)
    for number in range(30):
        x = np.array([values[number * 3 % 8], values[number * 5 // 4 % 8]])
        surrogates.tell([Observation(number, x, np.array([3 * np.sin(6 * x[0]) + x[1] + noise * rng.normal()]))])
    running = np.array([[values[0], values[7]]])
    spent = surrogates.spent(running)
    assert spent[-1].tolist() == running[0].tolist()
    assert len(spent) - 1 == (0 if noise else len(surrogates.points))


# --- what may be asked


def test_without_failures_no_chance_is_needed() -> None:
    surrogates = told(started(), [one for one in map(trial, range(10)) if not fails(one.x)])
    assert surrogates.least_log_chance(0, 10) == 0.0


def test_what_may_be_asked_is_allowed_likely_to_succeed_and_believed_to_meet_the_constraints() -> None:
    domain = Domain((Axis(), Axis()), feasible=lambda points: np.asarray(points[:, 0] > 0.1))
    surrogates = told(started(domain, first=51), [trial(number) for number in range(50)])
    least = surrogates.least_log_chance(0, 50)
    got = surrogates.may_be_asked(GRID, least)
    allowed, held = GRID[:, 0] > 0.1, surrogates.constraints.current().held(GRID)
    likely = surrogates.feasibility.log_chance(GRID)[0] >= least
    np.testing.assert_array_equal(got, allowed & held & likely)
    for one in (allowed, held, likely):
        assert not one.all()
    assert got.any()
    assert not got[(GRID[:, 0] > 0.7) | (GRID[:, 1] > 0.9)].any(), "and they are right"
