"""How far a fitted model is from the optimum of its own problem."""

from __future__ import annotations

import contextlib
import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.exceptions import CertificateError
from cgboost.generation.history import relative_gap
from cgboost.proofs.cvxpy_problems import is_cvxpy, reading_of_cvxpy
from cgboost.proofs.family_problems import FamilyProblem
from cgboost.proofs.fitted_plan import check_classes, check_features, check_names, is_own
from cgboost.proofs.machines import MachineProblem, machine_problems
from cgboost.proofs.nearer import Search, come_nearer
from cgboost.proofs.own_models import reading_of_own
from cgboost.proofs.problem import DualPoint, LinearProblem, Point
from cgboost.proofs.proof_files import fit_proof, write_proof, write_table
from cgboost.proofs.readers import (
    MACHINES,
    Data,
    Reading,
    data_of,
    reading_of,
)
from cgboost.tolerances import SMALLEST

TIGHT_ENOUGH = 1.5
"""A bound is tight enough when the gap is at most this multiple of what a better point gains: a
third of it may then be the bound's own fault."""

PROVEN_GAP = 1e-9
"""A relative gap at which nothing is left to be told apart."""

POLISHED_GAP = 1e-8
"""The relative gap at which a model counts as polished."""

FAR_GAP = 1e-6
"""Above this gap a polished model comes with a warning."""

HALF_OF_THE_DIGITS = 1e-8
"""An objective that this share of the outputs would change is a matter of their rounding."""

MOST_STEPS, STEPS_A_ROW = 100_000, 100
"""Steps of libsvm for a polished machine, at most: without a limit some take minutes."""

WITHOUT_TARGET = ("OneClassSVM", "CGBoostOutlierDetector")
"""Models without y."""

OWN_POLISHED_TOL = 1e-8
"""Tolerance of polished models of cgboost."""

