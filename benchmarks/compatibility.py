"""What Quadrat runs on: each supported Python with the newest packages, and the oldest with the oldest packages.

    python benchmarks/compatibility.py [--write]

Builds a wheel and a source archive, and a wheel from that archive again. For every Python that this machine has, a new
environment gets the wheel without extras, imports every public name, runs the command, and passes a core part of the
tests. On the oldest Python this is done once more with the lowest versions that pyproject.toml allows. What is needed
comes from the package index. --write updates benchmarks/results/compatibility.md.
"""

from __future__ import annotations

from timing import ROOT, options, publish, table  # isort: skip

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13")
TOOLS = ("pytest", "hypothesis", "mpmath")
CORE = (
    "space", "kernels", "partition", "_core/test_arrays.py", "_core/test_lazy_names.py", "gp/test_posterior.py",
    "gp/test_cholesky.py", "optimizer/test_optimizer.py", "optimizer/test_outcome.py", "optimizer/test_replay.py",
    "optimizer/test_importing.py", "loop/test_tuning.py", "cli/test_cli.py", "methods/test_registry_method_text.py",
    "cli/test_bench_commands.py", "studies/test_opening.py", "studies/test_results_file.py",
    "studies/test_results_file_table.py", "studies/test_journal.py", "studies/test_distributions.py",
    "studies/test_sampler.py", "studies/test_notes_study_space.py", "studies/test_transitions.py",
    "studies/test_optuna_names.py", "studies/test_coordinator.py",
)  # fmt: skip
IMPORTS = """
import json, pathlib, sys
from importlib.metadata import version
import quadrat
assert pathlib.Path(quadrat.__file__).is_relative_to(sys.prefix), quadrat.__file__
for name in quadrat.__all__:
    getattr(quadrat, name)
print(json.dumps({name: version(name) for name in sys.argv[1:]}))
"""


@dataclass(frozen=True)
class Environment:
    """A Python and the packages it gets.

    Attributes
    ----------
    python
        The interpreter.
    version
        Of the interpreter, such as "3.11".
    constraints
        Requirements such as "numpy==2.0", which hold for what is installed; none are the newest.
    """

    python: str
    version: str
    constraints: tuple[str, ...] = ()


