"""QuadratSampler: the default method, or any other, inside an Optuna study."""

from __future__ import annotations

import threading
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.samplers._base import _process_constraints_after_trial
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from quadrat._core.blas_threads import with_own_numerics
from quadrat.errors import InvalidInput, QuadratWarning, SpaceExhausted
from quadrat.methods.base import Method
from quadrat.optimizer.method_choice import resolve
from quadrat.optimizer.outcome import Direction
from quadrat.randomness import generator
from quadrat.space import Space
from quadrat.space.constraint import check_share
from quadrat.studies.distributions import DistributionSpace, OwnSpace, check_distributions, parameter_of
from quadrat.studies.engine import StudyEngine
from quadrat.studies.notes import keep_version
from quadrat.studies.running_trials import RunningTrials, chosen_params, publish

__all__ = ["QuadratSampler", "chosen_params"]

_INDEPENDENT = 0x0D15  # names the stream of parameters that are sampled alone


class QuadratSampler(BaseSampler):
    """Suggest what Quadrat's default method would evaluate next.

    Pruned trials have no value, whatever they reported, and are no failures: the default method asks less for their
    surroundings, because a trial there seldom runs to its end. Failed trials lower the chance that their surroundings
    are asked for again; running ones count as pending. A suggestion depends on the seed, the number of the trial and
    what finished before, in the order of finishing: several processes on one storage, threads, and a study that is
    resumed make the suggestions that one process would make from the same history.

    Parameters that not all complete trials share, and everything in the first trial, are sampled alone: the first trial
    is the centre, later ones are uniform on the scale of the distribution. So are parameters that `search_space` lacks.
    Of the first such parameter, once trials are complete, a `quadrat.errors.QuadratWarning` tells. With `search_space`
    all are known from the start, and the first trials are those of the method's own design. Where its bounds are
    narrower than those that the objective asks for, suggestions stay within them, and a warning tells that too.

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
        self._method = resolve(method)
        self._seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
        generator(self._seed)  # refuses what is not a seed
        self._constraints_func = constraints_func
        self._independent = independent_sampler
        self._forget()

    def _forget(self) -> None:
        self._shared = IntersectionSearchSpace()
        self._of_pruned = IntersectionSearchSpace(include_pruned=True)
        self._warned: set[tuple[int, int]] = set()  # studies
        self._ended: set[tuple[int, int]] = set()  # studies
        self._engines: dict[tuple[object, ...], tuple[StudyEngine, RunningTrials]] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what follows from the study: locks cannot be copied, and searches may be large."""
        state = self.__dict__.copy()
        for name in ("_shared", "_of_pruned", "_warned", "_ended", "_engines", "_lock"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def reseed_rng(self) -> None:
        """Nothing to do: randomness is named by the number of the trial, in every thread and process."""

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:  # noqa: ARG002
        """Return the distributions that are searched together."""
        known = self._known(study)
        if self._own is not None:
            return known
        return {
            name: distribution
            for name, distribution in sorted(known.items())
            if not distribution.single() and parameter_of(distribution) is not None
        }

    def _known(self, study: Study) -> dict[str, BaseDistribution]:
        """Return the distributions that were given, or else those of all complete trials; of pruned ones before."""
        if self._own is not None:
            return self._own.distributions
        if self._fixed is not None:
            return self._fixed
        with self._lock:
            return self._shared.calculate(study) or self._of_pruned.calculate(study)

    @with_own_numerics
    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return parameters for a trial."""
        _check_one_objective(study)
        if not search_space:
            return {}
        chosen = chosen_params(trial, search_space)
        if chosen:  # the trial was begun before: by a process that died, or by one that lets this one evaluate it
            return chosen
        with self._lock:
            engine, running = self._engine_of(study, search_space)
            engine.follow(study._get_trials(deepcopy=False, use_cache=False))
            self._warn_of_what_is_outside(study, engine)
            known: dict[int, dict[str, Any]] = {}
            while True:  # the reads come after what takes time: others may have begun meanwhile
                known |= running.beside(trial.number, study._get_trials(deepcopy=False, use_cache=False))
                try:
                    params, why = engine.ask(trial.number, known)
                except SpaceExhausted as ended:
                    params, why = engine.ask_again(), f"the best again: {ended}"
                    self._stop(study, str(ended), asked=True)
                publish(study, trial, params, search_space, why, self._method)  # before another looks at what runs
                # Of two processes that chose at the same time, neither knowing of the other, the later trial yields.
                others = running.beside(trial.number, study._get_trials(deepcopy=False, use_cache=False))
                if all(other in known or other > trial.number for other in others):
                    break
        return params

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return one parameter for a trial: the centre in the first, something uniform later."""
        _check_one_objective(study)
        if self._independent is not None:
            return self._independent.sample_independent(study, trial, param_name, param_distribution)
        self._warn_of(study, trial, param_name, param_distribution)
        rng = generator(self._seed, trial.number, _INDEPENDENT, zlib.crc32(param_name.encode()))
        if parameter_of(param_distribution) is None:
            low, high = param_distribution.low, param_distribution.high  # type: ignore[attr-defined]  # numbers, then
            return min(max(low + (high - low) * (0.5 if trial.number == 0 else rng.random()), low), high)
        alone = DistributionSpace({param_name: param_distribution})
        unit = np.full((1, 1), 0.5) if trial.number == 0 else rng.random((1, 1))
        return alone.show(_decoded(alone.space, unit))[param_name]

    @with_own_numerics
    def exhausted(self, study: Study) -> str | None:
        """Return why nothing is left to evaluate in a study, in a sentence; None as long as something is.

        It is known where the space is finite, every setting was evaluated, and the objective has no noise. Trials that
        are begun nevertheless repeat the best one. With ``method="Auto(noise=0)"`` the sampler stops `study.optimize`.
        """
        with self._lock:
            if self._own is not None:
                self._engine_of(study, self._own.distributions)
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
        if parameter_of(distribution) is None or self._known(study).get(name) == distribution:
            return
        if self._own is None and self._fixed is None:
            if not _begun_after_a_result(study, trial):
                return
            why = "not all complete trials have it with the same bounds"
            cure = "pass QuadratSampler(search_space=qd.Space(...)), with when= for parameters that depend on another"
        else:
            why, cure = "search_space does not have it with these bounds", "add it there"
        with self._lock:
            self._warn(study, f"parameter {name!r} is drawn at random: {why}; {cure}")

    def _warn_of_what_is_outside(self, study: Study, engine: StudyEngine) -> None:
        """Warn, once for each study, where the bounds that were given are narrower than those of the study's trials."""
        if self._own is None and self._fixed is None:
            return
        if engine.wider is not None:
            name, known, asked_for = engine.wider
            self._warn(
                study,
                f"parameter {name!r} is suggested from {known[0]} to {known[1]} only, as search_space says, and the"
                f" objective asks for {asked_for[0]} to {asked_for[1]}; give both the same bounds",
            )
        elif engine.outside:
            self._warn(
                study,
                f"suggestions do not rest on complete trials that are outside of search_space ({engine.outside}); widen"
                " it, or begin a new study",
            )

    def _warn(self, study: Study, message: str) -> None:
        """Warn with this message, once for each study; called with the lock."""
        key = id(study._storage), study._study_id
        if key not in self._warned:
            self._warned.add(key)
            warnings.warn(message, QuadratWarning, stacklevel=6)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        if self._independent is not None:
            self._independent.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        if self._independent is not None:
            self._independent.after_trial(study, trial, state, values)
        with self._lock:
            ended = self._exhausted(study)
        if ended is not None:
            self._stop(study, ended, asked=False)

    def _engine_of(
        self, study: Study, search_space: Mapping[str, BaseDistribution]
    ) -> tuple[StudyEngine, RunningTrials]:
        """Return the run of a study over this space, and what runs there; the last one of each study is kept."""
        key = (id(study._storage), study._study_id, tuple(sorted((name, repr(d)) for name, d in search_space.items())))
        if key not in self._engines:
            news = keep_version(study, self._method)
            if news is not None:
                warnings.warn(f"study {study.study_name!r}: {news}", QuadratWarning, stacklevel=4)
            self._engines = {other: engine for other, engine in self._engines.items() if other[:2] != key[:2]}
            direction = Direction.read(study.direction.name.lower())
            searched = DistributionSpace(search_space) if self._own is None else self._own
            engine = StudyEngine(searched, self._method, direction, self._seed)
            self._engines[key] = engine, RunningTrials(search_space)
        return self._engines[key]


def _begun_after_a_result(study: Study, trial: FrozenTrial) -> bool:
    """Return whether a trial was complete when this one began: before, nothing can be known of parameters."""
    complete = study._get_trials(deepcopy=False, states=(TrialState.COMPLETE,), use_cache=False)
    ends = [one.datetime_complete for one in complete if one.datetime_complete is not None]
    return trial.datetime_start is not None and any(end <= trial.datetime_start for end in ends)


def _check_one_objective(study: Study) -> None:
    if len(study.directions) > 1:
        raise InvalidInput(
            f"study: expected one objective, got {len(study.directions)}, which QuadratSampler does not optimise yet;"
            " return one number, and tell a limit on another as a constraint (constraints_func)"
        )


def _decoded(space: Space, unit: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    return space.from_unit(space.round(unit[0])) if space.dimension else space.from_unit(np.empty(0))
