"""Several sets of held-out rows, scikit-learn's scorers, and the score that stops a fit early."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import (
    f1_score,
    get_scorer,
    make_scorer,
    roc_auc_score,
)

from cgboost import (
    KernelLibrary,
)
from cgboost.exceptions import DataWarning
from tests.estimators.data import classifier, curve, regressor, three_classes, two_classes

X, Y = two_classes(120)
SETS = {"valid": (X[40:80], Y[40:80]), "test": (X[80:], Y[80:])}


def fit(model=None, eval_set=SETS, **parameters):
    """A model of forty rows, scored on others."""
    model = classifier(**parameters) if model is None else model
    return model.fit(X[:40], Y[:40], eval_set=eval_set)


def auc(estimator, rows, labels):
    """A scorer of one's own."""
    return roc_auc_score(labels, estimator.decision_function(rows))


def test_sets_have_columns_by_their_names():
    """One pair is called validation, those of a list have numbers, those of a dict their names."""
    pairs = list(SETS.values())
    named = fit().history_
    listed, lone, single = (fit(eval_set=e).history_ for e in (pairs, pairs[0], pairs[:1]))
    for k, name in enumerate(SETS):
        in_tuple = fit(eval_set=tuple(pairs)).history_[f"validation_{k}_error"]
        np.testing.assert_array_equal(named[f"{name}_error"], in_tuple)
        np.testing.assert_array_equal(named[f"{name}_error"], listed[f"validation_{k}_error"])
    np.testing.assert_array_equal(named["valid_error"], lone["validation_error"])
    np.testing.assert_array_equal(lone["validation_error"], single["validation_error"])
    assert not any(name.startswith("validation") for name in named)


def test_forms_of_scoring():
    """A name, a callable, a list and a dict; a scorer without a name is called "score"."""
    lone = make_scorer(f1_score)
    columns = [
        [name for name in fit(scoring=s, eval_set=SETS["test"]).history_ if "validation" in name]
        for s in ("f1", lone, auc, ["f1", auc], {"mine": lone})
    ]
    own = "validation_error"
    assert columns[:3] == [[f"validation_{n}", own] for n in ("f1", "score", "auc")]
    assert columns[3:] == [["validation_f1", "validation_auc", own], ["validation_mine", own]]


def test_early_stopping_watches_the_score_that_it_names():
    """True is the first score of the first set; a name is another; greater is better."""
    common = {"scoring": "roc_auc", "columns_per_round": 1, "penalty": "l2", "n_iter_no_change": 2}
    for watched in (True, "valid_roc_auc", "test_roc_auc", "test_error"):
        model = fit(early_stopping=watched, **common)
        column = "valid_roc_auc" if watched is True else watched
        scores = model.history_[column]
        best = np.argmin(scores) if "error" in column else np.argmax(scores)
        assert model.best_round_ == best, watched
        assert model.stop_reason_ == "early_stopping"
    assert fit(early_stopping="test_error", **common).best_round_ != model.n_iter_ - 1


def test_early_stopping_on_a_name_holds_rows_out():
    """Without an eval_set the held-out rows are called validation."""
    model = classifier(scoring="roc_auc", early_stopping="validation_error", random_state=0)
    model.set_params(validation_fraction=0.3).fit(X, Y)
    assert model.best_round_ == np.argmin(model.history_["validation_error"])


def test_few_held_out_rows_are_not_silent():
    """Fewer than twenty rows, or a class that is not there, are named; other sets may be so."""
    few, lopsided = (X[:19], Y[:19]), (X[Y == 1], Y[Y == 1])
    with pytest.warns(DataWarning, match="'validation', which has 19 rows"):
        fit(eval_set=few, early_stopping=True)
    with pytest.warns(DataWarning, match=r"'b', which lacks the classes \[0\]"):
        fit(eval_set={"a": few, "b": lopsided}, early_stopping="b_error")
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        fit(eval_set={"a": few, "b": lopsided})
        fit(eval_set=SETS | {"few": few}, early_stopping=True)
    A, b = curve(100)
    with pytest.warns(DataWarning, match="'validation', which has 10 rows: the round"):
        regressor(early_stopping=True, random_state=0).fit(A, b)


def test_a_run_for_each_class_is_scored_against_the_rest():
    """Scorers of a one-against-the-rest model see the labels 1 and 0 of each run."""
    A, b = three_classes(90)
    labels = np.array(["x", "y", "z"])[b]
    model = classifier(scoring="f1").fit(A[:45], labels[:45], eval_set=(A[45:], labels[45:]))
    last = list(model.staged_decision_function(A[45:]))[-1]
    for k, label in enumerate(model.classes_):
        own = model.history_["validation_f1"][model.history_["class"] == label]
        assert own[-1] == pytest.approx(f1_score(b[45:] == k, last[:, k] > 0))


def test_a_path_is_scored_on_the_first_set():
    """Models of a path have the columns of every set; scores are the first of the first."""
    path = classifier(scoring="roc_auc").path(X[:40], Y[:40], [0.1, 1.0], eval_set=SETS)
    area = get_scorer("roc_auc")
    assert path.scores == pytest.approx([area(m, *SETS["valid"]) for m in path])
    assert all("test_roc_auc" in model.history_ for model in path)


def test_scoring_evaluates_no_column_again():
    """The kernel sees as many pairs of rows with three scorers as with none."""
    counts = []

    def counting(A, B):
        counts[-1] += len(A) * len(B)
        return A @ B.T

    for scoring in (None, ["roc_auc", "accuracy", "f1"]):
        counts.append(0)
        fit(library=KernelLibrary({"own": counting}), scoring=scoring)
    assert counts[0] == counts[1] > 0
