"""What stands in the hover of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quadrat.optimizer import TrialRecord
from quadrat.plots.style import number, plain

__all__ = ["LINES", "params_text", "trial_text"]

LINES = 24  # parameters that are listed; the rest is counted


def params_text(params: Mapping[str, Any], most: int = LINES) -> str:
    """Return parameters line by line, as text that a figure shows as it is; at most so many, and how many more."""
    lines = [f"{plain(name, 40)} = {_value(value)}" for name, value in list(params.items())[:most]]
    left_out = len(params) - len(lines)
    return "<br>".join([*lines, f"and {left_out} more"] if left_out else lines)


def trial_text(record: TrialRecord, most: int = LINES) -> str:
    """Return a trial's number, outcome and at most so many parameters, line by line."""
    if record.state == "complete":
        assert record.value is not None
        head = f"<b>trial {record.number}: {number(record.value, 6)}</b>"
        if record.sem is not None:
            head += f" ± {number(record.sem, 3)}"
        if len(record.values) > 1:
            head += f" (mean of {len(record.values)})"
        if record.feasible is False:
            broken = [plain(name, 30) for name, value in record.constraints.items() if value > 0]
            head += f"<br>constraint violated: {', '.join(broken)}"
    elif record.state == "failed":
        head = f"<b>trial {record.number}: failed</b><br>{plain(record.failure or '', 80)}"
    else:
        head = f"<b>trial {record.number}: pending</b>"
    return f"{head}<br>{params_text(record.params, most)}"


def _value(value: object) -> str:
    return number(value, 6) if isinstance(value, float) else plain(value, 40)
