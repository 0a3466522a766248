"""An Optuna study as one of our runs: the optimizer that has been told all of it, and the study's own trials."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from quadrat.errors import InvalidInput, NotAvailable, QuadratWarning
from quadrat.methods.base import Method
from quadrat.optimizer import CertificateReport, Optimizer, Recommendation
from quadrat.optimizer.reports import why_in_study
from quadrat.space import Space
from quadrat.studies.conditions import Presence
from quadrat.studies.distributions import (
    DistributionSpace,
    OwnSpace,
    Searched,
    check_distributions,
    only_value,
    parameter_of,
)
from quadrat.studies.finish_order import FinishOrder
from quadrat.studies.learned_space import LearnedSpace
from quadrat.studies.notes import kept_method, kept_space, why_uncertified
from quadrat.studies.running_trials import chosen_params
from quadrat.studies.trials import complete_constraints, outcome_of, values_of

__all__ = ["StudyRun", "recommend", "recommendation_in", "run_of", "stated_noise"]


@dataclass(frozen=True)
class StudyRun:
    """A study and the same as a run.

    Attributes
    ----------
    optimizer, trials
        The optimizer was told all complete and failed trials in the search space, in the order of finishing: its trial
        i is `trials[i]`, as the study has it. Pruned trials are left out: they have no result.
    searched
        From the study's parameters to the optimizer's and back.
    alone, missing
        The parameters that have one value, which are not searched; and those that a given search space does not have.
    uncertified
        Why nothing is certified although the method certifies; None where it may.
    outside
        How many complete trials of the study are not in the search space, and do not count.
    """

    optimizer: Optimizer
    searched: Searched
    trials: tuple[FrozenTrial, ...]
    alone: dict[str, Any]
    missing: tuple[str, ...] = ()
    uncertified: str | None = None
    outside: int = 0

    def show(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the optimizer's parameters as those of the study.

        In a space that was learned, those of the best trial there, where there is one: it has all of them, also what
        the space lacks.
        """
        evaluated = self._evaluated.get(frozenset(params.items()))
        return {**self.searched.show(params), **self.alone} if evaluated is None else dict(evaluated.params)

    @cached_property
    def _evaluated(self) -> dict[frozenset[tuple[str, Any]], FrozenTrial]:
        """The best complete trial at each setting, by the optimizer's parameters; none where the space was given."""
        if not isinstance(self.searched, LearnedSpace):
            return {}
        sign = -1.0 if self.optimizer.direction == "minimize" else 1.0
        best: dict[frozenset[tuple[str, Any]], tuple[float, FrozenTrial]] = {}
        for record, trial in zip(self.optimizer.trials, self.trials, strict=True):
            setting = frozenset(record.params.items())
            if record.value is not None and (setting not in best or sign * record.value > best[setting][0]):
                best[setting] = sign * record.value, trial
        return {setting: trial for setting, (_, trial) in best.items()}

    def certificate(self) -> CertificateReport:
        """Return how far from the optimum the recommended point can be, in the study's parameters."""
        report = self.optimizer.certificate()
        return report if report.params is None else replace(report, params=self.show(report.params))


