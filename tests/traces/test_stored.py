"""Journals and states that version 0.1.0 wrote: they open, nothing of them is lost, and they go on as they would have.

What a study or an optimizer suggests next is compared bit for bit on the kind of machine that recorded it; elsewhere
only the numbers of the next trials and that they come are checked.
"""

from __future__ import annotations

import json
import shutil
import warnings
from typing import Any

import optuna
import pytest
from tests.traces import plain as form
from tests.traces.command_runs import JOURNAL, bench, command, printed, stored
from tests.traces.comparing import FINGERPRINT, differences, fingerprint, read, report
from tests.traces.plain import Plain
from tests.traces.storing import EXPECTED, JOURNALS, STATES, STORED, journal_path, kept_in, nexts_of, state_path

import quadrat as qd
from quadrat.errors import QuadratWarning

SAME_KIND = read(FINGERPRINT) == fingerprint()
EXPECTATIONS = read(EXPECTED)
LARGEST = 50_000  # bytes of a file
pytestmark = pytest.mark.filterwarnings("ignore::quadrat.errors.QuadratWarning")  # parameters drawn at random


def journal(name: str) -> str:
    if name == "constrained" and not hasattr(optuna.trial.FrozenTrial, "constraints"):
        pytest.skip("it has named constraints, which Optuna has since version 5")
    return name


def check_equal(recorded: Plain, now: Plain) -> None:
    found = list(differences(recorded, json.loads(json.dumps(now))))
    assert not found, report(found)


def check_next(recorded: list[dict[str, Any]], now: list[dict[str, Any]]) -> None:
    """Compare the next trials: as a whole on the same kind of machine, their numbers elsewhere."""
    if SAME_KIND:
        check_equal(recorded, now)
    else:
        check_equal([one["number"] for one in recorded], [one["number"] for one in now])


@pytest.mark.parametrize("name", JOURNALS)
def test_nothing_of_a_journal_is_lost(name: str) -> None:
    expected = EXPECTATIONS["journals"][journal(name)]
    with bench() as folder:
        shutil.copy(journal_path(name), folder / JOURNAL)
        check_equal({key: expected[key] for key in ("direction", "notes", "trials")}, kept_in(stored()))
        shown = printed("show")["trials"]
    for kept, said in zip(expected["trials"], shown, strict=True):
        assert (said["number"], said["state"]) == (kept["number"], kept["state"])
        told = kept["values"] if kept["state"] == "complete" else [None]  # what a pruned trial reported is no value
        assert [form.plain(said["value"])] == told
        assert form.plain(said["params"]) == kept["params"]
        assert form.plain(said["sem"]) == kept["user_attrs"].get("quadrat:sem")
        assert form.plain(said["replicates"]) == kept["user_attrs"].get("quadrat:values")
        assert said["failure"] == kept["user_attrs"].get("quadrat:failure")


@pytest.mark.parametrize("name", JOURNALS)
def test_a_journal_goes_on(name: str) -> None:
    with bench() as folder:
        shutil.copy(journal_path(journal(name)), folder / JOURNAL)
        before = kept_in(stored())
        now = JOURNALS[name].go_on()
        after = kept_in(stored())
    check_next(EXPECTATIONS["journals"][name]["next"], now)
    over = [one for one in before["trials"] if one["state"] not in ("running", "waiting")]
    assert [after["trials"][one["number"]] for one in over] == over, "what was over is as it was"
    assert len(after["trials"]) > len(before["trials"])


def test_an_interrupted_trial_is_evaluated_again() -> None:
    expected = EXPECTATIONS["journals"]["interrupted"]
    left = [one for one in expected["trials"] if one["state"] == "running"]
    assert len(left) == 1
    again = expected["next"][0]
    assert (again["number"], again["params"]) == (left[0]["number"], left[0]["params"])
    assert again["state"] == "complete"


def test_a_journal_that_is_exported_has_all_rows() -> None:
    with bench() as folder:
        shutil.copy(journal_path("by_hand"), folder / JOURNAL)
        rows = command("export", "--csv", "-").splitlines()
    assert len(rows) == 1 + len(EXPECTATIONS["journals"]["by_hand"]["trials"])


def rebuilt(name: str, state: dict[str, Any]) -> qd.Optimizer:
    return qd.Optimizer.from_state(STATES[name].space, state, method=STATES[name].method)


def records(optimizer: qd.Optimizer) -> Plain:
    return [{**form.record(one), "why": one.why} for one in optimizer.trials]


@pytest.mark.parametrize("name", STATES)
def test_nothing_of_a_state_is_lost(name: str) -> None:
    expected = EXPECTATIONS["states"][name]["trials"]
    optimizer = rebuilt(name, read(state_path(name)))
    check_equal(expected, records(optimizer))
    again = rebuilt(name, json.loads(json.dumps(optimizer.state())))
    check_equal(expected, records(again))


@pytest.mark.parametrize("name", STATES)
def test_a_state_goes_on(name: str) -> None:
    expected = EXPECTATIONS["states"][name]["next"]
    now = nexts_of(rebuilt(name, read(state_path(name))), STATES[name].context)
    check_next(expected["suggestions"], now["suggestions"])
    if SAME_KIND:
        check_equal(expected["recommendation"], now["recommendation"])


def test_what_is_kept_is_small_and_says_nothing_of_a_machine() -> None:
    files = [path for path in STORED.rglob("*") if path.is_file()]
    known = {*map(journal_path, JOURNALS), *map(state_path, STATES), EXPECTED}
    assert set(files) == known
    for path in known - {EXPECTED}:
        assert path.stat().st_size < LARGEST
    for path in map(journal_path, JOURNALS):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert "/" not in line, "no path"
            record = json.loads(line)
            lease = record.get("user_attr", {}).get("quadrat:coordinator") or {"host": "host", "pid": 1}
            assert (lease["host"], lease["pid"]) == ("host", 1)
            assert record["worker_id"].startswith("worker-")


@pytest.mark.filterwarnings("error::quadrat.errors.QuadratWarning")
def test_a_state_of_an_older_version_of_its_method_says_so() -> None:
    """Once, and only where the method has changed since."""
    for name, kept in STATES.items():
        method = rebuilt_quietly(name).method
        if method.version == 1:
            rebuilt(name, read(state_path(name)))
            continue
        with pytest.warns(
            QuadratWarning, match=f"version 1 of {type(method).__name__}; suggestions now come from"
        ) as told:
            optimizer = rebuilt(name, read(state_path(name)))
        assert len(told) == 1, kept
        rebuilt(name, optimizer.state())


def rebuilt_quietly(name: str) -> qd.Optimizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QuadratWarning)
        return rebuilt(name, read(state_path(name)))
