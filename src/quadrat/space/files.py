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

from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quadrat.errors import InvalidInput
from quadrat.space.choices import Categorical, Fixed
from quadrat.space.fidelity import Fidelity
from quadrat.space.numeric import Float, Int
from quadrat.space.suggestions import did_you_mean

if TYPE_CHECKING:
    import os

    from quadrat.space.parameter import Parameter

__all__ = ["parameter_from_table", "read_json", "read_toml"]

_TYPES: dict[str, type[Parameter]] = {cls.kind: cls for cls in (Float, Int, Categorical, Fixed, Fidelity)}


def parameter_from_table(name: str, table: object, *, source: str) -> Parameter:
    """Return the parameter that a table such as ``{"type": "int", "low": 1, "high": 9}`` describes.

    Parameters
    ----------
    name
        The name of the parameter, for errors.
    table
        The type and the arguments of the parameter, by name.
    source
        Where the table comes from, for errors: a file.

    Raises
    ------
    InvalidInput
        Not a table, an unknown type, unknown or missing keys, or arguments that the type refuses.
    """
    where = f"{source}: parameter {name!r}"
    if not isinstance(table, Mapping):
        raise InvalidInput(
            f"{where}: expected a table with a type and its arguments, such as"
            f' {{"type": "float", "low": 0, "high": 1}}, got {table!r}'
        )
    kind = table.get("type", MISSING)
    cls = _TYPES.get(kind) if isinstance(kind, str) else None
    if cls is None:
        came = "no key 'type'" if kind is MISSING else f"{kind!r}{did_you_mean(kind, _TYPES)}"
        raise InvalidInput(f"{where}: expected type to be one of {', '.join(map(repr, _TYPES))}, got {came}")
    known = {argument.name: argument for argument in fields(cls) if argument.init}
    for key in table:
        if key != "type" and key not in known:
            raise InvalidInput(
                f"{where}: unknown key {key!r}{did_you_mean(key, known)}; type {kind!r} takes {', '.join(known)}"
            )
    missing = [key for key, argument in known.items() if argument.default is MISSING and key not in table]
    if missing:
        raise InvalidInput(f"{where}: missing key {', '.join(map(repr, missing))}, which type {kind!r} needs")
    try:
        return cls(**{key: value for key, value in table.items() if key != "type"})
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from None


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the tables of a TOML file.

    Raises
    ------
    InvalidInput
        The file cannot be read or is not TOML.
    """
    import tomllib

    try:
        return tomllib.loads(_read(path))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path}: expected TOML, got a syntax error: {error}") from None


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the object that a JSON file holds.

    Raises
    ------
    InvalidInput
        The file cannot be read, is not JSON, repeats a key, or does not hold an object.
    """
    import json

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) < len(pairs):  # JSON would keep the last and say nothing
            names = [key for key, _ in pairs]
            repeated = next(key for key in names if names.count(key) > 1)
            raise InvalidInput(f"{path}: expected each key once, got {repeated!r} more than once")
        return table

    try:
        tables = json.loads(_read(path), object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path}: expected JSON, got a syntax error: {error}") from None
    if not isinstance(tables, dict):
        raise InvalidInput(f"{path}: expected an object with a table for each parameter, got {tables!r:.80}")
    return tables


def _read(path: str | os.PathLike[str]) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{path}: expected a file to read the space from, got: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: expected UTF-8 text, got: {error}") from None
