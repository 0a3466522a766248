"""Long runs of the default method: cells, models near a place and turns, with numbers so small that runs are short."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.methods.auto import long_runs as auto_cells
from quadrat.methods.auto import surrogate as auto_model
from quadrat.methods.auto.method import Auto, AutoSearch
from quadrat.methods.auto.trust_region import REST, generation_size
from quadrat.methods.base import Domain, Incumbent, Observation
from quadrat.optimizer import FAILED, Estimate, Measured, Optimizer
from quadrat.optimizer.run import domain_of
from quadrat.space import Categorical, Float, Int, Space

NONE = np.empty((0, 2))
PLANE = Space(x=Float(0, 1), y=Float(0, 1))
MIXED = Space(x=Float(0, 1), n=Int(1, 6), kind=Categorical(["a", "b", "c"]), depth=Int(1, 4, when={"kind": "a"}))
TOP = np.array([0.3, 0.7])
BEGIN = 18
SIZE = generation_size(2)  # of a turn in the plane


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 18 trials on a cell zooms, and the other way of asking looks at cells."""
    monkeypatch.setattr(auto_cells, "BEGIN", BEGIN)
    monkeypatch.setattr(auto_model, "LARGEST", BEGIN)
    monkeypatch.setattr(auto_cells, "ROWS", 12)
    monkeypatch.setattr(auto_cells, "CAPACITY", 8)


def bowl(x: Array) -> float:
    return -float(((x - TOP) ** 2).sum())


def value_of(params: dict[str, Any]) -> float:
    """Highest at x = 0.3, n = 4, kind a and depth 3."""
    kind, depth = {"a": 0.5, "b": 0.3, "c": 0.0}[params["kind"]], params.get("depth", 1)
    return float(kind - (params["x"] - 0.3) ** 2 - 0.02 * (params["n"] - 4) ** 2 - 0.1 * abs(depth - 3))


def told(number: int, x: Array, *values: float, variance: float | None = None) -> Observation:
    return Observation(number, np.asarray(x, dtype=np.float64), np.array(values), variance)


def history(n: int, f: Callable[[Array], float] = bowl, dimension: int = 2) -> list[Observation]:
    """As of a long run: at uniform points first, then ever nearer to the top."""
    rng, trials = np.random.default_rng(n), []
    for number in range(n):
        x = rng.random(dimension)
        if number >= BEGIN and number % 2:
            x = np.clip(np.resize(TOP, dimension) + 0.3 * 0.97**number * rng.normal(size=dimension), 0, 1)
        trials.append(told(number, x, f(x) + 0.01 * rng.normal()))
    return trials


def search_after(trials: list[Observation], seed: int = 0) -> AutoSearch:
    search = Auto().start(Domain.cube(len(trials[0].x)), seed)
    for trial in trials:
        search.tell(trial)
    search.cells.settle(search.surrogates)
    return search


def run(optimizer: Optimizer, n: int, outcome: Callable[[dict[str, Any]], Any]) -> None:
    for _ in range(n):
        trial = optimizer.ask()
        optimizer.tell(trial, outcome(trial.params))


def ways(optimizer: Optimizer) -> set[str]:
    """The ways of long runs in which trials were asked for."""
    found = set()
    for record in optimizer.trials:
        found |= {way for way in ("zooms", "most promising cell") if way in record.why}
    return found


def same_guess(one: Incumbent, other: Incumbent) -> None:
    np.testing.assert_array_equal(one.x, other.x)
    assert (one.value, one.interval, one.gain) == (other.value, other.interval, other.gain)


# --- when


def test_a_cell_zooms_from_so_many_trials_on_and_not_before() -> None:
    trials = history(BEGIN)
    search = search_after(trials[:-1])
    assert not any(search.cells.is_local(number) for number in range(200))
    assert search.explain()["cells"] == {}
    search.tell(trials[-1])
    assert search.cells.begun
    assert [search.cells.is_local(number) for number in range(BEGIN - 3, BEGIN)] == [False] * 3
    turns = [search.cells.is_local(number) for number in range(BEGIN, BEGIN + 2 * SIZE)]
    assert turns == [True] * SIZE + [False] * SIZE


