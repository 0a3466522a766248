"""The command line: parse, call, print. Only this layer loads typer and rich at import."""

from __future__ import annotations

from quadrat.cli.main import main

__all__ = ["main"]
