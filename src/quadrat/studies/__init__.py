"""Studies that outlive the process that began them: where they are kept, what they evaluate, and who runs them."""

from __future__ import annotations

from quadrat.studies import optuna_names  # noqa: F401  # isort: skip  # before anything that uses one of them

from quadrat.loop.process_workers import ProcessWorkers
from quadrat.studies.coordinator import Coordinator
from quadrat.studies.objective import ObjectiveReference
from quadrat.studies.storage import DEFAULT_JOURNAL, open_storage

__all__ = ["DEFAULT_JOURNAL", "Coordinator", "ObjectiveReference", "ProcessWorkers", "open_storage"]