def test_the_place_is_that_of_the_trials_told_when_a_cell_began_however_late_somebody_asks() -> None:
    trials = history(BEGIN + 1)
    at_once, late = search_after(trials[:BEGIN]), Auto().start(Domain.cube(len(trials[0].x)), 0)
    for trial in trials[:BEGIN]:
        late.tell(trial)
    assert late.cells.begun
    assert late.cells.trust_regions is None, "a run that is rebuilt learns nothing that nobody asks for"
    for search in (at_once, late):
        search.tell(trials[BEGIN])
    cells = [search.cells.trust_regions.cell for search in (at_once, late) if search.cells.trust_regions is not None]
    np.testing.assert_array_equal(cells[0].centre, cells[1].centre)


def test_it_begins_at_the_point_of_highest_mean() -> None:
    search = search_after(history(BEGIN))
    near = search.cells.around(search.surrogates, search.cells._highest(search.surrogates)).model
    means, _ = near.current().ensemble.predict(search.model.x).mixture()
    assert search.cells.trust_regions is not None
    np.testing.assert_array_equal(search.cells.trust_regions.cell.centre, search.model.x[int(np.argmax(means))])


def test_what_was_told_with_a_violated_constraint_is_worth_less_than_anything() -> None:
    """The cell moves away from there although the values are the highest."""
    search = search_after(history(BEGIN))
    assert search.cells.trust_regions is not None
    cell = search.cells.trust_regions.cell
    begin, sides = cell.centre, cell.sides
    for number in range(SIZE):
        right = number % 2 == 0
        x = begin + sides * np.array([1.0 if right else -1.0, 0.5])
        held = -1.0 if not right else 1.0
        search.tell(Observation(BEGIN + number, x, np.array([10.0 if right else 0.0]), constraints=(held,)))
    assert search.cells.trust_regions.moves == 1
    assert cell.centre[0] < begin[0]


# --- a pure function of seed, number, what was told and what is pending


def test_asking_twice_gives_the_same_point_in_both_ways() -> None:
    search, others = search_after(history(40)), search_after(history(40), seed=1)
    seen, begin = set(), BEGIN + (2 + REST) * SIZE  # of the second round
    for number in range(begin, begin + 2 * SIZE, 3):
        proposal = search.ask(number, NONE)
        search.ask(number + 1, np.random.default_rng(number).random((2, 2)))
        np.testing.assert_array_equal(search.ask(number, NONE).x, proposal.x)
        seen.add("zooms" in proposal.why)
        if "zooms" in proposal.why:
            assert not np.array_equal(others.ask(number, NONE).x, proposal.x), "another seed, another draw"
    assert seen == {True, False}


