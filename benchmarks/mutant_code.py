"""A changed text of a source file in place of the file: before it is imported, or after.

A module that is not imported yet is found in its changed form, by an import hook. In one that is imported the code of
the functions is replaced, wherever they are referred to; that does for changes within functions.
"""

from __future__ import annotations

from timing import ROOT  # isort: skip  # sets the number of BLAS threads

import gc
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

__all__ = ["Finder", "Text", "functions_by_file", "put_in", "within_functions"]


@dataclass(frozen=True)
class Text:
    """A text of a source file; the path is from the root of the repository."""

    file: str
    text: str


class _Changed(SourceFileLoader):
    """Loads a module from a text instead of its file."""

    def __init__(self, fullname: str, path: str, text: str) -> None:
        super().__init__(fullname, path)
        self.text = text

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return compile(self.text, self.path, "exec", dont_inherit=True)


class Finder:
    """Finds one module in its changed form."""

    def __init__(self, changed: Text) -> None:
        self.module, self.changed = _module_of(changed.file), changed

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        del path, target
        if fullname != self.module:
            return None
        file = str(ROOT / self.changed.file)
        spec: ModuleSpec | None = spec_from_file_location(
            fullname, file, loader=_Changed(fullname, file, self.changed.text)
        )
        return spec


def _module_of(file: str) -> str:
    return ".".join(Path(file).with_suffix("").parts[1:]).removesuffix(".__init__")


def _below(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of everything that is defined in a piece of code, however deep."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _below(constant)


def _is_function(code: CodeType) -> bool:
    return bool(code.co_flags & 0x2)  # CO_NEWLOCALS: functions have it, modules and class bodies do not


def within_functions(old: str, new: str) -> bool:
    """Whether two texts of a module differ only in what happens inside its functions."""

    def rest(text: str) -> list[object]:
        whole = compile(text, "module", "exec", dont_inherit=True)
        return [
            (code.co_qualname, code.co_freevars)  # what makes the code of a function replaceable
            if _is_function(code)
            else (code.co_code, [value for value in code.co_consts if not isinstance(value, CodeType)], code.co_names)
            for code in (whole, *_below(whole))
        ]

    return rest(old) == rest(new)


def functions_by_file() -> dict[str, list[FunctionType]]:
    """Return all functions that there are, by the file of their code."""
    found: dict[str, list[FunctionType]] = {}
    for function in gc.get_objects():
        if isinstance(function, FunctionType):
            found.setdefault(function.__code__.co_filename, []).append(function)
    return found


def put_in(unchanged: str, changed: Text, functions: Mapping[str, Sequence[FunctionType]]) -> None:
    """Replace the code of the functions of a module that is imported; of one that is not, prepare its import.

    `unchanged` is the text that was imported: somebody may be editing the file.
    """
    if _module_of(changed.file) not in sys.modules:
        sys.meta_path.insert(0, Finder(changed))
        return
    path = str(ROOT / changed.file)
    codes = [
        [code for code in _below(compile(text, path, "exec", dont_inherit=True)) if _is_function(code)]
        for text in (unchanged, changed.text)
    ]
    news = {(old.co_qualname, old.co_firstlineno): new for old, new in zip(*codes, strict=True)}
    for function in functions.get(path, ()):
        function.__code__ = news[function.__code__.co_qualname, function.__code__.co_firstlineno]
