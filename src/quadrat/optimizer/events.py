"""The log of a run as plain data, from which the run is rebuilt.

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

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, TypeAlias

from quadrat.errors import InvalidInput
from quadrat.optimizer.importing import Batch
from quadrat.optimizer.outcome import Reading, check_names
from quadrat.space import Space

__all__ = ["VERSION", "Event", "added", "asked", "batch_of", "check_header", "copied", "reading_of", "refusing", "told"]

Event: TypeAlias = dict[str, Any]
VERSION = 2
_WRONG = (KeyError, TypeError, AttributeError, ValueError, IndexError)  # what a wrong event raises
_READABLE = (1, 2)
_KEYS: dict[str, set[str]] = {  # states of runs from before there were constraints have none, and one may do without
    "ask": {"number", "by", "params", "why"},
    "tell": {"number", "values", "sem", "failure"},
    "add_many": {"number", "why", "params", "values", "sem", "failure", "constraints"},
}


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


def told(number: int, reading: Reading) -> Event:
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
    """Return the outcome in the event of a tell; `names` are the constraints of the run so far.

    Raises
    ------
    InvalidInput
        Other constraints than those.
    """
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
    """Return the trials in the event of many; `names` are the constraints of the run so far.

    Raises
    ------
    InvalidInput
        Parameters that are not in the space, or other constraints than those of the run.
    """
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


def check_header(state: Mapping[str, Any], space: Space, method: str) -> None:
    """Refuse a state that is not one, or that belongs to another space or method.

    Raises
    ------
    InvalidInput
        The message says which of these, and what the state was made with.
    """
    if not isinstance(state, Mapping) or state.get("version") not in _READABLE:
        versions = " or ".join(map(str, _READABLE))
        raise InvalidInput(f"state: expected what Optimizer.state() returns, version {versions}, got {state!r:.80}")
    missing = [key for key in ("direction", "seed", "space", "method", "events") if key not in state]
    if missing:
        raise InvalidInput(f"state: expected the keys of Optimizer.state(), got none called {', '.join(missing)}")
    made_with = Space.from_dict(state["space"], source="state")
    if list(made_with.items()) != list(space.items()):  # a known constraint is a function, which no state holds
        raise InvalidInput(f"state: expected a state of {space!r}, got one of {made_with!r}")
    if state["method"] != method:
        raise InvalidInput(
            f"state: expected a state of the method {method}, got one of {state['method']}; pass that one as method="
        )
    for event in _listed(state["events"]):
        try:
            known = _KEYS[event["event"]] <= event.keys()
        except (KeyError, TypeError, AttributeError):
            known = False
        if not known:
            raise InvalidInput(f"state: expected an event of Optimizer.state(), got {event!r:.80}")


def _listed(events: object) -> list[Any]:
    if not isinstance(events, list):
        raise InvalidInput(f"state: expected a list of events, got {events!r:.80}")
    return events
