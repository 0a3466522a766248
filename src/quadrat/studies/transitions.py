"""The writes that decide something, each as one step that happens whole or not at all, on every storage.

A study changes by three transitions:

    a trial        running --end_trial--> complete, failed or pruned, with all that was told of it; once
    an attribute   old --exchange--> new, where it is still old: who coordinates a study
    rows of a file absent --add_trials--> present, each as a trial of its own; once

Each transition looks and writes while nobody else can write: in memory under the storage's lock, in a journal under the
lock of its file, in a database within one transaction that holds the row of the trial or study. So of several processes
that attempt the same transition exactly one makes it, and the others are told that they did not. A process that dies
meanwhile leaves the state before or the state after; in a journal it may leave notes of a trial that still runs, which
whoever ends the trial replaces.

On storages of other kinds (Optuna's proxy over gRPC, a journal in Redis) another process may write between the look and
the write.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from optuna.distributions import BaseDistribution, distribution_to_json, json_to_distribution
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage, RDBStorage
from optuna.storages.journal import BaseJournalBackend, JournalFileBackend
from optuna.storages.journal._file import get_lock_file
from optuna.trial import FrozenTrial, TrialState

from quadrat.studies import journal

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

__all__ = [
    "CONSTRAINTS",
    "ROW",
    "Ending",
    "add_trials",
    "count_trials",
    "distributions_of",
    "end_trial",
    "end_trials",
    "exchange",
    "rows_in",
    "rows_of_files",
]

ROW = "quadrat:row"
"""The system attribute of a trial that was read from a file: which row of which file it is."""

CONSTRAINTS = "constraints"
"""How the system attributes of a trial with its constraints begin; those of Optuna 5 go on with a colon and a name."""

_PART = 5_000  # trials that are added in one step: others wait as long


@dataclass(frozen=True)
class Ending:
    """How a trial ends.

    Attributes
    ----------
    state
        Complete, failed or pruned.
    value
        Its value; None where it has none.
    notes
        User attributes by name; those that are None are emptied where the trial has them.
    constraints
        System attributes with its constraints; None leaves those that the trial has, such as a sampler wrote.
    """

    state: TrialState
    value: float | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    constraints: Mapping[str, Any] | None = None


def end_trial(storage: BaseStorage, trial_id: int, ending: Ending) -> bool:
    """End a trial if it runs; return whether it did."""
    with _alone(storage) as steps:
        return steps.end_trial(trial_id, ending)


def end_trials(storage: BaseStorage, endings: Mapping[int, Ending]) -> list[int]:
    """End trials by their ids, those that run; return the ids of the others."""
    waiting, refused = iter(endings.items()), list[int]()
    while part := list(islice(waiting, _PART)):
        with _alone(storage) as steps:
            refused += [trial_id for trial_id, ending in part if not steps.end_trial(trial_id, ending)]
    return refused


def exchange(storage: BaseStorage, study_id: int, name: str, old: Any, new: Any) -> bool:
    """Have a user attribute of a study be `new` if it is `old`, None where there is none; return whether it was."""
    with _alone(storage) as steps:
        return steps.exchange(study_id, name, old, new)


def add_trials(storage: BaseStorage, study_id: int, trials: Iterable[FrozenTrial]) -> int:
    """Add trials that are over to a study, in their order, without those whose `ROW` it has; return how many.

    They are added in parts: a process that dies leaves the first ones.
    """
    known: set[str] = set()
    seen = added = 0
    waiting = iter(trials)
    while part := list(islice(waiting, _PART)):
        with _alone(storage) as steps:
            rows, seen = steps.rows(study_id, seen)
            known |= rows
            new = [trial for trial in part if trial.system_attrs.get(ROW) not in known]
            steps.add_trials(study_id, new)
        added += len(new)
    return added


# --- what is known of a study without reading its trials, of which a million from a database take gigabytes


def count_trials(storage: BaseStorage, study_id: int, *states: TrialState) -> int:
    """Return how many trials of a study are in one of these states; of all where none is named."""
    with _reading(storage) as steps:
        return steps.count(study_id, states or tuple(TrialState))


def rows_in(storage: BaseStorage, study_id: int) -> set[str]:
    """Return the `ROW`s of all trials of a study."""
    with _alone(storage) as steps:
        return steps.rows(study_id, 0)[0]


def distributions_of(storage: BaseStorage, study_id: int) -> list[tuple[int, str, BaseDistribution]]:
    """Return the distributions that trials of a study have, each with the number of a trial and a parameter's name."""
    with _reading(storage) as steps:
        return steps.distributions(study_id)


