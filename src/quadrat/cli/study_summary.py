"""What is to be said of a study in a few lines: progress, what is recommended and how sure that is, the best seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

from optuna.study import Study
from optuna.trial import FrozenTrial
from rich.table import Table
from rich.text import Text

from quadrat._core.printing import at_most, between
from quadrat.cli.screen import brief, sparkline, visible
from quadrat.cli.study_model import StudyModel
from quadrat.cli.trial_table import shown
from quadrat.optimizer import CertificateReport, LevelSetReport, Recommendation, SafeRegionReport
from quadrat.optimizer.level_sets import Label
from quadrat.optimizer.notebook import best_so_far
from quadrat.optimizer.stated import TOO_FEW, UNVISITED, gain_words
from quadrat.studies.notes import count_pruned
from quadrat.studies.trials import complete_constraints, values_of

__all__ = [
    "best_seen_text",
    "certificate_text",
    "model_json",
    "progress_in",
    "pruned_text",
    "summary_lines",
    "summary_table",
    "value_text",
]

_LABELS = 13  # columns of the longest label with the gap behind it
_NARROWEST, _WIDEST = 8, 48  # characters of a sparkline


def progress_in(study: Study, trials: Iterable[FrozenTrial]) -> list[float]:
    """Return the best value up to each complete trial, by number."""
    told = [(values, complete_constraints(trial)) for trial in trials if (values := values_of(trial))]
    means = ((sum(values) / len(values), _held(named)) for values, named in told)
    return best_so_far(means, study.direction.name.lower())


def pruned_text(study: Study) -> str:
    """Return how many trials were pruned, in a sentence; nothing where none was."""
    pruned, total = count_pruned(study), len(study.get_trials(deepcopy=False))
    if not pruned:
        return ""
    said = "was pruned: it has no result and does" if pruned == 1 else "were pruned: they have no result and do"
    return f"{pruned} of {total} trials {said} not count."


def best_seen_text(study: Study) -> str:
    """Return the best complete trial with all its parameters; nothing where there is none, or several objectives.

    It needs no model. Of trials with constraints, those in which all of them held come first.
    """
    if len(study.directions) != 1:
        return ""
    told = [
        (sum(values) / len(values), _held(complete_constraints(trial)), trial)
        for trial in study.get_trials(deepcopy=False)
        if (values := values_of(trial))
    ]
    if not told:
        return ""
    constrained = any(held is not None for _, held, _ in told)
    sign = -1 if study.directions[0].name == "MAXIMIZE" else 1
    value, _, trial = min(told, key=lambda one: (constrained and not one[1], sign * one[0]))
    return _best_seen(value, trial.number, trial.params)


def summary_lines(
    model: StudyModel | str, progress: Sequence[float], width: int, levels: str, best_seen: str = ""
) -> list[tuple[str, str]]:
    """Return what there is to say, each with its label, for a screen of this width.

    The model is what is believed of the study, or a text that says why nothing is: then `best_seen` is said. `progress`
    has the best value up to each trial, `levels` the characters of a sparkline, from low to high.
    """
    lines = [("progress", _progress(progress, width - _LABELS, levels))] if len(progress) > 1 else []
    if isinstance(model, str):
        return [*lines, ("recommended", f"nothing: {model}"), *([("best seen", best_seen)] if best_seen else [])]
    found = model.recommendation
    best = found.best_seen
    return [
        *lines,
        ("recommended", f"{value_text(found)}  {_settings(found.params)}"),
        *_how_sure(model),
        ("advice", model.advice.text),
        ("best seen", _best_seen(best.value, best.number, best.params)),
        ("", found.why),
        *([] if model.fit_warning is None else [("warning", model.fit_warning)]),
    ]


def summary_table(lines: Iterable[tuple[str, str]]) -> Table:
    """Return lines with their labels, folded to the width of the screen."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in lines:
        table.add_row(Text(label, style="bold"), Text(visible(brief(text))))
    return table


