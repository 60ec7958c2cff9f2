"""Numbers that several modules share, named by what they mean; those of one module stand there."""

from __future__ import annotations

MIP_GAP = 1e-6
"""Relative gap of integer programs where no tolerance is asked for: backends differ (HiGHS has
1e-4), and an answer must not depend on which is chosen."""

CERTIFICATE = 1e-7
"""Accuracy of OSQP's certificates of infeasibility: at its default, 1e-4, a bounded problem
(PRIMALC8) is called unbounded."""

LEAST_TIME = 1e-9
"""Seconds that stand for a time limit of 0, which solvers refuse or read as none."""

DENSE_FILL = 0.1
"""Share of nonzero entries from which a dense matrix product is the faster one."""
