"""The loop: evaluate an objective until a budget is spent or a rule says stop, alone or on an executor."""

from __future__ import annotations

from quadrat.loop.result import Result
from quadrat.loop.tuning import maximize, minimize

__all__ = ["Result", "maximize", "minimize"]
