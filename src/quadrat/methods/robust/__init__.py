"""Settings that stay good when they are missed."""
