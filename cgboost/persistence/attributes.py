"""What attributes are called in a file, and what is there where an old file lacks one.

They have the names of the code, but for private ones of models: these have a name for files alone,
with a dot, which no attribute of any subclass has. To rename one, change it here as well.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING
from functools import partial
from typing import Any

from sklearn.base import BaseEstimator

from cgboost.persistence.classes import is_ours

IN_FILES = {
    "Checkpoint": {
        "_due": "state.due",
        "_ended": "state.ended",
        "_fingerprint": "state.fingerprint",
        "_named": "state.named",
        "_within_fit": "state.within_fit",
    },
    "FactorBasis": {"_columns": "state.columns", "_uniform": "state.uniform"},
    "GrowingMatrix": {"_count": "state.count", "_store": "state.store"},
    "KernelLibrary": {
        "_given": "state.given",
        "_header": "state.header",
        "_normalize": "state.normalize",
    },
    "NumberedLeaves": {"_table": "state.table"},
    "Precomputed": {"_numbers_of_rows": "state.numbers_of_rows"},
    "StoredEstimator": {
        "_bags": "state.bags",
        "_calibrator": "state.calibrator",
        "_constraints": "state.constraints",
        "_deviations": "state.deviations",
        "_dropped": "state.dropped",
        "_fit_seconds": "state.fit_seconds",
        "_fitted_jointly": "state.fitted_jointly",
        "_folded": "state.folded",
        "_free": "state.free",
        "_functions": "state.functions",
        "_groups": "state.groups",
        "_held_sets": "state.held_sets",
        "_importances": "state.importances",
        "_input": "state.input",
        "_members": "state.members",
        "_monitored": "state.monitored",
        "_n_features_out": "state.n_features_out",
        "_n_literals": "state.n_literals",
        "_n_responses": "state.n_responses",
        "_optional": "state.optional",
        "_places": "state.places",
        "_runs": "state.runs",
        "_scaling": "state.scaling",
        "_schema": "state.schema",
        "_usual_cost": "state.usual_cost",
    },
}
"""Attributes of a kind and its subclasses, and their names in files."""


@functools.cache
def names_in_files(kind: Any) -> dict[str, str]:
    """The attributes of a class whose names in files are others."""
    own: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        own |= IN_FILES.get(base.__name__, {}) if is_ours(base) else {}
    return own


def attributes(kind: type, names: list[str]) -> list[str]:
    """The attributes that are meant by names in a file; format 1 has private ones as they were."""
    known = {name: own for own, name in names_in_files(kind).items()}
    return [known.get(name) or known.get(f"state.{name[1:]}", name) for name in names]


@functools.cache
def defaults(kind: Any) -> dict[str, Callable[[], Any]]:
    """What makes the values of parameters and fields that may be left out."""
    fields: Iterable[tuple[str, Any, Any]] = ()
    if issubclass(kind, BaseEstimator):
        names, signature = kind._get_param_names(), inspect.signature(kind.__init__).parameters
        fields = [(name, signature[name].default, MISSING) for name in names if name in signature]
    elif dataclasses.is_dataclass(kind):
        fields = [(own.name, own.default, own.default_factory) for own in dataclasses.fields(kind)]
    absent = (MISSING, inspect.Parameter.empty)
    own = {name: make for name, _, make in fields if make is not MISSING}
    return own | {name: partial(_same, one) for name, one, _ in fields if one not in absent}


def _same(value: Any) -> Any:
    return value
