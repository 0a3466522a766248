"""The default method rebuilt from what it was told: as the one that was told one after another, bit for bit.

With numbers so small that runs are short.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from quadrat._core.arrays import Array
from quadrat.methods.auto import acquisition as auto_score
from quadrat.methods.auto import long_runs as auto_cells
from quadrat.methods.auto import method as auto
from quadrat.methods.auto import surrogate as auto_model
from quadrat.methods.auto.method import Auto, AutoSearch
from quadrat.methods.auto.surrogate import HyperFit, LearnedModel
from quadrat.methods.base import Axis, Domain, Failure, Observation, Update

BEGIN, LARGEST = 6, 9
ROWS = 6
TOP = np.array([0.3, 0.7])
CHOICES = (1 / 6, 0.5, 5 / 6)
LEVELS = (0.125, 0.375, 0.625, 0.875)
PLANE = Domain.cube(2)


def rounded(points: Array) -> Array:
    """Of the mixed domain: a number, a choice among three and an integer among four."""
    columns = [points[:, 0]]
    for i, values in ((1, CHOICES), (2, LEVELS)):
        columns.append(np.array(values)[np.minimum((points[:, i] * len(values)).astype(int), len(values) - 1)])
    return np.column_stack(columns)


MIXED = Domain((Axis(), Axis(CHOICES, ordered=False), Axis(LEVELS)), round=rounded)


def set_thresholds(monkeypatch: pytest.MonkeyPatch, begin: int, largest: int) -> None:
    monkeypatch.setattr(auto_cells, "BEGIN", begin)
    for module in (auto_model, auto):
        monkeypatch.setattr(module, "LARGEST", largest)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell zooms from 6 trials on, no model is of more than 9, candidates are few and fits are rough."""
    set_thresholds(monkeypatch, BEGIN, LARGEST)
    numbers = {auto_cells: {"ROWS": ROWS, "CAPACITY": 6}, auto: {"_SCREENED": 40, "_POINTS": 16, "_DRAWS_OF_F": 8}}
    numbers[auto_score] = {"UNIFORM": 40, "NEAR": 5, "CLIMBS": 2, "STEPS": 4}
    monkeypatch.setattr("quadrat.gp.hyper_posterior._TOLERANCE", 1.0)
    monkeypatch.setattr(auto_model, "STATED", 8)
    for module, names in numbers.items():
        for name, number in names.items():
            monkeypatch.setattr(module, name, number)


def happened_of(
    n: int,
    *,
    domain: Domain = PLANE,
    failures: bool = False,
    constrained_from: int | None = None,
    replicates: bool = False,
    variances: Callable[[int], bool] = lambda _: False,
    together: Sequence[tuple[int, int]] = (),
    shuffled: bool = False,
) -> list[Update]:
    """As of a run of n trials: at uniform points first, then ever nearer to the top.

    Parameters
    ----------
    n, domain
        How many trials, and where.
    failures
        Whether every fifth one fails.
    constrained_from
        The first trial with two constraints.
    replicates
        Whether some have several values.
    variances
        Whether the noise variance of a trial is known.
    together
        Stretches of trials that are told at once.
    shuffled
        Whether they are told in another order than asked.
    """
    rng, top = np.random.default_rng(n), np.resize(TOP, domain.dimension)
    each: list[Observation | Failure] = []
    numbers = np.argsort(np.arange(n) + (6 * rng.random(n) if shuffled else 0))
    for i, number in enumerate(numbers.tolist()):
        x = rng.random(domain.dimension)
        if i % 2:
            x = np.clip(top + 0.4 * 0.97**i * rng.normal(size=domain.dimension), 0, 1)
        x = domain.rounded(x[None, :])[0]
        values = -((x - top) ** 2).sum() + 0.02 * rng.normal(size=1 + i % 3 if replicates else 1)
        constrained = constrained_from is not None and i >= constrained_from
        constraints = (float(x[0] - 0.6), float(0.2 - x[0] + 0.1 * rng.normal())) if constrained else ()
        told = Observation(number, x, values, 0.0004 if variances(i) else None, constraints)
        each.append(Failure(number, x) if failures and i % 5 == 2 else told)
    happened: list[Update] = []
    for i, one in enumerate(each):
        begin = next((begin for begin, end in together if begin <= i < end), None)
        if begin is None or isinstance(one, Failure):
            happened.append(one)
        elif begin == i or not isinstance(happened[-1], tuple):
            happened.append((one,))
        else:
            happened[-1] = (*happened[-1], one)
    return happened


KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "failures": {"failures": True},
    "constraints": {"constrained_from": 0},
    "constraints later": {"constrained_from": 7},
    "constraints last": {"constrained_from": 15, "failures": True},
    "replicates": {"replicates": True},
    "known variances": {"variances": lambda _: True},
    "known variances at first": {"variances": lambda i: i < 8, "replicates": True},
    "at once": {"together": [(0, 3), (4, 8), (8, 11), (16, 19)]},
    "all at once": {"together": [(0, 18)]},
    "in another order": {"shuffled": True, "failures": True},
    "a mixed domain": {"domain": MIXED, "shuffled": True},
    "everything": {
        "domain": MIXED,
        "failures": True,
        "constrained_from": 5,
        "replicates": True,
        "variances": lambda i: i % 4 == 1,
        "together": [(2, 4), (13, 16)],
        "shuffled": True,
    },
}


def started(domain: Domain = PLANE, seed: int = 0) -> AutoSearch:
    return Auto().start(domain, seed)


def alone(updates: Sequence[Update], domain: Domain = PLANE) -> AutoSearch:
    """Told one after another."""
    search = started(domain)
    for one in updates:
        search.update(one)
    return search


def rebuilt(updates: Sequence[Update], domain: Domain = PLANE) -> AutoSearch:
    search = started(domain)
    search.rebuild(updates)
    return search


def trials_of(updates: Sequence[Update]) -> int:
    return sum(len(one) if isinstance(one, tuple) else 1 for one in updates)


def answers(search: AutoSearch, updates: Sequence[Update]) -> dict[str, object]:
    """Whatever is asked of it, to the last bit: in each way of asking, with points that run and points that failed."""
    n, dimension = trials_of(updates), search.domain.dimension
    failed = [one.x for one in updates if isinstance(one, Failure)]
    running = search.domain.rounded(np.random.default_rng(1).random((2, dimension)))
    taken = np.vstack([running, *(x[None, :] for x in failed)])
    found: dict[str, object] = {}
    for zooms in (True, False):
        number = next((number for number in range(n, n + 100) if search.cells.is_local(number) is zooms), None)
        if number is not None:
            proposal = search.ask(number, taken if zooms else taken[1:])
            found[f"ask {number}"] = proposal.x.tobytes(), proposal.why
    incumbent = search.recommend()
    found["recommend"] = (
        incumbent.x.tobytes(),
        incumbent.value,
        incumbent.interval,
        incumbent.gain,
        incumbent.feasibility,
    )
    found["explain"] = search.explain()
    found["learned from"] = search.cells._learned_from
    found["homes"] = search.cells._grown(search.surrogates).homes.tolist()
    return found


# --- the same answers


@pytest.mark.parametrize("kind", KINDS)
def test_a_rebuilt_search_answers_as_the_one_that_was_told_one_after_another(kind: str) -> None:
    """And when both are told further ones."""
    happened, domain = happened_of(36, **KINDS[kind]), KINDS[kind].get("domain", PLANE)
    some = happened[:22]
    one, other = alone(some, domain), rebuilt(some, domain)
    assert answers(other, some) == answers(one, some)
    for more in happened[22:]:
        one.update(more)
        other.update(more)
    assert answers(other, happened) == answers(one, happened)
    assert one.cells.trust_regions is not None
    assert one.cells.trust_regions.moves > 0


