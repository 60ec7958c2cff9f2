"""What scripts that measure share: options, and seconds."""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

Returned = TypeVar("Returned")


def options(about: str | None, *, one_thread: bool = True, **defaults: Any) -> argparse.Namespace:
    """Read the options of a script, each named and typed by its default.

    Parameters
    ----------
    about : str
        The docstring of the script, shown by ``--help``.
    one_thread : bool
        Keep BLAS and OpenMP to one thread, unless ``OPENBLAS_NUM_THREADS`` says otherwise.
    **defaults
        ``False``: a flag; a type: a required option; a list: any number of values of the type of
        its first; a tuple: any of these words; ``None``: a word, or nothing; else one value.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", **_settings(default))
    found = parser.parse_args()
    if one_thread and "OPENBLAS_NUM_THREADS" not in os.environ:
        threadpool_limits(1)
    return found


def _settings(default: Any) -> dict[str, Any]:
    """Arguments of ``add_argument``."""
    if default is False:
        return {"action": "store_true"}
    if isinstance(default, type):
        return {"type": default, "required": True}
    if isinstance(default, list):
        return {"type": type(default[0]), "nargs": "*", "default": default}
    if isinstance(default, tuple):
        return {"choices": default, "nargs": "*", "default": default}
    return {"type": str if default is None else type(default), "default": default}


def timed(
    run: Callable[..., Returned], *arguments: Any, clock: Callable[[], float] = time.process_time
) -> tuple[float, Returned]:
    """Return the seconds of a call, by default those of the CPU, and its answer."""
    start = clock()
    answer = run(*arguments)
    return clock() - start, answer


def medians(
    runs: Mapping[str, Callable[[], Any]], repeat: int, *, warm: bool = True
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return median seconds by the wall clock, runs taken in turn, and the last answers.

    Parameters
    ----------
    runs : mapping of str to callable
    repeat : int
        How often each is measured.
    warm : bool
        Run each again before, unmeasured.
    """
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    answers = {}
    for _ in range(repeat + warm):
        for name, run in runs.items():
            spent, answers[name] = timed(run, clock=time.perf_counter)
            seconds[name].append(spent)
    return {name: statistics.median(times[warm:]) for name, times in seconds.items()}, answers
