"""QuadratSampler: the default method, or any other, inside an Optuna study."""

from __future__ import annotations

import threading
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np
from optuna.distributions import BaseDistribution, CategoricalDistribution, check_distribution_compatibility
from optuna.samplers import BaseSampler
from optuna.samplers._base import _process_constraints_after_trial
from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from quadrat._core.blas_threads import with_own_numerics
from quadrat.errors import InvalidInput, QuadratWarning, SpaceExhausted
from quadrat.methods.base import Method
from quadrat.optimizer.method_choice import keeps_limits, resolve
from quadrat.optimizer.outcome import Direction
from quadrat.randomness import generator
from quadrat.space import Space
from quadrat.space.constraint import check_share
from quadrat.studies.conditions import Form, Presence
from quadrat.studies.distributions import (
    DistributionSpace,
    OwnSpace,
    Searched,
    check_distributions,
    codes_of,
    is_of_kind,
    parameter_of,
    searched_value,
)
from quadrat.studies.engine import StudyEngine
from quadrat.studies.learned_space import LearnedSpace
from quadrat.studies.notes import keep_version
from quadrat.studies.running_trials import RunningTrials, chosen_near, chosen_params, nearest, publish

__all__ = ["QuadratSampler", "chosen_params"]

_INDEPENDENT = 0x0D15  # names the stream of parameters that are sampled alone
_BLIND = 10  # complete trials, none of which counts, after which that is said again
_CURE = "pass QuadratSampler(search_space=qd.Space(...)), with when= for parameters that depend on another"


