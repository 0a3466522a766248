"""The log of a run as plain data, from which the run is rebuilt.

Two kinds of events, in the order in which they happened:

    {"event": "ask", "number": 3, "by": "method", "params": {...}, "why": "...", "pending": [1], "failed": [0]}
    {"event": "tell", "number": 1, "values": [0.5], "sem": None, "failure": None, "constraints": {}}

Everything in them is what JSON holds, and floats come back from JSON bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from quadrat.errors import InvalidInput
from quadrat.optimizer.measured import check_names
from quadrat.optimizer.outcome import Reading
from quadrat.optimizer.trial import TrialRecord
from quadrat.space import Space

__all__ = ["VERSION", "Event", "asked", "check_header", "reading_of", "told"]

Event: TypeAlias = dict[str, Any]
VERSION = 1


def asked(record: TrialRecord, by: str, pending: list[int], failed: list[int]) -> Event:
    """Return the event of an ask: what was asked, by whom, and what was pending and failed at that time."""
    return {
        "event": "ask",
        "number": record.number,
        "by": by,
        "params": dict(record.params),
        "why": record.why,
        "pending": pending,
        "failed": failed,
    }


def told(number: int, reading: Reading) -> Event:
    """Return the event of a tell."""
    return {
        "event": "tell",
        "number": number,
        "values": list(reading.values),
        "sem": reading.sem,
        "failure": reading.failure,
        "constraints": dict(reading.constraints),
    }


def reading_of(event: Mapping[str, Any], names: tuple[str, ...]) -> Reading:
    """Return the outcome in the event of a tell; `names` are the constraints of the run so far.

    Raises
    ------
    InvalidInput
        Other constraints than those.
    """
    constraints = event.get("constraints", {})  # states of runs from before there were constraints have none
    if event["failure"] is None:
        check_names(constraints, names)
    in_order = {name: constraints[name] for name in sorted(constraints)}  # a file may have its own order of keys
    return Reading(tuple(event["values"]), event["sem"], event["failure"], in_order)


def check_header(state: Mapping[str, Any], space: Space, method: str) -> None:
    """Refuse a state that is not one, or that belongs to another space or method.

    Raises
    ------
    InvalidInput
        The message says which of these, and what the state was made with.
    """
    if not isinstance(state, Mapping) or state.get("version") != VERSION:
        raise InvalidInput(f"state: expected what Optimizer.state() returns, version {VERSION}, got {state!r:.80}")
    missing = [key for key in ("direction", "seed", "space", "method", "events") if key not in state]
    if missing:
        raise InvalidInput(f"state: expected the keys of Optimizer.state(), got none called {', '.join(missing)}")
    made_with = Space.from_dict(state["space"], source="state")
    if made_with != space:
        raise InvalidInput(f"state: expected a state of {space!r}, got one of {made_with!r}")
    if state["method"] != method:
        raise InvalidInput(
            f"state: expected a state of the method {method}, got one of {state['method']}; pass that one as method="
        )
