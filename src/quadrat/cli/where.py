"""Which study a command is about, and where it is."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import optuna
from optuna.storages import BaseStorage

from quadrat.studies.storage import DEFAULT_JOURNAL, open_storage

__all__ = ["Where", "place"]


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


def place(storage: str | None) -> str:
    """Return where studies are, for people to read: without the password in a URL."""
    if storage is None:
        return DEFAULT_JOURNAL
    scheme, slashes, rest = storage.partition("://")
    user, at, host = rest.rpartition("@")
    return f"{scheme}{slashes}{user.split(':')[0]}{at}{host}"
