"""Upper confidence bounds and improvements over a Gaussian process, and over arms."""
