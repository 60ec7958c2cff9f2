"""The comparison with the peers: records, choice, errors, tables and picture, on few rows."""

from dataclasses import replace
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from tests.studies.modules import modules

FOLDER = Path(__file__).parents[1] / "benchmarks" / "peers"


parts = modules(
    "benchmarks/peers", "study_jobs " + " ".join(own.stem for own in FOLDER.glob("peers_*.py"))
)
"""Those of the comparison."""


@pytest.fixture(scope="module")
def tasks(parts: dict[str, Any]) -> list[Any]:
    """All tasks; their rows are not read."""
    return list(parts["peers_tasks"].all_tasks(None))


def few_rows(parts: dict[str, Any]) -> Any:
    """Rows of two classes, ±1."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:300, :6], 2 * y[:300] - 1
    cuts = [120, 200]
    return parts["peers_tasks"].Rows(
        {"numbers": tuple(np.split(X, cuts))}, tuple(np.split(y, cuts))
    )


def invented(parts: dict[str, Any], tasks: list[Any]) -> list[Any]:
    """Two seeds of every task; the first entrant has the best scores, the last one fails."""
    make, fits = parts["peers_fits"].Fit, []
    for task in tasks:
        sign = -1 if task.higher_is_better else 1
        for seed in (0, 1):
            for place, entrant in enumerate(task.entrants):
                head = (task.name, entrant.name, seed, "C=1")
                if entrant is task.entrants[-1]:
                    fits.append(make(*head, error="ImportError: no such module"))
                    continue
                score = 50.0 + sign * (place + 0.1 * seed)
                gap = 1e-4 if entrant.is_ours else nan
                numbers = (score, score, 0.1 * (1 + place), 0.01, 10 + place, gap, 1.0 + place)
                fits.append(make(*head, *numbers))
    return fits


def test_records_survive_the_file(parts: dict[str, Any], tmp_path: Path) -> None:
    """What is read is what was kept in memory, nan and words included, and files grow."""
    fits = parts["peers_fits"]
    records = [
        fits.Fit("digits", "SVC", 0, "C=1", 5.25, 5.5, 0.1234567, 0.2, 600.0),
        fits.Fit("digits", "colboost", 0, "C=1, D=2", error='GurobiError: "too large", it said'),
    ]
    store = parts["study_jobs"].Store(tmp_path / "fits.csv", fits.Fit)
    for record in records:
        store.extend([record])
    again = parts["study_jobs"].Store(tmp_path / "fits.csv", fits.Fit).rows
    assert [repr(row) for row in again] == [repr(row) for row in store.rows]
    assert again[0].fit_seconds == 0.123457
    assert isnan(again[1].test)
    assert again[1].error == records[1].error


def test_validation_chooses_for_every_seed(parts: dict[str, Any]) -> None:
    """The best validation score wins, of equals the smallest model; test rows have no say."""
    fits = parts["peers_fits"]
    base = fits.Fit("task", "model", 0, "a", 5.0, 1.0, 1.0, 1.0, 30.0)
    runs = [
        base,
        replace(base, candidate="b", validation=4.0, test=9.0, fit_seconds=2.0),
        replace(base, candidate="c", validation=4.0, test=3.0, size=20.0),
        replace(base, seed=1, candidate="b", test=5.0),
        fits.Fit("task", "model", 1, "a", error="ValueError: no"),
        fits.Fit("task", "other", 0, "a", error="ImportError: no"),
    ]
    found = fits.summarised(runs, "task", higher_is_better=False)
    own = found["model"]
    assert [fit.candidate for fit in own.fits] == ["c", "b"]
    assert own.mean("test") == 4.0
    assert own.spread("test") == pytest.approx(np.sqrt(2))
    assert own.total_seconds == 2.5
    assert own.error == "ValueError: no"
    assert found["other"].fits == []
    assert fits.summarised(runs, "task", True)["model"].fits[0].candidate == "a"


def test_entrants_take_turns_and_errors_are_kept(parts: dict[str, Any]) -> None:
    """First candidates come first; a package that is not there becomes a record, once a seed."""
    make, Task = parts["peers_entrants"].Entrant, parts["peers_tasks"].Task
    ours = parts["peers_entrants"].ours("LPBoostClassifier", [{"C": 0.1}, {"C": 1.0}], "stumps")

    def absent(**_: Any) -> Any:
        import no_such_package_as_this  # noqa: F401

    missing = make("Absent", "absent", absent, [{}, {}], float, "trees")
    task = Task("few", "Few rows", "error, %", lambda _: None, (ours, missing), "")
    found = list(parts["peers_fits"].measured(task, 3, few_rows(parts)))
    names = ["LPBoostClassifier", "Absent", "LPBoostClassifier"]
    assert [fit.model for fit in found] == names
    assert [fit.candidate for fit in found] == ["C=0.1", "default", "C=1.0"]
    assert found[1].error == "ModuleNotFoundError: No module named 'no_such_package_as_this'"
    for fit in (found[0], found[2]):
        assert not fit.error
        assert fit.seed == 3
        assert 0 <= fit.test < 30
        assert fit.size >= 1
        assert fit.gap < 1e-3


def test_all_have_the_same_number_of_candidates_at_most(
    parts: dict[str, Any], tasks: list[Any]
) -> None:
    """Nobody tries more than six, names are unique, and every task has ours and others."""
    for task in tasks:
        names = [entrant.name for entrant in task.entrants]
        assert len(set(names)) == len(names)
        assert {entrant.is_ours for entrant in task.entrants} == {True, False}
        for entrant in task.entrants:
            assert 1 <= len(entrant.candidates) <= parts["peers_entrants"].MOST_CANDIDATES
            tried = {parts["peers_fits"].worded(own) for own in entrant.candidates}
            assert len(tried) == len(entrant.candidates)


def test_rows_are_split_and_scaled_without_the_test_rows(parts: dict[str, Any]) -> None:
    """Three exclusive parts, means 0 and deviations 1 of the training rows alone."""
    rows = parts["peers_tasks"].diabetes_rows(0)
    sizes = [len(y) for y in rows.y]
    assert sizes == [265, 89, 88]
    X = rows.forms["numbers"][0]
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    assert abs(rows.y[2].mean()) > 1e-6
    other = parts["peers_tasks"].diabetes_rows(1)
    assert not np.allclose(other.y[2], rows.y[2])


def test_latent_factors_have_the_reference_s_coefficients(parts: dict[str, Any]) -> None:
    """Ours and scikit-learn's differ by rounding, and the difference is a number of the record."""
    rows = parts["peers_tasks"].latent_rows(80, 15, seed=0, n_test=40)
    entrants = parts["peers_entrants"].latent_entrants(parts["peers_tasks"].FACTORS)[:2]
    for entrant in entrants:
        model = entrant.make().fit(rows.forms["numbers"][0], rows.y[0])
        assert entrant.compared(model, rows) < 1e-8
        model.coef_ = model.coef_ * 1.01
        assert entrant.compared(model, rows) == pytest.approx(0.01, rel=1e-6)


