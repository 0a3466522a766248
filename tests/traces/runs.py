"""All scripted runs by name: each is a function without arguments that returns a trace, data that JSON holds.

They use nothing but the public surface of the package, so that they run on a version whose inside was rebuilt.
"""

from __future__ import annotations

from tests.traces import command_runs, method_runs, optimizer_runs, study_runs  # each registers its runs
from tests.traces.watching import RUNS, Trace

__all__ = ["RUNS", "Trace", "command_runs", "method_runs", "optimizer_runs", "study_runs"]
