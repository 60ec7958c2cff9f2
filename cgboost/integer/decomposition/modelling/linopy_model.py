"""Models of linopy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from cgboost.integer.decomposition.model_parts import ModelError, ModelParts


def read(model: Any) -> ModelParts:
    """The parts of a ``linopy.Model``.

    An entry is called ``x[a,0]`` by its coordinates, one without any ``x``. What is masked is no
    part of the model. Rows are those of ``model.matrices``: before a solve, which may drop some.
    """
    if not hasattr(model, "matrices"):
        raise TypeError(f"expected a linopy.Model, got {type(model).__name__}")
    if model.objective.is_quadratic:
        raise ModelError("the objective is quadratic: only linear ones can be decomposed")
    if getattr(model.variables, "sos", None):
        raise ModelError("special ordered sets cannot be decomposed")
    parts = ModelParts(maximize=model.objective.sense == "max")
    own = model.matrices
    cost = np.zeros(len(own.vlabels)) if own.c is None else np.asarray(own.c, dtype=np.float64)
    kinds = zip(own.vlabels, own.lb, own.ub, own.vtypes, cost, strict=True)
    for label, lower, upper, kind, price in kinds:
        name = _name(model.variables, label)
        if kind not in ("C", "I", "B"):
            raise ModelError(f"variable {name!r} is semi-continuous: it cannot be decomposed")
        parts.add_variable(name, lower, upper, whole=kind != "C", cost=float(price))
    if not len(own.clabels):
        return parts
    matrix = sp.csr_array(own.A)
    for row, (label, side, sense) in enumerate(zip(own.clabels, own.b, own.sense, strict=True)):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        terms = zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True)
        lower, upper = None if sense == "<" else side, None if sense == ">" else side
        parts.add_row(_name(model.constraints, label), terms, lower, upper)
    return parts


def _name(container: Any, label: Any) -> str:
    name, coordinates = container.get_label_position(int(label))
    places = ",".join(
        str(part)
        for place in coordinates.values()
        for part in (place if isinstance(place, tuple) else (place,))  # of a MultiIndex
    )
    return f"{name}[{places}]" if places else str(name)
