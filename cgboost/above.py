"""What the rooms above do for those below them: no other module down here imports these.

Persistence, inspection and proofs know estimators, loops and trees; these know them by the
functions here alone, each of which imports what it needs when it is called.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any


def read_records(
    path: Any,
    fingerprint: str,
    callbacks: Iterable[Any] = (),
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> list[Any]:
    """The records of runs in the file of a :class:`cgboost.Checkpoint`.

    Parameters
    ----------
    path : str or path
    fingerprint : str
        Of the data of the run that goes on.
    callbacks : iterable
        Those of that run: a Checkpoint among them has names for functions of the user's.
    functions : mapping of str to callable or None
        More of such names.
    """
    from cgboost.persistence.checkpoint import Checkpoint

    named = dict(functions or {})
    for callback in callbacks:
        named |= dict(getattr(callback, "functions", None) or {})
    return Checkpoint.read(path, fingerprint, functions=named)


def is_storable(kind: type) -> bool:
    """Whether a class is one of cgboost's that files may name, and not one of the user's."""
    from cgboost.persistence.classes import is_ours

    return is_ours(kind)


def save(model: Any, path: Any, functions: Any) -> Path:
    """Write a model to a file."""
    from cgboost.persistence import models

    return models.save(model, path, functions=functions)


def state(model: Any) -> dict[str, Any]:
    """What pickle stores of a model."""
    from cgboost.persistence import models

    return models.state(model)


def set_state(model: Any, state: Mapping[str, Any]) -> None:
    """Give a model the attributes that pickle has stored."""
    from cgboost.persistence import models

    models.set_state(model, state)


def to_onnx(model: Any, path: Any, dtype: Any) -> Any:
    """The model as an ONNX graph."""
    from cgboost.inspection.onnx import models

    return models.to_onnx(model, path, dtype=dtype)


def write_certificate(
    model: Any, path: Any, X: Any, y: Any, sample_weight: Any, *, output: Any, data: Any
) -> Any:
    """The certificate of a model, written to a file."""
    from cgboost.proofs.certificate import certify

    certificate = certify(model, X, y, sample_weight)
    certificate.save(path, output=output, data=data)
    return certificate


def write_tree_certificate(result: Any, path: Any, sizes: Any, capacity: Any, data: Any) -> Path:
    """The certificate of a tree search, written to a file."""
    from cgboost.proofs.trees import save_tree

    return save_tree(result, path, sizes, capacity, data)


def write_columns_certificate(result: Any, path: Any, master: Any, data: Any) -> Path:
    """The certificate of a linear master's columns, written to a file."""
    from cgboost.proofs.trees import save_columns

    return save_columns(result, path, master, data)


def write_decomposed_certificate(result: Any, path: Any, data: Any) -> Path:
    """The certificate of a decomposed model, written to a file."""
    from cgboost.proofs.trees import save_decomposed

    return save_decomposed(result, path, data)


def facts_of(model: Any) -> Any:
    """What is to be said about a model, None where it is not fitted."""
    from cgboost.inspection.report import facts

    return facts.facts_of(model)


def panel(model: Any, facts: Any) -> str:
    """The facts and the history of a model as HTML."""
    from cgboost.inspection.report import page

    return page.panel(model, facts)


def write_report(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write all that there is to say about a model into an HTML file."""
    from cgboost.inspection.report import page

    return page.write_report(model, path)
