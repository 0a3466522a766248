"""Storages that fail: full disks, files that may not be written or are torn, a server that crashes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.faults.bench import Bench
from tests.faults.full_disk import disk_that_fills, file_that_may_not_grow, small_disk
from tests.faults.read_only import journal_that_is_read_only
from tests.faults.server_restarts import server_that_restarts
from tests.faults.torn_journal import TAILS, check_readable, cut_journals, torn_and_resumed, whole_journal
from tests.postgres import PostgresServer


def test_a_file_system_that_is_full(bench: Bench) -> None:
    with small_disk(bench.folder / "disk") as refused:
        if refused is not None:
            pytest.skip(f"no file system can be mounted here: {refused}")
        found = disk_that_fills(bench, bench.folder / "disk")
    assert found.is_sound, found


def test_a_file_that_may_not_grow(bench: Bench) -> None:
    found = file_that_may_not_grow(bench)
    assert found.is_sound, found


def test_a_journal_that_is_read_only(bench: Bench) -> None:
    found = journal_that_is_read_only(bench)
    assert found.is_sound, found


def test_a_journal_that_is_torn(bench: Bench, tmp_path: Path) -> None:
    """Cut at every byte of the last two records it can be read and written; some of those are resumed."""
    whole = whole_journal(bench)
    cut = list(cut_journals(whole))
    garbage = [whole + tail for tail in TAILS.values()]
    for torn in (*cut, *garbage):
        check_readable(tmp_path / "journal", whole, torn)
    some = random.Random(0).sample(cut, 2)  # noqa: S311
    found = torn_and_resumed(bench, [*some, garbage[5]])
    assert found.is_sound, found


def test_a_server_that_crashes_and_comes_back(bench: Bench, running_postgres: PostgresServer) -> None:
    url = running_postgres.new_database()
    found = server_that_restarts(bench, running_postgres, url, outages=2, away=1.0)
    assert found.is_sound, found
