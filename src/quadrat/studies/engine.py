"""A run whose log is an Optuna study: it takes in what finished since the last suggestion, and nothing twice.

Every process that looks at the same study tells its run the same trials in the same order, the order of finishing, so
that their suggestions are the same, whoever makes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from optuna.distributions import FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from quadrat._core.arrays import Array
from quadrat.errors import InvalidInput, SpaceExhausted
from quadrat.methods.base import Method
from quadrat.optimizer.method_choice import keeps_limits
from quadrat.optimizer.outcome import Direction, Reading, ReplicateWatch
from quadrat.optimizer.run import Event, Run, asked, tell_event
from quadrat.studies.distributions import Searched, searched_value
from quadrat.studies.finish_order import FinishOrder
from quadrat.studies.learned_space import LearnedSpace
from quadrat.studies.running_trials import chosen_params, why_chosen
from quadrat.studies.trials import reading_of_trial

__all__ = ["StudyEngine"]

Wider: TypeAlias = tuple[str, tuple[float, float], tuple[float, float]]  # a parameter and its bounds, here and there
_WHY = "in the study"  # why a trial that finished is in the run
_FORCED = "a branch of the space in which no trial was yet"  # why a trial was chosen


class StudyEngine:
    """A run over a fixed space that follows a study; the seed names all randomness, with the number of the trial.

    Attributes
    ----------
    outside
        How many complete trials are not in the space, and are left out.
    lacking
        A parameter of the space that a complete trial does not have and should, and the number of that trial; or None.
    rests_on
        How many complete trials are in the space.
    wider
        A parameter that a trial was asked for with wider bounds than the space has, and both bounds; or None.
    """

    def __init__(self, searched: Searched, method: Method, direction: Direction, seed: int) -> None:
        self.searched = searched
        self._order = FinishOrder()
        self._watch = ReplicateWatch()
        self._begin(Run(searched.space, direction, method, seed))

    def _begin(self, run: Run) -> None:
        self.run = run
        self._seen: set[int] = set()  # numbers of finished trials
        self._last: FrozenTrial | None = None  # the last of them
        self._running: dict[int, tuple[dict[str, Any], Array | None]] = {}
        self._visited: list[dict[str, Any]] = []  # what finished trials show of a learned space
        self._nowhere: set[frozenset[tuple[str, Any]]] = set()  # settings of a learned space that no trial could have
        self.outside = 0
        self.rests_on = 0
        self.lacking: tuple[str, int] | None = None
        self.wider: Wider | None = None

    def follow(self, trials: Sequence[FrozenTrial]) -> None:
        """Take in what has finished."""
        new = self._order.sort(trial for trial in trials if trial.number not in self._seen)
        if not new:
            return
        place = self._order.place
        if self._last is not None and place(new[0]) < place(self._last):
            # Another process told a trial that finished earlier than one that was taken in: it comes before that one.
            run = self.run
            self._begin(Run(run.space, run.direction, run.method, run.seed))
            new = self._order.sort(trials)
        events: list[Event] = []
        inside: list[dict[str, Any]] = []
        names = self.run.history.constraint_names
        for trial in new:
            self.wider = self.wider or self._wider(trial)
            params = self._read(trial)
            if params is None:
                if trial.state is TrialState.COMPLETE:
                    self.outside += 1
                    self.lacking = self.lacking or self._lacking(trial)
                continue
            self.rests_on += trial.state is TrialState.COMPLETE
            try:
                reading = reading_of_trial(trial, names, self.run.method)
            except InvalidInput as error:
                raise InvalidInput(f"trial {trial.number}: {error}") from None
            self._watch.see(reading)
            names = names or tuple(reading.constraints)
            self._nowhere.discard(frozenset(params.items()))
            inside.append(params)
            events += asked(trial.number, params, _WHY, "study"), tell_event(trial.number, reading)
            missed = self._missed(trial)
            if missed is not None:
                self._nowhere.add(frozenset(missed.items()))
                inside.append(missed)
                reading = Reading(failure="outside of the bounds that the objective asked for")
                number = -1 - trial.number  # no trial has it
                events += asked(number, missed, _WHY, "study"), tell_event(number, reading)
        self._seen.update(trial.number for trial in new)
        self._last = new[-1]
        self.run.search.rebuild(self.run.restore(events, self.run.space.to_units(inside)))

    def _read(self, trial: FrozenTrial) -> dict[str, Any] | None:
        """Return the parameters of a trial that is over as those of the space; None where it is outside.

        A branch that was forced counts as visited, even if the trial did not come to it: the way there may be a
        condition about a float.
        """
        if not isinstance(self.searched, LearnedSpace):
            return self.searched.read(trial.params)
        chosen = chosen_params(trial, self.searched.distributions) if trial.params else {}
        counts = trial.state is not TrialState.COMPLETE or why_chosen(trial) == _FORCED
        self._visited.append(self.searched.codes({**chosen, **trial.params} if counts else trial.params))
        return self.searched.read(trial.params, chosen)

    def _missed(self, trial: FrozenTrial) -> dict[str, Any] | None:
        """Return what was chosen for a trial in a learned space and lay outside of the bounds that it asked for.

        Where bounds vary, the search would choose it again and again: it learns from a failure where they may be.
        """
        if not isinstance(self.searched, LearnedSpace):
            return None
        missed = {
            name: value
            for name, value in chosen_params(trial, self.searched.distributions).items()
            if name in trial.distributions and searched_value(trial.distributions[name], value) is None
        }
        return self.searched.read({**trial.params, **missed}) if missed else None

    def _lacking(self, trial: FrozenTrial) -> tuple[str, int] | None:
        """Return a parameter that a trial outside of the space does not have, though it exists there, and the trial."""
        for name, parameter in self.searched.space.items():
            parents = (parameter.when or {}).items()
            if name not in trial.params and all(trial.params.get(parent, _WHY) in codes for parent, codes in parents):
                return name, trial.number
        return None

    def _wider(self, trial: FrozenTrial) -> Wider | None:
        numeric = FloatDistribution | IntDistribution
        for name, asked_for in trial.distributions.items():
            known = self.searched.distributions.get(name)
            if not isinstance(asked_for, numeric) or not isinstance(known, numeric):
                continue  # Optuna itself refuses other choices
            if asked_for.low < known.low or asked_for.high > known.high:
                return name, (known.low, known.high), (asked_for.low, asked_for.high)
        return None

    def ask(
        self, number: int, running: Mapping[int, dict[str, Any]], fixed: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], str]:
        """Return the parameters for a trial, as Optuna has them, and why.

        Others that run are given by number. What is `fixed` for the trial beforehand decides, in a learned space, which
        parameters exist.
        """
        self._running = {other: self._at(other, params) for other, params in running.items()}
        points = [point for _, point in self._running.values() if point is not None]
        elsewhere = np.array(points).reshape(-1, self.run.space.dimension)
        searched = self.searched
        forced = {} if fixed else self._unvisited(running)
        try:
            params, why = self.run.propose(number=number, elsewhere=elsewhere)
        except SpaceExhausted as ended:
            if not forced:
                raise SpaceExhausted(self._why_ended(str(ended))) from None
            params, why = self._known_params(), ""
        if isinstance(searched, LearnedSpace) and (fixed or forced):
            params = searched.completed(params, fixed or {}, forced, self.run.seed, number)
            if forced:
                why = _FORCED
        return searched.show(params), why

    def ask_again(self) -> dict[str, Any]:
        """Return parameters, as Optuna has them, for a trial that somebody begins although nothing is left."""
        return self.searched.show(self._known_params())

    def _known_params(self) -> dict[str, Any]:
        """Return those of the best trial, as the space has them, or the centre."""
        best = self.run.history.best_seen
        return self.run.space.from_unit(np.full(self.run.space.dimension, 0.5)) if best is None else dict(best.params)

    def _unvisited(self, running: Mapping[int, dict[str, Any]]) -> dict[str, int]:
        """Return the codes of a branch of a learned space in which no trial was yet; none where there is none."""
        searched = self.searched
        if not isinstance(searched, LearnedSpace):
            return {}
        return searched.unvisited([*self._visited, *map(searched.codes, running.values())])

    def may_be_exhausted(self, trials: int) -> bool:
        """Return whether so many trials can be all that there is to evaluate, whatever came out of them."""
        if keeps_limits(self.run.method):  # it stops when nothing is known to be safe
            return True
        settings = self.run.domain.settings
        return settings is not None and trials + len(self._nowhere) >= len(settings)

    def exhausted(self, running: Mapping[int, dict[str, Any]]) -> str | None:
        """Return why nothing is left to evaluate beside trials that run, by number; None as long as something is."""
        if self._unvisited(running):
            return None
        points = [point for other, params in running.items() if (point := self._at(other, params)[1]) is not None]
        ended = self.run.exhausted(np.array(points).reshape(-1, self.run.space.dimension))
        return None if ended is None else self._why_ended(ended)

    def _why_ended(self, ended: str) -> str:
        """Return why nothing is left, without counting settings that were chosen and that the objective never had."""
        settings = self.run.domain.settings
        if settings is None or not self._nowhere:
            return ended
        return (
            f"all {len(settings) - len(self._nowhere)} settings within the bounds that the objective asks for are"
            " evaluated or pending, and it has no noise: nothing is left to suggest; widen the bounds to go on"
        )

    def _at(self, number: int, params: dict[str, Any]) -> tuple[dict[str, Any], Array | None]:
        """Return parameters of a trial that runs and their point, (D,), None outside the space: each is found once."""
        known = self._running.get(number)
        if known is not None and known[0] == params:
            return known
        inside = self.searched.read(params)
        return params, None if inside is None else self.searched.space.to_units([inside])[0]
