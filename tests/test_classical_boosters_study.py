"""The study of the classical boosters, on few of the digits that scikit-learn ships."""

import importlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgboost import OrthogonalGreedyRegressor

REPRODUCE = Path(__file__).parents[1] / "examples" / "reproduce"


@pytest.fixture(scope="module")
def parts() -> Iterator[dict[str, Any]]:
    """The modules of the study, which import each other as a script's do."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in (REPRODUCE, REPRODUCE / "classical_boosters"):
            patch.syspath_prepend(str(folder))
        names = ["study_jobs", "transform_regression.measured"]
        names += [path.stem for path in REPRODUCE.glob("classical_boosters/booster_*.py")]
        yield {name: importlib.import_module(name) for name in names}


@pytest.fixture(scope="module")
def images(parts: dict[str, Any]) -> Any:
    """Few of the small digits."""
    data = parts["booster_data"]
    whole = data.draw(data.SMALL, None, 0)
    return data.Digits(whole.X[:300], whole.digit[:300], whole.X_test[:200], whole.digit_test[:200])


def few(parts: dict[str, Any], patch: pytest.MonkeyPatch) -> None:
    """Few rounds and small designs."""
    settings = {
        "ROUNDS": (1, 5, 12),
        "LORENZ": (1, 12),
        "SHOWN": (1, 12),
        "SHOWN_TREES": (1, 3),
        "HARDEST_ROUNDS": (5, 12),
    }
    for name in ("booster_adaboost", "booster_pictures", "booster_tables"):
        for setting, value in settings.items():
            if hasattr(parts[name], setting):
                patch.setattr(parts[name], setting, value)
    patch.setattr(parts["booster_digits"], "ROUNDS", 3)
    for name in ("booster_support", "booster_pictures", "booster_tables"):
        patch.setattr(parts[name], "ROWS", (100,))
        patch.setattr(parts[name], "FEATURES", (40, 60))


def test_everything_is_measured_and_the_tables_and_pictures_are_made(
    parts: dict[str, Any], images: Any, tmp_path: Path
) -> None:
    """Curves are as they must be, and what is known is not measured again."""
    form, support = parts["study_jobs"], parts["booster_support"]
    data = parts["booster_data"]
    with pytest.MonkeyPatch.context() as patch:
        few(parts, patch)
        jobs = []
        ada, letter = parts["booster_adaboost"].adaboost, parts["booster_letter"]
        for seed in (0, 1):
            jobs.append(form.Job("adaboost", data.MNIST, seed, partial(ada, images, seed)))
            for name in (data.SMALL, data.MNIST):
                run = parts["booster_digits"].digits
                jobs.append(form.Job("digits", name, seed, partial(run, name, images, seed)))
            for name in support.cells():
                job = partial(support.support, name, seed)
                jobs.append(form.Job("support", name, seed, job))
            jobs.append(form.Job("letter", letter.DATA, seed, partial(letter.statements, seed)))
        store = parts["transform_regression.measured"].Measured(tmp_path / "classical_boosters.csv")
        form.measure(store, jobs, ("numpy",))
        count = len(store.records)
        form.measure(store, jobs, ("numpy",))
        assert len(store.records) == count
        for seed in (0, 1):
            wrong, bound = (
                store.chosen("adaboost", data.MNIST, name)[seed].values
                for name in ("training error", "bound")
            )
            assert np.all(np.array(wrong) <= np.array(bound))
            off = store.chosen("adaboost", data.MNIST, "deviations")[seed].values
            assert max(off) < -8, "weights and loss are not those of the notes"
        pictures = parts["booster_pictures"]
        pictures.draw_adaboost(store, tmp_path / "adaboost.png")
        pictures.draw_digits(store, tmp_path / "digits.png")
        pictures.draw_support(store, tmp_path / "support.png")
        pictures.draw_hardest(images, tmp_path / "hardest.png")
        assert sum(path.stat().st_size > 10_000 for path in tmp_path.glob("*.png")) == 4
        found = parts["booster_tables"].tables(tmp_path)
    assert "| decoys | 100 | 60 |" in found["support"]
    assert "nan" not in "".join(found.values())


@pytest.mark.parametrize("design", ["independent", "alike", "decoys"])
def test_designs_have_the_correlations_they_claim(parts: dict[str, Any], design: str) -> None:
    """Variance 1 everywhere, and what the page says of pairs and of decoys."""
    support = parts["booster_support"]
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
    greedy = parts["booster_letter"].greedy
    assert greedy(X, y, len(path), 1) == path.tolist()
    assert greedy(X, y, len(path), 2) != path.tolist()


@pytest.mark.parametrize("sign", [1, -1])
def test_weights_of_the_notes_grow_where_a_vote_is_wrong(parts: dict[str, Any], sign: int) -> None:
    """Two wrong rows of eight, α = ±log 3: then both halves weigh alike, turned round or not."""
    y = np.array([1.0, 1, 1, 1, -1, -1, -1, -1])
    classifier = sign * y * np.where(np.arange(8) < 2, -1, 1)
    alpha = np.array([sign * np.log(3.0)])
    [w] = parts["booster_adaboost"].recursive_weights(y, 0.5 * alpha * classifier[None], alpha)
    np.testing.assert_allclose(w[:2], 0.25)
    assert w[:2].sum() == pytest.approx(0.5)
