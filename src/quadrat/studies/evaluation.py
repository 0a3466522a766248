"""What a worker does with a trial: it finds the objective and calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial

from quadrat.loop.process_workers import objective_begins
from quadrat.studies.objective import ObjectiveReference
from quadrat.studies.sampler import QuadratSampler, chosen_params
from quadrat.studies.storage import open_storage

__all__ = ["TRIAL_ID", "DefineByRun", "WithParams", "run_trial"]

TRIAL_ID = "quadrat:trial"
"""What an objective that defines its space as it runs is called with: the identity of a trial in its storage."""


@dataclass(frozen=True)
class WithParams:
    """Calls an objective of parameters: `objective(params)`."""

    says_when_it_begins: ClassVar[bool] = True

    reference: ObjectiveReference

    def __call__(self, params: Mapping[str, Any]) -> object:
        objective = self.reference.load()
        objective_begins()
        return objective(dict(params))


@dataclass(frozen=True)
class DefineByRun:
    """Calls an objective of Optuna's kind, `objective(trial)`, in a process that can open the storage.

    What the coordinator chose is read from the trial, so no worker needs a model; parameters that the coordinator could
    not know of are sampled alone, as by a `QuadratSampler` with the seed of the study's.
    """

    says_when_it_begins: ClassVar[bool] = True

    reference: ObjectiveReference
    storage: str
    study: str
    seed: int

    def __call__(self, given: Mapping[str, Any]) -> object:
        study = _study(self.storage, self.study, self.seed)
        study.get_trials(deepcopy=False)  # Optuna's cache of a database writes only to trials that it has seen
        return run_trial(self.reference, study, given)


def run_trial(reference: ObjectiveReference, study: Study, given: Mapping[str, Any]) -> object:
    """Call an objective with a trial of a study."""
    objective, trial = reference.load(), Trial(study, given[TRIAL_ID])
    objective_begins()
    return objective(trial)


@lru_cache(maxsize=4)
def _study(storage: str, name: str, seed: int) -> Study:
    """Open a study once in a process."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.load_study(study_name=name, storage=open_storage(storage), sampler=_Chosen(seed))


class _Chosen(BaseSampler):
    """Suggests what was chosen for a trial by whoever began it."""

    def __init__(self, seed: int) -> None:
        self._alone = QuadratSampler(seed=seed)

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:  # noqa: ARG002
        return {}

    def sample_relative(
        self,
        study: Study,  # noqa: ARG002
        trial: FrozenTrial,  # noqa: ARG002
        search_space: dict[str, BaseDistribution],  # noqa: ARG002
    ) -> dict[str, Any]:
        return {}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        chosen = chosen_params(trial, {param_name: param_distribution})
        if param_name in chosen:
            return chosen[param_name]
        return self._alone.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: optuna.trial.TrialState, values: Sequence[float] | None
    ) -> None:
        """Nothing: the coordinator ends trials."""
