"""MF-GP-UCB: cheap and costly evaluations of the same thing."""
