"""What skops may make of its files, so that nobody has to trust types one by one.

skops (https://skops.readthedocs.io) stores scikit-learn's estimators without pickle, and asks for
a list of all other types that a file may have. There is no place where a library could register
its own.
"""

from __future__ import annotations

from cgboost.persistence.classes import MODEL_ROOMS, classes_in

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
    return [f"{module}.{name}" for module, name in classes_in(MODEL_ROOMS)] + list(OTHERS)
