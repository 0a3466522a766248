"""Nothing public goes away, or takes something else, without somebody deciding it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.public_api import FILE, listed

REFRESH = "where that is meant, say so in CHANGELOG.md and run: python tests/public_api.py --write"


def _name(line: str) -> str:
    """What a line is about."""
    return re.split(r"[(:]| is |(?<= has) ", line)[0]


def differences(before: list[str], now: list[str]) -> list[str]:
    """What was removed or takes something else, and what is new, in words."""
    old, new = ({_name(line): line for line in lines} for lines in (before, now))
    gone = [f"gone: {line}" for name, line in old.items() if name not in new]
    changed = [f"changed: {old[name]}\n     now: {new[name]}" for name in old if name in new and old[name] != new[name]]
    return [*gone, *changed, *(f"new: {line}" for name, line in new.items() if name not in old)]


def test_public_names_are_as_listed() -> None:
    found = differences(FILE.read_text(encoding="utf-8").splitlines(), listed())
    assert not found, "\n".join([*found, REFRESH])


def test_the_comparison_sees_every_kind_of_change() -> None:
    before = [
        "quadrat.f(x, *, seed=0)",
        "quadrat.Gone()",
        "quadrat.FAILED: Failed",
        "quadrat.Float(x)",
        "quadrat.Float has x, y",
    ]
    now = [
        "quadrat.f(x, *, seed=None)",
        "quadrat.FAILED: Failed",
        "quadrat.Float(x)",
        "quadrat.Float has x",
        "quadrat.new(y)",
    ]
    assert differences(before, now) == [
        "gone: quadrat.Gone()",
        "changed: quadrat.f(x, *, seed=0)\n     now: quadrat.f(x, *, seed=None)",
        "changed: quadrat.Float has x, y\n     now: quadrat.Float has x",
        "new: quadrat.new(y)",
    ]


def test_the_list_has_signatures_and_methods() -> None:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert "quadrat.Float(low, high, *, context=False, when=None, log=False, step=None)" in lines
    assert "quadrat.Space.from_file(path)" in lines
    assert "quadrat.space.Float is quadrat.Float" in lines
    assert not [line for line in lines if " at 0x" in line]
