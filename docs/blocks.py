"""Run the code blocks of documentation pages and compare what they print with what the pages show.

python docs/blocks.py PAGE...            prints the differences, and exits with 1 where there are any
python docs/blocks.py --write PAGE...    puts what came into the pages

On a page, blocks run in order, in one fresh folder:

python     runs in the namespace that all of the page's Python blocks share. A `text` block behind it, with only blank
           lines between, is what it prints: a block that prints has one.
console    lines `$ command`, each followed by its output; a command that ends with a backslash goes on in the next
           line. Errors count as output. A command that fails must show what it says.
toml, json, csv, python
           with the first line `# file: NAME` are written to that file; the line itself is left out of JSON and CSV.
text       behind anything else is just text.
sh         commands that are not run: how to install, on the pages of `INSTALLING` only.

In an output, `...` stands for anything, as in doctest; spaces at the ends of lines do not count.
"""

from __future__ import annotations

import difflib
import doctest
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RUNNER = Path(__file__).resolve().with_name("block_runner.py")
INSTALLING = ("docs/start.md", "docs/index.md", "README.md")
LANGUAGES = ("python", "text", "console", "toml", "json", "csv", "sh")
TIMEOUT = 300.0  # seconds for a page: it waits for what never ends, and is no limit to speed
WIDTH = 100  # columns of the terminal

_FENCE = re.compile(r"^( *)(`{3,})(.*)$")
_FILE = re.compile(r"^# file: (\S+)$")
_CHECKER = doctest.OutputChecker()


class BadPage(Exception):
    """A block that the conventions above do not allow."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its lines without indentation, and where they are (the page's first line is 0)."""

    language: str
    lines: tuple[str, ...]
    start: int
    end: int
    indent: str

    @property
    def file(self) -> str | None:
        """The file that the block is written to, or None."""
        found = _FILE.match(self.lines[0]) if self.lines and self.language not in ("text", "console", "sh") else None
        return found.group(1) if found else None


@dataclass(frozen=True)
class Shown:
    """An output on the page: the lines from `start` to before `end`; `block` is False where no block shows it yet."""

    lines: tuple[str, ...]
    start: int
    end: int
    indent: str
    block: bool = True


@dataclass(frozen=True)
class Step:
    """What is run, with one place on the page for each of its outputs."""

    line: int
    what: dict[str, Any]
    shown: tuple[Shown, ...] = ()


@dataclass
class Outcome:
    """What a page's run gave: complaints, and the page's text with what came in the place of what was shown."""

    complaints: list[str] = field(default_factory=list)
    text: str = ""


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    opened: tuple[int, str, str, str] | None = None
    lines = text.split("\n")
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if opened is None:
            if fence:
                opened = (number, fence.group(1), fence.group(2), fence.group(3).strip())
        elif fence and len(fence.group(2)) >= len(opened[2]) and not fence.group(3).strip():
            first, indent, _, language = opened
            inside = tuple(one.removeprefix(indent) for one in lines[first + 1 : number])
            found.append(Block(language, inside, first + 1, number, indent))
            opened = None
    if opened is not None:
        raise BadPage(f"line {opened[0] + 1}: the block that begins here has no end")
    return found


def steps_of(text: str, *, installing: bool = False) -> list[Step]:
    """What is to be run for a page."""
    lines = text.split("\n")
    blocks = blocks_of(text)
    steps: list[Step] = []
    for number, block in enumerate(blocks):
        if block.language not in LANGUAGES or (block.language == "sh" and not installing):
            raise BadPage(
                f"line {block.start}: expected a block of {', '.join(LANGUAGES[:-1])}, got {block.language!r}"
            )
        if block.file is not None:
            kept = block.lines[block.language in ("json", "csv") :]
            steps.append(Step(block.start, {"kind": "file", "name": block.file, "text": "\n".join(kept) + "\n"}))
        elif block.language == "python":
            behind = blocks[number + 1] if number + 1 < len(blocks) else None
            between = lines[block.end + 1 : behind.start - 1] if behind else []
            if behind and behind.language == "text" and not any(one.strip() for one in between):
                shown = Shown(behind.lines, behind.start, behind.end, behind.indent)
            else:
                shown = Shown((), block.end + 1, block.end + 1, block.indent, block=False)
            code = "\n".join(block.lines) + "\n"
            steps.append(Step(block.start, {"kind": "python", "code": code, "line": block.start + 1}, (shown,)))
        elif block.language == "console":
            commands, places = _console(block)
            steps.append(Step(block.start, {"kind": "console", "commands": commands}, places))
        elif block.language in ("toml", "json", "csv"):
            raise BadPage(
                f"line {block.start}: expected `# file: NAME` in the first line of this {block.language} block"
            )
    return steps


def _console(block: Block) -> tuple[list[str], tuple[Shown, ...]]:
    """The commands of a console block, and the place of each one's output."""
    commands: list[str] = []
    places: list[Shown] = []
    position = 0
    while position < len(block.lines):
        if not block.lines[position].startswith("$ "):
            raise BadPage(f"line {block.start + position + 1}: expected `$ command`, got {block.lines[position]!r}")
        command = block.lines[position].removeprefix("$ ")
        position += 1
        while command.endswith("\\") and position < len(block.lines):
            command += "\n" + block.lines[position]
            position += 1
        first = position
        while position < len(block.lines) and not block.lines[position].startswith("$ "):
            position += 1
        commands.append(command)
        places.append(Shown(block.lines[first:position], block.start + first, block.start + position, block.indent))
    return commands, tuple(places)


