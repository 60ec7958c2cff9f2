"""Estimators that are given an executor: copies share it, and what is stored leaves it out.

Workers can neither be copied nor stored. So ``copy.copy``, ``copy.deepcopy`` and
``sklearn.base.clone`` make estimators with the same executor, and a pickled one comes back with
``executor=None``: it predicts as before, and fits in the process that it is in.
"""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any, TypeVar

T = TypeVar("T", bound=type)


def shares_executor(kind: T) -> T:
    """Let estimators of a class, a scikit-learn estimator, be copied with their ``executor``.

    It need not have that parameter.
    """
    made: Any = kind
    made.__sklearn_clone__ = _with_executor(made.__sklearn_clone__)
    made.__getstate__ = _without_executor(made.__getstate__)
    made.__copy__, made.__deepcopy__ = _copied, _deeply_copied
    return kind


def _without_executor(stored: Any) -> Any:
    def state_of(self: Any) -> Any:
        state = stored(self)
        return {**state, "executor": None} if state.get("executor") is not None else state

    return state_of


def _with_executor(cloned: Any) -> Any:
    def clone_of(self: Any) -> Any:
        own = {"executor": vars(self)["executor"]} if "executor" in vars(self) else {}
        without = copy(self)
        vars(without).update(dict.fromkeys(own))
        twin = cloned(without)
        vars(twin).update(own)
        return twin

    return clone_of


def _copied(self: Any) -> Any:
    twin = object.__new__(type(self))
    vars(twin).update(vars(self))
    return twin


def _deeply_copied(self: Any, memo: dict[int, Any]) -> Any:
    memo[id(self)] = twin = _copied(self)
    own = {name: value for name, value in vars(self).items() if name != "executor"}
    vars(twin).update(deepcopy(own, memo))
    return twin
