"""Ties docs/errata.md to the tests: a figure on the page is the figure that a test has just computed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "errata.md"
HEADING = re.compile(r"^### (E\d+) ", re.MULTILINE)


@pytest.fixture(scope="session")
def errata() -> dict[str, str]:
    """The sections of the page, by identifier, in the order of the page."""
    text = PAGE.read_text(encoding="utf-8")
    starts = list(HEADING.finditer(text))
    found: dict[str, str] = {}
    for match in starts:
        rest = text[match.end() :]
        end = re.search(r"^#", rest, re.MULTILINE)  # the next erratum or the next topic
        assert match[1] not in found, f"{match[1]} is on the page twice"
        found[match[1]] = rest[: end.start()] if end else rest
    return found


@pytest.fixture
def documented(errata: dict[str, str]) -> Callable[[str, str], None]:
    """Return `documented("E20", "87 %")`: the section says 87 %, as a figure of its own, not as a part of another."""

    def check(identifier: str, figure: str) -> None:
        section = errata.get(identifier)
        assert section is not None, f"docs/errata.md has no section {identifier}"
        whole = r"(?<![\w.])(?<!\d,)" + re.escape(figure) + r"(?!\w)(?![.,]\d)"
        assert re.search(whole, " ".join(section.split())), (
            f"{identifier} in docs/errata.md does not say {figure!r}, which the test found"
        )

    return check
