"""The leaves of an ensemble's trees as members: one weight a leaf, as in FIRE.

    h(x) = v_leaf − v_root where x is in the leaf, else 0

Liu, Mazumder, *FIRE: An optimization approach for fast interpretable rule extraction* (KDD 2023).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cgboost.arrays import Indices
from cgboost.estimators.thinning.members import Cube, EstimatorMembers, MemberKind, Members
from cgboost.pricing.learners.trees import check_width

MOST_LEAVES = 50_000
"""Columns are dense here: of more leaves few rows would be left."""


class LeafMembers(Members):
    """All leaves of trees of scikit-learn.

    Parameters
    ----------
    trees : EstimatorMembers

    Raises
    ------
    ValueError
        If the members are not trees, or have too many leaves.
    """

    def __init__(self, trees: Members) -> None:
        if not isinstance(trees, EstimatorMembers) or not trees.are_trees:
            raise ValueError(
                "members='leaves' needs an ensemble of scikit-learn's trees on all features (a "
                "forest, bagging, AdaBoost)"
            )
        self.trees, self.classes = trees, trees.classes
        self.kind: MemberKind = "value" if trees.classes is None else "score"
        owners, nodes = [], []
        for j, member in enumerate(trees.members):
            own = np.flatnonzero(member.estimator.tree_.children_left < 0)
            own = own[own > 0]  # a tree that is a leaf says the same of all rows
            owners.append(np.full(len(own), j))
            nodes.append(own)
        self.tree_of, self.nodes = np.concatenate(owners), np.concatenate(nodes)
        if not 0 < len(self.nodes) <= MOST_LEAVES:
            raise ValueError(
                f"members='leaves' takes 1 to {MOST_LEAVES} leaves, the trees have "
                f"{len(self.nodes)}: limit max_leaf_nodes, or thin the trees first"
            )
        self.weights = trees.weights[self.tree_of]

    def of(self, index: int) -> tuple[int, int]:
        """The number of the tree, and of the node in it."""
        return int(self.tree_of[index]), int(self.nodes[index])

    def outputs(self, X: Any, indices: Indices | None = None) -> Cube:
        """See :meth:`Members.outputs`."""
        chosen = np.arange(len(self)) if indices is None else indices
        rows = np.ascontiguousarray(np.asarray(X), dtype=np.float32)
        width = 1 if self.classes is None else len(self.classes)
        values = np.zeros((len(rows), len(chosen), width), dtype=np.float32)
        for j in np.unique(self.tree_of[chosen]):
            tree = self.trees.members[j].estimator.tree_
            check_width(tree, rows)
            places = np.full(tree.node_count, -1)
            own = np.flatnonzero(self.tree_of[chosen] == j)
            places[self.nodes[chosen[own]]] = own
            found = tree.apply(rows)
            place = places[found]
            hit = np.flatnonzero(place >= 0)
            said = tree.value[:, 0, :]
            if width > 1:
                said = said / said.sum(axis=1, keepdims=True)
            values[hit, place[hit]] = said[found[hit]] - said[0]
        return values
