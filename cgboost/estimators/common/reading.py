"""How estimators read rows: those they learn from, and those they predict."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Matrix
from cgboost.estimators.common.fitted_methods import ReportedEstimator
from cgboost.estimators.common.input_checks import validate_data
from cgboost.estimators.common.training_rows import FLOATS


class RowReader(ReportedEstimator):
    """An estimator of rows of numbers; its subclasses say which others they take."""

    _y_numeric: ClassVar[bool] = False
    """Whether y are numbers to predict."""

    @property
    def _accept_sparse(self) -> Any:
        """Formats in which X may be sparse; False for none."""
        return False

    def _validated(self, X: Any, y: Any) -> tuple[Matrix, Any]:
        """Training rows and their y, checked."""
        own = {"y_numeric": self._y_numeric, "accept_sparse": self._accept_sparse}
        checked: tuple[Matrix, Any] = validate_data(self, X, y, dtype=FLOATS, **own)
        return checked

    def _read_new(self, X: Any, y: Any = None) -> Any:
        """Rows to be predicted, or (X, y) to be scored: checked against the training rows."""
        own = {"reset": False, "dtype": FLOATS, "accept_sparse": self._accept_sparse}
        return validate_data(self, X, **own) if y is None else validate_data(self, X, y, **own)

    def _rows(self, X: ArrayLike) -> Matrix:
        """Rows to be predicted by a fitted model."""
        check_is_fitted(self)
        rows: Matrix = self._read_new(X)
        return rows
