"""Models that are saved and loaded are the models they were."""

import datetime
import inspect
import json
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cgboost
from cgboost import (
    RBF,
    CGBoostClassifier,
    KernelLibrary,
    LPBoostClassifier,
    LPBoostRegressor,
    TransformRegressor,
    WeisfeilerLehman,
)
from cgboost.exceptions import (
    CorruptFileError,
    PersistenceError,
    UnknownContentError,
    VersionWarning,
)
from cgboost.persistence import models, read_manifest, save, write
from tests.inspection.report.models import SMALL
from tests.persistence.forging import members
from tests.persistence.make_files import FOLDER, file_name
from tests.persistence.models import LABELS, MODELS, X, Y, covered, estimators, fitted, outputs


def shown(model: Any) -> str:
    """Parameters and facts, without addresses."""
    return re.sub(r"0x[0-9a-fA-F]+", "", f"{model!r} {model.get_params()}")


@pytest.mark.parametrize("name", MODELS)
def test_loaded_models_predict_bit_by_bit(tmp_path: Path, name: str) -> None:
    """All outputs, parameters and fitted attributes are those of the model that was saved.

    The file names no module of cgboost and no private attribute.
    """
    model, rows = fitted(name)
    path = model.save(tmp_path / "model.cgb")
    for tag, *static in members(path)["graph.json"]["shapes"]:
        assert "cgboost." not in str(static)
        assert tag != "object" or not [own for own in static[1] if own.startswith("_")]
    same = cgboost.load(path)
    assert type(same) is type(model)
    assert shown(same) == shown(model)
    assert vars(same).keys() == vars(model).keys()
    if name == "not fitted":
        return
    for (method, own), (_, other) in zip(outputs(model, rows), outputs(same, rows), strict=True):
        np.testing.assert_array_equal(own, other, err_msg=method, strict=True)
    again = cgboost.load(same.save(tmp_path / "again.cgb"))
    assert shown(again) == shown(model)


def test_every_estimator_is_saved_here() -> None:
    """No public estimator lacks save, and none is missing among the models."""
    assert estimators() <= covered()
    public = [
        kind
        for module in (cgboost, cgboost.linear)
        for name in module.__all__
        if inspect.isclass(kind := getattr(module, name)) and issubclass(kind, BaseEstimator)
    ]
    assert [kind for kind in public if not hasattr(kind, "save")] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(estimators() - {"ThinnedEnsemble"}))
def test_loaded_models_can_be_fitted_again(tmp_path: Path, name: str) -> None:
    """The fit of a loaded estimator, and of its clone, is that of the one that was saved."""
    kind = getattr(cgboost, name, None) or getattr(cgboost.linear, name)
    model = kind(**SMALL.get(name, {}))
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    same = cgboost.load(model.save(tmp_path / "model.cgb"))
    y = LABELS if is_classifier(model) else Y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [own.fit(X, y).predict(X) for own in (model, same, clone(same))]
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[2])


def mine(A: Any, B: Any) -> Any:
    """A kernel of a user's."""
    return np.exp(-np.abs(A[:, :1] - B[:, 0]))


def test_functions_are_given_when_a_model_is_loaded(tmp_path: Path) -> None:
    """A lambda by the name of its kernel, and nothing of it is stored."""
    for function in (mine, lambda A, B: mine(A, B)):
        library = KernelLibrary({"mine": function, "rbf": RBF()})
        model = CGBoostClassifier(library, max_columns=10).fit(X, LABELS)
        path = model.save(tmp_path / "model.cgb")
        with pytest.raises(UnknownContentError, match=r"functions=\{"):
            cgboost.load(path)
        same = cgboost.load(path, functions={"mine": function})
        np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))
    path = model.save(tmp_path / "model.cgb", functions={"other": function})
    assert read_manifest(path).needs == ("other",)
    assert cgboost.load(path, functions={"other": function}).predict(X).shape == (60,)


class OwnClassifier(LPBoostClassifier):
    """An estimator of a user's."""


def test_estimators_of_the_user(tmp_path: Path) -> None:
    """A subclass is given like a function; functions that are callbacks, too."""
    model = OwnClassifier(max_columns=5, callbacks=[print]).fit(X, LABELS)
    path = model.save(tmp_path / "model.cgb")
    with pytest.raises(UnknownContentError, match=r"'OwnClassifier', 'print'"):
        cgboost.load(path)
    same = cgboost.load(path, functions={"OwnClassifier": OwnClassifier, "print": print})
    assert type(same) is OwnClassifier
    np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))


