"""Streams that the command keeps for itself."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from quadrat.cli.streams import own_streams

PROGRAM = """
import os, sys
from quadrat.cli.streams import own_streams
with own_streams(alone={alone}) as (output, errors):
    print("printed")
    {harm}
    output.write("said\\n")
    errors.write("complained\\n")
print("after")
print("after", file=sys.stderr)
"""


def written(harm: str, *, alone: bool) -> tuple[str, str]:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(harm=harm, alone=alone)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout, run.stderr


@pytest.mark.parametrize(
    "harm",
    [
        "pass",
        "sys.stdout.close(), sys.stderr.close()",
        "sys.stdout = sys.stderr = None",
        "sys.stdout.flush(), os.close(1), os.close(2)",
    ],
)
def test_whatever_is_done_to_standard_streams_the_command_goes_on(harm: str) -> None:
    """A traceback ended the command where an objective had closed standard output."""
    assert written(harm, alone=False) == ("printed\nsaid\nafter\n", "complained\nafter\n")


def test_what_is_printed_meanwhile_goes_to_standard_error() -> None:
    output, errors = written("os.write(1, b'by number\\n')", alone=True)
    assert output == "said\nafter\n"
    assert sorted(errors.splitlines()) == ["after", "by number", "complained", "printed"]


def test_a_text_in_memory_is_the_stream_itself() -> None:
    text, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(text), redirect_stderr(errors), own_streams(alone=True) as (output, _):
        print("printed")  # noqa: T201
        output.write("said\n")
    assert (text.getvalue(), errors.getvalue()) == ("said\n", "printed\n")
