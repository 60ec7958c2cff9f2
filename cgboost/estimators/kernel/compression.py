"""Compression of fitted kernel machines: few free centres that reproduce their function."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_methods import StoredEstimator
from cgboost.estimators.common.input_checks import validate_data
from cgboost.estimators.common.sklearn_bases import ClassifierMixin, OutlierMixin, RegressorMixin
from cgboost.estimators.common.training_rows import FLOATS
from cgboost.estimators.kernel.given_machines import Expansions, GivenMachine, Kind, given_machine
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel, kernel_values
from cgboost.kernels.expansions import ROWS_AT_ONCE
from cgboost.kernels.kernel_family import KernelHypothesis
from cgboost.kernels.scaling import scaled
from cgboost.pricing.centres.agreement import Agreement, squared_lengths
from cgboost.pricing.centres.free_centre_pricer import check_gradients, narrowed
from cgboost.pricing.centres.polishing import polished_stages
from cgboost.pricing.centres.projection import CentreSets

Matrix = NDArray[np.float64]

SHARE_OF_NORM = 0.01
"""Weight of the squared distance of functions next to that of their values on the rows, relative
to those of the given function: rows say what matters, the norm what they leave open."""

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

        ½ Σ_i Σ_o (f_o(x_i) − g_o(x_i))² + ½ λ Σ_o ‖f_o − g_o‖²,    g_o = Σ_j β_jo k(·, z_j),

    all outputs (pairs of classes, classes, responses) over the same centres. Labels are not asked
    for. The reduced sets of Burges (1996) and Schölkopf et al. (1999) minimise the norm alone, one
    output at a time.

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
        If ``fitted`` is no kernel machine.
    KernelError
        For a kernel without a space of functions (sigmoid) or without a gradient, sparse rows, and
        a machine whose outputs are not those of its vectors.
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
    values = _values(given.parts, rows)
    _check_same(given, X, rows, values)
    wanted = given.n_vectors // VECTORS_A_CENTRE if size is None else size
    if wanted >= given.n_vectors and loss is None:
        return machine
    agreement = _agreement(given, rows, values)

    def attempt(count: int) -> tuple[list[Expansions], float]:
        random = check_random_state(random_state)
        (polished,) = polished_stages(agreement, [count], random=random)
        parts = _parts_of(given, agreement, polished.centres, rows, values)
        own = _disagreement(machine, values, _values(parts, rows))
        if verbose:
            sys.stderr.write(f"{count} centers: disagreement {own:.2g}\n")
        return parts, own

    found = attempt(max(1, wanted)) if loss is None else _fewest(attempt, loss, given.n_vectors)
    if found is not None:
        machine._parts, machine.disagreement_ = found
        machine.agreement_bound_ = _distances(given.parts, machine._parts)
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
    computed = values[:CHECKED_ROWS] + given.intercept
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


def _agreement(given: GivenMachine, rows: Matrix, values: Matrix) -> Agreement:
    """The distance from the given outputs, over free centres."""
    kernels: list[Kernel] = [part.family.kernel for part in given.parts]
    sizes = max(float(np.abs(part.coef).sum(axis=0).max()) for part in given.parts)
    if np.abs(values).max() <= NEAR_NOTHING * sizes:
        raise KernelError(
            "the outputs of the machine are its intercept in every row of X, no row is near any "
            "of its vectors: X has to be scaled as the rows that it was fitted to"
        )
    seen = np.asarray(scaled(rows, given.parts[0].family.scaler))
    check_gradients(kernels, seen)
    X = narrowed(kernels, seen)
    units = _units(given, values)
    norm = sum(
        float(squared_lengths(p.family.kernel, p.vectors, p.coef / units).sum())
        for p in given.parts
    )
    return Agreement(
        kernels,
        X,
        np.ones(len(kernels)),
        [part.vectors.astype(X.dtype) for part in given.parts],
        [part.coef / units for part in given.parts],
        values / units,
        SHARE_OF_NORM * float(np.sum((values / units) ** 2)) / norm if norm > 0 else 0.0,
        norm,
    )


def _units(given: GivenMachine, values: Matrix) -> Vector:
    """What a unit of each output is: responses differ in theirs, decisions are compared."""
    sizes: Vector = np.sqrt(np.mean(values**2, axis=0))
    return np.where(sizes > 0, sizes, 1.0) if given.kind == "regressor" else np.ones(len(sizes))


def _parts_of(
    given: GivenMachine, agreement: Agreement, centres: CentreSets, rows: Matrix, values: Matrix
) -> list[Expansions]:
    """The best coefficients of some centres, from kernel values in float64."""
    seen = np.asarray(scaled(rows, given.parts[0].family.scaler), dtype=np.float64)
    exact = replace(agreement, X=seen, vectors=[part.vectors for part in given.parts])
    coef = exact.best(centres).coef * _units(given, values)
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


def _distances(given: Sequence[Expansions], found: Sequence[Expansions]) -> Vector:
    """‖f_o − g_o‖ of every output in the sum of the spaces, at least."""
    total = np.zeros(given[0].coef.shape[1])
    own = {id(part.family): part for part in found}
    for part in given:
        Z, coef = part.vectors, part.coef
        if (new := own.get(id(part.family))) is not None:
            Z, coef = np.vstack([Z, new.vectors]), np.vstack([coef, -new.coef])
        total += squared_lengths(part.family.kernel, Z, coef)
    return np.sqrt(total)


def _unscaled(part: Expansions) -> Matrix:
    """The vectors in the units of X."""
    scaler: Any = part.family.scaler
    units: Matrix = part.vectors if scaler is None else scaler.inverse_transform(part.vectors)
    return units
