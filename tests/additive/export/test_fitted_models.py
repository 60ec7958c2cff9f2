"""Fitted models in the SQL of six databases: their answers are those of ``predict``."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cgboost import (
    LinearTreeBoostingClassifier,
    LinearTreeBoostingRegressor,
    TransformClassifier,
    TransformRegressor,
)
from cgboost.additive.export.dialects import DIALECTS
from cgboost.estimators.transform.variants import VARIANTS
from cgboost.losses import Quantile
from tests.additive.export.sql_databases import Columns, ask
from tests.cases import Case, law


@cache
def people() -> tuple[pd.DataFrame, np.ndarray, Columns]:
    """Numbers with gaps, truth values, categories with all kinds of marks; rows of a database.

    Some rows have a category that no model has seen.
    """
    rng = np.random.default_rng(3)
    n = 800
    X = pd.DataFrame(
        {
            'user\'s "age"': rng.integers(17, 90, n).astype(float),
            "size\\": np.round(rng.normal(size=n), 2),
            "gro`up": rng.choice(["a\\", "b'c", "D", "d", "new\nline", None], n),
            "member": rng.random(n) < 0.5,
        }
    )
    X.loc[rng.random(n) < 0.1, 'user\'s "age"'] = np.nan
    X.loc[::97, "gro`up"] = "unseen"
    age, size, group, member = (X[name] for name in X)
    y = (
        np.sin(2 * size) * (1 + 2 * (group == "D"))
        + 0.02 * age.fillna(9)
        + member * (group == "a\\")
    )
    names = list(X)
    columns: Columns = {
        "row": ("BIGINT", list(range(n))),
        names[0]: ("DOUBLE", [None if v != v else v for v in age]),
        names[1]: ("DOUBLE", list(map(float, size))),
        names[2]: ("VARCHAR", [None if v is None or v != v else v for v in group]),
        names[3]: ("BOOLEAN", list(map(bool, member))),
    }
    return X, y.to_numpy(), columns


MODELS: list[Case[Any]] = [
    *(
        Case(name=own, make=lambda own=own: TransformRegressor(variant=own, n_estimators=5))
        for own in VARIANTS
    ),
    *(
        Case(
            name=f"{own}, two classes",
            make=lambda own=own: TransformClassifier(variant=own, n_estimators=4),
        )
        for own in VARIANTS
    ),
    Case(name="three classes", make=lambda: TransformClassifier(n_estimators=4)),
    *(
        Case(
            name=f"trees, {loss}",
            make=lambda loss=loss: LinearTreeBoostingRegressor(loss=loss, n_estimators=6),
        )
        for loss in ("squared_error", Quantile(0.9), "poisson")
    ),
    Case(name="trees, two classes", make=lambda: LinearTreeBoostingClassifier(n_estimators=6)),
    Case(name="trees, three classes", make=lambda: LinearTreeBoostingClassifier(n_estimators=6)),
]


@cache
def fitted(name: str) -> Any:
    """A model of all columns, fitted to the rows whose categories it shall know."""
    X, y, _ = people()
    (case,) = (own for own in MODELS if own.name == name)
    target = np.round(np.exp(y.clip(None, 2))) if "poisson" in name else y
    if "two" in name:
        target = np.where(y > 1.5, "top", "low")
    elif "three" in name:
        target = np.array(["low", "middle", "top"])[np.digitize(y, [0.7, 1.8])]
    known = (X.iloc[:, 2] != "unseen").to_numpy()
    return case.make().fit(X[known], target[known])


@law(MODELS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_database_says_what_the_model_says(case: Case[Any], dialect: str, server: str) -> None:
    """Of numbers, and of the classes; the kept column is as it was, names are as they were asked.

    Each of several classes is against the rest in transform regression: divided by their sum they
    are ``predict_proba``.
    """
    X, _, columns = people()
    model = fitted(case.name)

    def asked(**options: Any) -> np.ndarray:
        output = {} if "label" in options else {"output": "50 % of y"}
        how = {"keep": "row", "dialect": dialect} | output | options
        if case.name.startswith("trees"):
            how = {"dialect": dialect} | options
            return ask(dialect, model.to_sql("peo'ple", **how), "peo'ple", columns, server).last
        answer = ask(dialect, model.to_sql("peo'ple", **how), "peo'ple", columns, server)
        assert answer.names == ["row", answer.names[1]]
        assert not output or answer.names[1] == "50 % of y"
        return answer.last[np.argsort([row for row, _ in answer.rows])]

    if hasattr(model, "predict_proba"):
        labels = model.classes_ if case.name == "three classes" else model.classes_[-1:]
        found = np.column_stack([asked(label=label) for label in labels])
        if case.name == "three classes":
            found /= found.sum(axis=1, keepdims=True)
        wanted = model.predict_proba(X)[:, -len(labels) :]
        if len(model.classes_) > 2:
            with pytest.raises(ValueError, match=r"label must be one of \['low', 'middle', 'top"):
                model.to_sql("people", dialect=dialect)
    else:
        found, wanted = asked(), model.predict(X)
    np.testing.assert_allclose(
        found.reshape(wanted.shape), wanted, rtol=1e-12, atol=1e-12 * np.abs(wanted).max()
    )
