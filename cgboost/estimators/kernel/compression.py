"""Compression of fitted kernel machines: few free centres that reproduce their function."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector, blocks_of
from cgboost.estimators.common.fitted_methods import StoredEstimator
from cgboost.estimators.common.input_checks import validate_data
from cgboost.estimators.common.sklearn_bases import ClassifierMixin, OutlierMixin, RegressorMixin
from cgboost.estimators.common.training_rows import FLOATS
from cgboost.estimators.kernel.given_machines import Expansions, GivenMachine, Kind, given_machine
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel, kernel_values
from cgboost.kernels.definite import check_definite
from cgboost.kernels.expansions import ROWS_AT_ONCE
from cgboost.kernels.kernel_family import KernelHypothesis
from cgboost.kernels.scaling import scaled
from cgboost.pricing.centres.agreement import Agreement, Importance, rounded_up
from cgboost.pricing.centres.free_centre_pricer import check_gradients, narrowed
from cgboost.pricing.centres.polishing import polished_stages
from cgboost.pricing.centres.projection import CentreSets

Matrix = NDArray[np.float64]

SHARE_OF_NORM = 0.01
"""Weight of the squared distance of functions next to that of their values on the rows, relative
to those of the given function: rows say what matters, the norm what they leave open."""

SHARE_OF_PAIRS = 0.003
"""The same where an output is a pair of classes: there rows of other classes do it, too."""

NEAR_BORDER = 0.2
"""Decisions count by 1/(NEAR_BORDER + m)², m their distance from the border: its median is 1."""

OTHER_PAIRS = 0.1
"""What a row counts for the pairs of classes without the one that is decided."""

SYSTEMS = 3
"""Outputs have weights of their own while their systems take at most so many times what the sums
over the rows take."""

VECTORS_A_CENTRE = 10
"""One centre for so many vectors, where neither ``size`` nor ``loss`` is given."""

HALVINGS = 3
"""Numbers of centres that are tried between the last one that is too small and its double."""

CHECKED_ROWS = 200
"""Rows on which the given machine is asked what it says."""

SAME_OUTPUT = 1e-4
"""Its values and ours differ by less, relative to the largest: machines of float32 too."""

NO_VARIANCE = 1e-9
"""Outputs whose variance is less, relative to their mean square, are constant: it is rounding."""

NEAR_NOTHING = 1e-12
"""Outputs of this size, relative to the sum of all coefficients, are 0."""


class KernelMachine(StoredEstimator):
    """Σ_j coef_jo k(x, z_j) + b_o: what :func:`compress` returns.

    It is fitted already: ``fit`` changes nothing, as that of scikit-learn's ``FrozenEstimator``.
    Files (:meth:`save`), ONNX (:meth:`to_onnx`) and plain arrays (:meth:`to_numpy`) can have it.

    Attributes
    ----------
    centers_ : ndarray of shape (n_centers, n_features)
        In the units of X.
    dual_coef_ : ndarray of shape (n_centers, n_outputs)
    intercept_ : ndarray of shape (n_outputs,)
        That of the given machine.
    agreement_bound_ : ndarray of shape (n_outputs,)
        ε_o, at least ‖f_o − g_o‖ in the space of the kernel, for the given function f_o and this
        one, g_o: |f_o(x) − g_o(x)| ≤ ε_o √k(x, x) for every x (:meth:`agreement`).
    disagreement_ : float
        On the rows given to :func:`compress`: the share of decisions that differ or, of numbers,
        Σ(f − g)²/Σ(f − mean f)², the mean over the outputs.
    n_vectors_ : int
        Of the given machine.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Where the given machine has them.
    """

    _parts: list[Expansions]
    intercept_: Matrix
    agreement_bound_: Vector
    disagreement_: float
    n_vectors_: int
    _flat: bool = True
    _border: float = 0.0

    @property
    def centers_(self) -> Matrix:
        """The centres of all kernels, in the units of X."""
        return np.vstack([_unscaled(part) for part in self._parts])

    @property
    def dual_coef_(self) -> Matrix:
        """The coefficients of the centres, shape (n_centers, n_outputs)."""
        return np.vstack([part.coef for part in self._parts])

    @property
    def hypotheses_(self) -> list[KernelHypothesis]:
        """The functions k(·, z_j), in the order of ``centers_``."""
        return [
            KernelHypothesis(part.family, -1, centre)
            for part in self._parts
            for centre in part.vectors
        ]

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """The machine as it is."""
        check_is_fitted(self)
        return self

    def __sklearn_clone__(self) -> Self:
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The class and, of a machine that :func:`compress` has made, what it is."""
        name = f"{type(self).__name__}()"
        if not self.__sklearn_is_fitted__():
            return name
        low, high = self.agreement_bound_.min(), self.agreement_bound_.max()
        bounds = f"{low:.2g}" if low == high else f"{low:.2g} to {high:.2g}"
        return (
            f"{name}\n  {len(self.centers_)} centers instead of {self.n_vectors_} vectors, "
            f"disagreement {self.disagreement_:.2g} on its rows, agreement bound {bounds}"
        )

    def outputs(self, X: ArrayLike) -> Matrix:
        """Σ_j coef_jo k(x, z_j) + b_o, shape (n_rows, n_outputs).

        One output for two classes and for outliers; of more classes one for each pair (1 | 2,
        1 | 3, …, positive for the first), or for each class, as the given machine has them.
        """
        return self._outputs(X)

    def agreement(self, X: ArrayLike) -> Matrix:
        """How far the outputs may be from those of the given machine: ε_o √k(x, x).

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
            One column for each of the :meth:`outputs`.
        """
        X = self._rows(X)
        squares = np.zeros(len(X))
        for family in (part.family for part in self._parts):
            squares += np.abs(family.kernel.diagonal(scaled(X, family.scaler)))
        return np.outer(np.sqrt(squares), self.agreement_bound_)

    def to_numpy(self) -> dict[str, Any]:
        """The machine as plain arrays.

        Returns
        -------
        dict
            ``centers`` as the kernels see them, ``coef``, ``intercept``; ``kernels``, one line for
            each kernel, and ``kernel``, the number of that of each centre; ``mean`` and ``scale``,
            where kernels see (x − mean)/scale; ``classes`` of a classifier. With one kernel, the
            outputs are k(x, centers) @ coef + intercept, for ``RBF`` with k(x, z) =
            exp(−gamma‖x − z‖²). Of more than two classes with an output for each pair, 0 | 1,
            0 | 2, …, 1 | 2, …, each says the first if it is positive, and the most said class is
            the label.
        """
        check_is_fitted(self, "agreement_bound_")
        sizes = [len(part.vectors) for part in self._parts]
        arrays: dict[str, Any] = {
            "centers": np.vstack([part.vectors for part in self._parts]),
            "coef": self.dual_coef_,
            "intercept": self.intercept_,
            "kernel": np.repeat(np.arange(len(sizes)), sizes),
            "kernels": [str(part.family.kernel) for part in self._parts],
        }
        scaler: Any = self._parts[0].family.scaler
        if scaler is not None:
            origin = np.zeros((1, self.n_features_in_))
            arrays["mean"] = scaler.inverse_transform(origin)[0]
            arrays["scale"] = scaler.inverse_transform(origin + 1.0)[0] - arrays["mean"]
        return arrays | ({"classes": self.classes_} if hasattr(self, "classes_") else {})

    def _rows(self, X: ArrayLike) -> Matrix:
        check_is_fitted(self, "agreement_bound_")
        rows: Matrix = validate_data(self, X, reset=False, dtype=FLOATS)
        return rows

    def _outputs(self, X: ArrayLike) -> Matrix:
        """Outputs, shape (n_rows, n_outputs)."""
        return _values(self._parts, self._rows(X)) + self.intercept_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "agreement_bound_")


