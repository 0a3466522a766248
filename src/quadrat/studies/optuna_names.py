"""Names of Optuna that it does not promise, and that Quadrat uses: all of them, checked as `quadrat.studies` loads.

A release of Optuna may take any of them away. Then this module says so, instead of some trial later.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = ["IMPORTED", "OF_OBJECTS", "check_names"]

SUPPORTED = "optuna>=4.0,<6"  # versions that have all of them

IMPORTED = {
    "optuna.samplers._base": ("_process_constraints_after_trial",),
    "optuna.storages._rdb": ("models",),
    "optuna.storages._rdb.storage": ("_create_scoped_session",),
    "optuna.storages.journal._file": ("BaseJournalFileLock", "get_lock_file"),
    "optuna.storages.journal._storage": ("JournalStorageReplayResult",),
}
"""Names by the module that they are imported from."""

OF_OBJECTS = {
    "Study": ("_storage", "_study_id", "_get_trials"),
    "Trial": ("_trial_id",),
    "FrozenTrial": ("_trial_id",),
    "BaseDistribution": ("_contains",),
    "InMemoryStorage": ("_lock",),
    "JournalFileBackend": ("_file_path", "_lock", "_log_number_offset"),
    "JournalStorage": ("_backend", "_replay_result", "_sync_with_backend", "_thread_lock"),
    "JournalStorageReplayResult": (
        "_apply_create_trial",
        "_apply_set_trial_state_values",
        "_study_id_to_trial_ids",
        "_trials",
        "_worker_id_prefix",
    ),
    "_CachedStorage": ("_backend",),
}
"""Attributes by the class whose objects have them."""


def check_names() -> None:
    """Raise ImportError, with what to install, where Optuna has not all of these names.

    Examples
    --------
    >>> check_names()
    """
    import optuna

    gone = [f"{module}.{name}" for module, names in IMPORTED.items() for name in names if not _has(module, name)]
    if not gone:
        try:
            made = _examples()
        except Exception as error:  # it is made in another way now
            gone = [f"{type(error).__name__}: {error}"]
        else:
            gone = [
                f"{kind}.{name}"
                for kind, names in OF_OBJECTS.items()
                for name in names
                if not hasattr(made[kind], name)
            ]
    if gone:
        raise ImportError(
            f"quadrat: expected names that Optuna {optuna.__version__} does not have any more ({', '.join(gone)});"
            f" pip install '{SUPPORTED}', or a newer quadrat"
        )


def _has(module: str, name: str) -> bool:
    try:
        # A module is not loaded: those of databases need packages that nobody may have.
        return hasattr(import_module(module), name) or find_spec(f"{module}.{name}") is not None
    except ImportError:
        return False


def _examples() -> dict[str, Any]:
    """Return an object of each class; the file of the journal is one that is there already, and nothing is written."""
    import optuna
    from optuna.distributions import FloatDistribution
    from optuna.storages import InMemoryStorage, JournalStorage
    from optuna.storages.journal import JournalFileBackend
    from optuna.study import Study, StudyDirection
    from optuna.trial import create_trial

    storage, verbosity = InMemoryStorage(), optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # nobody is to hear of this study
    storage.create_new_study([StudyDirection.MINIMIZE], "names")
    optuna.logging.set_verbosity(verbosity)
    study = Study("names", storage)
    journal = JournalStorage(JournalFileBackend(os.devnull))
    cached: Any = import_module("optuna.storages._cached_storage")._CachedStorage
    return {
        "Study": study,
        "Trial": study.ask(),
        "FrozenTrial": create_trial(value=0.0),
        "BaseDistribution": FloatDistribution(0.0, 1.0),
        "InMemoryStorage": storage,
        "JournalFileBackend": journal._backend,
        "JournalStorage": journal,
        "JournalStorageReplayResult": journal._replay_result,
        "_CachedStorage": cached(storage),
    }


check_names()
