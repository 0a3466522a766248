"""The public names of the package, one a line, with what they take: what users rely on.

    python tests/public_api.py --write

writes tests/public_api.txt anew; `tests/test_public_api.py` compares. A name that another package of ours defines is
listed as the same thing. Types are not listed: mypy looks after them.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import quadrat

__all__ = ["FILE", "listed"]

FILE = Path(__file__).with_suffix(".txt")


def listed() -> list[str]:
    """Return the lines: the package first, then its packages by name."""
    packages = sorted(found.name for found in iter_modules(quadrat.__path__) if found.ispkg and found.name[0] != "_")
    packages.append("research")
    lines: list[str] = []
    known: dict[int, str] = {}
    for package in ("quadrat", *(f"quadrat.{name}" for name in packages)):
        module = import_module(package)
        for name in sorted(module.__all__):
            thing = getattr(module, name)
            full = f"{package}.{name}"
            if isinstance(thing, type) or callable(thing):
                first = known.setdefault(id(thing), full)
                if first != full:
                    lines.append(f"{full} is {first}")
                    continue
            lines += _lines_of(full, thing)
    return lines


def _lines_of(full: str, thing: Any) -> Iterator[str]:
    if isinstance(thing, type):
        yield f"{full}{'' if issubclass(thing, BaseException) else _signature(thing)}"
        members = sorted(_members(thing).items())
        attributes = [name for name, member in members if not callable(member)]
        if attributes:
            yield f"{full} has {', '.join(attributes)}"
        yield from (f"{full}.{name}{_signature(member)}" for name, member in members if callable(member))
    elif callable(thing):
        yield f"{full}{_signature(thing)}"
    else:
        yield f"{full}: {type(thing).__name__}"


def _members(cls: type) -> dict[str, Any]:
    """Return the public methods and attributes that our classes define."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("quadrat"):
            found |= {name: getattr(cls, name, None) for name in vars(base) if not name.startswith("_")}
            found |= {name: None for name in getattr(base, "__annotations__", {}) if not name.startswith("_")}
    return found


def _signature(thing: Any) -> str:
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    taken = [
        one.replace(annotation=one.empty, default=one.empty if one.default is one.empty else _Shown(one.default))
        for one in signature.parameters.values()
        if one.name != "self" and not one.name.startswith("_")
    ]
    return str(inspect.Signature(taken))


class _Shown:
    """A default, shown the same in every process."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        text = repr(self.value)
        return getattr(self.value, "__qualname__", type(self.value).__name__) if " at 0x" in text else text


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/public_api.py --write")
    FILE.write_text("\n".join(listed()) + "\n", encoding="utf-8")
