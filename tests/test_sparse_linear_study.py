"""The study of sparse linear models: its rows, objective, linear programs, records and tables."""

import runpy
from dataclasses import replace
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_matrix

from tests.studies.modules import modules

ROOT = Path(__file__).parents[1]


parts = modules(
    "benchmarks/sparse_linear",
    "sparse_data sparse_solvers sparse_worker sparse_records sparse_page sparse_tasks",
)
"""Those of the study."""


@pytest.fixture(params=["quantile", "hinge"])
def problem(parts: dict[str, Any], request: pytest.FixtureRequest) -> Any:
    """Few rows."""
    few = parts["sparse_worker"].few_rows(request.param, penalised=True)
    return replace(few, quantile=0.3)


def test_objective_is_the_public_one(parts: dict[str, Any]) -> None:
    """Mean pinball loss + α Σ|β|, and Σ|β| + C times the hinge losses, written out."""
    rng = np.random.default_rng(1)
    coef, intercept, few = rng.standard_normal(5), 0.4, parts["sparse_worker"].few_rows
    rows = replace(few("quantile", penalised=True), quantile=0.3)
    errors = rows.y - rows.X @ coef - intercept
    pinball = np.maximum(0.3 * errors, -0.7 * errors).mean()
    expected = pinball + rows.cost * np.abs(coef).sum()
    np.testing.assert_allclose(rows.objective(coef, intercept), expected, rtol=1e-12)
    rows = replace(few("hinge", penalised=True), cost=2.5)
    losses = np.maximum(0.0, 1.0 - rows.y * (rows.X @ coef + intercept)).sum()
    expected = np.abs(coef).sum() + 2.5 * losses
    np.testing.assert_allclose(rows.objective(coef, intercept), expected, rtol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_full_program_and_its_dual_have_our_optimum(
    parts: dict[str, Any], problem: Any, sparse: bool
) -> None:
    """Both linear programs give coefficients of the objective that we certify."""
    solvers = parts["sparse_solvers"]
    fitted = solvers.by_column_generation(problem)
    asked = replace(problem, X=csc_matrix(problem.X)) if sparse else problem
    for program in (solvers.full_program, solvers.dual_program):
        found = program(asked, solver="choose")
        np.testing.assert_allclose(
            asked.objective(found.coef, found.intercept), fitted.bound, rtol=1e-5
        )
        assert fitted.bound <= asked.objective(found.coef, found.intercept) * (1 + 1e-9)


def test_scikit_learn_solves_the_same_problem(parts: dict[str, Any]) -> None:
    """The cost that is passed on is scikit-learn's alpha."""
    solvers = parts["sparse_solvers"]
    few = parts["sparse_worker"].few_rows("quantile", penalised=True)
    found = solvers.scikit_quantile(few, "highs")
    expected = solvers.full_program(few, "choose")
    np.testing.assert_allclose(
        few.objective(found.coef, found.intercept),
        few.objective(expected.coef, expected.intercept),
        rtol=1e-6,
    )


def test_rows_are_those_of_the_public_benchmark(parts: dict[str, Any]) -> None:
    """Neighbouring features have the correlation ρ, the next ones ρ², and all variance 1."""
    X, _ = parts["sparse_data"].correlated_rows(4000, 20, 0.6)
    found = np.corrcoef(X.T)
    np.testing.assert_allclose(np.diagonal(found, offset=1), 0.6, atol=0.06)
    np.testing.assert_allclose(np.diagonal(found, offset=2), 0.36, atol=0.08)
    np.testing.assert_allclose(X.std(axis=0), 1.0, atol=0.06)


@pytest.mark.parametrize("ahead", [20, 6])
def test_from_the_largest_penalty_on_there_are_no_coefficients(
    parts: dict[str, Any], ahead: int
) -> None:
    """With classes of any sizes; below it there are some where the sizes are equal."""
    data, solvers = parts["sparse_data"], parts["sparse_solvers"]
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 8)), np.where(np.arange(40) < ahead, 1.0, -1.0)
    largest = data.largest_hinge_penalty(X, y)
    above = data.Problem("hinge", X, y, 1.0 / (1.001 * largest))
    assert not solvers.full_program(above, "choose").coef.any()
    if ahead == 20:
        below = replace(above, cost=1.0 / (0.9 * largest))
        assert solvers.full_program(below, "choose").coef.any()


