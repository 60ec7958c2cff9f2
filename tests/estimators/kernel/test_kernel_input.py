"""What X may be: data frames of mixed types, objects, several kernel matrices."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_selector
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    Jaccard,
    KernelLibrary,
    Linear,
    On,
    PairwiseKernel,
    Precomputed,
    Spectrum,
    WeisfeilerLehman,
)
from cgboost.estimators.kernel import kernel_columns
from cgboost.kernels import Kernel
from tests.estimators.data import two_classes

N = 90


def frame(n: int = N) -> pd.DataFrame:
    """Numbers, words, categories, text and dates; numbers of several types."""
    rng = np.random.default_rng(0)
    notes = ["".join(rng.choice(list("abcd"), 10)) for _ in range(n)]
    return pd.DataFrame(
        {
            "age": rng.integers(1, 80, n),
            "fare": rng.lognormal(size=n).astype(np.float32),
            "member": rng.random(n) < 0.5,
            "town": rng.choice(["Paris", "Rome", "Oslo"], n),
            "size": pd.Categorical(rng.choice(["small", "large"], n)),
            "note": notes,
            "day": pd.date_range("2024-01-01", periods=n),
        }
    )


def labels(data: pd.DataFrame) -> np.ndarray:
    """They depend on numbers, words and text together."""
    return np.where((data["town"] == "Paris") ^ (data["age"] > 40), "yes", "no")


def same(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """1 for equal words."""
    return (A[:, None] == B).astype(float)


def near(a: Any, b: Any) -> float:
    """Of two dates."""
    return float(np.exp(-abs((a - b).days) / 30))


MIXED = {
    "numbers": (RBF(), ["age", "fare", "member"]),
    "town": (same, "town"),
    "size": (same, "size"),
    "note": (Spectrum(2), "note"),
    "day": (PairwiseKernel(near), "day"),
    "town and age": On(same, "town") + On(RBF(), "age"),
}

LIBRARY = KernelLibrary(MIXED, normalize=True)


def model(library: Any = LIBRARY, **parameters: Any) -> CGBoostClassifier:
    """A classifier with few columns."""
    return CGBoostClassifier(library, **({"penalty": "l1"} | parameters))


def by_hand(data: pd.DataFrame, other: pd.DataFrame) -> dict[str, np.ndarray]:
    """The kernels of MIXED between two frames, normalised, written without On."""

    def values(A: pd.DataFrame, B: pd.DataFrame) -> dict[str, np.ndarray]:
        numbers = data[["age", "fare", "member"]].to_numpy(dtype=float)
        rbf, age = RBF().fit(numbers), RBF().fit(numbers[:, :1])
        left, right = (f[["age", "fare", "member"]].to_numpy(dtype=float) for f in (A, B))
        equal = {
            name: same(A[name].to_numpy(dtype=object), B[name].to_numpy(dtype=object))
            for name in ("town", "size")
        }
        notes = [f["note"].to_numpy(dtype=object) for f in (A, B)]
        return {
            "numbers": rbf(left, right),
            **equal,
            "note": Spectrum(2)(*notes),
            "day": np.array([[near(a, b) for b in B["day"]] for a in A["day"]]),
            "town and age": equal["town"] + age(left[:, :1], right[:, :1]),
        }

    plain, own, its = values(other, data), values(other, other), values(data, data)
    both = {"town and age": plain.pop("town and age")}  # a sum of kernels with k(x, x) = 1
    return {
        name: K / np.sqrt(np.outer(np.diag(own[name]), np.diag(its[name])))
        for name, K in plain.items()
    } | both


def test_a_frame_of_mixed_types_has_the_model_of_its_kernel_matrices() -> None:
    """Values by name are those that the kernels have on the columns, in fit and in predict."""
    data = frame()
    y, train, new = labels(data), data[:60], data[60:]
    fitted = model(tol=1e-9).fit(train, y[:60], eval_set=(new, y[60:]))
    given = KernelLibrary({name: Precomputed(name) for name in MIXED})
    other = model(given, tol=1e-9).fit(by_hand(train, train), y[:60])
    assert fitted.converged_
    assert fitted.objective_ == pytest.approx(other.objective_, rel=1e-7)
    np.testing.assert_allclose(
        fitted.decision_function(new), other.decision_function(by_hand(train, new)), atol=1e-4
    )
    assert fitted.feature_names_in_.tolist() == list(data.columns)
    assert fitted.n_features_in_ == 7
    np.testing.assert_allclose(
        fitted.history_["validation_error"][-1], np.mean(fitted.predict(new) != y[60:])
    )


@pytest.mark.parametrize("kind", ["pandas", "polars", "array"])
def test_frames_and_arrays_of_objects_have_the_same_model(kind: str) -> None:
    """By name or by position, from whichever table."""
    data = frame()
    y, library = labels(data), MIXED
    if kind == "array":
        places = {name: place for place, name in enumerate(data.columns)}
        library = {
            "numbers": (RBF(), [0, 1, 2]),
            "town": (same, 3),
            "size": (same, 4),
            "note": (Spectrum(2), 5),
            "day": (PairwiseKernel(near), places["day"]),
            "town and age": On(same, 3) + On(RBF(), 0),
        }
    table = {
        "pandas": lambda: data,
        "polars": lambda: pl.from_pandas(data),
        "array": lambda: data.to_numpy(dtype=object),
    }[kind]()
    own = model(KernelLibrary(library, normalize=True)).fit(table, y)
    expected = model().fit(data, y)
    assert own.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    np.testing.assert_array_equal(own.predict(table[:9]), expected.predict(data[:9]))


def test_selectors_choose_columns_by_type() -> None:
    """A function of the frame may say which columns, as in scikit-learn's column transformers."""
    data = frame()
    numbers = make_column_selector(dtype_include=["number", "bool"])
    own = model(KernelLibrary({"numbers": (RBF(), numbers)})).fit(data, labels(data))
    by_name = model(KernelLibrary({"numbers": (RBF(), ["age", "fare", "member"])}))
    assert own.objective_ == by_name.fit(data, labels(data)).objective_


