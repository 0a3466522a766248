"""`quadrat certify`: what stated assumptions certify of a stored study, whatever sampler it had."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quadrat._core.arrays import read_decimal
from quadrat.cli.screen import Screen
from quadrat.cli.study_commands import Where, opened, print_json
from quadrat.errors import InvalidInput
from quadrat.methods.registry import read_kernel
from quadrat.optimizer import RunAssumptions
from quadrat.studies.certification import certify as certified

__all__ = ["CertifyOptions", "certify"]

_REJECTED = 3
"""The exit status where the results contradict the assumptions, so that nothing is certified."""


@dataclass(frozen=True, kw_only=True)
class CertifyOptions:
    """What the options say, as texts and numbers; None where nothing was said."""

    kernel: str
    lengthscale: Sequence[str]
    unit_cube: bool
    norm_bound: float | None
    offset: float | None
    noise: float | None
    values_within: str | None
    delta: float
    params: Sequence[str]
    stated_before_data: bool
    every_value_counts: bool
    failures_ignore_noise: bool
    as_json: bool

    def assumptions(self) -> RunAssumptions:
        """Return what is stated; refuse what is no kernel, number or name."""
        if bool(self.lengthscale) == self.unit_cube:
            got = "both" if self.unit_cube else "neither"
            raise InvalidInput(
                "lengthscale: expected either --lengthscale NAME=NUMBER for each parameter, in its units, or"
                f" --unit-cube, where those of the kernel are shares of the ranges, got {got}"
            )
        if self.norm_bound is None:
            raise InvalidInput("norm-bound: expected a number above 0, got none; state --norm-bound")
        return RunAssumptions(
            kernel=read_kernel(self.kernel),
            lengthscales="unit cube" if self.unit_cube else _named(self.lengthscale),
            norm_bound=self.norm_bound,
            offset=self.offset,
            noise=self.noise,
            values_within=None if self.values_within is None else _range(self.values_within),
            delta=self.delta,
        )


def _named(texts: Sequence[str]) -> dict[str, float]:
    """Return length-scales by name."""
    found: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        value = read_decimal(number) if equals else None
        if not name or value is None:
            raise InvalidInput(f"lengthscale: expected NAME=NUMBER, such as temperature=28, got {text!r:.80}")
        if name in found:
            raise InvalidInput(f"lengthscale: expected one for each parameter, got two for {name!r:.80}")
        found[name] = value
    return found


def _range(text: str) -> tuple[float, float]:
    """Return LOW,HIGH as numbers."""
    ends = [read_decimal(part) for part in text.split(",")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        raise InvalidInput(f"values-within: expected LOW,HIGH, such as 0,1, got {text!r:.80}")
    return ends[0], ends[1]


def _setting(text: str) -> Mapping[str, Any]:
    """Return a setting that is written as JSON."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidInput(f"""params: expected JSON such as '{{"temperature": 62}}', got {text!r:.80}""")
    return found


def certify(where: Where, options: CertifyOptions) -> int:
    """Print what is certified, as text or JSON; return the exit status: 0, or 3 where the results reject it."""
    assumptions = options.assumptions()
    settings = [_setting(text) for text in options.params]
    found = certified(
        opened(where.name, where.storage, where.space),
        assumptions,
        params=settings,
        stated_before_data=options.stated_before_data,
        every_value_counts=options.every_value_counts,
        failures_ignore_noise=options.failures_ignore_noise,
    )
    if options.as_json:
        print_json(found.to_dict())
    else:
        Screen().say(repr(found))
    return 0 if found.rejected is None else _REJECTED
