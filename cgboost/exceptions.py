"""The exceptions and warnings of cgboost. Solver errors live in :mod:`solvers`."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from types import FrameType
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


MORE = " (more: cgboost explain "


def see(section: Section) -> str:
    """The end of a message: the command that explains it."""
    return f"{MORE}{section})"


def without_hint(error: Exception) -> str:
    """The message of an error without that command, for a message that ends with its own."""
    return str(error).partition(MORE)[0]


class CGBoostError(Exception):
    """Base class of every error that cgboost itself raises."""

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
        Whether the solver ran out of time instead of failing.
    unbounded : bool
        Whether the objective falls without end over the columns so far.
    """

    def __init__(self, message: str, *, timed_out: bool = False, unbounded: bool = False) -> None:
        super().__init__(message)
        self.timed_out, self.unbounded = timed_out, unbounded


class BoundError(CGBoostError):
    """A lower bound exceeds the objective: one of the two is wrong."""

    section = "bounds"


class CheckError(CGBoostError, AssertionError):
    """A loss, penalty, kernel or pricer of yours breaks a law, which the message names."""


class KernelError(CGBoostError, ValueError):
    """A kernel returned something that is not a finite matrix of the right shape."""


class IndefiniteKernelError(KernelError):
    """A kernel is not positive semi-definite; it therefore has no RKHS and no norm of functions.

    Parameters
    ----------
    name : str
    found : str
        The evidence, with its value.
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
    """A run cannot be resumed: the checkpoint has other data, or the run cannot have one."""

    section = "resuming"


class DatabaseError(CGBoostError, RuntimeError):
    """A database failed, or the connection was lost, during a fit in the database."""


class ExecutorError(CGBoostError, RuntimeError):
    """An executor rejects tasks, has lost a worker for good, or cannot receive the tasks' data."""


class PersistenceError(CGBoostError, ValueError):
    """A model cannot be stored, or a file is not a stored model that can be trusted and read."""

    section = "stored-models"


class CorruptFileError(PersistenceError):
    """A stored model is damaged, truncated or changed, or the file is not a stored model."""


class NewerFormatError(PersistenceError):
    """The file was written by a later version of cgboost, in a format that this one cannot read."""


class UnknownContentError(PersistenceError):
    """A stored model names a class or function that is unknown or was not passed."""


class ExportError(CGBoostError, ValueError):
    """A model has parts that the export format cannot express."""

    section = "stored-models"


class FileError(PersistenceError, OSError):
    """A file cannot be written; an existing file of that name is unchanged."""


class CertificateError(CGBoostError, ValueError):
    """No certificate: the problem of a model is not convex, not known, or not of these rows."""


class UnsupportedLossError(CGBoostError, ValueError):
    """A loss lacks what a master or estimator needs; the message names suitable losses."""


class KernelScaleWarning(UserWarning):
    """Kernels of one library differ so much in scale that the penalty ignores some of them."""


class TrivialModelWarning(UserWarning):
    """The optimal model has no columns: it predicts the same for every row."""


class DataWarning(UserWarning):
    """The data hardly suit the settings: too few rows for a choice, or an unusual scale."""


class VersionWarning(UserWarning):
    """A stored model was written by another version, and its predictions may differ."""


class WorkerWarning(UserWarning):
    """An executor has lost a worker; the work continues in a new pool or in this process."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written; the fit continues without it."""


class SlowSolverWarning(UserWarning):
    """A solver is far slower than another would be: a named one, or one that had to step in."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Give a warning that points at the line outside this package that led to it.

    Folds and samples are fitted by joblib, whose lines say nothing to anybody.
    """
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and _is_between(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_between(frame: FrameType) -> bool:
    """Whether a frame is one of this package, or of joblib, which calls it for this package."""
    name = str(frame.f_globals.get("__name__", ""))
    return frame.f_code.co_filename.startswith(PACKAGE) or name.partition(".")[0] == "joblib"