def _reading(storage: BaseStorage) -> AbstractContextManager[_Steps]:
    """Return what looks at a storage, to which others may write meanwhile."""
    backend = getattr(storage, "_backend", storage)
    return _in_transaction(backend) if isinstance(backend, RDBStorage) else nullcontext(_Steps(storage))


def _alone(storage: BaseStorage) -> AbstractContextManager[_Steps]:
    """Return what does the steps on a storage, to be entered for as long as nobody else may write."""
    backend = getattr(storage, "_backend", storage)  # Optuna wraps databases
    if isinstance(backend, RDBStorage):
        return _in_transaction(backend)
    if isinstance(storage, JournalStorage):
        return _in_journal(storage)
    return _in_order(storage)


class _Steps:
    """The transitions on a storage without transactions."""

    def __init__(self, storage: BaseStorage) -> None:
        self._storage = storage

    def end_trial(self, trial_id: int, ending: Ending) -> bool:
        storage, trial = self._storage, self._storage.get_trial(trial_id)
        if trial.state is not TrialState.RUNNING:
            return False
        for name, value in _changes(ending.notes, trial.user_attrs):
            storage.set_trial_user_attr(trial_id, name, value)
        for name, value in _changes(_marks(ending, trial.system_attrs), trial.system_attrs):
            storage.set_trial_system_attr(trial_id, name, value)
        storage.set_trial_state_values(trial_id, ending.state, _values(ending))
        return True

    def exchange(self, study_id: int, name: str, old: Any, new: Any) -> bool:
        if self._storage.get_study_user_attrs(study_id).get(name) != old:
            return False
        self._storage.set_study_user_attr(study_id, name, new)
        return True

    def rows(self, study_id: int, first: int) -> tuple[set[str], int]:
        """Return the `ROW`s of the trials from number `first` on, and how many trials there are."""
        trials = self._storage.get_all_trials(study_id, deepcopy=False)
        return rows_of_files(trials[first:]), len(trials)

    def count(self, study_id: int, states: tuple[TrialState, ...]) -> int:
        return len(self._storage.get_all_trials(study_id, deepcopy=False, states=states))

    def distributions(self, study_id: int) -> list[tuple[int, str, BaseDistribution]]:
        """Return each object once: trials from a file have them in common."""
        found: dict[tuple[str, int], tuple[int, str, BaseDistribution]] = {}
        for trial in self._storage.get_all_trials(study_id, deepcopy=False):
            for name, one in trial.distributions.items():
                found.setdefault((name, id(one)), (trial.number, name, one))
        return list(found.values())

    def add_trials(self, study_id: int, trials: Sequence[FrozenTrial]) -> None:
        for trial in trials:
            self._storage.create_new_trial(study_id, trial)


@contextmanager
def _in_order(storage: BaseStorage) -> Iterator[_Steps]:
    with storage._lock if isinstance(storage, InMemoryStorage) else nullcontext():
        yield _Steps(storage)


# --- journals


class _Records(BaseJournalBackend):
    """Keeps what would be written to a journal."""

    def __init__(self) -> None:
        self.all: list[dict[str, Any]] = []

    def read_logs(self, log_number_from: int) -> list[dict[str, Any]]:  # noqa: ARG002
        return []

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        self.all += logs


class _JournalSteps(_Steps):
    """The transitions as records that are appended together, to a journal whose lock is held."""

    def __init__(self, storage: JournalStorage) -> None:
        self._state = storage._replay_result
        self._records = _Records()
        self._last: tuple[dict[str, BaseDistribution], dict[str, str]] | None = None
        self._writer: Any = JournalStorage(self._records)  # makes the records that Optuna would, and applies none
        self._writer._replay_result._worker_id_prefix = storage._worker_id_prefix
        self._writer._replay_result._last_created_trial_id_by_this_process = -1

    @property
    def records(self) -> list[dict[str, Any]]:
        """What is to be appended, all of it at once."""
        return self._records.all

    def end_trial(self, trial_id: int, ending: Ending) -> bool:
        trial = self._state.get_trial(trial_id)
        if trial.state is not TrialState.RUNNING:
            return False
        for name, value in _changes(ending.notes, trial.user_attrs):
            self._writer.set_trial_user_attr(trial_id, name, value)
        for name, value in _changes(_marks(ending, trial.system_attrs), trial.system_attrs):
            self._writer.set_trial_system_attr(trial_id, name, value)
        self._writer.set_trial_state_values(trial_id, ending.state, _values(ending))  # last: what comes later is void
        return True

    def exchange(self, study_id: int, name: str, old: Any, new: Any) -> bool:
        if self._state.get_study(study_id).user_attrs.get(name) != old:
            return False
        self._writer.set_study_user_attr(study_id, name, new)
        return True

    def rows(self, study_id: int, first: int) -> tuple[set[str], int]:
        ids = self._state._study_id_to_trial_ids[study_id]  # all trials, for each part of a million, take a minute
        return rows_of_files(self._state._trials[trial_id] for trial_id in ids[first:]), len(ids)

    def add_trials(self, study_id: int, trials: Sequence[FrozenTrial]) -> None:
        for trial in trials:
            bare = copy.copy(trial)
            bare.params, bare.distributions = {}, {}
            self._writer.create_new_trial(study_id, bare)
            codes = {name: trial.distributions[name].to_internal_repr(param) for name, param in trial.params.items()}
            self._records.all[-1] |= {"distributions": self._texts(trial.distributions), "params": codes}

    def _texts(self, distributions: dict[str, BaseDistribution]) -> dict[str, str]:
        """Return distributions as Optuna writes them; trials from one file have the same ones."""
        if self._last is None or self._last[0] is not distributions:
            texts = {name: distribution_to_json(distribution) for name, distribution in distributions.items()}
            self._last = distributions, texts
        return self._last[1]


