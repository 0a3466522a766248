"""Studies that outlive the process that began them: where they are kept, and what they evaluate."""

from __future__ import annotations

from quadrat.studies.objective import ObjectiveReference
from quadrat.studies.storage import DEFAULT_JOURNAL, open_storage

__all__ = ["DEFAULT_JOURNAL", "ObjectiveReference", "open_storage"]
