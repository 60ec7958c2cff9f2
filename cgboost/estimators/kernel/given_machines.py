"""Fitted kernel machines, ours and scikit-learn's, as sums: f_o(x) = Σ_i A_io k(x, v_i) + b_o.

scikit-learn's ``SVC`` with more than two classes has one output for each pair of classes, and its
``dual_coef_`` has for every support vector the coefficients of the pairs that its class is in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.estimators.kernel.base_kernel_boost import BaseKernelBoost
from cgboost.estimators.kernel.outlier_detector import BORDER, CGBoostOutlierDetector
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel
from cgboost.kernels.combinations import Cosine
from cgboost.kernels.gradients import no_gradient
from cgboost.kernels.kernel_family import KernelFamily, KernelHypothesis
from cgboost.kernels.numeric.distances import RBF, Matern, RationalQuadratic
from cgboost.kernels.numeric.inner_products import Linear, Polynomial
from cgboost.kernels.sparse_rows import is_sparse, stacked
from cgboost.tolerances import UNIT_ROUNDOFF

Matrix = NDArray[np.float64]
Kind = Literal["classifier", "regressor", "detector"]


@dataclass(frozen=True, eq=False)
class Expansions:
    """Σ_i A_io k(·, v_i) of one kernel, for every output o.

    Attributes
    ----------
    family : KernelFamily
        The kernel, and what it sees of a row.
    vectors : ndarray of shape (n_vectors, n_features)
        As the kernel sees them.
    coef : ndarray of shape (n_vectors, n_outputs)
        A.
    """

    family: KernelFamily
    vectors: Matrix
    coef: Matrix


@dataclass(frozen=True, eq=False)
class GivenMachine:
    """A fitted kernel machine.

    Attributes
    ----------
    parts : list of Expansions
        One for each kernel, of vectors with a coefficient that is not 0.
    n_features : int
        Of a row as it is given.
    intercept : ndarray of shape (n_outputs,)
    kind : {"classifier", "regressor", "detector"}
    says : callable
        Its own outputs on rows.
    classes : ndarray of shape (n_classes,) or None
    pairwise, shows_pairs, breaks_ties : bool
        Whether there is one output for each pair of classes, these are its decisions, and sums of
        outputs decide between classes of as many votes.
    border : float
        Of a detector: rows with outputs above minus this are normal.
    flat : bool
        Whether the numbers that it predicts have shape (n_rows,).
    """

    parts: list[Expansions]
    n_features: int
    intercept: Matrix
    kind: Kind
    says: Callable[[Any], NDArray[Any]]
    classes: NDArray[Any] | None = None
    pairwise: bool = False
    shows_pairs: bool = False
    breaks_ties: bool = False
    border: float = 0.0
    flat: bool = True

    def __post_init__(self) -> None:
        for k, part in enumerate(self.parts):
            used = np.flatnonzero(part.coef.any(axis=1))
            if len(used) < len(part.coef):
                self.parts[k] = Expansions(part.family, part.vectors[used], part.coef[used])

    @property
    def n_vectors(self) -> int:
        """Kernel values that one prediction takes."""
        return sum(len(part.vectors) for part in self.parts)


def given_machine(fitted: Any) -> GivenMachine:
    """What a fitted estimator computes.

    Raises
    ------
    TypeError
        For an estimator that is no kernel machine.
    KernelError
        For a kernel that has no space of functions, or no known formula.
    """
    for kinds, read in READERS:
        if isinstance(fitted, kinds()):
            check_is_fitted(fitted)
            return read(fitted)
    hint = ", give its best_estimator_" if hasattr(fitted, "best_estimator_") else ""
    raise TypeError(
        f"compress takes a fitted kernel machine, got {type(fitted).__name__}{hint}: cgboost's "
        "CGBoostClassifier, CGBoostRegressor or CGBoostOutlierDetector, or scikit-learn's SVC, "
        "NuSVC, SVR, NuSVR, OneClassSVM, KernelRidge or GaussianProcessRegressor"
    )


def _of_ours(model: Any) -> GivenMachine:
    outputs = [own for run in model._runs for own in run.outputs]
    terms: dict[int, list[tuple[KernelHypothesis, int, float]]] = {}
    for o, output in enumerate(outputs):
        for hypothesis, weight in zip(output.hypotheses, output.coef.tolist(), strict=True):
            if weight:
                terms.setdefault(id(hypothesis.family), []).append((hypothesis, o, weight))
    parts = []
    for own in terms.values():
        rows = {id(hypothesis): hypothesis for hypothesis, _, _ in own}
        place = {key: j for j, key in enumerate(rows)}
        coef = np.zeros((len(rows), len(outputs)))
        for hypothesis, o, weight in own:
            coef[place[id(hypothesis)], o] += weight
        family = own[0][0].family
        _check_dense_rows(family, own[0][0].centre)
        parts.append(Expansions(family, stacked([one.centre for one in rows.values()]), coef))
    intercept = np.array([float(output.intercept) for output in outputs])
    says = model.predict if not hasattr(model, "decision_function") else model.decision_function
    width = model.n_features_in_
    if hasattr(model, "classes_"):
        return GivenMachine(parts, width, intercept, "classifier", says, model.classes_)
    if isinstance(model, CGBoostOutlierDetector):
        border = BORDER * abs(model.offset_) * (1.0 + UNIT_ROUNDOFF)
        return GivenMachine(parts, width, intercept, "detector", says, border=border)
    return GivenMachine(parts, width, intercept, "regressor", says)


def _check_dense_rows(family: KernelFamily, centre: Any) -> None:
    """Raise KernelError for centres that cannot move: sparse rows, texts, rows of a matrix."""
    if family.kernel.is_precomputed:
        raise no_gradient(family.kernel)
    if is_sparse(centre) or np.asarray(centre).dtype == object:
        kind = "sparse rows" if is_sparse(centre) else "rows of objects"
        raise KernelError(
            f"this model was fitted to {kind}, and centres move in dense ones of numbers: fit it "
            "to X.toarray(), or take a model whose columns are few already (penalty='l1')"
        )


def _of_support_vectors(model: Any) -> GivenMachine:
    if model._sparse:
        raise KernelError(
            f"this {type(model).__name__} was fitted to sparse rows, and centres move in dense "
            "ones: fit it to X.toarray()"
        )
    classes = getattr(model, "classes_", None)
    kernel = _named(model.kernel, model._gamma, model.degree, model.coef0)
    vectors, coef = model.support_vectors_, model.dual_coef_.T.copy()
    if callable(model.kernel):  # it has the values of the kernel there
        vectors = model._BaseLibSVM__Xfit[model.support_]
    pairwise = classes is not None and len(classes) > 2
    if pairwise:
        coef = of_pairs(model.dual_coef_, model.n_support_)
    kind: Kind = "regressor"
    if classes is not None:
        kind = "classifier"
    elif hasattr(model, "offset_"):
        kind = "detector"
    if pairwise:
        says = model._decision_function  # of pairs
    else:
        says = model.predict if kind == "regressor" else model.decision_function
    return GivenMachine(
        [Expansions(KernelFamily(str(model.kernel), kernel), vectors, coef)],
        getattr(model, "n_features_in_", vectors.shape[1]),
        model.intercept_,
        kind,
        says,
        classes,
        pairwise,
        shows_pairs=pairwise and model.decision_function_shape == "ovo",
        breaks_ties=pairwise and model.break_ties,
    )


def of_pairs(dual_coef: Matrix, sizes: NDArray[Any]) -> Matrix:
    """Coefficients of every pair of classes, shape (n_vectors, n_pairs)."""
    ends = np.cumsum([0, *sizes])
    of_class = [slice(start, stop) for start, stop in pairwise(ends)]
    columns = []
    for i, j in combinations(range(len(sizes)), 2):
        column = np.zeros(ends[-1])
        column[of_class[i]] = dual_coef[j - 1, of_class[i]]
        column[of_class[j]] = dual_coef[i, of_class[j]]
        columns.append(column)
    return np.array(columns).T


def _of_kernel_ridge(model: Any) -> GivenMachine:
    gamma = 1.0 / model.n_features_in_ if model.gamma is None else model.gamma
    kernel = _named(model.kernel, gamma, model.degree, model.coef0)
    vectors = np.asarray(
        model.X_fit_.toarray() if hasattr(model.X_fit_, "toarray") else model.X_fit_
    )
    flat = model.dual_coef_.ndim == 1
    coef = model.dual_coef_.reshape(len(vectors), -1)
    parts = [Expansions(KernelFamily(str(model.kernel), kernel), vectors, coef)]
    width, nothing = model.n_features_in_, np.zeros(coef.shape[1])
    return GivenMachine(parts, width, nothing, "regressor", model.predict, flat=flat)


def _of_gaussian_process(model: Any) -> GivenMachine:
    check_is_fitted(model, "X_train_")  # which predicts without a fit, too
    scale = np.atleast_1d(model._y_train_std)
    coef = model.alpha_.reshape(len(model.X_train_), -1) * scale
    kernel, constant = _of_process(model.kernel_)
    vectors = model.X_train_ if kernel is not None else model.X_train_[:0]
    family = KernelFamily("process", kernel or Linear())
    parts = [Expansions(family, vectors, coef[: len(vectors)])]
    intercept = np.atleast_1d(model._y_train_mean) + constant * coef.sum(axis=0)
    width, flat = model.n_features_in_, coef.shape[1] == 1
    return GivenMachine(parts, width, intercept, "regressor", model.predict, flat=flat)


def _named(kernel: Any, gamma: float, degree: float, coef0: float) -> Kernel:
    """The kernel that scikit-learn has a name for."""
    if isinstance(kernel, Kernel) and not kernel.is_precomputed:
        return kernel
    if kernel in ("poly", "polynomial"):
        if degree != int(degree) or degree < 1 or coef0 < 0:
            raise KernelError(
                f"a polynomial kernel of degree {degree:g} with coef0={coef0:g} is that of no "
                "space of functions, so that nothing bounds how far two of them are apart: the "
                "degree must be a whole number, at least 1, and coef0 not negative"
            )
        return Polynomial(int(degree), float(gamma), float(coef0))
    if isinstance(kernel, str) and kernel in NAMED:
        return NAMED[kernel](float(gamma))
    raise KernelError(
        f"kernel={kernel!r} cannot be compressed: {', '.join(sorted(NAMED))}, poly and kernels of "
        "cgboost can. A sigmoid is the kernel of no space of functions, and of a "
        "precomputed matrix or a function there is no gradient by a centre"
    )


NAMED: dict[str, Callable[[float], Kernel]] = {
    "linear": lambda gamma: Linear(),
    "cosine": lambda gamma: Cosine(),
    "rbf": RBF,
}


def _of_process(kernel: Any) -> tuple[Kernel | None, float]:
    """A kernel of scikit-learn's processes between rows that differ: k(x, z) + constant.

    White noise is 0 there.
    """
    from sklearn.gaussian_process import kernels as theirs

    if isinstance(kernel, theirs.WhiteKernel):
        return None, 0.0
    if isinstance(kernel, theirs.ConstantKernel):
        return None, float(kernel.constant_value)
    if isinstance(kernel, theirs.Sum):
        (one, first), (other, second) = _of_process(kernel.k1), _of_process(kernel.k2)
        return _total([one, other]), first + second
    if isinstance(kernel, theirs.Product):
        return _times(_of_process(kernel.k1), _of_process(kernel.k2))
    if isinstance(kernel, theirs.Exponentiation) and kernel.exponent in range(1, 10):
        base = _of_process(kernel.kernel)
        return reduce(_times, [base] * int(kernel.exponent))
    if isinstance(kernel, theirs.DotProduct):
        return Polynomial(1, 1.0, float(kernel.sigma_0) ** 2), 0.0
    name, length = type(kernel).__name__, np.atleast_1d(getattr(kernel, "length_scale", np.nan))
    if len(length) == 1 and name in PROCESSES:
        return PROCESSES[name](kernel, float(length[0])), 0.0
    raise KernelError(
        f"the kernel {kernel} of this process cannot be compressed: {', '.join(PROCESSES)} of one "
        "length scale, DotProduct, their sums, products and powers, constants and white noise can"
    )


def _times(
    one: tuple[Kernel | None, float], other: tuple[Kernel | None, float]
) -> tuple[Kernel | None, float]:
    """(k + a)(l + b) = kl + bk + al, and ab."""
    (k, a), (own, b) = one, other
    terms = [k * own if k is not None and own is not None else None]
    terms += [b * k if k is not None and b else None, a * own if own is not None and a else None]
    return _total(terms), a * b


def _total(terms: list[Kernel | None]) -> Kernel | None:
    left = [term for term in terms if term is not None]
    return sum(left[1:], start=left[0]) if left else None


def _matern(kernel: Any, length: float) -> Kernel:
    if np.isinf(kernel.nu):
        return RBF(0.5 / length**2)
    if kernel.nu not in (0.5, 1.5, 2.5):
        raise KernelError(
            f"Matern of nu={kernel.nu:g} cannot be compressed: 0.5, 1.5, 2.5, inf can"
        )
    return Matern(nu=float(kernel.nu), length_scale=length)


PROCESSES: dict[str, Callable[[Any, float], Kernel]] = {
    "RBF": lambda kernel, length: RBF(0.5 / length**2),
    "Matern": _matern,
    "RationalQuadratic": lambda kernel, length: RationalQuadratic(length, float(kernel.alpha)),
}


def _support_vector_machines() -> tuple[type, ...]:
    from sklearn import svm

    return svm.SVC, svm.NuSVC, svm.SVR, svm.NuSVR, svm.OneClassSVM


def _ridges() -> type:
    from sklearn.kernel_ridge import KernelRidge

    return KernelRidge


def _processes() -> type:
    from sklearn.gaussian_process import GaussianProcessRegressor

    return GaussianProcessRegressor


READERS: tuple[tuple[Callable[[], Any], Callable[[Any], GivenMachine]], ...] = (
    (lambda: BaseKernelBoost, _of_ours),
    (_support_vector_machines, _of_support_vectors),
    (_ridges, _of_kernel_ridge),
    (_processes, _of_gaussian_process),
)
