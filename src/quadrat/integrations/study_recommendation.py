"""What to use, according to a study: recommended parameters with their interval, and what could still be gained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.search_space import intersection_search_space
from optuna.study import Study
from optuna.trial import FrozenTrial

from quadrat.errors import InvalidInput, NotAvailable
from quadrat.integrations.distributions import DistributionSpace, OwnSpace, Searched, parameter_of
from quadrat.integrations.study_search import complete_constraints, finished, standard_error_of, values_of
from quadrat.integrations.study_space import kept_space
from quadrat.methods.base import Method
from quadrat.optimizer import FAILED, Optimizer, Recommendation
from quadrat.optimizer.outcome import Outcome
from quadrat.space import Space

__all__ = ["recommend"]


def recommend(
    study: Study,
    *,
    search_space: Mapping[str, BaseDistribution] | Space | None = None,
    method: str | Method | None = None,
    seed: int = 0,
) -> Recommendation:
    """Return the parameters to use, with an interval for their value, whatever sampler the study had.

    Optuna's best trial is the luckiest of noisy ones. This is the one that a model of all of them believes to be best.

    Parameters
    ----------
    study
        With one objective.
    search_space
        The distributions of the parameters to recommend, or a `Space`; by default the space that is kept with the
        study, or else the distributions that all finished trials share.
    method
        Whose model it is; None is the default method's.
    seed
        Of the model.

    Raises
    ------
    InvalidInput
        Several objectives, or no parameter that all trials share.
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
    if len(study.directions) != 1:
        raise InvalidInput(f"study: expected one objective, got {len(study.directions)}")
    trials = finished(study.get_trials(deepcopy=False))
    if not any(values_of(trial) for trial in trials):
        raise NotAvailable(f"recommend: expected at least one complete trial, got {len(trials)} that finished without")
    searched, alone = _searched(trials, kept_space(study) if search_space is None else search_space)
    used = [(trial, params) for trial in trials if (params := searched.read(trial.params)) is not None]
    if not any(values_of(trial) for trial, _ in used):
        raise NotAvailable("recommend: expected a complete trial in the search space, got none")
    optimizer = Optimizer(searched.space, direction=study.direction.name.lower(), method=method, seed=seed)
    optimizer.add_trials(
        [params for _, params in used],
        [_outcome(trial) for trial, _ in used],
        constraints=[complete_constraints(trial) or None for trial, _ in used],
    )
    found = optimizer.recommend()
    best = found.best_seen
    trial = used[best.number][0]
    return replace(
        found,
        params={**searched.show(found.params), **alone},
        best_seen=replace(best, number=trial.number, params=dict(trial.params)),
        why=found.why.replace(f"rial {best.number}", f"rial {trial.number}", 1),  # it names the best seen, if any
    )


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
    return values if sem is None else (sum(values) / len(values), sem)


def _only_value(distribution: BaseDistribution) -> Any:
    """Return the value of a distribution that has no other."""
    return distribution.choices[0] if isinstance(distribution, CategoricalDistribution) else distribution.low  # type: ignore[attr-defined]
