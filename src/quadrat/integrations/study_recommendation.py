"""What to use, according to a study: recommended parameters with their interval, and what could still be gained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from optuna.distributions import BaseDistribution
from optuna.study import Study

from quadrat.integrations.study_run import StudyRun, run_of
from quadrat.methods.base import Method
from quadrat.optimizer import Recommendation
from quadrat.optimizer.recommendation import why_in_study
from quadrat.space import Space

__all__ = ["recommend", "recommendation_in"]


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
        The distributions of the parameters to recommend, or a `Space`; by default the space that is kept with the
        study, or else the parameters of the complete trials, which must all have the same ones. Where some exist only
        under a condition, or where bounds changed, give a `Space` that says so.
    method
        Whose model it is; None is the default method's.
    seed
        Of the model.

    Returns
    -------
    Recommendation
        In the study's parameters, direction and units.

    Raises
    ------
    InvalidInput
        Several objectives; or no search space, and complete trials that do not all have the same parameters.
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
    return recommendation_in(run_of(study, search_space=search_space, method=method, seed=seed))


def recommendation_in(run: StudyRun) -> Recommendation:
    """Return what a run recommends, in the parameters and trial numbers of its study."""
    found = run.optimizer.recommend()
    best = found.best_seen
    trial = run.trials[best.number]
    why = why_in_study(found.why, best.number, trial.number, run.missing)
    if run.uncertified is not None:
        why = f"Nothing is certified: {run.uncertified}. The best seen is trial {trial.number}."
    return replace(
        found,
        params=run.show(found.params),
        certified_interval=None if run.uncertified else found.certified_interval,
        best_seen=replace(best, number=trial.number, params=dict(trial.params)),
        why=why,
    )