FINEST_TOL = 1e-7
"""Tolerance of libsvm for polished machines. It keeps kernel values in single precision, and a
smaller one only takes longer: gaps end at some 1e-7."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """Objective and lower bound of a fitted model, and where it falls short.

    Attributes
    ----------
    model : str
        Name of its class.
    objective : float
        Of the model, in its own package's scaling; the sum where there are several problems.
    bound : float
        No coefficients have a smaller objective.
    best : float
        The smallest objective found on the way: the optimum lies between ``bound`` and ``best``.
    gap : float
        (objective − bound)/max(|objective|, δ). δ is what the loss would change by if all outputs
        were larger by a share of 1e-8, half of the digits that they have: of a perfect fit (y is
        constant, say) the objective is their rounding, and no measure of anything. Both have the
        units of the objective. Where both are 0, the difference itself.
    worst : str
        Where most of the gap is.
    assumed : tuple of str
        Which objective it is.
    of_features, of_rows : ndarray
        Parts of the gap, not negative, in units of the objective; their sum is it, where the bound
        is of the same dual point. Summed over the problems.
    names : ndarray of shape (n_features,)
        Of the features; a charged intercept is the last.
    """

    model: str
    objective: float
    bound: float
    best: float
    gap: float
    worst: str
    assumed: tuple[str, ...]
    of_features: Vector = field(repr=False)
    of_rows: Vector = field(repr=False)
    names: Vector = field(repr=False)
    _proved: tuple[Answer, ...] = field(default=(), repr=False)
    _y: NDArray[Any] = field(default_factory=lambda: np.zeros(0), repr=False)

    def save(self, path: Any, *, output: int | None = None, data: Any = None) -> Path:
        """Write the proof to a file that ``examples/check_certificate.py`` verifies in fractions.

        The file has the coefficients, the dual point, the largest scores, and of the data a hash,
        with objective and bound rounded outward (:mod:`cgboost.proofs.proof_files`). The checker
        reads a table: the features, and y in its last column, as a CSV file with a line of names or
        a .npy file. Labels that are not numbers are numbered there in their order. Of a CVXPY
        problem it has the rows of the loss and what they are compared with.

        Parameters
        ----------
        path : str or path-like
            Usually ``proof.json``.
        output : int or None
            Which of several problems, where there is one for each class: a file is about one.
        data : str, path-like or None
            Also write that table, to a .npy or .csv file. Of kernel machines, whose features are
            the values of the kernels, and of CVXPY problems it is written in any case, to the name
            of the certificate with .npy by default.

        Returns
        -------
        path : Path

        Raises
        ------
        CertificateError
            For a loss whose values are no fractions (log loss, exponential, Poisson, expectile), a
            level that the loss chooses (nu), a joint problem of all classes or several responses.
        """
        n_problems = len(self._proved)
        if (output is None and n_problems > 1) or not 0 <= (output or 0) < n_problems:
            raise CertificateError(
                f"the {self.model} has {n_problems} problems, and a file is about one: give "
                f"output=0, …, {n_problems - 1}, not {output!r}"
            )
        answer, file = self._proved[output or 0], Path(path)
        proof, table = fit_proof(
            answer.problem, answer.given, answer.dual, self._y, model=self.model,
            assumed=self.assumed,
        )  # fmt: skip
        if data is None and answer.problem.of_columns:
            data = file.with_suffix(".npy")
        if data is not None:
            if Path(data).resolve() == file.resolve():
                raise CertificateError(f"{path} would be both proof and data: give two names")
            write_table(data, table)
        return write_proof(file, proof)

    def __str__(self) -> str:
        better = self.objective - self.best
        found = f", {better:.3g} lower than the model's" if better > 0 else ""
        kind = "relative" if abs(self.objective) > SMALLEST else "absolute"
        return (
            f"{self.model}: objective {self.objective:.8g}, at most {self.gap:.2g} ({kind}) "
            f"above the optimum, which is between {self.bound:.8g} and {self.best:.8g}{found}\n"
            f"worst: {self.worst}\n"
            f"assumed: {'; '.join(self.assumed)}"
        )


def certify(model: Any, X: Any = None, y: Any = None, sample_weight: Any = None) -> Certificate:
    """How far a fitted model is from the optimum of the problem that it was fitted to.

    A lower bound on the objective of all models of the class comes from a dual point: at first the
    model's own residuals, scaled until no feature violates its constraint; where that says little,
    from a point nearer to the optimum, until at most a third of the gap can be the bound's fault.
    Machines with a kernel come with a dual point, their coefficients, which steps along pairs of
    rows make better: of one that was stopped early some half of the gap may be that point's fault.
    Of cgboost's own models objective and bound are computed anew, the bound by an exact pass over
    all columns: until they are as near as the ``tol`` of the fit, and nothing else of it is used.

    Parameters
    ----------
    model : estimator or cvxpy.Problem
        A solved problem of a loss and a penalty, which has its data; or, fitted, scikit-learn's
        LinearSVC, LinearSVR, SVC, NuSVC, SVR, NuSVR, OneClassSVM,
        SGDClassifier, SGDRegressor, Lasso, ElasticNet, Ridge, RidgeClassifier, LogisticRegression,
        HuberRegressor, PoissonRegressor, QuantileRegressor, their CV versions, Lasso, ElasticNet,
        LinearSVC, SparseLogisticRegression of skglm, Lasso, ElasticNet and LogisticRegression of
        celer, SparseLinearRegressor, SparseLinearClassifier, CGBoostRegressor, CGBoostClassifier,
        CGBoostOutlierDetector, LPBoostRegressor, LPBoostClassifier (over stumps) and
        RuleSetRegressor, RuleSetClassifier (without a budget) of cgboost, or a pipeline that ends
        in one.
    X : array-like, frame or sparse matrix of shape (n_rows, n_features)
        The rows that it was fitted to; not of a ``cvxpy.Problem``.
    y : array-like of shape (n_rows,)
        None for a OneClassSVM or a CGBoostOutlierDetector, which have no target.
    sample_weight : array-like of shape (n_rows,) or None
        As in ``fit``.

    Returns
    -------
    Certificate

    Raises
    ------
    CertificateError
        Where the model's problem is not convex or not known, or X is not what it was fitted to.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.svm import LinearSVC
    >>> from cgboost import certify
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVC(max_iter=20, random_state=0).fit(X, y)
    >>> certify(model, X, y).gap > 0.1
    True
    """
    tol, given = PROVEN_GAP, None
    if is_cvxpy(model):
        last, (reading, data) = model, reading_of_cvxpy(model, X, y, sample_weight)
    else:
        last, X, y, names = _rows_seen(model, X, y)
        if is_own(last):
            own = reading_of_own(last, X, y, sample_weight)
            reading, data, given, tol = own.reading, own.data, own.given, max(own.tol, PROVEN_GAP)
        else:
            data = _named(data_of(X, y, sample_weight), names)
            if type(last).__name__ in MACHINES:
                return _of_machine(last, data)
            reading = reading_of(last, data)

    def enough(given: Point, best: Point, dual: DualPoint) -> bool:
        gap = given.objective - dual.bound
        small = gap <= tol * abs(given.objective)
        return small or gap <= TIGHT_ENOUGH * (given.objective - best.objective)

    return _certificate(last, data, reading.assumed, _searched(reading, enough, tol, given))


def polish(model: Any, X: Any = None, y: Any = None, sample_weight: Any = None) -> Any:
    """A copy of a fitted model at the optimum of its problem.

    Begins with the model's coefficients and ends at a relative gap of 1e-8, or warns. A machine
    with a kernel is fitted again by libsvm, at a smaller tolerance, and so are models of cgboost.
    Libsvm does not get there with features of very different scales: scale these first.

    Parameters
    ----------
    model, X, y, sample_weight
        As for :func:`certify`.

    Returns
    -------
    estimator
        Of the same class, with ``coef_`` and ``intercept_`` of the optimum, and its
        :class:`Certificate` as ``certificate_``.

    Raises
    ------
    CertificateError
        As :func:`certify`, and for problems of CVXPY.

    Warns
    -----
    ConvergenceWarning
        Where the gap ends above 1e-6.
    """
    if is_cvxpy(model):
        raise CertificateError("polish takes estimators: solve the problem to a smaller tolerance")
    polished = copy.deepcopy(model)
    last, X, y, names = _rows_seen(polished, X, y)
    if is_own(last):
        return _told(_refitted(polished, last, X, y, sample_weight, tol=OWN_POLISHED_TOL))
    data = _named(data_of(X, y, sample_weight), names)
    if type(last).__name__ in MACHINES:
        limit = MOST_STEPS + STEPS_A_ROW * data.X.shape[0]
        own = {"tol": FINEST_TOL, "max_iter": limit}
        return _told(_refitted(polished, last, data.X, data.y, sample_weight, **own))

    def enough(given: Point, best: Point, dual: DualPoint) -> bool:
        return best.objective - dual.bound <= POLISHED_GAP * abs(best.objective)

    reading = reading_of(last, data)
    searches = _searched(reading, enough, POLISHED_GAP)
    best = [search.best for search in searches]
    assert reading.write is not None  # of every estimator
    reading.write(last, [point.coef for point in best], [point.intercept for point in best])
    for search in searches:
        search.given = search.best
    certificate = _certificate(last, data, reading.assumed, searches)
    if hasattr(last, "dual_gap_"):
        last.dual_gap_ = certificate.objective - certificate.bound
    polished.certificate_ = certificate
    return _told(polished)


def _told(polished: Any) -> Any:
    """A polished model, with a warning where it is not as near as it should be."""
    if not polished.certificate_.gap <= FAR_GAP:
        warnings.warn(
            f"polish ended at a gap of {polished.certificate_.gap:.1g}: features of very "
            "different scales, or a very large C, leave float64 few digits; scale them first",
            ConvergenceWarning,
            stacklevel=3,
        )
    return polished


@dataclass(frozen=True, eq=False)
class Answer:
    """A problem with the model's point, the best one and the best dual."""

    problem: LinearProblem | MachineProblem | FamilyProblem
    given: Point
    best: Point
    dual: DualPoint


