"""`quadrat dashboard`: the real server, asked over HTTP, and once in a browser."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optuna
import pytest
from optuna.study import Study

import quadrat as qd
from quadrat.cli import main
from quadrat.cli.dashboard_command import dashboard_figures
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.integrations.dashboard import FIGURE_BYTES, Drawn, attach

if TYPE_CHECKING:
    from tests.browser import Browser

pytest.importorskip("plotly", reason="plotly is not installed: pip install 'quadrat[plots]'")
pytest.importorskip("optuna_dashboard", reason="the dashboard is not installed: pip install 'quadrat[dashboard]'")

NAMES = ["quadrat-importance", "quadrat-parallel", "quadrat-progress", "quadrat-slices"]
PATIENCE = 240.0  # seconds until a test gives up


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """A study in a journal."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    found = optuna.create_study(
        storage=qd.journal_storage(tmp_path / "quadrat.journal"),
        study_name="bowl",
        sampler=optuna.samplers.RandomSampler(seed=0),
    )
    search(found, 10)
    yield found
    optuna.logging.set_verbosity(optuna.logging.INFO)


def search(study: Study, n: int) -> None:
    study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2 + trial.suggest_int("n", 1, 9) / 9, n_trials=n)


@contextmanager
def served(folder: Path) -> Iterator[int]:
    """Run the command for the length of a block; its port. At the end Ctrl-C, after which it ends well."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "quadrat.cli", "dashboard", "--port", str(port)]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "The dashboard of bowl is at\n"
        assert server.stdout.readline().strip() == f"http://127.0.0.1:{port}/dashboard/studies/0"
        assert server.stdout.readline() == "Ctrl-C ends it.\n"
        yield port
        server.send_signal(signal.SIGINT)
        said, _ = server.communicate(timeout=PATIENCE)
        assert (server.returncode, said) == (0, "")
    finally:
        server.kill()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


def get(port: int, path: str, host: str | None = None) -> tuple[int, Any]:
    """What the server has at a path, read if it is JSON."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={"Host": host} if host else {})
        response = connection.getresponse()
        body = response.read().decode()
    finally:
        connection.close()
    is_json = response.headers.get_content_type() == "application/json"
    return response.status, json.loads(body) if is_json else body


def figures(port: int, names: list[str] = NAMES) -> dict[str, str]:
    """The figures that the dashboard has of the study, once it has so many."""
    deadline = time.monotonic() + PATIENCE
    while True:
        status, detail = get(port, "/api/studies/0")
        assert status == 200
        found = {one["id"]: one["graph_object"] for one in detail["plotly_graph_objects"]}
        if len(found) >= len(names):
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.1)


def test_the_dashboard_shows_our_figures_and_replaces_them(study: Study, tmp_path: Path, browser: Browser) -> None:
    with served(tmp_path) as port:
        first = figures(port)
        assert sorted(first) == NAMES
        assert all(len(text) <= FIGURE_BYTES for text in first.values())
        assert json.loads(first["quadrat-progress"])["layout"]["title"]["text"].startswith("Quadrat: progress")
        # Only this machine, by its own name: a page elsewhere whose name leads here gets nothing.
        assert get(port, "/api/studies", host="evil.example:80")[0] == 403
        assert get(port, "/api/studies", host=f"localhost:{port}")[0] == 200
        with browser.page(f"http://127.0.0.1:{port}/dashboard/studies/0") as page:
            page.wait("document.querySelectorAll('[id^=\"user-defined-plot:quadrat-\"] .main-svg').length >= 4")
            assert [error for error in page.errors() if "favicon" not in error] == []
    search(study, 2)
    with served(tmp_path) as port:
        deadline = time.monotonic() + PATIENCE
        while (second := figures(port)) == first:
            assert time.monotonic() < deadline, "nothing was replaced"
            time.sleep(0.1)
        while figures(port)["quadrat-parallel"] == first["quadrat-parallel"]:
            assert time.monotonic() < deadline, "not all were replaced"
            time.sleep(0.1)
        assert sorted(second) == NAMES
    kept = study._storage.get_study_system_attrs(study._study_id)
    assert {key.rpartition(":")[0] for key in kept} == {f"dashboard:plot_data:{name}" for name in NAMES}


