"""Streams that the command keeps for itself while an objective runs in its process, which may close what it likes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TextIO

__all__ = ["own_streams"]

_OUTPUT, _ERROR = 1, 2  # file descriptors


@contextmanager
def own_streams(*, alone: bool) -> Iterator[tuple[TextIO, TextIO]]:
    """Yield standard output and standard error, which stay open and in their places whatever is done to `sys.stdout`.

    Streams that are not those of the process, such as a text in memory, are yielded themselves.

    Parameters
    ----------
    alone
        Whether nothing else gets to standard output: what an objective prints then goes to standard error. So does what
        worker processes print, which have the standard output that this process has when they start.
    """
    before = sys.stdout, sys.stderr
    output, errors = _own(before[0], _OUTPUT), _own(before[1], _ERROR)
    is_own = output is not before[0]
    try:
        if not alone:
            yield output, errors
        else:
            if is_own:
                os.dup2(_ERROR, _OUTPUT)
            with redirect_stdout(before[1]):
                yield output, errors
        output.flush()
        errors.flush()
    finally:
        if is_own and alone:
            with suppress(OSError, ValueError):
                before[0].flush()  # what was written to it meanwhile is no result either
        sys.stdout = _restored(before[0], output, _OUTPUT)
        sys.stderr = _restored(before[1], errors, _ERROR)


def _own(stream: TextIO, number: int) -> TextIO:
    """Return a stream of its own to where a standard stream of this process leads."""
    try:
        if stream.fileno() != number:
            return stream
    except (OSError, ValueError):  # such as a text in memory
        return stream
    stream.flush()
    return os.fdopen(os.dup(number), "w", encoding=stream.encoding, errors=stream.errors or "replace")


def _restored(before: TextIO, own: TextIO, number: int) -> TextIO:
    """Close a stream of one's own; return the one before it, or where that was closed, a new one to the same place."""
    if own is before:
        return before
    with suppress(OSError, ValueError):  # an objective may have closed this, too
        os.dup2(own.fileno(), number)
    with suppress(OSError, ValueError):
        own.close()
    if not before.closed:
        return before
    return open(number, "w", encoding=before.encoding, errors=before.errors, closefd=False)
