"""The study after SimpleMKL: its library, SimpleMKL itself, choices, tables and the picture."""

import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from cgboost import CGBoostClassifier
from cgboost.penalties import SquaredGroupNorm
from tests.studies.modules import modules

ROOT = Path(__file__).parents[1]


parts = modules("benchmarks/multiple_kernels", "mkl_data mkl_methods mkl_fits mkl_page simple_mkl")
"""Those of the study."""


@pytest.fixture(scope="module")
def rows(parts: dict[str, Any]) -> Any:
    """A split of few rows with three features, and 52 kernels."""
    X, y = load_breast_cancer(return_X_y=True)
    return parts["mkl_data"].split(X[:140, :3], 2.0 * y[:140] - 1.0, 0)


def test_there_are_thirteen_kernels_on_all_features_and_on_each(rows: Any) -> None:
    """13 (d + 1) kernels with K(x, x) = 1, on rows of mean 0 and variance 1."""
    assert len(rows.names) == len(rows.grams) == 13 * 4
    assert len(rows.y) == 98
    np.testing.assert_allclose(np.diagonal(rows.grams, axis1=1, axis2=2), 1.0)
    np.testing.assert_allclose(rows.X.mean(axis=0), 0.0, atol=1e-12)
    assert rows.cross.shape == (52, 42, 98)


def test_folds_are_parts_of_the_training_rows(parts: dict[str, Any], rows: Any) -> None:
    """Gram matrices of a fold are those of its rows, and every row is tested once."""
    found = list(parts["mkl_data"].folds(rows, 0))
    assert sum(len(part.y_test) for part in found) == len(rows.y)
    kernel = next(iter(rows.library.fit(rows.X).values()))
    for part in found:
        np.testing.assert_allclose(part.grams[0], kernel(part.X, part.X), atol=1e-12)
        np.testing.assert_allclose(part.cross[0], kernel(part.X_test, part.X), atol=1e-12)


def test_simple_mkl_and_the_squared_group_norm_are_one_problem(
    parts: dict[str, Any], rows: Any
) -> None:
    """At the same scales and C both have one objective, up to the gap of SimpleMKL."""
    simple, C = parts["mkl_methods"].simple, 1.0
    for standardize in (True, False):
        penalty = SquaredGroupNorm(standardize=standardize)
        ours = CGBoostClassifier(rows.library, penalty=penalty, C=C, tol=1e-6).fit(rows.X, rows.y)
        found = simple(rows, (C, standardize))
        assert found.gap <= parts["simple_mkl"].GAP
        assert ours.objective_ * (1 - 1e-6) <= found.objective
        assert found.objective <= ours.objective_ * (1 + 1.5 * found.gap + 1e-6)


def test_the_weights_of_simple_mkl_are_those_of_its_outputs(
    parts: dict[str, Any], rows: Any
) -> None:
    """Outputs are those of a support vector machine with the kernel Σ d_p K_p."""
    found = parts["simple_mkl"].SimpleMKL(rows.grams, rows.y, 1.0).solve()
    methods = parts["mkl_methods"]
    gram, cross = (methods.weighted(own, found.weights) for own in (rows.grams, rows.cross))
    expected = methods.machine(gram, cross, rows.y, 1.0)
    np.testing.assert_allclose(found.outputs(rows.cross), expected, atol=0.02)


def test_the_two_norm_is_a_machine_with_the_sum_of_squared_kernels(
    parts: dict[str, Any], rows: Any
) -> None:
    """The folds of the 2-norm may use the faster form: it decides alike."""
    methods = parts["mkl_methods"]
    method = methods.METHODS[methods.L2]
    ours, [fast] = method.fit(rows, 1e-3).outputs, method.outputs(rows, [1e-3])
    assert np.mean(np.sign(ours) == np.sign(fast)) > 0.95
    np.testing.assert_allclose(ours, fast, atol=0.1)


@pytest.mark.parametrize("name", ["L1", "GROUP", "SQUARED"])
def test_the_folds_of_our_penalties_use_paths(parts: dict[str, Any], rows: Any, name: str) -> None:
    """A path has the models of single fits, in the order of the choices."""
    methods = parts["mkl_methods"]
    method = methods.METHODS[getattr(methods, name)]
    choices = method.choices[-4:]
    for choice, outputs in zip(choices, method.outputs(rows, choices), strict=True):
        single = method.fit(rows, choice).outputs
        assert np.mean(np.sign(single) == np.sign(outputs)) > 0.9
        assert rows.accuracy(single) == pytest.approx(rows.accuracy(outputs), abs=5.0)


def test_every_method_is_measured_once_and_the_tables_have_its_numbers(
    parts: dict[str, Any], rows: Any, tmp_path: Path
) -> None:
    """Records, tables and the picture of two splits; SimpleMKL has the C of the squared norm."""
    fits, methods, page = (parts[name] for name in ("mkl_fits", "mkl_methods", "mkl_page"))
    names = [methods.UNIFORM, methods.SINGLE, methods.GROUP, methods.SQUARED]
    names += [methods.SIMPLE, methods.SIMPLE_PAPER]
    with pytest.MonkeyPatch.context() as patch:
        short = {
            name: replace(method, choices=method.choices[-2:])
            for name, method in methods.METHODS.items()
        }
        patch.setattr(fits, "METHODS", short)
        first = list(fits.measured("pima", 0, rows, names[:4], {}))
        there = {record.method: record for record in first}
        first += fits.measured("pima", 0, rows, names[4:], there)
    assert [record.method for record in first] == names
    assert fits.cost_of(first[4]) == fits.cost_of(first[3])
    assert first[4].objective >= first[3].objective * (1 - 1e-4)
    again = [replace(record, seed=1) for record in first]
    store = importlib.import_module("study_jobs").Store(tmp_path / "simple_mkl.csv", fits.Measured)
    store.extend([*first, *again, replace(first[0], seed=2)])
    (tmp_path / "simple_mkl.txt").write_text("numpy 2\n", encoding="utf-8")
    found = page.tables(tmp_path)
    assert f"| {methods.UNIFORM} | " in found["accuracy"]
    assert "| pima 2 | 13 |" in found["made"]  # the third split is not whole
    assert "nan" not in "".join(found.values())
    page.draw(store.rows, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5_000


def test_the_page_of_the_method_has_the_tables_of_the_study(parts: dict[str, Any]) -> None:
    """Both pages are what refreshing makes of them."""
    tool, page = importlib.import_module("page_tables"), parts["mkl_page"]
    found = page.of_method_page(page.tables(ROOT / "docs" / "studies" / "simple_mkl"))
    text = (ROOT / "docs" / "methods" / "multiple_kernel_learning.md").read_text(encoding="utf-8")
    assert tool.refreshed(text, found) == text
