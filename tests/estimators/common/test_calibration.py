"""Probabilities of models whose outputs are no log-odds."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import brier_score_loss, log_loss

from cgboost import CGBoostClassifier, KernelLibrary, LPBoostClassifier, Precomputed
from tests.estimators.data import at_round, classifier, three_classes, two_classes

X, Y = two_classes(240, seed=5)
HALF = 120
MODELS = [classifier(), classifier(penalty="l2", tol=1e-2), LPBoostClassifier(nu=0.5)]


def fit(model=None, **parameters):
    """A calibrated model of half of the rows."""
    model = classifier() if model is None else clone(model)
    return model.set_params(**{"probability": True} | parameters).fit(X[:HALF], Y[:HALF])


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("model", MODELS, ids=["l1", "l2", "stumps"])
def test_probabilities_are_better_than_a_constant(model, method):
    """On rows that were not trained on, the Brier score is below that of the classes' shares."""
    fitted = fit(model, probability=method)
    shares = fitted.predict_proba(X[HALF:])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares >= 0).all()
    constant = np.full(HALF, Y[:HALF].mean())
    assert brier_score_loss(Y[HALF:], shares[:, 1]) < 0.9 * brier_score_loss(Y[HALF:], constant)
    if method == "sigmoid":
        assert log_loss(Y[HALF:], shares) < 0.9 * log_loss(Y[HALF:], constant)
    said = {"method": method, "rows": "out of fold", "n_rows": HALF, "n_fits": 5}
    assert fitted.calibration_ == said


def test_the_model_is_that_without_probabilities_and_can_be_repeated():
    """Outputs and history stay; folds follow random_state, None too, and a pickle is the same."""
    plain, first, again = classifier().fit(X[:HALF], Y[:HALF]), fit(), fit()
    np.testing.assert_array_equal(plain.decision_function(X), first.decision_function(X))
    assert plain.n_iter_ == first.n_iter_
    assert not hasattr(plain, "calibration_")
    shares = first.predict_proba(X)
    np.testing.assert_array_equal(again.predict_proba(X), shares)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).predict_proba(X), shares)
    assert not np.array_equal(fit(random_state=1).predict_proba(X), shares)
    assert not hasattr(first.set_params(probability=False).fit(X, Y), "calibration_")


def test_several_classes():
    """Of each class against the rest, divided by their sum, in the order of classes_."""
    A, b = three_classes(180)
    labels = np.array(["x", "y", "z"])[b]
    for model in (classifier(), LPBoostClassifier(multi_class="joint")):
        fitted = model.set_params(probability=True).fit(A[:90], labels[:90])
        shares = fitted.predict_proba(A[90:])
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        assert log_loss(labels[90:], shares) < 0.95 * np.log(3)


def test_without_it_the_message_says_what_to_do():
    """A hinge model has no predict_proba unless it is asked for; log loss keeps its own."""
    assert not hasattr(classifier(), "predict_proba")
    with pytest.raises(AttributeError, match=r"probability=True.*five more fits.*log_loss"):
        _ = classifier().fit(X, Y).predict_proba
    own = [fit(loss="log_loss", probability=p).predict_proba(X) for p in (False, True)]
    np.testing.assert_array_equal(*own)
    assert hasattr(fit(loss="log_loss", probability="isotonic"), "calibration_")


def test_rows_of_early_stopping_calibrate_without_another_fit(monkeypatch):
    """Those of the set that it watches, or those that it holds out; else they are not used."""
    model = classifier(probability=True, early_stopping="b_error")
    sets = {"a": (X[:HALF], Y[:HALF]), "b": (X[HALF:180], Y[HALF:180])}
    model.fit(X[:HALF], Y[:HALF], eval_set=sets)
    said = {"method": "sigmoid", "rows": "eval_set 'b'", "n_rows": 60, "n_fits": 0}
    assert model.calibration_ == said
    held_out = fit(early_stopping=True, validation_fraction=0.25, random_state=0)
    assert held_out.calibration_["rows"] == "held out by early stopping"
    assert held_out.calibration_["n_rows"] == 30
    model.set_params(early_stopping=False).fit(X[:HALF], Y[:HALF], eval_set=sets)
    assert model.calibration_["rows"] == "out of fold"
    lopsided = X[Y == 1], Y[Y == 1]
    model.set_params(early_stopping=True)
    with (
        pytest.warns(UserWarning, match="lacks the classes"),
        pytest.raises(ValueError, match="probability=True needs rows of every class"),
    ):
        model.fit(X[:HALF], Y[:HALF], eval_set=lopsided)


def test_sample_weights_count_and_class_weights_do_not():
    """Weighting a class up as a sample raises its probability; as a class weight it does not."""
    weights = np.where(Y[:HALF] == 1, 5.0, 1.0)
    common = {"probability": True, "C": 1.0}
    plain = classifier(**common).fit(X[:HALF], Y[:HALF])
    sample = classifier(**common).fit(X[:HALF], Y[:HALF], sample_weight=weights)
    by_class = classifier(class_weight={1: 5.0}, **common).fit(X[:HALF], Y[:HALF])
    np.testing.assert_array_equal(sample.decision_function(X), by_class.decision_function(X))
    means = [model.predict_proba(X[HALF:])[:, 1].mean() for model in (plain, sample, by_class)]
    assert means[1] > means[0] + 0.15
    assert means[2] == pytest.approx(0.5, abs=0.06)


