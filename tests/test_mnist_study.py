"""The study of [B] section 5, on few of the digits that scikit-learn ships."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgboost import CGBoostClassifier
from cgboost.studies.datasets import Split, odd_even_split
from tests.studies.modules import modules

parts = modules(
    "examples/reproduce/mnist",
    "study_jobs mnist_models mnist_page",
    {
        "mnist_models.C_VALUES": (0.3, 3.0),
        "mnist_models.RAW_C_VALUES": (0.3, 3.0),
        "mnist_models.LIMITS": (10, 20),
        "mnist_page.LIMITS": (10, 20),
    },
)
"""Those of the study; two prices."""


@pytest.fixture(scope="module")
def split() -> Split:
    """Few images, odd against even."""
    return odd_even_split(train=80, validation=60, test=200, seed=0)


@pytest.fixture(scope="module")
def store_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the records are."""
    return tmp_path_factory.mktemp("study")


@pytest.fixture(scope="module")
def store(parts: dict[str, Any], split: Split, store_folder: Path) -> Any:
    """All that the study measures, on two copies of one split."""
    models, form = parts["mnist_models"], parts["study_jobs"]
    measured = form.Measured(store_folder / "mnist.csv")
    same, seeds = (lambda _: split), (0, 1)
    jobs = [job for name in models.SETTINGS for job in models.table_jobs(name, same, seeds)]
    jobs += [*models.limit_jobs(same, same, seeds), *models.figure_jobs(same, 0)]
    form.measure(measured, jobs, ("numpy",))
    return measured


def test_the_tables_and_the_pictures_are_made(
    parts: dict[str, Any], store: Any, store_folder: Path, tmp_path: Path
) -> None:
    """Table 1 in every setting and beside the paper's, with nothing missing."""
    pictures = parts["mnist_page"]
    pictures.draw_table(store, tmp_path / "table.png")
    pictures.draw_curves(store, 0, tmp_path / "curves.png")
    assert all(path.stat().st_size > 10_000 for path in tmp_path.glob("*.png"))
    found = parts["mnist_page"].tables(store_folder)
    for name in ("paper", *parts["mnist_models"].SETTINGS):
        assert found[name].count("| **L,Q,R** |") == 2
        assert found[name].count("| L+Q+R |") == 2
    assert found["limits"].count("MNIST") == 4
    assert "nan" not in "".join(found.values())


def test_the_settings_are_what_they_are_called(parts: dict[str, Any]) -> None:
    """α ≥ 0 forbids negated kernels; only the last setting has unscaled kernels."""
    settings = parts["mnist_models"].SETTINGS
    assert [setting.coef for setting in settings.values()] == ["free", "nonneg", "free"]
    libraries = [setting.library("L,R") for setting in settings.values()]
    assert [library.negation for library in libraries] == [True, False, True]
    assert [library.normalize for library in libraries] == [True, True, False]


def test_what_agrees_with_the_paper_is_stressed(parts: dict[str, Any]) -> None:
    """Numbers of columns agree within a factor; a kernel that is not there is none."""
    page = parts["mnist_page"]
    assert page.alike(100.0, 122)
    assert not page.alike(900.0, 122)
    assert page.alike(None, None)
    assert page.in_words([3.2, None, 7.0]) == "3 / – / 7"
    differences = page.claims(
        {
            "L": (9, 1),
            "Q": (8, 1),
            "R": (7, 1),
            "L+Q": (6, 1),
            "L+R": (5, 4),
            "L+Q+R": (6, 1),
            "L,Q,R": (4, 2),
        }
    )
    assert differences == ["-3.0", "-1.0", "0.5"]


def test_figures_are_those_of_the_models(parts: dict[str, Any], store: Any, split: Split) -> None:
    """Errors, columns and certificate of a row, against a fit by hand."""
    table = parts["mnist_models"]
    (own, _) = table.figures_of(store, table.FREE, "l1", "L+Q")
    library = parts["mnist_models"].parse_library("L+Q")
    model = CGBoostClassifier(library, C=own.C, penalty="l1", priority="full").fit(
        split.X_train, split.y_train
    )
    error = 100 * np.mean(model.predict(split.X_test) != split.y_test)
    assert own.test_error == pytest.approx(error, abs=1.0)
    assert own.columns == own.columns_l == own.columns_q
    assert own.columns_r == 0
    assert own.gap <= 1e-4
    mixture = table.figures_of(store, table.FREE, "l1", table.MIXTURE)[0]
    assert mixture.columns == mixture.columns_l + mixture.columns_q + mixture.columns_r


def test_the_curves_are_those_of_the_paper_s_figure(parts: dict[str, Any], store: Any) -> None:
    """One column a round, objectives that fall to the same optimum, fewer scores a round."""
    curves, curve = parts["mnist_models"], parts["mnist_page"].curve
    ends, each = [], []
    for order in curves.ORDERS:
        objective, columns, scored = (
            curve(store, curves.ORDER_STUDY, order, name, 0)
            for name in ("objective", "columns", "scored")
        )
        assert (np.diff(columns) <= 1).all()
        assert (np.diff(objective) <= 1e-9 * objective[0]).all()
        ends.append(objective[-1])
        each.append(scored[-1] / len(scored))
    assert ends == pytest.approx([ends[0]] * 3, rel=1e-4)
    assert max(each[1:]) < each[0]
    for C in (curves.GOOD_C, curves.BAD_C):
        columns = curve(store, curves.VALIDATION, f"{C:g}", "columns", 0)
        kept, end = curve(store, curves.VALIDATION, f"{C:g}", "stopped", 0)
        assert 0 <= kept <= end <= columns[-1]


def test_the_paper_s_figures_are_complete(parts: dict[str, Any]) -> None:
    """Seven rows a norm, the mixture last; composites have the same number of columns each."""
    for rows in parts["mnist_models"].PRINTED.values():
        assert list(rows) == ["L", "Q", "R", "L+Q", "L+R", "L+Q+R", "L,Q,R"]
        for kernels, row in rows.items():
            counts = {n for n, k in zip(row.columns, "LQR", strict=True) if k in kernels}
            assert None not in counts
            assert len(counts) == 1 or "," in kernels
