"""The backends that can be asked for by name, and the classes of problems that they solve.

`solvers.registry` enters the backends; a session only looks them up, to say who can do what it
cannot.
"""

from __future__ import annotations

from solvers.program.program import Program
from solvers.program.status import UnsupportedProblemError
from solvers.sessions.protocols import Backend

BACKENDS: dict[str, Backend] = {}

PROBLEM_NAMES = {
    "lp": "linear program",
    "qp": "quadratic program",
    "mip": "mixed-integer linear program",
    "miqp": "mixed-integer quadratic program",
}


def problem_class(program: Program) -> str:
    """Return the capability a backend needs: ``"lp"``, ``"qp"``, ``"mip"`` or ``"miqp"``."""
    return class_name(is_qp=program.is_qp, is_mip=program.is_mip)


def class_name(*, is_qp: bool, is_mip: bool) -> str:
    """Return the name of the problem class with these properties."""
    if is_mip:
        return "miqp" if is_qp else "mip"
    return "qp" if is_qp else "lp"


def local_backends(problem: str | None = None) -> tuple[str, ...]:
    """Return the installed backends with a file of their own; imports none of their packages."""
    return tuple(
        name
        for name, backend in BACKENDS.items()
        if backend.is_installed and (problem is None or problem in backend.capabilities)
    )


def require_support(backend: Backend, needed: str) -> None:
    """Raise `UnsupportedProblemError` unless the backend solves problems of this class."""
    if needed in backend.capabilities:
        return
    able = ", ".join(local_backends(needed)) or "no other backend either"
    raise UnsupportedProblemError(
        f"{backend.name} does not solve a {PROBLEM_NAMES[needed]}; these do: {able}",
        backend=backend.name,
    )
