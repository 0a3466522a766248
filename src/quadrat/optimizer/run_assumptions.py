"""What is stated of a whole run before its results are seen, in the units of the user: what `certify` rests on.

Everything of `quadrat.confidence.Assumptions`, and what turns a user's problem into one about the unit cube: the unit
of the length-scales, the offset of the values, and delta. A ball of functions need not contain constants, and the norm
of an objective around 80 is not that of the same one around 0: so the offset is part of what is assumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from math import isfinite, log
from typing import Any, Literal

from quadrat._core.arrays import as_number
from quadrat.confidence import Assumptions
from quadrat.confidence.budget import as_probability
from quadrat.errors import InvalidInput, NotAvailable
from quadrat.kernels import Kernel
from quadrat.kernels.stationary import Stationary
from quadrat.space import Float, Space

__all__ = ["UNIT_CUBE", "RunAssumptions", "two_numbers"]

UNIT_CUBE = "unit cube"
"""What `lengthscales` says where those of the kernel are shares of each parameter's range."""


@dataclass(frozen=True, kw_only=True)
class RunAssumptions:
    """Kernel, norm bound, noise and offset, as stated before any result was seen; values are in your units.

    The objective minus `offset` lies in the ball of radius `norm_bound` of the kernel's space of functions, and the
    noise of each value is sub-Gaussian with constant `noise`, whatever came before.

    Parameters
    ----------
    kernel
        The kernel. A kernel that was fitted to the results is no assumption.
    lengthscales
        Either the words "unit cube": then the kernel's length-scales are shares of each parameter's range (on the log
        scale for a log parameter), one for all or one for each in the order of the space. Or a length-scale for each
        parameter by name, in the units of that parameter, beside a kernel such as `Matern(2.5)` that has none of its
        own. That of a log parameter is a factor above 1: 10 says that a decade is one length-scale.
    norm_bound
        B > 0, in the units of the values.
    offset
        The value around which the objective lies: what is subtracted from every value. 0 where it lies around 0. With
        `values_within` it may be left out, and is the middle.
    noise
        sigma > 0, in the units of the values.
    values_within
        (lowest, highest) instead of `noise`: between which every single value must lie, such as (0, 1) for an accuracy.
        Then sigma is half of the distance (Hoeffding), and the objective lies between them too.
    delta
        What is certified holds with probability 1 - delta, all of it at once.

    Raises
    ------
    InvalidInput
        Not a kernel, a number out of range, no offset, or both or neither of `noise` and `values_within`.

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> stated = RunAssumptions(
    ...     kernel=Matern(2.5), lengthscales={"temperature": 28.0}, norm_bound=1.5, offset=0.0, noise=0.05
    ... )
    >>> stated.on(Space(temperature=Float(20, 90))).kernel
    Matern(nu=2.5, lengthscales=(0.4,), amplitude=1.0)
    """

    kernel: Kernel
    lengthscales: Literal["unit cube"] | Mapping[str, float]
    norm_bound: float
    offset: float | None = None
    noise: float | None = None
    values_within: tuple[float, float] | None = None
    delta: float = 0.05

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise InvalidInput(
                f"kernel: expected a kernel with stated length-scales, such as Matern(2.5), got {self.kernel!r:.80}; a"
                " kernel that is learned from the results is no assumption"
            )
        self._check_lengthscales()
        if (self.noise is None) == (self.values_within is None):
            got = "neither" if self.noise is None else "both"
            raise InvalidInput(
                f"noise: expected either noise or values_within, got {got}; state the sub-Gaussian constant of the"
                " noise, or two numbers between which every value must lie"
            )
        self._set("norm_bound", as_number(self.norm_bound, name="norm_bound", at_least=1e-100, at_most=1e100))
        if self.noise is not None:
            self._set("noise", as_number(self.noise, name="noise", at_least=1e-100, at_most=1e100))
        if self.values_within is not None:
            self._set("values_within", two_numbers(self.values_within))
        if self.offset is None and self.values_within is None:
            raise InvalidInput(
                "offset: expected the value around which the objective lies, got none; state 0 where that is 0, because"
                " the norm bound is about the objective minus its offset"
            )
        if self.offset is not None:
            self._set("offset", as_number(self.offset, name="offset", at_least=-1e100, at_most=1e100))
        self._set("delta", as_probability(self.delta))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_lengthscales(self) -> None:
        given = self.lengthscales
        if isinstance(given, str) and given == UNIT_CUBE:
            return
        if not isinstance(given, Mapping) or not given:
            raise InvalidInput(
                f'lengthscales: expected "{UNIT_CUBE}", where those of the kernel are shares of the ranges, or one for'
                f" each parameter by name in its units, got {given!r:.80}"
            )
        if not isinstance(self.kernel, Stationary) or self.kernel.lengthscales != 1.0:
            raise InvalidInput(
                "kernel: expected one without length-scales of its own, such as Matern(2.5), beside lengthscales by"
                f' name, got {self.kernel!r:.120}; or say lengthscales="{UNIT_CUBE}"'
            )
        checked = {name: as_number(one, name=f"lengthscales: {name!r:.60}", above=0.0) for name, one in given.items()}
        self._set("lengthscales", checked)

    @property
    def sigma(self) -> float:
        """The sub-Gaussian constant of the noise."""
        if self.noise is not None:
            return self.noise
        assert self.values_within is not None
        low, high = self.values_within
        return (high - low) / 2

    @property
    def centre(self) -> float:
        """The offset, or the middle of `values_within` where none was given."""
        if self.offset is not None:
            return self.offset
        assert self.values_within is not None
        low, high = self.values_within
        return low + (high - low) / 2

    def on(self, space: Space) -> Assumptions:
        """Return the same for the objective minus its offset, as a function on the unit cube of a space.

        Parameters
        ----------
        space
            Of Floats without steps.

        Returns
        -------
        Assumptions
            With the length-scales as shares of the ranges.

        Raises
        ------
        InvalidInput
            Length-scales for other parameters than those of the space, or a number of them that is not theirs; a factor
            of at most 1 for a log parameter.
        NotAvailable
            A parameter with a length-scale in its units that is no Float.
        """
        kernel = self.kernel
        if isinstance(self.lengthscales, Mapping):
            names, given = space.axes, self.lengthscales
            if set(names) != set(given):
                raise InvalidInput(
                    f"lengthscales: expected one for each of {', '.join(names)}, got {', '.join(map(str, given))}"
                )
            assert isinstance(self.kernel, Stationary)
            kernel = _with_lengthscales(self.kernel, tuple(_share(name, space[name], given[name]) for name in names))
        kernel.check_dimension(space.dimension)
        return Assumptions(kernel, self.norm_bound, self.sigma)

    def described(self, space: Space) -> str:
        """Return the kernel in words, with each length-scale in both units.

        Parameters
        ----------
        space
            As of `on`.

        Returns
        -------
        str
            Each in the units of its parameter, and as a share of its range.
        """
        kernel = self.on(space).kernel
        if not isinstance(kernel, Stationary):
            return f"{kernel!r} on the unit cube"
        scales = kernel.lengthscales
        each = [scales] * space.dimension if isinstance(scales, float) else list(scales)
        texts = [_in_both_units(name, space[name], share) for name, share in zip(space.axes, each, strict=True)]
        shape = {name: value for name, value in vars(kernel).items() if name not in ("lengthscales", "amplitude")}
        options = ", ".join(f"{name}={value!r}" for name, value in shape.items() if not name.startswith("_"))
        amplitude = "" if kernel.amplitude == 1.0 else f", amplitude {kernel.amplitude:g}"
        return f"{type(kernel).__name__}({options}){amplitude}; length-scales: {'; '.join(texts)}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data that JSON can hold; the kernel as the text that makes it."""
        return {
            "kernel": repr(self.kernel),
            "lengthscales": self.lengthscales if isinstance(self.lengthscales, str) else dict(self.lengthscales),
            "norm_bound": self.norm_bound,
            "offset": self.centre,
            "noise": self.sigma,
            "values_within": None if self.values_within is None else list(self.values_within),
            "delta": self.delta,
        }


