"""What trials that run evaluate: a sampler writes it down at once, so that others need not wait to be told.

Optuna writes the parameters of a trial down one by one, when somebody asks for them. Whoever chooses in the meantime
would not know of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from quadrat.methods.base import Method

__all__ = ["RunningTrials", "chosen_near", "chosen_params", "nearest", "publish", "version_of", "why_chosen"]

_CHOSEN = "quadrat:params"  # the system attribute of a trial with what was chosen for it
_LONGEST = 2045  # characters of an attribute in some databases
_FIRST_PART = f"{_CHOSEN}:0"
_WHY = "quadrat:why"  # stands beside the parameters; a parameter of that name comes first
_BY = "quadrat:by"  # likewise: the name of the method that chose and its version, from version 2 on
_Source: TypeAlias = tuple[tuple[str, ...], dict[str, Any]]  # what was chosen, and what was asked for


def publish(
    study: Study,
    trial: FrozenTrial,
    params: Mapping[str, Any],
    search_space: Mapping[str, BaseDistribution],
    why: str,
    method: Method,
) -> None:
    """Let other processes see at once what was chosen, why, and by which version of the method."""
    chosen: dict[str, Any] = {name: search_space[name].to_internal_repr(value) for name, value in params.items()}
    by = {_BY: [type(method).__name__, method.version]} if method.version > 1 else {}
    text = json.dumps({_WHY: why, **by, **chosen})
    for part in range(0, len(text), _LONGEST):
        name = f"{_CHOSEN}:{part // _LONGEST}"
        study._storage.set_trial_system_attr(trial._trial_id, name, text[part : part + _LONGEST])


def chosen_params(trial: FrozenTrial, distributions: Mapping[str, BaseDistribution]) -> dict[str, Any]:
    """Return what a sampler chose for a trial, of the parameters with these distributions, asked for or not yet."""
    return _read(_parts(trial), distributions)


def chosen_near(trial: FrozenTrial, name: str, distribution: BaseDistribution) -> tuple[Any] | None:
    """Return the value of a distribution that is nearest to what was chosen, alone in a tuple; None where none was."""
    value = _parsed(_parts(trial)).get(name)
    if isinstance(distribution, CategoricalDistribution):
        return (distribution.to_external_repr(value),) if _contains(distribution, value) else None  # type: ignore[arg-type]
    return nearest(distribution, value)


def nearest(distribution: BaseDistribution, value: object) -> tuple[Any] | None:
    """Return the value of a distribution that is nearest to another one, alone in a tuple; None where none is near.

    Of choices, only the same is near.
    """
    if isinstance(distribution, CategoricalDistribution):
        return next(((one,) for one in distribution.choices if type(one) is type(value) and one == value), None)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if not isinstance(distribution, FloatDistribution | IntDistribution):
        return None
    inside: float = min(max(value, distribution.low), distribution.high)
    if distribution.step is not None and not distribution._contains(inside):
        steps = round((inside - distribution.low) / distribution.step)
        inside = min(distribution.low + steps * distribution.step, distribution.high)
    return (distribution.to_external_repr(inside),)


def version_of(trial: FrozenTrial, method: str) -> int | None:
    """Return which version of the method of this name chose the parameters of a trial; None where none of it did.

    Version 1 leaves no name: what any method of ours chose, and none is named, may have been chosen by it.
    """
    if _FIRST_PART not in trial.system_attrs:
        return None
    match _parsed(_parts(trial)).get(_BY):
        case [str(name), int(version)]:
            return version if name == method else None
    return 1


def why_chosen(trial: FrozenTrial) -> str:
    """Return why a sampler chose the parameters of a trial; nothing where it did not say."""
    why = _parsed(_parts(trial)).get(_WHY)
    return why if isinstance(why, str) else ""


class RunningTrials:
    """What is known of the parameters of trials that run, of those that are searched.

    What was read of a trial is kept as long as it says the same: with thousands that run, reading all of them for each
    that begins would take longer than choosing.
    """

    def __init__(self, distributions: Mapping[str, BaseDistribution]) -> None:
        self._distributions = distributions
        self._known: dict[int, tuple[_Source, dict[str, Any]]] = {}

    def beside(self, number: int, trials: Iterable[FrozenTrial]) -> dict[int, dict[str, Any]]:
        """Return the parameters of those that run, by number, without the one with this number.

        Parameters that were asked for count before those that were chosen; trials of which nothing is known are left
        out.
        """
        running = {}
        for trial in trials:
            if trial.state is TrialState.RUNNING and trial.number != number:
                running[trial.number] = self._of(trial)
        self._known = {other: read for other, read in self._known.items() if other in running}
        return {other: params for other, params in running.items() if params}

    def _of(self, trial: FrozenTrial) -> dict[str, Any]:
        source, known = (_parts(trial), trial.params), self._known.get(trial.number)
        if known is None or known[0] != source:
            chosen = _read(source[0], self._distributions)
            known = self._known[trial.number] = (source[0], dict(source[1])), {**chosen, **source[1]}
        return known[1]


def _parts(trial: FrozenTrial) -> tuple[str, ...]:
    """What was written down of a choice: in parts, because some databases take no long ones.

    Others may write to a storage: what is no text is no part.
    """
    attributes = trial.system_attrs
    parts: list[str] = []
    text = attributes.get(_FIRST_PART)
    while isinstance(text, str):
        parts.append(text)
        text = attributes.get(f"{_CHOSEN}:{len(parts)}") if len(text) == _LONGEST else None
    return tuple(parts)


def _read(parts: tuple[str, ...], distributions: Mapping[str, BaseDistribution]) -> dict[str, Any]:
    inside = _parsed(parts)
    return {
        name: distributions[name].to_external_repr(value)
        for name, value in inside.items()
        if name in distributions and _contains(distributions[name], value)
    }


def _contains(distribution: BaseDistribution, value: object) -> bool:
    try:
        return type(value) in (int, float) and distribution._contains(float(value))  # type: ignore[arg-type]
    except (ValueError, OverflowError):  # an index that is NaN, a number of hundreds of digits
        return False


def _parsed(parts: tuple[str, ...]) -> dict[str, Any]:
    try:
        parsed = json.loads("".join(parts)) if parts else {}
    except (ValueError, RecursionError):  # whoever chose died between two parts, or somebody else wrote them
        return {}
    return parsed if isinstance(parsed, dict) else {}