def _rows_seen(model: Any, X: Any, y: Any) -> tuple[Any, Any, Any, NDArray[Any] | None]:
    """The model itself, rows and targets as it saw them, and the names of the features."""
    if X is None:
        raise CertificateError("X is missing: give the rows that the model was fitted to")
    last = model[-1] if isinstance(model, Pipeline) else model
    if type(last).__name__ in WITHOUT_TARGET:
        y = None
    elif y is None:
        raise CertificateError("y is missing: give the targets that the model was fitted to")
    if isinstance(model, Pipeline):
        names = None
        if len(model.steps) > 1:
            with contextlib.suppress(AttributeError, ValueError, NotFittedError):
                names = model[:-1].get_feature_names_out()
        return last, model[:-1].transform(X), y, names
    check_names(X, model)
    return model, X, y, None


def _named(data: Data, names: NDArray[Any] | None) -> Data:
    """With names of features, where they have none."""
    return data if data.names is not None else replace(data, names=names)


def _searched(
    reading: Reading, enough: Any, tol: float, given: Sequence[Point] | None = None
) -> list[Search]:
    """The searches of all problems, from the model's points."""
    found = []
    if given is None:
        points = zip(reading.problems, reading.coef, reading.intercept, strict=True)
        given = [problem.at(coef, b) for problem, coef, b in points]
    for problem, point in zip(reading.problems, given, strict=True):
        _check_finite(point)
        search = Search(problem, point, enough)
        come_nearer(search, 0.1 * tol)
        found.append(search)
    return found


def _of_machine(model: Any, data: Data) -> Certificate:
    check_is_fitted(model)
    width = getattr(model, "n_features_in_", data.X.shape[1])  # of a kernel that is a function
    check_features(data.X, width, type(model).__name__)
    check_classes(model, data.y)
    found, assumed = machine_problems(model, data.X, data.y, data.weights)
    for _, point, _ in found:
        _check_finite(point)
    return _certificate(model, data, assumed, [Answer(p, at, at, dual) for p, at, dual in found])