def test_rows_of_weight_zero_do_not_count():
    """Labels of rows that cost nothing are not calibrated on."""
    weights = np.ones(HALF)
    weights[:20] = 0.0
    wrong = np.where(weights > 0, Y[:HALF], 1 - Y[:HALF])
    fits = [
        classifier(probability=True).fit(X[:HALF], y, sample_weight=weights)
        for y in (Y[:HALF], wrong)
    ]
    assert fits[0].calibration_["n_rows"] == 100
    np.testing.assert_allclose(*(model.predict_proba(X) for model in fits), atol=1e-6)


def test_precomputed_kernels_are_cut_on_both_sides():
    """A lone Gram matrix gives the probabilities of its kernel; two cannot be cut."""
    K = X @ X.T
    alone = KernelLibrary({"k": Precomputed()})
    model = classifier(library=alone, probability=True).fit(K[:HALF, :HALF], Y[:HALF])
    shares = model.predict_proba(K[HALF:, :HALF])
    assert log_loss(Y[HALF:], shares) < 0.9 * np.log(2)
    second = classifier(library=KernelLibrary({"k": Precomputed("second")}), probability=True)
    second.fit({"first": -K[:HALF, :HALF], "second": K[:HALF, :HALF]}, Y[:HALF])
    of_both = second.predict_proba({"first": -K[HALF:, :HALF], "second": K[HALF:, :HALF]})
    np.testing.assert_allclose(of_both, shares, atol=1e-6)
    several = KernelLibrary({"a": Precomputed(), "b": lambda A, B: A @ B.T})
    words = (
        "probability=True cannot hold out rows of a Precomputed kernel: give early_stopping=True"
    )
    with pytest.raises(ValueError, match=words):
        classifier(library=several, probability=True).fit(K[:HALF, :HALF], Y[:HALF])
    named, X_train = {k: Precomputed(k) for k in "ab"}, dict.fromkeys("ab", K[:HALF, :HALF])
    with pytest.raises(ValueError, match=words):
        classifier(library=named, probability=True).fit(X_train, Y[:HALF])
    with pytest.raises(ValueError, match="^early_stopping cannot hold out .* give an eval_set, or"):
        classifier(library=named, early_stopping=True).fit(X_train, Y[:HALF])
    held = dict.fromkeys("ab", K[HALF:, :HALF]), Y[HALF:]
    model = classifier(library=named, probability=True, early_stopping=True)
    model.fit(X_train, Y[:HALF], eval_set=held)
    assert model.calibration_["rows"] == "eval_set 'validation'"


def test_small_classes():
    """Fewer folds where a class has fewer rows, and an error where it has one."""
    few = np.r_[0:2, 2:40:2]  # one row of class 1
    with pytest.raises(ValueError, match=r"needs at least 2 rows of every class .* got 1"):
        classifier(probability=True).fit(X[few], Y[few])
    some = np.r_[0:6, 6:40:2]
    assert classifier(probability=True).fit(X[some], Y[some]).calibration_["n_fits"] == 3


@pytest.mark.parametrize(("verbose", "n_lines"), [(0, 0), (1, 1), (2, 1 + 5)])
def test_folds_are_quiet(verbose, n_lines, capsys):
    """The line of the model stands alone, with rounds one for each fold; callbacks see no fold."""
    seen = []
    model = fit(verbose=verbose, callbacks=[seen.append])
    assert len(seen) == model.n_iter_
    lines = capsys.readouterr().err.splitlines()
    assert len([line for line in lines if "optimal after" in line]) == n_lines
    assert len([line for line in lines if "fold" in line]) == max(0, n_lines - 1)


def test_an_interrupted_fit_keeps_its_model(monkeypatch):
    """After Ctrl-C there is a model without probabilities, and the message says why."""

    def interrupt():
        raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = fit(callbacks=[at_round(3, interrupt)], columns_per_round=1)
    with pytest.raises(AttributeError, match="interrupted before the calibration"):
        model.predict_proba(X)
    taken = CGBoostClassifier._solve

    def in_a_fold(self, plan, watch, *records):
        return interrupt() if watch.prefix else taken(self, plan, watch, *records)

    monkeypatch.setattr(CGBoostClassifier, "_solve", in_a_fold)
    with pytest.warns(ConvergenceWarning, match="Ctrl-C ended the calibration"):
        model = fit()
    assert model.converged_
    assert not hasattr(model, "calibration_")


def test_the_fits_share_the_time():
    """The model has a sixth of the limit; what it leaves is shared by the folds."""
    assert classifier(probability=True)._share_of_time == pytest.approx(1 / 6)
    others = [classifier(), classifier(probability=True, early_stopping=True)]
    assert [model._share_of_time for model in others] == [1.0, 1.0]
    with pytest.warns(ConvergenceWarning, match="5 fits, of which 5 ended early"):
        fit(time_limit=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(time_limit=1e6)


def test_a_path_has_probabilities():
    """Every model of a path is calibrated as its own fit would be."""
    path = classifier(probability=True, tol=1e-8).path(X[:HALF], Y[:HALF], [0.5, 2.0])
    lone = fit(C=0.5, tol=1e-8)
    np.testing.assert_allclose(path.models[0].predict_proba(X), lone.predict_proba(X), atol=1e-5)
