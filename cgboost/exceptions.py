"""The exceptions and warnings of cgboost. Solver errors live in :mod:`solvers`."""

from __future__ import annotations


class CGBoostError(Exception):
    """Base of every error that cgboost raises on its own account."""


class MasterError(CGBoostError):
    """The restricted master could not be re-optimised.

    Attributes
    ----------
    timed_out : bool
        Whether the solver ran out of time, rather than failing.
    """

    def __init__(self, message: str, *, timed_out: bool = False) -> None:
        super().__init__(message)
        self.timed_out = timed_out


class KernelError(CGBoostError, ValueError):
    """A kernel returned something that is not a finite matrix of the right shape."""


class KernelScaleWarning(UserWarning):
    """Kernels of one library differ so much in scale that the penalty ignores some of them."""
