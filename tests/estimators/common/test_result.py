"""What a fitted model says: coefficients, tables, certificates, stages."""

import subprocess
import sys

import numpy as np
import pytest

from cgboost import RBF, KernelLibrary
from tests.estimators.data import (
    PENALTIES,
    classifier,
    three_classes,
    two_classes,
)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_objective_is_the_formula_and_the_bound_is_below_it(penalty):
    """objective_ is Ω(α) + C Σ w ξ of the model, and the gap follows from the dual bound."""
    X, y = two_classes()
    weights = np.linspace(0.5, 2.0, len(y))
    model = classifier(penalty=penalty, C=0.7).fit(X, y, sample_weight=weights)
    slack = np.maximum(0, 1 - (2 * y - 1) * model.decision_function(X))
    size = np.abs(model.dual_coef_).sum() if penalty == "l1" else 0.5 * np.sum(model.dual_coef_**2)
    assert model.objective_ == pytest.approx(size + 0.7 * weights @ slack, rel=1e-9)
    assert model.dual_bound_ <= model.objective_
    gap = (model.objective_ - model.dual_bound_) / max(1, model.objective_)
    assert model.gap_ == pytest.approx(abs(gap), rel=1e-5, abs=1e-12)  # its scale is a round's
    assert model.converged_ == (model.gap_ <= model.tol)


def test_classes_share_one_cache():
    """The kernel is evaluated once for all classes: as often as for two."""
    values = []

    def counting(X, Z):
        values.append(len(X) * len(Z))
        return X @ Z.T

    X, y = three_classes()
    library = KernelLibrary({"counted": counting})
    classifier(library=library).fit(X, y == 0)
    binary, values[:] = sum(values), []
    classifier(library=library).fit(X, y)
    sample = 8 * len(X)  # looked at beforehand, for the scale of the kernels
    asked = 5 * 5 + 4 * 4  # twice, to see that it is a function
    assert sum(values) == binary == len(X) ** 2 + sample + asked


@pytest.mark.parametrize("penalty", PENALTIES)
def test_single_precision_and_a_function(penalty):
    """A function without a bound on rounding is priced in float64; the certificate holds."""
    seen = []

    def watching(X, Z):
        seen.append((X.dtype, Z.dtype))
        return X @ Z.T

    X, y = two_classes()
    library = KernelLibrary({"watched": watching, "rbf": RBF()})
    single = classifier(penalty=penalty, library=library).fit(X.astype(np.float32), y)
    assert set(np.ravel(seen)) == {np.dtype(np.float64)}
    double = classifier(penalty=penalty, library=library, tol=1e-7).fit(X, y)
    assert single.converged_
    assert single.dual_bound_ <= double.objective_ * (1 + 1e-5)
    assert double.dual_bound_ <= single.objective_ * (1 + 1e-5)
    np.testing.assert_array_equal(single.predict(X), single.predict(X.astype(np.float32)))


def test_more_rows_than_fit_a_block_are_predicted_the_same(monkeypatch):
    """Outputs and stages computed in small blocks of rows equal those of one block."""
    X, y = two_classes()
    model = classifier().fit(X, y)
    whole = model.decision_function(X)
    monkeypatch.setattr("cgboost.generation.columns.PREDICTION_BLOCK", 50)
    monkeypatch.setattr("cgboost.estimators.common.fitted_runs.PREDICTION_BLOCK", 50)
    np.testing.assert_allclose(model.decision_function(X), whole, rtol=1e-12)
    np.testing.assert_allclose(list(model.staged_decision_function(X))[-1], whole, rtol=1e-12)


def test_fits_are_silent_and_leave_global_state_alone():
    """Nothing is written, not even by a logger, and NumPy's random state stays what it was."""
    run = [sys.executable, "-c", SILENT_FITS]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


SILENT_FITS = """
import logging
import numpy as np
from cgboost import CGBoostClassifier, CGBoostRegressor
root = logging.getLogger()
before = list(root.handlers), root.level, repr(np.random.get_state())
X = np.random.default_rng(0).normal(size=(120, 4))
y = (X[:, 0] > 0).astype(int)
for kind in (CGBoostClassifier, CGBoostRegressor):
    for penalty in ("l1", "l2"):
        early = dict(early_stopping=True, validation_fraction=0.5)
        kind(penalty=penalty, **early).fit(X, y).predict(X)
        kind(penalty=penalty, C=100.0).fit(X, y)
assert before == (list(root.handlers), root.level, repr(np.random.get_state()))
"""
