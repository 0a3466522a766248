"""Every public name says what it is, what it takes, what it gives, and shows itself in an example that runs.

Public are the names in `__all__` of the package and of its subpackages. That the examples print what they show is
checked where they stand, by the doctests of src.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import pytest

import quadrat

PACKAGE = Path(quadrat.__file__).parent
# They start clusters: tests/integrations does that with care for what is left behind.
NEVER_RUN = {"DaskExecutor", "RayExecutor"}
_UNDERLINE = re.compile(r"-{3,}")


# --- what there is


def public_names() -> dict[str, Any]:
    """Return every public object once, by the first of its dotted names."""
    inner = [f"quadrat.{found.name}" for found in pkgutil.iter_modules([str(PACKAGE)]) if found.ispkg]
    names: dict[str, Any] = {}
    seen: set[int] = set()
    for module in map(importlib.import_module, ["quadrat", *inner]):
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if id(thing) not in seen:
                seen.add(id(thing))
                names[f"{module.__name__}.{name}"] = thing
    return names


PUBLIC = public_names()
DOCUMENTED = {name: thing for name, thing in PUBLIC.items() if inspect.isclass(thing) or inspect.isroutine(thing)}
VALUES = sorted(PUBLIC.keys() - DOCUMENTED.keys())  # constants and type aliases


def methods_of(cls: type[Any]) -> Iterator[tuple[str, Any, list[str]]]:
    """Yield name, function and the docstrings, nearest first, of the public methods and properties of our own."""
    for name in dir(cls):
        if name.startswith("_"):
            continue
        found = [vars(base)[name] for base in cls.__mro__ if name in vars(base)]
        function = _function_of(found[0])
        if inspect.isfunction(function) and function.__module__.split(".")[0] == cls.__module__.split(".")[0]:
            yield name, found[0], [text for member in found if (text := inspect.cleandoc(member.__doc__ or ""))]


def _function_of(member: Any) -> Any:
    if isinstance(member, property):
        return member.fget
    if isinstance(member, cached_property):
        return member.func
    return getattr(member, "__func__", member)


# --- what a docstring says


@dataclass(frozen=True)
class Docstring:
    """A docstring in NumPy's style: the text before its sections, and the lines of each."""

    summary: str
    sections: dict[str, list[str]]

    @classmethod
    def read(cls, text: str) -> Docstring:
        lines = inspect.cleandoc(text).splitlines()
        heads = [i for i, line in enumerate(lines[1:]) if _UNDERLINE.fullmatch(line) and len(lines[i]) == len(line)]
        ends = [*heads[1:], len(lines)]
        sections = {lines[head]: lines[head + 2 : end] for head, end in zip(heads, ends, strict=True)}
        return cls("\n".join(lines[: heads[0] if heads else None]).strip(), sections)

    @property
    def parameters(self) -> set[str]:
        """The names that have an entry, with text, under Parameters or Attributes."""
        lines = [*self.sections.get("Parameters", ()), *self.sections.get("Attributes", ())]
        entries = [i for i, line in enumerate(lines) if line and not line.startswith(" ")]
        told = [i for i in entries if i + 1 < len(lines) and lines[i + 1].startswith("    ")]
        return {name.strip().lstrip("*") for i in told for name in lines[i].split(" : ")[0].split(",")}


def parameters_of(thing: Any) -> list[str]:
    """Return the names that whoever calls it, or reads its fields, has to know."""
    function = _function_of(thing)
    if inspect.isclass(thing) and (issubclass(thing, Enum | Exception) or getattr(thing, "_is_protocol", False)):
        return []  # none that a user gives
    given = inspect.signature(function).parameters
    return [name for name in given if not name.startswith("_") and name not in {"self", "cls", "args", "kwargs"}]


def faults_of(thing: Any, *, may_be_skipped: bool = False) -> list[str]:
    """Return what is wrong with the docstring of a class or function."""
    text = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    if not text or (inspect.isclass(thing) and text.startswith(f"{thing.__name__}(")):  # that a dataclass writes itself
        return ["no docstring"]
    says = Docstring.read(text)
    faults = [] if says.summary else ["nothing before the sections"]
    missing = [name for name in parameters_of(thing) if name not in says.parameters]
    if missing:
        faults.append(f"Parameters or Attributes without {', '.join(missing)}")
    if inspect.isfunction(thing) and _returns_something(thing) and not says.sections.get("Returns"):
        faults.append("no Returns")
    examples = doctest.DocTestParser().get_examples("\n".join(says.sections.get("Examples", ())))
    if not examples:
        faults.append("no example")
    elif not may_be_skipped and not any(one.want for one in examples if not one.options.get(doctest.SKIP)):
        faults.append("an example that shows nothing")
    return faults + (_faults_of_methods(thing) if inspect.isclass(thing) else [])


def _returns_something(function: Any) -> bool:
    # An annotation is text, since modules postpone them.
    return inspect.signature(function).return_annotation not in {None, "None", NoReturn, "NoReturn", inspect._empty}


