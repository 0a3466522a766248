"""What processes that are forked from this one do not inherit: a handler of signals would answer for its parent."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["undone_in_forks"]

_undoing: list[Callable[[], None]] = []


def _undo() -> None:
    while _undoing:
        with suppress(ValueError):  # signals cannot be set in all threads
            _undoing.pop()()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_undo)


@contextmanager
def undone_in_forks(undo: Callable[[], None]) -> Iterator[None]:
    """Call `undo` at once in each process that is forked within the block, the last one first.

    Examples
    --------
    >>> import os
    >>> with undone_in_forks(lambda: os._exit(7)):
    ...     child = os.fork()
    >>> os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    7
    """
    _undoing.append(undo)
    try:
        yield
    finally:
        with suppress(ValueError):  # in a forked process
            _undoing.remove(undo)