def test_tables_and_picture_are_made_of_the_records(
    parts: dict[str, Any], tasks: list[Any], tmp_path: Path
) -> None:
    """Every task has its table, winners are bold, failures are listed with the error."""
    fits = [fit for fit in invented(parts, tasks) if (fit.model, fit.seed) != ("SVC, RBF", 1)]
    make = parts["peers_fits"].Class
    classes = [
        make("cgboost.LPBoostClassifier", "cgboost", "1.0", "BSD-3-Clause", ">=3.11", 60),
        make("p.Peer", "peer", "2.0", "MIT", "not stated", 60, "check_a check_b", 3.0, "late"),
        make("gurobipy", "gurobipy", "13", "Proprietary", ">=3.10", error="no estimator"),
    ]
    parts["peers_page"].draw(tasks, fits, tmp_path / "peers.png")
    found = parts["peers_page"].tables_of(tasks, fits, classes, "Python 3")
    page = "\n".join(found.values())
    assert (tmp_path / "peers.png").stat().st_size > 10_000
    assert all(task.title in found["made"] for task in tasks)
    assert found["leaders"].count("\n") == 5
    assert "| **50.05 ± 0.07** | SVC, RBF | 54.00 |" in found["leaders"]
    assert "**50.05 ± 0.07**" in page
    assert "`ImportError: no such module`" in page
    assert "| SVC, RBF (1 of 2 seeds) | 54.00 |" in page
    assert "| PLS | ikpls |  |  | not checked |" in page
    assert "| Peer | peer | 2 | 60 | a, b; late |" in page
    assert "| gurobipy | 13 | Proprietary | >=3.10 |" in page
    assert "| gurobipy | gurobipy |" not in page
    for wrong in ("nan", " inf"):
        assert wrong not in page


def test_checks_are_run_in_a_process_of_their_own(parts: dict[str, Any]) -> None:
    """A class that is not there is named with its error; packages say who they are."""
    checks, failed, error = parts["peers_classes"].outcome("no_such_package_as_this.Model", 60)
    assert (checks, failed) == (0, "")
    assert error.startswith("ModuleNotFoundError")
    version, licence, python = parts["peers_classes"].about("scikit-learn")
    assert version
    assert licence == "BSD-3-Clause"
    assert python.startswith(">=3")
    assert parts["peers_classes"].about("no-such-package-as-this")[0] == "not installed"