def test_asks_in_between_leave_no_trace() -> None:
    """One is asked again and again on the way, for many numbers and with points pending; the other never.

    On the way generations end with failures alone, or are mixed, and cells are cut.
    """
    trials, asked, blind = history(70), Auto().start(Domain.cube(2), 3), Auto().start(Domain.cube(2), 3)
    rng, looks = np.random.default_rng(0), 0
    for trial in trials:
        number = trial.number
        trust_regions = asked.cells.trust_regions
        fails = trust_regions is not None and (number // 9 % 2 == 1 or rng.random() < 0.2)
        x = trial.x if not fails or trust_regions is None else trust_regions.cell.candidates(8, rng)[-1]
        if number > BEGIN:
            for other in (number, number + 5):
                asked.ask(other, rng.random((other % 3, 2)))
        for search in (asked, blind):
            if fails:
                search.fail(number, x)
            else:
                search.tell(trial)
        if number > BEGIN and number % 12 == 0:
            looks += 1
            pending = rng.random((2, 2))
            for other in (number + 1, number + 1 + SIZE):
                one, two = asked.ask(other, pending), blind.ask(other, pending)
                np.testing.assert_array_equal(one.x, two.x)
                assert one.why == two.why
    assert looks >= 3
    same_guess(asked.recommend(), blind.recommend())
    assert json.dumps(asked.explain()) == json.dumps(blind.explain())


def test_a_generation_of_failures_leaves_no_trace_of_asks() -> None:
    """The sides are halved where the centre stays: what was learned for the wider cell is of no use then."""
    asked, blind = search_after(history(30)), search_after(history(30))
    number = BEGIN + (2 + REST) * SIZE
    assert asked.cells.trust_regions is not None
    cell, rng, steps = asked.cells.trust_regions.cell, np.random.default_rng(0), []
    for _ in range(3):
        steps.append(cell.step)
        for x in cell.candidates(100, rng)[-50:]:
            if cell.step == steps[-1]:
                asked.fail(number, x)
                blind.fail(number, x)
        asked.ask(number, NONE)
    assert [cell.step, steps[2]] == [steps[2] / 2, steps[1] / 2], "two generations of failures alone"
    np.testing.assert_array_equal(asked.ask(number, NONE).x, blind.ask(number, NONE).x)
    key = (-1, asked.cells.trust_regions.moves)
    np.testing.assert_array_equal(asked.cells._known[key].x, blind.cells._known[key].x)


def test_a_run_rebuilt_from_its_state_goes_on_alike() -> None:
    """With failures, replicates, standard errors and pending trials behind it, told in another order than asked."""
    optimizer = Optimizer(MIXED, direction="maximize", seed=5)
    pending = [optimizer.ask()]
    outcomes: list[Callable[[float], Any]] = [
        lambda v: v,
        lambda v: [v, v + 0.1],
        lambda v: Estimate(v, 0.1),
        lambda _: FAILED,
    ]
    for i in range(48):
        pending.append(optimizer.ask())
        trial = pending.pop(0 if i % 3 else -1)
        optimizer.tell(trial, outcomes[i % 4](value_of(trial.params)))
    assert ways(optimizer) == {"zooms", "most promising cell"}
    rebuilt = Optimizer.from_state(MIXED, json.loads(json.dumps(optimizer.state())))
    for _ in range(4):
        assert rebuilt.ask() == optimizer.ask()
    assert rebuilt.recommend() == optimizer.recommend()


def test_many_old_results_at_once_make_a_long_run_that_is_rebuilt_alike() -> None:
    """A cell zooms into the best of them at once; so it does after more of them, and in the rebuilt run."""
    rng = np.random.default_rng(0)
    params = [MIXED.from_unit(x) for x in rng.random((60, MIXED.dimension))]
    optimizer = Optimizer(MIXED, direction="maximize", seed=2)
    optimizer.add_trials(params[:50], [FAILED if i % 9 == 8 else value_of(one) for i, one in enumerate(params[:50])])
    run(optimizer, 4, value_of)
    assert ways(optimizer) == {"zooms"}
    optimizer.add_trials(params[50:], [value_of(one) for one in params[50:]])
    run(optimizer, 4, value_of)
    rebuilt = Optimizer.from_state(MIXED, optimizer.state())
    for _ in range(3):
        assert rebuilt.ask() == optimizer.ask()
    assert rebuilt.recommend() == optimizer.recommend()


def test_many_at_once_and_one_by_one_know_the_same_cells() -> None:
    trials = history(60)
    one, other = search_after(trials), Auto().start(Domain.cube(2), 0)
    other.tell_many(trials)
    assert one.cells._grown(one.surrogates).leaves == other.cells._grown(other.surrogates).leaves
    np.testing.assert_array_equal(one.cells._grown(one.surrogates).homes, other.cells._grown(other.surrogates).homes)
    other.cells.settle(other.surrogates)
    assert other.cells.trust_regions is not None
    assert other.cells.trust_regions.moves == 0, "into the best of them, not through all of them"
    assert bowl(other.cells.trust_regions.cell.centre) > -0.02
    assert other.cells.is_local(60)
    assert not other.cells.is_local(59)


# --- pending points


def test_four_at_once_in_a_mixed_space_are_four_settings() -> None:
    optimizer = Optimizer(MIXED, direction="maximize", seed=1)
    rng = np.random.default_rng(1)
    params = [MIXED.from_unit(x) for x in rng.random((40, MIXED.dimension))]
    optimizer.add_trials(params, [value_of(one) for one in params])
    pending = [optimizer.ask() for _ in range(4)]
    for _ in range(12):
        assert len({tuple(trial.params.items()) for trial in pending}) == 4
        trial = pending.pop(0)
        optimizer.tell(trial, value_of(trial.params))
        pending.append(optimizer.ask())
    assert ways(optimizer) == {"zooms", "most promising cell"}


def test_many_at_once_in_the_plane_are_as_many_points_in_either_way() -> None:
    """Nor is any of them one that was evaluated: its value is known."""
    search = search_after([told(trial.number, trial.x, bowl(trial.x)) for trial in history(60)])
    first = BEGIN + 2 * (2 + REST) * SIZE  # of the third round
    taken = {trial.x.tobytes() for trial in history(60)}
    pending = NONE
    for number in range(first, first + 2 * SIZE):
        x = search.ask(number, pending).x
        assert x.tobytes() not in taken
        taken.add(x.tobytes())
        pending = np.vstack([pending, x[None, :]])


# --- where to look next


def bound_by_loops(search: AutoSearch, trials: list[Observation]) -> dict[int, float]:
    """Of every leaf that holds a trial: the mean of its values and sqrt(2 log n) standard deviations, in told units."""
    tree, bounds = search.cells._grown(search.surrogates), {}
    for leaf in tree.leaves:
        lower, upper = tree.box(leaf)
        values = [
            float(np.mean(trial.values))
            for trial in trials
            if all(
                low <= x < high or x == high == 1.0
                for x, low, high in zip(trial.x.tolist(), lower.tolist(), upper.tolist(), strict=True)
            )
        ]
        if values:
            mean = sum(values) / len(values)
            deviation = sqrt(sum((value - mean) ** 2 for value in values) / len(values))
            bounds[leaf] = mean + sqrt(2 * log(len(trials))) * deviation
    return bounds


@pytest.mark.parametrize("replicates", [1, 3])
def test_the_cell_with_the_highest_bound_is_searched(replicates: int) -> None:
    """Against loops over cells and trials; one in which something runs comes after all others."""
    rng = np.random.default_rng(replicates)
    trials = [
        told(t.number, t.x, *(np.sin(9 * t.x[0]) + t.x[1] + 0.3 * rng.normal(size=replicates))) for t in history(50)
    ]
    search = search_after(trials)
    bounds = bound_by_loops(search, trials)
    best_first = sorted(bounds, key=lambda leaf: -bounds[leaf])
    assert len(best_first) > 5
    running = NONE
    for leaf in best_first[:3]:
        near, box = search.cells.most_promising(search.surrogates, running)
        lower, upper = search.cells._grown(search.surrogates).box(leaf)
        np.testing.assert_allclose(box, (lower, upper), rtol=0, atol=3e-9)
        members = search.cells._grown(search.surrogates).members(leaf)
        inside = {trials[i].x.tobytes() for i in members}
        assert inside <= {x.tobytes() for x in near.model.places}, "its model has all of its trials"
        assert len(near.model.places) == 12 + 5 * 2
        running = np.vstack([running, 0.5 * (lower + upper)[None, :]])
    everywhere = np.array([np.mean(search.cells._grown(search.surrogates).box(leaf), axis=0) for leaf in best_first])
    _, box = search.cells.most_promising(search.surrogates, everywhere)
    np.testing.assert_allclose(box[0], search.cells._grown(search.surrogates).box(best_first[0])[0], rtol=0, atol=3e-9)


@pytest.mark.parametrize("towards", [(1, 1), (-1, -1), (1, -1)], ids=str)
def test_what_is_asked_for_in_a_cell_belongs_to_it(towards: tuple[int, int]) -> None:
    """Although the slope leads to its faces, and although what is told was rounded: else it would not know of it."""
    search = search_after(history(60, lambda x: float(x @ towards)))
    asked = 0
    for number in range(60, 60 + 6 * SIZE):
        proposal = search.ask(number, NONE)
        if "most promising" in proposal.why:
            _, (lower, upper) = search.cells.most_promising(search.surrogates, NONE)
            tree = search.cells._grown(search.surrogates)
            for rounding in (-1e-9, 0.0, 1e-9):
                leaf = tree.leaf_of(np.clip(proposal.x + rounding, 0.0, 1.0))
                np.testing.assert_allclose(tree.box(leaf), (lower, upper), rtol=0, atol=3e-9)
            asked += 1
        search.tell(told(number, proposal.x, float(proposal.x @ towards)))
    assert asked >= SIZE


def test_replicates_make_no_run_long() -> None:
    """Fifteen trials of twenty values each are fifteen trials."""
    rng = np.random.default_rng(0)
    search = search_after([told(t.number, t.x, *(bowl(t.x) + 0.1 * rng.normal(size=20))) for t in history(15)])
    assert search.model.is_of_all
    assert len(search.model.y) == 300
    assert "cell" not in search.ask(15, NONE).why


# --- what it finds


def test_a_long_run_ends_near_the_top_without_asking_for_a_point_again() -> None:
    """300 trials; the top of a smooth function is found to 1e-3 of its range, and every trial says something new."""
    optimizer = Optimizer(PLANE, direction="maximize", seed=0)

    def f(params: dict[str, Any]) -> float:
        x = np.array([params["x"], params["y"]])
        return float(np.exp(-8 * ((x - TOP) ** 2).sum()) + 0.6 * np.exp(-20 * ((x - 0.85) ** 2).sum()))

    run(optimizer, 300, f)
    got = optimizer.recommend()
    assert f({"x": 0.3, "y": 0.7}) - f(got.params) < 1e-3
    assert got.credible_interval is not None
    assert got.credible_interval[0] <= got.value <= got.credible_interval[1]
    assert any(got.params == record.params for record in optimizer.trials)
    assert ways(optimizer) == {"zooms", "most promising cell"}
    late = [tuple(record.params.values()) for record in optimizer.trials[BEGIN:]]
    assert len(set(late)) == len(late)
    assert optimizer.explain()["search"]["cells"]["leaves"] > 20  # type: ignore[index]


def test_a_mixed_space_with_conditions() -> None:
    """150 trials, all in the space; the best kind, the best numbers, and x to 0.1."""
    optimizer = Optimizer(MIXED, direction="minimize", seed=0)
    run(optimizer, 150, lambda params: -value_of(params))
    for record in optimizer.trials:
        MIXED.to_unit(record.params)
        assert ("depth" in record.params) == (record.params["kind"] == "a")
    assert ways(optimizer) == {"zooms", "most promising cell"}
    got = optimizer.recommend().params
    assert {name: got[name] for name in ("n", "kind", "depth")} == {"n": 4, "kind": "a", "depth": 3}
    assert got["x"] == pytest.approx(0.3, abs=0.1)


def test_the_cell_of_a_mixed_space_moves() -> None:
    """Integers and conditions round most draws to the centre's on most axes."""
    search = Auto().start(domain_of(MIXED), 0)
    for number in range(45):
        x = search.domain.rounded(search.ask(number, np.empty((0, 4))).x[None, :])[0]
        search.tell(told(number, x, value_of(MIXED.from_unit(x))))
    assert search.cells.trust_regions is not None
    assert search.cells.trust_regions.moves >= 2


# --- what is told


def test_replicates_and_standard_errors() -> None:
    optimizer, rng = Optimizer(PLANE, direction="maximize", seed=0), np.random.default_rng(0)

    def outcome(params: dict[str, Any]) -> Any:
        noisy = (bowl(np.array([params["x"], params["y"]])) + 0.05 * rng.normal(size=3)).tolist()
        return [noisy, Estimate(noisy[0], 0.05), noisy[1]][int(rng.integers(3))]

    run(optimizer, 50, outcome)
    assert ways(optimizer) == {"zooms", "most promising cell"}
    got = optimizer.recommend()
    assert bowl(np.array([got.params["x"], got.params["y"]])) > -0.03
    assert np.isfinite([got.value, *(got.credible_interval or ())]).all()


@pytest.mark.parametrize("change", [BEGIN - 2, BEGIN + 8], ids=["before it is long", "when it is long"])
def test_standard_errors_first_and_plain_values_later(change: int) -> None:
    """Noise is something to learn from then on, near the places where it is not known."""
    optimizer = Optimizer(PLANE, direction="maximize", seed=0)
    for i in range(45):
        trial = optimizer.ask()
        value = bowl(np.array([trial.params["x"], trial.params["y"]]))
        optimizer.tell(trial, Estimate(value, 0.01) if i < change else value)
        if i in (change - 1, change, change + 1):
            assert np.isfinite(optimizer.recommend().value)
    assert ways(optimizer) == {"zooms", "most promising cell"}
    got = optimizer.recommend().params
    assert bowl(np.array([got["x"], got["y"]])) > -0.01
    assert Optimizer.from_state(PLANE, optimizer.state()).ask() == optimizer.ask()


@pytest.mark.parametrize(
    ("shift", "size"), [(0.0, 1e200), (0.0, 1e-200), (5.0, 0.0), (0.0, 0.0)], ids=["1e200", "1e-200", "5", "0"]
)
def test_values_of_extreme_size_and_values_that_do_not_differ(shift: float, size: float) -> None:
    """Where they differ, the run is that of the same values of size 1, in other units."""
    plain = search_after(history(40))
    search = search_after([told(t.number, t.x, shift + size * t.values[0]) for t in history(40)])
    begin = BEGIN + (2 + REST) * SIZE
    for number in range(begin, begin + 2 * SIZE, 2):
        x = search.ask(number, np.array([[0.4, 0.6]])).x
        assert ((x >= 0) & (x <= 1)).all()
        assert not size or x == pytest.approx(plain.ask(number, np.array([[0.4, 0.6]])).x, abs=1e-2)
        search.tell(told(number, x, shift + size * bowl(x)))
        plain.tell(told(number, x, bowl(x)))
    incumbent = search.recommend()
    assert incumbent.interval is not None
    assert np.isfinite([incumbent.value, *incumbent.interval]).all()
    assert any(np.array_equal(incumbent.x, x) for x in search.model.x)
    if size:
        np.testing.assert_array_equal(incumbent.x, plain.recommend().x)


# --- failures and constraints


def test_points_that_are_asked_for_avoid_what_fails() -> None:
    """Whatever is beyond x = 0.6 fails: hardly any of the last 40 trials, in whichever way it was asked for."""
    optimizer = Optimizer(PLANE, direction="maximize", seed=0)

    def outcome(params: dict[str, Any]) -> Any:
        return FAILED if params["x"] > 0.6 else bowl(np.array([params["x"], params["y"]]))

    run(optimizer, 80, outcome)
    assert ways(optimizer) == {"zooms", "most promising cell"}
    assert sum(record.state == "failed" for record in optimizer.trials[-40:]) <= 4
    assert optimizer.recommend().params["x"] == pytest.approx(0.3, abs=0.05)


def test_what_is_recommended_meets_the_constraint() -> None:
    """The values are highest where it does not hold; the best that is allowed lies at x = 0.5."""
    optimizer = Optimizer(PLANE, direction="maximize", seed=0)

    def outcome(params: dict[str, Any]) -> Any:
        return Measured(2 * params["x"] - (params["y"] - 0.6) ** 2, {"c": params["x"] - 0.5})

    run(optimizer, 60, outcome)
    assert ways(optimizer) == {"zooms", "most promising cell"}
    got = optimizer.recommend()
    assert got.params["x"] <= 0.5
    assert got.params["x"] == pytest.approx(0.5, abs=0.05)
    assert got.params["y"] == pytest.approx(0.6, abs=0.2)
    assert got.estimated_feasibility is not None
    assert got.estimated_feasibility >= 0.5


def test_the_best_that_is_allowed_is_one_of_the_places_to_look_at() -> None:
    """The highest value lies in the corner where the constraint does not hold."""
    trials = [
        Observation(t.number, t.x, np.array([t.x.sum()]), constraints=(float(t.x[0]) - 0.5,))
        for t in history(40, dimension=2)
    ]
    search = search_after(trials)
    last = search.cells.best_places(search.surrogates)[-1]
    best = max((t for t in trials if t.x[0] <= 0.5), key=lambda t: float(t.values[0]))
    np.testing.assert_array_equal(last[0], best.x)
    np.testing.assert_array_equal(last[1], [0.1, 0.1])


def guess_of(value: float, feasibility: float | None, x: float = 0.5) -> Incumbent:
    return Incumbent(np.array([x, 0.5]), value, (value - 1, value + 1), feasibility=feasibility)


def test_of_several_places_the_one_is_recommended_that_holds_then_that_was_not_told_otherwise_then_the_best() -> None:
    """A chance of 0 is none, not an unknown one."""
    search = Auto().start(Domain.cube(2), 0)
    for number in range(6):
        x = np.array([0.1 * number, 0.5])
        search.tell(Observation(number, x, np.array([float(number)]), constraints=(1.0 if number == 3 else -1.0,)))
    best_last = [
        guess_of(9.0, 0.0),
        guess_of(5.0, 0.1),
        guess_of(1.0, 0.49),
        guess_of(20.0, 0.9, x=0.1 * 3),
        guess_of(0.0, 0.6),
        guess_of(2.0, 0.5),
        guess_of(3.0, 1.0),
    ]
    ranks = [search._rank(incumbent) for incumbent in best_last]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)
    free = Auto().start(Domain.cube(2), 0)
    assert free._rank(guess_of(1.0, None)) < free._rank(guess_of(2.0, None))


