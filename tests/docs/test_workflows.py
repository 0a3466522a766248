"""The workflows of continuous integration: they parse, run what contributors run, and need no secrets."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(name: str) -> dict[Any, Any]:
    found = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def steps_of(name: str) -> list[dict[str, Any]]:
    return [step for job in read(name)["jobs"].values() for step in job["steps"]]


def test_there_are_two() -> None:
    assert [path.stem for path in WORKFLOWS] == ["build", "ci"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_what_its_syntax_needs(path: Path) -> None:
    workflow = read(path.stem)
    assert workflow["name"] == path.stem
    assert {"push", "pull_request"} == set(workflow[True])  # YAML reads the word on as a truth value
    for job in workflow["jobs"].values():
        assert job["runs-on"] == "ubuntu-latest"
        assert job["timeout-minutes"] > 0
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in steps_of(path.stem) if "uses" in step)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_no_secrets_and_nothing_is_published(path: Path) -> None:
    assert read(path.stem)["permissions"] == {"contents": "read"}
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"secrets\.|id-token|twine upload|publish@|release@", text)


def test_tests_run_as_contributors_run_them_on_every_supported_python() -> None:
    (job,) = read("ci")["jobs"].values()
    classifiers = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert job["strategy"]["matrix"]["python"] == classifiers
    (run,) = [step for step in job["steps"] if "run" in step]
    assert run["run"] == ".ci/run"
    (setup,) = [step for step in job["steps"] if step.get("id") == "python"]
    assert setup["with"]["python-version"] == "${{ matrix.python }}"
    assert run["env"] == {"PYTHON": "${{ steps.python.outputs.python-path }}"}
    assert "PYTHON ?= " in (ROOT / "Makefile").read_text(encoding="utf-8"), "the variable reaches make"
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o100, "a runner can start it"
    assert script.read_text(encoding="utf-8").rstrip().endswith("make test")


def test_the_trials_of_the_build_run(tmp_path: Path) -> None:
    """What the workflow does with the installed wheel, done with this tree."""
    scripts = [step["run"] for step in steps_of("build") if "n_trials=5" in step.get("run", "")]
    found = re.fullmatch(r"bin/python - <<'PYTHON'\n(.*)PYTHON\n", "".join(scripts), re.DOTALL)
    assert found is not None
    ran = subprocess.run([sys.executable, "-c", found[1]], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "Result of minimize, 5 trials" in ran.stdout


def test_both_archives_are_built_and_checked() -> None:
    commands = "\n".join(step.get("run", "") for step in steps_of("build"))
    for command in ("python -m build", "twine check --strict dist/*", "pip install dist/*.whl", "import quadrat"):
        assert command in commands
