"""Fitted estimators in files, and the versions that wrote them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sklearn
from sklearn.base import BaseEstimator

from cgboost._version import __version__
from cgboost.exceptions import CorruptFileError, PersistenceError, VersionWarning, warn_caller
from cgboost.persistence.attributes import defaults
from cgboost.persistence.codec import Functions, read_with_manifest, write

KIND = "model"
VERSION = "_cgboost_version"
"""Where the state of a pickled estimator says which version wrote it."""

ITEMS = "_cgboost_items"
"""Where it has the items of dictionaries whose keys are no text, which skops would make text."""


def save(model: Any, path: str | os.PathLike[str], *, functions: Functions | None = None) -> Path:
    """Write a model to a file, as ``model.save(path)`` does."""
    if not isinstance(model, BaseEstimator):
        raise PersistenceError(f"save takes an estimator, got {type(model).__name__}")
    write(path, KIND, model, functions=functions, about={"class": type(model).__name__})
    return Path(path)


def load(path: str | os.PathLike[str], functions: Functions | None = None) -> Any:
    """Load a model from a file written by its ``save``. No code in the file is run.

    Parameters
    ----------
    path : str or path-like
    functions : mapping of str to callable or None
        Functions and your own classes that the model needs, under the names with which they were
        saved: ``{"mine": k}``.

    Returns
    -------
    model : estimator
        Its predictions are bitwise equal to those of the saved model.

    Raises
    ------
    FileNotFoundError
    CorruptFileError
        If the file is damaged, truncated or changed, or is not a stored model.
    NewerFormatError
        If the file was written by a later version.
    UnknownContentError
        If a function is missing, or the file names a class that is not part of cgboost.

    Examples
    --------
    >>> import cgboost, numpy as np, tempfile
    >>> X = np.arange(8.0)[:, None]
    >>> model = cgboost.LPBoostRegressor().fit(X, X[:, 0] > 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = model.save(f"{folder}/model.cgb")
    ...     same = cgboost.load(path)
    >>> bool((same.predict(X) == model.predict(X)).all())
    True
    """
    model, manifest = read_with_manifest(path, KIND, functions=functions)
    if isinstance(model, BaseEstimator):
        _without_old_name(vars(model))
    else:
        raise CorruptFileError(f"{str(path)!r} has a {type(model).__name__}, which is no model")
    other = manifest.written_with.get("scikit-learn")
    if manifest.has_foreign and other != sklearn.__version__:
        warn_caller(
            f"{str(path)!r} has estimators of scikit-learn {other}, and {sklearn.__version__} is "
            "installed: they may predict other than before. Save the model with this version, or "
            "install the other",
            VersionWarning,
        )
    return model


def state(model: Any) -> dict[str, Any]:
    """What pickle stores of an estimator: its attributes, and the version of cgboost."""
    own: dict[str, Any] = BaseEstimator.__getstate__(model)
    items = {
        name: [*value.items()]
        for name, value in own.items()
        if type(value) is dict and not all(type(key) is str for key in value)
    }
    kept = {name: value for name, value in own.items() if name not in items}
    return {**kept, VERSION: __version__, **({ITEMS: items} if items else {})}


def set_state(model: Any, state: Mapping[str, Any]) -> None:
    """Take the attributes of a pickled estimator; another version that wrote them is named."""
    own = _without_old_name(dict(state))
    version = own.pop(VERSION, None)
    own |= {key: dict(value) for key, value in own.pop(ITEMS, {}).items()}
    kind: Any = type(model)
    name = kind.__name__
    missing = {key: make() for key, make in defaults(kind).items() if key not in own}
    if version not in (None, __version__):
        warn_caller(
            f"this {name} was pickled by cgboost {version}, and {__version__} is installed: it may "
            "not predict as before. Pickles are for the version that wrote them; model.save(path) "
            "writes files that later versions read",
            VersionWarning,
        )
    elif version is None and missing:
        warn_caller(
            f"this {name} was pickled by a version of cgboost before {__version__}: it lacks "
            f"{', '.join(sorted(missing))}, which are as by default now. Fit it again, or unpickle "
            "it with the version that wrote it",
            VersionWarning,
        )
    BaseEstimator.__setstate__(model, missing | own)


def _without_old_name(own: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a model, without a ``coef_`` of columns that are no features.

    Until version 0.2 it was the column of coefficients in the table, which ``column_weights_`` is.
    """
    table = own.get("columns_")
    if table is not None and own.get("coef_") is table.get("coefficient"):
        own.pop("coef_", None)
    return own
