"""Public names of a package that are loaded when they are first used, so that importing the package costs little."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

from quadrat._core.moved import LEFT, warn_of

__all__ = ["lazy_names"]


def lazy_names(
    package: str,
    home: Mapping[str, str],
    modules: str = "",
    former: Mapping[str, str] | None = None,
) -> tuple[dict[str, str], Callable[[str], object], Callable[[], list[str]]]:
    """Return the module of each public name of `package`, and its `__getattr__` and `__dir__` (PEP 562).

    Lists of names are separated by spaces. `home` has the public names of each module of the package, or of any module
    by its full name. `modules` are attributes without an import of their own. `former` has names that were public here
    once, by the module of the package that has them now, `Old=New` where the name is another one: they still resolve,
    with a warning. A name that left the package is an AttributeError that says where it is.

    Examples
    --------
    >>> module_of, load, listed = lazy_names("quadrat", {"space": "Float Int"}, "plots")
    >>> module_of["Int"], load("Int").__name__
    ('space', 'Int')
    """
    module_of = {name: module for module, names in home.items() for name in names.split()}
    attributes = set(modules.split())
    moved = {
        word.split("=")[0]: (module, word.split("=")[-1])
        for module, names in (former or {}).items()
        for word in names.split()
    }

    def load(name: str) -> object:
        if name in attributes:
            return import_module(f"{package}.{name}")  # which sets the attribute, so that this is asked once
        if name in moved:
            module, new = moved[name]
            warn_of(f"{package}.{name}", f"{package}.{module}.{new}")
            return getattr(import_module(f"{package}.{module}"), new)
        if name not in module_of:
            raise AttributeError(LEFT.get(f"{package}.{name}", f"module {package!r} has no attribute {name!r}"))
        home_of_name = module_of[name]
        module = home_of_name if home_of_name.startswith("quadrat.") else f"{package}.{home_of_name}"
        value: object = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of, *attributes})

    return module_of, load, listed
