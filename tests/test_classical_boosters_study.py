"""The study of the classical boosters, on few of the digits that scikit-learn ships."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgboost import OrthogonalGreedyRegressor
from tests.studies.modules import modules

parts = modules("examples/reproduce/classical_boosters", "study_jobs booster_models booster_page")
"""Those of the study."""


@pytest.fixture(scope="module")
def images(parts: dict[str, Any]) -> Any:
    """Few of the small digits."""
    models = parts["booster_models"]
    whole = models.draw(models.SMALL, None, 0)
    return models.Case(whole.X[:300], whole.y[:300], whole.X_test[:200], whole.y_test[:200])


def few(parts: dict[str, Any], patch: pytest.MonkeyPatch) -> None:
    """Few rounds and small designs."""
    settings = {
        "ROUNDS": (1, 5, 12),
        "LORENZ": (1, 12),
        "SHOWN": (1, 12),
        "SHOWN_TREES": (1, 3),
        "HARDEST_ROUNDS": (5, 12),
        "TREE_ROUNDS": 3,
        "ROWS": (100,),
        "FEATURES": (40, 60),
    }
    for name in ("booster_models", "booster_page"):
        for setting, value in settings.items():
            if hasattr(parts[name], setting):
                patch.setattr(parts[name], setting, value)


def test_everything_is_measured_and_the_tables_and_pictures_are_made(
    parts: dict[str, Any], images: Any, tmp_path: Path
) -> None:
    """Curves are as they must be, and what is known is not measured again."""
    form, models = parts["study_jobs"], parts["booster_models"]
    with pytest.MonkeyPatch.context() as patch:
        few(parts, patch)
        jobs = []
        for seed in (0, 1):
            run = partial(models.adaboost, images, seed)
            jobs.append(form.Job("adaboost", models.MNIST, seed, run))
            for name in (models.SMALL, models.MNIST):
                run = partial(models.digits, name, images, seed)
                jobs.append(form.Job("digits", name, seed, run))
            for name in models.cells():
                jobs.append(form.Job("support", name, seed, partial(models.support, name, seed)))
            run = partial(models.statements, seed)
            jobs.append(form.Job("letter", models.LETTER, seed, run))
        store = form.Measured(tmp_path / "classical_boosters.csv")
        form.measure(store, jobs, ("numpy",))
        count = len(store.rows)
        form.measure(store, jobs, ("numpy",))
        assert len(store.rows) == count
        for seed in (0, 1):
            wrong, bound = (
                store.chosen("adaboost", models.MNIST, name)[seed].values
                for name in ("training error", "bound")
            )
            assert np.all(np.array(wrong) <= np.array(bound))
            off = store.chosen("adaboost", models.MNIST, "deviations")[seed].values
            assert max(off) < -8, "weights and loss are not those of the notes"
        page = parts["booster_page"]
        page.draw_adaboost(store, tmp_path / "adaboost.png")
        page.draw_digits(store, tmp_path / "digits.png")
        page.draw_support(store, tmp_path / "support.png")
        page.draw_hardest(images, tmp_path / "hardest.png")
        assert sum(path.stat().st_size > 10_000 for path in tmp_path.glob("*.png")) == 4
        found = page.tables(tmp_path)
    assert "| decoys | 100 | 60 |" in found["support"]
    assert "nan" not in "".join(found.values())


@pytest.mark.parametrize("design", ["independent", "alike", "decoys"])
def test_designs_have_the_correlations_they_claim(parts: dict[str, Any], design: str) -> None:
    """Variance 1 everywhere, and what the page says of pairs and of decoys."""
    support = parts["booster_models"]
    X, _, true = support.draw_model(design, 20_000, 20, 0)
    others = np.setdiff1d(np.arange(20), true)
    np.testing.assert_allclose(X.var(axis=0), 1.0, atol=0.05)
    between = np.corrcoef(X.T)[np.ix_(others, others)][np.triu_indices(len(others), 1)]
    with_sum = [np.corrcoef(X[:, j], X[:, true].sum(axis=1))[0, 1] for j in range(20)]
    if design == "decoys":
        np.testing.assert_allclose(np.array(with_sum)[others], np.sqrt(0.75), atol=0.02)
        np.testing.assert_allclose(np.array(with_sum)[true], np.sqrt(0.1), atol=0.03)
    else:
        wanted = 0.8 if design == "alike" else 0.0
        np.testing.assert_allclose(between, wanted, atol=0.04)


def test_the_notes_written_out_are_our_path(parts: dict[str, Any]) -> None:
    """OGA with the norm, not its square, chooses the features that ours does, in their order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 60)) * rng.uniform(0.1, 10, 60)
    y = X[:, :5] @ np.ones(5) + rng.normal(size=80)
    path = OrthogonalGreedyRegressor(fit_intercept=False).fit(X, y).path_
    greedy = parts["booster_models"].greedy
    assert greedy(X, y, len(path), 1) == path.tolist()
    assert greedy(X, y, len(path), 2) != path.tolist()


@pytest.mark.parametrize("sign", [1, -1])
def test_weights_of_the_notes_grow_where_a_vote_is_wrong(parts: dict[str, Any], sign: int) -> None:
    """Two wrong rows of eight, α = ±log 3: then both halves weigh alike, turned round or not."""
    y = np.array([1.0, 1, 1, 1, -1, -1, -1, -1])
    classifier = sign * y * np.where(np.arange(8) < 2, -1, 1)
    alpha = np.array([sign * np.log(3.0)])
    [w] = parts["booster_models"].recursive_weights(y, 0.5 * alpha * classifier[None], alpha)
    np.testing.assert_allclose(w[:2], 0.25)
    assert w[:2].sum() == pytest.approx(0.5)
