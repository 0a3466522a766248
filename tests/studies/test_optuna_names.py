"""The names of Optuna that it does not promise: all are listed, and one that is gone is said at once."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import quadrat
from quadrat.studies import optuna_names
from quadrat.studies.optuna_names import IMPORTED, OF_OBJECTS, check_names

PACKAGE = Path(quadrat.__file__).parent
LISTED = {name for names in (*IMPORTED.values(), *OF_OBJECTS.values()) for name in names}


def trees() -> Iterator[tuple[Path, ast.Module]]:
    """Yield the modules that use Optuna."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text()
        if "optuna" in text and path.name != "optuna_names.py":
            yield path, ast.parse(text)


def defined_here() -> set[str]:
    """Return the private names that the package gives to things of its own."""
    names: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                names.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
    return names


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_what_is_imported_is_listed() -> None:
    found = set()
    for _, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("optuna"):
                module = node.module or ""
                if any(map(is_private, [*module.split("."), *(one.name for one in node.names)])):
                    found |= {(module, one.name) for one in node.names}
            elif isinstance(node, ast.Import):
                assert not any(
                    is_private(part) for one in node.names for part in one.name.split(".") if "optuna" in one.name
                )
    assert found == {(module, name) for module, names in IMPORTED.items() for name in names}


def test_what_is_used_of_objects_is_listed() -> None:
    """A private attribute that the package does not define itself is Optuna's."""
    own = defined_here()
    used: dict[str, set[str]] = {}
    for path, tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or not is_private(node.attr) or node.attr in own:
                continue
            if not (isinstance(node.value, ast.Name) and node.value.id in sys.stdlib_module_names):
                used.setdefault(node.attr, set()).add(str(path.relative_to(PACKAGE)))
    assert used.keys() <= LISTED, used
    listed = {name for names in OF_OBJECTS.values() for name in names}
    assert listed - used.keys() <= own, "a name that is not used any more need not be listed"


@pytest.mark.parametrize(
    ("table", "name", "said"),
    [
        ("IMPORTED", {"optuna.samplers._base": ("_gone",)}, "optuna.samplers._base._gone"),
        ("IMPORTED", {"optuna._gone": ("_name",)}, "optuna._gone._name"),
        ("OF_OBJECTS", {"Study": ("_storage", "_gone")}, "(Study._gone)"),
        ("OF_OBJECTS", {"JournalFileBackend": ("_gone",)}, "JournalFileBackend._gone"),
    ],
)
def test_a_name_that_is_gone_is_said_with_the_cure(
    table: str, name: dict[str, tuple[str, ...]], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optuna_names, table, name)
    with pytest.raises(ImportError) as caught:
        check_names()
    assert said in str(caught.value)
    assert "pip install 'optuna>=4.0,<6'" in str(caught.value)


def test_it_is_said_before_anything_else_fails() -> None:
    program = "import optuna.samplers._base as base; del base._process_constraints_after_trial; import quadrat.studies"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert out.stderr.splitlines()[-1].startswith("ImportError: quadrat: expected names that Optuna "), out.stderr


def test_what_cannot_be_made_any_more_is_said_likewise(monkeypatch: pytest.MonkeyPatch) -> None:
    def examples() -> None:
        raise ModuleNotFoundError("No module named 'optuna.storages._cached_storage'")

    monkeypatch.setattr(optuna_names, "_examples", examples)
    with pytest.raises(ImportError, match=r"does not have any more \(ModuleNotFoundError: .*pip install 'optuna"):
        check_names()


@pytest.mark.parametrize("command", ["show", "ask"])
def test_the_command_says_it_in_a_line(command: str, tmp_path: Path) -> None:
    program = (
        "import sys, optuna.samplers._base as base; del base._process_constraints_after_trial\n"
        "from quadrat.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    out = subprocess.run([sys.executable, "-c", program, command], capture_output=True, text=True, cwd=tmp_path)
    assert out.returncode == 2, out.stderr
    assert out.stderr.startswith("quadrat: expected names that Optuna ")
    assert out.stderr.count("\n") == 1


def test_the_requirement_is_that_of_the_package() -> None:
    project = (PACKAGE.parents[1] / "pyproject.toml").read_text()
    assert f'"{optuna_names.SUPPORTED}"' in project
