"""Spaces as plain data and in files: a table for each parameter, with its type and its arguments.

::

    [lr]
    type = "float"
    low = 1e-6
    high = 1.0
    log = true

    [momentum]
    type = "float"
    low = 0
    high = 1
    when = { optimizer = ["sgd", "rmsprop"] }
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from quadrat._core.input_files import read_input
from quadrat.errors import InvalidInput, did_you_mean, shortened
from quadrat.space.fidelity import Fidelity
from quadrat.space.numeric import Float, Int
from quadrat.space.parameter import Categorical, Fixed

if TYPE_CHECKING:
    import os

    from quadrat.space.parameter import Parameter

__all__ = ["parameter_from_table", "read_json", "read_toml"]

_TYPES: dict[str, type[Parameter]] = {cls.kind: cls for cls in (Float, Int, Categorical, Fixed, Fidelity)}
_DEEPEST = 4  # lists and tables inside each other: a table, its condition, the values of a parent, and one to spare
_LARGEST_BITS = 1024  # of a whole number, as of the largest float; Python does not even print much larger ones


def parameter_from_table(name: str, table: object, *, source: str) -> Parameter:
    """Return the parameter of a table such as ``{"type": "int", "low": 1, "high": 9}``; `source` is for errors."""
    try:
        _check_plain(table)
        return _parameter(table)
    except InvalidInput as error:
        raise InvalidInput(f"{source}: parameter {name!r:.80}: {shortened(str(error))}") from None


def _parameter(table: object) -> Parameter:
    if not isinstance(table, Mapping):
        raise InvalidInput(
            "expected a table with a type and its arguments, such as"
            f' {{"type": "float", "low": 0, "high": 1}}, got {table!r}'
        )
    kind = table.get("type", MISSING)
    cls = _TYPES.get(kind) if isinstance(kind, str) else None
    if cls is None:
        came = "no key 'type'" if kind is MISSING else f"{kind!r}{did_you_mean(kind, _TYPES)}"
        raise InvalidInput(f"expected type to be one of {', '.join(map(repr, _TYPES))}, got {came}")
    known = {argument.name: argument for argument in fields(cls) if argument.init}
    for key in table:
        if key != "type" and key not in known:
            raise InvalidInput(f"unknown key {key!r}{did_you_mean(key, known)}; type {kind!r} takes {', '.join(known)}")
    missing = [key for key, argument in known.items() if argument.default is MISSING and key not in table]
    if missing:
        raise InvalidInput(f"missing key {', '.join(map(repr, missing))}, which type {kind!r} needs")
    return cls(**{key: value for key, value in table.items() if key != "type"})


def _check_plain(table: object) -> None:
    """Refuse what no parameter takes and Python itself trips over: very large numbers, very deep nesting."""
    left: list[tuple[object, int]] = [(table, 0)]
    while left:
        value, depth = left.pop()
        if isinstance(value, int) and value.bit_length() > _LARGEST_BITS:
            raise InvalidInput(
                f"expected numbers up to 1.8e308, got one of about {value.bit_length() * 0.3:.0f} digits"
            )
        if isinstance(value, Mapping | list | tuple):
            if depth == _DEEPEST:
                raise InvalidInput(f"expected at most {_DEEPEST} lists and tables inside each other, got more")
            left += [(inner, depth + 1) for inner in (value.values() if isinstance(value, Mapping) else value)]


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the tables of a TOML file."""
    import tomllib

    text = _read(path)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path}: expected TOML, got a syntax error: {shortened(str(error))}") from None
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, thousands of lists in lists
        raise InvalidInput(f"{path}: expected a space in TOML, got what cannot be read: {error}") from None


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the object that a JSON file holds."""
    import json

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) < len(pairs):  # JSON would keep the last and say nothing
            repeated = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            raise InvalidInput(f"{path}: expected each key once, got {repeated!r:.80} more than once")
        return table

    text = _read(path)
    try:
        tables = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path}: expected JSON, got a syntax error: {error}") from None
    except InvalidInput:
        raise
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, thousands of lists in lists
        raise InvalidInput(f"{path}: expected a space in JSON, got what cannot be read: {error}") from None
    if not isinstance(tables, dict):
        raise InvalidInput(f"{path}: expected an object with a table for each parameter, got {tables!r:.80}")
    return tables


def _read(path: str | os.PathLike[str]) -> str:
    try:
        return read_input(path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise InvalidInput(f"{path}: expected a file to read the space from, got: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: expected UTF-8 text, got: {error}") from None
    except ValueError as error:  # a null character in the path
        raise InvalidInput(f"{str(path)!r}: expected a file to read the space from, got: {error}") from None
