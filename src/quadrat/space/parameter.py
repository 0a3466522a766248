"""What every type of parameter can do.

Every parameter that can vary owns one axis of the unit cube. `read` turns users' values into a vector of codes
(the number itself for Float and Int, the index of the choice for Categorical), `show` turns codes back, and
`encode` and `decode` map codes to the unit interval and back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from quadrat.errors import InvalidInput
from quadrat.space.conditions import When

if TYPE_CHECKING:
    from quadrat.arrays import Array
    from quadrat.space.scales import Scale

__all__ = ["Parameter"]


@dataclass(frozen=True, repr=False)
class Parameter(ABC):
    """What all parameters share: the condition under which they exist, and who chooses them.

    Parameters
    ----------
    context
        Whether its value is given from outside, trial by trial, instead of chosen: see `quadrat.space.Context`.
    when
        The parents' names, each with the value, or the collection of values, that it must have for this
        parameter to exist: ``{"booster": "gbtree"}``, ``{"booster": ["gbtree", "dart"], "depth": 3}``. None:
        it always exists. Parents are Categorical, Int or Fixed.

    Examples
    --------
    >>> from quadrat.space import Float
    >>> momentum = Float(0, 1, when={"optimiser": ["sgd", "rmsprop"]})
    >>> momentum.expected, dict(momentum.when)
    ('a number from 0.0 to 1.0', {'optimiser': ('sgd', 'rmsprop')})
    """

    kind: ClassVar[str]
    has_axis: ClassVar[bool] = True
    may_be_context: ClassVar[bool] = True

    _: KW_ONLY
    context: bool = False
    when: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        self._set("when", None if self.when is None else When(self.when))
        if not isinstance(self.context, bool):
            raise InvalidInput(f"{type(self).__name__}: context: expected True or False, got {self.context!r}")
        if self.context and self.when is not None:
            raise InvalidInput(
                f"{type(self).__name__}: expected a context without a condition, got when={self.when!s}: a context is"
                " given in every trial; leave when out"
            )
        if self.context and not self.may_be_context:
            raise InvalidInput(f"context: expected a Float, Int or Categorical, got {type(self).__name__}")

    @property
    @abstractmethod
    def expected(self) -> str:
        """What values are valid, in words, for error messages."""

    @property
    @abstractmethod
    def scale(self) -> Scale:
        """The map between codes and the unit interval."""

    @abstractmethod
    def read(self, values: Sequence[object]) -> Array:
        """Return the codes of users' `values`, shape (n,), with NaN for those that are not valid."""

    @abstractmethod
    def show(self, codes: Array) -> list[Any]:
        """Return the values that `codes` stand for, as Python objects."""

    def decode(self, u: Array) -> Array:
        """Return the codes at the unit coordinates `u`, shape (n,)."""
        return self.scale.decode(u)

    def encode(self, codes: Array) -> Array:
        """Return the unit coordinates of `codes`, shape (n,), in [0, 1]."""
        return self.scale.encode(codes)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, as a file holds it: the type, and whatever differs from the defaults."""
        data: dict[str, Any] = {"type": self.kind}
        for name, value, _ in self._stated():
            data[name] = value.to_dict() if isinstance(value, When) else value
            if isinstance(value, tuple):
                data[name] = list(value)
        return data

    def __repr__(self) -> str:
        parts = [f"{name}={value!r}" if named else repr(value) for name, value, named in self._stated()]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _stated(self) -> list[tuple[str, Any, bool]]:
        """Return name, value and whether it goes by keyword, of every argument that is not at its default."""
        arguments = [(f.name, getattr(self, f.name), f.kw_only is True, f.default) for f in fields(self) if f.init]
        stated = [(name, value, named) for name, value, named, default in arguments if value is not default]
        shared = {"context": 1, "when": 2}  # what all parameters have comes last
        return sorted(stated, key=lambda argument: (argument[2], shared.get(argument[0], 0)))

    def _set(self, name: str, value: object) -> None:
        """Set a field while a frozen instance is being made."""
        object.__setattr__(self, name, value)