def run_of(
    study: Study,
    *,
    search_space: Mapping[str, BaseDistribution] | Space | None = None,
    method: str | Method | None = None,
    seed: int = 0,
) -> StudyRun:
    """Return a study as a run; the arguments are those of `recommend`, and so is what is refused.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    >>> study.optimize(lambda trial: trial.suggest_categorical("kind", ["a", "b"]) == "b", n_trials=3)
    >>> run = run_of(study)
    >>> [run.show(record.params) for record in run.optimizer.trials] == [trial.params for trial in study.trials]
    True
    """
    if not isinstance(study, Study):
        raise InvalidInput(f"study: expected a study of Optuna's, got {study!r:.80}")
    if len(study.directions) != 1:
        raise InvalidInput(
            f"study: expected one objective, got {len(study.directions)}, which Quadrat does not optimise yet; make a"
            " study of one of them"
        )
    trials = study.get_trials(deepcopy=False)
    over = [trial for trial in FinishOrder().sort(trials) if trial.state is not TrialState.PRUNED]
    complete = [trial for trial in over if values_of(trial) is not None]
    if not complete:
        states = Counter(trial.state for trial in trials)
        open_ones = states[TrialState.RUNNING] + states[TrialState.WAITING]
        raise NotAvailable(
            f"study: expected at least one complete trial, got {len(over)} that failed,"
            f" {states[TrialState.PRUNED]} that were pruned and have no result, and {open_ones} that have not ended;"
            " let one run to its end first"
        )
    searched, alone = _searched(trials, kept_space(study) if search_space is None else search_space)
    used = [(trial, params) for trial in over if (params := _read(trial, searched)) is not None]
    if not any(values_of(trial) for trial, _ in used):
        raise NotAvailable(
            f"study: expected a complete trial in the search space, got none of {len(complete)}: a parameter is missing"
            " or outside of its bounds in each; where a parameter exists under a condition only, say so with when="
        )
    optimizer = Optimizer(searched.space, direction=study.direction.name.lower(), method=method, seed=seed)
    optimizer.add_trials(
        [params for _, params in used],
        [outcome_of(trial) for trial, _ in used],
        constraints=[complete_constraints(trial) or None for trial, _ in used],
    )
    known = {*searched.distributions, *alone}
    left_out = set() if isinstance(searched, LearnedSpace) else {name for trial, _ in used for name in trial.params}
    return StudyRun(
        optimizer,
        searched,
        tuple(trial for trial, _ in used),
        alone,
        tuple(sorted(left_out - known)),
        why_uncertified(study, optimizer.method),
        len(complete) - sum(values_of(trial) is not None for trial, _ in used),
    )


def _read(trial: FrozenTrial, searched: Searched) -> dict[str, Any] | None:
    """Return the parameters of a trial as those of a space, as the sampler reads them; None where it is outside."""
    if isinstance(searched, LearnedSpace):
        return searched.read(trial.params, chosen_params(trial, searched.distributions))
    return searched.read(trial.params)


def _searched(
    trials: Sequence[FrozenTrial], given: Mapping[str, BaseDistribution] | Space | None
) -> tuple[Searched, dict[str, Any]]:
    """Return what was searched, and the parameters of a given search space that have one value."""
    if isinstance(given, Space):
        return OwnSpace(given), {}
    if given is None:
        learned = LearnedSpace(Presence().see(trials).form(widest=True))
        _check_searchable(dict(learned.form.distributions))
        if learned.is_empty:
            raise InvalidInput(
                "study: expected trials with a parameter of more than one value, got none: there is nothing to choose"
                " between; study.best_trial has the parameters and the best value"
            )
        return learned, {}
    shared = check_distributions(given)
    known = {name: one for name, one in shared.items() if not one.single()}
    _check_searchable(known)
    if not known:
        raise InvalidInput("search_space: expected a parameter of more than one value, got none; give one that varies")
    return DistributionSpace(known), {name: only_value(one) for name, one in shared.items() if one.single()}


def _check_searchable(distributions: Mapping[str, BaseDistribution]) -> None:
    for name, one in distributions.items():
        if not one.single() and parameter_of(one) is None:
            raise InvalidInput(
                f"study: expected parameters that can be searched, got {name!r} with {one}, whose values no number"
                " between 0 and 1 tells apart; pass search_space= without it"
            )