def _refitted(polished: Any, last: Any, X: Any, y: Any, sample_weight: Any, **finest: Any) -> Any:
    """Fitted again at a smaller tolerance, where that makes it better."""
    own, given = last.get_params(), certify(last, X, y, sample_weight)
    finest = {name: value for name, value in finest.items() if name in own}
    better = clone(last).set_params(**finest)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is left is said by the certificate
        better.fit(X, y, **weights)
    better.set_params(**{name: own[name] for name in finest})
    if hasattr(last, "feature_names_in_"):
        better.feature_names_in_ = last.feature_names_in_
    certificate = certify(better, X, y, sample_weight)
    if certificate.objective > given.objective:
        better, certificate = last, given
    if isinstance(polished, Pipeline):
        polished.steps[-1] = (polished.steps[-1][0], better)
    else:
        polished = better
    polished.certificate_ = certificate
    return polished


def _certificate(
    model: Any, data: Data, assumed: Sequence[str], answers: Sequence[Search | Answer]
) -> Certificate:
    parts = [answer.problem.parts(answer.given, answer.dual) for answer in answers]
    objective = float(sum(answer.given.objective for answer in answers))
    bound = float(sum(answer.dual.bound for answer in answers))
    names = data.names if data.names is not None else np.arange(data.X.shape[1]).astype(object)
    if getattr(answers[0].problem, "charged", False):
        names = np.append(names, "intercept")
    scale = max(abs(objective), sum(_half_digits(one.problem, one.given) for one in answers))
    of_rows = np.zeros(len(data.y))
    for answer, (rows, _) in zip(answers, parts, strict=True):
        of_rows[answer.problem.rows_used] += rows
    return Certificate(
        model=type(model).__name__,
        objective=objective,
        bound=bound,
        best=float(sum(answer.best.objective for answer in answers)),
        gap=relative_gap(objective, bound, scale if scale > SMALLEST else 1.0),
        worst=_worst([answer.problem for answer in answers], parts, names),
        assumed=tuple(assumed),
        of_rows=of_rows,
        of_features=np.sum([features for _, features in parts], axis=0),
        names=names,
        _proved=tuple(Answer(one.problem, one.given, one.best, one.dual) for one in answers),
        _y=data.y,
    )


def _half_digits(problem: LinearProblem | MachineProblem | FamilyProblem, point: Point) -> float:
    """What the loss changes by if the outputs are larger by half of their digits."""
    rows, output = problem.rows, point.output
    change = rows.values((1.0 + HALF_OF_THE_DIGITS) * output) - rows.values(output)
    return abs(float(getattr(problem, "unit", 1.0)) * float(change.sum()))


def _check_finite(point: Point) -> None:
    """Raise CertificateError where the objective is no number, and say of what."""
    if np.isfinite(point.objective):
        return
    for name, values in ("coef_", point.coef), ("intercept_", point.intercept):
        if not np.isfinite(values).all():
            wrong = np.ravel(values)[~np.isfinite(np.ravel(values))][0]
            raise CertificateError(
                f"{name} of the model has the value {wrong}: the fit overflowed, or its problem "
                "has no minimum, as where all y of a PoissonRegressor are 0"
            )
    raise CertificateError(
        f"the objective of the model is {point.objective}, with outputs up to "
        f"{np.abs(point.output).max(initial=0.0):.3g}: give X and y of the fit, or scale them"
    )


def _worst(
    problems: Sequence[LinearProblem | MachineProblem | FamilyProblem],
    parts: Sequence[tuple[Vector, Vector]],
    names: Vector,
) -> str:
    """The largest part of the gap, in words."""
    total = sum(float(rows.sum() + features.sum()) for rows, features in parts)
    k = int(np.argmax([max(rows.max(), features.max()) for rows, features in parts]))
    rows, features = parts[k]
    of = f" of {problems[k].name}" if problems[k].name else ""
    if features.max() >= rows.max():
        j, size = int(features.argmax()), float(features.max())
        where = f"feature {names[j]!r}" if isinstance(names[j], str) else f"feature {names[j]}"
        where = "the intercept" if str(names[j]) == "intercept" else where
        where = str(names[j]) if isinstance(problems[k], FamilyProblem) else where
    else:
        row = problems[k].rows_used[int(rows.argmax())]
        where, size = f"row {row}", float(rows.max())
    return f"{where}{of}, {size / total:.0%} of the gap" if total > 0 else "nothing"
