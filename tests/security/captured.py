"""The command in this process: what it returns and what it prints."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from unittest import mock

import typer

from quadrat.cli import main

__all__ = ["Said", "run_command"]


_command = cache(typer.main.get_command)  # making it takes longer than most commands take


@dataclass(frozen=True)
class Said:
    """Exit status, standard output and standard error."""

    status: int
    out: str
    err: str


def run_command(arguments: Sequence[str]) -> Said:
    """Run the command on streams like those of a process."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    try:
        with mock.patch.object(typer.main, "get_command", _command):
            status = main(arguments)
    finally:
        sys.stdout, sys.stderr = before
    texts = []
    for stream in (out, err):
        stream.flush()
        raw = stream.buffer
        assert isinstance(raw, io.BytesIO)
        texts.append(raw.getvalue().decode())
    return Said(status, *texts)
