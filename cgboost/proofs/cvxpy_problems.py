"""Which problem of a certificate a CVXPY problem is: a loss of rows plus a penalty of coefficients.

    min over z of   Σ_i k_i ℓ(a_i·z + c_i) + Σ_j p_j |z_j| + ½ Σ_j q_j z_j²

All variables together are z. A sum that sees every coefficient for itself is a penalty; the other
one is the loss. A coefficient without a penalty whose column is constant is the intercept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.arrays import Vector
from cgboost.exceptions import CertificateError
from cgboost.losses import (
    AbsoluteError,
    EpsilonInsensitive,
    Hinge,
    Huber,
    LogLoss,
    Loss,
    Quantile,
    SquaredEpsilonInsensitive,
    SquaredError,
    SquaredHinge,
)
from cgboost.penalties import L1, L2, ElasticNet
from cgboost.proofs.problem import Intercept, LinearProblem
from cgboost.proofs.readers import HALF, Data, Reading

SAME_NUMBER = 1e-12
"""Numbers that differ by this share of the largest are the same."""

AS_THE_SOLVER_SAID = 1e-3
"""What the solver said and the objective at its variables differ by no more than this share."""

INSTEAD_OF_SLACKS = "of slack variables write the loss itself, as sum(pos(1 − m))"

KNOWN = (
    "sums of abs, square, pos(1 − m), square(pos(1 − m)), logistic(−m), huber, pos(abs − ε) and "
    "maximum(q e, (q − 1) e) of affine expressions, and sums of abs and squares of the variables"
)


@dataclass(frozen=True, eq=False)
class Term:
    """Σ_i weights_i ℓ(e_i), e = Az + c.

    Attributes
    ----------
    kind : str
        ``"abs"``, ``"square"``, ``"pos"``, ``"square of pos"``, ``"logistic"``, ``"huber"``,
        ``"tube"``, ``"square of tube"``, ``"quantile"``.
    weights : ndarray of shape (n,)
    matrix : sparse matrix of shape (n, n_variables)
    constant : ndarray of shape (n,)
    parameter : float
        δ of Huber's loss, ε of a tube, q of a quantile.
    """

    kind: str
    weights: Vector
    matrix: Any
    constant: Vector
    parameter: float = 0.0

    @property
    def is_penalty(self) -> bool:
        """Whether every coefficient is seen for itself, around 0."""
        own = self.matrix
        return bool(
            self.kind in ("abs", "square")
            and not self.constant.any()
            and own.count_nonzero(axis=1).max(initial=0) <= 1
            and own.count_nonzero(axis=0).max(initial=0) <= 1
        )


def is_cvxpy(model: Any) -> bool:
    """Whether a model is a CVXPY problem."""
    return type(model).__module__.startswith("cvxpy.problems")


def reading_of_cvxpy(problem: Any, *data_given: Any) -> tuple[Reading, Data]:
    """A solved CVXPY problem as a problem of a certificate.

    Parameters
    ----------
    *data_given : object
        Rows, targets and weights that came with it: all None.

    Raises
    ------
    CertificateError
        Where it has no values yet, or is not of the form above.
    """
    import cvxpy as cp

    if any(one is not None for one in data_given):
        raise CertificateError("a cvxpy.Problem has its data in it: certify(problem), without X, y")
    if not isinstance(problem.objective, cp.Minimize):
        raise CertificateError("certify knows Minimize(…): give −objective, minimised")
    variables = problem.variables()
    missing = [variable.name() for variable in variables if variable.value is None]
    if missing or not variables:
        raise CertificateError(
            f"no value of {', '.join(missing) or 'any variable'}: solve it first"
        )
    assumed = _said_of_parameters(problem)
    z = np.concatenate([np.ravel(variable.value, order="F") for variable in variables])
    with _Coordinates(variables) as coordinates:
        terms = list(_terms(problem.objective.expr, 1.0, coordinates))
        positive = _positive(problem, coordinates)
    losses = [term for term in terms if not term.is_penalty]
    if len(losses) != 1:
        found = ", ".join(term.kind for term in losses) or "none"
        raise CertificateError(f"one loss is known, this problem has {len(losses)} ({found})")
    names = np.array(coordinates.names, dtype=object)
    l1, l2 = (_prices(terms, kind, len(z)) for kind in ("abs", "square"))
    penalised = (l1 > 0) | (l2 > 0)
    factors, penalty, unit = _penalty(l1[penalised], 2.0 * l2[penalised])
    loss, y, costs, A, factor = _loss(losses[0], unit, ~penalised)
    step, intercept = _intercept(A, penalised, names)
    if positive.any() and not positive[penalised].all():
        unsigned = names[penalised & ~positive]
        raise CertificateError(
            "signs of all penalised coefficients are known, or of none: here "
            f"{', '.join(unsigned[:5])} may be negative. Write those as u − v with u, v >= 0"
        )
    X, priced = sparse.csr_array(A[:, penalised]), bool(np.ptp(factors))
    model = LinearProblem(
        (X @ sparse.diags_array(1.0 / factors)).tocsr(),
        loss.on(y, costs),
        penalty,
        unit,
        intercept,
        factor=factor,
        positive=bool(positive.any()),
        weights=factors if priced else None,
        given=X if priced else None,
        of_columns=True,
    )
    coef = z[penalised] * factors
    prices = unit * factors ** (1 if isinstance(penalty, L1) else 2)
    times = f"{prices.min():g} to {prices.max():g}" if priced else f"{unit:g}"
    assumed = [
        f"{type(loss).__name__} of {X.shape[0]} rows",
        f"penalty {type(penalty).__name__} times {times}",
        *assumed,
    ]
    if positive[~penalised].any():
        assumed.append("the sign of the intercept is left out: the bound holds without it, too")
    if model.positive and coef.min() < 0:
        assumed.append(f"values below 0 (down to {z[penalised].min():.1g}) taken as 0")
        coef = np.maximum(coef, 0.0)
    b = float(step * z[~penalised].sum()) if intercept == "free" else 0.0
    data = Data(X, y, np.ones(X.shape[0]), False, names[penalised])
    return Reading([model], [coef], [b], assumed), data


def _said_of_parameters(problem: Any) -> list[str]:
    """What a reader may not expect of parameters: that they have changed since the solution."""
    parameters = problem.parameters()
    missing = [parameter.name() for parameter in parameters if parameter.value is None]
    if missing:
        raise CertificateError(
            f"no value of the parameter {', '.join(missing)}: give it one, and solve the problem"
        )
    if not parameters or problem.value is None:
        return []
    now, then = float(problem.objective.value), float(problem.value)
    if abs(now - then) <= AS_THE_SOLVER_SAID * abs(now):
        return []
    return [
        f"parameters as they are now: the objective at the variables is {now:g}, it was {then:g} "
        "as the solver said"
    ]


class _Coordinates:
    """All variables as one vector; inside the block they are 0, so that values are constants."""

    def __init__(self, variables: list[Any]) -> None:
        self.variables = variables
        self.starts = dict(
            zip(variables, np.cumsum([0, *[v.size for v in variables]]), strict=False)
        )
        self.size = sum(variable.size for variable in variables)
        self.names = [
            variable.name() if variable.size == 1 else f"{variable.name()}[{i}]"
            for variable in variables
            for i in range(variable.size)
        ]

    def __enter__(self) -> _Coordinates:
        self._values = [variable.value for variable in self.variables]
        for variable in self.variables:
            variable.save_value(np.zeros(variable.shape))
        return self

    def __exit__(self, *_: object) -> None:
        for variable, value in zip(self.variables, self._values, strict=True):
            variable.save_value(value)

    def affine(self, expression: Any) -> tuple[Any, Vector]:
        """A and c of Az + c."""
        constant = np.ravel(_array(expression.value), order="F").astype(float)
        parts = []
        for variable, slopes in expression.grad.items():
            own = sparse.coo_array(slopes.T)
            columns = own.col + self.starts[variable]
            shape = (len(constant), self.size)
            parts.append(sparse.coo_array((own.data, (own.row, columns)), shape=shape))
        matrix = sparse.csr_array(sum(parts, sparse.csr_array((len(constant), self.size))))
        matrix.eliminate_zeros()
        return matrix, constant


def _array(value: Any) -> NDArray[Any]:
    return np.asarray(value.toarray() if sparse.issparse(value) else value)


def _unknown(expression: Any) -> CertificateError:
    text = str(expression)
    text = text if len(text) < 80 else f"{text[:77]}…"
    if expression.is_affine():
        return CertificateError(
            f"{text} is linear. Of coefficients that are >= 0 write norm1(w); {INSTEAD_OF_SLACKS}"
        )
    return CertificateError(f"certify does not know {text}. It knows {KNOWN}")


def _terms(expression: Any, factor: Any, coordinates: _Coordinates) -> Iterator[Term]:
    """The sums that a scalar objective is made of."""
    name = type(expression).__name__
    if expression.is_constant():
        if np.any(expression.value):
            raise CertificateError("a constant in the objective: leave it out, gaps are relative")
    elif name == "AddExpression":
        for part in expression.args:
            yield from _terms(part, factor, coordinates)
    elif name == "NegExpression":
        yield from _terms(expression.args[0], -factor, coordinates)
    elif name in ("multiply", "MulExpression", "DivExpression"):
        scale, inner = _scaled(expression, name)
        if inner.size == 1:
            yield from _terms(inner, factor * float(scale), coordinates)
        else:  # weights @ losses
            yield from _elements(inner, factor * scale, coordinates)
    elif name == "Sum":
        yield from _elements(expression.args[0], factor, coordinates)
    elif name == "norm1":
        yield _term("abs", expression.args[0], factor, coordinates)
    elif name == "quad_over_lin" and expression.args[1].is_constant():
        yield from _squared(
            expression.args[0], factor / float(expression.args[1].value), coordinates
        )
    elif _is_square(expression) and _is_norm(expression.args[0]):
        yield from _squared(expression.args[0].args[0], factor, coordinates)
    else:
        yield from _elements(expression, factor, coordinates)


def _scaled(expression: Any, name: str) -> tuple[Vector, Any]:
    """The constant and the other part of a product or quotient."""
    first, second = expression.args
    if name == "DivExpression":
        if not second.is_constant():
            raise _unknown(expression)
        return 1.0 / np.ravel(_array(second.value), order="F").squeeze(), first
    if second.is_constant():
        first, second = second, first
    if not first.is_constant():
        raise _unknown(expression)
    return np.ravel(_array(first.value), order="F").squeeze(), second


def _is_square(expression: Any) -> bool:
    if not type(expression).__name__.lower().startswith("power"):
        return False
    return float(getattr(expression.p, "value", expression.p)) == 2.0


def _is_norm(expression: Any) -> bool:
    return type(expression).__name__.startswith("Pnorm") and float(expression.p) == 2.0


def _elements(expression: Any, factor: Any, coordinates: _Coordinates) -> Iterator[Term]:
    """The terms of a sum over an elementwise expression."""
    name = type(expression).__name__
    if name == "Promote":
        raise _unknown(expression)
    if name == "AddExpression" and not expression.is_affine():
        for part in expression.args:
            if part.size != expression.size:
                raise _unknown(expression)
            yield from _elements(part, factor, coordinates)
    elif name == "NegExpression" and not expression.is_affine():
        yield from _elements(expression.args[0], -factor, coordinates)
    elif name in ("multiply", "DivExpression") and not expression.is_affine():
        scale, inner = _scaled(expression, name)
        yield from _elements(inner, factor * scale, coordinates)
    elif name == "abs":
        yield _term("abs", expression.args[0], factor, coordinates)
    elif name == "logistic":
        yield _term("logistic", expression.args[0], factor, coordinates)
    elif name == "huber":
        size = float(getattr(expression.M, "value", expression.M))
        yield _term("huber", expression.args[0], factor, coordinates, size)
    elif _is_square(expression):
        yield from _squared(expression.args[0], factor, coordinates)
    elif name == "maximum":
        yield _largest(expression, factor, coordinates)
    else:
        raise _unknown(expression)


def _squared(inner: Any, factor: Any, coordinates: _Coordinates) -> Iterator[Term]:
    """Σ weights e², or of the positive parts."""
    if inner.is_affine():
        yield _term("square", inner, factor, coordinates)
        return
    if type(inner).__name__ != "maximum":
        raise _unknown(inner)
    term = _largest(inner, factor, coordinates)
    if term.kind == "quantile":
        raise _unknown(inner)
    yield Term(f"square of {term.kind}", *_fields(term))


def _fields(term: Term) -> tuple[Vector, Any, Vector, float]:
    return term.weights, term.matrix, term.constant, term.parameter


def _largest(expression: Any, factor: Any, coordinates: _Coordinates) -> Term:
    """max(e, 0), max(|e| − ε, 0) or max(q e, (q − 1) e)."""
    parts = [part for part in expression.args if not (part.is_constant() and not _any(part))]
    if len(expression.args) != 2 or not parts:
        raise _unknown(expression)
    if len(parts) == 1:
        if parts[0].is_affine():
            return _term("pos", parts[0], factor, coordinates)
        return _tube(parts[0], factor, coordinates)
    if not all(part.is_affine() for part in parts):
        raise _unknown(expression)
    (A, c), (B, d) = (coordinates.affine(part) for part in parts)
    error, constant = sparse.csr_array(A - B), c - d
    size = float(abs(error).max())
    q = float(A[error.nonzero()].sum() / error[error.nonzero()].sum()) if size else np.nan
    near = SAME_NUMBER * max(size, float(np.abs(constant).max(initial=0.0)))
    if not 0 < q < 1 or abs(A - q * error).max() > near or np.abs(c - q * constant).max() > near:
        raise _unknown(expression)
    return Term("quantile", _weights(factor, len(constant)), error, constant, q)


def _any(part: Any) -> bool:
    return bool(np.any(_array(part.value)))


def _tube(expression: Any, factor: Any, coordinates: _Coordinates) -> Term:
    """max(|e| − ε, 0) by its first argument."""
    parts = expression.args if type(expression).__name__ == "AddExpression" else ()
    width = [part for part in parts if part.is_constant()]
    inner = [part for part in parts if type(part).__name__ == "abs"]
    if len(width) != 1 or len(inner) != 1 or len(parts) != 2:
        raise _unknown(expression)
    epsilon = np.unique(-_array(width[0].value))
    if len(epsilon) != 1 or epsilon[0] < 0:
        raise _unknown(expression)
    return _term("tube", inner[0].args[0], factor, coordinates, float(epsilon[0]))


def _weights(factor: Any, n: int) -> Vector:
    weights = np.array(np.broadcast_to(factor, n), dtype=float)
    if (weights < 0).any():
        raise CertificateError("a convex term with a negative factor: the problem is not convex")
    return weights


def _term(
    kind: str, inner: Any, factor: Any, coordinates: _Coordinates, parameter: float = 0.0
) -> Term:
    if not inner.is_affine():
        raise _unknown(inner)
    matrix, constant = coordinates.affine(inner)
    if kind in SYMMETRIC and not _is_subtracted(inner):  # f − y as y − f
        matrix, constant = -matrix, 0.0 - constant
    return Term(kind, _weights(factor, len(constant)), matrix, constant, parameter)


def _is_subtracted(expression: Any) -> bool:
    """Whether variables are under a minus, as in y − Xw: the table is then X, y, not −X, −y."""
    if type(expression).__name__ == "NegExpression":
        return not _is_subtracted(expression.args[0])
    return any(_is_subtracted(part) for part in expression.args if not part.is_constant())


def _positive(problem: Any, coordinates: _Coordinates) -> NDArray[np.bool_]:
    """Which coefficients may not be negative."""
    positive = np.zeros(coordinates.size, dtype=bool)
    for variable, start in coordinates.starts.items():
        other = [k for k, on in variable.attributes.items() if on and k not in ("nonneg", "pos")]
        if other:
            raise CertificateError(f"the attribute {other[0]} of {variable.name()} is not known")
        positive[start : start + variable.size] |= variable.is_nonneg()
    for constraint in problem.constraints:
        known = type(constraint).__name__ in ("Inequality", "NonPos", "NonNeg")
        matrix, constant = coordinates.affine(constraint.expr) if known else (None, None)
        sign = 1.0 if type(constraint).__name__ == "NonNeg" else -1.0
        if (
            matrix is None
            or np.any(constant)
            or matrix.count_nonzero(axis=1).max(initial=0) > 1
            or (sign * matrix.data < 0).any()
        ):
            raise CertificateError(
                f"constraints other than variable >= 0 are not known: {str(constraint)[:80]}; "
                f"{INSTEAD_OF_SLACKS}"
            )
        positive[matrix.indices] = True
    return positive


def _prices(terms: list[Term], kind: str, n: int) -> Vector:
    """Σ weights·|s|, or s², of each coefficient."""
    prices = np.zeros(n)
    for term in terms:
        if term.is_penalty and term.kind == kind:
            own = abs(term.matrix) if kind == "abs" else term.matrix.power(2)
            prices += np.asarray(own.T @ term.weights).ravel()
    return prices


def _penalty(l1: Vector, l2: Vector) -> tuple[Vector, Any, float]:
    """Factors that the coefficients are multiplied by, the penalty of these, and its unit."""
    if not len(l1):
        raise CertificateError("no penalty: a bound over all coefficients needs one, however small")
    if not l2.any():
        unit = float(l1.max())
        return l1 / unit, L1(), unit
    if not l1.any():
        unit = float(l2.max())
        return np.sqrt(l2 / unit), L2(), unit
    unit = float(l1[0] + l2[0])
    if (
        np.abs(l1 - l1[0]).max() > SAME_NUMBER * unit
        or np.abs(l2 - l2[0]).max() > SAME_NUMBER * unit
    ):
        raise CertificateError("abs and squares with different weights together are not known")
    return np.ones(len(l1)), ElasticNet(float(l1[0]) / unit), unit


OF_RESIDUALS: dict[str, tuple[Any, float]] = {
    "abs": (lambda _: AbsoluteError(), 1.0),
    "square": (lambda _: SquaredError(), 2.0),
    "huber": (Huber, 2.0),
    "tube": (EpsilonInsensitive, 1.0),
    "square of tube": (SquaredEpsilonInsensitive, 1.0),
    "quantile": (Quantile, 1.0),
}
"""Loss of y − f, from a parameter, and how often CVXPY's atom has it."""

