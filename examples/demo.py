"""Placeholder until the numerical core is in."""