class QuadratSampler(BaseSampler):
    """Suggest what Quadrat's default method would evaluate next.

    Pruned trials have no value, whatever they reported, and are no failures: the default method asks less for their
    surroundings, because a trial there seldom runs to its end. Failed trials lower the chance that their surroundings
    are asked for again; running ones count as pending. A suggestion depends on the seed, the number of the trial and
    what finished before, in the order of finishing: several processes on one storage, threads, and a study that is
    resumed make the suggestions that one process would make from the same history.

    Without `search_space` the space is what trials show: which parameters there are, with which bounds, and under which
    values of others each exists (`quadrat.studies.conditions` says how that is inferred). All trials of the study count
    for it, of any sampler. Each branch that is known is visited early. A parameter that no trial had before, as all of
    the first trial, is sampled alone: the first trial is the centre, later ones are uniform on the scale of the
    distribution. So are parameters that `search_space` lacks. Of the first such parameter, once trials are complete, a
    `quadrat.errors.QuadratWarning` tells; another tells of a parameter that no condition explains.

    With `search_space` all are known from the start, and the first trials are those of the method's own design. Where
    its bounds are narrower than those that the objective asks for, suggestions stay within them, and a warning tells
    that too.

    A method that keeps limits (`Safe`, `FittedSafe`) needs `search_space`: beside it nothing is drawn at random, and an
    objective that asks for another parameter, or for bounds that leave a suggestion out, is refused in that trial.

    Replicates and standard errors are read from the user attributes "quadrat:values" (a list) and "quadrat:sem".

    Parameters
    ----------
    search_space
        The distributions of all parameters, by name, where they are known beforehand; or a `Space`, whose conditions
        and constraints are then respected (`suggest` has its parameters suggested in an objective).
    method
        A method, the name of one (`quadrat methods` lists them), or a text with its options; None is the default.
    seed
        A non-negative integer; None draws one.
    noise
        Standard deviation of the noise in one measurement, for the default method: 0 where the objective always gives
        the same at the same setting. None learns it. Another method has its own.
    constraints_func
        As in Optuna's samplers: from a finished trial to numbers that are <= 0 where its constraints hold. With Optuna
        5 a trial can set its own instead.
    independent_sampler
        What samples parameters alone, instead of the above; nothing is warned of then.

    Raises
    ------
    InvalidInput
        An argument that is none of these, or a `Space` whose constraint is met by too few settings.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=QuadratSampler(seed=0))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) - 0.3) ** 2, n_trials=12)
    >>> abs(study.best_params["x"] - 0.3) < 0.05
    True
    """

    def __init__(
        self,
        *,
        search_space: Mapping[str, BaseDistribution] | Space | None = None,
        method: str | Method | None = None,
        seed: int | None = None,
        noise: float | None = None,
        constraints_func: Callable[[FrozenTrial], Sequence[float]] | None = None,
        independent_sampler: BaseSampler | None = None,
    ) -> None:
        self._own: OwnSpace | None = None
        self._fixed: dict[str, BaseDistribution] | None = None
        if isinstance(search_space, Space):
            check_share(search_space)  # here too, so that nothing is written to a study
            self._own = OwnSpace(search_space)
        elif search_space is not None:
            self._fixed = check_distributions(search_space)
        self._method = resolve(method, noise)
        if keeps_limits(self._method) and search_space is None:
            raise InvalidInput(
                f"search_space: expected the parameters beside {type(self._method).__name__}, got None: what no trial"
                " has shown yet is drawn at random, and that may be unsafe"
            )
        self._seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
        generator(self._seed)  # refuses what is not a seed
        self._constraints_func = constraints_func
        self._independent = independent_sampler
        self._forget()

    def _forget(self) -> None:
        self._learned: WeakKeyDictionary[BaseStorage, dict[int, _Learning]] = WeakKeyDictionary()
        self._warned: set[tuple[object, ...]] = set()  # of which study, and what of it
        self._ended: set[tuple[int, int]] = set()  # studies
        self._engines: dict[tuple[object, ...], tuple[StudyEngine, RunningTrials]] = {}
        self._chosen: dict[tuple[int, int], dict[str, Any]] = {}  # for trials that run, in spaces that were learned
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what follows from the study: locks cannot be copied, and searches may be large."""
        state = self.__dict__.copy()
        for name in ("_learned", "_warned", "_ended", "_engines", "_chosen", "_lock"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def reseed_rng(self) -> None:
        """Nothing to do: randomness is named by the number of the trial, in every thread and process."""

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:  # noqa: ARG002
        """Return the distributions that were given.

        None where the space is learned: the objective may ask for other bounds or choices than before, and Optuna
        refuses what was suggested with others. So each parameter is handed out when it is asked for.
        """
        if self._own is not None:
            return self._own.distributions
        return {
            name: distribution
            for name, distribution in sorted((self._fixed or {}).items())
            if not distribution.single() and parameter_of(distribution) is not None
        }

    def _learned_of(self, study: Study, trial: FrozenTrial, *, again: bool = False) -> LearnedSpace:
        """Return what the other trials of a study show of its space; `again` is as it was for this trial just now."""
        with self._lock:
            learning = self._learned.setdefault(study._storage, {}).setdefault(study._study_id, _Learning())
            if again and learning.number == trial.number:
                return learning.space
            return learning.of(study._get_trials(deepcopy=False, use_cache=False), trial.number)

    @with_own_numerics
    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return parameters for a trial; `sample_independent` hands them out, so that each is checked there."""
        study = _whole(study)
        _check_one_objective(study)
        searched: Searched
        if self._own is not None:
            searched = self._own
        elif search_space:
            searched = DistributionSpace(search_space)
        elif self._fixed is not None:
            return {}
        else:
            searched = self._learned_of(study, trial)
            if not searched.distributions:
                return {}
        chosen = chosen_params(trial, searched.distributions)
        if chosen:  # the trial was begun before: by a process that died, or by one that lets this one evaluate it
            return {} if isinstance(searched, LearnedSpace) else _HandedOut(chosen)
        with self._lock:
            engine, running = self._engine_of(study, searched)
            engine.follow(study._get_trials(deepcopy=False, use_cache=False))
            self._warn_of_what_is_outside(study, engine)
            fixed = trial.system_attrs.get("fixed_params", {})
            known: dict[int, dict[str, Any]] = {}
            while True:  # the reads come after what takes time: others may have begun meanwhile
                known |= running.beside(trial.number, study._get_trials(deepcopy=False, use_cache=False))
                try:
                    params, why = engine.ask(trial.number, known, fixed)
                except SpaceExhausted as ended:
                    if keeps_limits(self._method):
                        raise
                    params, why = engine.ask_again(), f"the best again: {ended}"
                    self._stop(study, str(ended), asked=True)
                params = {
                    name: value
                    for name, value in params.items()  # a name may be a number in some trials and a choice in others
                    if name in searched.distributions and is_of_kind(searched.distributions[name], value)
                }
                # Before another looks at what runs:
                publish(study, trial, params, searched.distributions, why, self._method)
                # Of two processes that chose at the same time, neither knowing of the other, the later trial yields.
                others = running.beside(trial.number, study._get_trials(deepcopy=False, use_cache=False))
                if all(other in known or other > trial.number for other in others):
                    break
        self._chosen[id(study._storage), trial._trial_id] = params
        return {} if isinstance(searched, LearnedSpace) else _HandedOut(params)

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return what was chosen for a trial; else the centre in the first, something uniform later."""
        bracket, study = study, _whole(study)
        _check_one_objective(study)
        self._warn_of_equal_choices(study, param_name, param_distribution)
        chosen = self._chosen.get((id(study._storage), trial._trial_id))
        if self._own is None and self._fixed is None:
            if chosen is None:  # by another process
                near = chosen_near(trial, param_name, param_distribution)
            else:
                near = nearest(param_distribution, chosen[param_name]) if param_name in chosen else None
            if near is not None:
                return near[0]
        else:
            given = self.infer_relative_search_space(study, trial)
            _check_kind(param_name, given.get(param_name), param_distribution)
            chosen = chosen_params(trial, given) if chosen is None else chosen
            if param_name in chosen and searched_value(param_distribution, chosen[param_name]) is not None:
                return chosen[param_name]
        if keeps_limits(self._method):
            self._refuse_to_draw(param_name, param_distribution)
        if self._independent is not None:
            return self._independent.sample_independent(bracket, trial, param_name, param_distribution)
        self._warn_of(study, trial, param_name, param_distribution)
        rng = generator(self._seed, trial.number, _INDEPENDENT, zlib.crc32(param_name.encode()))
        if parameter_of(param_distribution) is None:
            low, high = param_distribution.low, param_distribution.high  # type: ignore[attr-defined]  # numbers, then
            return min(max(low + (high - low) * (0.5 if trial.number == 0 else rng.random()), low), high)
        alone = DistributionSpace({"alone": param_distribution})
        unit = np.full((1, 1), 0.5) if trial.number == 0 else rng.random((1, 1))
        return alone.show(_decoded(alone.space, unit))["alone"]

    def _refuse_to_draw(self, name: str, distribution: BaseDistribution) -> NoReturn:
        """Refuse a parameter that would be drawn at random beside a method that keeps limits."""
        given = (self._fixed or {}) if self._own is None else self._own.distributions
        kind = type(self._method).__name__
        if name not in given:
            raise InvalidInput(
                f"search_space: expected every parameter that the objective asks for, as {kind} keeps limits, got none"
                f" called {name!r} beside {', '.join(map(repr, given)) or 'none'}: it would be drawn at random, and the"
                " limited function would depend on it; spell it as the objective does, add it to search_space, or fix"
                " it in the objective"
            )
        raise InvalidInput(
            f"search_space: expected parameter {name!r} within what the objective asks for, {distribution}, as {kind}"
            f" keeps limits, got {given[name]}: a value drawn in the place of a suggestion may be unsafe; give both the"
            " same bounds"
        )

    @with_own_numerics
    def exhausted(self, study: Study) -> str | None:
        """Return why nothing is left to evaluate in a study, in a sentence; None as long as something is.

        It is known where the space is finite, every setting was evaluated, and the objective has no noise. Trials that
        are begun nevertheless repeat the best one. With ``noise=0`` the sampler stops `study.optimize`.
        """
        study = _whole(study)
        with self._lock:
            if self._own is not None:
                self._engine_of(study, self._own)
            return self._exhausted(study)

    def _exhausted(self, study: Study) -> str | None:
        """As `exhausted`, where a run is known; called with the lock. A trial that ends just now counts as running."""
        known = [held for key, held in self._engines.items() if key[:2] == (id(study._storage), study._study_id)]
        if not known:
            return None
        engine, running = known[-1]
        trials = study._get_trials(deepcopy=False, use_cache=False)
        if not engine.may_be_exhausted(len(trials)):
            return None
        engine.follow(trials)
        return engine.exhausted(running.beside(-1, trials))

    def _stop(self, study: Study, why: str, *, asked: bool) -> None:
        """Say why nothing is left, once for each study, where a trial is `asked` or `study.optimize` is stopped.

        It is stopped where it was stated that there is no noise. Where repeats showed that, whoever asked Optuna for so
        many trials gets them.
        """
        stopped = False
        if getattr(self._method, "noise", None) == 0.0:
            with suppress(RuntimeError):  # trials are asked for and told one by one
                study.stop()
                stopped = True
        key = id(study._storage), study._study_id
        if (stopped or asked) and key not in self._ended:
            self._ended.add(key)
            warnings.warn(f"study {study.study_name!r}: {why}", QuadratWarning, stacklevel=6)

    def _warn_of(self, study: Study, trial: FrozenTrial, name: str, distribution: BaseDistribution) -> None:
        """Warn, once for each study, that a parameter is drawn at random although something is known."""
        if parameter_of(distribution) is None:
            low, high = distribution.low, distribution.high  # type: ignore[attr-defined]  # numbers, then
            self._warn(
                study,
                "too fine",
                f"parameter {name!r} is drawn at random: no number between 0 and 1 tells the values from {low!r} to"
                f" {high!r} apart; search over a multiple or a difference instead",
            )
            return
        if self._own is not None or self._fixed is not None:
            given = (self._fixed or {}) if self._own is None else self._own.distributions
            known = given.get(name)
            if known is None:
                self._warn(
                    study,
                    "drawn",
                    f"parameter {name!r} is drawn at random: search_space does not have it; add it there",
                )
            elif known != distribution:
                self._warn(
                    study,
                    f"bounds of {name}",
                    f"parameter {name!r} is drawn at random where its suggestion is outside of what the objective asks"
                    f" for, {distribution}: search_space has {known}; give both the same bounds",
                )
        elif (
            _begun_after_a_result(study, trial) and name not in self._learned_of(study, trial, again=True).distributions
        ):
            self._warn(
                study,
                "drawn",
                f"parameter {name!r} is drawn at random: no trial had it before, and so it will be with others that are"
                f" new; later trials suggest it. To have all suggested from the start, {_CURE}",
            )

    def _warn_of_equal_choices(self, study: Study, name: str, distribution: BaseDistribution) -> None:
        """Warn, once for each parameter of a study, of choices that no trial can have (`codes_of`)."""
        if not isinstance(distribution, CategoricalDistribution) or self._was_warned(study, f"choices of {name}"):
            return
        possible = codes_of(distribution)
        lost = [choice for code, choice in enumerate(distribution.choices) if code not in possible]
        if lost:
            first = distribution.choices[int(distribution.to_internal_repr(lost[0]))]
            warnings.warn(
                f"parameter {name!r}: no trial can have the choice {lost[0]!r}, because Optuna takes it for {first!r},"
                " which Python calls equal; give choices that differ, such as texts",
                QuadratWarning,
                stacklevel=5,
            )

    def _warn_of_what_is_outside(self, study: Study, engine: StudyEngine) -> None:
        """Warn, once for each study, of trials that do not count, and of what was learned and cannot be modelled."""
        searched = engine.searched
        if isinstance(searched, LearnedSpace):
            for kind, message in searched.caveats(_CURE).items():
                self._warn(study, kind, message)
            return
        if engine.wider is not None:
            name, known, asked_for = engine.wider
            self._warn(
                study,
                f"bounds of {name}",
                f"parameter {name!r} is suggested from {known[0]} to {known[1]} only, as search_space says, and the"
                f" objective asks for {asked_for[0]} to {asked_for[1]}; give both the same bounds",
            )
        if engine.lacking is not None:
            name, number = engine.lacking
            self._warn(
                study,
                "outside",
                f"suggestions do not rest on complete trials without the parameter {name!r} of search_space, such as"
                f" trial {number}; spell it as the objective does, say with when= in a qd.Space where it exists, or"
                " take it out of search_space",
            )
            if not engine.rests_on and engine.outside >= _BLIND:
                self._warn(
                    study,
                    "blind",
                    f"none of {engine.outside} complete trials counts, as the parameter {name!r} of search_space is not"
                    " in them: suggestions are those of a design that learns nothing",
                )
        elif engine.outside and engine.wider is None:
            self._warn(
                study,
                "outside",
                f"suggestions do not rest on complete trials that are outside of search_space ({engine.outside}); widen"
                " it, or begin a new study",
            )

    def _warn(self, study: Study, of: str, message: str) -> None:
        """Warn with this message, once for each study and kind."""
        if not self._was_warned(study, of):
            warnings.warn(message, QuadratWarning, stacklevel=6)

    def _was_warned(self, study: Study, of: str) -> bool:
        """Return whether it was warned of before; from now on it counts as such."""
        key = id(study._storage), study._study_id, of
        before = key in self._warned
        self._warned.add(key)
        return before

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        if self._independent is not None:
            self._independent.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        self._chosen.pop((id(study._storage), trial._trial_id), None)
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        if self._independent is not None:
            self._independent.after_trial(study, trial, state, values)
        study = _whole(study)
        with self._lock:
            ended = self._exhausted(study)
        if ended is not None:
            self._stop(study, ended, asked=False)

    def _engine_of(self, study: Study, searched: Searched) -> tuple[StudyEngine, RunningTrials]:
        """Return the run of a study over this space, and what runs there; the last one of each study is kept."""
        if isinstance(searched, LearnedSpace):
            what: object = searched.form
        else:
            what = tuple(sorted((name, repr(one)) for name, one in searched.distributions.items()))
        key = (id(study._storage), study._study_id, what)
        if key not in self._engines:
            news = keep_version(study, self._method)
            if news is not None:
                warnings.warn(f"study {study.study_name!r}: {news}", QuadratWarning, stacklevel=4)
            self._engines = {other: engine for other, engine in self._engines.items() if other[:2] != key[:2]}
            direction = Direction.read(study.direction.name.lower())
            engine = StudyEngine(searched, self._method, direction, self._seed)
            self._engines[key] = engine, RunningTrials(searched.distributions)
        return self._engines[key]


class _HandedOut(dict[str, Any]):
    """What was chosen for a trial. Optuna finds no name in it, and so asks `sample_independent` for each.

    Optuna itself would refuse a parameter of another type than the objective's without its name.
    """

    def __contains__(self, name: object) -> bool:
        return False


class _Learning:
    """What was learned of the space of one study; what was inferred is kept as long as the trials say the same.

    Attributes
    ----------
    number, space
        The trial for which it was last inferred, and what was.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self.space = LearnedSpace(Form())
        self._presence = Presence()
        self._source: object = None

    def of(self, trials: Sequence[FrozenTrial], number: int) -> LearnedSpace:
        """Return the space that trials show; the one with a number is about to ask, and does not count."""
        others = [trial for trial in trials if trial.number != number or trial.state.is_finished()]
        running = tuple((one.number, repr(one.params)) for one in others if one.state is TrialState.RUNNING)
        source = sum(one.state.is_finished() for one in others), running
        if source != self._source:
            form = self._presence.see(others).form()
            if form != self.space.form:
                self.space = LearnedSpace(form)
            self._source = source
        self.number = number
        return self.space