SYMMETRIC = OF_RESIDUALS.keys() - {"quantile"}
"""Losses of residuals with ℓ(−e) = ℓ(e)."""

DEGREES = {"abs": 1, "square": 2, "quantile": 1}
"""The d of ℓ(s e) = s**d ℓ(e), s > 0: weights inside such a loss go outside."""

OF_MARGINS: dict[str, tuple[Any, int]] = {
    "pos": (Hinge(), 1),
    "square of pos": (SquaredHinge(), 2),
}
"""Loss of 1 − f, and its degree."""


def _loss(
    term: Term, unit: float, free: NDArray[np.bool_]
) -> tuple[Loss, Vector, Vector, Any, float]:
    """The loss, its target and costs, the matrix of f, and a factor of it."""
    if term.kind in OF_RESIDUALS:  # e = y − f
        make, times = OF_RESIDUALS[term.kind]
        term = _weighted_outside(term, free) if free.sum() == 1 else term
        costs = times * term.weights / unit
        return make(term.parameter), term.constant, costs, -term.matrix, 1.0
    k, A, c = term.weights / unit, term.matrix, term.constant
    if term.kind == "logistic":
        if c.any():
            raise CertificateError("logistic(e) is known for e without a constant")
        y, A = _signed(-A, free)
        return LogLoss(), y, k, A, HALF
    if (c <= 0).any():
        raise CertificateError("pos(c − m) is known for c > 0")
    margin, degree = OF_MARGINS[term.kind]  # max(0, c − m) = c max(0, 1 − m/c)
    y, A = _signed(sparse.diags_array(1.0 / c) @ -A, free)
    return margin, y, k * c**degree, A, 1.0


