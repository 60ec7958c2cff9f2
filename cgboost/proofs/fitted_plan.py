"""What is asked of a fitted model and its rows before they become a problem; the fit's plan again.

A model keeps no rows: those given have to be the ones of its fit, and the plan is made anew.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cgboost.estimators.common.certified import BaseBoost, Certified
from cgboost.estimators.common.training_rows import TrainingRows, is_source
from cgboost.estimators.rules.base_rule_set import WithinBudget
from cgboost.exceptions import CertificateError
from cgboost.masters.constrained.row_constrained_master import RowConstrainedMaster
from cgboost.tolerances import SMALLEST

OTHER_OBJECTIVE = 1e-6
"""What the objective of the rows may differ from that of the fit, relative: more is other rows."""


def is_own(model: Any) -> bool:
    """Whether a model is one of cgboost's."""
    return type(model).__module__.split(".")[0] == "cgboost"


# ------------------------------------------------------------------ rows and models


def check_names(X: Any, model: Any) -> None:
    """Raise CertificateError where X is a frame with other columns than that of the fit."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and hasattr(X, "columns") and list(X.columns) != list(names):
        raise CertificateError(
            f"the columns of X are {list(X.columns)[:9]}, the {type(model).__name__} was fitted to "
            f"{list(names)[:9]}: give these, in their order"
        )


def check_features(X: Any, n_features: int, name: str) -> None:
    """Raise CertificateError where X has another number of features than the model."""
    shape = np.shape(X)
    if len(shape) == 2 and shape[1] != n_features:
        raise CertificateError(
            f"X has {shape[1]} features, the {name} was fitted to {n_features}: give the rows "
            "of the fit, as it saw them"
        )


def check_classes(model: Any, y: Any) -> None:
    """Raise CertificateError where y has a class that a classifier does not know."""
    classes = getattr(model, "classes_", None)
    if classes is not None and not (known := np.isin(y, classes)).all():
        raise CertificateError(
            f"y has the class {np.asarray(y)[~known].tolist()[0]!r}, the model knows "
            f"{classes.tolist()}"
        )


def check_whole_fit(model: Any, X: Any, y: Any) -> None:
    """Raise CertificateError where a model of cgboost cannot have been fitted to all of (X, y)."""
    check_is_fitted(model)
    if is_source(X):
        raise CertificateError("X is a source of blocks: give the rows in memory, as one array")
    check_names(X, model)
    if hasattr(model, "n_features_in_"):
        check_features(X, model.n_features_in_, type(model).__name__)
    if y is not None:
        check_classes(model, np.asarray(y))
    if model.early_stopping:
        raise CertificateError(
            "early_stopping=True fits a part of the rows, which is not kept, and ends before the "
            "optimum: give early_stopping=False"
        )


def check_objective(model: Any, objective: float) -> None:
    """Raise CertificateError where a model's objective is not the one that its fit has found."""
    allowed = OTHER_OBJECTIVE * max(abs(model.objective_), SMALLEST)
    if not abs(objective - model.objective_) <= allowed:
        raise CertificateError(
            f"the {type(model).__name__} has the objective {objective:.9g} on these rows, and had "
            f"{model.objective_:.9g} on those of its fit: give the same X, y and sample_weight, "
            "and a model whose coefficients are as the fit has left them"
        )


# ------------------------------------------------------------------ the plan


def certified_plan(
    model: BaseBoost, X: Any, y: Any, sample_weight: Any
) -> tuple[TrainingRows, Certified]:
    """The rows of a fit, and what it has asked for: a convex problem over known columns.

    Parameters
    ----------
    model : fitted estimator
    X, y, sample_weight
        As given to ``fit``.

    Raises
    ------
    CertificateError
        Where the problem is not convex, or not one of a loss, a penalty and a family.
    """
    kind, prepared = type(model).__name__, copy.copy(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has warned
        rows, _ = prepared._prepare(X, y, sample_weight, None)
        plan = prepared._plan(rows)
    if isinstance(plan, WithinBudget):
        raise CertificateError(
            f"the {kind} has a budget of rules or conditions, which is not convex: give "
            "max_total_conditions=None and max_rules=None, or see its dual_bound_"
        )
    if getattr(model, "form", "weighted") != "weighted":
        raise CertificateError(
            f"the {kind} has form={model.form!r}, whose rules have no weights: give "  # type: ignore[attr-defined]
            "form='weighted', or see its dual_bound_"
        )
    if not isinstance(plan, Certified):
        raise CertificateError(f"the problem that a {kind} solves is not known here")
    return rows, plan


def check_master(kind: str, master: Any) -> None:
    """Raise CertificateError where a restricted problem has constraints."""
    if isinstance(master, RowConstrainedMaster):
        raise CertificateError(f"the constraints of the {kind} are not known here")


def refusal_of_pricer(kind: str, pricer: Any) -> CertificateError:
    """The error for columns that a pricer does not know all of."""
    return CertificateError(
        f"the columns of the {kind} are found by a {type(pricer).__name__}, which does not know "
        "all of them, so that nothing bounds the optimum: give estimator=None and max_depth=1, or "
        "pricing='exact'"
    )
