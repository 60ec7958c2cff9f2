"""Estimators that are given an executor: copies share it, and what is stored leaves it out.

Workers can neither be copied nor stored. So ``copy.copy``, ``copy.deepcopy`` and
``sklearn.base.clone`` make estimators with the same executor, and a pickled one comes back with
``executor=None``: it predicts as before, and fits in the process that it is in.
"""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any, Self


class SharesExecutor:
    """Base class, before others, of an estimator that may have a parameter ``executor``."""

    def __getstate__(self) -> dict[str, Any]:
        above: Any = super()
        state: dict[str, Any] = above.__getstate__()
        return {**state, "executor": None} if state.get("executor") is not None else state

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        executor = self.__dict__.get("executor")
        memo[id(executor)] = executor
        memo[id(self)] = twin = copy(self)
        twin.__dict__.update(deepcopy(self.__dict__, memo))
        return twin

    def __sklearn_clone__(self) -> Self:
        without, executor = copy(self), self.__dict__.get("executor")
        if executor is not None:
            without.__dict__["executor"] = None
        above: Any = super(SharesExecutor, without)
        twin: Self = above.__sklearn_clone__()
        if executor is not None:
            twin.__dict__["executor"] = executor
        return twin
