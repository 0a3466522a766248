"""Space files, TOML and JSON: whatever a file holds, a space comes of it or one clear error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from tests.security.fuzzing import Outcome
from tests.security.mutation import Random, mutated_bytes, mutated_tables, odd_value

from quadrat.errors import InvalidInput
from quadrat.space import Space

__all__ = ["LONGEST_MESSAGE", "check_refusal", "read_space_file"]

LONGEST_MESSAGE = 4000
"""Characters of an error: what somebody reads, whatever the file holds."""

TABLES: dict[str, Any] = {
    "lr": {"type": "float", "low": 1e-6, "high": 1.0, "log": True},
    "kind": {"type": "categorical", "choices": ["adam", "sgd", 3, 2.5, True]},
    "depth": {"type": "int", "low": 1, "high": 8, "when": {"kind": ["adam", "sgd"]}},
    "momentum": {"type": "float", "low": 0, "high": 1, "step": 0.1, "when": {"kind": "sgd"}},
    "site": {"type": "categorical", "choices": ["north", "süd"], "context": True},
    "epochs": {"type": "fidelity", "levels": [5, 25, 100], "cost": [5, 25, 100]},
    "device": {"type": "fixed", "value": "cpu"},
}


def read_space_file(rng: Random, folder: Path) -> Outcome:
    """Read a file; check the space that comes of it, or the error."""
    kind = rng.choice((".toml", ".json"))
    path = folder / f"space{kind}"
    path.write_bytes(_content(rng, kind))
    try:
        space = Space.from_file(path)
    except InvalidInput as error:
        check_refusal(str(error), longest=LONGEST_MESSAGE)
        return "refused"
    assert Space.from_dict(space.to_dict()) == space, "a space is written and read again"
    params = space.from_unit(np.full(space.dimension, rng.random()))
    assert space.from_unit(space.to_unit(params)) == params, "and maps points there and back"
    return "accepted"


def check_refusal(message: str, *, longest: int | None = None) -> None:
    """Check that a message says what was expected, or what is wrong, and its length in characters."""
    assert longest is None or len(message) <= longest, f"{len(message)} characters: {message:.200}"
    assert any(word in message for word in ("expected", "unknown", "missing")), message


def _content(rng: Random, kind: str) -> bytes:
    way = rng.random()
    if way < 0.5:
        return mutated_bytes(rng, _written(TABLES, kind))
    if way < 0.9:
        return _written(mutated_tables(rng, TABLES), kind)
    if way < 0.97:
        return _written({f"p{i}": odd_value(rng) for i in range(rng.randrange(4))}, kind)
    return _extreme(rng, kind)


def _extreme(rng: Random, kind: str) -> bytes:
    """Return one that is too much of something."""
    size = 30_000 if rng.random() < 0.05 else 3_000
    way = rng.randrange(8)
    if way == 0:  # nesting
        opening, closing = rng.choice((("[", "]"), ('{"a":', "}"), ("{a=", "}")))
        value = opening * size + "1" + closing * size
        return (f'{{"x": {value}}}' if kind == ".json" else f"x = {value}").encode()
    if way == 1:  # a long text, as a name and as a value
        text = rng.choice("xé") * (10_000_000 if rng.random() < 0.02 else 10 * size)
        return _written({text: {"type": text}} if rng.random() < 0.5 else {"x": {"type": "fixed", "value": text}}, kind)
    if way == 2:  # a key twice
        text = (
            '"x": {"type": "int", "low": 1, "high": 3}' if kind == ".json" else '[x]\ntype = "int"\nlow = 1\nhigh = 3\n'
        )
        return (f"{{{text}, {text}}}" if kind == ".json" else text * 2).encode()
    if way == 3:  # choices
        return _written({"x": {"type": "categorical", "choices": [*range(size), rng.choice((0, "a"))]}}, kind)
    if way == 4:  # a chain of conditions, maybe closed
        names = [f"p{i}" for i in range(size // 10)]
        tables: dict[str, Any] = {name: {"type": "int", "low": 0, "high": 1} for name in names}
        for name, parent in zip(names, names[1:] + names[: rng.randrange(2)], strict=False):
            tables[name]["when"] = {parent: 1}
        return _written(tables, kind)
    if way == 5:  # numbers
        low = rng.choice(("-" * rng.randrange(2) + "9" * size, "0x" + "f" * size, f"1e{size}", "0." + "0" * size + "1"))
        text = f'"low": {low}, "high": 1' if kind == ".json" else f"low = {low}\nhigh = 1\n"
        return (f'{{"x": {{"type": "float", {text}}}}}' if kind == ".json" else f'[x]\ntype = "float"\n{text}').encode()
    if way == 6:  # encodings
        return _written(TABLES, kind).decode().encode(rng.choice(("utf-16", "latin-1", "utf-32", "utf-8-sig")))
    return rng.randbytes(size)


def _written(tables: dict[str, Any], kind: str) -> bytes:
    if kind == ".json":
        return _json(tables).encode(errors="surrogatepass")
    return "".join(f"{_toml_key(name)} = {_toml(table)}\n" for name, table in tables.items()).encode()


def _json(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(key))}: {_json(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_json, value)) + "]"
    # Python refuses to write very long numbers, but nobody else does.
    return "9" * 6000 if isinstance(value, int) and abs(value) > 1 << 10000 else json.dumps(value)


def _toml(value: Any) -> str:
    """Return a value as TOML, in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml_key(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return hex(value) if value >= 0 else "-1"
    if isinstance(value, float):
        return {"nan": "nan", "inf": "inf", "-inf": "-inf"}.get(repr(value), repr(value))
    return _toml_key(str(value))  # TOML has no null


def _toml_key(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "")
