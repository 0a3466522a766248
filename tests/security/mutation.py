"""Inputs that are almost right: valid ones that were damaged, and plain values of every shape."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

__all__ = ["ODD_TEXTS", "Random", "generator_of", "mutated_bytes", "mutated_tables", "mutated_text", "odd_value"]

Random = random.Random

ODD_TEXTS = (
    "",
    " ",
    "NaN",
    "-Infinity",
    "1e400",
    "-1e-400",
    "1" * 400,
    "1" * 5000,  # more digits than Python turns into an int
    "0x" + "f" * 5000,  # turns into an int that cannot be printed
    "[" * 60,
    "{" * 60,
    "((((",
    '"',
    "\\ud800",
    "\\u0000",
    "\u202e",
    "é̂ß漢🜚",
    "null",
    "true",
    "-0.0",
    "__class__",
    "__import__('os').system('exit 3')",
    "<script>alert(1)</script>",
    "=cmd|'/C calc'!A0",
    "cos\nsystem\n(S'exit 3'\ntR.",
    "!!python/object/apply:os.system ['exit 3']",
    "{0.__class__}",
    "%s%n",
    "\x1b[31m",
)
"""Texts that have a meaning somewhere, or that something somewhere is not ready for."""

_NUMBERS = (0, 1, -1, 0.5, 1e150, -1e308, 1e-320, 2**63, -(2**70), 10**400, 1 << 20000, float("nan"), float("inf"))
_KEYS = ("type", "low", "high", "log", "step", "choices", "value", "when", "context", "levels", "cost", "x", "")


def generator_of(target: str, seed: int, case: int) -> Random:
    """Return the generator of one case: a case is found again by these three."""
    return Random(f"{target} {seed} {case}")  # inputs of tests, no secrets


def mutated_bytes(rng: Random, data: bytes) -> bytes:
    """Return data with one to four pieces changed: flipped, removed, repeated, moved, put in, or cut off."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + int(rng.expovariate(0.1)))
        piece = data[start:end]
        way = rng.randrange(7)
        if way == 0 and start < len(data):
            data = data[:start] + bytes([data[start] ^ 1 << rng.randrange(8)]) + data[start + 1 :]
        elif way == 1:
            data = data[:start] + data[end:]
        elif way == 2:
            data = data[:end] + piece * rng.randint(1, 3) + data[end:]
        elif way == 3:
            rest = data[:start] + data[end:]
            place = rng.randrange(len(rest) + 1)
            data = rest[:place] + piece + rest[place:]
        elif way == 4:
            data = data[:start] + rng.randbytes(rng.randint(1, 8)) + data[start:]
        elif way == 5:
            data = data[:start] + rng.choice(ODD_TEXTS).encode() + data[end:]
        elif rng.random() < 0.2:
            data = data[:start]
    return data


def mutated_text(rng: Random, text: str) -> str:
    """Return a text that was damaged likewise."""
    return mutated_bytes(rng, text.encode(errors="surrogateescape")).decode(errors="surrogateescape")


def odd_value(rng: Random, depth: int = 3) -> Any:
    """Return plain data of any shape: what JSON can hold, and numbers that it cannot."""
    kind = rng.randrange(8 if depth else 5)
    if kind < 2:
        return rng.choice(_NUMBERS)
    if kind < 4:
        return rng.choice(ODD_TEXTS)
    if kind == 4:
        return rng.choice((None, True, False))
    if kind < 7:
        return [odd_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {rng.choice((*_KEYS, *ODD_TEXTS)): odd_value(rng, depth - 1) for _ in range(rng.randrange(4))}


def mutated_tables(rng: Random, tables: dict[str, Any]) -> dict[str, Any]:
    """Return tables, such as a space has, of which one to three parts are replaced, renamed, taken out or put in."""
    changed: dict[str, Any] = _copy(tables)
    for _ in range(rng.randint(1, 3)):
        where = changed
        while where and rng.random() < 0.75:
            inner = [value for value in where.values() if isinstance(value, dict)]
            if not inner:
                break
            where = rng.choice(inner)
        _change(rng, where)
    return changed


def _change(rng: Random, table: dict[str, Any]) -> None:
    key = rng.choice(list(table)) if table else rng.choice(_KEYS)
    way = rng.randrange(5)
    if way == 0:
        table.pop(key, None)
    elif way == 1:
        table[rng.choice(_KEYS)] = table.get(key)
    elif way == 2 and isinstance(table.get(key), list):
        items: list[Any] = table[key]
        items.insert(rng.randrange(len(items) + 1), odd_value(rng, 1))
    elif way == 3:
        table[rng.choice((*_KEYS, *ODD_TEXTS))] = odd_value(rng)
    else:
        table[key] = odd_value(rng)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, Sequence) and not isinstance(value, str) else value