@contextmanager
def _in_journal(storage: JournalStorage) -> Iterator[_Steps]:
    """Hold the journal's lock, and know all records; what is written meanwhile is applied at the end."""
    backend = storage._backend
    with storage._thread_lock:
        if isinstance(backend, JournalFileBackend):
            with get_lock_file(backend._lock):
                storage._sync_with_backend()
                steps = _JournalSteps(storage)
                yield steps
                if steps.records:
                    journal.append_records(backend._file_path, steps.records)
        else:
            storage._sync_with_backend()
            steps = _JournalSteps(storage)
            yield steps
            if steps.records:
                backend.append_logs(steps.records)
        storage._sync_with_backend()


# --- databases


class _DatabaseSteps(_Steps):
    """The transitions within a transaction."""

    def __init__(self, session: Session) -> None:
        from optuna.storages._rdb import models

        self._session, self._models = session, models

    def end_trial(self, trial_id: int, ending: Ending) -> bool:
        models, session = self._models, self._session
        trials = session.query(models.TrialModel).filter(models.TrialModel.trial_id == trial_id)
        running = trials.filter(models.TrialModel.state == TrialState.RUNNING)
        # It changes nothing, and has everybody else wait, also on SQLite, which knows no SELECT FOR UPDATE.
        if running.update({"state": TrialState.RUNNING}, synchronize_session=False) == 0:
            return False
        trial = trials.one()
        for model in (models.TrialUserAttributeModel, models.TrialSystemAttributeModel):
            there = {row.key: row for row in model.where_trial_id(trial_id, session)}
            known = {key: json.loads(row.value_json) for key, row in there.items()}
            wanted = ending.notes if model is models.TrialUserAttributeModel else _marks(ending, known)
            for name, value in _changes(wanted, known):
                if name in there:
                    there[name].value_json = json.dumps(value)
                else:
                    session.add(model(trial_id=trial_id, key=name, value_json=json.dumps(value)))
        if ending.value is not None:
            model = models.TrialValueModel
            row = model.find_by_trial_and_objective(trial, 0, session) or model(trial_id=trial_id, objective=0)
            row.value, row.value_type = model.value_to_stored_repr(ending.value)
            session.add(row)
        trial.state = ending.state
        trial.datetime_complete = datetime.now()  # as Optuna does, which turns it into UTC
        return True

    def exchange(self, study_id: int, name: str, old: Any, new: Any) -> bool:
        self._hold(study_id)
        model = self._models.StudyUserAttributeModel
        row = self._session.query(model).filter(model.study_id == study_id, model.key == name).one_or_none()
        if (None if row is None else json.loads(str(row.value_json))) != old:
            return False
        if row is None:
            self._session.add(model(study_id=study_id, key=name, value_json=json.dumps(new)))
        else:
            row.value_json = json.dumps(new)
        return True

    def _hold(self, study_id: int) -> None:
        """Have everybody else who wants to hold the study wait, Optuna among them where it begins a trial."""
        study = self._models.StudyModel
        of_it = self._session.query(study).filter(study.study_id == study_id)
        if of_it.update({"study_name": study.study_name}, synchronize_session=False) == 0:
            raise KeyError(f"there is no study {study_id}")

    def rows(self, study_id: int, first: int) -> tuple[set[str], int]:
        self._hold(study_id)
        mark, trial = self._models.TrialSystemAttributeModel, self._models.TrialModel
        marks = (
            self._session.query(mark.value_json)
            .join(trial)
            .filter(trial.study_id == study_id, trial.number >= first, mark.key == ROW)
        )
        count = self._session.query(trial).filter(trial.study_id == study_id).count()
        return {row for (text,) in marks if isinstance(row := json.loads(text), str)}, count

    def count(self, study_id: int, states: tuple[TrialState, ...]) -> int:
        trial = self._models.TrialModel
        return int(self._session.query(trial).filter(trial.study_id == study_id, trial.state.in_(states)).count())

    def distributions(self, study_id: int) -> list[tuple[int, str, BaseDistribution]]:
        from sqlalchemy import func

        param, trial = self._models.TrialParamModel, self._models.TrialModel
        found = (
            self._session.query(func.min(trial.number), param.param_name, param.distribution_json)
            .join(trial, trial.trial_id == param.trial_id)
            .filter(trial.study_id == study_id)
            .group_by(param.param_name, param.distribution_json)
            .order_by(func.min(trial.number))
        )
        return [(number, name, json_to_distribution(text)) for number, name, text in found]

    def add_trials(self, study_id: int, trials: Sequence[FrozenTrial]) -> None:
        """Insert all of a table at once: Optuna asks a dozen times for each trial."""
        from sqlalchemy import insert

        if not trials:
            return
        models, session = self._models, self._session
        trial_model, value_model = models.TrialModel, models.TrialValueModel
        first = session.query(trial_model).filter(trial_model.study_id == study_id).count()
        numbered = dict(enumerate(trials, start=first))
        session.execute(
            insert(trial_model.__table__), [self._columns(study_id, number, one) for number, one in numbered.items()]
        )
        known = session.query(trial_model.number, trial_model.trial_id).filter(
            trial_model.study_id == study_id, trial_model.number >= first
        )
        ids = dict(known)
        values: list[dict[str, Any]] = []
        params: list[dict[str, Any]] = []
        notes: list[dict[str, Any]] = []
        marks: list[dict[str, Any]] = []
        for number, trial in numbered.items():
            owner = {"trial_id": ids[number]}
            for objective, value in enumerate(trial.values or ()):
                stored, kind = value_model.value_to_stored_repr(value)
                values.append({**owner, "objective": objective, "value": stored, "value_type": kind})
            for name, param in trial.params.items():
                distribution = trial.distributions[name]
                code = {"param_value": distribution.to_internal_repr(param)}
                text = {"distribution_json": distribution_to_json(distribution)}
                params.append({**owner, "param_name": name, **code, **text})
            for rows, found in ((notes, trial.user_attrs), (marks, trial.system_attrs)):
                rows += [{**owner, "key": name, "value_json": json.dumps(value)} for name, value in found.items()]
        for model, rows in (
            (value_model, values),
            (models.TrialParamModel, params),
            (models.TrialUserAttributeModel, notes),
            (models.TrialSystemAttributeModel, marks),
        ):
            if rows:
                session.execute(insert(model.__table__), rows)

    def _columns(self, study_id: int, number: int, trial: FrozenTrial) -> dict[str, Any]:
        """Return a row of the table of trials, with times as this version of Optuna writes them."""
        from sqlalchemy import inspect

        model = self._models.TrialModel
        row = model(
            study_id=study_id,
            number=number,
            state=trial.state,
            datetime_start=trial.datetime_start,
            datetime_complete=trial.datetime_complete,
        )
        columns = {column.columns[0].name: getattr(row, column.key) for column in inspect(model).column_attrs}
        del columns["trial_id"]  # the database gives it
        return columns


@contextmanager
def _in_transaction(storage: RDBStorage) -> Iterator[_Steps]:
    from optuna.storages._rdb.storage import _create_scoped_session

    with _create_scoped_session(storage.scoped_session) as session:
        yield _DatabaseSteps(session)


# --- what all have in common


def _changes(wanted: Mapping[str, Any], known: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the attributes that are to be written: None where an earlier writer, who died, left something."""
    return [(name, value) for name, value in wanted.items() if value is not None or known.get(name) is not None]


def _marks(ending: Ending, known: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the system attributes with the constraints; those of a writer who died are emptied."""
    if ending.constraints is None:
        return {}
    left = [name for name in known if name.partition(":")[0] == CONSTRAINTS]
    return {**dict.fromkeys(left), **ending.constraints}


def _values(ending: Ending) -> list[float] | None:
    return None if ending.value is None else [ending.value]


def rows_of_files(trials: Iterable[FrozenTrial]) -> set[str]:
    """Return which rows of files trials are of."""
    return {row for trial in trials if isinstance(row := trial.system_attrs.get(ROW), str)}
