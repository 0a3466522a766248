"""Methods by name. A method's module is imported when the method is first asked for."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from importlib import import_module

from quadrat.errors import InvalidInput
from quadrat.methods.base import Ability, Method

__all__ = ["all_methods", "get", "names", "that_handle", "unknown_name"]

_MODULE_OF = {
    "Auto": "auto",
    "LPGPUCB": "lp_gp_ucb",
    "LP0": "lp_gp_ucb",
    "Heuristic": "heuristic",
    "IGPUCB": "igp_ucb",
    "GPUCB": "gp_ucb",
    "ExpectedImprovement": "improvement",
    "ProbabilityOfImprovement": "improvement",
    "GPBUCB": "gp_bucb",
    "GPUCBPE": "gp_ucb_pe",
    "CGPUCB": "cgp_ucb",
    "LevelSet": "level_set",
    "MultiScaleLevelSet": "multi_scale_level_set",
    "BKB": "bkb",
    "PiGPUCB": "pi_gp_ucb",
    "AddGPUCB": "add_gp_ucb",
    "StableOpt": "stable_opt",
    "MFGPUCB": "mf_gp_ucb",
    "UCB1": "ucb1",
    "SobolSearch": "sobol_search",
    "RandomSearch": "random_search",
}


def names() -> tuple[str, ...]:
    """Return the names that `get` knows.

    Returns
    -------
    tuple of str
        In the order in which they are listed.

    Examples
    --------
    >>> names()[:3]
    ('Auto', 'LPGPUCB', 'LP0')
    """
    return tuple(_MODULE_OF)


def get(method: str | Method) -> Method:
    """Return the method called so with its default options; a method is returned as it is.

    Parameters
    ----------
    method
        A name of `names`, or a method.

    Returns
    -------
    Method
        The method.

    Raises
    ------
    InvalidInput
        Neither a method nor the name of one, or the name of one with options that have no default.

    Examples
    --------
    >>> get("ExpectedImprovement").facts.title
    'Expected improvement'
    """
    if isinstance(method, Method):
        return method
    if not isinstance(method, str):
        raise InvalidInput(
            f"method: expected a method, such as RandomSearch() with its parentheses, or one of {', '.join(names())}, "
            f"got {method!r}"
        )
    if method not in _MODULE_OF:
        raise unknown_name(method, names())
    found = load(method)
    missing = [option.name for option in fields(found) if _is_required(option)]  # type: ignore[arg-type]  # a dataclass
    if missing:
        raise InvalidInput(
            f"method: expected a name that stands alone, got {method!r}, which cannot guess {', '.join(missing)}; "
            f"give it as {method}({', '.join(f'{name}=...' for name in missing)})"
        )
    return found()


def _is_required(option: Field[object]) -> bool:
    return option.init and option.default is MISSING and option.default_factory is MISSING


def all_methods() -> dict[str, type[Method]]:
    """Return every method's class by name.

    Returns
    -------
    dict of str to type
        The classes, in the order of `names`.

    Examples
    --------
    >>> sorted(name for name, method in all_methods().items() if method.facts.certifies)
    ['LP0', 'LPGPUCB', 'LevelSet', 'MultiScaleLevelSet']
    """
    return {name: load(name) for name in names()}


def that_handle(ability: Ability) -> tuple[str, ...]:
    """Return the names of the methods that say so of themselves.

    Examples
    --------
    >>> that_handle("constraints")
    ('Auto',)
    """
    return tuple(name for name, method in all_methods().items() if ability in method.facts.handles)


def load(name: str) -> type[Method]:
    """Return the class of this name."""
    found: type[Method] = getattr(import_module(f"quadrat.methods.{_MODULE_OF[name]}"), name)
    return found


def unknown_name(name: str, known: tuple[str, ...]) -> InvalidInput:
    """Return the error for a name that is not among those known, with the nearest one."""
    folded = {other.casefold(): other for other in known}
    near = get_close_matches(str(name).casefold(), folded, n=1)
    hint = f"; did you mean {folded[near[0]]!r}?" if near else ""
    return InvalidInput(f"method: expected one of {', '.join(known)}, got {name!r}{hint}")
