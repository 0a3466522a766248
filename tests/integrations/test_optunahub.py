"""The folder for OptunaHub: it has what a package there needs, loads, and its example runs."""

from __future__ import annotations

import runpy
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace

import optuna
import pytest

import quadrat

FOLDER = Path(__file__).parents[2] / "optunahub" / "package" / "samplers" / "quadrat"


def loaded() -> ModuleType:
    spec = spec_from_file_location("hub_quadrat", FOLDER / "__init__.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_has_all_files_and_the_front_matter() -> None:
    assert {path.name for path in FOLDER.iterdir()} >= {"README.md", "LICENSE", "__init__.py", "example.py"}
    _, front, body = (FOLDER / "README.md").read_text().split("---\n", 2)
    keys = [line.split(":")[0] for line in front.splitlines()]
    assert keys == ["author", "title", "description", "tags", "optuna_versions", "license"]
    for section in ("## Abstract", "## APIs", "## Installation", "## Example"):
        assert section in body
    assert (FOLDER / "LICENSE").read_text() == (Path(__file__).parents[2] / "LICENSE").read_text()


def test_it_loads_the_sampler_of_the_package() -> None:
    assert loaded().QuadratSampler is quadrat.QuadratSampler


def test_its_example_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With a short study, and without the hub itself, which loads the folder from a web page."""
    monkeypatch.setitem(sys.modules, "optunahub", SimpleNamespace(load_module=lambda _: loaded()))
    plain = optuna.Study.optimize
    monkeypatch.setattr(optuna.Study, "optimize", lambda self, f, n_trials: plain(self, f, min(n_trials, 6)))
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    runpy.run_path(str(FOLDER / "example.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("rate") == 2
    assert "recommended:" in printed
