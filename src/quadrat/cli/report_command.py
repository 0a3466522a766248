"""`quadrat report`: a study as one page that needs nothing else."""

from __future__ import annotations

import shlex
from pathlib import Path

from quadrat.cli.screen import Screen
from quadrat.cli.study_commands import Where, opened
from quadrat.errors import InvalidInput
from quadrat.studies.storage import close_storage, place

__all__ = ["named", "report"]


def report(where: Where, output: str) -> None:
    """Write the report of a study to a file."""
    from quadrat.report import report_html

    study = opened(where.name, where.storage, where.space)
    try:
        options = ["--study", study.study_name, *(["--storage", place(where.storage)] if where.storage else [])]
        text = report_html(study, where=shlex.join(options))
    finally:
        close_storage(study._storage)
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"output: expected a file that can be written, got {output}: {error}") from error
    Screen().say(f"Wrote {output} ({len(text.encode()) / 1e6:.1f} MB). It needs no network: open it in a browser.")


def named(argument: str | None, option: str | None) -> str | None:
    """Return the name of a study that may be said in two ways: report bowl, or report --study bowl."""
    if argument is not None and option is not None and argument != option:
        raise InvalidInput(f"study: expected one name, got {argument} and --study {option}; leave one out")
    return option if argument is None else argument
