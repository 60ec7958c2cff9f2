"""What the rooms above do for those below them: no other module down here imports these.

Persistence and inspection know estimators, loops and trees; these know them by the functions here
alone, each of which imports what it needs when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
