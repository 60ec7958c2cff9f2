"""Checks of constructor parameters: each error names the parameter, its value and what to give."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import joblib
import numpy as np
import sklearn.utils

from cgboost.exceptions import see

HUGE = 1024
"""Bits of whole numbers that are beyond the largest float."""


class TradeOff(NamedTuple):
    """The parameter that weighs the loss against the penalty, and its value."""

    name: str
    value: float

    def __str__(self) -> str:
        return f"{self.name}={self.value:g}"


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """``value`` must be one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {sorted(choices)}, got {value!r}")


def check_number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    optional: bool = False,
) -> None:
    """``value`` must be a finite real number in the given range, or None where that is allowed."""
    if optional and value is None:
        return
    wanted = "a finite number"
    wanted += f" > {above:g}" if above is not None else ""
    wanted += f" ≥ {at_least:g}" if at_least is not None else ""
    wanted += f" and < {below:g}" if below is not None else ""
    ok = isinstance(value, Real) and not isinstance(value, bool) and _is_finite(value)
    ok = ok and (above is None or value > above)
    ok = ok and (at_least is None or value >= at_least)
    ok = ok and (below is None or value < below)
    if not ok:
        raise ValueError(f"{name} must be {wanted}, got {_shown(value)}")


def _is_finite(value: Real) -> bool:
    """Whether it is a finite float: whole numbers may be beyond the largest one."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _shown(value: Any) -> str:
    """A value in a message: of a huge whole number its length."""
    if isinstance(value, int) and value.bit_length() > HUGE:
        return f"a whole number of {value.bit_length()} bits"
    return repr(value)


def check_learning_rate(value: Any) -> None:
    """``learning_rate`` must be a number between 0 and 2: from 2 on steps do not lower the loss.

    Of a loss that is quadratic along a column the step r times the best one changes it by
    (1 − r)² − 1 of what the best one takes off.
    """
    check_number("learning_rate", value, above=0, below=2)


def check_nu(value: Any, *, optional: bool = False, name: str = "nu") -> None:
    """ν must be in (0, 1], or None where that is allowed."""
    if optional and value is None:
        return
    ok = isinstance(value, Real) and not isinstance(value, bool) and _is_finite(value)
    if not ok or not 0 < float(value) <= 1:
        raise ValueError(f"{name} must be a number > 0 and ≤ 1, got {_shown(value)}")


def check_bool(name: str, value: Any) -> None:
    """``value`` must be True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def check_early_stopping(name: str, value: Any) -> None:
    """``value`` must be True, False or the name of a score."""
    is_word = isinstance(value, str) and value.lower() not in ("", "true", "false")
    if not isinstance(value, (bool, np.bool_)) and not is_word:
        raise ValueError(
            f"{name} must be True or False, got {value!r}; or the name of a score, such as "
            "'validation_error'"
        )


def check_class_weight(name: str, value: Any) -> None:
    """``value`` must be None, "balanced" or a dict of weights ≥ 0."""
    if value is None or (isinstance(value, str) and value == "balanced"):
        return
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be None, 'balanced' or a dict of weights, got {value!r}")
    for label, weight in value.items():
        check_number(f"{name}[{label!r}]", weight, at_least=0)


def check_count(
    name: str,
    value: Any,
    *,
    least: int = 1,
    optional: bool = False,
    words: Collection[str] = (),
) -> None:
    """``value`` must be a whole number, or None or a word where that is allowed."""
    if optional and value is None:
        return
    if isinstance(value, str) and value in words:
        return
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        wanted = " or ".join([f"a whole number ≥ {least}", *map(repr, words)])
        raise ValueError(f"{name} must be {wanted}, got {value!r}")


def check_bins(value: Any) -> None:
    """``max_bins`` must be a whole number of at least 2."""
    check_count("max_bins", value)
    if value < 2:
        raise ValueError(f"max_bins must be at least 2, got {value}")


def check_jobs(name: str, value: Any) -> None:
    """``value`` must be a number of threads, or negative as scikit-learn has it."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value == 0:
        raise ValueError(
            f"{name} must be a whole number ≥ 1, or −1 for all cores (−2 for all but one), "
            f"got {value!r}"
        )


def threads_of(n_jobs: int) -> int:
    """Threads that ``n_jobs`` stands for: itself, or all cores there are, or all but some."""
    return int(n_jobs) if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + int(n_jobs))


def check_verbose(name: str, value: Any) -> None:
    """``value`` must be a whole number of at least 0, or a bool."""
    if not isinstance(value, (Integral, np.bool_)) or value < 0:
        raise ValueError(f"{name} must be a whole number ≥ 0, got {value!r}")


def check_random_state(name: str, value: Any) -> None:
    """``value`` must be a seed, a RandomState or None."""
    try:
        sklearn.utils.check_random_state(value)
    except ValueError as error:
        raise ValueError(
            f"{name} must be a whole number from 0 to 2³²−1, a numpy RandomState or None, "
            f"got {value!r}"
        ) from error


def check_callbacks(name: str, value: Any) -> None:
    """``value`` must be None or a list or tuple of callables."""
    if value is None:
        return
    if not isinstance(value, (list, tuple)) or not all(callable(item) for item in value):
        raise ValueError(f"{name} must be a list of callables or None, got {value!r}")


def check_solver(name: str, value: Any, problem: str) -> None:
    """``value`` must be "auto" or a backend that can solve ``problem`` ("lp" or "qp")."""
    from cgboost._solvers import available_backends, get_backend

    if not isinstance(value, str):
        raise ValueError(
            f"{name} must be 'auto' or the name of a solver, got {value!r}{see('solvers')}"
        )
    if value == "auto":
        return
    needed = ("lp",) if problem == "lp" else ("lp", problem)  # masters begin without columns
    lacks = [kind for kind in reversed(needed) if kind not in get_backend(value).capabilities]
    if lacks:
        able = [
            backend
            for backend in available_backends(problem)
            if get_backend(backend).capabilities.issuperset(needed)
        ]
        first = ", with which a master begins that has no columns yet" if len(needed) > 1 else ""
        raise ValueError(
            f"{name}={value!r} cannot solve a {lacks[0].upper()}"
            f"{first if lacks[0] == 'lp' else ''}; these can: {', '.join(able)}{see('solvers')}"
        )
