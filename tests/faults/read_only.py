"""A journal that may not be written: the file, or the folder that it is in."""

from __future__ import annotations

from tests.faults.bench import Bench, Findings

BEFORE, AFTER = 4, 8


def journal_that_is_read_only(bench: Bench) -> Findings:
    """Tuning is refused in a line and changes nothing; the study goes on when it may be written again."""
    folder = bench.folder / "kept"
    folder.mkdir()
    bench.storage = "kept/quadrat.journal"
    journal = bench.folder / bench.storage
    bench.finish(BEFORE)
    whole = journal.read_bytes()
    (bench.folder / "kept/quadrat.journal.locked").unlink()
    for path, mode, usual in ((journal, 0o444, 0o644), (folder, 0o555, 0o755)):
        path.chmod(mode)
        try:
            run = bench.start("-n", str(AFTER), faults={"permissions": "hold"})
            status = run.wait()
        finally:
            path.chmod(usual)
        assert status == 2, f"{status}: {run.complained}"
        [line] = run.complained.splitlines()
        assert line.startswith("quadrat: storage: expected kept/quadrat.journal to answer and to take what is told")
        assert "got Permission denied" in line
        assert journal.read_bytes() == whole
        assert bench.complete() == BEFORE
        (bench.folder / "kept/quadrat.journal.locked").unlink(missing_ok=True)
    return bench.audit("a journal or a folder that is read-only", 2, AFTER)
