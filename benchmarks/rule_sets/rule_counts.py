"""Conditions of rules, counted alike for all methods.

A rule is a conjunction of conditions. The conditions on one feature are merged: of several
thresholds in one direction the tightest stays (an interval counts two), and where a word is asked
for, what else is said of that feature is implied. Every condition that is left counts one; rules,
weights, constants and the default class cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Operation = Literal["<=", ">", "is", "is not"]


@dataclass(frozen=True)
class Condition:
    """What is asked of a feature: a threshold, or a word (of numbers: a value)."""

    feature: str
    operation: Operation
    value: Any


Rule = frozenset[Condition]


def merged(conditions: Iterable[Condition]) -> Rule:
    """Conditions of one conjunction without those that others imply."""
    by_feature: dict[str, list[Condition]] = {}
    for condition in conditions:
        by_feature.setdefault(condition.feature, []).append(condition)
    return frozenset(left for own in by_feature.values() for left in _merged(own))


def _merged(own: list[Condition]) -> list[Condition]:
    words = [condition for condition in own if condition.operation == "is"]
    if words:
        return words[:1]
    upper = [condition for condition in own if condition.operation == "<="]
    lower = [condition for condition in own if condition.operation == ">"]
    left = [condition for condition in own if condition.operation == "is not"]
    left += [min(upper, key=lambda found: found.value)] if upper else []
    return left + ([max(lower, key=lambda found: found.value)] if lower else [])


def count(rules: Iterable[Rule]) -> tuple[int, int]:
    """Rules with a condition, and conditions of all of them; a rule found twice counts once."""
    own = {rule for rule in rules if rule}
    return len(own), sum(map(len, own))


@dataclass(frozen=True)
class Features:
    """Names of the columns of a matrix; columns of words are indicators of (feature, word)."""

    columns: Sequence[tuple[str, str | None]]

    def condition(self, column: int, threshold: float, below: bool) -> Condition:
        """The condition "column ≤ threshold", or its negation."""
        feature, word = self.columns[column]
        if word is not None:
            return Condition(feature, "is not" if below else "is", word)
        return Condition(feature, "<=" if below else ">", float(threshold))


def tree_rules(tree: Any, features: Features) -> list[Rule]:
    """Leaves of a fitted scikit-learn tree as rules of the class that needs fewer conditions.

    The other class is the default. A node whose leaves all predict one class is a leaf.
    """
    own = tree.tree_
    labels: NDArray[np.intp] = own.value[:, 0, :].argmax(axis=1)
    leaves: tuple[list[Rule], list[Rule]] = ([], [])

    def predicted(node: int) -> set[int]:
        if own.children_left[node] < 0:
            return {int(labels[node])}
        return predicted(own.children_left[node]) | predicted(own.children_right[node])

    def walk(node: int, path: tuple[Condition, ...]) -> None:
        classes = predicted(node)
        if len(classes) == 1:
            leaves[classes.pop()].append(merged(path))
            return
        column, threshold = int(own.feature[node]), float(own.threshold[node])
        for below, child in ((True, own.children_left[node]), (False, own.children_right[node])):
            walk(int(child), (*path, features.condition(column, threshold, below)))

    walk(0, ())
    return min(leaves, key=lambda rules: count(rules)[1]) if all(leaves) else []


def tree_splits(tree: Any) -> list[Rule]:
    """Inner nodes of a fitted scikit-learn tree, each as its own rule."""
    own = tree.tree_
    return [
        frozenset({Condition(f"node {node}", "<=", 0.0)})
        for node in range(own.node_count)
        if own.children_left[node] >= 0
    ]
