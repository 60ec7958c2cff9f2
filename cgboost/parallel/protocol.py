"""What a pass needs of an executor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Task = Callable[[Any, Any, Any], tuple[Any, Any]]
"""(data, state, message) → (state, answer); of the top level of a module, to be found elsewhere."""

Combine = Callable[[Sequence[Any]], Any]
"""Answers of all parts, in order → one answer."""


class Executor(Protocol):
    """Runs the tasks of a pass."""

    @property
    def n_tasks(self) -> int:
        """How many parts a pass should have."""
        ...

    @property
    def here(self) -> bool:
        """Whether tasks share this process's memory, so that what they keep is kept once."""
        ...

    def share(self, data: Any) -> Any:
        """Send data to where the tasks run; what is returned stands for it in ``run``."""
        ...

    def run(
        self, task: Task, combine: Combine, shared: Any, states: Sequence[Any], message: Any
    ) -> tuple[list[Any], Any]:
        """Run a task for every state; the states after it, and the combined answers."""
        ...
