"""A run as one page that needs nothing else: what to use, how good and how sure it is, figures, trials, settings."""

from __future__ import annotations

from quadrat.report.page import report_html

__all__ = ["report_html"]
