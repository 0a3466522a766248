"""The sampler, from the installed package: nothing of it is copied here."""

from quadrat import QuadratSampler

__all__ = ["QuadratSampler"]
