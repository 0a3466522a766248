"""Which study a command is about, and where it is."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import optuna
from optuna.storages import BaseStorage

from quadrat.studies.storage import DEFAULT_JOURNAL, open_storage, place

__all__ = ["Where"]


@dataclass(frozen=True)
class Where:
    """What the options --study and --storage say; None where nothing was said."""

    name: str | None
    storage: str | None

    def existing(self) -> BaseStorage | None:
        """Return the storage, without creating a file; None where there is none."""
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        path = DEFAULT_JOURNAL if self.storage is None else self.storage
        return open_storage(self.storage) if "://" in path or Path(path).exists() else None

    def command(self, words: str) -> str:
        """Return a further command on the same study."""
        options = ["--study", self.name] if self.name else []
        options += ["--storage", place(self.storage)] if self.storage else []
        return f"quadrat {words} {shlex.join(options)}".strip()
