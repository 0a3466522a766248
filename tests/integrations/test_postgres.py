"""Studies on a PostgreSQL server: several processes on one study, one that is killed, a server that is down."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import optuna
import pytest
import sqlalchemy
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

import quadrat as qd
from quadrat.errors import InvalidInput
from quadrat.loop.workers import Here
from quadrat.studies import Coordinator, open_storage

WORKERS, EACH = 4, 50
PATIENCE = 120.0  # seconds
PASSWORD = "sec" + "ret"  # a traceback quotes the lines of this file
SPACE = qd.Space(x=qd.Float(-1, 1), kind=qd.Categorical(["a", "b"]), n=qd.Int(1, 5, when={"kind": "b"}))

# Each waits for a line, so that all begin together.
WORKER = """
import sys
import time

import optuna
import quadrat

url, worker, n_trials = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.load_study(study_name="shared", storage=url, sampler=quadrat.QuadratSampler(seed=0))


def objective(trial):
    x, y = trial.suggest_float("x", -1, 1), trial.suggest_float("y", -1, 1)
    trial.set_user_attr("chosen at", time.time())
    trial.set_user_attr("worker", worker)
    time.sleep(0.02)
    return (x - 0.3) ** 2 + (y + 0.2) ** 2


print("ready", flush=True)
sys.stdin.readline()
study.optimize(objective, n_trials=n_trials)
"""

# As Optuna's documentation has it. The first one never ends its third trial; the others go on until they are told.
WITH_HEARTBEATS = """
import sys
import time
import warnings

import optuna
import quadrat

warnings.simplefilter("ignore")  # the names below are experimental
if hasattr(optuna.storages, "RetryHeartbeatStaleTrialCallback"):
    retry = {"heartbeat_stale_trial_callback": optuna.storages.RetryHeartbeatStaleTrialCallback(max_retry=3)}
else:  # before Optuna 4.9
    retry = {"failed_trial_callback": optuna.storages.RetryFailedTrialCallback(max_retry=3)}
url, worker = sys.argv[1], int(sys.argv[2])
optuna.logging.set_verbosity(optuna.logging.ERROR)
storage = optuna.storages.RDBStorage(url, heartbeat_interval=1, grace_period=3, **retry)
study = optuna.load_study(study_name="shared", storage=storage, sampler=quadrat.QuadratSampler(seed=0))
begun = 0


def objective(trial):
    global begun
    begun += 1
    x, y = trial.suggest_float("x", -1, 1), trial.suggest_float("y", -1, 1)
    if worker == 0 and begun == 3:
        print(trial.number, flush=True)
        time.sleep(600)
    time.sleep(0.1)
    return (x - 0.3) ** 2 + (y + 0.2) ** 2


def stop_when_told(study, trial):
    if "enough" in study.user_attrs:
        study.stop()


