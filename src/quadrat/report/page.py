"""The report: one HTML page with everything in it, which asks nothing of any network.

Users' words are escaped wherever they stand: as HTML in the page, and as JSON without angle brackets in the data of
its scripts, which put them into the page as text. A policy in the page lets no other script run and nothing be loaded.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from html import escape
from importlib import import_module
from importlib.resources import files
from typing import Any

from quadrat.optimizer.trial import number_text
from quadrat.plots.run_view import Source
from quadrat.plots.style import graph_objects
from quadrat.report.figures import ReportFigure, figures_of
from quadrat.report.findings import Findings, Judgement, findings_of, interval_strip
from quadrat.report.source import STATES, ReportSource, commands_of, report_source, settings_of, space_json
from quadrat.report.trial_columns import TrialTable, trial_table

__all__ = ["report_html"]

_FIGURE_BYTES = 160_000  # of each figure
_TRIALS_BYTES = 1_400_000  # of all trials
_LONGEST_WORD = 18  # characters of a name or value that are never broken


def report_html(source: Source, *, where: str | None = None) -> str:
    """Return a report of a run as one HTML page, which needs no network.

    Parameters
    ----------
    source
        An optimizer, the result of `maximize` or `minimize`, an Optuna study, or a `RunView` of one.
    where
        Options by which `quadrat` finds the study, such as "--study bowl": the report ends with commands to go on.

    Returns
    -------
    str
        The page; write it to a file and open that.

    Examples
    --------
    >>> import quadrat as qd
    >>> space = qd.Space(x=qd.Float(-1, 1))
    >>> run = qd.minimize(lambda p: p["x"] ** 2, space, n_trials=5, method="RandomSearch")
    >>> page = report_html(run)
    >>> page.startswith("<!doctype html>"), "RandomSearch" in page
    (True, True)
    """
    graph_objects()  # without plotly there is no report
    told = report_source(source, where)
    found = findings_of(told)
    figures = figures_of(told.view, _FIGURE_BYTES)
    trials = trial_table(told.rows, _TRIALS_BYTES)
    return _page(
        f"{found.title}: report",
        main=f"{_first_screen(found)}{_figures(figures)}{_trials(trials)}{_again(told)}",
        data={
            "trials-data": _trials_data(trials, found),
            **{f"data-{figure.name}": figure.drawn.json for figure in figures},
        },
        scripts=(import_module("plotly.offline").get_plotlyjs(), _part("page.js")),
    )


def _page(title: str, *, main: str, data: Mapping[str, str], scripts: Iterable[str]) -> str:
    style = _part("page.css")
    inline = [_closed(script) for script in scripts]
    # unsafe-eval: plotly compiles the shaders of parallel coordinates as it draws them.
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in inline)
    policy = (
        f"default-src 'none'; script-src 'unsafe-eval' {allowed}; style-src 'unsafe-inline'; img-src data: blob:;"
        " base-uri 'none'; form-action 'none'"
    )
    stored = "".join(
        f'<script type="application/json" id="{name}">{_harmless(text)}</script>\n' for name, text in data.items()
    )
    run = "".join(f"<script>{script}</script>\n" for script in inline)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#main">Skip to the result</a>\n{main}\n{stored}{run}</body>\n</html>\n'
    )


def _first_screen(found: Findings) -> str:
    low_high = found.interval
    seen = found.recommendation.best_seen.value
    strip = "" if low_high is None else interval_strip(low_high, found.recommendation.value, seen, found.kind)
    return (
        f'<header class="wide"><h1>{escape(found.title)}</h1><p class="about">{escape(found.subtitle)}</p></header>\n'
        '<main id="main" class="wide" tabindex="-1">\n'
        f'<section class="next" aria-labelledby="h-next"><h2 id="h-next">What to do next</h2>'
        f"<p>{escape(found.next_step)}</p></section>\n"
        f"{_warning(found.warning)}"
        '<div class="first">\n'
        f"{_use(found)}"
        f"{_judgement('value', 'How good it is', found.value, strip)}"
        f"{_judgement('remaining', 'What could still be gained', found.remaining)}"
        f"{_judgement('best', 'The best seen', found.best)}"
        "</div>\n"
    )


def _warning(said: str | None) -> str:
    if said is None:
        return ""
    return (
        '<section class="next warned" aria-labelledby="h-warned"><h2 id="h-warned">Before you rely on the model</h2>'
        f"<p>{escape(said)}</p></section>\n"
    )


def _use(found: Findings) -> str:
    best, params = found.recommendation.best_seen, found.recommendation.params
    rows = "".join(
        f'<tr><th scope="row">{_breakable(str(name))}</th><td class="new">{_value(params, name)}</td>'
        f'<td class="old">{_value(best.params, name)}</td></tr>'
        for name in {**params, **best.params}
    )
    text = json.dumps(params, indent=2, ensure_ascii=False, default=str)
    return (
        '<section class="card use" aria-labelledby="h-use"><h2 id="h-use">What to use</h2>'
        '<div class="scroll settings" tabindex="0" role="region" aria-labelledby="h-use"><table id="recommended">'
        '<thead><tr><th scope="col">parameter</th><th scope="col">recommended</th>'
        f'<th scope="col">best seen (trial {best.number})</th></tr></thead><tbody>{rows}</tbody></table></div>'
        '<div class="actions"><button type="button" class="button main" data-copy="recommended-json">Copy as JSON'
        '</button><span role="status"></span></div>'
        f'<details><summary>JSON, with all digits</summary><pre id="recommended-json" tabindex="0">{escape(text)}</pre>'
        "</details></section>\n"
    )


def _judgement(name: str, heading: str, judged: Judgement, strip: str = "") -> str:
    return (
        f'<section class="card {name}" aria-labelledby="h-{name}"><h2 id="h-{name}">{escape(heading)}</h2>'
        f'<p class="big" id="{name}">{escape(judged.figure)}</p>{strip}'
        f'<p class="said">{escape(judged.said)}</p></section>\n'
    )


def _figures(figures: Iterable[ReportFigure]) -> str:
    return '<h2 id="figures">Figures</h2>\n<div class="figures">\n' + "".join(map(_figure, figures)) + "</div>\n"


def _figure(figure: ReportFigure) -> str:
    height = int(json.loads(figure.drawn.json)["layout"].get("height", 450))
    width = f"min-width:{figure.width}px;" if figure.width else ""
    scroll = f' tabindex="0" role="region" aria-label="{escape(figure.title)}"' if figure.width else ""
    return (
        f'<figure class="card" id="figure-{figure.name}"><figcaption><h3>{escape(figure.title)}</h3>'
        f"<p>{escape(figure.caption)}</p></figcaption>"
        f'<div class="scroll"{scroll}><div class="plot" role="img" data-figure="data-{figure.name}"'
        f' style="{width}height:{height}px" aria-label="{escape(f"{figure.title}. {figure.caption}")}"></div></div>'
        "</figure>\n"
    )


def _trials(trials: TrialTable) -> str:
    heads = "".join(
        f'<th scope="col"{" class=number" if column.is_number else ""}>'
        f'<button type="button">{escape(column.name)}</button></th>'
        for column in trials.columns
    )
    there = {cell for cell in trials.columns[1].cells if isinstance(cell, str)}
    options = "".join(f'<option value="{state}">{state}</option>' for state in STATES if state in there)
    left = "" if trials.shown == trials.total else f"<p>The last {trials.shown:,} of {trials.total:,} trials.</p>"
    return (
        '<section aria-labelledby="h-trials"><h2 id="h-trials">Trials</h2><div class="card">'
        f'{left}<div class="trials-bar">'
        '<label>Filter<input id="trials-filter" type="search" autocomplete="off" spellcheck="false"></label>'
        f'<label>State<select id="trials-state"><option value="">all</option>{options}</select></label>'
        '<div class="pages"><button type="button" class="button" id="trials-before">Back</button>'
        '<output id="trials-place" aria-live="polite"></output>'
        '<button type="button" class="button" id="trials-after">Next</button></div></div>'
        '<div class="scroll" tabindex="0" role="region" aria-labelledby="h-trials">'
        '<table class="trials" id="trials"><caption hidden>Trials; a heading sorts by its column</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody></tbody></table></div>"
        "<noscript><p>The table needs JavaScript.</p></noscript></div></section>\n"
    )


def _trials_data(trials: TrialTable, found: Findings) -> str:
    columns = [{"cells": column.cells, "number": column.is_number} for column in trials.columns]
    return json.dumps({"best": found.recommendation.best_seen.number, "columns": columns}, separators=(",", ":"))


def _again(told: ReportSource) -> str:
    settings = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in settings_of(told))
    commands, version = "\n".join(commands_of(told)), told.versions.get("quadrat", "")
    return (
        '<section aria-labelledby="h-again"><h2 id="h-again">Settings, to do it again</h2><div class="card again">'
        f"<dl>{settings}</dl>"
        f'<div><h3>Commands</h3><pre tabindex="0">{escape(commands)}</pre></div>'
        '<div><h3>Space</h3><div class="actions"><button type="button" class="button" data-copy="space-json">'
        f'Copy the space</button><span role="status"></span></div><pre id="space-json" tabindex="0">'
        f"{escape(space_json(told))}</pre>"
        f'</div></div></section>\n</main>\n<footer class="wide">Made by quadrat {escape(version)}.'
        " Intervals called credible, and estimated gains, are of a model fitted to the trials; what is called certified"
        " holds under the stated assumptions.</footer>"
    )


def _value(params: Mapping[str, Any], name: str) -> str:
    if name not in params:
        return "–"
    value = params[name]
    return _breakable(number_text(value) if isinstance(value, float) else str(value))


def _breakable(text: str) -> str:
    """Return text as HTML that may be broken where it is too long for a column."""
    return "<wbr>".join(escape(text[start : start + _LONGEST_WORD]) for start in range(0, len(text), _LONGEST_WORD))


def _part(name: str) -> str:
    return files("quadrat.report").joinpath(name).read_text(encoding="utf-8")


def _harmless(text: str) -> str:
    """Return JSON that cannot end the element that it stands in."""
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _closed(script: str) -> str:
    """Return a script of ours or of plotly's that cannot end its own element."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
