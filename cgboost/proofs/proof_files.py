"""Certificates as files, for everybody to check: ``examples/check_certificate.py`` verifies them.

A file is one JSON object, whose first line says what it rests on::

    claims      what is proved, and what is assumed
    kind        "fit" or "packing"
    model       class of the model
    data        SHA-256 of the table that the checker reads, as float64 (little endian, by rows)
    objective   at least that of the coefficients     } float64, rounded outward
    bound       at most that of all coefficients      }
    gap         at least (objective − bound)/|objective|

of a fit, where X is the table without its last column and y the last one::

    loss, parameter, costs    the loss, its parameter, and its cost in each row
    labels                    what ±1 stands for, by numbers in the last column; null: y itself
    w, b, intercept, scale    coefficients; the intercept b is "free", "none", or "charged": then it
                              is ``scale`` times the last coefficient, and X has such a column
    l1_share, weights         ρ and v of the penalty ρ v|w| + ½(1 − ρ)(v w)²
    kernel                    whether X is the matrix of a kernel, and the penalty ½ wᵀXw
    positive, whole           whether coefficients must be at least 0, or whole numbers
    unit                      what all is multiplied by
    response                  [integers, bits]: the dual point, integers over 2**bits
    scores                    the pricing maxima: of each feature, at least |Σ r x|

of a packing, where the table has a row for each item, its size and how many there are::

    capacity    of a bin
    solution    the bins: numbers of items
    tree        {"pair": [i, j], "one": tree, "two": tree}: i and j in one bin, or in two;
                or {"prices": integers} at a leaf: the value of all items, over the most valuable
                bin, is more than bound − 1

and, of all::

    seal        SHA-256 of all that stands before it
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.arrays import Vector
from cgboost.exceptions import CertificateError
from cgboost.losses import SupportVectorLoss
from cgboost.penalties import Penalty
from cgboost.proofs.exact_fit import OF_COLUMNS, PARAMETERS, ExactFit, down, up
from cgboost.proofs.family_problems import FamilyProblem
from cgboost.proofs.machines import MachineProblem
from cgboost.proofs.problem import DualPoint, LinearProblem, Point
from cgboost.proofs.rows import ScaledHuberRows, SoftmaxRows

OFF_ONE = 1e-15
"""What rounding does to ρ + (1 − ρ)."""

CELLS_OF_A_TABLE = 2**27
"""Numbers of a table at most: a gigabyte."""


def digest(table: Vector) -> str:
    """The hash of a table."""
    return hashlib.sha256(np.ascontiguousarray(table, dtype="<f8").tobytes()).hexdigest()


def write_proof(path: Any, proof: dict[str, Any]) -> Path:
    """Write a certificate, a line for each of its parts, and seal it."""
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in proof.items())
    body = f"{{{lines},\n"
    seal = hashlib.sha256(body.encode()).hexdigest()
    file = Path(path)
    file.write_text(f'{body}"seal": "{seal}"}}\n', encoding="utf-8")
    return file


def write_table(path: Any, table: Vector, names: Sequence[str] | None = None) -> None:
    """Write the table that the checker reads: .npy, or .csv with a line of names."""
    file = Path(path)
    if file.suffix == ".npy":
        np.save(file, table)
    elif file.suffix == ".csv":
        head = ",".join(names or [*(f"x{j}" for j in range(table.shape[1] - 1)), "y"])
        np.savetxt(file, table, fmt="%.17g", delimiter=",", header=head, comments="")
    else:
        raise CertificateError(f"data must end in .npy or .csv, got {file.name!r}")


def gap_above(objective: float, bound: float) -> float:
    """The relative gap, rounded up."""
    if objective == bound:
        return 0.0
    if objective == 0:
        return math.inf
    return up((Fraction(objective) - Fraction(bound)) / abs(Fraction(objective)))


def fit_proof(
    problem: LinearProblem | MachineProblem | FamilyProblem,
    point: Point,
    dual: DualPoint,
    y: NDArray[Any],
    *,
    model: str,
    assumed: Sequence[str],
) -> tuple[dict[str, Any], Vector]:
    """What a file says of a fit, and the table that it is about.

    Parameters
    ----------
    problem, point, dual
        As :func:`~cgboost.certify` has them.
    y : ndarray of shape (n_rows,)
        As given by the user.
    model : str
        Its class.
    assumed : sequence of str
        Which objective it is.

    Raises
    ------
    CertificateError
        For a loss whose values are no fractions, and what else exact arithmetic does not cover.
    """
    if isinstance(problem, FamilyProblem):
        raise CertificateError(
            f"a {model} with {problem.penalty!r} has no exact certificate: its bound is of a pass "
            "over a whole family of columns, which is no table (certify has objective and bound)"
        )
    if isinstance(problem, MachineProblem):
        fit, given = _machine_fit(problem, point, dual)
        y = y[problem.rows_used]
    else:
        fit, given = _linear_fit(problem, point, dual)
    last = _numbers(y)
    own = np.column_stack([fit.X[:, : fit.X.shape[1] - given.pop("n_added")], last])
    found = fit.values()
    objective, bound = up(found.objective), down(max(found.bound, Fraction(0)))
    proof = {
        "claims": _claims(model, assumed, kernel=fit.kernel),
        "kind": "fit",
        "model": model,
        "data": digest(own),
        "objective": objective,
        "bound": bound,
        "gap": gap_above(objective, bound),
        "loss": fit.loss,
        "parameter": fit.parameter,
        "labels": _labels(last, fit.y),
        "l1_share": fit.l1_share,
        "kernel": fit.kernel,
        "positive": fit.positive,
        "whole": False,
        "unit": fit.unit,
        "b": fit.intercept,
        **given,
        "costs": fit.costs.tolist(),
        "weights": fit.weights.tolist(),
        "w": fit.coef.tolist(),
        "scores": found.largest_scores,
        "response": [found.integers, found.bits],
    }
    return proof, own


def _claims(model: str, assumed: Sequence[str], *, kernel: bool) -> str:
    """The first line: on what the proof rests."""
    rests = "nothing but exact arithmetic"
    if kernel:
        rests += ", and that the matrix of the kernel is positive semidefinite"
    said = "; ".join(assumed)
    return f"{model}: no coefficients are below the bound. It rests on {rests}. Objective: {said}"


def _linear_fit(
    problem: LinearProblem, point: Point, dual: DualPoint
) -> tuple[ExactFit, dict[str, Any]]:
    if problem.factor != 1.0 or problem.numbers is not None:
        raise _unknown(problem.loss)
    loss, parameter, target, costs = _named_loss(problem.loss)
    given = problem.X if problem.given is None else problem.given
    n_rows, n_features = given.shape
    if n_rows * n_features > CELLS_OF_A_TABLE:
        raise CertificateError(f"a table of {n_rows} × {n_features} is too large for a proof")
    X = given.toarray() if sparse.issparse(given) else np.asarray(given, dtype=np.float64)
    weights = np.ones(n_features) if problem.weights is None else problem.weights
    coef, intercept = np.asarray(point.coef) / weights, float(point.intercept)
    if problem.charged:
        X = np.column_stack([X, np.full(n_rows, problem.scale)])
        coef, weights = np.append(coef, intercept / problem.scale), np.append(weights, 1.0)
        intercept = 0.0
    fit = ExactFit(
        X, target, costs, loss, parameter, _l1_share(problem.penalty), weights, coef, intercept,
        dual.response, float(problem.unit), balanced=problem.intercept == "free",
        positive=problem.positive,
    )  # fmt: skip
    said = {"intercept": problem.intercept, "scale": float(problem.scale)}
    return fit, said | {"n_added": int(problem.charged)}


def _machine_fit(
    problem: MachineProblem, point: Point, dual: DualPoint
) -> tuple[ExactFit, dict[str, Any]]:
    loss, parameter, target, costs = _named_loss(problem.loss)
    matrix = problem.matrix(np.arange(len(problem.sums)))
    ones, intercept = np.ones(len(matrix)), float(point.intercept) if problem.balanced else 0.0
    fit = ExactFit(
        matrix, target, costs, loss, parameter, 0.0, ones, np.asarray(point.coef), intercept,
        dual.response, balanced=problem.balanced, kernel=True,
    )  # fmt: skip
    kind = "free" if problem.balanced else "none"
    return fit, {"intercept": kind, "scale": 1.0, "n_added": 0}


def _named_loss(bound: Any) -> tuple[str, float, Vector, Vector]:
    """Name, parameter, targets and costs of a loss that is bound to its data."""
    loss = getattr(bound, "loss", None)
    name = getattr(loss, "name", None)
    if name not in PARAMETERS:
        raise _unknown(bound)
    own = PARAMETERS[name]
    parameter = 0.0 if own is None else float(getattr(loss, own))
    return name, parameter, bound.target, bound.weights


def _unknown(bound: Any) -> CertificateError:
    known = sorted(PARAMETERS.keys() - {OF_COLUMNS})
    return CertificateError(
        f"the loss {_in_words(getattr(bound, 'loss', bound))} has no exact certificate: its values "
        f"are no fractions, or it has a level that it chooses. Losses that have one: "
        f"{', '.join(known)}"
    )


def _in_words(loss: Any) -> str:
    """The name of a loss as its own package's users know it."""
    if isinstance(loss, SupportVectorLoss):
        return "of OneClassSVM or of ν" if loss.mass is not None else "perceptron or modified_huber"
    if isinstance(loss, SoftmaxRows):
        return "multinomial"
    if isinstance(loss, ScaledHuberRows):
        return "of HuberRegressor"
    return repr(getattr(loss, "name", type(loss).__name__))


def _l1_share(penalty: Penalty) -> float:
    """The ρ of ρ|w| + ½(1 − ρ)w²."""
    if penalty.radius is not None or abs(penalty.threshold + penalty.quadratic - 1.0) > OFF_ONE:
        raise CertificateError(f"the penalty {penalty!r} has no exact certificate")
    return float(penalty.threshold)


def _numbers(y: NDArray[Any]) -> Vector:
    """The last column of a table: numbers as they are, of other labels their numbers in order."""
    if y.ndim != 1:
        raise CertificateError("a certificate is of one response, and y has several")
    if y.dtype.kind in "biuf":
        return y.astype(np.float64)
    return np.unique(y, return_inverse=True)[1].astype(np.float64)


def _labels(last: Vector, target: Vector) -> dict[str, float] | None:
    """What the target is for each number in the last column; None where it is that number."""
    if np.array_equal(last, target):
        return None
    pairs = {(str(a), b) for a, b in zip(last.tolist(), target.tolist(), strict=True)}
    if len(dict(pairs)) < len(pairs):
        raise CertificateError("the targets of the problem do not follow from y")
    return dict(sorted(pairs))