class CompressedClassifier(ClassifierMixin, KernelMachine):
    """A classifier that :func:`compress` has made, with the attributes of :class:`KernelMachine`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    """

    classes_: NDArray[Any]
    _pairwise: bool = False
    _shows_pairs: bool = False
    _breaks_ties: bool = False

    def decision_function(self, X: ArrayLike) -> Vector:
        """Shape (n_rows,) of two classes, else (n_rows, n_classes).

        Of a machine of pairs of classes the votes, and between equal ones the sums of outputs, as
        scikit-learn's ``SVC`` has them; the :meth:`outputs` themselves for
        ``decision_function_shape="ovo"``.
        """
        outputs = self._outputs(X)
        if len(self.classes_) == 2:
            return outputs[:, 0]
        return outputs if self._shows_pairs else self._of_classes(outputs)

    def _of_classes(self, outputs: Matrix) -> Matrix:
        """Decisions for each class, shape (n_rows, n_classes)."""
        if not self._pairwise:
            return outputs
        first, second = self.pairs
        sums = outputs @ (first - second)
        decisions: Vector = self._votes(outputs) + sums / (3.0 * (np.abs(sums) + 1.0))
        return decisions

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label of every row, shape (n_rows,)."""
        decided = self._decided(self._outputs(X))
        labels: NDArray[Any] = self.classes_[decided]
        return labels

    def _decided(self, outputs: Matrix) -> NDArray[np.intp]:
        if len(self.classes_) == 2:
            return (outputs[:, 0] > 0).astype(np.intp)
        if self._pairwise and not self._breaks_ties:
            return self._votes(outputs).argmax(axis=1)
        return self._of_classes(outputs).argmax(axis=1)

    @property
    def pairs(self) -> tuple[Matrix, Matrix]:
        """The first and the second class of every pair, 0 or 1 of shape (n_pairs, n_classes)."""
        unit = np.eye(len(self.classes_))
        first, second = zip(*combinations(range(len(unit)), 2), strict=True)
        return unit[list(first)], unit[list(second)]

    def _votes(self, outputs: Matrix) -> Matrix:
        """Pairs that every class wins, shape (n_rows, n_classes)."""
        first, second = self.pairs
        won = (outputs > 0).astype(np.float64)
        return won @ first + (1.0 - won) @ second


class CompressedRegressor(RegressorMixin, KernelMachine):
    """A regressor that :func:`compress` has made, with the attributes of :class:`KernelMachine`."""

    def predict(self, X: ArrayLike) -> Vector:
        """Numbers, shape (n_rows,) or (n_rows, n_outputs)."""
        outputs = self._outputs(X)
        return outputs[:, 0] if self._flat else outputs


class CompressedOutlierDetector(OutlierMixin, KernelMachine):
    """A detector that :func:`compress` has made, with the attributes of :class:`KernelMachine`."""

    @property
    def offset_(self) -> float:
        """``decision_function(X) = score_samples(X) − offset_``."""
        return -float(self.intercept_[0])

    def decision_function(self, X: ArrayLike) -> Vector:
        """Negative for outliers, shape (n_rows,)."""
        return self._outputs(X)[:, 0]

    def score_samples(self, X: ArrayLike) -> Vector:
        """The sum without the offset, shape (n_rows,)."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """1 for normal rows, −1 for outliers, shape (n_rows,)."""
        return np.where(self._decided(self._outputs(X)), 1, -1)

    def _decided(self, outputs: Matrix) -> NDArray[np.intp]:
        return (outputs[:, 0] > -self._border).astype(np.intp)


MACHINES: dict[str, type[Any]] = {
    "classifier": CompressedClassifier,
    "regressor": CompressedRegressor,
    "detector": CompressedOutlierDetector,
}


def compress(
    fitted: Any,
    X: ArrayLike,
    *,
    size: int | None = None,
    loss: float | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> Any:
    """A kernel machine with few free centres that reproduces a given one.

    The centres z_j are no rows: all of them and their coefficients minimise the squared distance
    from the given outputs f_o on the rows of X, and a little of that in the space of the kernel,

        ½ Σ_i Σ_o W_io (f_o(x_i) − g_o(x_i))² + ½ λ Σ_o ‖f_o − g_o‖²,   g_o = Σ_j β_jo k(·, z_j),

    all outputs (pairs of classes, classes, responses) over the same centres. W is 1 for numbers; of
    decisions, rows near a border count more, and of pairs of classes those with the class decided.
    Labels are not asked for. The reduced sets of Burges (1996) and Schölkopf et al. (1999) minimise
    the norm alone, one output at a time.

    Parameters
    ----------
    fitted : estimator, or Pipeline that ends with one
        A fitted :class:`CGBoostClassifier`, :class:`CGBoostRegressor` or
        :class:`CGBoostOutlierDetector`, or scikit-learn's ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR``,
        ``OneClassSVM``, ``KernelRidge`` or ``GaussianProcessRegressor`` (its mean). The kernel has
        a gradient by its centre: ``"rbf"``, ``"poly"``, ``"linear"``, Matérn, …
    X : array-like of shape (n_rows, n_features)
        Where the two have to agree: the training rows, or others like those to come. Dense numbers.
    size : int or None
        Number of centres.
    loss : float or None
        Instead of ``size``: few centres with a ``disagreement_`` of at most this: of classifiers
        and detectors the share of rows of X whose decisions differ, of others
        Σ(f − g)²/Σ(f − mean f)², the mean over the outputs. The number is doubled until it has, and
        then halved between the last two. If neither is given, there is one centre for ten vectors.
    random_state : int, RandomState or None
        For the k-means that centres begin with.
    verbose : int
        1: a line for each number of centres that is tried.

    Returns
    -------
    machine : CompressedClassifier, CompressedRegressor or CompressedOutlierDetector
        With ``agreement_bound_``, ``disagreement_``, ``centers_`` and the other attributes and
        methods of :class:`~cgboost.estimators.kernel.compression.KernelMachine`. For a Pipeline a
        Pipeline, with the same fitted steps before it: these are its last step's, ``[-1]``. If as
        many centres are asked for as there are vectors, or half of them have not the loss, the
        vectors themselves are the centres, and the bound is 0, up to rounding. There are at most as
        many centres as rows.

    Raises
    ------
    TypeError
        If ``fitted`` is no kernel machine, or X is None.
    KernelError
        For a kernel without a space of functions (sigmoid, or negative eigenvalues over the
        vectors) or without a gradient, sparse rows, and a machine whose outputs are not those of
        its vectors.
    ValueError
        For a size or loss that is none.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.svm import SVC
    >>> from cgboost import compress
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> machine = SVC(C=10).fit(X, y)
    >>> small = compress(machine, X, size=8, random_state=0)
    >>> len(machine.support_), len(small.centers_), small.disagreement_ < 0.01
    (93, 8, True)
    """
    from sklearn.pipeline import Pipeline  # with a progress bar behind it

    if X is None:
        raise TypeError(
            "compress needs X, rows on which the two machines have to agree, got None: give those "
            "of the fit, or others like those to come; labels are not needed"
        )
    if isinstance(fitted, Pipeline):
        before, last = fitted[:-1], fitted[-1]
        own = before.transform(X) if len(before) else X
        made = compress(last, own, size=size, loss=loss, random_state=random_state, verbose=verbose)
        steps = [*fitted.steps[:-1], (fitted.steps[-1][0], made)]
        return Pipeline(steps, memory=fitted.memory, verbose=fitted.verbose)
    given = _of_compressed(fitted) if isinstance(fitted, KernelMachine) else given_machine(fitted)
    _check(size, loss)
    machine = MACHINES[given.kind]()
    _take_over(machine, fitted, given)
    rows = machine._rows(X)
    if not given.n_vectors:
        return machine
    task = _task(given, rows)
    _check_same(given, X, rows, task.values)
    wanted = given.n_vectors // VECTORS_A_CENTRE if size is None else size
    if wanted >= given.n_vectors and loss is None:
        return machine
    for part in given.parts:
        check_definite(part.family.name, part.family.kernel, part.vectors)
    if _is_nothing(given, task):  # a constant, as over rows that are all 0
        machine._parts = [replace(p, vectors=p.vectors[:0], coef=p.coef[:0]) for p in given.parts]
        machine.agreement_bound_ = _distances(given.parts, machine._parts, task.squares)
        return machine

    def attempt(count: int) -> tuple[list[Expansions], float]:
        random = check_random_state(random_state)
        agreement = _agreement(given, task, _importance(machine, task, count))
        (polished,) = polished_stages(agreement, [count], random=random)
        parts = _parts_of(given, task, agreement, polished.centres)
        own = _disagreement(machine, task.values[: len(rows)], _values(parts, rows))
        if verbose:
            sys.stderr.write(f"{count} centers: disagreement {own:.2g}\n")
        return parts, own

    found = attempt(max(1, wanted)) if loss is None else _fewest(attempt, loss, given.n_vectors)
    if found is not None:
        machine._parts, machine.disagreement_ = found
        machine.agreement_bound_ = _distances(given.parts, machine._parts, task.squares)
    return machine


def _of_compressed(model: Any) -> GivenMachine:
    check_is_fitted(model)
    own = vars(model)
    kind: Kind = "classifier" if "classes_" in own else "regressor"
    if hasattr(model, "score_samples"):
        kind = "detector"
    names = ("_pairwise", "_shows_pairs", "_breaks_ties", "_border", "_flat")
    kept = {name[1:]: own[name] for name in names if name in own}
    parts, intercept = list(model._parts), model.intercept_
    return GivenMachine(
        parts, model.n_features_in_, intercept, kind, model.outputs, own.get("classes_"), **kept
    )


def _check(size: Any, loss: Any) -> None:
    if size is not None and loss is not None:
        raise ValueError(f"give size or loss, got size={size!r} and loss={loss!r}")
    whole = isinstance(size, numbers.Integral) and not isinstance(size, bool)
    if size is not None and not (whole and size >= 1):
        raise ValueError(f"size must be a whole number of centres, at least 1, got {size!r}")
    if loss is not None and not (isinstance(loss, int | float | np.number) and 0 <= loss < 1):
        raise ValueError(f"loss must be a number in [0, 1), got {loss!r}")


def _fewest(
    attempt: Callable[[int], tuple[list[Expansions], float]], loss: float, n_vectors: int
) -> tuple[list[Expansions], float] | None:
    """A machine of few centres that has the loss; None where half of the vectors have not."""
    found, low, high = None, 0, 1
    while found is None and high <= n_vectors // 2:
        made = attempt(high)
        found = made if made[1] <= loss else None
        low, high = (low, high) if found else (high, 2 * high)
    for _ in range(HALVINGS if found else 0):
        middle = (low + high) // 2
        if middle == low:
            break
        made = attempt(middle)
        if made[1] <= loss:
            found, high = made, middle
        else:
            low = middle
    return found


def _take_over(machine: Any, fitted: Any, given: GivenMachine) -> None:
    """The given machine itself: what it has, all its vectors, a bound of 0."""
    machine.intercept_ = np.array(given.intercept, dtype=np.float64)
    machine.n_vectors_, machine.disagreement_ = given.n_vectors, 0.0
    machine._parts = given.parts
    machine.agreement_bound_ = np.zeros(len(given.intercept))
    machine.n_features_in_ = given.n_features
    if hasattr(fitted, "feature_names_in_"):
        machine.feature_names_in_ = fitted.feature_names_in_
    machine._flat, machine._border = given.flat, given.border
    if given.kind == "classifier":
        machine.classes_, machine._pairwise = given.classes, given.pairwise
        machine._shows_pairs, machine._breaks_ties = given.shows_pairs, given.breaks_ties


def _check_same(given: GivenMachine, X: Any, rows: Matrix, values: Matrix) -> None:
    """Raise KernelError unless the outputs of all vectors are what the given machine says."""
    some = X[:CHECKED_ROWS] if hasattr(X, "shape") else rows[:CHECKED_ROWS]
    computed = values[: min(CHECKED_ROWS, len(rows))] + given.intercept
    said = np.asarray(given.says(some), dtype=np.float64).reshape(len(computed), -1)
    off = np.abs(computed - said) if said.shape == computed.shape else np.full((1, 1), np.inf)
    if off.max() > SAME_OUTPUT * (1.0 + np.abs(said).max()):
        row, output = np.unravel_index(off.argmax(), off.shape)
        raise KernelError(
            f"the vectors and coefficients of this machine add up to {computed[row, output]:.6g} "
            f"in row {row} of X, and the machine says {said[row, output]:.6g}: it was changed "
            "after its fit, transforms its outputs (a Poisson loss), or has kernel values so large "
            "that their sums lose all digits (scale the features)"
        )


def _values(parts: Sequence[Expansions], X: Matrix) -> Matrix:
    """Σ_i A_io k(x, v_i) on rows, shape (n_rows, n_outputs)."""
    seen = scaled(X, parts[0].family.scaler)
    values = np.zeros((len(X), parts[0].coef.shape[1]))
    for start in range(0, len(X), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        for part in (part for part in parts if len(part.vectors)):
            kernel = part.family.kernel
            values[rows] += (
                kernel_values(part.family.name, kernel, seen[rows], part.vectors) @ part.coef
            )
    return values


@dataclass(frozen=True, eq=False)
class _Task:
    """Rows on which two machines have to agree, and what the given one is there.

    Attributes
    ----------
    rows : ndarray of shape (n_all_rows, n_features)
        As the kernels see them; behind them the vectors that are no rows.
    n_rows : int
        Those before these vectors.
    coef : list of ndarray of shape (n_all_rows, n_outputs)
        Of every kernel; 0 in rows that are no vectors.
    values : ndarray of shape (n_all_rows, n_outputs)
        Σ_p f_po.
    squares : list of ndarray of shape (n_outputs,)
        ‖f_po‖² = Σ_i A_pio f_po(v_pi) of every kernel p, as computed.
    """

    rows: Matrix
    n_rows: int
    coef: list[Matrix]
    values: Matrix
    squares: list[Vector]


def _task(given: GivenMachine, X: Matrix) -> _Task:
    seen = np.asarray(scaled(X, given.parts[0].family.scaler), dtype=np.float64)
    vectors = [np.ascontiguousarray(part.vectors, dtype=np.float64) for part in given.parts]
    place: dict[bytes, int] = {vector.tobytes(): -1 for V in vectors for vector in V}
    for i, row in enumerate(seen):
        if place.get(key := row.tobytes()) == -1:
            place[key] = i
    behind = [np.frombuffer(key) for key, i in place.items() if i == -1]
    place |= {vector.tobytes(): len(seen) + i for i, vector in enumerate(behind)}
    rows = np.vstack([seen, *behind])
    coef = []
    for V, part in zip(vectors, given.parts, strict=True):
        own = np.zeros((len(rows), part.coef.shape[1]))
        np.add.at(own, [place[vector.tobytes()] for vector in V], part.coef)  # equal ones add up
        coef.append(own)
    values = np.zeros_like(coef[0])
    squares = [np.zeros(values.shape[1]) for _ in coef]
    for block in blocks_of(len(rows), ROWS_AT_ONCE):
        for part, V, A, square in zip(given.parts, vectors, coef, squares, strict=True):
            if len(V):
                family = part.family
                own = kernel_values(family.name, family.kernel, rows[block], V) @ part.coef
                values[block] += own
                square += np.sum(A[block] * own, axis=0)
    return _Task(rows, len(seen), coef, values, squares)


def _importance(machine: Any, task: _Task, size: int) -> Importance:
    """Rows near a border count more, and of pairs of classes those with the one decided."""
    n_outputs = task.values.shape[1]
    rows, group = np.zeros(len(task.rows)), np.zeros(len(task.rows), dtype=np.intp)
    rows[: task.n_rows] = 1.0
    one = Importance(rows, group, np.ones((1, n_outputs)))
    if not hasattr(machine, "_decided"):
        return one
    outputs = task.values[: task.n_rows] + machine.intercept_
    if n_outputs == 1:
        distance = np.abs(outputs[:, 0] + machine._border)
    elif machine._pairwise:
        decided = machine._decided(outputs)
        first, second = machine.pairs
        signs = (first - second)[:, decided].T  # 1 or -1 where a pair has the class, else 0
        distance = np.where(signs, np.maximum(signs * outputs, 0.0), np.inf).min(axis=1)
    else:
        largest = np.partition(outputs, -2, axis=1)
        distance = largest[:, -1] - largest[:, -2]
    median = float(np.median(distance))
    if median > 0:
        rows[: task.n_rows] = (NEAR_BORDER + distance / median) ** -2.0
    if n_outputs == 1 or not machine._pairwise or n_outputs * size > SYSTEMS * task.n_rows:
        return one
    group[: task.n_rows] = decided
    return Importance(rows, group, np.maximum((first + second).T, OTHER_PAIRS))


def _agreement(given: GivenMachine, task: _Task, importance: Importance) -> Agreement:
    """The distance from the given outputs, over free centres."""
    kernels: list[Kernel] = [part.family.kernel for part in given.parts]
    sizes = max(float(np.abs(part.coef).sum(axis=0).max()) for part in given.parts)
    if np.abs(task.values[: task.n_rows]).max() <= NEAR_NOTHING * sizes:
        raise KernelError(
            "the outputs of the machine are its intercept in every row of X, no row is near any "
            "of its vectors: X has to be scaled as the rows that it was fitted to"
        )
    check_gradients(kernels, task.rows)
    units = _units(given, task.values[: task.n_rows])
    values = task.values / units
    norm = float(sum(np.sum(square / units**2) for square in task.squares))
    share = SHARE_OF_NORM if len(importance.outputs) == 1 else SHARE_OF_PAIRS
    return Agreement(
        kernels,
        narrowed(kernels, task.rows),
        np.ones(len(kernels)),
        [A / units for A in task.coef],
        values,
        importance,
        share * float(np.sum(importance.weights * values**2)) / norm if norm > 0 else 0.0,
        norm,
    )


def _is_nothing(given: GivenMachine, task: _Task) -> bool:
    """Whether ‖f_o‖ is 0 for every output, but for rounding."""
    sizes = [np.abs(part.coef).sum(axis=0).max() for part in given.parts]
    lengths = [np.abs(p.family.kernel.diagonal(p.vectors)).max(initial=0.0) for p in given.parts]
    largest = sum(size**2 * length for size, length in zip(sizes, lengths, strict=True))
    return bool(max(square.max() for square in task.squares) <= NEAR_NOTHING * largest)


def _units(given: GivenMachine, values: Matrix) -> Vector:
    """What a unit of each output is: responses differ in theirs, decisions are compared."""
    sizes: Vector = np.sqrt(np.mean(values**2, axis=0))
    return np.where(sizes > 0, sizes, 1.0) if given.kind == "regressor" else np.ones(len(sizes))


def _parts_of(
    given: GivenMachine, task: _Task, agreement: Agreement, centres: CentreSets
) -> list[Expansions]:
    """The best coefficients of some centres, from kernel values in float64."""
    units = _units(given, task.values[: task.n_rows])
    coef = replace(agreement, X=task.rows).best(centres).coef * units
    ends = np.cumsum([0, *map(len, centres)])
    return [
        Expansions(part.family, np.asarray(Z, dtype=np.float64), coef[start:stop])
        for part, Z, start, stop in zip(given.parts, centres, ends[:-1], ends[1:], strict=True)
    ]


def _disagreement(machine: Any, values: Matrix, own: Matrix) -> float:
    """The loss of agreement on the rows, as ``disagreement_`` says."""
    if hasattr(machine, "_decided"):
        intercept = machine.intercept_
        return float(
            np.mean(machine._decided(values + intercept) != machine._decided(own + intercept))
        )
    spread, squares = np.sum((values - values.mean(axis=0)) ** 2, axis=0), np.sum(values**2, axis=0)
    spread = np.where(spread > NO_VARIANCE * squares, spread, squares)
    off = np.sum((values - own) ** 2, axis=0)
    return float(np.mean(np.divide(off, spread, out=(off > 0) * 1.0, where=spread > 0)))


def _distances(
    given: Sequence[Expansions], found: Sequence[Expansions], squares: Sequence[Vector]
) -> Vector:
    """‖f_o − g_o‖ of every output in the sum of the spaces, at least; ``squares`` are ‖f_po‖²."""
    total = np.zeros(given[0].coef.shape[1])
    for part, new, square in zip(given, found, squares, strict=True):
        kernel, Z, B = part.family.kernel, new.vectors, new.coef
        pulled = kernel(Z, Z) @ B
        for rows in blocks_of(len(part.vectors), ROWS_AT_ONCE):
            pulled -= 2.0 * (kernel(Z, part.vectors[rows]) @ part.coef[rows])
        both, coef = np.vstack([part.vectors, Z]), np.vstack([part.coef, -B])
        total += rounded_up(kernel, both, coef, square + np.sum(B * pulled, axis=0))
    return np.sqrt(total)


def _unscaled(part: Expansions) -> Matrix:
    """The vectors in the units of X."""
    scaler: Any = part.family.scaler
    units: Matrix = part.vectors if scaler is None else scaler.inverse_transform(part.vectors)
    return units
