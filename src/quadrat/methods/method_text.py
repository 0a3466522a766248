"""A method written as Python would show it: a name, or a name with options, such as LP0(kernel=Matern(), ...).

Nothing is executed: only methods, kernels and what belongs to them can be named, and options are plain values.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any

from quadrat.errors import InvalidInput, QuadratError
from quadrat.methods import registry
from quadrat.methods.base import Method

__all__ = ["read_method"]

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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # such as of "1if": what is wrong is said below
            tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two: very many brackets
        raise InvalidInput(f"method: expected a name, or a description such as {_EXAMPLE}, got {text!r:.120}") from None
    found = _made(tree.body)
    if not isinstance(found, Method):
        raise InvalidInput(f"method: expected a description of a method, such as {_EXAMPLE}, got {text!r:.120}")
    return found


def _made(node: ast.expr) -> Any:
    """Return what a part of the text stands for."""
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


def _shown(node: ast.expr) -> str:
    """Return a part of the text; what it is where it cannot be written, as numbers of thousands of digits."""
    try:
        return ast.unparse(node)
    except (ValueError, RecursionError):
        return type(node).__name__


def _known() -> dict[str, Callable[..., Any]]:
    from quadrat import kernels
    from quadrat.confidence import UserHolder
    from quadrat.gp.sketch import Sketch

    found: dict[str, Callable[..., Any]] = dict(registry.all_methods())
    for name in kernels.__all__:
        kind = getattr(kernels, name)
        if issubclass(kind, kernels.Kernel) and not kind.__abstractmethods__:
            found[name] = kind
    return {**found, "UserHolder": UserHolder, "Sketch": Sketch}
