"""Optuna's dashboard shows what Quadrat wrote: the real server, asked over HTTP as a browser asks it."""

from __future__ import annotations

import json
import math
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages import RDBStorage
from optuna.trial import FrozenTrial, TrialState

import quadrat as qd
from quadrat.loop.workers import Here
from quadrat.studies import Coordinator, open_storage
from quadrat.studies.telling import FAILURE

pytest.importorskip("optuna_dashboard", reason="the dashboard is not installed: pip install 'quadrat[dashboard]'")

COMMAND = shutil.which("optuna-dashboard", path=str(Path(sys.executable).parent))
PATIENCE = 60.0  # seconds until a test gives up
SPACE = qd.Space(
    x=qd.Float(-1, 1),
    rate=qd.Float(1e-4, 1, log=True),
    kind=qd.Categorical(["a", "b"]),
    n=qd.Int(1, 5, when={"kind": "b"}),
)


def value(params: dict[str, Any]) -> float:
    if params["x"] > 0.5:
        raise ValueError("too far")
    return float((params["x"] - 0.3) ** 2 + abs(math.log(params["rate"])) + 0.1 * params.get("n", 0))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


@contextmanager
def served(storage: str, log: Path) -> Iterator[int]:
    """Run the server for the length of a block; its port."""
    assert COMMAND is not None, "the command belongs to the package"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [COMMAND, storage, "--host", "127.0.0.1", "--port", str(port), "--server", "wsgiref"]
    with log.open("w") as file:
        server = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + PATIENCE
        while not answers(port):
            assert server.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield port
    finally:
        server.kill()
        server.wait()


def answers(port: int) -> bool:
    try:
        get(port, "/api/meta")
    except ConnectionRefusedError:
        return False
    return True


def get(port: int, path: str) -> Any:
    """What the server has at a path, read if it is JSON."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read().decode()
    finally:
        connection.close()
    assert response.status == 200, body
    return json.loads(body) if response.headers.get_content_type() == "application/json" else body


def as_shown(trial: FrozenTrial) -> dict[str, Any]:
    """The part of a trial that is checked, as the dashboard's server writes it."""
    return {
        "number": trial.number,
        "state": {TrialState.COMPLETE: "Complete", TrialState.FAIL: "Fail", TrialState.RUNNING: "Running"}[trial.state],
        "values": trial.values,
        "params": {name: str(chosen) for name, chosen in trial.params.items()},
    }


def seen(trial: dict[str, Any]) -> dict[str, Any]:
    """The same part of a trial that the server sent."""
    return {
        "number": trial["number"],
        "state": trial["state"],
        "values": trial.get("values"),
        "params": {param["name"]: param["param_external_value"] for param in trial["params"]},
    }


@pytest.mark.parametrize("kind", ["journal", "sqlite"])
def test_a_study_is_shown(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "studies"
    where = str(path) if kind == "journal" else f"sqlite:///{path}"
    storage = open_storage(where)
    sampler = qd.QuadratSampler(seed=0, search_space=SPACE)
    study = optuna.create_study(storage=storage, study_name="rates", sampler=sampler, direction="minimize")
    Coordinator(study, SPACE, lambda: Here(value), n_trials=8).run()
    with served(where, tmp_path / "log") as port:
        assert "<title>Optuna Dashboard</title>" in get(port, "/dashboard")
        [summary] = get(port, "/api/studies")["study_summaries"]
        assert summary["study_name"] == "rates"
        assert summary["directions"] == ["minimize"]
        detail = get(port, f"/api/studies/{summary['study_id']}")
        assert detail["name"] == "rates"
        assert [seen(trial) for trial in detail["trials"]] == [as_shown(trial) for trial in study.trials]
        assert {trial["state"] for trial in detail["trials"]} == {"Complete", "Fail"}
        assert {len(trial["params"]) for trial in detail["trials"]} == {3, 4}
        [best] = detail["best_trials"]
        assert best["number"] == study.best_trial.number
        failures = [
            {entry["key"]: entry["value"] for entry in trial["user_attrs"]}.get(FAILURE) for trial in detail["trials"]
        ]
        assert failures == [trial.user_attrs.get(FAILURE) for trial in study.trials]
    if isinstance(storage, RDBStorage):
        storage.remove_session()
        storage.engine.dispose()
