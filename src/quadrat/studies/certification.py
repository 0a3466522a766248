"""Certify an Optuna study of any sampler: what stated assumptions say of its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec

from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.methods.base import Method
from quadrat.optimizer import Certification, RunAssumptions
from quadrat.optimizer.certification import (
    MAX_CELLS,
    Statements,
    check_assumptions,
    check_missing,
    check_pruned,
    check_stated,
    listed,
    missing_notes,
)
from quadrat.space import Space
from quadrat.studies.notes import count_pruned, kept_space
from quadrat.studies.recommendation import StudyRun, run_of, stated_noise

__all__ = ["certify"]

P = ParamSpec("P")
_NOTHING = object()
_MOST_NAMED = 5  # numbers of trials that are listed


def _no_bands(function: Callable[P, Certification]) -> Callable[P, Certification]:
    """Let a function say of a band where the function is that took one under its name in version 0.1."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> Certification:
        first = [*args, *(kwargs[name] for name in ("band", "study") if name in kwargs)][:1]
        if first and hasattr(first[0], "interval") and hasattr(first[0], "assumptions"):
            raise InvalidInput(
                f"study: expected a study of Optuna's, got {type(first[0]).__name__}; a band is certified by"
                " quadrat.confidence.certify(band, dimension=...), which was here in version 0.1"
            )
        return function(*args, **kwargs)

    return checked


@_no_bands
def certify(
    study: Study,
    assumptions: RunAssumptions,
    *,
    params: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    stated_before_data: bool = False,
    every_value_counts: bool = False,
    failures_ignore_noise: bool = False,
    search_space: Mapping[str, BaseDistribution] | Space | None = None,
    method: str | Method | None = None,
    seed: int = 0,
    max_cells: int = MAX_CELLS,
) -> Certification:
    """Return what stated assumptions certify of a study, whatever sampler it had.

    Parameters
    ----------
    study
        With one objective, and no pruned trials.
    assumptions
        Kernel, norm bound, noise, offset and delta, in the units of the study.
    params
        A further setting to certify, or a list of them, in the study's parameters.
    stated_before_data, every_value_counts, failures_ignore_noise
        What you say of the study, because its trials cannot show it: as of `Optimizer.certify`. The last is asked for
        where trials failed or still run.
    search_space, method, seed
        As of `recommend`: what is certified first is what that recommends. Bounds that changed between trials are
        refused without a search space, because coordinates must be fixed without the results.
    max_cells
        Effort: more make certificates narrower and take longer. They hold with any.

    Returns
    -------
    Certification
        In the study's parameters, direction and units.

    Raises
    ------
    InvalidInput
        A statement that is lacking; assumptions or settings that do not belong to the study.
    NotAvailable
        A study that cannot be certified: the sentence says why, and what to do.

    Examples
    --------
    >>> import optuna
    >>> import quadrat as qd
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", -1, 1) - 0.3) ** 2, n_trials=30)
    >>> stated = qd.RunAssumptions(
    ...     kernel=qd.Matern(2.5), lengthscales={"x": 1.0}, norm_bound=4.0, offset=0.0, noise=0.01
    ... )
    >>> found = certify(study, stated, stated_before_data=True, every_value_counts=True)
    >>> abs(found.recommended.params["x"] - 0.3) < 0.1, found.recommended.remaining_regret < 0.2
    (True, True)
    """
    check_assumptions(assumptions)
    run = run_of(study, search_space=search_space, method=method or stated_noise(study), seed=seed)
    check_pruned(count_pruned(study))
    said = Statements(stated_before_data, every_value_counts, failures_ignore_noise)
    check_stated(said)
    trials = study.get_trials(deepcopy=False)
    running = sum(trial.state is TrialState.RUNNING for trial in trials)
    failed = sum(trial.state is TrialState.FAIL for trial in trials)
    check_missing(said, failed=failed, unfinished=running)
    _check_whole(run)
    if search_space is None and kept_space(study) is None:
        _check_alike([trial for trial in trials if trial.state is TrialState.COMPLETE])
        _check_bounds(trials, run)
    found = run.optimizer.certify(
        assumptions,
        params=[_read(run, setting) for setting in listed(params)],
        stated_before_data=stated_before_data,
        every_value_counts=every_value_counts,
        failures_ignore_noise=failures_ignore_noise,
        max_cells=max_cells,
    )
    in_run = sum(record.state == "failed" for record in run.optimizer.trials)  # infinite values are failures there
    failed += in_run - sum(trial.state is TrialState.FAIL for trial in run.trials)
    others = [note for note in found.notes if note not in missing_notes(in_run, 0)]
    return replace(found.shown(run.show), notes=(*missing_notes(failed, running), *others, *_notes(trials, run)))


