"""The first screen of a report: what to use, how good it is, what could be gained, and what to do next."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from html import escape

from quadrat._core.printing import at_least, at_most, between
from quadrat.errors import NotAvailable
from quadrat.optimizer import CertificateReport, Recommendation
from quadrat.optimizer.advice import advise, situation_of
from quadrat.optimizer.stated import AS_SURE, TOO_FEW, UNVISITED, gain_words
from quadrat.optimizer.trial import number_text
from quadrat.plots.run_view import RunView
from quadrat.report.source import STATES, ReportSource

__all__ = ["Findings", "Judgement", "findings_of", "interval_strip"]


_MARGIN = 5.0  # per cent at each side
_TOP, _HEIGHT, _MIDDLE = 9, 16, 17  # pixels


def interval_strip(interval: tuple[float, float], value: float, seen: float, kind: str) -> str:
    """Return a drawing of the interval of the recommended value with its key as HTML; "" where an end is not finite.

    `seen` is the best value seen, noise included, and `kind` the name of the interval.
    """
    low, high = min(interval[0], seen, value), max(interval[1], seen, value)
    if not math.isfinite(low) or not math.isfinite(high - low) or high <= low:
        return ""

    def at(x: float) -> float:
        return _MARGIN + (100 - 2 * _MARGIN) * (x - low) / (high - low)

    said = f"{kind} interval from {_ends(interval, kind)}, estimate {number_text(value)}, best seen {number_text(seen)}"
    left, right = at(interval[0]), at(interval[1])
    fill = "var(--certified)" if kind == "certified" else "var(--band)"
    opacity = ' fill-opacity="0.45"' if kind == "certified" else ""
    return (
        f'<svg class="strip" role="img" aria-label="{escape(said)}">'
        f'<line x1="0" x2="100%" y1="{_MIDDLE}" y2="{_MIDDLE}" stroke="var(--line)"/>'
        f'<rect x="{left:.2f}%" width="{max(right - left, 0.5):.2f}%" y="{_TOP}" height="{_HEIGHT}" rx="4"'
        f' fill="{fill}"{opacity}/>'
        f'<line x1="{at(value):.2f}%" x2="{at(value):.2f}%" y1="{_TOP - 4}" y2="{_TOP + _HEIGHT + 4}"'
        ' stroke="var(--accent)" stroke-width="3"/>'
        f'<circle cx="{at(seen):.2f}%" cy="{_MIDDLE}" r="5" fill="var(--seen)"/></svg>'
        f'<ul class="key" aria-hidden="true"><li class="k-{"certified" if kind == "certified" else "band"}">'
        f'{escape(kind)}</li><li class="k-value">estimate</li><li class="k-seen">best seen</li></ul>'
    )


_WORDS = {"pruned": "pruned (no result)"}


@dataclass(frozen=True)
class Judgement:
    """A number, or words where there is none, and its meaning in one or two sentences."""

    figure: str
    said: str


@dataclass(frozen=True)
class Findings:
    """The results of a run that a report begins with, in the user's parameters and units."""

    title: str  # the name of the study, or direction and method
    subtitle: str  # the numbers of trials
    recommendation: Recommendation
    certificate: CertificateReport
    interval: tuple[float, float] | None  # of the recommended value
    kind: str  # of the interval: "90 % credible", "certified", or "" without one
    value: Judgement  # of the recommended point
    remaining: Judgement  # gain
    best: Judgement  # seen
    next_step: str
    warning: str | None  # that the model fits badly


