"""Public names of a package that are loaded when they are first used, so that importing the package costs little."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

from quadrat._core.moved import refuse_those_that_left, warn_of

__all__ = ["lazy_names"]


def lazy_names(
    package: str,
    home: Mapping[str, str],
    modules: str = "",
    former: Mapping[str, str] | None = None,
    left: Mapping[str, str] | None = None,
) -> tuple[dict[str, str], Callable[[str], object], Callable[[], list[str]]]:
    """What a package needs to load its names lazily.

    Parameters
    ----------
    package
        The name of the package, its `__name__`.
    home
        For each module of the package, or by its full name for each module of another package of ours, the public names
        that it defines, separated by spaces.
    modules
        Modules of the package that are attributes of it without an import of their own, separated by spaces.
    former
        Names that were public here once, by the module of the package that has them now: they still resolve, with a
        warning.
    left
        Names that were public here once and are in no module of the package, as of `refuse_those_that_left`.

    Returns
    -------
    tuple
        The module of each public name; and the package's `__getattr__` and `__dir__` (PEP 562).

    Examples
    --------
    >>> module_of, load, listed = lazy_names("quadrat", {"space": "Float Int"}, "plots")
    >>> module_of["Int"], load("Int").__name__
    ('space', 'Int')
    """
    module_of = {name: module for module, names in home.items() for name in names.split()}
    attributes = set(modules.split())
    moved = {name: module for module, names in (former or {}).items() for name in names.split()}

    refuse = refuse_those_that_left(package, left or {})

    def load(name: str) -> object:
        if name in attributes:
            return import_module(f"{package}.{name}")  # which sets the attribute, so that this is asked once
        if name in moved:
            new = f"{package}.{moved[name]}"
            warn_of(f"{package}.{name}", f"{new}.{name}")
            return getattr(import_module(new), name)
        if name not in module_of:
            return refuse(name)
        home_of_name = module_of[name]
        module = home_of_name if home_of_name.startswith("quadrat.") else f"{package}.{home_of_name}"
        value: object = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *module_of, *attributes})

    return module_of, load, listed
