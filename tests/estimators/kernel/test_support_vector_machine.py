"""penalty="rkhs" is a support vector machine: libsvm's answer, certified, or columns."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification, make_friedman1
from sklearn.svm import SVC

from cgboost import RBF, CGBoostClassifier, CGBoostRegressor, KernelLibrary, Linear
from cgboost.optimizers.rkhs import support_vector_machine
from cgboost.penalties import RKHS
from cgboost.pricing.kernels.kernel_pool import KernelPool
from cgboost.pricing.rkhs.rkhs_pricer import SummedKernelOfMachine

X, y = make_classification(200, 6, n_informative=4, flip_y=0.2, random_state=0)
WEIGHTS = np.random.default_rng(0).uniform(0.0, 2.0, len(y)) * (np.arange(len(y)) > 9)
NUMBERS = make_friedman1(200, 6, noise=1.0, random_state=0)[1]

MODELS = {
    "hinge": CGBoostClassifier(RBF(0.1), penalty="rkhs"),
    "two kernels": CGBoostClassifier(
        {"a": RBF(0.1), "b": Linear()}, penalty=RKHS({"a": 3.0, "b": 0.5})
    ),
    "a weight": CGBoostClassifier({"a": RBF(0.1)}, penalty=RKHS({"a": 3.0})),
    "precomputed": CGBoostClassifier(penalty="rkhs"),
    "tube": CGBoostRegressor(RBF(0.1), penalty="rkhs"),
    "absolute error": CGBoostRegressor(RBF(0.1), penalty="rkhs", loss="absolute_error"),
}


def fitted(model, rows=X, **parameters):
    """A copy of a model with these parameters, fitted to its target with weights."""
    target = NUMBERS if isinstance(model, CGBoostRegressor) else y
    own = type(model)(**model.get_params(deep=False) | parameters)
    return own.fit(rows, target, sample_weight=WEIGHTS)


@pytest.mark.parametrize("name", MODELS)
def test_one_round_has_the_optimum_of_many(name):
    """Bounds of both ways are below the objectives of both, and outputs agree."""
    once, often = fitted(MODELS[name]), fitted(MODELS[name], columns_per_round=40, tol=1e-6)
    assert once.n_iter_ == 1 < often.n_iter_
    assert max(once.gap_, often.gap_) <= 1e-4
    assert once.dual_bound_ <= often.objective_
    assert often.dual_bound_ <= once.objective_
    outputs = [getattr(m, "decision_function", m.predict)(X) for m in (once, often)]
    assert outputs[0] == pytest.approx(outputs[1], abs=0.02 * np.ptp(outputs[1]))


def test_of_one_kernel_it_is_the_machine_of_scikit_learn():
    """The outputs are those of SVC with the same kernel, price and weights, on sparse rows too."""
    peer = SVC(C=2.0, gamma=0.1, tol=1e-6).fit(X[10:], y[10:], sample_weight=WEIGHTS[10:])
    for rows in (X, csr_matrix(X), X.astype(np.float32)):
        model = fitted(MODELS["hinge"], rows, C=2.0)
        assert model.n_iter_ == 1
        assert model.decision_function(X) == pytest.approx(peer.decision_function(X), abs=1e-2)


@pytest.mark.parametrize("parameters", [{"C": 1e6}, {"tol": 1e-9}])
def test_columns_are_generated_where_it_is_not_near_enough(parameters):
    """A price far too large for libsvm, or a gap that it cannot reach, are left to the loop."""
    model = fitted(MODELS["hinge"], **parameters)
    assert model.n_iter_ > 1
    assert model.converged_


def test_a_wrong_answer_is_not_believed(monkeypatch):
    """Where libsvm says what is no optimum, the gap shows it, and columns are generated."""

    def wrong(self, tol, time_limit):
        return 0.5 * self.loss.upper + 0.1 * self.loss.lower, 0.0

    kind = support_vector_machine.SupportVectorMachine
    monkeypatch.setattr(kind, "_dual_of_libsvm", wrong)
    model = fitted(MODELS["hinge"])
    assert model.n_iter_ > 1
    assert model.converged_


def test_sums_need_no_matrix_and_are_those_of_it():
    """S r of a pass is Σ_p K_p r/w_p of the matrices, which functions have if they are asked."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    library = KernelLibrary({"linear": Linear(), "rbf": RBF(0.5)})
    kernel = SummedKernelOfMachine(KernelPool(library, X), {"linear": 2.0, "rbf": 0.5}.__getitem__)
    response = np.linspace(-1.0, 1.0, 40)
    parts = [own.gram @ response / w for own, w in zip(kernel._spaces, (2.0, 0.5), strict=True)]
    np.testing.assert_allclose(kernel.sums(response), sum(parts), atol=1e-12)
