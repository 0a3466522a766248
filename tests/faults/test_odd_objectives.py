"""Objectives that misbehave, each tuned by a real process: the long form is `python benchmarks/hostile_studies.py`."""

from __future__ import annotations

import pytest
from tests.faults.bench import Bench
from tests.faults.odd_objectives import CATALOGUE, NAMES, tuned

QUICK = (
    "prints", "raises", "raises_unprintable", "raises_group", "exits", "kills_itself", "forks_and_raises",
    "changes_handlers", "closes_stdout", "removes_streams", "closes_files", "removes_folder", "changes_recursion",
    "returns_large", "returns_odd", "returns_text", "returns_recursive",
)  # fmt: skip
WITH_WORKERS = ("prints", "forks_and_raises", "starts_programs", "kills_itself")


@pytest.mark.parametrize("name", QUICK)
def test_whatever_an_objective_does_the_run_ends_and_its_study_is_readable(name: str, bench: Bench) -> None:
    tuned(bench, name, "serial")


@pytest.mark.parametrize("name", ["closes_stdout", "removes_streams"])
def test_the_same_with_a_table(name: str, bench: Bench) -> None:
    tuned(bench, name, "table")


@pytest.mark.parametrize("name", WITH_WORKERS)
def test_the_same_in_worker_processes(name: str, bench: Bench) -> None:
    tuned(bench, name, "workers")


def test_a_forked_copy_does_not_go_on_with_the_study(bench: Bench) -> None:
    """It raises, as its parent waits for it: the trial is the parent's."""
    assert tuned(bench, "forks_and_raises", "serial") == 0
    assert bench.complete() == 3


def test_the_catalogue_is_complete_code() -> None:
    compile(CATALOGUE, "odd.py", "exec")
    assert len(NAMES) == len(set(NAMES)) > 60
    assert {*QUICK, *WITH_WORKERS} <= set(NAMES)
