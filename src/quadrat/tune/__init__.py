"""The loop: evaluate an objective until a budget is spent or a rule says stop, alone or on an executor."""

from __future__ import annotations

from quadrat.tune.result import Result
from quadrat.tune.tune import maximize, minimize

__all__ = ["Result", "maximize", "minimize"]
