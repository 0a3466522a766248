"""Parallel evaluations: who is asked and told when, and that one worker is the ordinary run."""

from __future__ import annotations

from pathlib import Path

from regret import parallel, run, suite
from regret.roster import OURS
from regret.rows import Row, complete, read_rows

BATCH, ASYNCHRONOUS = parallel.MODES["batch"], parallel.MODES["asynchronous"]


def test_each_mode_asks_in_order_and_tells_everything() -> None:
    for mode in parallel.MODES.values():
        events = list(parallel.schedule(mode, 3, 10))
        assert [number for event, number in events if event == "ask"] == list(range(10))
        assert sorted(number for event, number in events if event == "tell") == list(range(10))
        pending: set[int] = set()
        for event, number in events:
            (pending.add if event == "ask" else pending.remove)(number)  # what is told was asked
            assert len(pending) <= mode.workers


def test_a_batch_is_told_before_the_next_is_asked() -> None:
    words = "".join(event[0] for event, _ in parallel.schedule(BATCH, 0, 10))
    assert words == "aaaatttt" * 2 + "aatt"


def test_asynchronous_workers_are_always_busy_and_end_in_another_order() -> None:
    events = list(parallel.schedule(ASYNCHRONOUS, 0, 50))
    assert "".join(event[0] for event, _ in events) == "aaaa" + "ta" * 46 + "tttt"
    told = [number for event, number in events if event == "tell"]
    assert told != sorted(told)
    assert told == [number for event, number in parallel.schedule(ASYNCHRONOUS, 0, 50) if event == "tell"]
    assert told != [number for event, number in parallel.schedule(ASYNCHRONOUS, 1, 50) if event == "tell"]


def test_the_sequential_mode_is_the_run_of_the_comparison() -> None:
    found = parallel.run(parallel.SEQUENTIAL, "rastrigin3~", 1, 8)
    assert found["regret"] == run.run(OURS, "rastrigin3~", 1, 8)["regret"]


def test_rows_of_all_modes_share_a_file_and_resume(tmp_path: Path) -> None:
    path = tmp_path / "parallel.jsonl"
    cells = [(mode, "rastrigin3", 0, 3) for mode in parallel.MODES]
    complete(path, parallel.run, cells[:2])
    before = path.read_text()
    complete(path, parallel.run, cells)
    assert path.read_text().startswith(before)
    assert [row["method"] for row in read_rows(path)] == list(parallel.MODES)
    assert all("regret" in row for row in read_rows(path))


def test_the_page_comes_from_rows() -> None:
    factors = {"sequential": 1.0, "batch": 2.0, "asynchronous": 1.5}
    rows: list[Row] = [
        {
            "method": mode, "problem": problem, "seed": seed, "n": 50, "best": 1.0, "commit": "abc",
            "regret": {"recommended": factor * (seed + 1), "evaluated": factor, "observed": factor},
        }
        for problem in suite.chosen(parallel.SUITES)
        for seed in range(6)
        for mode, factor in factors.items()
    ]  # fmt: skip
    rows += [{"method": "batch", "problem": "levy8", "seed": 8, "n": 50, "error": "RuntimeError: none"}]
    text = parallel.page(rows, 50)
    for title, factor in (("batches of 4", "2.00"), ("asynchronous, 4 workers", "1.50")):
        for problems in ("plain", "shifted", "bbob", "all"):
            same = f"{factor} ({factor} to {factor})"
            assert f"| {title} | {problems} | 3 | {same} | {same} |" in text  # even seeds alone
    assert "rows are of abc" in text
    assert "Left out: 1 of 199 runs" in text  # 3 modes, 22 problems, 3 even seeds, and the one that failed