def test_figures_of_many_trials_are_below_the_limit_and_say_so() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    long = optuna.create_study()
    distribution = optuna.distributions.FloatDistribution(0, 1)
    for i in range(1500):
        params = {f"parameter {k}": (i * (k + 1) * 0.618) % 1 for k in range(3)}
        long._storage.create_new_trial(
            long._study_id,
            optuna.trial.create_trial(
                params=params, distributions=dict.fromkeys(params, distribution), value=params["parameter 0"]
            ),
        )
    drawn = dashboard_figures(long)
    optuna.logging.set_verbosity(optuna.logging.INFO)
    assert set(drawn) == {"progress", "slices", "importance", "parallel"}
    assert all(len(one.json) <= FIGURE_BYTES for one in drawn.values())
    assert "Of 1,500 points" in json.loads(drawn["progress"].json)["layout"]["title"]["text"]


def test_an_outlier_is_warned_of_above_the_first_figure() -> None:
    bad = optuna.create_study()
    distributions: dict[str, optuna.distributions.BaseDistribution] = {
        "x": optuna.distributions.FloatDistribution(0, 1)
    }
    for i in range(14):
        value = (i / 14 - 0.3) ** 2 + 0.01 * (i * 7 % 5) + 50 * (i == 9)
        bad.add_trial(optuna.trial.create_trial(params={"x": i / 14}, distributions=distributions, value=value))
    titles = {name: json.loads(one.json)["layout"]["title"]["text"] for name, one in dashboard_figures(bad).items()}
    assert "Outliers: trial 9 gave 50.15 where 0.1" in titles["progress"]  # as told, not as the model sees it
    assert [name for name, text in titles.items() if "Outliers" in text] == ["progress"]


def test_a_figure_is_replaced_and_one_that_is_gone_becomes_empty(study: Study, tmp_path: Path) -> None:
    def kept() -> dict[str, str]:
        reading = import_module("optuna_dashboard._custom_plot_data")
        found: dict[str, str] = reading.get_plotly_graph_objects(study._storage.get_study_system_attrs(study._study_id))
        return found

    attach(study, {"a": Drawn("x" * 5000), "b": Drawn("y" * 100)})
    assert kept() == {"quadrat-a": "x" * 5000, "quadrat-b": "y" * 100}
    attach(study, {"a": Drawn("z" * 3000)})
    assert kept()["quadrat-a"] == "z" * 3000
    assert json.loads(kept()["quadrat-b"])["data"] == []
    journal = tmp_path / "quadrat.journal"
    size = journal.stat().st_size
    attach(study, {"a": Drawn("z" * 3000)})
    assert journal.stat().st_size == size, "what is the same is not written again"
    with pytest.raises(InvalidInput, match="at most 100000 bytes, got 100001"):
        attach(study, {"a": Drawn("x" * 100_001)})


def test_without_a_complete_trial_there_are_no_figures_yet() -> None:
    with pytest.raises(NotAvailable, match="complete trial"):
        dashboard_figures(optuna.create_study())


def test_what_cannot_be_drawn_is_refused_in_a_line(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The dashboard is served without figures, and why is said once."""
    monkeypatch.chdir(tmp_path)
    tiny: dict[str, Any] = {"tiny": optuna.distributions.FloatDistribution(0, 5e-324)}
    study.add_trial(optuna.trial.create_trial(value=1.0, params={"tiny": 0.0}, distributions=tiny))

    def served(study: Study, draw: Any, **_options: Any) -> None:
        for _ in range(3):
            with pytest.raises(InvalidInput, match="expected parameters that can be searched, got 'tiny'"):
                draw(study)

    monkeypatch.setattr("quadrat.cli.dashboard_command.serve", served)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    assert main(["dashboard", study.study_name]) == 0
    for number, handler in before.items():
        signal.signal(number, handler)
    err = capsys.readouterr().err
    assert err.startswith("quadrat: no figures: study: expected parameters that can be searched, got ")
    assert err.count("\n") == 1


def test_a_port_that_is_taken_is_said(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["dashboard", study.study_name, "--port", str(port)]) == 2
    assert f"expected one that is free on this machine, got {port}" in capsys.readouterr().err
    for number, handler in before.items():
        signal.signal(number, handler)
