"""Every code block of the documentation runs and prints what its page shows.

README.md has tests of its own, and so has docs/start.md: it runs in a fresh environment, in test_start.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from blocks import INSTALLING, is_executable, run_page, steps_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "docs").rglob("*.md"))}


@pytest.mark.parametrize("name", PAGES)
def test_blocks_are_of_kinds_that_can_be_run(name: str) -> None:
    steps_of(PAGES[name].read_text(), installing=name in INSTALLING)


@pytest.mark.parametrize(
    "name", [name for name, path in PAGES.items() if name != "docs/start.md" and is_executable(path.read_text())]
)
def test_blocks_print_what_the_page_shows(name: str) -> None:
    complaints = run_page(PAGES[name]).complaints
    assert not complaints, "\n\n".join([*complaints, f"to take what came: python docs/blocks.py --write {name}"])