def test_large_rows_are_drawn_in_blocks(parts: dict[str, Any]) -> None:
    """All rows and targets are drawn, also those behind the last whole block."""
    data = parts["sparse_data"]
    rows = data.wide_table(data.BLOCK_ROWS + 7, 3, 0.5, 0.1)
    assert rows.X.shape == (data.BLOCK_ROWS + 7, 3)
    assert (rows.X != 0).all()
    assert (rows.y != 0).all()
    assert rows.cost > 0
    assert data.wide_table(50, 3, 0.0, 0.0).cost == 0.0


def test_sparse_rows_have_their_share_of_numbers(parts: dict[str, Any]) -> None:
    """One place in a hundred; documents have length 1; both classes have half of the rows."""
    data = parts["sparse_data"]
    gaussians = data.sparse_gaussians(200, 500, 0.01, 0.1)
    assert 700 < gaussians.X.nnz < 1300
    words = data.word_counts(300, 3000, 50, 0.1)
    lengths = np.sqrt(np.asarray(words.X.multiply(words.X).sum(axis=1)).ravel())
    np.testing.assert_allclose(lengths, 1.0)
    for rows in (gaussians, words):
        assert abs(rows.y.sum()) <= 2


def test_two_gaussians_are_the_design_of_the_paper(parts: dict[str, Any]) -> None:
    """Columns of length 1; the first ten tell the classes apart, the others do not."""
    rows = parts["sparse_data"].two_gaussians(400, 50)
    np.testing.assert_allclose(np.linalg.norm(rows.X, axis=0), 1.0)
    scores = rows.X.T @ rows.y / np.sqrt(400)
    assert (scores[:10] > 0.5).all()
    assert (np.abs(scores[10:]) < 0.3).all()


def test_a_solver_that_fails_is_an_answer(parts: dict[str, Any]) -> None:
    """Its error is kept, and there is no time."""
    worker, solvers, tasks = (parts[f"sparse_{x}"] for x in ("worker", "solvers", "tasks"))

    def fail(problem: Any) -> Any:
        raise MemoryError("no room for it")

    task = tasks.Task("svm", "few", lambda: worker.few_rows("hinge", penalised=True), ())
    found = worker.answer(solvers.Solver("none", "none", fail), task, set())
    assert found.error == "MemoryError: no room for it"
    assert isnan(found.seconds)


def test_an_answer_has_objective_bound_and_coefficients(parts: dict[str, Any]) -> None:
    """The objective is evaluated from the coefficients; of another loss there is none."""
    worker, solvers, tasks = (parts[f"sparse_{x}"] for x in ("worker", "solvers", "tasks"))
    task = tasks.Task("svm", "few", lambda: worker.few_rows("hinge", penalised=True), ())
    ours = worker.answer(solvers.SOLVERS[solvers.OURS], task, set())
    assert not ours.error
    assert ours.nonzeros > 0
    assert ours.megabytes > 0
    assert ours.bound <= ours.objective <= ours.bound * (1 + 2e-6)
    other = worker.answer(solvers.SOLVERS[solvers.LINEAR_SVC], task, set())
    assert isnan(other.objective)
    assert not other.error


def test_every_task_has_a_name_of_its_own_and_known_solvers(parts: dict[str, Any]) -> None:
    """54 settings of the public benchmark, and nothing that cannot be looked up."""
    tasks, solvers = parts["sparse_tasks"], parts["sparse_solvers"]
    every = list(tasks.all_tasks())
    assert len({task.name for task in every}) == len(every)
    assert sum(task.group == tasks.SETTINGS for task in every) == 54
    assert {name for task in every for name in task.solvers} <= set(solvers.SOLVERS)


def measured(parts: dict[str, Any], **own: Any) -> Any:
    """A record."""
    given = {"group": "svm", "task": "t", "solver": "cgboost", "version": "1", "seconds": 0.5}
    given |= {"objective": 2.0, "bound": nan, "nonzeros": 3, "megabytes": nan, "error": ""}
    return parts["sparse_records"].Measured(**(given | own))


