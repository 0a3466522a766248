"""Add-GP-UCB: parameters that act in groups."""