# --- looking


def test_it_tells_what_it_knows() -> None:
    search = search_after(history(60))
    explained = search.explain()
    cells = explained["cells"]
    assert isinstance(cells, dict)
    assert search.cells.trust_regions is not None
    assert cells["zoomed into"] == 1
    assert cells["centre"] == search.cells.trust_regions.cell.centre.tolist()
    assert cells["sides"] == search.cells.trust_regions.cell.sides.tolist()
    assert cells["leaves"] == len(search.cells._grown(search.surrogates).leaves)
    assert len(cells["turns"]) >= 1
    assert {"noise", "chances of smoothness", "samples"} <= set(explained)
    json.dumps(explained)


def test_looking_changes_nothing() -> None:
    looked, blind = search_after(history(BEGIN)), search_after(history(BEGIN))
    for trial in history(40)[BEGIN:]:
        for search in (looked, blind):
            search.tell(trial)
        if trial.number % 5 == 0:
            looked.recommend()
            looked.explain()
    begin = BEGIN + (2 + REST) * SIZE
    for number in (begin, begin + SIZE):
        np.testing.assert_array_equal(looked.ask(number, NONE).x, blind.ask(number, NONE).x)


def test_one_dimension_and_many() -> None:
    for dimension in (1, 12):
        search = search_after(history(30, lambda x: -float(((x - 0.4) ** 2).sum()), dimension))
        length, none, seen = generation_size(dimension), np.empty((0, dimension)), set()
        begin = BEGIN + (2 + REST) * length
        for number in (begin, begin + length):
            proposal = search.ask(number, none)
            assert proposal.x.shape == (dimension,)
            assert ((proposal.x >= 0) & (proposal.x <= 1)).all()
            seen.add("zooms" in proposal.why)
        assert seen == {True, False}


def test_what_was_evaluated_is_not_asked_for_again_without_noise() -> None:
    """As a parameter a point is not what it was to the last bit: it must be known all the same."""
    space = Space(x=Float(-1.0, 1.7), y=Float(0.1, 3.0), z=Float(-3.0, 0.2))

    def f(params: dict[str, float]) -> float:
        return sum((i + 1) * (v - 0.1 * i) ** 2 + 0.3 * float(np.sin(5 * v + i)) for i, v in enumerate(params.values()))

    optimizer = Optimizer(space, direction="minimize", seed=0)
    old = [space.from_unit(point) for point in np.random.default_rng(0).random((100, 3))]
    optimizer.add_trials(old, [f(params) for params in old])
    asked = []
    for _ in range(60):
        trial = optimizer.ask()
        optimizer.tell(trial, f(trial.params))
        asked.append(tuple(trial.params.values()))
    assert len(set(asked)) >= 58