def findings_of(told: ReportSource) -> Findings:
    """Return the results of a run; one without a complete trial is refused."""
    view = told.view
    found = view.recommendation
    if found is None:
        raise NotAvailable("report: expected at least one complete trial, got none; tell a value first")
    certificate = view.certificate
    interval, kind = found.certified_interval, "certified"
    if interval is None:
        interval, kind = found.credible_interval, "90 % credible" if found.credible_interval else ""
    delta = getattr(view.optimizer.method, "delta", None)
    failures = tuple(row.note for row in told.rows if row.state == "failed")
    return Findings(
        title=view.title or f"{view.direction.capitalize()} with {view.method}",
        subtitle=_subtitle(told),
        recommendation=found,
        certificate=certificate,
        interval=interval,
        kind=kind,
        value=_value(found, interval, kind, delta if isinstance(delta, float) else None),
        remaining=_remaining(view, found, certificate),
        best=Judgement(number_text(found.best_seen.value), found.why),
        next_step=advise(
            replace(
                situation_of(view.optimizer, found, certificate),
                ended=len(told.rows) - told.count("running") - told.count("waiting"),
                failures=failures,
                running=told.count("running"),
                why_ended=told.ended,
                trial=next((one.number for one in view.records if one.values and one.params == found.params), None),
            )
        ).text,
        warning=view.fit_warning,
    )


def _subtitle(told: ReportSource) -> str:
    counts = ", ".join(f"{count:,} {_WORDS.get(state, state)}" for state in STATES if (count := told.count(state)))
    total = len(told.rows)
    by = f" with {told.method.partition('(')[0]}" if told.method else ""
    searched = f"{told.view.direction}{by} · " if told.view.title else ""  # else the title says it
    return f"{searched}{total:,} {'trial' if total == 1 else 'trials'}: {counts}"


def _ends(interval: tuple[float, float], kind: str) -> str:
    """Return the ends of an interval; those of a certified one are rounded outwards."""
    return between(interval) if kind == "certified" else f"{number_text(interval[0])} to {number_text(interval[1])}"


def _value(found: Recommendation, interval: tuple[float, float] | None, kind: str, delta: float | None) -> Judgement:
    text = number_text(found.value)
    if interval is None:
        return Judgement(text, "The mean of what was measured there. The method has no model, so there is no interval.")
    ends = _ends(interval, kind)
    if kind == "certified":
        sure = "" if delta is None else f" with probability {100 * (1 - delta):.4g} %"
        said = f"Certified: {ends}. Holds{sure} if the stated assumptions do."
    else:
        said = f"{kind}: {ends}. {AS_SURE.capitalize()}, which was fitted to the trials."
        if found.too_few is not None:
            said = f"{TOO_FEW.capitalize()} how sure that is: {found.too_few}."
    if found.estimated_feasibility is not None:
        said += f" Meets all constraints with a chance of {100 * found.estimated_feasibility:.3g} % (fitted)."
    return Judgement(text, said)


def _remaining(view: RunView, found: Recommendation, certificate: CertificateReport) -> Judgement:
    if certificate.value is not None:
        best = ""
        if certificate.best_possible is not None:
            side, way = ("above", at_most) if view.maximizes else ("below", at_least)
            best = f" No setting is {side} {way(certificate.best_possible)}."
        most = at_most(certificate.value)
        said = f"Certified: within {most} of the optimum, under the stated assumptions.{best}"
        return Judgement(f"≤ {most}", said)
    if certificate.rejected is not None:
        return Judgement("not certified", f"The data contradict the stated assumptions: {certificate.rejected}.")
    if found.gain is not None and found.too_few is not None:
        return Judgement("not known", f"{TOO_FEW.capitalize()}: {found.too_few}.")
    if found.gain is not None:
        rests = f" The upper value {UNVISITED}." if found.gain.rests_on_unvisited else ""
        spoiled = "" if view.uncertified is None else f" ({view.uncertified})"
        said = f"Estimated gain: {gain_words(found.gain, 6)}.{rests} {AS_SURE.capitalize()}, not certified{spoiled}."
        return Judgement(number_text(found.gain.mean), said)
    why = (certificate.reason or "The method has no model").rstrip(".")
    return Judgement("not known", f"{why[:1].upper()}{why[1:]}.")
