"""Thinned ensembles of several sizes, with their scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ThinningPath:
    """The models of a path over sizes, from few members to many.

    Attributes
    ----------
    sizes : ndarray of int, shape (n_sizes,)
        The requested sizes.
    models : list of ThinnedEnsemble
        Fitted models; each equals the result of ``fit`` with its size.
    scores : ndarray of shape (n_sizes,)
        Greater is better; nan if there are only training rows.
    score_name : str
    n_members_in : int
        Number of members of the original ensemble.
    whole_score : float
        Score of the original ensemble on the ``eval_set``; nan without one.
    """

    sizes: NDArray[np.intp]
    models: list[Any]
    scores: NDArray[np.float64]
    score_name: str
    n_members_in: int
    whole_score: float = float("nan")

    def __len__(self) -> int:
        """The number of models."""
        return len(self.models)

    def __iter__(self) -> Iterator[Any]:
        """The models, from few members to many."""
        return iter(self.models)

    def __repr__(self) -> str:
        span = f"{self.sizes[0]} to {self.sizes[-1]} of {self.n_members_in} members"
        return f"ThinningPath({len(self)} models, {span})"

    @property
    def best(self) -> Any:
        """The model with the best score; among ties, the one with the fewest members.

        Raises
        ------
        ValueError
            If there are no scores.
        """
        if np.isnan(self.scores).all():
            raise ValueError(
                "the members were evaluated on their training rows, and the path therefore has no "
                "scores: give path() an eval_set"
            )
        return self.models[int(np.nanargmax(self.scores))]

    def table(self) -> dict[str, NDArray[Any]]:
        """One entry per model: size, n_members, C, objective, gap, score."""
        return {
            "size": self.sizes,
            "n_members": np.array([model.n_members_ for model in self.models]),
            "C": np.array([model.C_ for model in self.models]),
            "objective": np.array([model.objective_ for model in self.models]),
            "gap": np.array([model.gap_ for model in self.models]),
            "score": self.scores,
        }
