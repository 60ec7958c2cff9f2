"""What compiled code reads without looking is looked at when it is read from a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from cgboost.exceptions import CorruptFileError, PersistenceError
from cgboost.persistence import foreign, read, write
from tests.persistence.models import LABELS, X, Y


def parts_of(what: Any) -> tuple[Any, Any]:
    """What goes with the tag, and the children, to be changed."""
    _, static, children = foreign.foreign_parts(what)
    return list(static), [*children]


def tree_parts() -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Of a tree with three leaves at least."""
    tree = DecisionTreeRegressor(max_depth=2).fit(X, Y).tree_
    _, (arguments, state) = parts_of(tree)
    return arguments, {k: np.copy(v) if isinstance(v, np.ndarray) else v for k, v in state.items()}


def put(state: Any, field: str, value: int) -> Any:
    """Change a field of the root."""
    state["nodes"][field][0] = value
    return state


TREES: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "a child far away": lambda own, state: (own, put(state, "left_child", 10**9)),
    "a negative child": lambda own, state: (own, put(state, "right_child", -5)),
    "a circle": lambda own, state: (own, put(state, "left_child", 0)),
    "a feature far away": lambda own, state: (own, put(state, "feature", 3)),
    "a negative feature": lambda own, state: (own, put(state, "feature", -7)),
    "more nodes than there are": lambda own, state: (own, state | {"node_count": 10**6}),
    "no nodes": lambda own, state: (own, state | {"nodes": state["nodes"][:0], "node_count": 0}),
    "nodes of another kind": lambda own, state: (own, state | {"nodes": np.zeros(7)}),
    "too few values": lambda own, state: (own, state | {"values": state["values"][:1]}),
    "values of another kind": lambda own, state: (own, state | {"values": np.zeros(7, "f4")}),
    "no depth": lambda own, state: (own, state | {"max_depth": "2"}),
    "no features": lambda own, state: ((0, *own[1:]), state),
    "two arguments": lambda own, state: (own[:2], state),
    "classes of another kind": lambda own, state: ((own[0], np.ones(1), own[2]), state),
    "too many classes": lambda own, state: ((own[0], np.array([1 << 40]), own[2]), state),
    "no mapping": lambda own, state: (own, None),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
def test_trees_that_lead_nowhere_are_refused(name: str) -> None:
    """Nodes, features and values out of range never reach compiled code."""
    arguments, state = TREES[name](*tree_parts())
    with pytest.raises((CorruptFileError, TypeError)):
        foreign.make_tree([], [arguments, state])


SPARSE: dict[str, Callable[[list[Any], list[Any]], Any]] = {
    "an index far away": lambda static, own: own[1].__setitem__(0, 10**6),
    "a negative index": lambda static, own: own[1].__setitem__(0, -1),
    "too few values": lambda static, own: own.__setitem__(0, own[0][:1]),
    "places of floats": lambda static, own: own.__setitem__(1, own[1].astype(float)),
    "objects": lambda static, own: own.__setitem__(0, own[0].astype(object)),
    "a matrix of places": lambda static, own: own.__setitem__(1, own[1][None]),
    "another format": lambda static, own: static.__setitem__(0, "dok_array"),
    "rows that are not there": lambda static, own: static.__setitem__(1, (99, 3)),
    "a negative shape": lambda static, own: static.__setitem__(1, (-1, 3)),
}


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_matrices_out_of_range_are_refused(layout: str, name: str) -> None:
    """Indices and lengths are looked at."""
    static, own = parts_of(getattr(sparse, f"{layout}_array")(np.eye(3)))
    own = [part.copy() for part in own]
    SPARSE[name](static, own)
    if layout != "csr" and name == "rows that are not there":
        assert foreign.make_sparse(static, own).shape == (99, 3)
        return
    with pytest.raises((CorruptFileError, ValueError)):
        foreign.make_sparse(static, own)


def test_row_pointers_out_of_range_are_refused() -> None:
    """They say where rows begin and end."""
    for pointers in ([0, 1, 2, 9], [1, 1, 2, 3], [0, 3, 2, 3], [0, -1, 2, 3]):
        static, own = parts_of(sparse.csr_array(np.eye(3)))
        own[2] = np.array(pointers, dtype=own[2].dtype)
        with pytest.raises((CorruptFileError, ValueError)):
            foreign.make_sparse(static, own)


@pytest.mark.parametrize(("name", "place"), [("MT19937", "pos"), ("Philox", "buffer_pos")])
def test_states_of_generators_out_of_range_are_refused(name: str, place: str) -> None:
    """NumPy reads its buffers wherever the state says."""
    own = getattr(np.random, name)(0)
    static, (state, seeds) = parts_of(own)
    for value in (10**6, -1, "0", None):
        inner = state["state"] | {place: value}
        wrong = state | ({"state": inner} if name == "MT19937" else {place: value})
        with pytest.raises(CorruptFileError):
            foreign.make_bits(static, [wrong, seeds])
        if name == "MT19937":
            with pytest.raises(CorruptFileError):
                foreign.make_random_state([], [wrong])
    for wrong in (None, {}, state | {"bit_generator": "PCG64"}):
        with pytest.raises((CorruptFileError, KeyError)):
            foreign.make_bits(static, [wrong, seeds])


def test_forests_whose_trees_have_other_features_are_refused(tmp_path: Path) -> None:
    """A forest looks at its rows once, for all its trees."""
    forest = RandomForestRegressor(3, random_state=0).fit(X, Y)
    write(tmp_path / "forest", "test", forest)  # one that is whole is read
    np.testing.assert_array_equal(read(tmp_path / "forest", "test").predict(X), forest.predict(X))
    forest.estimators_[1] = DecisionTreeRegressor().fit(np.tile(X, 9), Y)
    write(tmp_path / "forest", "test", forest)
    with pytest.raises(CorruptFileError, match="other features"):
        read(tmp_path / "forest", "test")
    single = DecisionTreeRegressor().fit(X, Y)
    single.n_features_in_ = 2
    write(tmp_path / "tree", "test", single)
    with pytest.raises(CorruptFileError, match="other features"):
        read(tmp_path / "tree", "test")


def test_other_parts_of_scikit_learn(tmp_path: Path) -> None:
    """Calibrators, splitters and scorers; what they make again is there again."""
    numbers = np.linspace(0, 1, 7)
    isotonic = IsotonicRegression().fit(numbers, numbers**2)
    calibrated = CalibratedClassifierCV(DecisionTreeClassifier(), cv=2).fit(X, LABELS)
    write(tmp_path / "a", "test", [isotonic, calibrated, KFold(3), make_scorer(mean_pinball_loss)])
    one, two, three, four = read(tmp_path / "a", "test")
    np.testing.assert_array_equal(one.predict(numbers + 0.1), isotonic.predict(numbers + 0.1))
    np.testing.assert_array_equal(two.predict_proba(X), calibrated.predict_proba(X))
    assert three.n_splits == 3
    assert four._score_func is mean_pinball_loss


@pytest.mark.parametrize(
    "model",
    [SVR(), KNeighborsRegressor(), KMeans(2), GradientBoostingRegressor(n_estimators=2)],
    ids=lambda model: type(model).__name__,
)
def test_estimators_that_compiled_code_reads_are_refused(tmp_path: Path, model: Any) -> None:
    """When they are stored, with their type: their arrays cannot be trusted."""
    with pytest.raises(
        PersistenceError, match=f"it is of the type sklearn.*{type(model).__name__}"
    ):
        write(tmp_path / "a", "test", model.fit(X, Y))
