"""`quadrat best`, `quadrat export` and `quadrat report`: what a study says, whoever made it."""

from __future__ import annotations

import io
import json
import math
import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TextIO

import optuna
from optuna.storages import BaseStorage
from optuna.study import Study
from rich import box
from rich.table import Table

from quadrat.cli.screen import Screen, visible
from quadrat.cli.study_model import model_of
from quadrat.cli.study_summary import certificate_text, gain_text, pruned_text, value_text
from quadrat.cli.trial_table import shown
from quadrat.errors import InvalidInput
from quadrat.space import Space
from quadrat.studies.notes import count_pruned, kept_method, read_in
from quadrat.studies.opening import check_trials
from quadrat.studies.results_file import rows_of, write_csv
from quadrat.studies.storage import (
    DEFAULT_JOURNAL,
    check_outlives,
    check_output,
    close_storage,
    open_storage,
    place,
)

__all__ = ["Where", "best_data", "best_json", "best_table", "export", "named", "opened", "print_json", "report"]


@dataclass(frozen=True)
class Where:
    """What the options --study, --storage and --space say; None where nothing was said."""

    name: str | None
    storage: str | None
    space: str | None = None

    def existing(self) -> BaseStorage | None:
        """Return the storage, without creating a file; None where there is none."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        path = DEFAULT_JOURNAL if self.storage is None else self.storage
        check_outlives(path)
        return open_storage(self.storage) if "://" in path or Path(path).exists() else None

    def command(self, words: str) -> str:
        """Return a further command on the same study."""
        options = ["--study", self.name] if self.name else []
        options += ["--storage", place(self.storage)] if self.storage else []
        return f"quadrat {words} {shlex.join(options)}".strip()


def print_json(data: object, file: TextIO | None = None) -> None:
    """Print data as JSON, to standard output where no file is given."""
    (sys.stdout if file is None else file).write(json_text(data) + "\n")


def json_text(data: object) -> str:
    """Return data as JSON: null for numbers that are not finite, and escapes for characters that cannot be printed."""
    text = json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False, default=str)
    if text.replace("\n", "").isprintable():
        return text
    return "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)


def _finite(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def opened(name: str | None, storage: str | None, space: str | None = None) -> Study:
    """Return a study that exists, or the only one of the storage, read in the space of a file if one is named."""
    searched = None if space is None else Space.from_file(space)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    where = DEFAULT_JOURNAL if storage is None else storage
    if "://" not in where and not Path(where).exists():
        raise InvalidInput(f"storage: expected a journal file or a URL, got {where}, which does not exist")
    check_outlives(storage)
    opened_storage = open_storage(storage)
    names = [study.study_name for study in opened_storage.get_all_studies()]
    where = place(storage)
    if name is None and len(names) == 1:
        [name] = names
    if name is None or name not in names:
        known = ", ".join(names) if names else "none"
        raise InvalidInput(f"study: expected --study with the name of one in {where}, which has {known}, got {name}")
    found = optuna.load_study(study_name=name, storage=opened_storage)
    check_trials(found)
    if searched is not None:
        read_in(found, searched)
    return found


def best_table(study: Study) -> tuple[Table, str]:
    """Return the recommended parameters beside those of the best trial, and what is to be said of them."""
    model = model_of(study, kept_method(study), most_cells=0)
    found, pruned = model.recommendation, pruned_text(study)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 2, 0, 0))
    table.add_column("parameter")
    table.add_column("recommended")
    table.add_column(f"best seen (trial {found.best_seen.number})")
    for name in {**found.params, **found.best_seen.params}:
        table.add_row(shown(name), _cell(found.params, name), _cell(found.best_seen.params, name))
    table.add_row("value", value_text(found), f"{found.best_seen.value:.6g}")
    if found.gain is not None:
        table.add_row("could be gained", gain_text(found), "")
    if model.certificate is not None:
        table.add_row("certificate", certificate_text(model.certificate), "")
    return table, f"{found.why}{pruned and f' {pruned}'}"


def best_data(study: Study) -> dict[str, Any]:
    """Return the same as plain data: the recommendation, with its certificate where the method of the study has one.

    And how many trials were pruned, where some were: they do not count as results.
    """
    model, pruned = model_of(study, kept_method(study), most_cells=0), count_pruned(study)
    said = {**model.recommendation.to_dict(), **({"pruned": pruned} if pruned else {})}
    if model.certificate is None:
        return said
    return {**said, "certificate": asdict(model.certificate)}


def best_json(study: Study) -> str:
    """Return that as JSON."""
    return json_text(best_data(study))


def export(study: Study, csv_path: str | None) -> str | None:
    """Write the trials as CSV to a file, or to standard output for "-"; without a path return them as JSON."""
    if csv_path is None:
        return json_text(rows_of(study))
    written = io.StringIO()
    write_csv(study, written)  # all of it before a file is opened, which is empty then
    if csv_path == "-":
        # A program that reads it gets what is there; a terminal would obey it.
        sys.stdout.write(visible(written.getvalue()) if sys.stdout.isatty() else written.getvalue())
        return None
    check_output("csv", csv_path)
    try:
        with Path(csv_path).open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(written.getvalue())
    except OSError as error:
        raise InvalidInput(f"csv: expected a file that can be written, got {csv_path}: {error}") from error
    return None


def _cell(params: Mapping[str, Any], name: str) -> str:
    return shown(params[name]) if name in params else ""


def report(where: Where, output: str) -> None:
    """Write the report of a study to a file."""
    from quadrat.report import report_html

    check_output("output", output)
    study = opened(where.name, where.storage, where.space)
    try:
        options = ["--study", study.study_name, *(["--storage", place(where.storage)] if where.storage else [])]
        text = report_html(study, where=shlex.join(options))
    finally:
        close_storage(study._storage)
    try:
        page = text.encode("utf-8", "backslashreplace")  # a name in a storage may have half a character
        Path(output).write_bytes(page)
    except OSError as error:
        raise InvalidInput(f"output: expected a file that can be written, got {output}: {error}") from error
    Screen().say(f"Wrote {output} ({len(page) / 1e6:.1f} MB). It needs no network: open it in a browser.")


def named(argument: str | None, option: str | None) -> str | None:
    """Return the name of a study that may be said in two ways: report bowl, or report --study bowl."""
    if argument is not None and option is not None and argument != option:
        raise InvalidInput(f"study: expected one name, got {argument} and --study {option}; leave one out")
    return option if argument is None else argument
