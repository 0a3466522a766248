"""What is built from this tree, without a network: a wheel and a source archive. `make compatibility` installs them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

pytest.importorskip("hatchling", reason="what builds the package is not installed: pip install hatchling")

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Build both; the wheel and the archive."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stdout + out.stderr
    [wheel], [archive] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, archive


def test_the_wheel_is_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    source = ROOT / "src"
    there = {
        str(path.relative_to(source))
        for path in (source / "quadrat").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == there
    assert {"quadrat/py.typed", "quadrat/report/page.css", "quadrat/report/page.js"} <= names
    assert re.search(r"-py3-none-any\.whl$", built[0].name), "pure Python"


def test_the_wheel_says_what_it_needs(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        [metadata] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        told = Parser().parsestr(wheel.read(metadata).decode())
        [entry] = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
        assert "quadrat = quadrat.cli:main" in wheel.read(entry).decode()
    assert told["Requires-Python"] == PROJECT["requires-python"]
    without_extras = [text for text in told.get_all("Requires-Dist", []) if "extra ==" not in text]
    assert sorted(map(Requirement, without_extras), key=str) == sorted(
        map(Requirement, PROJECT["dependencies"]), key=str
    )
    assert told["License-Expression"] == "MIT"


def test_the_archive_has_what_builds_and_tests_it(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "Makefile", "src/quadrat/py.typed", "tests/conftest.py"} <= names
    assert {"CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} <= names
    for folder in ("tests", "experiments", "benchmarks", "examples", "docs", "optunahub", ".ci", ".github"):
        there = {
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / folder).rglob("*")
            if path.suffix in (".py", ".md", ".yml", ".toml")
        }
        assert there <= names, f"tests import or read what is in {folder}"
    assert not [name for name in names if name.endswith((".pyc", ".journal")) or name.startswith(".venv")]


def test_the_tests_that_every_environment_passes_are_there() -> None:
    """Files that had moved would have ended `make compatibility`, and a version of Optuna went untried."""
    tree = ast.parse((ROOT / "benchmarks" / "compatibility.py").read_text())
    [core] = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "CORE"
    ]
    names = ast.literal_eval(core)
    assert names
    assert [name for name in names if not (ROOT / "tests" / name).exists()] == []
