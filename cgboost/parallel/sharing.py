"""Objects that are given an executor: their copies share it, and what is stored leaves it out."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any, Self


class SharesExecutor:
    """An estimator with a parameter ``executor``, or without one.

    Workers can neither be copied nor stored. So ``copy.copy``, ``copy.deepcopy`` and
    ``sklearn.base.clone`` make objects with the same executor, and a pickled object comes back with
    ``executor=None``: it predicts as before, and fits in the process that it is in.
    """

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {**state, "executor": None} if state.get("executor") is not None else state

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self)] = twin = copy(self)
        own = {name: value for name, value in vars(self).items() if name != "executor"}
        vars(twin).update(deepcopy(own, memo))
        return twin

    def __sklearn_clone__(self) -> Self:
        without = copy(self)
        own = {"executor": vars(self)["executor"]} if "executor" in vars(self) else {}
        vars(without).update(dict.fromkeys(own))
        twin: Self = super(SharesExecutor, without).__sklearn_clone__()  # type: ignore[misc]
        vars(twin).update(own)
        return twin