def _with_lengthscales(kernel: Stationary, scales: tuple[float, ...]) -> Kernel:
    """Return a kernel with other length-scales: kernels of this family are dataclasses that have them."""
    changed: Kernel = replace(kernel, lengthscales=scales)  # type: ignore[type-var]
    return changed


def two_numbers(given: object, *, name: str = "values_within", largest: float = 1e100) -> tuple[float, float]:
    """Return the lowest and the highest of a pair; refuse what has no order, such as a set."""
    try:
        if isinstance(given, str | Set | Mapping):
            raise TypeError
        first, second = list(given)  # type: ignore[call-overload]  # that it may be something else is being tested
    except (TypeError, ValueError):
        raise InvalidInput(f"{name}: expected (lowest, highest), got {given!r:.80}") from None
    low, high = (as_number(end, name=name, at_least=-largest, at_most=largest) for end in (first, second))
    if not low < high:
        raise InvalidInput(f"{name}: expected (lowest, highest) with lowest < highest, got ({low!r}, {high!r})")
    return low, high


def _share(name: str, parameter: object, lengthscale: float) -> float:
    """Return a length-scale in the units of a parameter as a share of its range."""
    if not isinstance(parameter, Float) or parameter.is_single or parameter.step is not None:
        raise NotAvailable(
            f"lengthscales: expected parameters that are Floats without steps, got {name!r}, which is {parameter!r:.80}"
        )
    if not parameter.log:
        return lengthscale / (parameter.high - parameter.low)
    if lengthscale <= 1 or not isfinite(lengthscale):
        raise InvalidInput(
            f"lengthscales: expected a factor above 1 for the log parameter {name!r}, such as 10 for a decade, got"
            f" {lengthscale!r}"
        )
    return log(lengthscale) / log(parameter.high / parameter.low)


def _in_both_units(name: str, parameter: object, share: float) -> str:
    """Return a length-scale in the units of its parameter and as a share of its range."""
    if not isinstance(parameter, Float) or parameter.is_single:
        return f"{name} {share:.4g} of its axis"
    if not parameter.log:
        width = parameter.high - parameter.low
        return f"{name} {share * width:.4g} ({share:.4g} of {parameter.low:.10g} to {parameter.high:.10g})"
    exponent = share * log(parameter.high / parameter.low)
    factor = f"a factor of {2.718281828459045**exponent:.4g}" if exponent < 100 else f"a factor of e^{exponent:.4g}"
    return f"{name} {factor} ({share:.4g} of {parameter.low:.10g} to {parameter.high:.10g}, log scale)"
