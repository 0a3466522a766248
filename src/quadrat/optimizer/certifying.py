"""When a run can be certified, what is certified then, and what each norm bound would certify."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from quadrat.arrays import Array
from quadrat.confidence import CertificateCurve, certificate_curve
from quadrat.errors import NotAvailable
from quadrat.kernels import Kernel
from quadrat.methods.base import Method, Search
from quadrat.optimizer.direction import Direction
from quadrat.optimizer.history import History
from quadrat.optimizer.recommendation import CertificateReport
from quadrat.space import Space

__all__ = ["curve_of", "report_of", "why_not_certified"]


def why_not_certified(space: Space, method: Method, history: History) -> str | None:
    """Return why nothing can be certified in this run, whatever the search says; None if something can."""
    # A context has exactly the coordinates of its values: f is a function on the cube times these.
    rough = [name for name in space.discontinuous if not space[name].context]
    standard_errors = history.standard_errors
    if rough:
        return (
            f"expected a space of Floats without steps or conditions, got {', '.join(rough)}: the assumptions are"
            " about a function on the whole cube"
        )
    if standard_errors:
        return "expected plain values, got a standard error: it is an estimate, and nothing certified rests on those"
    if not history.count("complete"):
        return f"no trial is complete yet ({history.summary()})"
    return method.why_not_certified()


def report_of(direction: Direction, search: Search, x: Array, params: dict[str, Any]) -> CertificateReport:
    """Return what the search certifies of the point x, shape (D,), which has these parameters, in the user's direction.

    Whether the run can be certified at all is `why_not_certified`'s to say.
    """
    got = search.certificate(x)
    if isinstance(got, str):
        return CertificateReport(None, got)
    if got.rejection is not None:
        return CertificateReport(None, got.rejection, rejected=got.rejection)
    return CertificateReport(
        got.value,
        params=params,
        certified_interval=direction.turn_interval(got.certified_interval),
        best_possible=direction.turn(got.maximum),
    )


def curve_of(
    space: Space, method: Method, history: History, direction: Direction, norm_bounds: Sequence[float] | Array
) -> CertificateCurve:
    """Return the certificate of the run under each norm bound, all else as the method states it.

    Raises
    ------
    NotAvailable
        The method states no kernel and noise, or the run cannot be certified whatever the bound is.
    """
    kernel, noise = getattr(method, "kernel", None), getattr(method, "noise", None)
    if not isinstance(kernel, Kernel) or not isinstance(noise, float | int):
        raise NotAvailable(
            f"certificate_curve: expected a method that states its kernel and noise, got {type(method).__name__};"
            " LPGPUCB does, and so can quadrat.certificate_curve(kernel, X, y, noise=...)"
        )
    if space.contexts:
        raise NotAvailable(
            "certificate_curve: expected a space without contexts, got some; certificate(context) has them"
        )
    reason = why_not_certified(space, method, history)
    if reason is not None:
        raise NotAvailable(f"certificate_curve: {reason}")
    observed = [
        (history.point(number), value) for number in history.numbers("complete") for value in history.values(number)
    ]
    return certificate_curve(
        kernel,
        np.array([x for x, _ in observed]),
        np.array([direction.turn(value) for _, value in observed]),
        noise=float(noise),
        norm_bounds=norm_bounds,
        delta=getattr(method, "delta", 0.05),
        holder=getattr(method, "holder", None),
    )
