"""Files that a user names."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from quadrat._core.input_files import read_input


def test_files_and_pipes_are_read_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\r\nb")
    assert read_input(tmp_path / "file") == b"a\r\nb"
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"c" * 100_000,))
    writer.start()
    assert read_input(tmp_path / "pipe") == b"c" * 100_000
    writer.join()


def test_devices_are_refused() -> None:
    """Reading /dev/zero took all memory."""
    for device in ("/dev/zero", "/dev/full", "/dev/urandom"):
        with pytest.raises(OSError, match="a device, which need not end"):
            read_input(device)
