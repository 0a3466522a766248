"""Which parameters exist under which values of which others, as the trials of a study show it.

An objective that defines its space as it runs asks for parameters one by one, and what it asks for next depends on the
values that it was given. So the parameters that a trial has, and the order in which they were asked for, show branches
of a tree. `Presence` collects them; `Presence.form` is the simplest tree that agrees with all trials:

- A parameter that every trial has is a root. Else it exists under some values of one parameter that was asked for
  before: certain choices, or integers from some number on; or under several such conditions at once, or in several
  branches.
- A trial that failed, was pruned or still runs may lack what it did not come to. Its lack of a parameter counts only
  where it was asked for something that always comes later.
- A parameter whose bounds differ between branches has its own bounds in each. Where bounds changed at some trial, the
  later ones hold. Other changes give the widest bounds.
- A parameter that appeared at some trial and is there ever since is taken to exist always. So is one whose presence no
  condition explains, where at least half of the trials have it; otherwise it is left out, and no condition is about it.
- A trial without parameters shows nothing.

A set of trials is an integer here, one bit for each trial: whether a condition agrees with all trials takes a few
operations on integers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from quadrat.studies.distributions import hashable

__all__ = ["Form", "Place", "Presence", "Requirement"]

Mask: TypeAlias = int  # a set of trials: bit i is the i-th that was seen
_MOST_CODES = 16  # values of a parameter that are looked at one by one
_MOST_NESTED = 8  # parameters with choices, up to which two conditions above another are tried
_SURE = 10  # trials that came to their end, before it is said that nothing explains a parameter
_PER_CHANGE = 4  # trials for each change of bounds: where there are fewer, bounds vary from trial to trial
_PER_BRANCH = 4  # trials for each branch that several conditions tell apart: with fewer, some fit by chance


@dataclass(frozen=True)
class Requirement:
    """What a parameter requires of another: one of these `codes`, or a number from `low` to `high`, both included.

    A code is the index of a choice, or an integer.
    """

    parent: str
    codes: tuple[int, ...] | None = None
    low: float = -float("inf")
    high: float = float("inf")

    def holds(self, code: float) -> bool:
        """Return whether a value of the parent meets it."""
        return self.low <= code <= self.high if self.codes is None else code in self.codes


Branch: TypeAlias = tuple[Requirement, ...]
"""Conditions that hold together."""


@dataclass(frozen=True)
class Place:
    """A parameter in one branch: its name, what the branch requires, and its distribution there."""

    name: str
    when: Branch
    distribution: BaseDistribution


@dataclass(frozen=True)
class Form:
    """The tree of a study's parameters.

    Attributes
    ----------
    places
        All parameters, sorted by name, each in the branches in which it exists.
    distributions
        All that trials were asked for, those of a name as one, with the widest bounds; what is left out included.
    unexplained
        The names whose presence no condition explains, once ten trials have come to their end.
    gone
        Those of them that several trials have, and none from some number on, each with the last trial that has it.
    appeared
        The names that several trials have, all from some number on, and several before do not, each with the first
        trial that has it; once ten trials have come to their end.
    """

    places: tuple[Place, ...] = ()
    distributions: tuple[tuple[str, BaseDistribution], ...] = ()
    unexplained: tuple[str, ...] = ()
    gone: tuple[tuple[str, int], ...] = ()
    appeared: tuple[tuple[str, int], ...] = ()


class Presence:
    """What the trials of one study show; it is added to as they end."""

    def __init__(self) -> None:
        self._seen: set[int] = set()  # numbers of the trials that are over
        self._numbers: list[int] = []  # by bit
        self._whole: Mask = 0  # trials that came to their end
        self._asked: dict[str, dict[BaseDistribution, dict[float, Mask]]] = {}
        self._orders: set[tuple[str, ...]] = set()
        self._before: set[tuple[str, str]] = set()  # pairs of names in the order in which some trial was asked for them
        self._forms: dict[bool, Form] = {}

    def see(self, trials: Iterable[FrozenTrial]) -> Presence:
        """Take in trials that are over; return what these show together with those that run."""
        running = []
        for trial in trials:
            if not trial.params:
                continue
            if trial.state.is_finished():
                if trial.number not in self._seen:
                    self._seen.add(trial.number)
                    self._add(trial)
            elif trial.state is TrialState.RUNNING:
                running.append(trial)
        if not running:
            return self
        found = copy(self)
        found._numbers, found._orders, found._before = [*self._numbers], {*self._orders}, {*self._before}
        found._asked = {
            name: {asked: dict(values) for asked, values in known.items()} for name, known in self._asked.items()
        }
        for trial in running:
            found._add(trial)
        return found

    def _add(self, trial: FrozenTrial) -> None:
        bit = 1 << len(self._numbers)
        self._forms = {}
        self._numbers.append(trial.number)
        if trial.state is TrialState.COMPLETE:
            self._whole |= bit
        for name, distribution in trial.distributions.items():
            values = self._asked.setdefault(name, {}).setdefault(hashable(distribution), {})
            code = float(distribution.to_internal_repr(trial.params[name]))
            values[code] = values.get(code, 0) | bit
        order = tuple(trial.params)
        if order not in self._orders:
            self._orders.add(order)
            self._before.update((first, later) for i, later in enumerate(order) for first in order[:i])

    def form(self, *, widest: bool = False) -> Form:
        """Return the tree; with `widest`, bounds that changed at some trial are the widest, and not the later ones."""
        if widest not in self._forms:
            self._forms[widest] = _Inference(self, widest=widest).form()
        return self._forms[widest]

    def numbers(self, trials: Mask) -> list[int]:
        """Return the numbers of trials, ascending."""
        return sorted(self._numbers[i] for i in _bits(trials))


class _Inference:
    """One inference from what trials show."""

    def __init__(self, presence: Presence, *, widest: bool) -> None:
        self._presence, self._widest = presence, widest
        self._whole, self._before = presence._whole, presence._before
        self._asked = {name: presence._asked[name] for name in sorted(presence._asked)}
        self._there = {name: _union(self._by_distribution(name).values()) for name in self._asked}
        self._all = (1 << len(presence._numbers)) - 1
        self._latest = {name: self._newest(name, self._there[name]) for name in self._asked}
        self._barred: set[str] = set()  # names that no condition may be about

    @cached_property
    def _codes(self) -> dict[str, dict[int, Mask]]:
        """Of each name that conditions with codes may be about, the trials with each of its values."""
        found: dict[str, dict[int, Mask]] = {}
        for name, asked in self._asked.items():
            if isinstance(self._latest[name], FloatDistribution):
                continue
            codes = found[name] = {}
            for distribution, values in asked.items():
                read = _reader(distribution, self._widest_of(name))
                for code, trials in values.items():
                    codes[read(code)] = codes.get(read(code), 0) | trials
        return found

    def form(self) -> Form:
        """Return the tree."""
        distributions = {name: self._widest_of(name) for name in self._asked}
        rules: dict[str, tuple[Branch, ...]] = {}
        unexplained: list[str] = []
        while True:
            rules, unexplained, left_out = self._rules()
            if self._barred.issuperset(left_out):
                break
            self._barred.update(left_out)
        places = [place for name, branches in rules.items() for branch in branches for place in self._at(name, branch)]
        if self._whole.bit_count() < _SURE:
            return Form(tuple(places), tuple(distributions.items()))
        gone = ((name, self._presence.numbers(self._there[name])[-1]) for name in unexplained if self._is_gone(name))
        appeared = ((name, self._presence.numbers(self._there[name])[0]) for name in rules if self._is_new(name, rules))
        return Form(tuple(places), tuple(distributions.items()), tuple(unexplained), tuple(gone), tuple(appeared))

    # --- where a parameter exists

    def _rules(self) -> tuple[dict[str, tuple[Branch, ...]], list[str], list[str]]:
        """Return the branches of each parameter, the names without an explanation, and those that are left out."""
        rules: dict[str, tuple[Branch, ...]] = {}
        unexplained, left_out, single = [], [], {}
        for name, there in self._there.items():
            known = self._known(name)
            if there == known:
                rules[name] = ((),)
            else:
                single[name] = self._single(self._candidates(name), there, known)
        # Of several conditions that agree with all trials, the one about the parameter that explains most others too.
        masks: dict[str, set[Mask]] = {}
        for name, conditions in single.items():
            for condition in conditions:
                masks.setdefault(condition.parent, set()).add(self._there[name])
        explains = {parent: len(found) for parent, found in masks.items()}
        for name, conditions in single.items():
            there, known = self._there[name], self._known(name)
            branches = self._chosen(conditions, explains) or self._nested(self._candidates(name), there, known)
            if not branches and (there & self._whole or not self._whole):
                if self._is_since(there, known):
                    branches = ((),)
                else:
                    branches = self._above_a_float(self._candidates(name, floats=True), there, known)
                    if not branches:
                        unexplained.append(name)
                        branches = ((),) if 2 * there.bit_count() >= known.bit_count() else None
            if branches:
                rules[name] = branches
            else:
                left_out.append(name)
        return {name: rules[name] for name in self._asked if name in rules}, unexplained, left_out

    def _known(self, name: str) -> Mask:
        """Return the trials of which it is known whether they have the parameter, or would have come to it."""
        if self._there[name] == self._all:
            return self._all
        later = (other for other in self._asked if self._comes_before(name, other))
        return self._whole | self._there[name] | _union(self._there[other] for other in later)

    def _comes_before(self, first: str, later: str) -> bool:
        return (first, later) in self._before and (later, first) not in self._before

    def _candidates(self, name: str, *, floats: bool = False) -> list[str]:
        """Return the names that a condition of the parameter may be about, in the order in which they are asked for."""
        able = self._there if floats else self._codes
        found = [other for other in able if other not in self._barred and self._comes_before(other, name)]
        if floats:
            found = [other for other in found if other not in self._codes]
        return sorted(found, key=lambda other: sum(self._comes_before(one, other) for one in found))

    def _single(self, candidates: Sequence[str], there: Mask, known: Mask) -> list[Requirement]:
        """Return the conditions about one parameter that hold in the trials `there` and in no other `known` one."""
        found = []
        for parent in candidates:
            lacking = self._there[parent] & known & ~there
            if there & ~self._there[parent] or not lacking:
                continue
            codes = self._codes[parent]
            inside = [code for code, trials in codes.items() if trials & there]
            outside = [code for code, trials in codes.items() if trials & lacking]
            condition = None
            if isinstance(self._latest[parent], IntDistribution):
                if max(outside) < min(inside):  # of numbers in between, nothing is known: they may well be inside
                    condition = Requirement(parent, low=max(outside) + 1)
                elif max(inside) < min(outside):
                    condition = Requirement(parent, high=min(outside) - 1)
                elif len(codes) > _MOST_CODES or known.bit_count() < 2 * len(codes):
                    continue
            if condition is None and not {*inside} & {*outside}:
                condition = Requirement(parent, tuple(sorted(inside)))
            if condition is not None:
                found.append(condition)
        return found

    def _chosen(self, conditions: Sequence[Requirement], explains: Mapping[str, int]) -> tuple[Branch, ...] | None:
        """Return the best of conditions about one parameter each, which are in the order of asking."""
        if not conditions:
            return None

        def merits(i: int) -> tuple[bool, int, bool, int]:
            condition, parent = conditions[i], self._latest[conditions[i].parent]
            choice = isinstance(parent, CategoricalDistribution)
            few = choice or (
                isinstance(parent, IntDistribution)
                and condition.codes is None
                and parent.high - parent.low < _MOST_CODES * parent.step
            )  # a number of many is seldom what others depend on, and often agrees by chance
            return few, explains.get(condition.parent, 0), choice, i

        return ((conditions[max(range(len(conditions)), key=merits)],),)

    def _nested(self, candidates: Sequence[str], there: Mask, known: Mask) -> tuple[Branch, ...] | None:
        """Return branches with several conditions, where these agree with all trials."""
        choices = [
            name
            for name in candidates
            if isinstance(self._latest[name], CategoricalDistribution) and len(self._codes[name]) <= _MOST_CODES
        ]
        for depth in (1, 2) if len(choices) <= _MOST_NESTED else (1,):
            found = self._split(choices, candidates, there, known, depth)
            if found is not None:
                enough = known.bit_count() >= _PER_BRANCH * len(found)
                return found if enough else None
        return None

    def _split(
        self, choices: Sequence[str], candidates: Sequence[str], there: Mask, known: Mask, depth: int
    ) -> tuple[Branch, ...] | None:
        """Return the fewest branches below one of the choices, each with up to `depth` conditions more."""
        if there == known:
            return ((),)
        single = self._chosen(self._single(candidates, there, known), {})
        if single is not None or not depth:
            return single
        best: tuple[Branch, ...] | None = None
        for parent in choices:
            if there & ~self._there[parent]:
                continue
            below: dict[tuple[Branch, ...], list[int]] = {}
            others, left = ([name for name in names if name != parent] for names in (choices, candidates))
            for code, trials in sorted(self._codes[parent].items()):
                if not trials & there:
                    continue
                branches = self._split(others, left, there & trials, known & trials, depth - 1)
                if branches is None:
                    break
                below.setdefault(branches, []).append(code)
            else:
                found = tuple(
                    (Requirement(parent, tuple(codes)), *branch)
                    for branches, codes in below.items()
                    for branch in branches
                )
                best = found if best is None or len(found) < len(best) else best
        return best

    def _is_since(self, there: Mask, known: Mask) -> bool:
        """Return whether all trials from some number on have it, and none before."""
        lacking = self._presence.numbers(known & ~there)
        return lacking[-1] < self._presence.numbers(there)[0]

    def _is_gone(self, name: str) -> bool:
        """Return whether several trials have a parameter, and none from some number on."""
        return self._there[name].bit_count() > 1 and self._is_since(
            self._known(name) & ~self._there[name], self._known(name)
        )

    def _is_new(self, name: str, rules: Mapping[str, tuple[Branch, ...]]) -> bool:
        """Return whether several trials lack a parameter that is taken to exist always, and all since have it."""
        there, known = self._there[name], self._known(name)
        several = min(there.bit_count(), (known & ~there).bit_count()) > 1
        if rules[name] != ((),) or not several or not self._is_since(there, known):
            return False
        return self._above_a_float(self._candidates(name, floats=True), there, known) is None

    def _above_a_float(self, candidates: Sequence[str], there: Mask, known: Mask) -> tuple[Branch, ...] | None:
        """Return a condition that a float is above or below some value, where one agrees with all trials."""
        for parent in reversed(candidates):
            lacking = self._there[parent] & known & ~there
            if there & ~self._there[parent] or not lacking:
                continue
            values = [pair for asked in self._asked[parent].values() for pair in asked.items()]
            inside = [value for value, trials in values if trials & there]
            outside = [value for value, trials in values if trials & lacking]
            if max(outside) < min(inside):
                return ((Requirement(parent, low=min(inside)),),)
            if max(inside) < min(outside):
                return ((Requirement(parent, high=max(inside)),),)
        return None

    # --- with which bounds

    def _at(self, name: str, branch: Branch) -> list[Place]:
        """Return a parameter in a branch: in several places where a choice decides on the bounds."""
        trials = self._there[name]
        for condition in branch:
            trials &= self._where(condition)
        masks = {one: there & trials for one, there in self._by_distribution(name).items() if there & trials}
        if len(masks) <= 1:
            [only] = masks or {self._latest[name]: 0}
            return [Place(name, branch, only)]
        for parent in reversed(self._candidates(name)):
            by_code = self._bounds_by_choice(parent, trials, masks)
            if by_code is not None:
                return [
                    Place(name, _and(branch, Requirement(parent, tuple(codes))), one) for one, codes in by_code.items()
                ]
        newest = self._newest(name, trials)
        if not self._widest and self._changed_at_times(masks.values()):
            return [Place(name, branch, newest)]
        return [Place(name, branch, _cover([*masks], newest))]

    def _changed_at_times(self, masks: Collection[Mask]) -> bool:
        """Return whether one of these sets of trials came after the other, and not, as where bounds vary, many."""
        if len(masks) > 1 + _union(masks).bit_count() // _PER_CHANGE:
            return False
        numbers = sorted((self._presence.numbers(mask) for mask in masks), key=lambda one: one[0])
        return all(before[-1] < after[0] for before, after in pairwise(numbers))

    def _bounds_by_choice(
        self, parent: str, trials: Mask, masks: Mapping[BaseDistribution, Mask]
    ) -> dict[BaseDistribution, list[int]] | None:
        """Return the choices of a parameter that go with each distribution; None where it does not decide on them."""
        if trials & ~self._there[parent] or not isinstance(self._latest[parent], CategoricalDistribution):
            return None
        found: dict[BaseDistribution, list[int]] = {}
        for code, chosen in sorted(self._codes[parent].items()):
            asked = [one for one, there in masks.items() if there & chosen]
            if len(asked) > 1:
                return None
            for one in asked:
                found.setdefault(one, []).append(code)
        return found

    def _where(self, condition: Requirement) -> Mask:
        """Return the trials in which a condition holds; all that have the parent, where that is a float."""
        if condition.parent not in self._codes:
            return self._there[condition.parent]
        return _union(trials for code, trials in self._codes[condition.parent].items() if condition.holds(code))

    def _by_distribution(self, name: str) -> dict[BaseDistribution, Mask]:
        return {one: _union(values.values()) for one, values in self._asked[name].items()}

    def _newest(self, name: str, trials: Mask) -> BaseDistribution:
        """Return the distribution in the last of some trials."""
        asked = [(one, there & trials) for one, there in self._by_distribution(name).items() if there & trials]
        return asked[0][0] if len(asked) == 1 else max(asked, key=lambda pair: self._presence.numbers(pair[1])[-1])[0]

    def _widest_of(self, name: str) -> BaseDistribution:
        return _cover([*self._asked[name]], self._latest[name])


def _and(branch: Branch, more: Requirement) -> Branch:
    """Return a branch with one more condition, which is in the place of one about the same parameter."""
    return (*(one for one in branch if one.parent != more.parent), more)


def _cover(distributions: Sequence[BaseDistribution], newest: BaseDistribution) -> BaseDistribution:
    """Return a distribution that has all values of these, of those of the class of the newest."""
    if len(distributions) == 1:
        return newest
    if isinstance(newest, CategoricalDistribution):
        choices = [*newest.choices]
        for one in distributions:
            if isinstance(one, CategoricalDistribution):
                choices += [choice for choice in one.choices if _place(choice, choices) is None]
        return hashable(CategoricalDistribution(choices))
    if isinstance(newest, FloatDistribution):
        floats = [one for one in distributions if isinstance(one, FloatDistribution)]
        return _cover_floats(floats)
    assert isinstance(newest, IntDistribution)
    ints = [one for one in distributions if isinstance(one, IntDistribution)]
    low, high = min(one.low for one in ints), max(one.high for one in ints)
    if all(one.log for one in ints):
        return IntDistribution(low, high, log=True)
    same = all(one.step == newest.step and not (one.low - low) % newest.step for one in ints)
    return IntDistribution(low, high, step=newest.step if same else 1)


def _cover_floats(floats: Sequence[FloatDistribution]) -> FloatDistribution:
    low, high, step = min(one.low for one in floats), max(one.high for one in floats), floats[0].step
    if all(one.log for one in floats):
        return FloatDistribution(low, high, log=True)
    if step is None or any(one.step != step or ((one.low - low) / step) % 1 for one in floats):
        step = None
    return FloatDistribution(low, high, step=step)


def _place(choice: object, choices: Sequence[object]) -> int | None:
    """Return the index of a choice among others, which it is not where only its value is the same."""
    return next((i for i, one in enumerate(choices) if type(one) is type(choice) and one == choice), None)


def _reader(distribution: BaseDistribution, cover: BaseDistribution) -> Callable[[float], int]:
    """Return what turns an index of a choice, or an integer, into that of a distribution with more choices."""
    if distribution == cover or not (
        isinstance(distribution, CategoricalDistribution) and isinstance(cover, CategoricalDistribution)
    ):
        return round
    places = [_place(choice, cover.choices) for choice in distribution.choices]
    return lambda code: places[int(code)] or 0


def _union(masks: Iterable[Mask]) -> Mask:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _bits(mask: Mask) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
