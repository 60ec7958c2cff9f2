"""What a fitted model says: coefficients, tables, certificates, stages."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from cgboost import RBF, CGBoostClassifier, CGBoostRegressor, KernelLibrary, Linear, Precomputed
from cgboost.inspection import plot_columns, plot_history
from tests.estimators.data import (
    LIBRARY,
    PENALTIES,
    classifier,
    curve,
    regressor,
    three_classes,
    two_classes,
)
from tests.solvers.backends.test_quiet import without_highs


@pytest.fixture(params=["binary", "multi-class", "regression"])
def fitted(request):
    """A fitted model of each kind, with the rows it was fitted and validated on."""
    make, (X, y) = {
        "binary": (classifier, two_classes()),
        "multi-class": (classifier, three_classes()),
        "regression": (regressor, curve()),
    }[request.param]
    return make().fit(X[:30], y[:30], eval_set=(X[30:], y[30:])), X, y


def rebuilt_output(model, X_train, X, label=None):
    """Model output computed from the columns table and the kernels alone."""
    table = pd.DataFrame(model.columns_)
    if label is not None:
        table = table[table["class"] == label]
    output = np.zeros(len(X))
    for name, kernel in LIBRARY.fit(X_train).items():
        part = table[table["kernel"] == name]
        values = kernel(X, X_train[part["row"].to_numpy()])
        output += values @ (part["sign"] * part["coefficient"]).to_numpy()
    return output


@pytest.mark.parametrize("coef", ["free", "nonneg"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_table_of_columns_is_the_model(penalty, coef):
    """Kernels, rows, coefficients and signs of columns_ rebuild the decision function."""
    X, y = two_classes()
    model = classifier(penalty=penalty, coef=coef).fit(X, y)
    output = rebuilt_output(model, X, X) + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), output, atol=1e-10)
    assert coef == "free" or (model.dual_coef_ >= 0).all()
    assert set(np.unique(model.columns_["sign"])) <= ({1} if coef == "free" else {-1, 1})


def test_the_table_of_columns_of_several_classes_is_the_model():
    """With three classes every class has its own rows in columns_, and its own intercept."""
    X, y = three_classes()
    model = classifier().fit(X, y)
    output = [rebuilt_output(model, X, X, k) + model.intercept_[k] for k in range(3)]
    np.testing.assert_allclose(model.decision_function(X), np.transpose(output), atol=1e-10)


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


def test_counts_agree_with_the_table(fitted):
    """n_columns_, dual_coef_ and columns_per_kernel_ describe the same columns as columns_."""
    model, *_ = fitted
    table = pd.DataFrame(model.columns_)
    assert model.n_columns_ == len(table) == len(model.dual_coef_) > 0
    assert list(model.columns_per_kernel_) == ["linear", "rbf"]
    counted = table["kernel"].value_counts().reindex(["linear", "rbf"], fill_value=0)
    assert model.columns_per_kernel_ == counted.to_dict()
    assert (model.dual_coef_ != 0).all()


def test_tables_are_read_by_pandas_and_polars_in_one_call(fitted):
    """columns_ and history_ are dicts of plain arrays of equal length."""
    model, *_ = fitted
    for table in (model.columns_, model.history_):
        assert pl.DataFrame(table).shape == pd.DataFrame(table).shape
        assert all(array.dtype != object for array in table.values())


def test_history_has_one_row_per_round(fitted):
    """history_ has the documented names, and n_iter_ counts its rows."""
    model, *_ = fitted
    wanted = {"round", "columns", "objective", "bound", "gap", "evaluated", "seconds"}
    assert wanted <= set(model.history_)
    assert any(name.startswith("validation_") for name in model.history_)
    assert len(model.history_["round"]) == model.n_iter_


def test_every_round_encloses_the_optimum(fitted):
    """Within a run the bound rises, the objective falls, and the bound stays below it."""
    model, *_ = fitted
    history = pd.DataFrame(model.history_)
    groups = history.groupby("class") if "class" in history else [(None, history)]
    for _, run in groups:
        assert (np.diff(run["objective"]) <= 1e-9 * run["objective"].max()).all()
        bound = run["bound"].dropna()
        assert (np.diff(bound) >= 0).all()
        assert bound.max() <= run["objective"].min() + 1e-9


def test_the_last_stage_is_the_model(fitted):
    """Stages follow the rounds, and the last stage equals decision_function and predict."""
    model, X, _ = fitted
    stages = list(model.staged_decision_function(X))
    assert len(stages) == np.max(model.best_round_) + 1
    output = getattr(model, "decision_function", model.predict)(X)
    np.testing.assert_allclose(stages[-1], output, rtol=1e-12, atol=1e-12)
    last, predicted = list(model.staged_predict(X))[-1], model.predict(X)
    if np.ndim(output) == 2:  # at a vertex rows lie on the margins of several classes: they tie
        best = np.sort(output, axis=1)
        clear = best[:, -1] > best[:, -2] + 1e-9
        last, predicted = last[clear], predicted[clear]
    np.testing.assert_allclose(last, predicted, atol=1e-12)


def test_pictures_of_fitted_models(fitted):
    """plot_history and plot_columns draw every kind of model from its tables."""
    model, *_ = fitted
    assert len(plot_history(model).axes) == 3
    _, counts = plot_columns(model).axes
    assert sum(bar.get_width() for bar in counts.patches) == model.n_columns_


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [7, 3], ["no", "yes"], [False, True]])
def test_two_labels_of_any_kind(labels):
    """Integer, string and boolean labels come back from predict, in sorted order in classes_."""
    X, y = two_classes()
    named = np.array(labels)[y]
    model = classifier().fit(X, named)
    np.testing.assert_array_equal(model.classes_, np.unique(named))
    assert set(model.predict(X)) == set(labels)
    positive = model.decision_function(X) > 0
    np.testing.assert_array_equal(model.predict(X), model.classes_[positive.astype(int)])
    assert model.score(X, named) > 0.7


def test_several_labels_are_one_run_each():
    """Each class against the rest equals a binary fit of that class alone."""
    X, y = three_classes()
    named = np.array(["a", "b", "c"])[y]
    model = classifier().fit(X, named)
    assert model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (len(X), 3)
    alone = [classifier().fit(X, named == label).objective_ for label in model.classes_]
    assert model.objective_ == pytest.approx(sum(alone), rel=1e-9)
    best = model.decision_function(X).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[best])


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
def test_weights_multiply_the_price_row_by_row(penalty):
    """Doubling all weights is doubling C, and a weight of 3 is paid three times."""
    X, y = two_classes()
    heavy = classifier(penalty=penalty, tol=1e-6).fit(X, y, sample_weight=np.full(len(y), 2.0))
    dear = classifier(penalty=penalty, tol=1e-6, C=2.0).fit(X, y)
    assert heavy.objective_ == pytest.approx(dear.objective_, rel=1e-5)
    fixed = classifier(penalty=penalty, tol=1e-6, library=KernelLibrary({"rbf": RBF(0.3)}))
    weighted = fixed.fit(X, y, sample_weight=1.0 + 2.0 * (np.arange(len(y)) < 5)).objective_
    repeats = np.concatenate([np.arange(len(y)), np.arange(5), np.arange(5)])
    repeated = fixed.fit(X[repeats], y[repeats]).objective_
    if penalty == "l1":
        assert weighted == pytest.approx(repeated, rel=1e-5)
    else:  # three equal columns share a coefficient at a third of its 2-norm
        assert weighted > repeated


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


def test_a_precomputed_kernel_is_the_kernel():
    """Precomputed kernel values give the model of the kernel they were computed with."""
    X, y = two_classes()
    direct = classifier(library=KernelLibrary({"linear": Linear()})).fit(X, y)
    values = classifier(library=KernelLibrary({"given": Precomputed()})).fit(X @ X.T, y)
    new = two_classes(10, seed=5)[0]
    np.testing.assert_allclose(
        direct.decision_function(new), values.decision_function(new @ X.T), atol=1e-8
    )


def test_more_rows_than_fit_a_block_are_predicted_the_same(monkeypatch):
    """Outputs and stages computed in small blocks of rows equal those of one block."""
    X, y = two_classes()
    model = classifier().fit(X, y)
    whole = model.decision_function(X)
    monkeypatch.setattr("cgboost.generation.columns.PREDICTION_BLOCK", 50)
    monkeypatch.setattr("cgboost.estimators.common.fit_loop.PREDICTION_BLOCK", 50)
    np.testing.assert_allclose(model.decision_function(X), whole, rtol=1e-12)
    np.testing.assert_allclose(list(model.staged_decision_function(X))[-1], whole, rtol=1e-12)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("make", [CGBoostClassifier, CGBoostRegressor])
def test_a_fit_is_silent_and_leaves_global_state_alone(make, penalty):
    """Nothing is written, not even by a logger, and NumPy's random state stays what it was."""
    code = SILENT_FIT.format(make=make.__name__, penalty=penalty)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (without_highs(done.stdout), done.stderr) == ("", "")


SILENT_FIT = """
import logging
import numpy as np
from cgboost import {make}
root = logging.getLogger()
before = list(root.handlers), root.level, repr(np.random.get_state())
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4))
early = dict(early_stopping=True, validation_fraction=0.5)
{make}(penalty="{penalty}", **early).fit(X, (X[:, 0] > 0).astype(int)).predict(X)
{make}(penalty="{penalty}", C=100.0).fit(X, (X[:, 0] > 0).astype(int))
assert before == (list(root.handlers), root.level, repr(np.random.get_state()))
"""
