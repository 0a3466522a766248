"""Quadrat inside other tools: an Optuna sampler, spaces in studies, and what is recommended of a study."""

from __future__ import annotations

from quadrat.integrations.distributions import suggest
from quadrat.integrations.journal import journal_storage
from quadrat.integrations.optuna_sampler import QuadratSampler
from quadrat.integrations.study_recommendation import recommend

__all__ = ["QuadratSampler", "journal_storage", "recommend", "suggest"]
