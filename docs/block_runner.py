"""Run the blocks of one page in the current directory: the interpreter that docs/blocks.py starts for each page.

python docs/block_runner.py STEPS RESULTS PAGE

STEPS is a JSON list of steps, each an object with a "kind":
file      "name", "text": the text is written to that file
python    "code", "line": the code runs in the namespace that all blocks of the page share
console   "commands": each runs with bash
RESULTS receives a JSON list with an entry for every step that ran: {"outputs": [...], "error": null or a text}. It has
one output for each command, one for Python code, none for a file. Nothing runs after an error.
"""

from __future__ import annotations

import json
import linecache
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any


@contextmanager
def captured() -> Iterator[Callable[[], str]]:
    """Collect what this process and those it starts print, on the level of file descriptors."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            yield lambda: _text_of(file.fileno())
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)


def _text_of(descriptor: int) -> str:
    sys.stdout.flush()
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0).decode()


def run_python(code: str, line: int, page: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """Run code whose first line is so many lines down the page; errors name the page's own lines."""
    source = "\n" * (line - 1) + code
    name = f"{page}:{line}"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    with captured() as output:
        try:
            exec(compile(source, name, "exec", dont_inherit=True), namespace)  # noqa: S102
            error = None
        except (Exception, SystemExit):
            error = traceback.format_exc(limit=-8)
        return {"outputs": [output()], "error": error}


def run_console(commands: list[str]) -> dict[str, Any]:
    """Run commands one after the other; a status other than 0 is put into `statuses`."""
    outputs: list[str] = []
    statuses: list[int] = []
    for command in commands:
        ran = subprocess.run(  # noqa: S603
            ["bash", "-c", command],  # noqa: S607
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        outputs.append(ran.stdout)
        statuses.append(ran.returncode)
    return {"outputs": outputs, "statuses": statuses, "error": None}


def main(steps_file: str, results_file: str, page: str) -> None:
    """Run the steps; keep the results up to date, so that they are there when the interpreter is ended."""
    sys.path[0] = str(Path.cwd())  # the page's files can be imported, those beside this one cannot
    module = ModuleType("__main__")  # what blocks define can be pickled
    sys.modules["__main__"] = module
    results: list[dict[str, Any]] = []
    for step in json.loads(Path(steps_file).read_text()):
        if step["kind"] == "file":
            path = Path(step["name"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step["text"])
            result: dict[str, Any] = {"outputs": [], "error": None}
        elif step["kind"] == "python":
            result = run_python(step["code"], step["line"], page, module.__dict__)
        else:
            result = run_console(step["commands"])
        results.append(result)
        Path(results_file).write_text(json.dumps(results))
        if result["error"] is not None:
            break


if __name__ == "__main__":
    main(*sys.argv[1:])
