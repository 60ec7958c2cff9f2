"""The parts of `examples/own_parts`, which a page includes, against independent answers."""

import re
import runpy
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet, Lasso, QuantileRegressor
from sklearn.metrics.pairwise import laplacian_kernel

from cgboost import CGBoostClassifier, ColumnGeneration, KernelLibrary, Linear, LPBoostClassifier
from cgboost.exceptions import warn_caller
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.pricing import FeaturePricer
from solvers import InfeasibleError, Program, UnboundedError, solve
from solvers import api as registry

ROOT = Path(__file__).parents[1]
PARTS = ROOT / "examples" / "own_parts"
NAMES = sorted(path.stem for path in PARTS.glob("*.py"))


def part(name: str) -> dict[str, Any]:
    """What an example defines, without running it."""
    return runpy.run_path(str(PARTS / f"{name}.py"))


@pytest.mark.parametrize("name", NAMES)
def test_every_part_runs_as_a_script(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each shows itself at work, and is included by the page."""
    registered = dict(registry.BACKENDS)
    try:
        runpy.run_path(str(PARTS / f"{name}.py"), run_name="__main__")
    finally:
        registry.BACKENDS.clear()
        registry.BACKENDS.update(registered)
    assert capsys.readouterr().out
    page = (ROOT / "docs" / "user_guide" / "own_parts.md").read_text(encoding="utf-8")
    assert f"examples/own_parts/{name}.py" in page


def contributing(section: str) -> list[str]:
    """The Python blocks of a section of CONTRIBUTING."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (found,) = [part for part in text.split("\n## ") if part.startswith(f"{section}\n")]
    return re.findall(r"```python\n(.*?)```", found, re.S)


def test_the_recipes_of_contributing_show_code_that_is_tested() -> None:
    """Every Python block there is an excerpt of a part."""
    sources = "\n".join((PARTS / f"{name}.py").read_text(encoding="utf-8") for name in NAMES)
    blocks = contributing("Recipes")
    assert blocks
    for block in blocks:
        assert block.strip() in sources


def test_the_recipe_for_deprecations_warns_of_the_old_name_only() -> None:
    """The class of its one block works, warns when the old parameter is given, and else not."""
    (block,) = contributing("Deprecations")
    space = {"__name__": "recipe", "dataclass": dataclass, "field": field, "Any": Any}
    space |= {"CGBoostClassifier": CGBoostClassifier}
    space["warn_caller"] = warn_caller
    exec(compile(block, "CONTRIBUTING.md", "exec", dont_inherit=True), space)
    X = np.random.default_rng(6).normal(size=(30, 2))
    library = KernelLibrary({"linear": Linear()})
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        space["KernelClassifier"](library).fit(X, X[:, 0] > 0)
    with pytest.warns(FutureWarning, match="called library"):
        space["KernelClassifier"](library, kernels=library).fit(X, X[:, 0] > 0)


def test_no_code_of_contributing_is_in_another_section() -> None:
    """So that the two tests above see all of it."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(contributing("Recipes") + contributing("Deprecations")) == text.count("```python")


def test_the_kernel_is_scikit_learns_laplacian() -> None:
    """Values, diagonal and the width that `fit` chooses."""
    kernel = part("kernel")["Laplacian"]()
    X = np.random.default_rng(0).normal(size=(40, 3))
    fitted = kernel.fit(X)
    assert fitted(X, X[:7]) == pytest.approx(laplacian_kernel(X, X[:7], gamma=fitted.gamma))
    assert fitted.diagonal(X) == pytest.approx(np.diag(fitted(X, X)))
    assert np.median(-np.log(fitted(X, X)[np.triu_indices(40, 1)])) == pytest.approx(1.0)


def test_a_model_over_the_kernel_is_certified() -> None:
    """A library takes it like one of its own, in float32 too."""
    X = np.random.default_rng(1).normal(size=(80, 4)).astype(np.float32)
    library = KernelLibrary({"laplacian": part("kernel")["Laplacian"]()}, normalize=True)
    model = CGBoostClassifier(library, penalty="l1").fit(X, X[:, 0] > 0)
    assert model.converged_
    assert list(model.columns_per_kernel_) == ["laplacian"]


@pytest.mark.parametrize("level", [0.1, 0.5, 0.8])
def test_quantile_regression_reaches_the_optimum_of_scikit_learn(level: float) -> None:
    """Minimising Σ|α| + p·Σ pinball is scikit-learn's QuantileRegressor at alpha = 1/(n p)."""
    rng = np.random.default_rng(2)
    H, noise = rng.normal(size=(60, 12)), rng.standard_t(3, size=60)
    y, price = H[:, 0] - 2.0 * H[:, 1] + noise, 0.4
    result = part("loss")["quantile_regression"](H, y, level, price)
    other = QuantileRegressor(quantile=level, alpha=1.0 / (60 * price)).fit(H, y)
    below = y - other.predict(H)
    pinball = np.maximum(level * below, (level - 1.0) * below).sum()
    assert result.gap <= 1e-8
    assert result.objective == pytest.approx(np.abs(other.coef_).sum() + price * pinball, rel=1e-7)


def test_products_are_priced_as_if_they_were_written_down() -> None:
    """The same optimum as over the matrix of all features and products; new rows too."""
    functions, rng = part("pricer"), np.random.default_rng(3)
    X = rng.normal(size=(90, 6))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0, 1.0, -1.0)
    result = functions["fit"](X, y, price=0.5)
    first, second = np.triu_indices(6)
    H = np.hstack([X, X[:, first] * X[:, second]])
    master = OneNormMaster(hinge(y, np.full(90, 0.5)), offset="free")
    by_matrix = ColumnGeneration(master, FeaturePricer(H), tol=1e-8).run()
    assert result.gap <= 1e-6
    assert result.objective == pytest.approx(by_matrix.objective, rel=1e-5)
    output = result.ensemble.decision_function(functions["with_ones"](X))
    errors = 0.5 * np.maximum(0.0, 1.0 - y * output).sum()
    assert np.abs(result.coef).sum() + errors == pytest.approx(result.objective, rel=1e-6)


