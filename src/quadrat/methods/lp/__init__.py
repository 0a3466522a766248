"""LP-GP-UCB, the paper's method, in all its forms."""