def requirements() -> dict[str, str]:
    """Return the lowest version that is allowed of each package, by name."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    found = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", text).groups() for text in declared)  # type: ignore[union-attr, misc]
    return {str(name): str(lowest) for name, lowest in found.items()}


def interpreters() -> dict[str, str]:
    """Return the interpreters that this machine has, by version: on the path, or where pyenv keeps them."""
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {}
    for version in PYTHONS:
        named = shutil.which(f"python{version}")
        for candidate in (*([named] if named else []), *sorted(map(str, kept.glob(f"{version}.*/bin/python")))):
            code = "import sys; print('%d.%d' % sys.version_info[:2])"
            said = subprocess.run([candidate, "-c", code], capture_output=True, text=True, check=False)
            if said.stdout.strip() == version:  # a stand-in of pyenv's may answer that there is none
                found[version] = candidate
                break
    return found


def built(folder: Path) -> tuple[Path, Path, Path]:
    """Build a wheel and a source archive of this tree, and check that the archive gives the same wheel.

    Returns both, and the folder that the archive was unpacked in.
    """
    _run([sys.executable, "-m", "venv", str(folder / "builder")])
    python = str(folder / "builder" / "bin" / "python")
    _run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "hatchling>=1.25"])
    for where, target in ((folder / "dist", ROOT), (folder / "again", folder / "unpacked")):
        if target != ROOT:
            [archive] = (folder / "dist").glob("*.tar.gz")
            with tarfile.open(archive) as packed:
                packed.extractall(folder / "all", filter="data")
            [unpacked] = (folder / "all").iterdir()
            unpacked.rename(target)
        _run([python, "-m", "hatchling", "build", "-d", str(where)], cwd=target)
    [wheel], [archive] = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    [again] = (folder / "again").glob("*.whl")
    names = [sorted(zipfile.ZipFile(path).namelist()) for path in (wheel, again)]
    if names[0] != names[1]:
        raise SystemExit(f"the source archive gives another wheel: {set(names[0]) ^ set(names[1])}")
    return wheel, archive, folder / "unpacked"


def tried(environment: Environment, package: Path, source: Path, folder: Path) -> tuple[str, ...]:
    """Install a package in a new environment and try it with the tests of a source tree; return a row of the table."""
    begin = time.perf_counter()
    _run([environment.python, "-m", "venv", str(folder)])
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if environment.constraints:
        listed = folder / "constraints.txt"
        listed.write_text("\n".join(environment.constraints))
        install += ["--constraint", str(listed)]
    _run([*install, str(package)])
    empty = folder / "empty"
    empty.mkdir()
    versions = json.loads(_run([python, "-c", IMPORTS, *requirements()], cwd=empty))
    _run([str(folder / "bin" / "quadrat"), "rates", "--dimension", "2"], cwd=empty)
    _run([*install, *TOOLS])
    # Older packages may warn of what newer ones of others have in store: only ours is to be free of warnings.
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default", f"--rootdir={source}"]
    command += ["-c", str(source / "pyproject.toml"), *(str(source / "tests" / part) for part in CORE)]
    said = subprocess.run(command, cwd=empty, capture_output=True, text=True, check=False)
    counts = _counts(said.stdout)
    if said.returncode:
        print("\n".join(line for line in said.stdout.splitlines() if line.startswith(("FAILED", "ERROR", "E  "))))
    shown = ", ".join(f"{name} {version}" for name, version in versions.items())
    kind = "oldest" if environment.constraints else "newest"
    seconds = time.perf_counter() - begin
    return environment.version, f"{kind}: {shown}", package.suffix.lstrip("."), counts, f"{seconds:.0f}"


def _counts(said: str) -> str:
    """Return how many tests passed, failed and were left out, from what pytest prints: a letter for each test."""
    lines = [line for line in said.splitlines() if re.fullmatch(r"[.sFEx]+ *(\[ *\d+%\])?", line)]
    letters = "".join(line.split("[")[0].strip() for line in lines)
    passed, failed, left = letters.count("."), letters.count("F") + letters.count("E"), letters.count("s")
    return f"{passed:,} passed, {failed} failed, {left} left out"


def _run(command: Sequence[str], cwd: Path | None = None) -> str:
    said = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if said.returncode:
        raise SystemExit(f"{' '.join(command[:6])} ... failed:\n{(said.stdout + said.stderr)[-3000:]}")
    return said.stdout


def main() -> None:
    given = options(__doc__)
    found = interpreters()
    oldest = tuple(f"{name}=={version}" for name, version in requirements().items())
    environments = [Environment(path, version) for version, path in found.items()]
    if PYTHONS[0] in found:
        environments.insert(0, Environment(found[PYTHONS[0]], PYTHONS[0], oldest))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel, archive, source = built(folder)
        rows = []
        for number, environment in enumerate(environments[:1] if given.smoke else environments):
            is_last = number == len(environments) - 1  # once from the source archive
            rows.append(tried(environment, archive if is_last else wheel, source, folder / f"environment{number}"))
            print("; ".join(rows[-1]), flush=True)
    text = table(("Python", "packages", "installed from", "core tests", "seconds"), rows)
    missing = [version for version in PYTHONS if version not in found]
    text += f"\n\nNot found on this machine, and so not tried: {', '.join(missing)}." if missing else ""
    title = "Pythons and packages that Quadrat runs on"
    measured = "each in a new environment without extras, all public names imported, a core part of the tests run"
    publish("compatibility", title, text, write=given.write, measured=measured)


if __name__ == "__main__":
    main()
