"""What the package says, as data that JSON holds bit for bit: every float is written with `float.hex`.

Only named fields of public objects are read. A field that a later version adds changes no trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from optuna.trial import FrozenTrial

import quadrat as qd

__all__ = [
    "Plain",
    "certificate",
    "level_set",
    "plain",
    "recommendation",
    "record",
    "result",
    "study_trial",
    "suggestion",
]

Plain: TypeAlias = Any
"""None, a bool, an int, a text, or lists and dictionaries of these."""


def plain(value: object) -> Plain:
    """Return a value as plain data; refuses what has no such form.

    Examples
    --------
    >>> plain({"x": 0.5, "kind": ("a", None, 3)})
    {'x': '0x1.0000000000000p-1', 'kind': ['a', None, 3]}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value).hex()
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, Sequence):
        return [plain(entry) for entry in value]
    raise TypeError(f"expected a value that has a plain form, got {value!r:.80}")


def _fields(found: object, names: str) -> Plain:
    return {name: plain(getattr(found, name)) for name in names.split()}


def suggestion(trial: qd.Trial) -> Plain:
    """Return a suggestion: its number, its parameters and why they were chosen."""
    return _fields(trial, "number params why")


def record(trial: qd.TrialRecord) -> Plain:
    """Return what is known of a trial, without why it was chosen."""
    return _fields(trial, "number params state values sem failure constraints")


_BEST_SEEN = "number params value feasible"
_BELIEFS = "params value certified_interval credible_interval estimated_gain estimated_gain_upper why"


def recommendation(found: qd.Recommendation) -> Plain:
    """Return a recommendation with the best seen, and the worst case where there is one."""
    said = _fields(found, f"{_BELIEFS} estimated_feasibility")
    said["best_seen"] = _fields(found.best_seen, _BEST_SEEN)
    if found.worst_case is not None:
        said["worst_case"] = _fields(found.worst_case, "value credible_interval params")
    return said


def certificate(found: qd.CertificateReport) -> Plain:
    """Return a certificate, or why there is none."""
    return _fields(found, "value params certified_interval best_possible reason rejected")


def level_set(found: qd.LevelSetReport) -> Plain:
    """Return a level set with its cells."""
    said = _fields(found, "threshold accuracy delta reason rejected")
    said["volumes"] = {label: plain(found.volume(label)) for label in ("above", "below", "undecided")}
    said["cells"] = [_fields(cell, "ranges label interval volume") for cell in found.cells]
    return said


def result(found: qd.Result) -> Plain:
    """Return the result of a run of `maximize` or `minimize`, with its text and its trials."""
    said = _fields(found, f"{_BELIEFS} estimated_feasibility certificate certificate_reason rejected message direction")
    said["best_seen"] = _fields(found.best_seen, _BEST_SEEN)
    said["text"] = repr(found).splitlines()
    return said


_NOTES = ("quadrat:values", "quadrat:sem", "quadrat:failure")


def study_trial(trial: FrozenTrial) -> Plain:
    """Return a trial of an Optuna study, without times; of its notes, those on what was measured."""
    noted = {name: trial.user_attrs[name] for name in _NOTES if name in trial.user_attrs}
    return {
        "number": trial.number,
        "state": trial.state.name.lower(),
        "values": plain(trial.values),
        "params": plain(trial.params),
        "user_attrs": plain(noted),
        "intermediate": plain(trial.intermediate_values),
        "constraints": plain(dict(sorted(getattr(trial, "constraints", {}).items()))),
    }
