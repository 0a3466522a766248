"""`quadrat dashboard`: Optuna's dashboard of a study, with figures of ours."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from textwrap import wrap

from optuna.study import Study

from quadrat.cli.screen import Screen, brief, refusal, visible
from quadrat.cli.study_commands import Where, opened
from quadrat.errors import InvalidInput
from quadrat.integrations.dashboard import FIGURE_BYTES, Drawn, serve
from quadrat.plots.style import graph_objects, plain
from quadrat.studies.opening import check_one_objective
from quadrat.studies.storage import close_storage

__all__ = ["dashboard", "dashboard_figures"]

_TITLES = {  # short: there is half a page for them
    "progress": "Quadrat: progress and what is left to gain",
    "slices": "Quadrat: one parameter at a time",
    "importance": "Quadrat: which parameters matter",
    "parallel": "Quadrat: all trials",
}
_HIGHEST = 440  # pixels: what is higher is cut off
_SLICED = 6  # parameters, in two rows
_TITLE_BYTES = 1200  # of the title and a warning below it, which are added when the size is known
_LINE = 95  # characters of a warning in half a page


def dashboard(where: Where, port: int) -> None:
    """Serve the dashboard until Ctrl-C or SIGTERM."""
    graph_objects()
    study = opened(where.name, where.storage, where.space)
    check_one_objective(study)

    def ready(address: str) -> None:
        Screen().say(f"The dashboard of {study.study_name} is at\n  {address}\nCtrl-C ends it.")
        sys.stdout.flush()  # whoever reads it through a pipe waits for the address

    refused: set[str] = set()

    def draw(study: Study) -> Mapping[str, Drawn]:
        try:
            return dashboard_figures(study)
        except InvalidInput as error:  # such as parameters that cannot be searched
            if str(error) not in refused:
                refused.add(str(error))
                sys.stderr.write(f"quadrat: no figures: {visible(brief(refusal(error)))}\n")
            raise

    for number in (signal.SIGINT, signal.SIGTERM):  # a shell in the background has the first one ignored
        signal.signal(number, signal.default_int_handler)
    try:
        serve(study, draw, port=port, ready=ready)
    finally:
        close_storage(study._storage)


def dashboard_figures(study: Study) -> Mapping[str, Drawn]:
    """Return the figures of a study for half the width of a page, each below the size that a storage should hold."""
    from quadrat.plots import RunView
    from quadrat.report.figures import figures_of

    view = RunView.of(study)
    figures = figures_of(view, FIGURE_BYTES - _TITLE_BYTES, only=tuple(_TITLES), sliced=_SLICED)
    found = (view.fit_warning or "").partition(". ")[0]  # there is room for one sentence
    warned = wrap(plain(f"{found}. quadrat report says what to do.", 600), _LINE) if found else []
    drawn = {
        one.name: Drawn(one.drawn.titled(_TITLES[one.name], _HIGHEST, warned if one.name == "progress" else ()))
        for one in figures
    }
    # Very many parameters may leave a figure too large without a single point to drop.
    return {name: one for name, one in drawn.items() if len(one.json) <= FIGURE_BYTES}