def _faults_of_methods(cls: type[Any]) -> list[str]:
    faults = []
    for name, member, texts in methods_of(cls):
        if not texts:
            faults.append(f"{name}: no docstring")
            continue
        if isinstance(member, property | cached_property):
            continue
        unsaid = [given for given in parameters_of(member) if not any(_names(text, given) for text in texts)]
        if unsaid:
            faults.append(f"{name}: a docstring that does not mention {', '.join(unsaid)}")
    return faults


def _names(text: str, word: str) -> bool:
    return re.search(rf"\b{re.escape(word)}\b", text) is not None


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_public_name_says_what_it_takes_and_gives_and_shows_an_example(name: str) -> None:
    thing = DOCUMENTED[name]
    faults = faults_of(thing, may_be_skipped=name.rpartition(".")[2] in NEVER_RUN)
    assert not faults, f"{name} in {thing.__module__}: " + "; ".join(faults)


# --- constants and type aliases


def documented_values(source: str) -> set[str]:
    """Return the names that a module assigns at its top with a string below that says what they are."""
    body = ast.parse(source).body
    found: set[str] = set()
    for assigned, below in pairwise(body):
        text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else None
        if isinstance(text, str):
            targets = assigned.targets if isinstance(assigned, ast.Assign) else [getattr(assigned, "target", None)]
            found.update(target.id for target in targets if isinstance(target, ast.Name))
    return found


@pytest.mark.parametrize("name", VALUES)
def test_a_constant_or_type_alias_has_a_string_below_that_says_what_it_is(name: str) -> None:
    package, _, short = name.rpartition(".")
    folder = PACKAGE.joinpath(*package.split(".")[1:])
    assigned = re.compile(rf"^{short}\b[^=\n]*=", re.MULTILINE)
    homes = [source for path in folder.rglob("*.py") if assigned.search(source := path.read_text(encoding="utf-8"))]
    assert homes, f"{name}: expected an assignment in its package"
    assert any(short in documented_values(source) for source in homes), f"{name}: no string below its assignment"


def test_the_lists_are_not_empty() -> None:
    assert {"quadrat.Optimizer", "quadrat.maximize", "quadrat.cli.main"} <= DOCUMENTED.keys()
    assert len(DOCUMENTED) > 150
    assert {"quadrat.FAILED", "quadrat.partition.AxisRule"} <= set(VALUES)


# --- the checks themselves can fail


def _good(width: float) -> float:
    """Return half of it.

    Parameters
    ----------
    width
        In metres.

    Returns
    -------
    float
        In metres.

    Examples
    --------
    >>> _good(1.0)
    0.5
    """
    return width / 2


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("width\n", "height\n", "Parameters or Attributes without width"),
        ("\n        In metres.\n\n    Returns", "\n\n    Returns", "Parameters or Attributes without width"),
        ("Returns\n    -------", "Gives\n    -----", "no Returns"),
        (">>> _good(1.0)\n    0.5", "half of it", "no example"),
        (">>> _good(1.0)\n    0.5", ">>> half = _good(1.0)", "an example that shows nothing"),
        (">>> _good(1.0)", ">>> _good(1.0)  # doctest: +SKIP", "an example that shows nothing"),
        ("Return half of it.", "", "nothing before the sections"),
    ],
)
def test_whatever_is_left_out_is_found(before: str, after: str, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert faults_of(_good) == []
    text = _good.__doc__ or ""
    assert text.count(before) == 1
    monkeypatch.setattr(_good, "__doc__", text.replace(before, after))
    assert faults_of(_good) == [fault]


class _Bad:
    """A class.

    Examples
    --------
    >>> 1
    1
    """

    def said(self, angle: float) -> None:
        """Turn by `angle`."""

    def unsaid(self, angle: float) -> None:
        """Turn."""

    def silent(self) -> None: ...

    @property
    def side(self) -> float:
        return 1.0


class _Child(_Bad):
    """A child.

    Examples
    --------
    >>> 1
    1
    """

    def said(self, angle: float) -> None: ...

    def silent(self) -> None:
        """Say something."""


def test_methods_without_docstrings_are_found_and_docstrings_are_inherited() -> None:
    silent = ["side: no docstring", "silent: no docstring"]
    turn = "unsaid: a docstring that does not mention angle"
    assert faults_of(_Bad) == [*silent, turn]
    assert faults_of(_Child) == ["side: no docstring", turn]


def test_a_class_whose_docstring_a_dataclass_wrote_has_none() -> None:
    @dataclass
    class Plain:  # no docstring
        width: float

    assert Plain.__doc__ is not None
    assert faults_of(Plain) == ["no docstring"]


def test_strings_below_assignments_are_found() -> None:
    source = 'A = 1\n"""What A is."""\nB: int = 2\n"""What B is."""\nC = 3\nD = 4\n'
    assert documented_values(source) == {"A", "B"}