def _read(run: StudyRun, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of the study as those of the run."""
    names, constant = run.searched.distributions, _constant(_complete(run))
    there = set(names) <= set(params)  # a learned space would take the middle of what is not there
    known = all(name in names or constant.get(name, _NOTHING) == value for name, value in params.items())
    inside = run.searched.read(params) if there and known else None
    if inside is None:
        raise InvalidInput(f"params: expected a setting of {', '.join(names)} within their bounds, got {params!r:.120}")
    return inside


def _complete(run: StudyRun) -> list[FrozenTrial]:
    """Return the trials that count: complete, and in the search space."""
    return [trial for trial in run.trials if trial.state is TrialState.COMPLETE]


def _constant(trials: Sequence[FrozenTrial]) -> dict[str, Any]:
    """Return the parameters that all trials have, with one and the same value."""
    first = trials[0].params
    return {
        name: value
        for name, value in first.items()
        if all(trial.params.get(name, _NOTHING) == value for trial in trials)
    }


def _check_whole(run: StudyRun) -> None:
    """Refuse a search space that lacks parameters which vary: what is left is no function of its parameters."""
    trials = _complete(run)
    constant = _constant(trials)
    there = {name for trial in trials for name in trial.params}
    vary = sorted(name for name in {*run.missing, *run.alone} & there if name not in constant)
    if vary:
        raise NotAvailable(
            f"certify: expected a search space with all parameters that vary, got one without {', '.join(vary)}: the"
            " objective is no function of the others alone; pass a search_space= that has them"
        )
    for name, value in run.alone.items():
        if name in there and constant[name] != value:
            raise NotAvailable(
                f"certify: expected trials with {name}={value!r}, the only value in the search space, got trials with"
                f" {name}={constant[name]!r}; pass a search_space= with that value"
            )


def _check_alike(complete: Sequence[FrozenTrial]) -> None:
    """Refuse trials of which some lack a parameter: they are results of another function, of fewer parameters."""
    for name in sorted({name for trial in complete for name in trial.params}):
        lacking = sum(name not in trial.params for trial in complete)
        if lacking:
            raise NotAvailable(
                f"certify: expected the same parameters in all complete trials, got {lacking} of {len(complete)}"
                f" without {name!r}: with and without it the objective is not one function; certify a study in which"
                " every trial has it, or pass a search_space= that has it, and the trials without it do not count"
            )


def _check_bounds(trials: Sequence[FrozenTrial], run: StudyRun) -> None:
    """Refuse parameters whose bounds changed from trial to trial: then nobody knows what fixed the coordinates."""
    for name in run.searched.distributions:
        seen = {repr(trial.distributions[name]) for trial in trials if name in trial.distributions}
        if len(seen) > 1:
            raise NotAvailable(
                f"certify: expected bounds that are the same in all trials, got {len(seen)} for {name!r}: length-scales"
                " are of a range that was fixed without the results; pass search_space= with the bounds that you mean"
            )


def _notes(trials: Sequence[FrozenTrial], run: StudyRun) -> list[str]:
    """Return what the study shows of trials that are not among those that count."""
    notes = []
    numbers = {trial.number for trial in trials}
    gone = sorted(set(range(max(numbers, default=-1) + 1)) - numbers)
    if gone:
        listed = ", ".join(map(str, gone[:_MOST_NAMED])) + (", ..." if len(gone) > _MOST_NAMED else "")
        notes.append(f"trials {listed} are missing from the study; stated not to have been removed for their values")
    added = sum(
        trial.datetime_start is not None and trial.datetime_start == trial.datetime_complete for trial in trials
    )
    if added:
        notes.append(f"trials that were added with their values: {added}; stated to be all, and as measured")
    complete = [trial for trial in trials if trial.state is TrialState.COMPLETE]
    for name in sorted(run.searched.distributions):
        lacking = sum(name not in trial.params for trial in complete)
        if lacking:
            notes.append(
                f"trials without the parameter {name!r} of the search space, which do not count: {lacking} of"
                f" {len(complete)}; stated that no trial went without it because of its own value"
            )
    if run.outside:
        notes.append(
            f"trials outside of the search space, which do not count: {run.outside} of {len(complete)}, by their"
            " parameters and not by their values; stated that the search space was fixed without the results"
        )
    return notes
