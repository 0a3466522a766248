"""The transitions: one state machine on every storage, and every interleaving of two or three actors."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier
from typing import Any

import optuna
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from optuna.distributions import FloatDistribution, IntDistribution
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState, create_trial
from tests.studies.interleaving import READ, WRITE, Killed, Lock, Scheduler, every_interleaving

from quadrat.errors import InvalidInput
from quadrat.optimizer import FAILED, Estimate, Measured
from quadrat.studies import journal, transitions
from quadrat.studies import lease as lease_module
from quadrat.studies.journal import journal_storage
from quadrat.studies.lease import Lease
from quadrat.studies.storage import open_storage
from quadrat.studies.telling import FAILURE, TrialIsOver, tell_outcome
from quadrat.studies.transitions import (
    ROW,
    Ending,
    add_trials,
    count_trials,
    distributions_of,
    end_trial,
    end_trials,
    exchange,
    rows_in,
)
from quadrat.studies.trials import REPLICATES, STANDARD_ERROR, complete_constraints

optuna.logging.set_verbosity(optuna.logging.ERROR)

MEMORY = "memory" if hasattr(optuna.Trial, "set_constraint") else "0"  # Optuna 4 has constraints without names

TOLD: dict[str, object] = {
    "replicates": Measured([1.0, 3.0], {"memory": -1.0}),
    "estimate": Estimate(7.0, 0.5),
    "failure": FAILED,
    "list": [1.0, 2.0, 6.0],
}
"""What the actors tell, each of one trial."""

WRITTEN: dict[str, tuple[object, ...]] = {
    "replicates": (TrialState.COMPLETE, [2.0], [1.0, 3.0], None, None, {MEMORY: -1.0}),
    "estimate": (TrialState.COMPLETE, [7.0], None, 0.5, None, {}),
    "failure": (TrialState.FAIL, None, None, None, "told FAILED", {}),
    "list": (TrialState.COMPLETE, [3.0], [1.0, 2.0, 6.0], None, None, {}),
}
"""What a trial then says: state, values, replicates, standard error, failure, constraints."""


def said(trial: FrozenTrial) -> tuple[object, ...]:
    notes = trial.user_attrs
    constraints = {name: value for name, value in complete_constraints(trial).items() if value is not None}
    return trial.state, trial.values, notes.get(REPLICATES), notes.get(STANDARD_ERROR), notes.get(FAILURE), constraints


# --- storages whose every access is a step


@contextmanager
def stepped_memory(scheduler: Scheduler, _folder: Path) -> Any:
    """One storage in memory for all actors, which let each other go first at its lock: all its methods take it."""
    storage = InMemoryStorage()
    study = optuna.create_study(storage=storage, study_name="s")
    storage._lock = Lock(scheduler, WRITE)  # type: ignore[assignment]
    yield lambda: optuna.load_study(study_name=study.study_name, storage=storage)


@contextmanager
def stepped_journal(scheduler: Scheduler, folder: Path) -> Any:
    """A storage for each actor, on one file: they let each other go first at its lock, reads, and every record."""
    path, lock = folder / "journal", Lock(scheduler)
    path.unlink(missing_ok=True)

    class Stepped(JournalFileBackend):
        def __init__(self) -> None:
            super().__init__(str(path), lock)  # type: ignore[arg-type]

        def read_logs(self, log_number_from: int) -> Any:
            scheduler.step(READ)
            return list(super().read_logs(log_number_from))

    def append(where: str, logs: list[dict[str, Any]]) -> None:
        for log in logs:  # a process may be killed between two of them
            scheduler.step(WRITE)
            with Path(where).open("a") as file:
                file.write(json.dumps(log) + "\n")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        patch.setattr(journal, "append_records", append)
        optuna.create_study(storage=JournalStorage(Stepped()), study_name="s")
        yield lambda: optuna.load_study(study_name="s", storage=JournalStorage(Stepped()))


STORAGES = {"memory": stepped_memory, "journal": stepped_journal}
on_each = pytest.mark.parametrize("storage", STORAGES)


@dataclass
class Outcome:
    """What came of one interleaving."""

    results: dict[str, object]
    study: Study
    seen: list[tuple[object, ...]]

    @property
    def acknowledged(self) -> list[str]:
        return [name for name, result in self.results.items() if isinstance(result, TrialState)]


def tells(scheduler: Scheduler, storage: str, folder: Path, names: list[str], mortal: bool, reader: bool) -> Outcome:
    """Have actors tell one trial, each something else; another one may look at it meanwhile."""
    with STORAGES[storage](scheduler, folder) as load:
        trial_id = load().ask()._trial_id
        seen: list[tuple[object, ...]] = []
        for name in names:
            study = load()
            trial = optuna.trial.Trial(study, trial_id)
            tell = partial(tell_outcome, study, trial, TOLD[name])
            scheduler.add(name, tell, mortal=mortal and name == names[0])
        if reader:
            looking = load()
            scheduler.add("reader", lambda: seen.append(said(looking._storage.get_trial(trial_id))))
        return Outcome(scheduler.run(), load(), seen)


def check_one_is_acknowledged(outcome: Outcome) -> None:
    """One tell is stored whole, the others are refused; a reader sees a trial that runs, or what the winner told."""
    assert len(outcome.acknowledged) == 1, outcome.results
    [winner] = outcome.acknowledged
    [trial] = outcome.study.trials
    assert said(trial) == WRITTEN[winner]
    for seen in outcome.seen:
        assert seen[0] is TrialState.RUNNING or seen == WRITTEN[winner]
    for name, result in outcome.results.items():
        assert name in (winner, "reader") or isinstance(result, TrialIsOver), result


@on_each
@pytest.mark.parametrize(
    ("names", "reader"),
    [(["replicates", "estimate"], False), (["list", "failure"], True), (["estimate", "failure", "list"], False)],
    ids=["two", "two and a reader", "three"],
)
def test_of_tells_at_once_one_is_stored_and_acknowledged(
    storage: str, names: list[str], reader: bool, tmp_path: Path
) -> None:
    if len(names) == 3 and storage == "journal":
        pytest.skip("thousands of orders, in each of which one waits for the others as in memory")
    counts = set()
    for outcome, choices in every_interleaving(
        lambda scheduler: tells(scheduler, storage, tmp_path, names, mortal=False, reader=reader)
    ):
        try:
            check_one_is_acknowledged(outcome)
        except AssertionError as error:
            raise AssertionError(f"{choices}: {error}") from error
        counts.add(outcome.acknowledged[0])
    assert counts == set(names), "each of them wins in some order"


def test_a_teller_that_is_killed_leaves_nothing_or_all_of_it(tmp_path: Path) -> None:
    """Killed at any access, also between two records: another tell is then the winner, or is refused."""
    fates = set()
    for outcome, choices in every_interleaving(
        lambda scheduler: tells(scheduler, "journal", tmp_path, ["list", "estimate"], mortal=True, reader=False)
    ):
        killed = isinstance(outcome.results["list"], Killed)
        [trial] = outcome.study.trials
        if not killed:
            check_one_is_acknowledged(outcome)
        else:
            assert said(trial) == WRITTEN["estimate" if outcome.acknowledged else "list"], choices
        fates.add((killed, *outcome.acknowledged))
    assert len(fates) == 4, fates


@on_each
def test_the_scheduler_finds_what_a_tell_in_several_steps_does(
    storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: attributes first, then the state, and nobody waits. Results are lost, or mixed."""
    monkeypatch.setattr(transitions, "_alone", lambda storage: nullcontext(transitions._Steps(storage)))
    wrong = set()
    for outcome, _ in every_interleaving(
        lambda scheduler: tells(scheduler, storage, tmp_path, ["list", "estimate"], mortal=False, reader=False)
    ):
        if len(outcome.acknowledged) == 1 and said(outcome.study.trials[0]) != WRITTEN[outcome.acknowledged[0]]:
            wrong.add("mixed")
        elif len(outcome.acknowledged) != 1:
            wrong.add("doubled")
        wrong |= {"raw error" for one in outcome.results.values() if not isinstance(one, TrialState | TrialIsOver)}
    assert "mixed" in wrong


