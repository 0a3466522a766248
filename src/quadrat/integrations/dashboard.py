"""Optuna's dashboard with figures of ours beside its own, refreshed while a study goes on.

Figures are kept with the study, in its storage, under fixed names: a new one replaces the old one. Only
this machine can reach the dashboard.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from socketserver import ThreadingMixIn
from typing import Any, TypeAlias
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from optuna.study import Study

from quadrat.errors import InvalidInput, NotAvailable, QuadratError

__all__ = ["FIGURE_BYTES", "HOST", "Drawn", "attach", "is_due", "serve"]

FIGURE_BYTES = 100_000
"""The most bytes of a figure in the storage."""

HOST = "127.0.0.1"
"""Where the dashboard is: this machine alone reaches it."""

_PREFIX = "quadrat-"  # of the names of our figures
_ATTRIBUTE = "dashboard:plot_data:"  # of the study: where the dashboard keeps figures, in pieces
_SECONDS = 60.0  # between looks at the study
_GROWTH = 0.05  # of the trials: that many more make new figures worth their place in the storage
_NAMES = ("127.0.0.1", "localhost")
_DETAIL = re.compile(r"/api/studies/\d+/?")
_logger = logging.getLogger(__name__)

Application: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


@dataclass(frozen=True)
class Drawn:
    """A figure as JSON."""

    json: str

    def to_json(self) -> str:
        """Return the JSON, by the name that the dashboard calls."""
        return self.json


def attach(study: Study, figures: Mapping[str, Drawn]) -> None:
    """Keep figures with a study, for the dashboard; earlier ones are replaced.

    One that is the same as before is not written again. A storage cannot forget an attribute, so that a figure which
    is not given any more becomes an empty one. Names are of letters and dashes.
    """
    dashboard = _dashboard()
    for name, figure in figures.items():
        if len(figure.json) > FIGURE_BYTES:
            raise InvalidInput(f"figure {name}: expected at most {FIGURE_BYTES} bytes, got {len(figure.json)}")
    before = _attached(study)
    gone = {name: _EMPTY for name in before if name.removeprefix(_PREFIX) not in figures}
    for name, figure in {**{f"{_PREFIX}{name}": figure for name, figure in figures.items()}, **gone}.items():
        if before.get(name) != figure.json:
            dashboard.save_plotly_graph_object(study, figure, graph_object_id=name)


_EMPTY = Drawn(json.dumps({"data": [], "layout": {"height": 60, "title": {"text": "(not there at present)"}}}))


def _attached(study: Study) -> dict[str, str]:
    """Return our figures that are kept with a study, by name, as JSON."""
    pieces: dict[str, dict[int, str]] = {}
    for key, value in study._storage.get_study_system_attrs(study._study_id).items():
        if key.startswith(_ATTRIBUTE + _PREFIX):
            name, _, place = key.removeprefix(_ATTRIBUTE).rpartition(":")
            pieces.setdefault(name, {})[int(place)] = value
    return {name: "".join(found[place] for place in sorted(found)) for name, found in pieces.items()}


def is_due(finished: int, drawn: int, seen: int) -> bool:
    """Return whether figures are worth drawing again: a share more trials, or new ones and no more since the last look.

    Every version stays in a journal for ever. So their number grows with the logarithm of that of trials. The arguments
    are the trials that have finished now, that had when figures were last drawn, and at the last look.

    Examples
    --------
    >>> is_due(1, 0, 0), is_due(102, 100, 100), is_due(102, 100, 102), is_due(105, 100, 104)
    (True, False, True, True)
    """
    new = finished - drawn
    return new > 0 and (new >= _GROWTH * drawn or finished == seen)


def serve(
    study: Study,
    draw: Callable[[Study], Mapping[str, Drawn]],
    *,
    port: int,
    ready: Callable[[str], None],
    seconds: float = _SECONDS,
) -> None:
    """Serve the dashboard of a study's storage until Ctrl-C, with figures of that study.

    `draw` makes the figures, by name; where it raises `NotAvailable`, there are none yet. Port 0 takes any that is
    free. `ready` is called with the address of the study. The study is looked at every so many `seconds`.
    """
    writing = threading.Lock()
    app = _guarded(_dashboard().wsgi(study._storage), writing)
    try:
        server = make_server(HOST, port, app, server_class=_Server, handler_class=_Handler)
    except (OSError, OverflowError) as error:
        raise InvalidInput(
            f"port: expected one that is free on this machine, got {port}: {error}; --port 0 takes any"
        ) from error
    done = threading.Event()
    refresher = threading.Thread(
        target=_refresh, args=(study, draw, writing, done, seconds), name="quadrat-figures", daemon=True
    )
    with server:
        refresher.start()
        ready(f"http://{HOST}:{server.server_port}/dashboard/studies/{study._study_id}")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass  # how it ends
        finally:
            done.set()
            refresher.join()  # a figure that is half written is none


def _refresh(
    study: Study,
    draw: Callable[[Study], Mapping[str, Drawn]],
    writing: threading.Lock,
    done: threading.Event,
    seconds: float,
) -> None:
    drawn = seen = 0
    while True:
        try:
            finished = sum(trial.state.is_finished() for trial in study.get_trials(deepcopy=False))
            if is_due(finished, drawn, seen):
                figures = draw(study)
                if done.is_set():
                    return
                with writing:
                    attach(study, figures)
                drawn = finished
            seen = finished
        except QuadratError as error:  # such as no complete trial yet
            _logger.info("no figures: %s", error)
        except Exception:  # a storage that is away for a while must not end the dashboard
            _logger.warning("figures could not be refreshed", exc_info=True)
        if done.wait(seconds):
            return


def _guarded(app: Application, writing: threading.Lock) -> Application:
    """Answer requests to this machine's own name alone, so that no page elsewhere reads studies, and no half figure."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if str(environ.get("HTTP_HOST", "")).rsplit(":", 1)[0] not in _NAMES:
            start_response("403 Forbidden", [("Content-Type", "text/plain")])
            return [b"expected the address of this machine, such as http://localhost"]
        if _DETAIL.fullmatch(str(environ.get("PATH_INFO", ""))):
            with writing:
                return app(environ, start_response)
        return app(environ, start_response)

    return answer


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Bind without asking a name server who this is."""
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, self.server_address[1]
        self.setup_environ()


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # its name in the base class
        _logger.debug(format, *args)


def _dashboard() -> Any:
    try:
        return import_module("optuna_dashboard")
    except ImportError as error:
        raise NotAvailable(
            "dashboard: expected optuna-dashboard to be installed, got none; pip install 'quadrat[dashboard]'"
        ) from error
