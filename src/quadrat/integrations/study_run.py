"""An Optuna study as one of our runs: the optimizer that has been told all of it, and the study's own trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.search_space import intersection_search_space
from optuna.study import Study
from optuna.trial import FrozenTrial

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.integrations.distributions import DistributionSpace, OwnSpace, Searched, parameter_of
from quadrat.integrations.finish_order import FinishOrder
from quadrat.integrations.study_search import complete_constraints, standard_error_of, values_of
from quadrat.integrations.study_space import kept_space
from quadrat.methods.base import Method
from quadrat.optimizer import FAILED, Estimate, Optimizer, Outcome
from quadrat.space import Space

__all__ = ["StudyRun", "run_of"]


@dataclass(frozen=True)
class StudyRun:
    """A study and the same as a run.

    Attributes
    ----------
    optimizer
        Told all finished trials that are in the search space, in the order of finishing: its trial i is `trials[i]`.
    searched
        From the study's parameters to the optimizer's and back.
    trials
        Those trials, as the study has them.
    alone
        The parameters that have one value, which are not searched.
    """

    optimizer: Optimizer
    searched: Searched
    trials: tuple[FrozenTrial, ...]
    alone: dict[str, Any]

    def show(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the optimizer's parameters as those of the study."""
        return {**self.searched.show(params), **self.alone}


def run_of(
    study: Study,
    *,
    search_space: Mapping[str, BaseDistribution] | Space | None = None,
    method: str | Method | None = None,
    seed: int = 0,
) -> StudyRun:
    """Return a study as a run; the arguments are those of `quadrat.integrations.recommend`.

    Raises
    ------
    InvalidInput
        Several objectives, or no parameter that all trials share.
    NotAvailable
        No trial in the search space is complete.

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
    if len(study.directions) != 1:
        raise InvalidInput(f"study: expected one objective, got {len(study.directions)}")
    over = FinishOrder().sort(study.get_trials(deepcopy=False))
    if not any(values_of(trial) for trial in over):
        waiting = len(study.get_trials(deepcopy=False)) - len(over)
        raise NotAvailable(
            f"study: expected at least one complete trial, got {len(over)} that ended without a value and {waiting}"
            " that have not ended; tell a result first"
        )
    searched, alone = _searched(over, kept_space(study) if search_space is None else search_space)
    used = [(trial, params) for trial in over if (params := searched.read(trial.params)) is not None]
    if not any(values_of(trial) for trial, _ in used):
        raise NotAvailable("study: expected a complete trial in the search space, got none")
    optimizer = Optimizer(searched.space, direction=study.direction.name.lower(), method=method, seed=seed)
    optimizer.add_trials(
        [params for _, params in used],
        [_outcome(trial) for trial, _ in used],
        constraints=[complete_constraints(trial) or None for trial, _ in used],
    )
    return StudyRun(optimizer, searched, tuple(trial for trial, _ in used), alone)


def _searched(
    trials: Sequence[FrozenTrial], given: Mapping[str, BaseDistribution] | Space | None
) -> tuple[Searched, dict[str, Any]]:
    """Return what was searched, and the parameters that have one value."""
    if isinstance(given, Space):
        return OwnSpace(given), {}
    shared = intersection_search_space(list(trials), include_pruned=True) if given is None else given
    known = {name: one for name, one in shared.items() if not one.single() and parameter_of(one) is not None}
    if not known:
        raise InvalidInput("study: expected parameters that all finished trials share, got none; pass search_space=")
    return DistributionSpace(known), {name: _only_value(one) for name, one in shared.items() if one.single()}


def _outcome(trial: FrozenTrial) -> Outcome:
    values, sem = values_of(trial), standard_error_of(trial)
    if values is None:
        return FAILED
    return values if sem is None else Estimate(sum(values) / len(values), sem)


def _only_value(distribution: BaseDistribution) -> Any:
    """Return the value of a distribution that has no other."""
    return distribution.choices[0] if isinstance(distribution, CategoricalDistribution) else distribution.low  # type: ignore[attr-defined]
