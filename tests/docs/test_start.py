"""docs/start.md does what it says, in an environment that has nothing but what the page installs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from blocks import blocks_of, run_page

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "start.md"
CLONED = ("src", "pyproject.toml", "README.md", "LICENSE")  # what `pip install .` reads
NO_INDEX = ("No matching distribution found", "Could not find a version that satisfies", "Failed to establish a new")


def test_the_page_works_in_a_clean_environment(tmp_path: Path) -> None:
    """The commands of its `sh` block in a copy of the repository, then all other blocks with what they installed."""
    (install,) = [block for block in blocks_of(PAGE.read_text()) if block.language == "sh"]
    for name in CLONED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    environment["PATH"] = os.pathsep.join([f"{sys.base_prefix}/bin", os.environ["PATH"]])  # the same Python as here
    # Modules that are never imported need not be compiled.
    environment |= {"PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_QUIET": "1"}
    commands = "set -e\n" + "\n".join(install.lines)
    ran = subprocess.run(["/bin/bash", "-c", commands], cwd=tmp_path, env=environment, capture_output=True, text=True)
    python = tmp_path / ".venv" / "bin" / "python"
    if ran.returncode and any(words in ran.stderr for words in NO_INDEX):
        complaints = run_page(PAGE).complaints
        assert not complaints, "\n\n".join(complaints)
        pytest.skip("pip cannot reach a package index: the page ran in this environment instead of a clean one")
    assert ran.returncode == 0, ran.stderr
    where = subprocess.run(
        [str(python), "-c", "import quadrat; print(quadrat.__file__)"], cwd="/", capture_output=True, text=True
    )
    assert Path(where.stdout.strip()).is_relative_to(tmp_path / ".venv")  # not this repository's
    complaints = run_page(PAGE, str(python)).complaints
    assert not complaints, "\n\n".join(complaints)
