"""What skops may make of its files, so that nobody has to trust types one by one.

skops (https://skops.readthedocs.io) stores scikit-learn's estimators without pickle, and asks for
a list of all other types that a file may have. There is no place where a library could register
its own.
"""

from __future__ import annotations

import importlib
from functools import cache

from cgboost.persistence.classes import our_modules

ROOMS = (
    "cgboost.additive",
    "cgboost.constraints",
    "cgboost.estimators",
    "cgboost.generation",
    "cgboost.kernels",
    "cgboost.linear",
    "cgboost.losses",
    "cgboost.penalties",
    "cgboost.pricing",
    "cgboost.tables",
)
"""Whose classes models are made of."""

OTHERS = (
    "builtins.frozenset",
    "builtins.range",
    "datetime.date",
    "datetime.datetime",
    "datetime.time",
    "datetime.timedelta",
    "datetime.timezone",
    "decimal.Decimal",
    "fractions.Fraction",
    "uuid.UUID",
    "pandas.Interval",
    "scipy.sparse._coo.coo_array",
    "scipy.sparse._csc.csc_array",
    "scipy.sparse._csr.csr_array",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.model_selection._split.PredefinedSplit",
    "sklearn.tree._tree.Tree",
)
"""Plain types that models hold too, and skops does not know."""


@cache
def _names() -> tuple[str, ...]:
    found = []
    for module in sorted(our_modules()):
        if module.startswith(ROOMS):
            own = vars(importlib.import_module(module)).values()
            kinds = (kind for kind in own if isinstance(kind, type) and kind.__module__ == module)
            found += [f"{module}.{kind.__name__}" for kind in kinds]
    return (*found, *OTHERS)


def trusted_types() -> list[str]:
    """The types that a model of cgboost may be made of, for ``skops.io.load(…, trusted=…)``.

    Returns
    -------
    names : list of str
        Classes of cgboost, and the few others that its models hold; no functions.

    Examples
    --------
    ::

        import skops.io

        skops.io.dump(model, "model.skops")
        model = skops.io.load("model.skops", trusted=cgboost.persistence.trusted_types())
    """
    return list(_names())
