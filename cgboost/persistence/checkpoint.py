"""Checkpoints: a callback that keeps a run in a file, and the way back."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

from cgboost.exceptions import CheckpointWarning, ResumeError, see, warn_caller
from cgboost.generation.callbacks import Callback
from cgboost.generation.history import Round
from cgboost.persistence import codec

Functions = Mapping[str, Callable[..., Any]]

KIND = "checkpoint"

MOST_SHARE = 0.05
"""Writing takes no more than this share of the time: a file that takes long puts off the next."""

OF_A_FIT = "the X, y, weights and parameters of its fit"
OF_A_RUN = (
    "the master and the pricer of its run (a linear program with the same rows, senses and "
    "right-hand sides)"
)
OF_A_MODEL = "the model and the blocks of its search"
"""What has to be the same. Fingerprints of fits and of models have named parts, that of a run has
none."""


class Checkpoint(Callback):
    """Keeps a fit, a run of the loop or a tree search in a file, from which it can go on.

    A callback: ``callbacks=[Checkpoint("fit.ckpt")]``, and later ``fit(X, y, resume="fit.ckpt")``.

    Parameters
    ----------
    path : str or path
        The file. It is replaced when the next one is complete: one that is interrupted, by ``kill
        -9`` too, leaves the former whole.
    every : float, default=60
        Seconds between two files at least. The first one is written after the first round, so that
        what cannot be stored shows at once, the last one at the end, after Ctrl-C too.
    functions : mapping of str to callable, optional
        Names for functions of yours that columns contain (kernels, losses), as for ``model.save``.

    Raises
    ------
    ValueError
        If ``every`` is negative.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        every: float = 60.0,
        *,
        functions: Functions | None = None,
    ) -> None:
        given: Any = every
        if isinstance(given, bool) or not isinstance(given, Real) or not float(given) >= 0:
            raise ValueError(f"every must be at least 0 seconds, got {every!r}")
        self.path, self.every, self.functions = os.fspath(path), every, functions
        self._fingerprint = ""
        self._ended: list[Any] = []
        self._named: dict[str, Any] = {}
        self._due, self._within_fit = 0.0, False

    def __call__(self, current: Round) -> None:
        """Nothing: the loop offers what there is to be kept."""

    def begin_fit(self, fingerprint: str, *, functions: Functions | None = None) -> None:
        """A fit of several runs begins, with names for functions that the estimator holds."""
        self._within_fit, self._fingerprint = True, fingerprint
        self._named = dict(functions or {})
        self._ended, self._due = [], 0.0

    def end_fit(self) -> None:
        """The runs that follow are no part of it, and nothing of them stays in the model."""
        self._within_fit = False
        self._ended, self._named = [], {}

    def begin(self, fingerprint: str) -> None:
        """A run begins."""
        if not self._within_fit:
            self._ended, self._fingerprint, self._due = [], fingerprint, 0.0

    def save(self, record: Callable[[], Any], *, ended: bool) -> None:
        """Write the file if it is time, or the end."""
        if ended:
            self._ended.append(record())
        elif time.perf_counter() < self._due:
            return
        started = time.perf_counter()
        records = self._ended if ended else [*self._ended, record()]
        content = {"fingerprint": self._fingerprint, "records": records}
        try:
            functions = self._named | dict(self.functions or {})
            codec.write(self.path, KIND, content, functions=functions)
        except OSError as error:  # a full disk must not end the fit as well
            warn_caller(
                f"no checkpoint was written to {os.fspath(self.path)!r}: {error}; the fit goes on, "
                f"and the file is as it was before{see('resuming')}",
                CheckpointWarning,
            )
        took = time.perf_counter() - started
        self._due = started + took + max(self.every, took / MOST_SHARE)

    @staticmethod
    def read(
        path: str | os.PathLike[str], fingerprint: str, *, functions: Functions | None = None
    ) -> list[Any]:
        """The runs in a file, the last of which may not have ended.

        Raises
        ------
        TypeError
            If it is no path.
        FileNotFoundError, CorruptFileError, NewerFormatError, UnknownContentError
            As :func:`cgboost.load`.
        ResumeError
            If it is a run of other data.
        """
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"resume must be the path of the file of a Checkpoint, got {path!r}")
        if not os.path.lexists(path):
            words = "resume: there is no file of a Checkpoint"
            raise FileNotFoundError(errno.ENOENT, words, os.fspath(path))
        content = codec.read(path, KIND, functions=functions)
        if content["fingerprint"] != fingerprint:
            apart = _differing(content["fingerprint"], fingerprint)
            parts = _parts(fingerprint)
            same = OF_A_MODEL if "costs" in parts else OF_A_FIT if parts else OF_A_RUN
            raise ResumeError(
                f"the checkpoint {os.fspath(path)!r} is of other data or parameters{apart}: resume "
                f"with {same}; only limits (time_limit, tol, max_columns, …) may differ, "
                "and the version of cgboost that wrote it may be another one"
            )
        records: list[Any] = content["records"]
        return records


def _parts(fingerprint: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in fingerprint.split(";") if "=" in part)


def _differing(there: str, here: str) -> str:
    """The parts of two fingerprints that differ, where they have parts."""
    old, new = _parts(there), _parts(here)
    names = [name for name in new if old.get(name) != new[name]]
    return f" ({', '.join(names)})" if names and old else ""
