"""A run: a search, the history of its trials and the log of its events, which change together.

It is what stands behind every door: `Optimizer`, `QuadratSampler` and with it `quadrat tune`. All of them read outcomes
alike, turn them into what the search is told here, and have the next trial proposed here.

Its log is plain data, from which the run is rebuilt:

Three kinds of events, in the order in which they happened:

    {"event": "ask", "number": 3, "by": "method", "params": {...}, "why": "..."}
    {"event": "tell", "number": 1, "values": [0.5], "sem": None, "failure": None, "constraints": {}}
    {"event": "add_many", "number": 4, "why": "...", "params": {"x": [...], "depth": {"rows": [...], "values": [...]}},
     "values": [0.5, [0.1, 0.2], None], "sem": None, "failure": [None, None, "told nan"], "constraints": {}}

The last has columns, with an entry for each of the trials: many trials take little more room than their numbers do. A
parameter that does not exist everywhere comes with the rows where it does. Among the values a list is replicates and
None a failure; a column of standard errors or failures is None as a whole where no trial has any.

What was pending or failed at an ask follows from the events before it. (States of version 1 hold it, in lists that
grow with every failure; they are not looked at.) Everything is what JSON holds, and floats come back from JSON bit for
bit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from quadrat._core.arrays import Array
from quadrat._core.moved import AS_PRINTED
from quadrat.errors import InvalidInput, QuadratError, SpaceExhausted
from quadrat.methods.base import (
    LARGEST_SUM,
    Axis,
    Domain,
    Failure,
    FidelityAxis,
    Method,
    Observation,
    Pruned,
    Update,
    probed,
)
from quadrat.optimizer.history import Costs, History
from quadrat.optimizer.importing import Batch
from quadrat.optimizer.method_choice import resolve
from quadrat.optimizer.outcome import Direction, Reading, check_names
from quadrat.randomness import generator
from quadrat.space import Categorical, Fidelity, Space
from quadrat.space.constraint import check_share, feasible_points, listed_settings
from quadrat.space.parameter import Parameter

__all__ = [
    "VERSION",
    "Event",
    "Run",
    "added",
    "asked",
    "batch_of",
    "check_header",
    "copied",
    "domain_of",
    "feasible_in_context",
    "feasible_point",
    "free_point",
    "nothing_feasible_in_context",
    "reading_of",
    "refusing",
    "tell_event",
]

_logger = logging.getLogger(__name__)

Event: TypeAlias = dict[str, Any]
VERSION = 2
_WRONG = (KeyError, TypeError, AttributeError, ValueError, IndexError)  # what a wrong event raises
_READABLE = (1, 2)
_KEYS: dict[str, set[str]] = {  # states of runs from before there were constraints have none, and one may do without
    "ask": {"number", "by", "params", "why"},
    "tell": {"number", "values", "sem", "failure"},
    "add_many": {"number", "why", "params", "values", "sem", "failure", "constraints"},
}
_FEW = 32  # values of an ordered axis up to which they are taken one by one
_COLLISION_STREAM = 0x0C011151  # names the stream of `free_point`, apart from those that methods draw from
# Radii, of the axis, and how many points are tried within them: near ones first, because what the method wanted is near
# its proposal; and many anywhere, because in a small space all but one may be taken.
_TRIES = {0.05: 16, 0.1: 16, 0.2: 16, 0.4: 16, 1.0: 1024}
_BATCH, _BATCHES = 256, 80  # uniform points of a context that are tried at a time, and how often


@contextmanager
def refusing(event: Mapping[str, Any]) -> Iterator[None]:
    """Say of an event on which the block stumbles that it is none."""
    try:
        yield
    except InvalidInput:
        raise
    except _WRONG as error:
        raise InvalidInput(f"state: expected an event of Optimizer.state(), got {event!r:.80}") from error


def asked(number: int, params: Mapping[str, Any], why: str, by: str) -> Event:
    """Return the event of an ask: what was asked, why, and by whom."""
    return {"event": "ask", "number": number, "by": by, "params": dict(params), "why": why}


def tell_event(number: int, reading: Reading) -> Event:
    """Return the event of a tell."""
    return {
        "event": "tell",
        "number": number,
        "values": list(reading.values),
        "sem": reading.sem,
        "failure": reading.failure,
        "constraints": dict(reading.constraints),
        **({"pruned": True} if reading.pruned else {}),
    }


def copied(event: Event) -> Event:
    """Return a copy that shares nothing with the event: a fraction of what `deepcopy` takes, and there may be many."""
    if event["event"] == "ask":
        return {**event, "params": dict(event["params"])}
    if event["event"] == "tell":
        return {**event, "values": list(event["values"]), "constraints": dict(event["constraints"])}
    return deepcopy(event)


def reading_of(event: Mapping[str, Any], names: tuple[str, ...]) -> Reading:
    """Return the outcome in the event of a tell; `names` are the constraints of the run, and others are refused."""
    if event["failure"] is None and not event["values"]:
        raise ValueError("a trial that did not fail has values")
    constraints = event.get("constraints")  # states of runs from before there were constraints have none
    if event.get("pruned"):
        return Reading(failure=event["failure"], pruned=True)
    if not constraints and not names:
        return Reading(tuple(event["values"]), event["sem"], event["failure"])
    constraints = constraints or {}
    if event["failure"] is None:
        check_names(constraints, names)
    in_order = {name: float(constraints[name]) for name in sorted(constraints)}  # a file may have its own order of keys
    return Reading(tuple(event["values"]), event["sem"], event["failure"], in_order)


def added(first: int, batch: Batch, why: str) -> Event:
    """Return the event of many trials, numbered from `first`, that were added at once."""
    readings = batch.readings
    params = {name: _column(batch.params, name) for name in {name: None for row in batch.params for name in row}}
    constrained = {name: None for reading in readings for name in reading.constraints}
    return {
        "event": "add_many",
        "number": first,
        "why": why,
        "params": params,
        "values": [_plain(reading.values) for reading in readings],
        "sem": _unless_empty([reading.sem for reading in readings]),
        "failure": _unless_empty([reading.failure for reading in readings]),
        "constraints": {name: [reading.constraints.get(name) for reading in readings] for name in constrained},
    }


def batch_of(event: Mapping[str, Any], space: Space, names: tuple[str, ...]) -> Batch:
    """Return the trials in the event of many; `names` are the constraints of the run so far, and others are refused."""
    n = len(event["values"])
    nothing = [None] * n
    constraints = {name: event["constraints"][name] for name in sorted(event["constraints"])}
    readings = []
    columns = (event["values"], event["sem"] or nothing, event["failure"] or nothing)
    for i, (values, sem, failure) in enumerate(zip(*columns, strict=True)):
        held = {name: column[i] for name, column in constraints.items() if column[i] is not None}
        if failure is None:
            check_names(held, names)
        names = names or tuple(held)
        readings.append(Reading(_tuple(values), sem, failure, held))
    params: list[dict[str, Any]] = [{} for _ in range(n)]
    for name, column in event["params"].items():
        everywhere = not isinstance(column, Mapping)
        rows, values = (range(n), column) if everywhere else (column["rows"], column["values"])
        for row, value in zip(rows, values, strict=True):
            params[row][name] = value
    return Batch(params, space.to_units(params), readings)


def _column(params: Sequence[Mapping[str, Any]], name: str) -> list[Any] | dict[str, list[Any]]:
    rows = [i for i, row in enumerate(params) if name in row]
    values = [params[i][name] for i in rows]
    return values if len(rows) == len(params) else {"rows": rows, "values": values}


def _unless_empty(column: list[Any]) -> list[Any] | None:
    return None if all(entry is None for entry in column) else column


def _plain(values: tuple[float, ...]) -> float | list[float] | None:
    return values[0] if len(values) == 1 else list(values) or None


def _tuple(values: float | list[float] | None) -> tuple[float, ...]:
    if values is None:
        return ()
    return tuple(values) if isinstance(values, list) else (values,)


def check_header(state: Mapping[str, Any], space: Space, method: Method) -> None:
    """Refuse a state that is not one, or that belongs to another space or method."""
    if not isinstance(state, Mapping) or state.get("version") not in _READABLE:
        versions = " or ".join(map(str, _READABLE))
        raise InvalidInput(f"state: expected what Optimizer.state() returns, version {versions}, got {state!r:.80}")
    missing = [key for key in ("direction", "seed", "space", "method", "events") if key not in state]
    if missing:
        raise InvalidInput(f"state: expected the keys of Optimizer.state(), got none called {', '.join(missing)}")
    made_with = Space.from_dict(state["space"], source="state")
    if list(made_with.items()) != list(space.items()):  # a known constraint is a function, which no state holds
        raise InvalidInput(f"state: expected a state of {space!r}, got one of {made_with!r}")
    if state["method"] != repr(method) and not _is_written_as(state["method"], method):
        if "as_printed=True" in str(state["method"]):  # as version 0.1 wrote
            raise InvalidInput(f"state: expected as_printed=False, got True; the printed algorithm {AS_PRINTED}")
        raise InvalidInput(
            f"state: expected a state of the method {method!r}, got one of {state['method']}; pass that one as method="
        )
    for event in _listed(state["events"]):
        try:
            known = _KEYS[event["event"]] <= event.keys()
        except (KeyError, TypeError, AttributeError):
            known = False
        if not known:
            raise InvalidInput(f"state: expected an event of Optimizer.state(), got {event!r:.80}")


def _is_written_as(text: object, method: Method) -> bool:
    """Return whether a text means the method: one of an earlier version lacks options that were added since."""
    try:
        return isinstance(text, str) and resolve(text) == method
    except QuadratError:  # such as one that is not ours, and has no name
        return False


def _listed(events: object) -> list[Any]:
    if not isinstance(events, list):
        raise InvalidInput(f"state: expected a list of events, got {events!r:.80}")
    return events


def domain_of(space: Space) -> Domain:
    """Return the space as the cube with what is behind it.

    Examples
    --------
    >>> from quadrat.space import Float, Int
    >>> domain_of(Space(x=Float(0, 1), n=Int(1, 2))).axes
    (Axis(values=None, ordered=True), Axis(values=(0.25, 0.75), ordered=True))
    """
    axes = tuple(_axis(space[name]) for name in space.axes)
    return Domain(
        axes,
        None if space.is_continuous else space.round,
        None if all(parameter.when is None for parameter in space.values()) else space.exists,
        space.allowed if space.is_constrained else None,
        tuple(space.axes.index(name) for name in space.contexts),
        _fidelity(space),
        space.axes,
        tuple(name not in space.discontinuous for name in space.axes),
        None if space.contexts else partial(_allowed_settings, space),
        space.to_unit,
    )


def _allowed_settings(space: Space) -> Array | None:
    """Return all settings that may be evaluated, (m, D); None where they are no finite number, or too many."""
    listed = listed_settings(space)
    return None if listed is None else listed[space.allowed(listed)]


def _fidelity(space: Space) -> FidelityAxis | None:
    if space.fidelity is None:
        return None
    parameter = space[space.fidelity]
    assert isinstance(parameter, Fidelity)
    coordinates = parameter.encode(np.arange(len(parameter.levels), dtype=np.float64))
    return FidelityAxis(space.axes.index(space.fidelity), tuple(coordinates.tolist()), tuple(parameter.cost))


def _axis(parameter: Parameter) -> Axis:
    if isinstance(parameter, Categorical) and not parameter.ordered:
        codes = np.arange(len(parameter.choices), dtype=np.float64)
        return Axis(tuple(parameter.encode(codes).tolist()), ordered=False)
    values, _ = probed(lambda coordinates: parameter.encode(parameter.decode(coordinates)))
    return Axis(tuple(values.tolist())) if len(values) <= _FEW else Axis()


def free_point(
    space: Space,
    x: Array,
    is_taken: Callable[[Array], bool],
    rng: np.random.Generator,
    context: Array | None = None,
) -> Array | None:
    """Return a feasible rounded point near the proposal x, shape (D,), that is not taken; None when none was found.

    A `context` has coordinates, shape (D,), that the point must have, NaN where it is free.
    """
    for radius, tries in _TRIES.items():
        steps = rng.uniform(-radius, radius, size=(tries, space.dimension))
        nearby = np.clip(x + steps, 0.0, 1.0)
        if context is not None:
            nearby = np.where(np.isnan(context), nearby, context)
        nearby = space.round(nearby)
        free = np.array([row for row in nearby[space.allowed(nearby)] if not is_taken(row)])
        if len(free):
            nearest: Array = free[int(np.argmin(((free - x) ** 2).sum(axis=1)))]
            return nearest
    return None


def feasible_in_context(space: Space, context: Array, rng: np.random.Generator) -> Array | None:
    """Return a feasible rounded point, shape (D,), of a context as of `free_point`; None where 20,480 are not."""
    for _ in range(_BATCHES):
        points = rng.random((_BATCH, space.dimension))
        points = space.round(np.where(np.isnan(context), points, context))
        allowed = space.allowed(points)
        if allowed.any():
            found: Array = points[int(np.argmax(allowed))]
            return found
    return None


def feasible_point(space: Space, is_taken: Callable[[Array], bool], rng: np.random.Generator) -> Array:
    """Return a feasible rounded point, shape (D,), from anywhere; one that is not taken where the space shows one."""
    found: Array = feasible_points(space, 1, rng)[0]
    listed = listed_settings(space) if is_taken(found) else None
    if listed is None:
        return found
    free = [row for row in listed[space.allowed(listed)] if not is_taken(row)]
    return free[int(rng.integers(len(free)))] if free else found


class Run:
    """What happened so far, in the three forms in which it is needed. All that comes in was checked before.

    A space whose constraint too few settings meet (`quadrat.space.constraint.check_share`) is refused, and so is a
    method that cannot search the space.

    Attributes
    ----------
    space, direction, method, seed
        As given: what is searched, which values are best, what starts the search, and what names all randomness.
    domain, search, history
        The space as a method sees it, what the method makes of it, and the trials.
    events
        The log, as plain data, from which `quadrat.optimizer.replay` makes the same run.
    """

    def __init__(self, space: Space, direction: Direction, method: Method, seed: int) -> None:
        check_share(space)
        self.space, self.direction, self.method, self.seed = space, direction, method, seed
        self.domain = domain_of(space)
        self.search = direction.turn_method(method).start(self.domain, seed)
        self.history = History(space.dimension, direction, None if space.fidelity is None else Costs(space))
        self.events: list[Event] = []
        self._clipped = False  # values so large that they count as less

    def propose(
        self, context: Array | None = None, *, number: int | None = None, elsewhere: Array | None = None
    ) -> tuple[dict[str, Any], str]:
        """Return the parameters that the search would evaluate next, and why.

        A `context` has coordinates that are given, shape (D,), NaN on the free axes; it is refused where no point in it
        is feasible. The `number` of the trial names the randomness; None is the next one. Points (p, D) that are being
        evaluated `elsewhere` are not in the history. Where nothing is left to evaluate, `SpaceExhausted` says so.
        """
        space, history = self.space, self.history
        number = history.next_number if number is None else number
        taken = self._taken(elsewhere)
        ended = self.search.exhausted(taken)
        if ended is not None:
            raise SpaceExhausted(ended)

        def is_taken(x: Array) -> bool:
            return history.is_taken(x) or (elsewhere is not None and bool((elsewhere == x).all(axis=1).any()))

        asked_for = self.search.ask(number, taken, context)
        x, why = space.round(asked_for.x), asked_for.why
        # On a continuous space equal points are no accident: methods that certify measure the same point again.
        collides = not space.is_continuous and is_taken(x)
        forbidden = not space.allowed(x[None, :])[0]
        if collides or forbidden:
            rng = generator(self.seed, number, _COLLISION_STREAM)
            free = free_point(space, x, is_taken, rng, context)
            if free is None and forbidden:
                if context is None:
                    free = feasible_point(space, is_taken, rng)
                else:
                    free = feasible_in_context(space, context, rng)
                    if free is None:
                        raise nothing_feasible_in_context()
            if free is not None:
                wanted = "that is feasible" if forbidden else "that is neither pending nor failed"
                x, why = free, f"{why}; moved to a neighbour {wanted}"
        repeated = history.first_at(x)
        return space.from_unit(x), why if repeated is None else f"{why}; repeats trial {repeated}"

    def exhausted(self, elsewhere: Array | None = None) -> str | None:
        """Return why nothing is left to evaluate; None as long as something is. `elsewhere` is as of `propose`."""
        return self.search.exhausted(self._taken(elsewhere))

    def _taken(self, elsewhere: Array | None) -> Array:
        return self.history.taken if elsewhere is None else np.vstack([elsewhere, self.history.taken])

    def begin(self, params: Mapping[str, Any], x: Array, why: str, by: str) -> int:
        """Add a pending trial at x, shape (D,), chosen by "method" or "user", and return its number."""
        number = self.history.begin(params, x, why)
        self.events.append(asked(number, params, why, by))
        return number

    def finish(self, number: int, reading: Reading) -> None:
        """Give a pending trial its outcome."""
        self.search.update(self._update_of(number, self.history.point(number), reading))
        self.history.finish(number, reading)
        self.events.append(tell_event(number, reading))

    def add(self, batch: Batch, why: str) -> range:
        """Add trials that have their outcomes, all at once, and return their numbers."""
        first = self.history.next_number
        if len(batch):
            for update in self.updates_of(batch):
                self.search.update(update)
            self.keep(batch, why)
        return range(first, first + len(batch))

    def keep(self, batch: Batch, why: str) -> None:
        """Write down trials that the search was told of."""
        self.events.append(added(self.history.next_number, batch, why))
        self.history.add(batch, why)

    def updates_of(self, batch: Batch) -> list[Update]:
        """Return what the search is told of trials that are added: those with values together, then those that failed.

        They are numbered from the next number on.
        """
        first = self.history.next_number
        trials = zip(range(first, first + len(batch)), batch.x, batch.readings, strict=True)
        each = [self._update_of(*trial) for trial in trials]
        complete = tuple(one for one in each if isinstance(one, Observation))
        failed = [one for one in each if not isinstance(one, Observation)]
        return [complete, *failed] if complete else [*failed]

    def restore(self, events: Sequence[Event], points: Array) -> list[Update]:
        """Let asks and tells happen again without asking the search; return what it is to be told of them.

        The `events`, in order, none of many trials, become part of the log; `points`, shape (n, D), has one for each
        ask. A tell of a trial that is not pending is refused, and so are constraints that are not those of the run.
        """
        history, names = self.history, self.history.constraint_names
        begun: list[Event] = []
        rows: dict[int, int] = {}
        finished: dict[int, Reading] = {}
        updates: list[Update] = []

        def keep() -> None:
            why = [event["why"] for event in begun]
            history.restore(
                [*rows], [event["params"] for event in begun], points[: len(rows)], why, [*finished.items()]
            )

        for event in events:
            number = event["number"]
            if event["event"] == "ask":
                rows[number] = len(begun)
                begun.append(event)
                self.events.append(asked(number, event["params"], event["why"], event["by"]))
                continue
            with refusing(event):
                if type(number) is not int:
                    raise TypeError
                if number in finished or number not in rows:
                    if number in finished or number not in history:
                        keep()  # then the history says what is wrong
                    history.require_pending(number)
                reading = reading_of(event, names)
                x = points[rows[number]] if number in rows else history.point(number)
                updates.append(self._update_of(number, x, reading))
            if reading.failure is None:
                names = names or tuple(reading.constraints)
            finished[number] = reading
            self.events.append(tell_event(number, reading))
        keep()
        return updates

    def _update_of(self, number: int, x: Array, reading: Reading) -> Observation | Failure | Pruned:
        """Return what the search is told of a trial at x, shape (D,)."""
        if reading.pruned:
            return Pruned(number, x)
        if reading.failure is not None:
            return Failure(number, x)
        if not self._clipped and max(map(abs, reading.values)) > LARGEST_SUM:
            self._clipped = True
            _logger.warning(
                "trial %d gave a value beyond %g, which counts as that: tell values in a larger unit if differences"
                " between such values matter",
                number,
                LARGEST_SUM,
            )
        return self.direction.observation(number, x, reading)


def nothing_feasible_in_context() -> InvalidInput:
    """Return the error that no feasible point was found in a context."""
    return InvalidInput("context: expected one in which the space's constraint allows some point, found none")