def test_of_several_records_the_last_counts(parts: dict[str, Any], tmp_path: Path) -> None:
    """Records are read as they were written, with the digits that a gap of 1e-6 needs."""
    store = parts["sparse_records"].records(tmp_path)
    store.extend([measured(parts), measured(parts, objective=1.000000123456)])
    again = parts["sparse_records"].records(tmp_path).rows
    assert again[1].objective == 1.000000123456
    assert parts["sparse_records"].latest(again)["t"]["cgboost"] == again[1]


def test_a_solver_that_was_stopped_counts_with_its_limit(parts: dict[str, Any]) -> None:
    """Its ratio is at least that; one that ended is faster than one that was stopped."""
    page = parts["sparse_page"]
    ours = measured(parts, bound=1.0, objective=1.0)
    late = measured(parts, solver="a", seconds=nan, objective=nan, error="stopped after 60 s")
    slow = measured(parts, solver="b", seconds=2.0, objective=1.5)
    assert page.least_ratio(late, ours) == 120.0
    assert page.least_ratio(slow, ours) == 4.0
    assert isnan(page.ratio(late, ours))
    assert page.fastest({"a": late, "b": slow}, ("a", "b")) is slow
    assert page.seconds(late) == "> 60 s"
    assert page.suboptimality(slow, 1.0) == 0.5
    assert isnan(page.suboptimality(late, 1.0))


PUBLIC = """class Dataset(BaseDataset):
    stop_strategy = "tolerance"

    def __init__(self, n_samples=10, rho=0):
        # Store the parameters
        self.n_samples = n_samples
"""


def test_the_public_benchmark_is_changed_in_two_places() -> None:
    """Benchopt's own __init__ is called, the strategy has its new name; again changes nothing."""
    change = runpy.run_path(str(ROOT / "benchmarks" / "benchopt" / "__main__.py"))
    once = change["for_current_benchopt"](PUBLIC)
    assert "rho=0):\n        super().__init__()\n        # Store" in once
    assert 'sampling_strategy = "tolerance"' in once
    assert "stop_strategy" not in once
    assert len(once.splitlines()) == len(PUBLIC.splitlines()) + 1
    assert change["for_current_benchopt"](once) == once


def test_a_folder_without_the_public_benchmark_is_named(tmp_path: Path) -> None:
    """It is not there, and nothing is written."""
    change = runpy.run_path(str(ROOT / "benchmarks" / "benchopt" / "__main__.py"))
    with pytest.raises(FileNotFoundError, match="--public must be a clone"):
        change["prepared"](tmp_path / "none", tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_records_of_benchopt_are_compared_at_the_lowest_objective(parts: dict[str, Any]) -> None:
    """The first point with it gives the time; how far both are above the lowest of all is told."""

    def row(solver: str, time: str, value: str) -> dict[str, str]:
        names = {"data_name": "d", "dataset_name": "d", "objective_name": "o"}
        return names | {"solver_name": solver, "time": time, "objective_value": value}

    rows = [
        row("cgboost[tol=0.001]", "0.1", "2.5"),
        row("cgboost[tol=1e-06]", "0.2", "2.0"),
        row("other", "1.0", "9.0"),
        row("other", "3.0", "4.0"),
    ]
    found = parts["sparse_page"].benchopt_rows(rows)
    assert found == [["d", "o", "0.200", "0", "other", "3.000", "1e+00"]]


def test_the_guide_shows_the_tables_of_the_records(parts: dict[str, Any], tmp_path: Path) -> None:
    """Those that it has markers for; others of the study do not come into it."""
    page = parts["sparse_page"]
    guide = tmp_path / "guide.md"
    text = page.GUIDE.read_text(encoding="utf-8")
    guide.write_text(text + "\n<!-- table: svm -->\n<!-- /table -->\n", encoding="utf-8")
    folder = ROOT / "docs" / "studies" / "sparse_linear"
    page.refresh_guide(guide, page.tables(folder))
    found = guide.read_text(encoding="utf-8")
    assert found.startswith(text)
    assert page.tables(folder)["svm"] in found
