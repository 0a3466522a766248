"""Quadrat inside other tools: an Optuna sampler, and what it recommends of a study."""

from __future__ import annotations

from quadrat.integrations.optuna_sampler import QuadratSampler
from quadrat.integrations.study_recommendation import recommend

__all__ = ["QuadratSampler", "recommend"]