def recommend(
    study: Study,
    *,
    search_space: Mapping[str, BaseDistribution] | Space | None = None,
    method: str | Method | None = None,
    seed: int = 0,
) -> Recommendation:
    """Return the parameters to use, with an interval for their value, whatever sampler the study had.

    Optuna's best trial is the luckiest of noisy ones. This is the one that a model of all of them believes to be best.
    Complete and failed trials count. Pruned trials do not: they were stopped before they had a result, and what they
    reported until then is another quantity. Nothing is certified of a study with pruned trials.

    Parameters
    ----------
    study
        With one objective.
    search_space
        The distributions of the parameters to recommend, or a `Space`. Complete trials outside of it do not count; a
        `QuadratWarning` says how many these are. By default the space that is kept with the study, or else the one that
        its trials show: parameters exist under the conditions that agree with all trials, and where bounds changed, the
        widest count. A parameter that no condition explains counts as there, and a `QuadratWarning` names it.
    method
        Whose model it is. None is the default method's, with the noise that was stated to the study's sampler, or to
        the command that keeps it with the study.
    seed
        Of the model.

    Returns
    -------
    Recommendation
        In the study's parameters, direction and units.

    Raises
    ------
    InvalidInput
        Several objectives, or parameters that cannot be searched.
    NotAvailable
        No trial is complete.

    Examples
    --------
    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(direction="minimize", sampler=optuna.samplers.RandomSampler(seed=0))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) - 0.3) ** 2, n_trials=20)
    >>> abs(recommend(study).params["x"] - 0.3) < 0.1
    True
    """
    run = run_of(study, search_space=search_space, method=method or stated_noise(study), seed=seed)
    if run.outside:
        message = f"complete trials that are outside of the search space ({run.outside}) do not count; widen it"
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if sum(not trial.params for trial in complete) == run.outside:
            message = (
                f"complete trials without parameters ({run.outside}) do not count; give a baseline those that it has,"
                " with study.enqueue_trial or create_trial(params=..., distributions=..., value=...)"
            )
        other = _of_another_type(study, run.searched)
        if other is not None:
            message = (
                f"complete trials that are outside of the search space ({run.outside}) do not count: they have {other},"
                " of another type than in the last trial; pass search_space= with the type that counts"
            )
        warnings.warn(message, QuadratWarning, stacklevel=2)
    if isinstance(run.searched, LearnedSpace):
        for message in run.searched.caveats("pass search_space=qd.Space(...) that says it with when=").values():
            warnings.warn(message, QuadratWarning, stacklevel=2)
    return recommendation_in(run)


def _of_another_type(study: Study, searched: Searched) -> str | None:
    """Return the name and distribution of a parameter in a trial, of another type than in a space that was learned."""
    if not isinstance(searched, LearnedSpace):
        return None
    for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
        for name, one in trial.distributions.items():
            known = searched.distributions.get(name)
            kinds = CategoricalDistribution, FloatDistribution, IntDistribution
            if known is not None and any(isinstance(one, kind) != isinstance(known, kind) for kind in kinds):
                return f"{name!r} as {one}"
    return None


def stated_noise(study: object) -> Method | None:
    """Return the default method as the study states its noise; None where it does not, or states another method."""
    if not isinstance(study, Study):
        return None  # which is refused later
    from quadrat.methods.auto.method import Auto

    stated = getattr(study.sampler, "_method", None) or kept_method(study)
    return stated if isinstance(stated, Auto) and stated.noise is not None else None


def recommendation_in(run: StudyRun) -> Recommendation:
    """Return what a run recommends, in the parameters and trial numbers of its study."""
    found = run.optimizer.recommend()
    best = found.best_seen
    trial = run.trials[best.number]
    why = why_in_study(found.why, best.number, trial.number, run.missing)
    if run.uncertified is not None:
        why = f"Nothing is certified: {run.uncertified}. The best seen is trial {trial.number}."
    if run.outside:
        why += f" Complete trials outside of the search space do not count: {run.outside}."
    if isinstance(run.searched, LearnedSpace):
        for caveat in run.searched.caveats("declare the space (search_space=, --space)").values():
            why += f" {caveat[0].upper()}{caveat[1:]}."
    return replace(
        found,
        params=run.show(found.params),
        certified_interval=None if run.uncertified else found.certified_interval,
        best_seen=replace(best, number=trial.number, params=dict(trial.params)),
        why=why,
    )
