"""The exceptions and warnings of cgboost. Solver errors live in :mod:`solvers`."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import ClassVar, Literal

PACKAGE = str(Path(__file__).parent) + os.sep

MESSAGES = "docs/user_guide/messages.md"
"""The page that explains messages, relative to the root of the repository; it is in the package."""

Section = Literal[
    "kernels-and-libraries",
    "kernel-values",
    "kernel-scales",
    "kernels-on-columns",
    "precomputed-kernels",
    "input-data",
    "eval-set",
    "coefficients",
    "solvers",
    "stopped-early",
    "trivial-models",
    "probabilities",
    "bounds",
    "branch-and-price",
    "models-with-blocks",
    "constraints",
    "data-files",
    "resuming",
    "stored-models",
]
"""Its sections."""


def see(section: Section) -> str:
    """The end of a message: the command that explains it."""
    return f" (more: cgboost explain {section})"


class CGBoostError(Exception):
    """Base of every error that cgboost raises on its own account."""

    refutes_bounds: ClassVar[bool] = False
    """Whether it shows that bounds of earlier rounds are wrong: a run then has no result."""
    section: ClassVar[Section | None] = None
    """Of the page that explains messages, named at the end of each of this kind."""

    def __str__(self) -> str:
        words = super().__str__()
        return words if self.section is None else f"{words}{see(self.section)}"


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


class BoundError(CGBoostError):
    """A lower bound exceeds the objective, so that one of the two is wrong."""

    section = "bounds"


class KernelError(CGBoostError, ValueError):
    """A kernel returned something that is not a finite matrix of the right shape."""


class IndefiniteKernelError(KernelError):
    """A kernel is not positive semi-definite, so that it has no RKHS and no norm of functions.

    Parameters
    ----------
    name : str
    found : str
        What shows it, with its value.
    """

    refutes_bounds = True

    def __init__(self, name: str, found: str) -> None:
        self.name, self.found = name, found
        super().__init__(
            f"kernel {name!r} is not positive semi-definite, so that its functions have no norm: "
            f"{found}. Take another kernel, add a multiple of the identity to a given matrix or "
            "set its negative eigenvalues to 0, or choose a penalty of coefficients (penalty='l1', "
            f"'l2' or 'elasticnet'), which any kernel will do for{see('kernel-values')}"
        )

    def __reduce__(self) -> tuple[type[IndefiniteKernelError], tuple[str, str]]:
        return type(self), (self.name, self.found)


class InfeasibleConstraintsError(CGBoostError, ValueError):
    """Constraints of a model contradict each other, or were not met; the message names them."""

    section = "constraints"


class ResumeError(CGBoostError, ValueError):
    """A run cannot be gone on with: the checkpoint is of other data, or it cannot have one."""

    section = "resuming"


class DatabaseError(CGBoostError, RuntimeError):
    """A database failed, or its connection was lost, while a model was fitted in it."""


class ExecutorError(CGBoostError, RuntimeError):
    """An executor takes no tasks, has lost a worker for good, or cannot be sent what they need."""


class PersistenceError(CGBoostError, ValueError):
    """A model cannot be stored, or a file is no stored model that can be trusted and read."""

    section = "stored-models"


class CorruptFileError(PersistenceError):
    """A stored model is damaged, truncated, changed, or was never one."""


class NewerFormatError(PersistenceError):
    """A later version of cgboost has written this file, in a format that this one cannot read."""


class UnknownContentError(PersistenceError):
    """A stored model names a class or function that is not known, or was not given."""


class ExportError(CGBoostError, ValueError):
    """A model has parts that the format it is to be written in has no word for."""

    section = "stored-models"


class FileError(PersistenceError, OSError):
    """A file cannot be written; one that stood there before is as it was."""


class UnsupportedLossError(CGBoostError, ValueError):
    """A loss lacks what a master or an estimator needs of it; the message names those that fit."""


class KernelScaleWarning(UserWarning):
    """Kernels of one library differ so much in scale that the penalty ignores some of them."""


class TrivialModelWarning(UserWarning):
    """The optimal model has no columns: it predicts the same for every row."""


class DataWarning(UserWarning):
    """The data hardly suit what was asked for: few rows to choose by, or a scale far off."""


class VersionWarning(UserWarning):
    """A stored model was written by another version, and may predict other than before."""


class WorkerWarning(UserWarning):
    """An executor has lost a worker; the work goes on, on a new pool or in this process."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the fit goes on without it."""


class SlowSolverWarning(UserWarning):
    """A solver of cgboost's own could not go on, and a general, far slower one takes its place."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Give a warning that points at the line outside this package that led to it."""
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
