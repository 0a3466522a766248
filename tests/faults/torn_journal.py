"""Journals that end in the middle of a record, or in what is no record at all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import optuna
from optuna.trial import TrialState
from tests.faults.bench import Bench, Findings

from quadrat.studies.journal import journal_storage

N_TRIALS = 6
_TOLD = 6  # Optuna's code for the record that a trial is over
TAILS = {
    "text": b"no record at all",
    "a line of text": b"no record at all\n",
    "lines of text": b"no record\nat all\n\n\n",
    "a number": b"17\n",
    "bytes": bytes(range(256)) + b"\n\xff\xfe\n",
    "zeros": b"\0" * 4096,
    "lines of zeros": b"\0" * 300 + b"\n" + b"\0" * 300 + b"\n",
    "half a record and zeros": b'{"op_code":6,"worker_id":"' + b"\0" * 500,
    "half a record on a line": b'{"op_code":6,"worker_id":"\n',
}


def whole_journal(bench: Bench) -> bytes:
    """Return the journal of a study whose last two records are a trial that is told and one that is begun."""
    bench.finish(N_TRIALS)
    journal = bench.folder / bench.storage
    records = journal.read_bytes().splitlines(keepends=True)
    last = max(i for i, record in enumerate(records) if json.loads(record)["op_code"] == _TOLD)
    return b"".join(records[: last + 2])


def cut_journals(whole: bytes) -> Iterator[bytes]:
    """Yield the journal cut at every byte of its last two records."""
    *_, last_but_one, last = whole.splitlines(keepends=True)
    for size in range(len(whole) - len(last_but_one) - len(last), len(whole)):
        yield whole[:size]


def check_readable(path: Path, whole: bytes, torn: bytes) -> None:
    """Every trial whose record is whole is there, before and after something else was written."""
    path.write_bytes(torn)
    is_last_told = torn.startswith(b"".join(whole.splitlines(keepends=True)[:-1]))
    expected = [TrialState.COMPLETE] * (N_TRIALS - 1) + [TrialState.COMPLETE if is_last_told else TrialState.RUNNING]
    for _ in range(2):
        study = optuna.load_study(study_name="quadrat", storage=journal_storage(path))
        assert [trial.state for trial in study.get_trials(deepcopy=False)] == expected
        study.set_user_attr("written", "later")
    lines = path.read_bytes().splitlines()
    assert all(json.loads(line)["op_code"] is not None for line in lines), "nothing but records is left"


def torn_and_resumed(bench: Bench, journals: Sequence[bytes]) -> Findings:
    """Resume a study from each of the journals; return what was found, all in all."""
    found = []
    for number, torn in enumerate(journals):
        resumed = Bench(bench.folder / f"torn{number}", bench.starter, bench.reference)
        (resumed.folder / resumed.storage).write_bytes(torn)
        resumed.finish(N_TRIALS)
        found.append(resumed.audit("", 1, N_TRIALS))
    return Findings(
        "a journal that is cut, or ends in garbage or zeros",
        len(found),
        told=sum(one.told for one in found),
        lost=sum(one.lost for one in found),
        duplicated=sum(one.duplicated for one in found),
        stuck=sum(one.stuck for one in found),
        equal=all(one.equal for one in found),
    )
