"""The study that every serial run of a bench is to be equal to: one that met no faults."""

from __future__ import annotations

import shutil
from pathlib import Path

from optuna.trial import FrozenTrial
from tests.faults import bench
from tests.faults.starter import Starter

_LEAST = 20  # trials; a shorter study is the beginning of a longer one


class Reference:
    """Runs it, in one go, when it is first needed, and again when a longer one is.

    Parameters
    ----------
    folder
        A new one.
    starter
        Starts processes.
    """

    def __init__(self, folder: Path, starter: Starter) -> None:
        self._folder, self._starter = folder, starter
        self._trials: list[FrozenTrial] = []

    @property
    def journal(self) -> Path:
        """The journal of the study, once it was needed."""
        return self._folder / "quadrat.journal"

    def trials(self, n: int) -> list[FrozenTrial]:
        """Return the first trials."""
        if len(self._trials) < n:
            shutil.rmtree(self._folder, ignore_errors=True)
            undisturbed = bench.Bench(self._folder, self._starter, self)
            undisturbed.finish(max(n, _LEAST))
            self._trials = undisturbed.trials()
        return self._trials[:n]
