"""Search that never evaluates below a limit."""
