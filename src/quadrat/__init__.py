"""Quadrat: noisy black-box optimisation whose bounds truly hold."""

from __future__ import annotations

__version__ = "0.1.0"
