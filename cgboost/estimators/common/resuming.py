"""How a fit is resumed: ``fit(X, y, resume="fit.ckpt")`` goes on with the runs of a checkpoint.

A :class:`cgboost.Checkpoint` among the callbacks of a fit keeps the record of each of its runs
(:mod:`cgboost.generation.resuming`) in a file (:mod:`cgboost.persistence.checkpoint`), with a mark:
hashes of the data and of the parameters that must not differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import joblib
import numpy as np

from cgboost.above import is_storable, read_records
from cgboost.exceptions import ResumeError
from cgboost.generation.callbacks import as_callback, keeps_records
from cgboost.generation.resuming import RunRecord, fingerprint
from cgboost.tables.frames import frame_of, is_frame

LIMITS = frozenset(
    [
        "callbacks",
        "cache_size",
        "columns_per_round",
        "executor",
        "max_columns",
        "max_iter",
        "n_components",
        "n_estimators",
        "n_iter_no_change",
        "n_jobs",
        "time_limit",
        "tol",
        "verbose",
    ]
)
"""Parameters that may change between a fit and the one that goes on with it."""


@contextmanager
def resumed(estimator: Any, data: Sequence[Any], path: Any) -> Iterator[Iterator[RunRecord]]:
    """Let checkpoints keep the runs of a fit; the runs in a file, with which these go on.

    Parameters
    ----------
    estimator : estimator
    data : sequence
        What the fit was given.
    path : str, path or None
    """
    kept = [c for c in map(as_callback, estimator.callbacks or ()) if keeps_records(c)]
    if path is None and not kept:
        yield iter(())
        return
    if any(part is not None and not _is_data(part) for part in data[:3]):
        raise ResumeError("a fit of a source of rows, as a database, cannot be resumed")
    mark = _mark(estimator, data)
    functions = _own_functions(estimator)
    records = [] if path is None else read_records(path, mark, kept, functions)
    for checkpoint in kept:
        checkpoint.begin_fit(mark, functions=functions)
    try:
        yield iter(records)
    finally:
        for checkpoint in kept:
            checkpoint.end_fit()


def _mark(estimator: Any, data: Sequence[Any]) -> str:
    """Hashes of the data and of each parameter that is no limit, by their names."""
    parts = dict(zip(("X", "y", "sample_weight", "eval_set"), map(_hashed, data), strict=False))
    for name, value in sorted(estimator.get_params(deep=False).items()):
        if name not in LIMITS:
            parts[name] = _parameter_hash(value)
    parts["class"] = type(estimator).__name__
    return ";".join(f"{name}={mark}" for name, mark in parts.items())


def _hashed(part: Any) -> str:
    """The same for the same values, however they lie in memory."""
    if part is None or hasattr(part, "tocsr"):
        return str(joblib.hash(None if part is None else part.tocsr()))
    if is_frame(part):
        columns = [*frame_of(part).iter_columns()]
        return str(joblib.hash([(str(own.name), _hashed(own.to_numpy())) for own in columns]))
    if isinstance(part, dict) or (isinstance(part, tuple) and part and np.ndim(part[0]) > 0):
        items = part.items() if isinstance(part, dict) else enumerate(part)
        return str(joblib.hash([(str(name), _hashed(own)) for name, own in items]))
    try:
        values = np.asarray(part)
    except ValueError:  # of rows that are not alike
        return str(joblib.hash(part))
    if values.dtype.kind in "iub":
        values = values.astype(np.int64)
    return str(joblib.hash(np.ascontiguousarray(values)))


def _parameter_hash(value: Any) -> str:
    """Of the state of a RandomState, of arrays, else of what the repr says."""
    if isinstance(value, np.random.RandomState):
        return fingerprint(repr(value.get_state()))
    if isinstance(value, np.random.Generator):
        return fingerprint(repr(value.bit_generator.state))
    if isinstance(value, np.ndarray):
        return _hashed(value)
    return fingerprint(re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value)))


def _own_functions(estimator: Any) -> dict[str, Any]:
    """Functions and classes of the user's in the library of kernels, by the kernels' names."""
    library = getattr(estimator, "library", None)
    kernels = getattr(library, "kernels", library)
    named = kernels.items() if isinstance(kernels, dict) else ()
    own = {name: one for name, one in named if callable(one) and not hasattr(one, "fit")}
    types_of = {type(one).__name__: type(one) for name, one in named if name not in own}
    return own | {name: kind for name, kind in types_of.items() if not is_storable(kind)}


def _is_data(part: Any) -> bool:
    """Whether it is what a hash can be made of."""
    return isinstance(part, (list, tuple)) or hasattr(part, "shape")
