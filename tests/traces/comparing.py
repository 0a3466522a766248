"""Traces compared: bit for bit on the machine kind that recorded them, within what is certain elsewhere.

The last bits of a float depend on the processor and on the libraries for linear algebra. A search amplifies them: two
expected improvements that differ by 1e-16 may change places, and everything after that differs. So a fingerprint of
what computes is kept with the traces. Where it is the same, traces must be equal bit for bit. Where it is not, only the
part "settled" of a trace is compared, floats to 1e-6, texts without their numbers; of the part "computed" only the
names and numbers of entries are.
"""

from __future__ import annotations

import json
import math
import platform
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import scipy.linalg  # so that its BLAS is loaded, and known
import sklearn
from tests.traces.plain import Plain
from threadpoolctl import threadpool_info

__all__ = ["FINGERPRINT", "GOLDEN", "differences", "fingerprint", "loose_differences", "read", "report", "written"]

GOLDEN = Path(__file__).parent / "golden"
FINGERPRINT = Path(__file__).parent / "fingerprint.json"
_HEX = re.compile(r"-?0x[01]\.[0-9a-f]*p[+-]\d+|-?inf|nan")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_TOLERANCE = 1e-6
_SHOWN = 3  # differences of a kind in a message

Difference = tuple[str, Plain, Plain]
"""Where two traces differ, and what the first and the second have there."""


def fingerprint() -> dict[str, Any]:
    """Return what decides the last bits of a float: versions, the processor's instructions, the kernels of BLAS."""
    config = np.show_config(mode="dicts")
    assert config is not None
    blas = [info for info in threadpool_info() if info["user_api"] == "blas"]
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "machine": platform.machine(),
        "libc": " ".join(platform.libc_ver()),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "optuna": optuna.__version__,
        "simd": sorted(config["SIMD Extensions"].get("found", [])),
        "blas": sorted({f"{info['internal_api']} {info['version']} {info.get('architecture')}" for info in blas}),
    }


def written(data: Plain) -> str:
    """Return data as the text of a file: keys sorted, an entry of the inner lists and dictionaries on each line."""
    return _written(data, 0) + "\n"


def _written(data: Plain, depth: int) -> str:
    if depth == 3 or not isinstance(data, dict | list) or not data:
        return json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    indent, inner = " " * depth, " " * (depth + 1)
    if isinstance(data, dict):
        parts = [f"{inner}{json.dumps(key)}: {_written(data[key], depth + 1)}" for key in sorted(data)]
        return "{\n" + ",\n".join(parts) + "\n" + indent + "}"
    return "[\n" + ",\n".join(f"{inner}{_written(entry, depth + 1)}" for entry in data) + "\n" + indent + "]"


def read(path: Path) -> Plain:
    """Return the data in a file."""
    return json.loads(path.read_text(encoding="utf-8"))


def differences(first: Plain, second: Plain, path: str = "") -> Iterator[Difference]:
    """Yield every place where two traces differ, in the order of their keys.

    Examples
    --------
    >>> list(differences({"a": [1, 2], "b": None}, {"a": [1, 3]}))
    [('a[1]', 2, 3), ('b', None, 'nothing')]
    """
    if isinstance(first, dict) and isinstance(second, dict):
        for key in sorted({**first, **second}):
            inside = f"{path}.{key}" if path else key
            if key in first and key in second:
                yield from differences(first[key], second[key], inside)
            else:
                yield inside, first.get(key, "nothing"), second.get(key, "nothing")
    elif isinstance(first, list) and isinstance(second, list):
        for k, (one, other) in enumerate(zip(first, second, strict=False)):
            yield from differences(one, other, f"{path}[{k}]")
        if len(first) != len(second):
            yield f"{path}: length", len(first), len(second)
    elif type(first) is not type(second) or first != second:
        yield path, first, second


def loose_differences(first: Plain, second: Plain) -> Iterator[Difference]:
    """Yield where two traces differ in what is certain on every machine.

    Examples
    --------
    >>> one = {"settled": {"x": (0.1).hex(), "why": "value 0.31"}, "computed": {"values": [(0.1).hex()]}}
    >>> other = {"settled": {"x": (0.1 + 1e-9).hex(), "why": "value 0.32"}, "computed": {"values": [(0.7).hex()]}}
    >>> list(loose_differences(one, other))
    []
    >>> list(loose_differences(one, {"settled": other["settled"], "computed": {"values": []}}))
    [('computed.values: length', 1, 0)]
    """
    for place, one, other in differences(first["settled"], second["settled"], "settled"):
        if not _alike(one, other):
            yield place, one, other
    yield from differences(_shape(first["computed"]), _shape(second["computed"]), "computed")


def _alike(one: Plain, other: Plain) -> bool:
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    if _HEX.fullmatch(one) and _HEX.fullmatch(other):
        a, b = float.fromhex(one), float.fromhex(other)
        return math.isclose(a, b, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return _NUMBER.sub("#", one) == _NUMBER.sub("#", other)


def _shape(computed: dict[str, Plain]) -> Plain:
    """Return the names of what was computed; of a list of suggestions, answers or trials how many there are."""
    counted = ("suggestions", "answers", "values")
    return {name: [None] * len(entry) if name in counted else None for name, entry in computed.items()}


def report(found: list[Difference]) -> str:
    """Return a message on differences: how many are of numbers and how many of texts alone, and the first of each."""
    texts = [one for one in found if all(isinstance(said, str) and not _HEX.fullmatch(said) for said in one[1:])]
    numbers = [one for one in found if one not in texts]
    lines = [f"{len(found)} differences: {len(numbers)} of numbers or structure, {len(texts)} of texts alone"]
    for place, one, other in [*numbers[:_SHOWN], *texts[:_SHOWN]]:
        lines.append(f"  {place}:\n    recorded {_shown(one)}\n    now      {_shown(other)}")
    return "\n".join(lines)


def _shown(value: Plain) -> str:
    if isinstance(value, str) and _HEX.fullmatch(value):
        return f"{value} ({float.fromhex(value)!r})"
    return f"{value!r:.300}"
