"""The pages of the API reference: one for each package, with every name of its `__all__` exactly once.

A page is a list of directives that mkdocstrings replaces by what the docstrings say. The names that `quadrat` itself
offers are documented where they are defined; its own page says where.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module
from inspect import getdoc

__all__ = ["PACKAGES", "api_pages"]

# Each page's packages, in the order of the layers.
PACKAGES = {
    "loop": ("loop", "optimizer"),
    "space": ("space",),
    "methods": ("methods",),
    "research": ("research",),
    "integrations": ("integrations",),
    "studies": ("studies",),
    "plots": ("plots",),
    "report": ("report",),
    "confidence": ("confidence",),
    "kernels": ("kernels",),
    "gp": ("gp",),
    "partition": ("partition",),
    "problems": ("problems",),
    "theory": ("theory",),
}
EXTRA = {"integrations": ("scipy.minimize",)}  # public, but kept out of `__all__`: the name is taken

_REFERENCE = re.compile(r"(?:^|(?<=\. ))\[([A-Z]+\d\d)\]:? +(.*?)(?=^\[|^\s*$|\Z)", re.MULTILINE | re.DOTALL)


@cache
def api_pages() -> dict[str, str]:
    """The text of each page, by its path in the site."""
    return {"api/index.md": _index(), **{f"api/{page}.md": _page(page) for page in PACKAGES}}


def names_of(package: str) -> list[str]:
    """The public names of a package: classes and functions as its author lists them, sorted without regard to case."""
    return sorted(import_module(f"quadrat.{package}").__all__, key=str.lower)


def _page(page: str) -> str:
    packages = PACKAGES[page]
    parts = [f"# {' and '.join(f'quadrat.{package}' for package in packages)}"]
    for package in packages:
        parts.append(getdoc(import_module(f"quadrat.{package}")) or "")
        parts += [f"::: quadrat.{package}.{name}" for name in (*names_of(package), *EXTRA.get(package, ()))]
    found = references(packages)
    if found:
        parts += ["## References", "\n".join(f"- {reference}" for reference in found)]
    return "\n\n".join(parts) + "\n"


def references(packages: tuple[str, ...]) -> list[str]:
    """What the keys in the docstrings of a page stand for."""
    known = _known_references()
    keys = {key for package in packages for module in modules_of(package) for key, _ in _cited(module)}
    return [f"[{key}] {known[key]}" for key in sorted(keys)]


@cache
def _known_references() -> dict[str, str]:
    """The reference of each key: the shortest, where some modules also say what it is for."""
    found: dict[str, str] = {}
    for packages in PACKAGES.values():
        for key, words in (one for package in packages for module in modules_of(package) for one in _cited(module)):
            found[key] = min(found.get(key, words), words, key=lambda text: (len(text), text))
    return found


def _cited(module: str) -> list[tuple[str, str]]:
    """The keys that a module's docstring explains, as [KEY] and the reference."""
    return [(key, " ".join(words.split())) for key, words in _REFERENCE.findall(getdoc(sys.modules[module]) or "")]


def modules_of(package: str) -> set[str]:
    """The modules in which the public names of a package are defined."""
    home = import_module(f"quadrat.{package}")
    found = {getattr(getattr(home, name), "__module__", None) for name in home.__all__}
    return {module for module in found if module is not None and module.startswith("quadrat.")}


def _index() -> str:
    """The page of the package itself: where each name is, and the errors."""
    quadrat = import_module("quadrat")
    home: dict[str, str] = quadrat._MODULE_OF
    lines = [
        "# API reference",
        "`import quadrat as qd` gives the names below, each of which is loaded when it is first used. The packages"
        " have more, for those who build on them.",
        "| package | what it is | names in `quadrat` |\n|---|---|---|",
    ]
    shown = {package: page for page, packages in PACKAGES.items() for package in packages}
    for package, page in shown.items():
        what = (getdoc(import_module(f"quadrat.{package}")) or "").splitlines()[0]
        names = [name for name in quadrat.__all__ if home[name] == package]
        links = ", ".join(f"[`{name}`][quadrat.{package}.{name}]" for name in sorted(names, key=str.lower))
        links = links or f"none: `from quadrat import {package}`"
        lines[-1] += f"\n| [`quadrat.{package}`]({page}.md) | {what} | {links} |"
    lines.append("## Errors")
    errors = sorted(name for name in quadrat.__all__ if home[name] not in shown)
    lines += [f"::: quadrat.{home[name]}.{name}\n    options:\n      heading_level: 3" for name in errors]
    return "\n\n".join(lines) + "\n"