def test_names_of_a_frame_of_numbers() -> None:
    """A frame without other things is a matrix of numbers, and names choose its columns."""
    X, y = two_classes()
    data = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    named = model(KernelLibrary({"a": (RBF(), "x0"), "b": (Linear(), slice("x0", "x1"))}))
    placed = model(KernelLibrary({"a": (RBF(), 0), "b": (Linear(), [0, 1])}))
    assert named.fit(data, y).objective_ == placed.fit(X, y).objective_
    scaled = make_pipeline(StandardScaler().set_output(transform="pandas"), named).fit(data, y)
    assert scaled.score(data, y) > 0.5


COLUMNS = {
    "list": list,
    "array": lambda values: _column(values)[:, 0],
    "column": lambda values: _column(values),
    "series": lambda values: pd.Series(_column(values)[:, 0]),
    "frame": lambda values: pd.DataFrame({"own": _column(values)[:, 0]}),
}


def _column(values: Any) -> np.ndarray:
    objects = np.empty((len(values), 1), dtype=object)
    objects[:, 0] = values
    return objects


def strings() -> tuple[list[str], np.ndarray]:
    """Words of four letters, and whether three of them stand in a row."""
    rng = np.random.default_rng(0)
    made = ["".join(rng.choice(list("acgt"), 12)) for _ in range(60)]
    return made, np.array(["ac" in word for word in made])


def overlap(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A batch function of words."""
    return np.array([[len(set(a[:3]) & set(b[:3])) for b in B] for a in A])


@pytest.mark.parametrize(
    "kernel",
    [Spectrum(2), PairwiseKernel(lambda a, b: a[:2] == b[:2]), overlap, Spectrum(1) + Spectrum(2)],
    ids=["spectrum", "pairs", "function", "sum"],
)
@pytest.mark.parametrize("form", [*COLUMNS, "words", "polars"])
def test_strings_in_any_form(kernel: Any, form: str) -> None:
    """Lists, arrays, columns, series and frames of strings give the same model."""
    made, y = strings()
    forms = COLUMNS | {"words": np.array, "polars": pl.Series}
    library = KernelLibrary({"own": kernel}, normalize=True)
    fitted = model(library).fit(forms[form](made), y, eval_set=(forms[form](made[:9]), y[:9]))
    listed = model(library).fit(made, y, eval_set=(made[:9], y[:9]))
    assert fitted.n_features_in_ == 1
    assert fitted.objective_ == listed.objective_
    np.testing.assert_array_equal(fitted.predict(forms[form](made[:5])), listed.predict(made[:5]))


@pytest.mark.parametrize("kind", ["graphs", "sets", "tuples"])
def test_lists_of_objects_are_cross_validated(kind: str) -> None:
    """Graphs, sets and sequences of different lengths in a list, through scikit-learn's tools."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    kernel, X = {
        "graphs": (
            WeisfeilerLehman(2),
            [nx.gnp_random_graph(8, 0.2 + 0.3 * (i % 2), seed=i) for i in range(60)],
        ),
        "sets": (
            Jaccard(),
            [{int(v) + 4 * (i % 2) for v in rng.integers(0, 9, 4)} for i in range(60)],
        ),
        "tuples": (
            PairwiseKernel(lambda a, b: min(len(a), len(b))),
            [(1,) * (1 + i % 2 * 4 + i % 3) for i in range(60)],
        ),
    }[kind]
    library = KernelLibrary({"own": kernel}, normalize=kind == "graphs")
    scores = cross_val_score(model(library, C=3.0), X, y, cv=3, error_score="raise")
    assert scores.mean() > 0.7
    fitted = model(library, C=3.0).fit(X, y)
    assert fitted.converged_
    assert fitted.predict(X[:1]).shape == (1,)


