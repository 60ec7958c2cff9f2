"""How estimators are built: of few classes, each the only one of its kind."""

from __future__ import annotations

import inspect

import pytest

import cgboost
from cgboost.estimators.common.base import BaseEnsemble
from cgboost.estimators.common.targets import Classification, Regression

MOST_CLASSES = 4

CLASSES = [thing for _, thing in inspect.getmembers(cgboost, inspect.isclass)]
ENSEMBLES = [kind for kind in CLASSES if issubclass(kind, BaseEnsemble)]


def ours(kind: type) -> list[type]:
    """The classes of this project that a class is made of, itself first."""
    return [
        base for base in kind.__mro__ if base.__module__.split(".")[0] in ("cgboost", "solvers")
    ]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_public_class_is_made_of_few(kind: type) -> None:
    """At most four classes of ours stand in the inheritance of a public class."""
    assert len(ours(kind)) <= MOST_CLASSES, [base.__name__ for base in ours(kind)]


@pytest.mark.parametrize("kind", ENSEMBLES, ids=lambda kind: kind.__name__)
def test_an_estimator_has_one_kind_of_columns(kind: type) -> None:
    """Beside its target and what all estimators share, an estimator has one base at most."""
    rest = set(ours(kind)) - {kind, Classification, Regression, BaseEnsemble}
    assert len(rest) <= 1
