"""The plotting library, loaded when a figure is drawn: everything else works without it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from quadrat.errors import NotAvailable

__all__ = ["graph_objects", "subplots"]


def graph_objects() -> Any:
    """Return the module `plotly.graph_objects`.

    Raises
    ------
    NotAvailable
        plotly is not installed.
    """
    return _loaded("plotly.graph_objects")


def subplots(**options: Any) -> Any:
    """Return an empty figure with subplots; the options of `plotly.subplots.make_subplots`."""
    return _loaded("plotly.subplots").make_subplots(**options)


def _loaded(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise NotAvailable("plots: expected plotly to be installed, got none; pip install 'quadrat[plots]'") from error
