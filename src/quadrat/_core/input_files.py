"""Files that a user names, read as a whole."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

__all__ = ["read_input"]


def read_input(path: str | os.PathLike[str]) -> bytes:
    """Return what a file holds, also a pipe or a terminal; refuse a device such as /dev/zero, which never ends.

    Raises
    ------
    OSError
        A file that cannot be read.
    """
    with Path(path).open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and not file.isatty()):
            raise OSError(errno.EINVAL, "a device, which need not end", str(path))
        return file.read()
