"""Kernels on actions and contexts, composed from one for each, and learned together.

[K11]: Krause and Ong (2011). Contextual Gaussian process bandit optimization. NIPS 24. Section 5: a product lets the
effect of an action depend on the context; a sum says that contexts shift all actions alike.
"""

from __future__ import annotations

from math import sqrt
from typing import Literal, TypeAlias

import numpy as np

from quadrat.gp import Bounds, LogNormal, Observations, Priors, fit_map
from quadrat.kernels import Kernel, Matern, OnAxes, Product, Sum, Tied
from quadrat.methods.domain import Domain
from quadrat.methods.learned_kernel import Learned

__all__ = ["Composition", "columns", "composed", "learn_composed"]

Composition: TypeAlias = Literal["product", "sum"]

_PRIORS = Priors(LogNormal(-0.7, 1.0), None, None, None)  # a median of .5; 90 % between a tenth of the side and 2.6


def columns(domain: Domain) -> tuple[list[int], list[int]]:
    """Return the columns of `domain.features` that belong to actions, and those that belong to contexts."""
    given = set(domain.context)
    numbered = list(enumerate(domain.groups))
    return [i for i, axis in numbered if axis not in given], [i for i, axis in numbered if axis in given]


def composed(action: Kernel, context: Kernel, domain: Domain, composition: Composition) -> Kernel:
    """Return k_S(x, x') k_Z(z, z') or k_S(x, x') + k_Z(z, z') on features [K11, section 5].

    Where there is no context, k_S alone.

    Parameters
    ----------
    action, context
        k_S on the columns of actions and k_Z on those of contexts.
    domain
        Says which columns these are.
    composition
        "product" or "sum".

    Examples
    --------
    >>> from quadrat.methods.domain import Axis
    >>> domain = Domain((Axis(), Axis()), context=(1,))
    >>> kernel = composed(Matern(2.5, 0.3), Matern(2.5, 1.0), domain, "sum")
    >>> kernel([[0.1, 0.2]]).tolist()
    [[2.0]]
    """
    of_actions, of_contexts = columns(domain)
    if not of_contexts:
        return OnAxes(action, of_actions)
    both = OnAxes(action, of_actions), OnAxes(context, of_contexts)
    return Product(*both) if composition == "product" else Sum(*both)


def learn_composed(
    form: Learned, domain: Domain, composition: Composition, data: Observations, previous: Kernel | None = None
) -> Kernel:
    """Return the composed kernel of highest posterior density: one length-scale for each axis, action or context.

    A product has the configured amplitude. In a sum, the amplitudes of both parts are learned, between a tenth of the
    configured one and itself: how much is due to the context is what a sum is about.

    Parameters
    ----------
    form
        Smoothness, amplitude, and the range of the length-scales; the prior within is log-normal around .5.
    domain, composition
        As of `composed`.
    data
        Merged observations of features in model units, noise variances known.
    previous
        The fit before, a further start.
    """
    of_actions, of_contexts = columns(domain)
    amplitude, bounds = form.amplitude, (form.amplitude, form.amplitude * (1 + 1e-12))
    if of_contexts and composition == "product":
        amplitude, bounds = sqrt(form.amplitude), (sqrt(form.amplitude), sqrt(form.amplitude) * (1 + 1e-12))
    elif of_contexts:
        amplitude, bounds = form.amplitude / sqrt(2), (form.amplitude / 10, form.amplitude)
    parts = [_part(form.nu, amplitude, [domain.groups[i] for i in some]) for some in (of_actions, of_contexts) if some]
    fit = fit_map(
        composed(parts[0], parts[-1], domain, composition),
        data,
        noise_variance=0.0,  # every observation brings its own
        mean=0.0,
        priors=_PRIORS,
        bounds=Bounds(lengthscale=form.lengthscales, amplitude=bounds),
        starts=[] if previous is None else [previous.hyperparameters],
        standardise=False,
    )
    return fit.kernel


def _part(nu: float, amplitude: float, axes: list[int]) -> Kernel:
    """A Matérn kernel with one length-scale for each axis: the columns of a choice share theirs."""
    kernel = Matern(nu, np.full(len(axes), 0.5), amplitude=amplitude)
    names = list(dict.fromkeys(axes))
    return kernel if len(names) == len(axes) else Tied(kernel, [names.index(axis) for axis in axes])