# --- the lease


def coordinators(
    scheduler: Scheduler, storage: str, folder: Path, dead: object, count: int
) -> tuple[dict[str, object], int, object]:
    """Have some coordinate a study whose last one has died; return what came, how many did at once, what is left."""
    with STORAGES[storage](scheduler, folder) as load:
        load().set_user_attr("quadrat:coordinator", dead)
        inside: list[str] = []
        most = 0

        def coordinate(name: str, study: Study) -> str:
            nonlocal most
            with Lease(study) as lease:
                inside.append(name)
                most = max(most, len(inside))
                scheduler.step(WRITE)
                lease._sign()
                lease.check()
                inside.remove(name)
            return "coordinated"

        for number in range(count):
            name = f"coordinator {number}"
            scheduler.add(name, partial(coordinate, name, load()))
        results = scheduler.run()
        return results, most, load().user_attrs["quadrat:coordinator"]


DEAD = {"owner": "dead", "host": "here", "pid": 2**22 + 1, "started": 1, "signs": 3}


@on_each
@pytest.mark.parametrize("dead", [None, DEAD], ids=["free", "left behind"])
def test_a_study_never_has_two_coordinators(
    storage: str, dead: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lease, "_keep", lambda _: None)
    dead = dead and {**dead, "kernel": lease_module._this_process()["kernel"]}
    started = lease_module._started
    monkeypatch.setattr(lease_module, "_started", lambda pid: None if pid == DEAD["pid"] else started(os.getpid()))
    refused = False
    for (results, most, left), choices in every_interleaving(
        lambda scheduler: coordinators(scheduler, storage, tmp_path, dead, 2)
    ):
        assert most == 1, choices
        assert "coordinated" in results.values(), choices
        for result in results.values():
            assert result == "coordinated" or isinstance(result, InvalidInput), (choices, result)
        refused = refused or any(isinstance(result, InvalidInput) for result in results.values())
        assert left is None, choices
    assert refused


