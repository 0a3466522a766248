"""What a method makes of a study, whoever chose its trials: what it recommends, certifies, and which cells it has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from optuna.study import Study
from optuna.trial import TrialState

from quadrat.cli.cell_table import CellRow, cell_rows
from quadrat.errors import NotAvailable
from quadrat.methods.base import Method
from quadrat.optimizer import (
    Advice,
    CertificateReport,
    LevelSetReport,
    Optimizer,
    Recommendation,
    SafeRegionReport,
)
from quadrat.optimizer.advice import advise, situation_of
from quadrat.optimizer.method_choice import keeps_limits
from quadrat.studies.distributions import Searched
from quadrat.studies.recommendation import StudyRun, recommendation_in, run_of
from quadrat.studies.trials import values_of

__all__ = ["StudyModel", "model_of"]


@dataclass(frozen=True)
class StudyModel:
    """What is said of a study: what to use, with trial numbers of the study, and what the method has beside it.

    The advice says what to do next. A certificate is there for methods that certify, a level set for those with a
    threshold, a safe region, or why there is none, for those that keep limits. The cells come with the most promising
    first; `n_cells` says how many the method has. `fit_warning` says that the model fits badly; None where nothing says
    so.
    """

    recommendation: Recommendation
    advice: Advice
    certificate: CertificateReport | None = None
    level_set: LevelSetReport | None = None
    cells: tuple[CellRow, ...] | None = None
    n_cells: int = 0
    fit_warning: str | None = None
    safe_region: SafeRegionReport | str | None = None

    @property
    def bounded(self) -> bool:
        """Whether the cells' bounds bound the objective, and are not just an index by which cells are chosen."""
        if self.level_set is not None:
            return self.level_set.reason is None
        return self.certificate is not None and self.certificate.value is not None


def model_of(study: Study, method: Method | None, *, most_cells: int | None = None) -> StudyModel:
    """Return what a method makes of a study; None is the default method, whose model needs nothing stated.

    Bounds and certificates hold whoever chose the trials, as long as each was chosen before its noise and none was
    pruned. At most `most_cells` cells are returned; None is all, and with 0 none are looked for.
    """
    run = run_of(study, method=method)
    optimizer = run.optimizer
    found = recommendation_in(run)
    advice = _advice(study, run, found)
    if method is None:
        return StudyModel(found, advice, fit_warning=_fit_warning(run))
    classifies = "level sets" in method.facts.handles
    certificate = run.certificate() if method.facts.certifies and not classifies and not keeps_limits(method) else None
    level_set = _level_set(optimizer) if classifies else None
    cells = _cells(optimizer, run.searched, most_cells)
    region = _safe_region(optimizer) if keeps_limits(method) else None
    model = StudyModel(found, advice, certificate, level_set, *cells, _fit_warning(run), region)
    return model if run.uncertified is None else _uncertified(model, run.uncertified)


def _advice(study: Study, run: StudyRun, found: Recommendation) -> Advice:
    """Return what to do next, in the trial numbers of the study."""
    certificate = run.certificate() if run.uncertified is None else CertificateReport(None, run.uncertified)
    now = situation_of(run.optimizer, found, certificate)
    running = len(study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)))
    at = (trial.number for trial in run.trials if trial.params == found.params and values_of(trial))
    return advise(replace(now, running=running, trial=next(at, None)))


def _fit_warning(run: StudyRun) -> str | None:
    try:
        return run.optimizer.leave_one_out().renumbered([trial.number for trial in run.trials]).warning
    except NotAvailable:  # a method without a model, or too many trials for one
        return None


def _uncertified(model: StudyModel, reason: str) -> StudyModel:
    """Return what is left where nothing is certified, and why."""
    return replace(
        model,
        certificate=None if model.certificate is None else CertificateReport(None, reason),
        level_set=None if model.level_set is None else replace(model.level_set, reason=reason),
        safe_region=None if model.safe_region is None else f"nothing is certified: {reason}",
    )


def _level_set(optimizer: Optimizer) -> LevelSetReport | None:
    try:
        return optimizer.level_set()
    except NotAvailable:  # such as a space whose parameters are no ranges
        return None


def _safe_region(optimizer: Optimizer) -> SafeRegionReport | str:
    try:
        return optimizer.safe_region()
    except NotAvailable as why:  # such as a fitted model in the place of assumptions
        return str(why).removeprefix("safe_region: ")


def _cells(optimizer: Optimizer, searched: Searched, most: int | None) -> tuple[tuple[CellRow, ...] | None, int]:
    """Return the first cells, and how many there are."""
    if most == 0 or not _explained(optimizer):
        return None, 0
    optimizer.ask()  # cells are divided when somebody asks: now they are those that the next trial is chosen from
    cells = _explained(optimizer)
    turned = optimizer.direction == "minimize"
    return cell_rows(cells, searched, turned=turned, most=most), len(cells)


def _explained(optimizer: Optimizer) -> list[Mapping[str, Any]]:
    search = optimizer.explain()["search"]
    cells = search.get("cells") if isinstance(search, dict) else None
    return cells if isinstance(cells, list) else []