print("ready", flush=True)
sys.stdin.readline()
study.optimize(objective, callbacks=[stop_when_told], timeout=600)
"""


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


@pytest.fixture
def opened() -> Iterator[Callable[..., Study]]:
    """Open studies by URL, and close their connections at the end."""
    storages: list[Any] = []

    def at(url: str, **more: Any) -> Study:
        storage = open_storage(url)
        storages.append(storage)
        return optuna.create_study(
            storage=storage, study_name="shared", load_if_exists=True, direction="minimize", **more
        )

    yield at
    for storage in storages:
        storage.remove_session()
        storage.engine.dispose()


@pytest.fixture
def start() -> Iterator[Callable[..., list[subprocess.Popen[str]]]]:
    """Start workers together; whatever is left of them at the end is killed."""
    processes: list[subprocess.Popen[str]] = []

    def together(script: str, *words: str) -> list[subprocess.Popen[str]]:
        for worker in range(WORKERS):
            command = [sys.executable, "-c", script, words[0], str(worker), *words[1:]]
            processes.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        return processes

    yield together
    for process in processes:
        process.kill()
        process.communicate()


def value_of(params: dict[str, Any]) -> float:
    return float((params["x"] - 0.3) ** 2 + (params["kind"] == "a") + 0.1 * params.get("n", 0))


def knew_that_it_runs(later: FrozenTrial, earlier: FrozenTrial) -> bool:
    """Whether one trial was chosen all the while that another, of another worker, was being evaluated."""
    assert earlier.datetime_complete is not None
    assert later.datetime_start is not None
    begun_after: bool = earlier.user_attrs["chosen at"] < later.datetime_start.timestamp()
    chosen_before: bool = later.user_attrs["chosen at"] < earlier.datetime_complete.timestamp()
    return later.user_attrs["worker"] != earlier.user_attrs["worker"] and begun_after and chosen_before


def test_four_processes_on_one_study(
    postgres_url: str, opened: Callable[..., Study], start: Callable[..., list[subprocess.Popen[str]]]
) -> None:
    study = opened(postgres_url)
    for process in start(WORKER, postgres_url, str(EACH)):
        assert process.wait() == 0
    trials = study.trials
    assert [trial.number for trial in trials] == list(range(WORKERS * EACH))
    assert Counter(trial.state for trial in trials) == {TrialState.COMPLETE: WORKERS * EACH}
    assert Counter(trial.user_attrs["worker"] for trial in trials) == dict.fromkeys(range(WORKERS), EACH)
    for trial in trials:
        assert trial.value == (trial.params["x"] - 0.3) ** 2 + (trial.params["y"] + 0.2) ** 2
    assert study.best_value < 1e-3, "they learn from each other: random search gets 1e-2"
    pairs = [(b, a) for a, b in combinations(trials, 2) if knew_that_it_runs(b, a)]
    assert not [(b.number, a.number) for b, a in pairs if b.params == a.params]


def test_what_runs_in_one_process_is_not_chosen_in_another(postgres_url: str, opened: Callable[..., Study]) -> None:
    """Each study here has its own connections and its own sampler, as in a process of its own."""
    space = {"n": optuna.distributions.IntDistribution(0, 7)}
    studies = [opened(postgres_url, sampler=qd.QuadratSampler(seed=0, search_space=space)) for _ in range(WORKERS)]
    for _ in range(4):
        trial = studies[0].ask()
        studies[0].tell(trial, (trial.suggest_int("n", 0, 7) - 2.4) ** 2)
    running = [study.ask().suggest_int("n", 0, 7) for study in studies]
    assert len(set(running)) == WORKERS, running


def test_a_killed_worker_does_not_leave_its_trial_running(
    postgres_url: str, opened: Callable[..., Study], start: Callable[..., list[subprocess.Popen[str]]]
) -> None:
    study = opened(postgres_url)
    victim, *others = start(WITH_HEARTBEATS, postgres_url)
    assert victim.stdout is not None
    number = int(victim.stdout.readline())
    assert study.trials[number].state is TrialState.RUNNING
    victim.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while not (again := retries_of(number, study)) or again[0].state is not TrialState.COMPLETE:
        assert time.monotonic() < deadline, study.trials[number]
        time.sleep(0.1)
    study.set_user_attr("enough", True)
    for process in others:
        assert process.wait() == 0
    assert study.trials[number].state is TrialState.FAIL
    assert study.trials[number].params == again[0].params, "what was lost is evaluated again"
    assert len(retries_of(number, study)) == 1
    assert {trial.state for trial in study.trials} == {TrialState.COMPLETE, TrialState.FAIL}


def retries_of(number: int, study: Study) -> list[FrozenTrial]:
    return [trial for trial in study.trials if trial.system_attrs.get("failed_trial") == number]


def test_a_coordinator_runs_on_it_and_is_resumed(postgres_url: str, opened: Callable[..., Study]) -> None:
    """Numbers come back as they were: its suggestions are those of a study in memory."""

    def run(study: Study, n_trials: int) -> str:
        return Coordinator(study, SPACE, lambda: Here(value_of), n_trials=n_trials).run()

    def sampler() -> qd.QuadratSampler:
        return qd.QuadratSampler(seed=0, search_space=SPACE)

    run(opened(postgres_url, sampler=sampler()), 4)
    study = opened(postgres_url, sampler=sampler())
    assert run(study, 10) == "all 10 trials done"
    alone = optuna.create_study(sampler=sampler())
    run(alone, 10)
    assert [(trial.params, trial.value) for trial in study.trials] == [(t.params, t.value) for t in alone.trials]
    assert {trial.state for trial in study.trials} == {TrialState.COMPLETE}


def test_a_study_outlives_its_connections(postgres_url: str, opened: Callable[..., Study]) -> None:
    """As when the server restarts during a long study."""
    study = opened(postgres_url)
    study.add_trial(optuna.trial.create_trial(value=1.0))
    end_others = sqlalchemy.text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    admin = sqlalchemy.create_engine(postgres_url)
    with admin.connect() as connection:
        ended = connection.execute(end_others).all()
    admin.dispose()
    assert ended
    assert all(one for (one,) in ended)
    assert len(study.trials) == 1


@pytest.mark.skipif(os.name == "nt", reason="connections to closed ports take long there")
def test_a_server_that_is_down_is_said_without_the_password() -> None:
    pytest.importorskip("psycopg")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # and nobody listens
        where = f"127.0.0.1:{closed.getsockname()[1]}/name"
        with pytest.raises(InvalidInput, match=rf"got postgresql\+psycopg://me@{where}, .* refused") as caught:
            open_storage(f"postgresql+psycopg://me:{PASSWORD}@{where}")
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))


def test_a_database_that_is_not_there_is_said(postgres_server: str) -> None:
    with pytest.raises(InvalidInput, match=r'which cannot be opened: .*database "nothing" does not exist'):
        open_storage(f"{postgres_server}/nothing")
