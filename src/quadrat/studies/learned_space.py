"""The space of an objective that defines it as it runs, as learned from trials: parameters with their conditions."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution

from quadrat.errors import InvalidInput
from quadrat.randomness import generator
from quadrat.space import Space
from quadrat.space.parameter import Parameter
from quadrat.space.space import parents_first, requirements
from quadrat.studies.conditions import Branch, Form, Place, Requirement
from quadrat.studies.distributions import codes_of, only_value, parameter_of, searched_value, shown_value

__all__ = ["LearnedSpace"]

_COMPLETED = 0x0C0F  # names the stream of parameters that a proposal lacks
_MOST_LISTED = 256  # integers up to which a condition lists them
_MOST_PLACES = 12  # of one parameter: with more, it is taken to exist always
_MOST_BRANCHES = 12  # values of a parameter, up to which each is visited before the method chooses
_Required: TypeAlias = dict[
    str, tuple[int, ...]
]  # the codes, one of which a parent must have, by its name in the space


class LearnedSpace:
    """What trials show of a search space: as a `Space` with conditions, and as Optuna's distributions by name.

    A parameter with other bounds in other branches, or that exists in branches that no single condition describes, is
    several parameters of the space, one for each branch. Conditions about floats, which a `Space` does not have, are
    left out: the parameter then counts as existing. A trial that lacks what exists is read as if it had what was chosen
    for it, or else the middle.

    Parameters
    ----------
    form
        The tree.

    Attributes
    ----------
    space
        The parameters that vary; None where none does.
    distributions
        Those that are searched together, by the names of Optuna: all values that trials were asked for.
    """

    def __init__(self, form: Form) -> None:
        self.form = form
        try:
            self._build(form)
        except InvalidInput:  # trials that contradict each other may have conditions in a circle
            self._build(replace(form, places=_without_conditions(form.places)))

    def _build(self, form: Form) -> None:
        self._names: dict[str, str] = {}  # from the space's to Optuna's
        self.of_axis: dict[str, BaseDistribution] = {}
        self._required: dict[str, _Required] = {}
        self._alone: list[tuple[str, Any, _Required]] = []  # parameters that have one value
        places: dict[str, list[Place]] = {}
        for place in form.places:
            places.setdefault(place.name, []).append(place)
        self._keys: dict[str, list[str]] = {}
        for name in places:
            self._add(name, places, set())
        parameters: dict[str, Parameter] = {}
        for key in sorted(self.of_axis, key=lambda key: (self._names[key], key)):
            parameter = parameter_of(self.of_axis[key])
            assert parameter is not None
            parameters[key] = replace(parameter, when=self._required[key] or None)
        self.distributions = {name: one for name, one in form.distributions if self._keys.get(name)}
        self._order = parents_first(requirements(parameters))
        self._space = Space.from_dict(parameters) if parameters else None
        self._middle = {
            key: parameter.show(parameter.decode(np.full(1, 0.5)))[0] for key, parameter in parameters.items()
        }

    def _add(self, name: str, places: Mapping[str, list[Place]], path: set[str]) -> None:
        """Add a parameter, and first those that its conditions are about."""
        if name in self._keys:
            return
        if name in path:
            raise InvalidInput("conditions in a circle")
        for place in places[name]:
            for condition in place.when:
                if condition.parent in places:
                    self._add(condition.parent, places, path | {name})
        branches = [(place, required) for place in places[name] for required in self._branches(place.when)]
        if len(branches) > _MOST_PLACES:
            branches = [(place, {}) for place in places[name][:1]]
        self._keys[name] = []
        for place, required in branches:
            if place.distribution.single():
                self._alone.append((name, only_value(place.distribution), required))
            elif parameter_of(place.distribution) is not None:
                key = name if name and len(branches) == 1 else self._called(name, required)
                self._keys[name].append(key)
                self._names[key], self.of_axis[key], self._required[key] = name, place.distribution, required

    def _branches(self, when: Branch) -> list[_Required]:
        """Return the codes that parents must have, in several ways where a parent is several of the space."""
        options = []
        for condition in when:
            allowed = [(key, self._allowed(key, condition)) for key in self._keys.get(condition.parent, ())]
            if all(codes is None for _, codes in allowed):
                continue
            options.append([(key, codes) for key, codes in allowed if codes])
        return [{key: codes for key, codes in chosen if codes} for chosen in product(*options)]

    def _allowed(self, key: str, condition: Requirement) -> tuple[int, ...] | None:
        """Return the codes of a parameter of the space that meet a condition; None where they cannot be listed."""
        distribution = self.of_axis[key]
        if isinstance(distribution, CategoricalDistribution):
            return tuple(code for code in codes_of(distribution) if condition.holds(code))
        if not isinstance(distribution, IntDistribution):
            return None
        values = range(distribution.low, distribution.high + 1, distribution.step)
        if len(values) > _MOST_LISTED:
            return None
        return tuple(value for value in values if condition.holds(value))

    def _called(self, name: str, required: _Required) -> str:
        """Return what a parameter is called in one of its branches."""
        said = []
        for parent, codes in required.items():
            values = " or ".join(str(shown_value(self.of_axis[parent], code)) for code in codes)
            said.append(f"{self._names[parent]} = {values}")
        called = f"{name} ({', '.join(said) or 'no name'})"
        while called in self.of_axis:
            called += "'"
        return called

    @property
    def space(self) -> Space:
        """The parameters that vary, with their conditions."""
        if self._space is None:
            raise InvalidInput("space: expected at least one parameter that can vary, got none")
        return self._space

    @property
    def is_empty(self) -> bool:
        """Whether nothing varies."""
        return self._space is None

    def caveats(self, cure: str) -> dict[str, str]:
        """Return what is not known of parameters, by kind, with a cure: of each kind, about the first parameter.

        Examples
        --------
        >>> form = Form(unexplained=("p",), gone=(("p", 7),))
        >>> LearnedSpace(form).caveats("declare the space")["unexplained"]
        "parameter 'p' is in no trial after 7; if the objective changed, begin a new study, else declare the space"
        """
        form, said = self.form, dict[str, str]()
        changed = f"if the objective changed, begin a new study, else {cure}"
        for name in form.unexplained[:1]:
            last = dict(form.gone).get(name)
            done = "modelled as if all had it" if name in self.distributions else "drawn at random"
            said["unexplained"] = (
                f"parameter {name!r} is in some trials and not in others, and no parameter asked for before says when:"
                f" it is {done}; {cure}"
                if last is None
                else f"parameter {name!r} is in no trial after {last}; {changed}"
            )
        for name, first in form.appeared[:1]:
            key = self._keys.get(name)
            middle = f", {shown_value(self.of_axis[key[0]], self._middle[key[0]])!r}" if key else ""
            said["appeared"] = (
                f"parameter {name!r} is in no trial before {first}; these count as if they had it in the"
                f" middle{middle}; {changed}"
            )
        return said

    def read(self, params: Mapping[str, Any], chosen: Mapping[str, Any] | None = None) -> dict[str, Any] | None:
        """Return parameters of a trial as those of the space; None where none is there, or one is outside.

        What was `chosen` for the trial is in the place of what it was not asked for: the search would choose the same
        again and again if it saw the result somewhere else.
        """
        found: dict[str, Any] = {}
        known = False
        for key in self._order:
            if not _exists(self._required[key], found):
                continue
            name = self._names[key]
            known = known or name in params
            if name in params:
                value = searched_value(self.of_axis[key], params[name])
                if value is None:
                    return None
            else:
                value = searched_value(self.of_axis[key], chosen[name]) if chosen and name in chosen else None
                value = self._middle[key] if value is None else value
            found[key] = value
        return {key: found[key] for key in self.space if key in found} if known else None

    def show(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters of the space as those of a trial."""
        shown = {self._names[key]: shown_value(self.of_axis[key], value) for key, value in params.items()}
        shown |= {name: value for name, value, required in self._alone if _exists(required, params)}
        return shown

    def completed(
        self, params: Mapping[str, Any], fixed: Mapping[str, Any], forced: Mapping[str, int], seed: int, number: int
    ) -> dict[str, Any]:
        """Return proposed parameters of the space with others in their place.

        What exists then and was not proposed is uniform.

        Parameters
        ----------
        params
            Of the space.
        fixed
            Values by Optuna's names, which count first, such as those of a trial that the user enqueued.
        forced
            Codes by the space's names.
        seed, number
            Name the randomness.
        """
        found: dict[str, Any] = {}
        for key in self._order:
            if not _exists(self._required[key], found):
                continue
            name = self._names[key]
            value = searched_value(self.of_axis[key], fixed[name]) if name in fixed else forced.get(key)
            if value is None and key in params:
                value = params[key]
            if value is None:
                rng = generator(seed, number, _COMPLETED, zlib.crc32(key.encode()))
                parameter = self.space[key]
                [value] = parameter.show(parameter.decode(rng.random(1)))
            found[key] = value
        return {key: found[key] for key in self.space if key in found}

    def codes(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a trial shows of the space, by its names; parameters of a trial need not be complete for it."""
        found: dict[str, Any] = {}
        for key in self._order:
            name = self._names[key]
            if name in params and _exists(self._required[key], found):
                value = searched_value(self.of_axis[key], params[name])
                if value is not None:
                    found[key] = value
        return found

    def unvisited(self, visited: Iterable[Mapping[str, Any]]) -> dict[str, int]:
        """Return the codes that lead to a branch in which no trial was; nothing where there is none.

        A branch is a choice of a parameter on which others depend; of integers, the least and the largest. What trials
        visited is given as of `codes`.
        """
        tried: dict[str, set[int]] = {key: set() for required in self._required.values() for key in required}
        for setting in visited:
            for key, codes in tried.items():
                if key in setting:
                    codes.add(setting[key])
        for key in sorted(tried):
            branches = self._allowed(key, Requirement(self._names[key])) or ()
            if isinstance(self.of_axis[key], IntDistribution):
                branches = branches[:1] + branches[-1:]
            if len(branches) > _MOST_BRANCHES:
                continue
            for code in branches:
                if code not in tried[key]:
                    return {**self._way_to(key), key: code}
        return {}

    def _way_to(self, key: str) -> dict[str, int]:
        """Return the codes of others that let a parameter exist."""
        found: dict[str, int] = {}
        for parent, codes in self._required[key].items():
            found |= {**self._way_to(parent), parent: codes[0]}
        return found


def _exists(required: _Required, codes: Mapping[str, Any]) -> bool:
    return all(parent in codes and codes[parent] in allowed for parent, allowed in required.items())


def _without_conditions(places: Iterable[Place]) -> tuple[Place, ...]:
    """Return one place of each name, which is always there."""
    return tuple({place.name: replace(place, when=()) for place in places}.values())