@on_each
def test_a_lease_that_is_looked_at_and_written_in_two_steps_is_had_twice(
    storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was; the scheduler finds it."""
    monkeypatch.setattr(Lease, "_keep", lambda _: None)
    monkeypatch.setattr(transitions, "_alone", lambda storage: nullcontext(transitions._Steps(storage)))
    found = every_interleaving(lambda scheduler: coordinators(scheduler, storage, tmp_path, None, 2))
    assert any(most == 2 for (_, most, _), _ in found)


# --- rows of a file


def row(name: str | None, value: float = 0.5) -> FrozenTrial:
    return create_trial(
        value=value,
        params={"x": value},
        distributions={"x": FloatDistribution(0, 1)},
        system_attrs={} if name is None else {ROW: name},
    )


def imports(scheduler: Scheduler, storage: str, folder: Path, mortal: bool) -> list[str]:
    """Have two import the same rows, in parts of two, and a third one add the last of them again."""
    with STORAGES[storage](scheduler, folder) as load:
        rows = [row(name) for name in "abc"]
        for name in ("first", "second"):
            study = load()
            add = partial(add_trials, study._storage, study._study_id, rows)
            scheduler.add(name, add, mortal=mortal and name == "first")
        scheduler.run()
        study = load()
        add_trials(study._storage, study._study_id, rows)
        return [trial.system_attrs[ROW] for trial in study.trials]


@on_each
def test_rows_are_added_once_whoever_adds_them(storage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transitions, "_PART", 2)
    for mortal in (False, storage == "journal"):
        for rows, choices in every_interleaving(lambda one: imports(one, storage, tmp_path, mortal)):  # noqa: B023
            assert sorted(rows) == list("abc"), choices


def test_rows_that_name_nothing_are_all_new() -> None:
    study = optuna.create_study()
    assert add_trials(study._storage, study._study_id, [row(None), row(None)]) == 2
    assert add_trials(study._storage, study._study_id, [row(None)]) == 1
    assert len(study.trials) == 3


# --- one state machine, whatever keeps it


class EqualStorages(RuleBasedStateMachine):
    """The same transitions on a storage in memory, a journal and a database, and on a model of a few lines."""

    @initialize()
    def begin(self) -> None:
        self.folder = TemporaryDirectory()
        backends: list[BaseStorage] = [
            InMemoryStorage(),
            journal_storage(f"{self.folder.name}/journal"),
            JournalStorage(JournalFileBackend(f"{self.folder.name}/stock")),
            RDBStorage("sqlite:///:memory:"),
        ]
        self.studies = [optuna.create_study(storage=storage, study_name="s") for storage in backends]
        self.trials: list[tuple[object, ...]] = []
        self.rows: set[str] = set()
        self.attribute: object = None

    def on_all(self, act: Callable[[Study], Any]) -> Any:
        first, *others = [act(study) for study in self.studies]
        assert all(other == first for other in others), (first, others)
        return first

    @rule()
    def ask(self) -> None:
        self.on_all(lambda study: study.ask().number)
        self.trials.append((TrialState.RUNNING, None, None, None, None, {}))

    @rule(number=st.integers(0, 3), outcome=st.sampled_from(list(TOLD)))
    def tell(self, number: int, outcome: str) -> None:
        if number >= len(self.trials):
            return
        is_open = self.trials[number][0] is TrialState.RUNNING

        def act(study: Study) -> bool:
            trial = optuna.trial.Trial(study, study.trials[number]._trial_id)
            try:
                tell_outcome(study, trial, TOLD[outcome])
            except TrialIsOver:
                return False
            except InvalidInput:  # other constraints than those of the first trial that had any
                return True
            return True

        assert self.on_all(act) == is_open
        if is_open:
            self.trials[number] = said(self.studies[0].trials[number])
            assert self.trials[number] in (WRITTEN[outcome], (TrialState.RUNNING, None, None, None, None, {}))

    @rule(old=st.sampled_from([None, 1, {"a": [1, None]}]), new=st.sampled_from([None, 1, {"a": [1, None]}]))
    def exchange(self, old: object, new: object) -> None:
        is_old = self.attribute == old
        assert self.on_all(lambda study: exchange(study._storage, study._study_id, "note", old, new)) == is_old
        if is_old:
            self.attribute = new

    @rule(names=st.lists(st.sampled_from("abcde"), max_size=4, unique=True))
    def add(self, names: list[str]) -> None:
        rows = [row(name, 0.25) for name in names]
        new = [name for name in names if name not in self.rows]
        assert self.on_all(lambda study: add_trials(study._storage, study._study_id, rows)) == len(new)
        self.rows |= set(new)
        self.trials += [(TrialState.COMPLETE, [0.25], None, None, None, {})] * len(new)

    @invariant()
    def all_say_the_same(self) -> None:
        if not hasattr(self, "studies"):
            return
        for study in self.studies:
            assert [said(trial) for trial in study.trials] == self.trials
            assert [trial.number for trial in study.trials] == list(range(len(self.trials)))
            assert study.user_attrs.get("note") == self.attribute

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()


EqualStorages.TestCase.settings = settings(max_examples=8, stateful_step_count=10, deadline=None)
test_all_storages_are_the_same_state_machine = EqualStorages.TestCase


# --- what is written is what Optuna would have written


@pytest.mark.parametrize("url", ["sqlite:///{}/a.db", "journal"])
def test_a_trial_that_is_added_reads_as_one_that_optuna_added(url: str, tmp_path: Path) -> None:
    storage: BaseStorage = (
        journal_storage(tmp_path / "journal") if url == "journal" else RDBStorage(url.format(tmp_path))
    )
    study = optuna.create_study(storage=storage)
    trial = create_trial(
        value=float("-inf"),
        params={"x": 0.5, "kind": None},
        distributions={"x": FloatDistribution(0, 1), "kind": optuna.distributions.CategoricalDistribution([1, None])},
        user_attrs={"note": [1, {"a": None}]},
        system_attrs={ROW: "r"},
    )
    study.add_trial(trial)
    add_trials(study._storage, study._study_id, [create_trial_with(trial, "s")])
    theirs, ours = optuna.load_study(study_name=study.study_name, storage=storage).trials
    for name in ("state", "values", "params", "distributions", "user_attrs", "intermediate_values"):
        assert getattr(theirs, name) == getattr(ours, name), name
    assert (theirs.datetime_start, theirs.datetime_complete) == (ours.datetime_start, ours.datetime_complete)
    assert ours.number == 1
    assert study.ask().number == 2


def create_trial_with(trial: FrozenTrial, name: str) -> FrozenTrial:
    other = copy.deepcopy(trial)
    other.system_attrs[ROW] = name
    return other


def test_trials_are_ended_together(tmp_path: Path) -> None:
    for storage in (InMemoryStorage(), journal_storage(tmp_path / "j"), RDBStorage(f"sqlite:///{tmp_path}/a.db")):
        study = optuna.create_study(storage=storage)
        ids = [study.ask()._trial_id for _ in range(3)]
        endings = {trial_id: Ending(TrialState.COMPLETE, float(trial_id)) for trial_id in ids}
        assert end_trial(study._storage, ids[1], Ending(TrialState.FAIL))
        assert end_trials(study._storage, endings) == [ids[1]]
        assert [trial.values for trial in study.trials] == [[float(ids[0])], None, [float(ids[2])]]


@pytest.mark.parametrize("attempt", ["tell", "exchange", "add"])
def test_threads_on_a_database_do_it_once(attempt: str, tmp_path: Path) -> None:
    """The scheduler cannot look into SQLite. benchmarks/races.py does this with processes, a thousand times."""
    url = f"sqlite:///{tmp_path}/a.db"
    study = optuna.create_study(storage=url, study_name="s")
    studies = [optuna.load_study(study_name="s", storage=url) for _ in range(4)]
    for number in range(4):
        trial_id, gate = study.ask()._trial_id, Barrier(len(studies))

        def act(one: Study, gate: Barrier = gate, trial_id: int = trial_id, number: int = number) -> bool:
            storage, me = one._storage, studies.index(one)
            gate.wait()
            if attempt == "tell":
                return end_trial(storage, trial_id, Ending(TrialState.COMPLETE, 1.0, {"who": me}))
            if attempt == "exchange":
                return exchange(storage, one._study_id, f"lease {number}", None, me)
            return add_trials(storage, one._study_id, [row(f"row {number}")]) == 1

        with ThreadPoolExecutor(len(studies)) as pool:
            assert sorted(pool.map(act, studies)) == [False, False, False, True]


@pytest.mark.parametrize("url", [None, "journal", "sqlite:///study.db"])
def test_what_is_known_of_a_study_is_what_its_trials_say(
    url: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a database without reading them: Optuna's own count reads all, and takes gigabytes for a million."""
    monkeypatch.chdir(tmp_path)
    study = optuna.create_study(storage=None if url is None else open_storage(url), study_name="s")
    study.ask({"x": FloatDistribution(0, 1)})
    study.tell(study.ask({"x": FloatDistribution(0, 2), "n": IntDistribution(1, 3)}), 1.0)
    place = study._storage, study._study_id
    assert add_trials(*place, [row("first"), row("second")]) == 2
    if url is not None and "://" in url:
        monkeypatch.setattr(RDBStorage, "get_all_trials", None)
        monkeypatch.setattr(RDBStorage, "_get_trials", None)
    assert (count_trials(*place), count_trials(*place, TrialState.RUNNING)) == (4, 1)
    assert count_trials(*place, TrialState.RUNNING, TrialState.COMPLETE) == 4
    assert rows_in(*place) == {"first", "second"}
    found = {(name, str(one)) for _, name, one in distributions_of(*place)}
    mine = {("x", str(FloatDistribution(0, 2))), ("n", str(IntDistribution(1, 3)))}
    assert found >= {("x", str(FloatDistribution(0, 1))), *mine}
    assert {(name, str(one)) for number, name, one in distributions_of(*place) if number == 1} == mine
