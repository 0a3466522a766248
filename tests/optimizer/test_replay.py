"""A run rebuilt from its log at once: as if everything had happened again, and what cannot have happened is refused."""

from __future__ import annotations

import gc
import json
import logging
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, TypeAlias

import pytest

from quadrat.arrays import Array
from quadrat.errors import InvalidInput
from quadrat.kernels import Matern
from quadrat.methods.auto import acquisition as auto_score
from quadrat.methods.auto import long_runs as auto_cells
from quadrat.methods.auto import method as auto
from quadrat.methods.auto import surrogate as auto_model
from quadrat.methods.auto.method import AutoSearch
from quadrat.methods.base import Method, Proposal, Search
from quadrat.methods.lp.method import LPGPUCB
from quadrat.optimizer import FAILED, Estimate, Measured, Optimizer, Trial
from quadrat.randomness import generator
from quadrat.space import Categorical, Float, Int, Space

LINE = Space(x=Float(0, 1))
PLANE = Space(x=Float(0, 1), y=Float(-1, 1))
MIXED = Space(
    x=Float(1e-3, 1, log=True), n=Int(1, 6), kind=Categorical(["a", None, True]), depth=Int(1, 4, when={"kind": "a"})
)
Event: TypeAlias = dict[str, Any]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The default method in a hurry: it zooms from 8 trials on, 12 are many, candidates are few and fits are rough."""
    numbers = {auto_cells: {"BEGIN": 8, "ROWS": 8, "CAPACITY": 6}, auto_model: {"LARGEST": 12}}
    numbers[auto] = {"LARGEST": 12, "_SCREENED": 40, "_POINTS": 16, "_DRAWS_OF_F": 8}
    numbers[auto_score] = {"UNIFORM": 40, "NEAR": 5, "CLIMBS": 2, "STEPS": 4}
    for module, names in numbers.items():
        for name, number in names.items():
            monkeypatch.setattr(module, name, number)
    monkeypatch.setattr("quadrat.gp.fit._TOLERANCE", 1.0)


def value_of(params: dict[str, Any]) -> float:
    return float(-((params["x"] - 0.3) ** 2) - 0.1 * params.get("y", 0.0) ** 2 + 0.05 * params.get("n", 0))


class Life:
    """What happens to a run, drawn by a seed: asks and tells in any order, and trials that nobody asked for.

    Parameters
    ----------
    optimizer
        What is asked and told.
    constrained
        Whether constraints are told, from some trial on.
    """

    def __init__(self, optimizer: Optimizer, *, constrained: bool = False, seed: int = 0) -> None:
        self.optimizer, self.constrained, self.rng = optimizer, constrained, generator(seed)
        self.pending: list[Trial] = []

    def outcome(self, params: dict[str, Any]) -> Any:
        """A value, replicates, a mean with its standard error, or a failure; with constraints if they have begun."""
        value = value_of(params) + 0.01 * float(self.rng.normal())
        kinds: list[Any] = [value, [value, value + 0.02], Estimate(value, 0.05), FAILED, float("nan"), value]
        outcome = kinds[int(self.rng.integers(len(kinds)))]
        if not self.constrained or len(self.optimizer.trials) < 6:
            return outcome
        return Measured(outcome, {"b": params["x"] - 0.6, "a": 0.2 - params["x"]})

    def drawn(self) -> dict[str, Any]:
        return self.optimizer.space.sample(1, self.rng)[0]

    def add_many(self, n: int) -> None:
        params = [self.drawn() for _ in range(n)]
        self.optimizer.add_trials([*params, params[0]], [self.outcome(one) for one in [*params, params[0]]])

    def go_on(self, n: int, most_pending: int = 4) -> None:
        """Let n things happen."""
        for _ in range(n):
            what = self.rng.random()
            if what < 0.1:
                params = self.drawn()
                self.optimizer.add(params, self.outcome(params))
            elif what < 0.2:
                self.pending.append(self.optimizer.ask(self.drawn()))
            elif not self.pending or (len(self.pending) < most_pending and what < 0.65):
                self.pending.append(self.optimizer.ask())
            else:
                trial = self.pending.pop(int(self.rng.integers(len(self.pending))))
                self.optimizer.tell(trial, self.outcome(trial.params))


def rebuilt(optimizer: Optimizer) -> Optimizer:
    """The optimizer after a trip through a file."""
    return Optimizer.from_state(optimizer.space, json.loads(json.dumps(optimizer.state())), method=optimizer.method)


def same(again: Optimizer, optimizer: Optimizer) -> None:
    """All that is known of both, to the last bit."""
    assert again.trials == optimizer.trials
    assert json.dumps(again.state()) == json.dumps(optimizer.state())
    assert again.best_seen == optimizer.best_seen
    for number in range(len(optimizer.trials)):
        assert again._history.point(number).tobytes() == optimizer._history.point(number).tobytes()
    assert again._history.taken.tobytes() == optimizer._history.taken.tobytes()


def go_on_alike(again: Optimizer, optimizer: Optimizer, n: int = 5) -> None:
    """Ask both several times, and tell them the same in between, also what was pending; then let both recommend."""
    same(again, optimizer)
    for i in range(n):
        trial = optimizer.ask()
        assert again.ask() == trial
        pending = [record.number for record in optimizer.trials if record.state == "pending"]
        constraints = {"a": -1.0, "b": 0.1 * i - 0.2} if optimizer._history.constraint_names else None
        for number in (pending[0], trial.number)[i % 2 :]:
            if optimizer.trial(number).state == "pending":
                for one in (optimizer, again):
                    one.tell(number, value_of(trial.params), constraints=constraints)
    same(again, optimizer)
    assert again.recommend() == optimizer.recommend()


# --- the same run


@pytest.mark.parametrize(
    ("space", "direction", "constrained"),
    [
        (PLANE, "maximize", False),
        (PLANE, "minimize", True),
        (MIXED, "maximize", True),
        (MIXED, "minimize", False),
    ],
    ids=["plane", "plane, constrained", "mixed, constrained", "mixed"],
)
def test_a_run_of_any_length_goes_on_as_it_was(space: Space, direction: str, constrained: bool) -> None:
    """Rebuilt after a few events, after some more, and after many: before a cell zooms, and long after."""
    optimizer = Optimizer(space, direction=direction, seed=7)
    life = Life(optimizer, constrained=constrained, seed=len(space) + constrained)
    for n in (0, 3, 14, 40):
        life.go_on(n)
        again = rebuilt(optimizer)
        same(again, optimizer)
        assert n == 0 or again.recommend() == optimizer.recommend()
    trials = optimizer.trials
    assert {record.state for record in trials} == {"pending", "complete", "failed"}
    assert max(len(record.values) for record in trials) == 2
    assert any(record.sem is not None for record in trials)
    assert bool(optimizer._history.constraint_names) is constrained
    go_on_alike(again, optimizer)


@pytest.mark.parametrize(
    ("where", "constrained"),
    [("before", True), ("between", False), ("between", True), ("after", False), ("twice", True), ("alone", False)],
)
def test_trials_that_were_added_at_once_are_added_at_once_again(where: str, constrained: bool) -> None:
    """With failures and repeated points among them; and what was pending meanwhile is told later."""
    optimizer = Optimizer(MIXED, direction="minimize", seed=2)
    life = Life(optimizer, constrained=constrained, seed=3)
    lengths = {"before": [0, 16], "between": [9, 9], "after": [16, 0], "twice": [5, 5, 12], "alone": [0, 0]}[where]
    life.go_on(lengths[0])
    for length in lengths[1:]:
        life.add_many(9)
        life.go_on(length)
    again = rebuilt(optimizer)
    go_on_alike(again, optimizer, 3)
    same(rebuilt(again), optimizer)


def test_rebuilding_after_every_event_of_a_run_gives_that_run() -> None:
    """With a search that costs nothing, so that every prefix of a log is looked at."""
    optimizer = Optimizer(MIXED, direction="maximize", method="RandomSearch", seed=1)
    life = Life(optimizer, seed=5)
    for event in range(60):
        life.go_on(1)
        if event in (20, 21, 40):
            life.add_many(3)
        again = rebuilt(optimizer)
        same(again, optimizer)
        assert again.ask() == rebuilt(optimizer).ask()
    assert any(record.state == "failed" for record in optimizer.trials)


def test_a_repeated_point_and_trials_told_in_reverse() -> None:
    """The same parameters asked four times, told from the last to the first, and one of them never."""
    optimizer = Optimizer(MIXED, direction="maximize", seed=1)
    params = {"x": 0.25, "n": 3, "kind": None}
    for number in range(4):
        optimizer.ask(params)
        assert optimizer.ask().number == 2 * number + 1
    for number in (7, 6, 5, 4, 3, 2, 1):
        optimizer.tell(number, FAILED if number == 4 else float(number))
    again = rebuilt(optimizer)
    for one in (optimizer, again):
        assert one._history.is_taken(MIXED.to_unit(params))
        assert one._history.first_at(MIXED.to_unit(params)) == 0
    go_on_alike(again, optimizer, 2)


# --- what is asked again


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers that the default method is asked for."""
    numbers: list[int] = []
    ask = AutoSearch.ask

    def recorded(self: AutoSearch, number: int, pending: Array, context: Array | None = None) -> Proposal:
        numbers.append(number)
        return ask(self, number, pending, context)

    monkeypatch.setattr(AutoSearch, "ask", recorded)
    return numbers