@pytest.mark.parametrize("penalty", [1.0, 5.0])
def test_the_lasso_master_agrees_with_coordinate_descent(penalty: float) -> None:
    """Bound ≤ optimum ≤ objective in every round, and scikit-learn's optimum at the end."""
    rng = np.random.default_rng(4)
    H = rng.normal(size=(50, 120))
    y = H[:, :3].sum(axis=1) + 0.3 * rng.normal(size=50)
    master = part("master")["LassoMaster"](y, penalty)
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-7).run()
    other = Lasso(alpha=penalty / 50, fit_intercept=False, tol=1e-12, max_iter=100000).fit(H, y)
    optimum = 0.5 * ((y - other.predict(H)) ** 2).sum() + penalty * np.abs(other.coef_).sum()
    assert result.objective == pytest.approx(optimum, rel=1e-6)
    assert result.gap <= 1e-7
    assert np.all(result.history["objective"] >= optimum * (1 - 1e-7))
    assert not np.any(result.history["bound"] > optimum * (1 + 1e-7))


def test_the_penalty_is_scikit_learns() -> None:
    """Coefficients, intercept and objective are those of its elastic net; the bounds are valid."""
    rng = np.random.default_rng(2)
    H = rng.normal(size=(60, 80))
    y = 2.0 * H[:, 0] - H[:, 1] + rng.normal(size=60) + 3.0
    theirs = ElasticNet(alpha=0.2, l1_ratio=0.6, tol=1e-12, max_iter=10**6).fit(H, y)
    result = part("penalty")["elastic_net"](H, y, 0.2, 0.6)
    coef = np.zeros(80)
    coef[[column.key[1] for column in result.columns]] = result.coef
    assert coef == pytest.approx(theirs.coef_, abs=1e-5)
    assert result.intercept == pytest.approx(theirs.intercept_, abs=1e-5)
    error = np.square(y - theirs.predict(H)).mean() / 2
    penalty = 0.2 * (0.6 * np.abs(theirs.coef_).sum() + 0.2 * theirs.coef_ @ theirs.coef_)
    assert result.objective == pytest.approx(error + penalty, rel=1e-7)
    assert np.all(result.history["bound"] <= result.objective + 1e-8)


def test_the_backend_solves_and_refuses_like_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Optimum, duals of the right signs, typed errors, and a model that it carries to the end."""
    monkeypatch.setitem(registry.BACKENDS, "scipy-ipm", part("backend")["IPM"])
    rng = np.random.default_rng(5)
    matrix, inside = rng.normal(size=(6, 9)), rng.uniform(0.2, 1.0, size=9)
    program = Program(
        cost=rng.normal(size=9),
        matrix=matrix,
        row_lower=np.r_[matrix[:3] @ inside, matrix[3:] @ inside - 1.0],
        row_upper=np.r_[matrix[:3] @ inside, matrix[3:] @ inside + 1.0],
        upper=2.0,
    )
    ours, theirs = solve(program, "scipy-ipm"), solve(program, "highs")
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-8)
    assert ours.row_duals == pytest.approx(theirs.row_duals, abs=1e-6)
    with pytest.raises(InfeasibleError):
        solve(
            Program([1.0], [[1.0], [1.0]], row_lower=[2.0, 0.0], row_upper=[3.0, 1.0]), "scipy-ipm"
        )
    with pytest.raises(UnboundedError):
        solve(Program([-1.0], [[1.0]], row_lower=[0.0]), "scipy-ipm")
    X = rng.normal(size=(60, 3))
    models = [
        LPBoostClassifier(solver=name).fit(X, X[:, 0] > 0.2) for name in ("scipy-ipm", "highs")
    ]
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=1e-4)
