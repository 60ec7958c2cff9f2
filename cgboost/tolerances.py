"""Numbers that several modules share, named by what they mean. It imports nothing of cgboost.

A tolerance that one module alone has stands in that module. One that two modules mean alike stands
here, with the reason for its value; two that differ in meaning have two names.
"""

from __future__ import annotations

import numpy as np

EPSILON = float(np.finfo(np.float64).eps)

UNIT_ROUNDOFF = 0.5 * EPSILON
"""Relative error of one operation in float64: bounds of the rounding of long sums count in it."""

RESIDUE = 1e-13
"""A sum this small compared with its largest part, or squared errors this small compared with those
of the constant, are 0: some hundred units of rounding, since they come from sums of sums."""

UNMOVED = 1e-11
"""An objective, or a bound, that moves by this, relative to its scale, has not moved. Rounding of
sums over many rows leaves about 1e-12."""

LP_FEASIBILITY = 1e-7
"""What solvers of linear programs by default allow a row to be missed by, relative to its terms. A
bound, a reduced cost or a sum over a row that comes from their answers is no more exact."""

COEFFICIENT_ROUNDING = 1e-9
"""Coefficients below this share of the largest, of columns scaled alike, are 0 up to rounding. The
basis of a degenerate vertex has such columns."""

LARGE_ENTRY = 1e3
"""Columns of this size, or of its inverse, are out of scale with margins of 1."""

SMALLEST = 1e-300
"""Stands for 0 where it divides or under a logarithm: near the smallest float64, 2.2e-308."""

LARGEST_COST = 1e300
"""Of all rows together, C·Σw: losses stay within float64, of which the largest is 1.8e308."""

LARGEST_HALF_LOG_ODDS = 350.0
"""Half log-odds f larger than this count as this where they become a probability 1/(1 + exp(−2f)),
in SQL too: exp(700), 1e304, is near the largest float64, 1.8e308."""

LARGEST_SEED = 2**31 - 1
"""The largest seed that scikit-learn's learners take on every platform."""
