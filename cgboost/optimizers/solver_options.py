"""Options of a named solver: which may be set, and who wins where the engine sets one itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cgboost._solvers import check_options
from cgboost.exceptions import see

TIME_LIMITS = ("time_limit", "time_limit_secs")
"""Names that solvers have for a limit of one solve; masters divide the time that is left."""


def checked_options(solver: str, options: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options of a solver, tried on a small program.

    They win over what the engine chooses for the solver (tolerances, the variant of the simplex,
    presolve, output): a bound never rests on the solver's accuracy. A time limit does not: it
    belongs to the fit.

    Parameters
    ----------
    solver : str
        Any name of :func:`solvers.available_backends`, or "auto", which takes no options.
    options : mapping of str to object, or None

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        For options that the solver does not take, or without a solver; the message has its words.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise ValueError(
            "solver_options must be a dict of the solver's own options or None, got "
            f"{options!r}{see('solvers')}"
        )
    if not options:
        return {}
    if solver == "auto":
        raise ValueError(
            f"solver_options={dict(options)!r} belong to one solver, got solver='auto', which is "
            f"none: name it, as in solver='highs'{see('solvers')}"
        )
    if limits := [name for name in options if name in TIME_LIMITS]:
        raise ValueError(
            f"solver_options has {limits[0]!r}, which would overrule the time that is left of a "
            f"fit: set time_limit of the model or the loop instead{see('solvers')}"
        )
    try:
        check_options(solver, options)
    except ValueError as error:
        raise ValueError(f"solver_options: {error}{see('solvers')}") from error
    return dict(options)
