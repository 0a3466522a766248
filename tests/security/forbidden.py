"""What no module may do, because it would run code that comes as data: found in the source, not by running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

__all__ = ["found_in", "is_constant_name"]

MODULES = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "yaml", "code"}
CALLS = {"eval", "exec", "compile", "__import__", "breakpoint", "execfile"}
METHODS = {"exec_module", "load_module", "literal_load", "read_pickle", "to_pickle"}
IMPORTERS = {"import_module", "spec_from_file_location", "module_from_spec", "run_path", "run_module"}
SHELLS = {"system", "popen", "getoutput", "getstatusoutput"}
PROCESSES = {"subprocess", "os", "pty", "commands"}


def found_in(path: Path) -> list[str]:
    """Return what a module does that none may do, each with its line."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [f"{path.name}, line {line}: {what}" for line, what in _found(tree)]


def _found(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in MODULES:
                    yield node.lineno, f"imports {alias.name}"
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").split(".")[0] in MODULES:
                yield node.lineno, f"imports {node.module}"
            for alias in node.names:
                if alias.name in CALLS | SHELLS and (node.module or "") in {"builtins", *PROCESSES}:
                    yield node.lineno, f"imports {alias.name}"
        elif isinstance(node, ast.Call):
            yield from _in_call(node)
        elif isinstance(node, ast.Name) and node.id in CALLS and isinstance(node.ctx, ast.Load):
            yield node.lineno, f"names {node.id}"


def _in_call(node: ast.Call) -> Iterator[tuple[int, str]]:
    name = _last_name(node.func)
    owner = _last_name(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    options = {keyword.arg: keyword.value for keyword in node.keywords}
    if name in METHODS or (name in SHELLS and owner in PROCESSES) or (owner == "joblib" and name in {"load", "dump"}):
        yield node.lineno, f"calls {name}"
    if name in IMPORTERS and not (node.args and is_constant_name(node.args[0])):
        yield node.lineno, f"calls {name} with a name that is not written there"
    for option, harmless in (("shell", False), ("allow_pickle", False)):
        value = options.get(option)
        if value is not None and not (isinstance(value, ast.Constant) and value.value is harmless):
            yield node.lineno, f"passes {option}="


def is_constant_name(node: ast.expr) -> bool:
    """Return whether a module's name is a text, or a text of this package's with a part that is looked up."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if not isinstance(node, ast.JoinedStr) or not node.values:
        return False
    first = node.values[0]
    return isinstance(first, ast.Constant) and str(first.value).startswith("quadrat.")


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