def _weighted_outside(term: Term, free: NDArray[np.bool_]) -> Term:
    """The same loss of errors y − f in which the intercept is added to every f alike.

    ``norm1(multiply(v, y − Xw − b))`` has the column −v of the intercept: rows are divided by v,
    whose sign does not matter to most losses and whose size becomes a weight.
    """
    j = int(np.flatnonzero(free)[0])
    column = -term.matrix[:, [j]].toarray().ravel()
    sizes = np.abs(column)
    empty = (term.matrix.count_nonzero(axis=1) == 0) & (term.constant == 0)  # of a weight of 0
    sizes[empty] = sizes.max(initial=0.0)
    if not sizes.all():
        return term
    alike = np.ptp(sizes) <= SAME_NUMBER * sizes.max()
    scales = sizes if term.kind in DEGREES and not alike else np.ones(len(sizes))
    if term.kind in SYMMETRIC:
        scales = np.where(column < 0, -scales, scales)
    own = sparse.diags_array(1.0 / scales) @ term.matrix
    added = sparse.coo_array(
        (-(sizes / scales)[empty], (np.flatnonzero(empty), np.full(empty.sum(), j))), own.shape
    )
    weights = term.weights * np.abs(scales) ** DEGREES.get(term.kind, 0)
    return Term(
        term.kind,
        np.where(empty, 0.0, weights),
        sparse.csr_array(own + added),
        term.constant / scales + 0.0,
        term.parameter,
    )


def _signed(A: Any, free: NDArray[np.bool_]) -> tuple[Vector, Any]:
    """Labels, and the matrix times these: those that make an intercept's column positive."""
    y = np.ones(A.shape[0])
    if free.sum() == 1:
        y = np.where(A[:, np.flatnonzero(free)].toarray().ravel() < 0, -1.0, 1.0)
    return y, (sparse.diags_array(y) @ A).tocsr()


def _intercept(A: Any, penalised: NDArray[np.bool_], names: Vector) -> tuple[float, Intercept]:
    """What the intercept's coefficient is multiplied by, and whether there is one."""
    free = np.flatnonzero(~penalised)
    if not len(free):
        return 0.0, "none"
    column = A[:, free].toarray()
    if len(free) > 1 or np.ptp(column) > SAME_NUMBER * np.abs(column).max() or not column.any():
        raise CertificateError(
            f"{', '.join(names[free[:5]])} without a penalty: one such coefficient is known, of a "
            "constant column (the intercept). Weights of rows go outside: multiply(v, abs(e))"
        )
    return float(column[0, 0]), "free"
