"""A server that is away for a while is waited for; one that stays away, and errors of other kinds, end the run."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import optuna
import pytest
from optuna.exceptions import StorageInternalError
from optuna.study import Study
from optuna.trial import TrialState
from sqlalchemy.exc import IntegrityError, OperationalError, PendingRollbackError

import quadrat as qd
from quadrat.loop.workers import Here
from quadrat.studies import Coordinator, outage, telling
from quadrat.studies.outage import Outage, is_away
from quadrat.studies.telling import FAILURE

SPACE = qd.Space(x=qd.Float(-1, 1))
GONE = OperationalError("SELECT 1", {}, ConnectionError("server closed the connection"))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def study_at(path: Path, space: qd.Space | None = SPACE) -> Study:
    return optuna.create_study(
        storage=qd.journal_storage(path),
        study_name="s",
        sampler=qd.QuadratSampler(seed=0, search_space=space),
        load_if_exists=True,
    )


def facts(study: Study) -> list[tuple[Any, ...]]:
    return [(trial.number, trial.state, trial.params, trial.value) for trial in study.trials]


def value_of(params: dict[str, Any]) -> float:
    return float((params["x"] - 0.3) ** 2)


def committed_without_an_answer() -> StorageInternalError:
    error = StorageInternalError("An exception is raised during the commit.")
    error.__cause__ = GONE
    return error


def test_which_errors_say_so() -> None:
    assert is_away(GONE)
    assert is_away(committed_without_an_answer())
    assert is_away(PendingRollbackError("can't reconnect until invalid transaction is rolled back"))
    assert not is_away(IntegrityError("INSERT", {}, ValueError("twice")))
    assert not is_away(OperationalError("SELECT 1", {}, sqlite3.OperationalError("disk I/O error")))
    assert not is_away(OSError(28, "No space left on device"))
    assert not is_away(ValueError("no"))


class Away:
    """Has methods of a storage, and the end of a trial, fail before or after their work, at calls that are counted."""

    def __init__(self, study: Study, patch: pytest.MonkeyPatch, every: int) -> None:
        self._calls, self._every, self.failures = 0, every, 0
        for name in ("create_new_trial", "set_trial_state_values", "set_trial_user_attr", "set_trial_param"):
            self._patch(study._storage, name, patch)
        self._patch(telling, "end_trial", patch)  # which writes a result as one step, past these methods

    def _patch(self, owner: Any, name: str, patch: pytest.MonkeyPatch) -> None:
        method = getattr(owner, name)

        def sometimes(*given: Any, **named: Any) -> Any:
            self._calls += 1
            if self._calls % self._every:
                return method(*given, **named)
            self.failures += 1
            if self.failures % 2:  # it was done, but nobody hears of it
                method(*given, **named)
            raise committed_without_an_answer()

        patch.setattr(owner, name, sometimes)


@pytest.mark.parametrize("every", [3, 4, 7])
def test_a_run_goes_on_and_is_as_if_nothing_had_been(
    every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was being written, and whether it was written or not."""
    study = study_at(tmp_path / "log")
    away = Away(study, monkeypatch, every)
    Coordinator(study, SPACE, lambda: Here(value_of), n_trials=10).run()
    assert away.failures >= 5
    whole = study_at(tmp_path / "whole")
    Coordinator(whole, SPACE, lambda: Here(value_of), n_trials=10).run()
    assert facts(study) == facts(whole)


def test_a_worker_that_cannot_reach_the_storage_fails_nothing(tmp_path: Path) -> None:
    """An objective that defines its space as it runs uses the storage itself."""
    study, calls = study_at(tmp_path / "log", None), []

    def cut_off(_: dict[str, Any]) -> float:
        calls.append(1)
        if len(calls) == 2:
            raise committed_without_an_answer()
        return 1.0

    Coordinator(study, None, lambda: Here(cut_off), n_trials=3).run()
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 3
    assert len(calls) == 4


def test_an_objective_with_a_database_of_its_own_fails_as_any_other(tmp_path: Path) -> None:
    study = study_at(tmp_path / "log")

    def broken(_: dict[str, Any]) -> float:
        raise GONE

    Coordinator(study, SPACE, lambda: Here(broken), n_trials=1).run()
    assert study.trials[0].state is TrialState.FAIL
    assert study.trials[0].user_attrs[FAILURE].startswith("OperationalError: ")


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Have time pass without waiting; the pauses that were made."""
    made: list[float] = []
    monkeypatch.setattr(outage, "time", SimpleNamespace(sleep=made.append, monotonic=lambda: 1e6 + sum(made)))
    return made


def wait_until_it_raises(away: Outage, error: OperationalError, attempt: Callable[[], None] = lambda: None) -> None:
    def wait_again() -> None:
        for _ in range(1000):
            away.wait(error)
            attempt()

    with pytest.raises(OperationalError) as caught:
        wait_again()
    assert caught.value is error


def test_attempts_become_rarer_and_end(pauses: list[float]) -> None:
    away = Outage()
    wait_until_it_raises(away, GONE)
    assert pauses[:8] == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 2.0]
    assert 52 < sum(pauses) <= 55


def test_what_a_call_waited_counts_and_so_do_attempts(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The minute begins with the first call without an answer, and no attempt is made that could end after it."""
    now = 1e6
    silent = OperationalError("SELECT 1", {}, ConnectionError("no answer"))
    setattr(silent.orig, "quadrat_began", now - 10)  # noqa: B010  # as the watch of calls does

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr(outage, "time", SimpleNamespace(sleep=sleep, monotonic=lambda: now))
    away = Outage()
    wait_until_it_raises(away, silent, lambda: sleep(5))  # of an attempt to connect
    assert 1e6 + 35 < now <= 1e6 + 45
    away.end()
    assert "answers again" in caplog.text


def test_every_outage_may_take_that_long(pauses: list[float]) -> None:
    away = Outage()
    for _ in range(3):
        for _ in range(20):
            away.wait(GONE)
        away.end()
    assert pauses[20] == pauses[0]
    assert sum(pauses) > 55


def test_a_server_that_answers_but_takes_nothing_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    """As one whose disk is full: it is not waited for without end."""
    study = study_at(tmp_path / "log")
    refuses = Mock(side_effect=committed_without_an_answer())
    monkeypatch.setattr(study._storage, "create_new_trial", refuses)
    with pytest.raises(StorageInternalError):
        Coordinator(study, SPACE, lambda: Here(value_of), n_trials=3).run()
    assert sum(pauses) <= 55