def test_regression_and_novelty_over_objects() -> None:
    """Every kernel model reads X in the same way."""
    made, _ = strings()
    library = KernelLibrary({"own": Spectrum(1)}, normalize=True)
    y = np.array([word.count("a") for word in made], dtype=float)
    assert CGBoostRegressor(library, C=10.0).fit(made, y).score(made, y) > 0.5
    outliers = CGBoostOutlierDetector(library, nu=0.2).fit(made)
    assert (outliers.predict([*made, "zzzzzzzz"])[-1]) == -1


def test_a_part_of_many_objects_gives_a_warm_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Objects that are many start as numbers do, and end at the same optimum."""
    data = frame(150)
    plain = model(tol=1e-7).fit(data, labels(data))
    monkeypatch.setattr(kernel_columns, "MANY_ROWS", 60)
    warm = model(tol=1e-7).fit(data, labels(data))
    assert warm.history_["columns"][0] > 0
    assert warm.objective_ == pytest.approx(plain.objective_, rel=3e-7)


def test_objects_travel_to_other_workers() -> None:
    """An executor that is sent the data, in a file, prices the same columns."""
    data = frame(40)
    expected = model().fit(data, labels(data))
    with ThreadPoolExecutor(2) as pool:
        own = model(executor=pool).fit(data, labels(data))
    assert own.objective_ == pytest.approx(expected.objective_, rel=1e-9)


class FirstLetter(Kernel):
    """A class that says that it takes objects."""

    takes_objects = True

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """1 for words that begin alike."""
        return np.array([[float(x[0][0] == z[0][0]) for z in Z] for x in X])


def test_a_class_of_objects_says_so() -> None:
    """Its rows are those of the table; as a part of another kernel it needs nothing more."""
    made, _ = strings()
    y = [word[0] in "ac" for word in made]
    library = KernelLibrary({"own": FirstLetter(), "half": 0.5 * FirstLetter()}, normalize=True)
    assert model(library, C=3.0).fit(made, y).score(made, y) == 1.0


# ---------------------------------------------------------------------- several matrices


def grams() -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Features, labels and two kernel matrices of all rows."""
    X, y = two_classes()
    return X, y, {"linear": X @ X.T, "rbf": RBF(0.5)(X, X)}


BOTH = KernelLibrary({"linear": Linear(), "rbf": RBF(0.5)})


def test_named_matrices_are_their_kernels() -> None:
    """A mapping of matrices to fit, of new rows against training rows to predict and to score."""
    X, y, given = grams()
    rows, new = np.split(np.random.default_rng(0).permutation(len(X)), 2)
    library = KernelLibrary({"a": Precomputed("linear"), "b": Precomputed("rbf")})
    train = {name: K[np.ix_(rows, rows)] for name, K in given.items()}
    test = {name: K[np.ix_(new, rows)] for name, K in given.items()}
    own = model(library).fit(train, y[rows], eval_set=(test, y[new]))
    expected = model(BOTH).fit(X[rows], y[rows])
    assert own.objective_ == pytest.approx(expected.objective_, rel=1e-8)
    np.testing.assert_allclose(
        own.decision_function(test), expected.decision_function(X[new]), atol=1e-6
    )
    assert own.columns_per_kernel_["a"] == expected.columns_per_kernel_["linear"]