def test_only_the_last_suggestion_is_made_again(asked: list[int], caplog: pytest.LogCaptureFixture) -> None:
    """Whatever came after it, but for trials added at once: then none is."""
    optimizer = Optimizer(PLANE, direction="maximize", seed=1)
    life = Life(optimizer, seed=1)
    life.go_on(30)
    last = optimizer.ask().number
    optimizer.tell(last, 0.5)
    optimizer.ask({"x": 0.5, "y": 0.5})
    optimizer.add({"x": 0.25, "y": 0.5}, 1.0)
    asked.clear()
    with caplog.at_level(logging.WARNING, logger="quadrat"):
        same(rebuilt(optimizer), optimizer)
    assert asked == [last]
    assert "this machine suggests" not in caplog.text
    optimizer.add_trials([{"x": 0.75, "y": 0.5}], [1.0])
    asked.clear()
    again = rebuilt(optimizer)
    assert asked == []
    go_on_alike(again, optimizer, 2)


def test_without_a_suggestion_none_is_made_again(asked: list[int]) -> None:
    optimizer = Optimizer(PLANE, direction="maximize", seed=1)
    for i in range(15):
        optimizer.add({"x": i / 15, "y": 0.0}, float(i % 4))
    optimizer.ask({"x": 0.5, "y": 0.5})
    again = rebuilt(optimizer)
    assert asked == []
    go_on_alike(again, optimizer, 2)