def is_executable(text: str) -> bool:
    """Whether a page has anything to run; one with a block that is not allowed has not."""
    try:
        return any(step.what["kind"] != "file" for step in steps_of(text, installing=True))
    except BadPage:
        return False


def matches(shown: tuple[str, ...] | list[str], came: list[str]) -> bool:
    """Whether an output is what the page shows."""
    return _CHECKER.check_output(_joined(shown), _joined(came), doctest.ELLIPSIS)


def _joined(lines: tuple[str, ...] | list[str]) -> str:
    return "\n".join(line.rstrip() for line in lines).strip("\n") + "\n"


def merged(shown: tuple[str, ...], came: list[str]) -> list[str]:
    """What came, with those of the shown lines that have `...` and still match it."""
    if matches(shown, came):
        return list(shown)
    gaps = [number for number, line in enumerate(shown) if line.strip() == "..."]
    if len(gaps) == 1 and len(came) >= len(shown):  # lines left out: as many as before are kept on either side
        before, after = shown[: gaps[0]], shown[gaps[0] + 1 :]
        rest = len(came) - len(after)
        return [*merged(before, came[: len(before)]), shown[gaps[0]], *merged(after, came[rest:])]
    fuzzy = [line for line in shown if "..." in line and line.strip() != "..."]
    result = []
    for line in came:
        kept = next((one for one in fuzzy if matches((one,), [line])), None)
        result.append(line if kept is None else kept)
    return result


def run_page(page: Path, python: str = sys.executable) -> Outcome:
    """Run a page in a fresh folder and compare; `python` is the interpreter whose environment is used."""
    try:
        name = page.resolve().relative_to(ROOT).as_posix()
    except ValueError:
        name = page.name
    text = page.read_text()
    try:
        steps = steps_of(text, installing=name in INSTALLING)
    except BadPage as error:
        return Outcome([f"{name}: {error}"], text)
    with tempfile.TemporaryDirectory(prefix="quadrat-page-") as scratch:
        results, errors = _run(steps, Path(scratch), name, python)
    complaints: list[str] = []
    changes: list[tuple[Shown, list[str]]] = []
    for step, result in zip(steps, results, strict=False):
        where = f"{name}:{step.line + 1}"
        if result["error"]:
            complaints.append(f"{where} raised\n{result['error'].rstrip()}")
        statuses = result.get("statuses", [0] * len(step.shown))
        for shown, output, status in zip(step.shown, result["outputs"], statuses, strict=True):
            came = [line.rstrip() for line in output.rstrip("\n").split("\n")] if output.strip() else []
            if status and not any(line.strip(" .") for line in shown.lines):
                complaints.append(f"{where} exited with {status}, and the page does not show why\n" + "\n".join(came))
            if not matches(shown.lines, came):
                complaints.append(f"{where} printed something else\n" + "\n".join(_difference(shown.lines, came)))
                if not result["error"]:
                    changes.append((shown, merged(shown.lines, came)))
    if len(results) < len(steps) and not any(result["error"] for result in results):
        complaints.append(f"{name}:{steps[len(results)].line + 1} did not end\n{errors}")
    return Outcome(complaints, _changed(text, changes))


def _difference(shown: tuple[str, ...], came: list[str]) -> Iterator[str]:
    """The lines of the page with a minus, those that came with a plus."""
    lines = [line.rstrip() for line in shown]
    return (line.rstrip("\n") for line in list(difflib.unified_diff(lines, came, lineterm="", n=1))[2:])


def _changed(text: str, changes: list[tuple[Shown, list[str]]]) -> str:
    lines = text.split("\n")
    for shown, came in reversed(changes):
        new = [f"{shown.indent}{line}".rstrip() for line in came]
        if not shown.block:
            new = ["", f"{shown.indent}```text", *new, f"{shown.indent}```"]
        lines[shown.start : shown.end] = new
    return "\n".join(lines)


def environment(python: str = sys.executable) -> dict[str, str]:
    """The variables that blocks run with: our programs first on PATH, one BLAS thread, a terminal without colour."""
    programs = str(Path(python).parent)
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "CLICOLOR_FORCE")}
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    terminal = {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    return {**kept, **threads, **terminal, "PATH": programs + os.pathsep + os.environ.get("PATH", os.defpath)}


def _run(steps: list[Step], scratch: Path, page: str, python: str) -> tuple[list[dict[str, Any]], str]:
    """Run the steps in an interpreter of their own; the results of those that ran, and what came on standard error."""
    folder = scratch / "work"
    folder.mkdir()
    (scratch / "steps").write_text(json.dumps([step.what for step in steps]))
    (scratch / "results").write_text("[]")
    command = [python, str(RUNNER), str(scratch / "steps"), str(scratch / "results"), page]
    try:
        ran = subprocess.run(  # noqa: S603
            command, cwd=folder, env=environment(python), capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
        errors = ran.stderr
    except subprocess.TimeoutExpired:
        errors = f"stopped after {TIMEOUT:.0f} s"
    results: list[dict[str, Any]] = json.loads((scratch / "results").read_text())
    return results, errors


def main(arguments: list[str]) -> int:
    """Check or write the named pages."""
    pages = [Path(one) for one in arguments if one != "--write"]
    if not pages:
        sys.stderr.write("expected pages: python docs/blocks.py [--write] PAGE...\n")
        return 2
    failed = False
    for page in pages:
        outcome = run_page(page)
        for complaint in outcome.complaints:
            sys.stdout.write(complaint + "\n\n")
        if "--write" in arguments and outcome.text != page.read_text():
            page.write_text(outcome.text)
            sys.stdout.write(f"{page}: written\n")
        failed = failed or bool(outcome.complaints)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
