"""How many bytes an object keeps alive: its own, and those of everything that is reached from it."""

from __future__ import annotations

import gc
import json
import os
import sys
import types
from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np

__all__ = ["bytes_held", "in_a_copy"]

T = TypeVar("T")
# What belongs to the program, and not to the object that uses it.
_OF_THE_PROGRAM = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType)


def bytes_held(parts: Mapping[str, object]) -> dict[str, int]:
    """Return the bytes that each part keeps alive; what several share counts for the first of them.

    Arrays count with the whole of their buffer. Classes, functions and modules do not count.
    """
    seen: set[int] = set()
    held = {}
    for name, part in parts.items():
        todo, total = [part], 0
        while todo:
            one = todo.pop()
            if id(one) in seen or isinstance(one, _OF_THE_PROGRAM):
                continue
            seen.add(id(one))
            total += sys.getsizeof(one)
            if isinstance(one, np.ndarray):
                if one.base is not None:
                    todo.append(one.base)
            else:
                todo += gc.get_referents(one)
        held[name] = total
    return held


def in_a_copy(measure: Callable[[], T]) -> T:
    """Return what a function finds in a copy of this process, as JSON brings it over.

    Looking at millions of objects takes memory, of which some would stay: the copy takes it along when it ends.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "w") as out:
                json.dump(measure(), out)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as found:
        text = found.read()
    _, ended = os.waitpid(child, 0)
    if ended != 0:
        raise RuntimeError(f"a copy of this process ended with status {ended}")
    result: T = json.loads(text)
    return result