@pytest.mark.parametrize(("begin", "largest"), [(BEGIN, LARGEST), (9, 6), (7, 7), (3, 6)])
@pytest.mark.parametrize("kind", ["failures", "at once"])
def test_so_it_does_for_any_number_of_trials_around_the_two_thresholds(
    kind: str, begin: int, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_thresholds(monkeypatch, begin, largest)
    happened, search, ways = happened_of(20, **KINDS[kind]), started(), set()
    for i, one in enumerate(happened, start=1):
        search.update(one)
        trials = search.model.trials
        if min(abs(trials - begin), abs(trials - largest)) <= 1 or i == len(happened):
            wanted = answers(search, happened[:i])
            assert answers(rebuilt(happened[:i]), happened[:i]) == wanted, f"after {trials} trials"
            ways.add((trials > largest, trials >= begin))
    assert (True, True) in ways
    assert len(ways) > 1 or kind == "at once"


def test_what_is_rebuilt_may_follow_what_was_told() -> None:
    """In stretches of any lengths: where it has few trials, has just begun to zoom, or has many."""
    happened = happened_of(30, failures=True, together=[(16, 19)])
    wanted = answers(alone(happened), happened)
    for parts in ([3], [6, 8], [9, 10], [18], [5, 10, 11, 25]):
        search = started()
        for begin, end in zip([0, *parts], [*parts, len(happened)], strict=True):
            search.rebuild(happened[begin:end])
        assert answers(search, happened) == wanted
        told, rest = started(), happened[parts[0] :]
        for one in happened[: parts[0]]:
            told.update(one)
        told.rebuild(rest)
        assert answers(told, happened) == wanted


def test_nothing_that_happened_is_nothing() -> None:
    search = started()
    search.rebuild([])
    assert search.explain() == {"trials": 0}
    happened = happened_of(15)
    search.rebuild(happened)
    before = answers(search, happened)
    search.rebuild([])
    assert answers(search, happened) == before


def test_failures_alone_are_rebuilt_at_any_time() -> None:
    """As long as there is no value, between others, and after many."""
    failed = [one for one in happened_of(60, failures=True) if isinstance(one, Failure)]
    told = happened_of(LARGEST + 4)
    for happened in ([*failed, *told], [*told[:5], *failed, *told[5:]], [*told, *failed], [*told[:BEGIN], *failed]):
        assert answers(rebuilt(happened), happened) == answers(alone(happened), happened)
    search = rebuilt(failed)
    assert search.model.trials == 0
    assert search.feasibility.any_failed


# --- what is not learned


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many trials were learned from, each time that anything was."""
    sizes: list[int] = []
    learn = LearnedModel._learn

    def recorded(self: LearnedModel, trials: int, samples: int, stream: int, **kind: bool) -> HyperFit:
        sizes.append(trials)
        return learn(self, trials, samples, stream, **kind)

    monkeypatch.setattr(LearnedModel, "_learn", recorded)
    return sizes


NEAR = ROWS + auto_cells.ROWS_PER_AXIS * 2  # trials that a model near a place sees, where there are so many


@pytest.mark.parametrize("tells", [rebuilt, alone], ids=["rebuilt", "one after another"])
@pytest.mark.parametrize(
    ("options", "models"),
    [({}, 1), ({"failures": True}, 1), ({"constrained_from": 0}, 3), ({"constrained_from": 7}, 1)],
    ids=["plain", "failures", "two constraints", "constraints later"],
)
@pytest.mark.parametrize("n", [20, 60])
def test_of_many_trials_only_the_beginning_of_the_cell_is_learned(
    n: int,
    options: dict[str, Any],
    models: int,
    tells: Callable[[Sequence[Update]], AutoSearch],
    fits: list[int],
) -> None:
    """Of f, and of each constraint told so far, once, from the trials at which the cell begins; nothing else is."""
    search = tells(happened_of(n, **options))
    assert search.model.trials > LARGEST
    assert fits == [BEGIN] * models


@pytest.mark.parametrize("together", [[(0, 20)], [(0, 4), (4, 20)], [(5, 8)], [(7, 20)]])
def test_nor_is_anything_learned_from_trials_told_at_once(together: list[tuple[int, int]], fits: list[int]) -> None:
    """The cell begins when there are enough: after what was told at once, if they came with it."""
    rebuilt(happened_of(40, together=together))
    begin, end = together[-1]
    begun_at = BEGIN if begin >= BEGIN else end
    assert fits == [min(begun_at, NEAR)]


@pytest.mark.parametrize("n", [LARGEST + 1, 60])
def test_nothing_is_learned_once_a_cell_zooms(n: int, fits: list[int]) -> None:
    """However few more make them too many."""
    happened = happened_of(n, constrained_from=4)
    search = alone(happened[:BEGIN])
    search.cells.settle(search.surrogates)  # where it zooms is found when that is first needed
    fits.clear()
    search.rebuild(happened[BEGIN:])
    assert not fits


def test_what_is_asked_after_few_trials_is_learned_then(fits: list[int]) -> None:
    """From all of them, once for the search and once for statements."""
    search = rebuilt(happened_of(BEGIN - 1))
    assert not fits
    for _ in range(2):
        search.ask(BEGIN - 1, np.empty((0, 2)))
        search.recommend()
    assert fits == [BEGIN - 1] * 2