def _begun_after_a_result(study: Study, trial: FrozenTrial) -> bool:
    """Return whether a trial was complete when this one began: before, nothing can be known of parameters."""
    complete = study._get_trials(deepcopy=False, states=(TrialState.COMPLETE,), use_cache=False)
    ends = [one.datetime_complete for one in complete if one.datetime_complete is not None]
    return trial.datetime_start is not None and any(end <= trial.datetime_start for end in ends)


def _whole(study: Study) -> Study:
    """Return the study itself where a pruner shows a part of it: whatever its bracket, a complete trial is as good."""
    whole: Study = getattr(study, "_study", study)
    return whole


def _check_kind(name: str, given: BaseDistribution | None, asked_for: BaseDistribution) -> None:
    """Refuse a parameter of search_space that the objective asks for as another kind: no value would serve both."""
    if given is None:
        return
    try:
        check_distribution_compatibility(given, asked_for)
    except ValueError:
        raise InvalidInput(
            f"search_space: expected parameter {name!r} with the type, log and choices that the objective asks for,"
            f" {asked_for!s:.200}, got {given!s:.200}; give both the same"
        ) from None


def _check_one_objective(study: Study) -> None:
    if len(study.directions) > 1:
        raise InvalidInput(
            f"study: expected one objective, got {len(study.directions)}, which QuadratSampler does not optimise yet;"
            " return one number, and tell a limit on another as a constraint (constraints_func)"
        )


def _decoded(space: Space, unit: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    return space.from_unit(space.round(unit[0])) if space.dimension else space.from_unit(np.empty(0))
