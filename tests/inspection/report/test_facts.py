"""What is said about a fitted model is what the model says."""

import math
import time

import numpy as np
import pytest

from cgboost import RBF, CGBoostClassifier, KernelLibrary, RuleSetClassifier
from cgboost.generation.history import StopReason
from cgboost.inspection.report.facts import (
    MEANINGS,
    SMALL_GAIN,
    ended,
    facts_of,
    meaning,
    proven,
    runs_of,
)
from tests.estimators.data import two_classes
from tests.inspection.report.models import CASES, LIBRARY, NASTY, data, fitted, stopped


@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_every_model_has_facts(name: str, n_classes: int) -> None:
    """Size, objective, gap, end and scores are those of the fitted attributes."""
    model = fitted(name, n_classes)
    facts = facts_of(model)
    words = " ".join(facts.words())
    if name == "LinearTreeRegressor":
        assert words == f"{model.n_leaves_} leaves, depth {model.depth_} no certificate"
        return
    assert facts.size.startswith(f"{model.n_columns_} ")
    assert facts.objective == pytest.approx(model.objective_)
    gap = getattr(model, "gap_", math.inf)
    assert facts.gap == gap
    assert ("no certificate" in words) == math.isinf(gap)
    assert len(facts.runs) == len(np.atleast_1d(model.stop_reason_))
    assert [str(run.stop_reason) for run in facts.runs] == np.atleast_1d(
        model.stop_reason_
    ).tolist()
    scored = any(column.startswith("validation_") for column in model.history_)
    assert ("validation" in words) == scored
    assert dict(facts.pairs())["model"] == facts.size


def test_a_model_that_is_not_fitted_has_none() -> None:
    """Neither before the fit nor in the middle of it, when attributes are not complete."""
    assert facts_of(CGBoostClassifier()) is None
    seen = []
    X, _, labels = data()
    model = CGBoostClassifier(
        LIBRARY, penalty="l1", callbacks=[lambda turn: seen.append(repr(model))]
    )
    model.fit(X, labels)
    assert all("certified" not in text for text in seen)
    assert "certified" in repr(model)


def test_the_score_is_that_of_the_round_that_makes_the_model() -> None:
    """With early stopping that is not the last one, and the line says which it is."""
    X, _, labels = data()
    model = CGBoostClassifier(
        LIBRARY, penalty="l1", early_stopping=True, n_iter_no_change=2, columns_per_round=1
    ).fit(X[:30], labels[:30], eval_set=(X[30:], labels[30:]))
    (run,) = facts_of(model).runs
    assert run.kept == model.best_round_ < run.rounds
    score = model.history_["validation_error"][model.best_round_]
    assert run.scores == {"validation_error": score}
    assert facts_of(model).scores == {"validation error": f"{score:.4g} at round {run.kept}"}


def test_a_gap_above_tol_is_still_a_certificate() -> None:
    """The words say both."""
    model = stopped(max_columns=2)
    assert not model.converged_
    assert math.isfinite(model.gap_)
    assert facts_of(model).certificate == f"gap {model.gap_:.1e} (certified, above tol)"


def test_runs_that_end_for_several_reasons_are_counted() -> None:
    """Of three classes, one is stopped: its reason stands beside that of the others."""
    X, _, labels = data(3)
    starts = []

    def in_the_second_class(turn):
        starts.append(turn.number == 0)
        return sum(starts) == 2 and turn.number == 1

    model = CGBoostClassifier(LIBRARY, penalty="l1", callbacks=[in_the_second_class])
    assert "stopped by a callback (1)" in facts_of(model.fit(X, labels)).end
    assert [run.label for run in facts_of(model).runs] == sorted({NASTY, "b", "c"})


def test_many_kernels_are_not_all_named() -> None:
    """The three with most columns, and how many columns the others have together."""
    X, _, labels = data()
    library = KernelLibrary({f"k{i}": RBF(2.0**i) for i in range(9)})
    model = CGBoostClassifier(library, columns_per_round="all").fit(X, labels)
    inside = facts_of(model).size.split("(")[1].rstrip(")").split(", ")
    assert len(inside) == 4
    assert inside[-1].startswith("6 others ")
    assert sum(int(part.split()[-1]) for part in inside) == model.n_columns_


def test_every_reason_has_a_meaning() -> None:
    """In words and in a sentence; a small gain is not taken for a certified gap.

    What is proven has the value of the bound and the distance; or it is said that nothing is.
    """
    assert set(MEANINGS) == set(StopReason)
    assert ended(StopReason.GAP, 1e-5) != ended(StopReason.GAP, math.inf) == SMALL_GAIN
    assert meaning(StopReason.GAP, 1e-5) != meaning(StopReason.GAP, math.inf)
    text = proven(3.0, 2.5, 0.1)
    assert "below 2.5" in text
    assert "by 0.5 at most" in text
    assert proven(3.0, -math.inf, math.inf).startswith("Nothing is proved")


def test_a_history_falls_into_its_runs() -> None:
    """Each begins at round 0, and together they are the history."""
    model = fitted("CGBoostClassifier", 3)
    runs = runs_of(model.history_)
    assert [run["round"][0] for run in runs] == [0, 0, 0]
    assert [len(set(run["class"])) for run in runs] == [1, 1, 1]
    assert sum(len(run["round"]) for run in runs) == len(model.history_["round"])
    assert len(runs_of(fitted("CGBoostClassifier").history_)) == 1


def test_the_time_is_that_of_the_whole_fit() -> None:
    """A rule set searches for its bound after the last round: that is in the time, too."""
    X, y = two_classes(60)
    started = time.perf_counter()
    model = RuleSetClassifier(4, max_bins=4).fit(X, y)
    elapsed = time.perf_counter() - started
    facts = facts_of(model)
    assert facts is not None
    assert sum(run.seconds for run in facts.runs) < facts.seconds <= elapsed
    assert dict(facts.pairs())["time"] == f"{facts.seconds:.3g} s"
