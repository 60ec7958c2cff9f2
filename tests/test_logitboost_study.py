"""The study of LogitBoost over lines, on few of the digits that scikit-learn ships."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits

from cgboost import LogitBoostClassifier
from cgboost.studies.datasets import odd_even_split
from tests.studies.modules import modules

parts = modules("examples/reproduce/logitboost", "study_jobs logit_models logit_classes logit_page")
"""Those of the study."""


@pytest.fixture(scope="module")
def case(parts: dict[str, Any]) -> Any:
    """Few images, odd against even."""
    split = odd_even_split(train=150, validation=1, test=100, seed=0)
    return parts["logit_models"].Case(split.X_train, split.y_train, split.X_test, split.y_test)


def test_everything_is_measured_and_the_tables_and_pictures_are_made(
    parts: dict[str, Any], case: Any, tmp_path: Path
) -> None:
    """Both kinds of split; what is known is not measured again, and the tables have its numbers."""
    form, models, page = parts["study_jobs"], parts["logit_models"], parts["logit_page"]
    with pytest.MonkeyPatch.context() as patch:
        for module in (models, page):
            patch.setattr(module, "ROUNDS", (1, 10, 30))
        patch.setattr(page, "SHOWN", (10, 30))
        patch.setattr(models, "LETTER_ROUNDS", 5)
        jobs = []
        for name, kind, seed in models.batches([0, 1]):
            for study, run in (("lines", models.lines_by_round), ("others", models.others)):
                jobs.append(
                    form.Job(
                        study,
                        f"{name}, {kind}",
                        seed,
                        lambda run=run, where=(name, kind, seed): run(case, *where),
                    )
                )
        jobs.append(
            form.Job(
                "letter", "MNIST", 0, partial(models.against_the_letter, case, "MNIST", "drawn", 0)
            )
        )
        store = form.Measured(tmp_path / "logitboost_study.csv")
        form.measure(store, jobs, ("numpy",))
        count = len(store.rows)
        form.measure(store, jobs, ("numpy",))
        assert len(store.rows) == count
        [loss] = store.chosen("lines", "Dorothea, as it comes", "loss")
        assert loss.values[0] > loss.values[1] > loss.values[2] > 0
        page.draw_curves(store, tmp_path / "curves.png")
        page.draw_coefficients(store, tmp_path / "pixels.png")
        assert all(path.stat().st_size > 5_000 for path in tmp_path.glob("*.png"))
        found = page.tables(tmp_path)
    assert "| MNIST, drawn | 30 |" in found["rounds"]
    assert "numpy" in found["made"]
    assert "nan" not in "".join(found.values())


def test_models_of_ten_classes_are_measured(parts: dict[str, Any], tmp_path: Path) -> None:
    """Together and each against the rest, a row of the table for each; errors are those seen."""
    data, classes = load_digits(return_X_y=True), parts["logit_classes"]
    case = parts["logit_models"].Case(data[0][:300], data[1][:300], data[0][300:], data[1][300:])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(classes.LEARNERS, "100 lines", 4)
        patch.setitem(classes.LEARNERS, "100 trees of depth 3", 4)
        records = classes.several_classes(case, 0)
    assert len(records) == 8
    model = LogitBoostClassifier(n_estimators=4).fit(case.X, case.y)
    test = 100 * (1 - model.score(case.X_test, case.y_test))
    assert records[0].values[1] == pytest.approx(test)
    store = parts["study_jobs"].Measured(tmp_path / "logitboost_study.csv")
    store.extend(records)
    found = parts["logit_page"].tables(tmp_path)["classes"]
    assert found.count("| together |") == found.count("| each against the rest |") == 4
    assert "nan" not in found


def test_the_notes_written_out_are_our_model(parts: dict[str, Any], case: Any) -> None:
    """Every line fitted and every loss evaluated: the same losses and coefficients."""
    X, y = case.X.astype(float), case.y.astype(float)
    coef, losses = parts["logit_models"].to_the_letter(X, y, 20)
    model = LogitBoostClassifier(n_estimators=20).fit(X, y)
    np.testing.assert_allclose(model.history_["objective"][1:21], losses, rtol=1e-9)
    np.testing.assert_allclose(model.coef_, coef[1:], atol=1e-8)


def test_splits_of_compounds_keep_the_shares_of_both_classes(parts: dict[str, Any]) -> None:
    """Features without a one among the training rows are left out, drawn splits are stratified."""
    data = parts["logit_models"]
    rng = np.random.default_rng(0)
    ones = rng.random((1150, 40)) < 0.05
    ones[:, 3] = False
    X = csr_matrix(ones * 1.0)
    y = np.where(np.arange(1150) % 10 == 0, 1.0, -1.0)
    whole = data.compounds(X, y, data.OFFICIAL, 0)
    assert whole.X.shape == (800, 39)
    np.testing.assert_array_equal(whole.y, y[:800])
    drawn = data.compounds(X, y, data.DRAWN, 1)
    assert len(drawn.y_test) == 350
    assert np.mean(drawn.y_test > 0) == pytest.approx(0.1, abs=0.003)
    assert drawn.X.sum(axis=0).min() >= 0.02 * 800
