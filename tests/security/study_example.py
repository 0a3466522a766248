"""A small study in a journal, as fuzzing and tests damage it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import optuna

from quadrat.integrations import suggest
from quadrat.optimizer import FAILED, Estimate
from quadrat.space import Categorical, Float, Int, Space
from quadrat.studies.journal import journal_storage
from quadrat.studies.opening import open_study
from quadrat.studies.telling import tell_outcome

__all__ = ["SPACE", "quiet", "write_study"]

SPACE = Space(x=Float(-1, 1), kind=Categorical(["a", "b"]), n=Int(1, 5, when={"kind": "b"}))


def write_study(path: Path, *, method: str = "RandomSearch", finished: int = 4) -> bytes:
    """Write a study with trials of every outcome and one that runs; return the bytes of the journal."""
    storage = journal_storage(path)
    with quiet():
        study = open_study(storage, "bowl", space=SPACE, direction="minimize", method=method, seed=0)
        for number in range(finished):
            trial = study.ask()
            x: float = suggest(trial, SPACE)["x"]
            outcomes: tuple[Any, ...] = (x * x, [x * x, x * x + 0.1], Estimate(x * x, 0.05), FAILED)
            tell_outcome(study, trial, outcomes[number % len(outcomes)])
        suggest(study.ask(), SPACE)
    return path.read_bytes()


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Optuna from telling what it does."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
