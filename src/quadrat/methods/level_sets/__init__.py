"""Where the objective is above a limit."""
