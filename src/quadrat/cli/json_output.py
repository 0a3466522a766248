"""JSON on standard output, such as every reader of JSON takes."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import Any

__all__ = ["print_json"]


def print_json(data: object) -> None:
    """Print data as JSON, with null for numbers that are not finite: JSON has none of these."""
    text = json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False, default=str)
    sys.stdout.write(text + "\n")


def _finite(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
