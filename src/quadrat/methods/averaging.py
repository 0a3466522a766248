"""Trials that say the same, averaged: many noisy values near a place become few that are nearly exact.

A long run evaluates the surroundings of the best place thousands of times, and a model of the trials nearest to it sees
a small part of them, all in one spot. So trials are put into the cells of a grid around the place. Where the values of
a cell differ by no more than their noise, f does not vary there as far as anybody can tell, and the cell becomes one
observation: the mean point, the mean value, and the variance of that mean. Where they differ by more, the cell is
divided, and so on. As in the paper, averages over cells serve where f is flat on their scale, and single points where
it is not; here the data choose the scale, so that nothing is certified.

For n values y_i of variances v_i in a cell, with weights w_i = 1 / v_i and their weighted mean m, sum w_i (y_i - m)^2
is a chi-square variable of n - 1 degrees of freedom if f is constant there. It may exceed its mean by two of its
standard deviations, sqrt(2 (n - 1)) each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from quadrat.arrays import Array, Bools

__all__ = ["Averages", "averages"]

WIDEST = 0.1  # of the cube's side: the cells of the first grid
LEVELS = 6  # grids, each half as wide as the one before; on the last nothing is divided any more
_SLACK = 2.0  # standard deviations


@dataclass(frozen=True)
class Averages:
    """Mean points (m, D) and mean values (m,) of cells, with the variances (m,) of these means."""

    points: Array
    values: Array
    variances: Array


def averages(points: Array, values: Array, variances: Array, centre: Array, smooth: Bools) -> Averages:
    """Return trials as averages over cells in which their values differ by noise alone.

    Parameters
    ----------
    points
        Where they were, shape (n, D).
    values
        What was observed, shape (n,).
    variances
        Of the noise in these, shape (n,), all > 0.
    centre
        Of the cell in the middle of the grids, shape (D,).
    smooth
        Along which axes f may vary little between neighbours, shape (D,); along others trials of one cell are equal.

    Examples
    --------
    >>> x = np.array([[0.5], [0.51], [0.52], [0.9]])
    >>> found = averages(x, np.array([1.0, 1.1, 0.9, 3.0]), np.full(4, 0.01), np.array([0.5]), np.array([True]))
    >>> found.points.ravel().round(3).tolist(), found.values.round(3).tolist()
    ([0.51, 0.9], [1.0, 3.0])
    """
    parts: list[tuple[Array, Array, Array]] = []
    left, weights = np.arange(len(points)), 1 / variances
    for level in range(LEVELS):
        x, y, w = points[left], values[left], weights[left]
        cells = np.where(smooth, np.floor((x - centre) / (WIDEST / 2**level) + 0.5), x)
        homes = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
        count, weight = np.bincount(homes), np.bincount(homes, w)
        mean = np.bincount(homes, w * y) / weight
        spread = np.bincount(homes, w * (y - mean[homes]) ** 2)
        alike = spread <= (count - 1) + _SLACK * np.sqrt(2 * (count - 1))
        if level == LEVELS - 1:
            alike[:] = True
        places = np.stack([np.bincount(homes, w * column) for column in x.T], axis=1) / weight[:, None]
        parts.append((places[alike], mean[alike], 1 / weight[alike]))
        left = left[~alike[homes]]
        if not len(left):
            break
    return Averages(*(np.concatenate(each) for each in zip(*parts, strict=True)))
