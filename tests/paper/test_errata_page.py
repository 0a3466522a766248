"""docs/errata.md itself: complete, consecutive, and every statement tied to a test that exists."""

from __future__ import annotations

import ast
import pkgutil
import re
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
CLASSES = ("wrong result", "wrong constant", "typo", "left open")
TEST = re.compile(r"(tests/[\w/]+\.py)::(test_\w+)")


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_identifiers_are_consecutive(errata: dict[str, str]) -> None:
    assert list(errata) == [f"E{number:02d}" for number in range(1, len(errata) + 1)]
    assert len(errata) > 30


def test_every_erratum_says_everything(errata: dict[str, str]) -> None:
    for identifier, section in errata.items():
        for field in ("Printed", "Holds", "Consequence", "Evidence"):
            assert section.count(f"- **{field}:** ") == 1, f"{identifier}: {field}"
        assert section.splitlines()[2].startswith(tuple(f"*{name}* · " for name in CLASSES)), identifier
        assert TEST.search(section), f"{identifier} names no test"


def test_every_named_test_exists() -> None:
    for path, name in TEST.findall(PAGE):
        assert (ROOT / path).is_file(), path
        assert name in functions(ROOT / path), f"{path}::{name}"


def test_every_errata_test_is_on_the_page() -> None:
    named = set(TEST.findall(PAGE))
    for path in sorted(Path(__file__).parent.glob("test_errata_*.py")):
        for name in functions(path):
            assert (f"tests/paper/{path.name}", name) in named, f"{path.name}::{name} is not on the page"


def test_a_figure_that_is_not_on_the_page_is_noticed(documented: Callable[[str, str], None]) -> None:
    documented("E20", "87 %")
    for wrong in ("86 %", "7 %", "87.0 %"):
        with pytest.raises(AssertionError, match="does not say"):
            documented("E20", wrong)


def test_the_table_agrees_with_the_sections(errata: dict[str, str]) -> None:
    rows = re.findall(r"^\| \[(E\d+)\]\(#(\S+)\) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    assert [row[0] for row in rows] == list(errata)
    for identifier, anchor, title, severity in rows:
        assert errata[identifier].splitlines()[0] == title
        assert f"*{severity}* · " in errata[identifier]
        spoken = re.sub(r"[^\w\- ]", "", f"{identifier} {title}".lower()).replace(" ", "-")
        assert anchor == spoken


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:quadrat|as_printed)\.[\w.]+)`", PAGE))))
def test_every_name_of_the_package_exists(name: str) -> None:
    pkgutil.resolve_name(name)
