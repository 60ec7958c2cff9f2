"""scikit-learn's base classes, with types.

scikit-learn has no separate types. To a type checker, a class that inherits from an unknown one
may have any attribute and takes any parameter, so that wrong names would go unnoticed and editors
would offer less. These stand in for them while types are checked, and only then.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "OutlierMixin",
    "RegressorMixin",
    "TransformerMixin",
]

if not TYPE_CHECKING:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        OutlierMixin,
        RegressorMixin,
        TransformerMixin,
    )
else:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Request = bool | str | None

    class BaseEstimator:
        """Parameters by name, requests of metadata, and how an estimator is shown."""

        n_features_in_: int
        feature_names_in_: NDArray[np.object_]

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Parameters by name."""

        def set_params(self, **params: Any) -> Self:
            """Change parameters."""

        def get_metadata_routing(self) -> Any:
            """What is asked for with each method."""

        def set_fit_request(self, **requests: Request) -> Self:
            """What a meta-estimator should pass on to ``fit``."""

        def set_predict_request(self, **requests: Request) -> Self:
            """What a meta-estimator should pass on to ``predict``."""

        def set_transform_request(self, **requests: Request) -> Self:
            """What a meta-estimator should pass on to ``transform``."""

        def set_score_request(self, **requests: Request) -> Self:
            """What a meta-estimator should pass on to ``score``."""

        def __sklearn_tags__(self) -> Any: ...

        def __repr__(self, N_CHAR_MAX: int = 700) -> str: ...

        def _repr_mimebundle_(self, **options: Any) -> dict[str, str]: ...

    class _WithScore:
        def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
            """Accuracy of classifiers, R² of regressors."""

    class ClassifierMixin(_WithScore):
        """Labels are predicted."""

    class RegressorMixin(_WithScore):
        """Numbers are predicted."""

    class OutlierMixin:
        """Outliers are predicted."""

        def fit_predict(self, X: Any, y: Any = None, **options: Any) -> NDArray[np.intp]:
            """Fit, and predict the same rows."""

    class TransformerMixin:
        """Rows are transformed."""

        def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:
            """Fit, and transform the same rows."""

        def set_output(self, *, transform: str | None = None) -> Self:
            """Choose arrays or data frames."""

    class ClassNamePrefixFeaturesOutMixin:
        """Outputs are named after the class."""

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
            """Names of the outputs."""