def test_pipelines_are_saved_by_the_function(tmp_path: Path) -> None:
    """Estimators of scikit-learn have no save; what they hold is stored with them."""
    model = make_pipeline(StandardScaler(), LPBoostRegressor(max_columns=9)).fit(X, Y)
    save(model, tmp_path / "pipeline.cgb")
    same = cgboost.load(tmp_path / "pipeline.cgb")
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
    with pytest.raises(PersistenceError, match="save takes an estimator, got list"):
        save([model], tmp_path / "list.cgb")
    write(tmp_path / "list.cgb", "model", [model])
    with pytest.raises(CorruptFileError, match="is no model"):
        cgboost.load(tmp_path / "list.cgb")


def test_equal_models_make_equal_files(tmp_path: Path) -> None:
    """There is no date in a file."""
    model, _ = fitted("Matern")
    one, two = (model.save(tmp_path / name).read_bytes() for name in ("one", "two"))
    assert one == two


def test_estimators_of_another_scikit_learn_are_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trees of scikit-learn belong to its version; other models do not."""
    tree, other = fitted("thinned forest")[0], fitted("Matern")[0]
    paths = [own.save(tmp_path / f"{n}.cgb") for n, own in enumerate((tree, other))]
    monkeypatch.setattr(models.sklearn, "__version__", "99.0")
    with pytest.warns(VersionWarning, match=r"scikit-learn .*, and 99\.0 is installed"):
        cgboost.load(paths[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cgboost.load(paths[1])


def test_pickles_say_which_version_wrote_them() -> None:
    """Unpickled by the same version in silence, by another with a warning that names it.

    Of one that does not say so what is missing is named, and as by default.
    """
    model = LPBoostRegressor(max_columns=9).fit(X, Y)
    old = LPBoostRegressor.__new__(LPBoostRegressor)
    state = model.__getstate__()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = pickle.loads(pickle.dumps(model))
        old.__setstate__({k: v for k, v in state.items() if k != "_cgboost_version"})
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
    assert "_cgboost_version" not in vars(same)
    with pytest.warns(VersionWarning, match=r"pickled by cgboost 0\.0\.1"):
        LPBoostRegressor().__setstate__(state | {"_cgboost_version": "0.0.1"})
    del state["_cgboost_version"], state["scoring"]
    with pytest.warns(VersionWarning, match="it lacks scoring, which"):
        old.__setstate__(state)
    assert old.scoring is None
    np.testing.assert_array_equal(old.predict(X), model.predict(X))


SAID = {
    (path.parent, name): said
    for path in sorted(FOLDER.glob("format_*/outputs.json"))
    for name, said in json.loads(path.read_text(encoding="utf-8"))["outputs"].items()
}


@pytest.mark.parametrize(("folder", "name"), SAID, ids=lambda own: getattr(own, "name", own))
def test_files_of_all_versions_are_read(folder: Path, name: str) -> None:
    """Those that are in the repository: the models predict what they did when they were written.

    Up to rounding, as linear algebra is not the same everywhere.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionWarning)  # trees of another scikit-learn
        model = cgboost.load(folder / file_name(name))
        assert type(clone(model)) is type(model)
        assert type(model).__name__ in repr(model)
    method, values = SAID[folder, name]
    own = np.asarray(getattr(model, method)(fitted(name)[1]))[:5]
    if own.dtype.kind == "f":
        np.testing.assert_allclose(own, values, rtol=1e-9, atol=1e-12)
    else:
        assert own.tolist() == values


def test_models_whose_categories_are_values(tmp_path: Path) -> None:
    """Intervals of ``pd.cut`` and dates; graphs as rows of a kernel model."""
    x = np.linspace(0, 1, 40)
    days = [datetime.date(2024, 1, 1 + int(3 * value)) for value in x]
    frame = pd.DataFrame({"x": x, "cut": pd.cut(x, 4), "day": pd.Categorical(days)})
    model = TransformRegressor().fit(frame, x**2)
    same = cgboost.load(model.save(tmp_path / "a.cgb"))
    np.testing.assert_array_equal(same.predict(frame), model.predict(frame))
    graphs = np.empty(12, dtype=object)
    graphs[:] = [nx.gnp_random_graph(5, 0.3 if i % 2 else 0.8, seed=i) for i in range(12)]
    library = KernelLibrary({"graphs": WeisfeilerLehman()})
    kernel = CGBoostClassifier(library, max_columns=5).fit(graphs, np.arange(12) % 2)
    same = cgboost.load(kernel.save(tmp_path / "b.cgb"))
    np.testing.assert_array_equal(same.decision_function(graphs), kernel.decision_function(graphs))