def model_json(model: StudyModel | str) -> dict[str, Any]:
    """Return the same as plain data."""
    if isinstance(model, str):
        return {
            "recommended": None,
            "advice": None,
            "reason": model,
            "certificate": None,
            "level_set": None,
            "cells": None,
            "fit_warning": None,
        }
    return {
        "recommended": model.recommendation.to_dict(),
        "advice": asdict(model.advice),
        "reason": None,
        "certificate": None if model.certificate is None else asdict(model.certificate),
        "level_set": None if model.level_set is None else _level_set_json(model.level_set),
        "cells": None if model.cells is None else [asdict(cell) for cell in model.cells],
        "fit_warning": model.fit_warning,
        **({} if model.safe_region is None else {"safe_region": _safe_region_json(model.safe_region)}),
    }


def _progress(progress: Sequence[float], width: int, levels: str) -> str:
    first, last = shown(progress[0]), shown(progress[-1])
    words = f"{first} to {last} in {len(progress)} trials"
    room = width - len(words) - 2
    drawn, log = sparkline(progress, min(max(room, _NARROWEST), _WIDEST), levels)
    if log:
        words += " (log)"
        drawn, _ = sparkline(progress, min(max(room - len(" (log)"), _NARROWEST), _WIDEST), levels)
    return f"{drawn}  {words}"


def value_text(found: Recommendation) -> str:
    """Return the value at the recommended point with what bounds it, a certified interval before a fitted one."""
    for interval, kind in ((found.certified_interval, "certified"), (found.credible_interval, "90 %")):
        if interval is not None:
            exact = kind != "certified" and found.distribution is not None and found.distribution.is_certain
            ends = between(interval, 4) if kind == "certified" else f"{interval[0]:.4g} to {interval[1]:.4g}"
            bounds = "exactly" if exact else f"{ends}, {kind}"
            return f"{found.value:.6g} ({bounds if found.too_few is None else TOO_FEW + ' how sure that is'})"
    return f"{found.value:.6g}"


def _how_sure(model: StudyModel) -> list[tuple[str, str]]:
    """Return how far from the best the recommended point can be, and what is known of the threshold."""
    found, lines = model.recommendation, []
    if found.gain is not None:
        lines.append(("could gain", gain_text(found)))
    if found.estimated_feasibility is not None:
        lines.append(("constraints", f"met with a chance of {100 * found.estimated_feasibility:.3g} %"))
    if model.certificate is not None:
        lines.append(("certificate", certificate_text(model.certificate)))
    if model.level_set is not None:
        lines.append(("level set", _level_set(model.level_set)))
    if model.safe_region is not None:
        region = model.safe_region
        lines.append(("safe region", region if isinstance(region, str) else region.text))
    return lines


def gain_text(found: Recommendation) -> str:
    """Return what is left to gain, or that nobody can say; nothing without an estimate."""
    if found.gain is None or found.too_few is not None:
        return "" if found.gain is None else TOO_FEW
    return f"{gain_words(found.gain, 3)}{f'; {UNVISITED}' if found.gain.rests_on_unvisited else ''}"


def certificate_text(report: CertificateReport) -> str:
    """Return how far from the optimum the recommended point can be, or why that is not certified."""
    if report.value is None:
        return f"none: {report.reason}"
    return f"within {at_most(report.value, 4)} of the optimum, under the stated assumptions"


def _level_set(report: LevelSetReport) -> str:
    shares = ", ".join(f"{100 * report.volume(label):.3g} % {label}" for label in get_args(Label))
    return f"threshold {report.threshold:g}: {shares}{'' if report.reason is None else f' ({report.reason})'}"


def _level_set_json(report: LevelSetReport) -> dict[str, Any]:
    said = report.to_dict()
    return {name: value for name, value in said.items() if name != "cells"}  # these stand beside it


def _safe_region_json(report: SafeRegionReport | str) -> dict[str, Any]:
    if isinstance(report, str):
        return {"certified": False, "reason": report}
    return {name: value for name, value in report.to_dict().items() if name != "cells"}


def _best_seen(value: float, number: int, params: Mapping[str, Any]) -> str:
    return f"{value:.6g} in trial {number}  {_settings(params)}"


def _settings(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{shown(name)}={shown(value)}" for name, value in params.items())


def _held(constraints: Mapping[str, float]) -> bool | None:
    return all(value <= 0 for value in constraints.values()) if constraints else None
