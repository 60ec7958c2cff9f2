"""Rows of a database: a place that sums come from, where no row leaves."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.sql.aggregates import SQLAggregates
from cgboost.additive.sql.binning import Division, divided
from cgboost.additive.sql.session import SQLSession
from cgboost.additive.sql.source import SQLSource
from cgboost.additive.sql.table import Copy, copied
from cgboost.losses.loss import Loss
from cgboost.tables.table_encoding import Schema


class SQLPlace:
    """Rows of a table in a database.

    All work is on a temporary copy: the table may change. :meth:`close` drops what was made.

    Parameters
    ----------
    categorical : "from_dtype" or sequence of str or int
        Features that are categories.
    classification : bool
        Whether the response is a class label.

    Attributes
    ----------
    copy : Copy
        Its schema, classes, counts.

    Raises
    ------
    ValueError
        As :func:`cgboost.additive.sql.table.copied`.
    DatabaseError
        If the database fails.
    """

    has_holdout = False

    def __init__(self, source: SQLSource, categorical: Any, *, classification: bool) -> None:
        self.session = SQLSession(source.connection, source.engine)
        self._division: Division | None = None
        self._n_made = 0
        try:
            self.session.open()
            self.copy: Copy = copied(
                self.session,
                source.query,
                source.target,
                source.weight,
                categorical,
                classification=classification,
            )
        except BaseException:
            self.close()
            raise

    @property
    def schema(self) -> Schema:
        """Names and kinds of the features."""
        return self.copy.schema

    @property
    def classes(self) -> list[Any] | None:
        """Values of a response that is a class label, in ascending order."""
        return self.copy.classes

    def divide(self, *, max_bins: int, share: float, seed: int, keep: bool = False) -> Self:
        """Hold rows out and make intervals, as :func:`cgboost.additive.sql.binning.divided`.

        What an earlier division has made is dropped.
        """
        if self._division is not None:
            self._division.store.drop()
        division = divided(
            self.session, self.copy, max_bins=max_bins, share=share, seed=seed, keep=keep
        )
        self._division, self.has_holdout = division, division.holdout > 0
        return self

    def aggregates(self, loss: Loss, target: NDArray[Any]) -> SQLAggregates:
        """See :meth:`Place.aggregates`.

        Parameters
        ----------
        target : ndarray of shape (n_classes,) or (0,)
            The label of each class, 1 or −1, or its number; without classes y is the target.

        Raises
        ------
        ValueError
            If the loss is not defined for the least y.
        """
        if self.classes is None:
            loss.check_target(np.array([self.copy.least]))
        assert self._division is not None
        self._n_made += 1
        made = SQLAggregates(self._division, loss, target, f"o{self._n_made}")
        if self.classes is None:
            made.attains_minimum = loss.attains_minimum_of(np.array([self.copy.least]))
        return made

    def close(self) -> None:
        """Leave nothing of the fit behind."""
        self.session.close()
