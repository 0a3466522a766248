"""Auto, the default method."""
