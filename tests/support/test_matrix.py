"""Every cell of the support matrix works, or refuses in one sentence, as docs/support.md says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.matrix import COLUMNS, PAGE, ROWS, Cell, cell, escaped, page

REFRESH = "where that is meant, run: python tests/support/matrix.py --write"


def shown() -> dict[tuple[str, str], Cell]:
    """Return the cells as the page has them."""
    text = PAGE.read_text(encoding="utf-8")
    notes = dict(re.findall(r"^(\d+)\. (.*)$", text, re.MULTILINE))
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    found = {}
    for name, *words in rows:
        for column, word in zip(COLUMNS, words, strict=True):
            refused = re.fullmatch(r"no \((\d+)\)", word)
            said = notes[refused[1]] if refused else word.removeprefix("yes").removeprefix(", ")
            found[name, column] = Cell(refused is None, said)
    return found


def without_digits(text: str) -> str:
    """The last digits of a value that a message quotes differ between machines."""
    return re.sub(r"\d+\.\d+(e-?\d+)?", "0.0", text)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("name", ROWS)
def test_a_cell_is_as_the_page_says(name: str, column: str) -> None:
    found, wanted = cell(ROWS[name], column), shown()[name, column]
    said = found.said if found.works else escaped(found.said)
    assert (found.works, without_digits(said)) == (wanted.works, without_digits(wanted.said)), REFRESH


def test_refusals_are_short_and_say_what_was_expected() -> None:
    refused = {found.said for found in shown().values() if not found.works}
    assert refused, "where everything works, this test goes"
    for said in refused:
        assert len(said) < 500, said
        assert "expected" in said or "no trial" in said or "does not" in said or "unknown" in said, said
        assert "Traceback" not in said


def test_the_page_is_written_from_its_cells() -> None:
    cells = {
        key: Cell(found.works, found.said.replace("\\", "").replace("&lt;", "<")) for key, found in shown().items()
    }
    assert page(cells) == PAGE.read_text(encoding="utf-8"), REFRESH


def test_the_page_can_be_reached() -> None:
    root = PAGE.parents[1]
    assert "](docs/support.md)" in (root / "README.md").read_text(encoding="utf-8")
    assert "](support.md)" in (root / "docs" / "index.md").read_text(encoding="utf-8")
    assert "What works together: support.md" in (root / "mkdocs.yml").read_text(encoding="utf-8")
