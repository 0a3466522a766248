"""The methods by name, and methods written as text with their options."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

from quadrat.errors import InvalidInput, QuadratError
from quadrat.kernels import Kernel
from quadrat.methods import registry
from quadrat.methods.base import Ability, Method

__all__ = ["all_methods", "get", "names", "read_kernel", "read_method", "that_handle", "unknown_name"]

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)  # options that have a name
_EXAMPLE = "'LPGPUCB(kernel=Matern(2.5, 0.3), norm_bound=2, noise=0.1, budget=100)'"


def read_method(text: str) -> Method:
    """Return the method that a text describes.

    Raises
    ------
    InvalidInput
        Neither a name nor a description, or options that the method does not take.

    Examples
    --------
    >>> read_method("LP0(kernel=Matern(1.5, [0.2, 0.4]), norm_bound=1, noise=0.1, budget=50)").kernel
    Matern(nu=1.5, lengthscales=(0.2, 0.4), amplitude=1.0)
    """
    if "(" not in text:
        return registry.get(text.strip())
    found = _made(_parsed(text))
    if not isinstance(found, Method):
        raise InvalidInput(f"method: expected a description of a method, such as {_EXAMPLE}, got {text!r:.120}")
    return found


def read_kernel(text: str) -> Kernel:
    """Return the kernel that a text describes.

    Raises
    ------
    InvalidInput
        No description of a kernel, or options that it does not take.

    Examples
    --------
    >>> read_kernel("Matern(2.5, [0.2, 0.4])")
    Matern(nu=2.5, lengthscales=(0.2, 0.4), amplitude=1.0)
    """
    try:
        found = _made(_parsed(text))
    except InvalidInput as error:
        raise InvalidInput(str(error).replace("method:", "kernel:", 1)) from None
    if not isinstance(found, Kernel):
        raise InvalidInput(f"kernel: expected a description of a kernel, such as 'Matern(2.5)', got {text!r:.120}")
    return found


def _parsed(text: str) -> ast.expr:
    """Return what is written as an expression of Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # such as of "1if": what is wrong is said below
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: very many brackets
        raise InvalidInput(f"method: expected a name, or a description such as {_EXAMPLE}, got {text!r:.120}") from None


def _made(node: ast.expr) -> Any:
    """Return what a part of the text stands for."""
    if isinstance(node, ast.Dict) and any(isinstance(value, ast.Call) for value in node.values):
        return {_made(key): _made(value) for key, value in zip(node.keys, node.values, strict=True) if key is not None}
    if not isinstance(node, ast.Call):
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, RecursionError):
            raise InvalidInput(f"method: expected a number or a description, got {_shown(node)!r:.80}") from None
    known = _known()
    name = _shown(node.func)
    if name not in known:
        raise InvalidInput(f"method: expected one of {', '.join(known)}, got {name!r:.80}")
    arguments = [_made(argument) for argument in node.args]
    options = {str(keyword.arg): _made(keyword.value) for keyword in node.keywords}
    missing = _missing(known[name], arguments, options)
    if missing:
        raise InvalidInput(
            f"method: expected {name} with values for {', '.join(missing)}, got {_shown(node)!r:.120}; give"
            f" it as {name}({', '.join(f'{option}=...' for option in missing)})"
        )
    try:
        return known[name](*arguments, **options)
    except QuadratError:
        raise
    except (
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
    ) as error:  # such as a number in the place of a kernel
        raise InvalidInput(f"method: expected options that {name} takes, got {error}") from error


def _missing(made: Callable[..., Any], arguments: list[Any], options: dict[str, Any]) -> list[str]:
    """Return the options without a default that are not given; none where others are given that do not exist."""
    try:
        taken = signature(made)
        given = taken.bind_partial(*arguments, **options).arguments
    except (TypeError, ValueError):  # said by the call itself
        return []
    needed = [one.name for one in taken.parameters.values() if one.default is one.empty and one.kind in _NAMED]
    return [name for name in needed if name not in given]


def _shown(node: ast.expr) -> str:
    """Return a part of the text; what it is where it cannot be written, as numbers of thousands of digits."""
    try:
        return ast.unparse(node)
    except (ValueError, RecursionError):
        return type(node).__name__


def _known() -> dict[str, Callable[..., Any]]:
    from quadrat import kernels
    from quadrat.confidence import Assumptions, UserHolder
    from quadrat.gp.sketch import Sketch

    found: dict[str, Callable[..., Any]] = dict(registry.all_methods())
    for name in kernels.__all__:
        kind = getattr(kernels, name)
        if issubclass(kind, kernels.Kernel) and not kind.__abstractmethods__:
            found[name] = kind
    return {**found, "Assumptions": Assumptions, "UserHolder": UserHolder, "Sketch": Sketch}


_NAMES = (
    "Auto",
    "LPGPUCB",
    "LP0",
    "Heuristic",
    "IGPUCB",
    "GPUCB",
    "ExpectedImprovement",
    "ProbabilityOfImprovement",
    "GPBUCB",
    "GPUCBPE",
    "CGPUCB",
    "LevelSet",
    "MultiScaleLevelSet",
    "Safe",
    "FittedSafe",
    "BKB",
    "PiGPUCB",
    "AddGPUCB",
    "StableOpt",
    "MFGPUCB",
    "UCB1",
    "SobolSearch",
    "RandomSearch",
)


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
    return _NAMES


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
    if method not in _NAMES:
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
    ['LP0', 'LPGPUCB', 'LevelSet', 'MultiScaleLevelSet', 'Safe']
    """
    return {name: load(name) for name in names()}


def that_handle(ability: Ability) -> tuple[str, ...]:
    """Return the names of the methods that say so of themselves."""
    return tuple(name for name, method in all_methods().items() if ability in method.facts.handles)


def load(name: str) -> type[Method]:
    """Return the class of this name."""
    found: type[Method] = getattr(import_module("quadrat.methods"), name)
    return found


def unknown_name(name: str, known: tuple[str, ...]) -> InvalidInput:
    """Return the error for a name that is not among those known, with the nearest one."""
    folded = {other.casefold(): other for other in known}
    near = get_close_matches(str(name).casefold(), folded, n=1)
    hint = f"; did you mean {folded[near[0]]!r}?" if near else ""
    return InvalidInput(f"method: expected one of {', '.join(known)}, got {name!r}{hint}")