def test_a_last_suggestion_that_is_another_here_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """And of no other one, because no other one is made; what was evaluated is what counts."""
    optimizer = Optimizer(PLANE, direction="maximize", seed=1)
    Life(optimizer, seed=4).go_on(30)
    state = optimizer.state()
    suggested = [event for event in state["events"] if event["event"] == "ask" and event["by"] == "method"]
    for event, warned in ((suggested[0], False), (suggested[-1], True)):
        event["params"]["x"] = 0.123
        caplog.clear()
        with caplog.at_level(logging.WARNING, logger="quadrat"):
            again = Optimizer.from_state(PLANE, deepcopy(state))
        assert (f"trial {event['number']}: this machine suggests" in caplog.text) is warned
        assert again.trial(event["number"]).params["x"] == 0.123


@pytest.mark.parametrize("method", ["LPGPUCB", "ExpectedImprovement"])
def test_where_asking_changes_the_search_every_suggestion_is_made_again(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated = LPGPUCB(kernel=Matern(2.5, 0.3), norm_bound=1.0, noise=0.1, budget=30)
    optimizer = Optimizer(LINE, direction="maximize", method=stated if method == "LPGPUCB" else method, seed=1)
    for i in range(6):
        optimizer.ask({"x": 0.1 * i + 0.05})
        for number in (optimizer.ask().number, 2 * i):
            optimizer.tell(number, value_of(optimizer.trial(number).params))
    optimizer.ask()
    optimizer.add_trials([{"x": 0.9}], [-1.0])
    search, numbers = type(optimizer._search), list[int]()
    ask = search.ask

    def recorded(self: Search, number: int, pending: Array, context: Array | None = None) -> Proposal:
        numbers.append(number)
        return ask(self, number, pending, context)

    assert not search.asking_changes_nothing
    monkeypatch.setattr(search, "ask", recorded)
    again = rebuilt(optimizer)
    assert numbers == [1, 3, 5, 7, 9, 11, 12]
    same(again, optimizer)
    assert again.ask() == optimizer.ask()


# --- what cannot have happened


def asked_event(number: int = 0, by: str = "user") -> Event:
    return {"event": "ask", "number": number, "by": by, "params": {"x": number / 40}, "why": "because"}


def tell(number: Any, **others: Any) -> Event:
    return {"event": "tell", "number": number, "values": [1.0], "sem": None, "failure": None, **others}


def add_many(**others: Any) -> Event:
    event = {"event": "add_many", "number": 20, "why": "", "params": {"x": [0.5, 0.75]}, "values": [1.0, 2.0]}
    return {**event, "sem": None, "failure": None, "constraints": {}, **others}


def log_with(*wrong: Event, last: int | None = None, names: str = "") -> list[Event]:
    """A log of 40 trials, each told after it was asked, with something in the middle: when 20 are asked and 19 told.

    `last` is the number of the last that was suggested, the others are the user's; `names` those of constraints.
    """
    events: list[Event] = []
    for number in range(40):
        events.append(asked_event(number, "method" if number == last else "user"))
        events.extend(wrong if wrong and number == 19 else [tell(number, constraints=dict.fromkeys(names, -1.0))])
    return events


def from_events(events: list[Event], method: Method | str = "RandomSearch") -> Optimizer:
    state = Optimizer(LINE, direction="minimize", method=method).state()
    return Optimizer.from_state(LINE, {**state, "events": events}, method=method)


NOT_ASKED = r"trial: expected the number of a trial that was asked \(0 to 19\), got {}$"
NO_EVENT = r"^state: expected an event of Optimizer\.state\(\), got {}$"  # its beginning
WRONG: dict[str, tuple[Event, str]] = {
    "told twice": (tell(3), "trial: expected a pending trial, got trial 3, which is already complete; "),
    "told before it is asked": (tell(20), NOT_ASKED.format(20)),
    "never asked": (tell(400), NOT_ASKED.format(400)),
    "below zero": (tell(-1), NOT_ASKED.format(-1)),
    "no number": (tell(None), NO_EVENT),
    "number as text": (tell("19"), NO_EVENT),
    "no whole number": (tell(18.5), NO_EVENT),
    "number in a list": (tell([19]), NO_EVENT),
    "no values": (tell(19, values=None), NO_EVENT),
    "values as text": (tell(19, values="many"), NO_EVENT),
    "a value that is none": (tell(19, values=[1.0, None]), NO_EVENT),
    "standard error as text": (tell(19, sem="small"), NO_EVENT),
    "constraints in a list": (tell(19, constraints=["a"]), NO_EVENT),
    "a constraint as text": (tell(19, constraints={"a": "small"}), NO_EVENT),
    "a constraint that is none": (tell(19, constraints={"a": None}), NO_EVENT),
    "columns of two lengths": (add_many(values=[1.0]), NO_EVENT),
    "rows that are not there": (add_many(params={"x": {"rows": [0, 2], "values": [0.5, 0.5]}}), NO_EVENT),
    "parameters in a list": (add_many(params=[0.5, 0.75]), NO_EVENT),
    "no column of values": (add_many(values=3), NO_EVENT),
    "another parameter": (add_many(params={"z": [0.5, 0.75]}), r"params\[0\]: unknown parameter 'z'"),
    "no value and no failure": (tell(19, values=[]), NO_EVENT),
    "outside of the space": (add_many(params={"x": [0.5, 7.0]}), r"params\[1\]: parameter 'x': expected .*, got 7\.0"),
}


@pytest.mark.parametrize("way", ["at once", "after the last suggestion", "one by one"])
@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_have_happened_is_refused_and_named(what: str, way: str, scripted: Callable[..., Method]) -> None:
    """In the middle of a stretch that is taken in at once, behind it, and where asking changes the search."""
    event, message = WRONG[what]
    names = "a" if isinstance(event.get("constraints"), dict) and event["constraints"] else ""
    events = log_with(event, last=19 if way == "after the last suggestion" else None, names=names)
    method = scripted() if way == "one by one" else "RandomSearch"
    with pytest.raises(InvalidInput, match=message.format(re.escape(f"{event!r:.80}"))):
        from_events(events, method)
    assert len(from_events(log_with(), method).trials) == 40


@pytest.mark.parametrize("key", sorted({*asked_event(), *tell(0), *add_many()}))
def test_an_event_without_one_of_its_keys_is_refused(key: str) -> None:
    """Constraints of a single trial alone may be left out."""
    for event in (asked_event(), tell(19), add_many()):
        if key in event:
            without = {name: value for name, value in event.items() if name != key}
            with pytest.raises(InvalidInput, match=r"state: expected an event of Optimizer\.state\(\), got "):
                from_events(log_with(without))


@pytest.mark.parametrize("last", [None, 2, 19])
@pytest.mark.parametrize("named", [{}, {"b": 1.0}, {"a": 1.0, "b": 1.0}], ids=str)
def test_constraints_other_than_those_before_are_refused(named: dict[str, float], last: int | None) -> None:
    """Whether the first were told in the same stretch of the log or in one before; what failed may do without."""
    message = f"constraints: expected values of 'a', .* got {', '.join(map(repr, named)) or 'none'}; "
    for event in (tell(19, constraints=named), add_many(constraints={name: [1.0, 1.0] for name in named})):
        with pytest.raises(InvalidInput, match=message):
            from_events(log_with(event, last=last, names="a"))
    early = add_many(number=0, constraints={"a": [1.0, 1.0]})
    with pytest.raises(InvalidInput, match=message):
        from_events([early, *({**event, "number": event["number"] + 2} for event in log_with(names="".join(named)))])
    failed = tell(19, values=[], failure="crashed"), add_many(number=40, values=[None] * 2, failure=["crashed"] * 2)
    again = from_events([*log_with(failed[0], last=last, names="a"), failed[1]])
    assert again._history.constraint_names == ("a",)
    assert again._history.numbers("failed") == [19, 40, 41]


def test_a_trial_is_told_once_however_many_were_added_in_between() -> None:
    """Asked before, told before or after, and told again after: in every stretch the history knows of all."""
    ask = [asked_event(number) for number in range(3)]
    before, after = tell(0), tell(1)
    good = [*ask, before, add_many(number=3), after, add_many(number=5), tell(2, values=[], failure="crashed")]
    assert [record.state for record in from_events(good).trials[:3]] == ["complete", "complete", "failed"]
    for again, state in ((0, "complete"), (1, "complete"), (2, "failed"), (3, "complete"), (6, "complete")):
        with pytest.raises(InvalidInput, match=f"got trial {again}, which is already {state}"):
            from_events([*good, tell(again)])
    with pytest.raises(InvalidInput, match=r"was asked \(0 to 6\), got 7"):
        from_events([*good, tell(7)])
    with pytest.raises(InvalidInput, match="got trial 1, which is already complete"):
        from_events([*good[:6], tell(1), *good[6:]])


# --- the garbage collector, and whose the state is


@pytest.fixture
def _collecting() -> Iterator[None]:
    """Leave the garbage collector as it was."""
    enabled = gc.isenabled()
    yield
    (gc.enable if enabled else gc.disable)()


@pytest.mark.usefixtures("_collecting")
@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("what", [None, "told twice", "no values", "outside of the space"])
def test_the_garbage_collector_is_left_as_it_was(
    what: str | None, enabled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the log is refused; in between it rests."""
    meanwhile: list[bool] = []
    monkeypatch.setattr(Search, "rebuild", lambda *_: meanwhile.append(gc.isenabled()))
    (gc.enable if enabled else gc.disable)()
    if what is None:
        from_events(log_with())
        assert meanwhile == [False]
    else:
        with pytest.raises(InvalidInput):
            from_events(log_with(WRONG[what][0]))
    assert gc.isenabled() is enabled


@pytest.mark.usefixtures("_collecting")
def test_the_garbage_collector_works_again_when_the_search_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(Search, "rebuild", broken)
    gc.enable()
    with pytest.raises(RuntimeError, match="broken"):
        from_events(log_with())
    assert gc.isenabled()


@pytest.mark.parametrize("method", ["Auto", "Heuristic"])
def test_the_state_stays_the_users_own(method: str) -> None:
    """It is not changed by rebuilding a run from it, and changing it afterwards does not change the run."""
    optimizer = Optimizer(MIXED, direction="maximize", method=method, seed=1)
    life = Life(optimizer, constrained=method == "Auto", seed=6)
    life.go_on(20)
    life.add_many(5)
    life.go_on(6)
    state = optimizer.state()
    before = deepcopy(state)
    again = Optimizer.from_state(MIXED, state, method=method)
    assert state == before
    spoil(state)
    assert state["events"] == []
    same(again, optimizer)
    assert again.ask() == optimizer.ask()


def spoil(part: Any) -> None:
    """Empty every list and every mapping, the inner ones first."""
    if isinstance(part, dict | list):
        for inner in part.values() if isinstance(part, dict) else part:
            spoil(inner)
        if not (isinstance(part, dict) and "events" in part):
            part.clear()