def test_features_beside_named_matrices() -> None:
    """Other entries of the mapping are features, for kernels on them."""
    X, y, given = grams()
    library = KernelLibrary({"a": Precomputed("linear"), "b": (RBF(0.5), "features")})
    own = model(library).fit({"linear": given["linear"], "features": X}, y)
    assert own.objective_ == pytest.approx(model(BOTH).fit(X, y).objective_, rel=1e-8)


def test_row_numbers_are_cross_validated() -> None:
    """Matrices in the library and row numbers for X have the scores of the kernels themselves."""
    X, y, given = grams()
    library = KernelLibrary({name: Precomputed(name, K) for name, K in given.items()})
    rows = np.arange(len(X))[:, None]
    own, expected = model(library), model(BOTH)
    np.testing.assert_array_equal(
        cross_val_score(own, rows, y, cv=4), cross_val_score(expected, X, y, cv=4)
    )
    grid = {"C": [0.1, 1.0, 10.0]}
    searches = [
        GridSearchCV(one, grid, cv=3).fit(data, y) for one, data in ((own, rows), (expected, X))
    ]
    np.testing.assert_array_equal(*[s.cv_results_["mean_test_score"] for s in searches])
    held = model(library, early_stopping=True, random_state=0).fit(rows, y)
    assert "validation_error" in held.history_


def test_row_numbers_beside_features() -> None:
    """A column of row numbers and columns of features, by name."""
    X, y, given = grams()
    data = pd.DataFrame(X).rename(columns=str).assign(row=np.arange(len(X)))
    library = KernelLibrary(
        {
            "linear": On(Precomputed("linear", given["linear"]), "row"),
            "rbf": On(RBF(0.5), lambda frame: [c for c in frame.columns if c != "row"]),
        }
    )
    np.testing.assert_array_equal(
        cross_val_score(model(library), data, y, cv=3), cross_val_score(model(BOTH), X, y, cv=3)
    )


def test_one_named_matrix_is_cut_on_both_sides() -> None:
    """A lone matrix for X is square to scikit-learn, with a name as without."""
    X, y, given = grams()
    expected = cross_val_score(model(KernelLibrary({"l": Linear()})), X, y, cv=3)
    for kernel in (Precomputed(), Precomputed("linear")):
        own = model(KernelLibrary({"l": kernel}))
        assert own.__sklearn_tags__().input_tags.pairwise
        np.testing.assert_array_equal(cross_val_score(own, given["linear"], y, cv=3), expected)
    assert not model(BOTH).__sklearn_tags__().input_tags.pairwise


def test_matrices_that_lost_rows_are_refused() -> None:
    """Cross-validation takes rows out of matrices side by side, and leaves their columns."""
    _, y, given = grams()
    count = len(y)
    own = model(KernelLibrary({"a": Precomputed(), "b": Precomputed(first=count)}))
    side_by_side = np.hstack(list(given.values()))
    assert own.fit(side_by_side, y).converged_
    with pytest.raises(ValueError, match="some were taken out, by cross-validation perhaps"):
        cross_val_score(own, side_by_side, y, cv=3, error_score="raise")


def test_another_fit_forgets_how_x_was_read() -> None:
    """A model that is fitted anew, to numbers or to objects, has the attributes of the new X."""
    data, (made, target) = frame(), strings()
    own = model().fit(data, labels(data))
    own.set_params(library=KernelLibrary({"own": Spectrum(2)})).fit(made, target)
    assert own.n_features_in_ == 1
    assert not hasattr(own, "feature_names_in_")
    X, y = two_classes()
    own.set_params(library=BOTH).fit(X, y)
    assert own.n_features_in_ == X.shape[1]
    assert own.predict(X).shape == y.shape


def test_frames_go_through_early_stopping_paths_and_searches() -> None:
    """Stages, pickles and the rest of scikit-learn see the same frame."""
    data = frame()
    y = labels(data)
    search = GridSearchCV(model(), {"C": [0.3, 3.0]}, cv=2, error_score="raise").fit(data, y)
    assert search.best_estimator_.converged_
    assert make_pipeline(FunctionTransformer(), model()).fit(data, y).predict(data).shape == (N,)
    fitted = model(early_stopping=True, random_state=0).fit(data, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(data), fitted.decision_function(data))
    *_, last = fitted.staged_decision_function(data)
    np.testing.assert_allclose(last, fitted.decision_function(data), atol=1e-9)
    assert len(model().path(data, y, [0.1, 1.0])) == 2
