"""Kernels on some columns of X."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cgboost import RBF, KernelLibrary, Linear, On, Polynomial, Precomputed, Spectrum
from cgboost.exceptions import KernelError
from cgboost.kernels import Columns, Header, Kernel, Normalized
from cgboost.kernels.checked_values import kernel_values

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(9, 4)), RNG.normal(size=(5, 4))
NAMES = ("age", "fare", "town", "note")


def header(*, numeric: tuple[bool, ...] = (True,) * 4) -> Header:
    """Of four named columns."""
    frame = pd.DataFrame([[0.0 if ok else "x" for ok in numeric]], columns=list(NAMES))
    examples = tuple(None if ok else "x" for ok in numeric)
    return Header(numeric, {name: (j,) for j, name in enumerate(NAMES)}, frame, examples=examples)


def table() -> np.ndarray:
    """A table of objects: two columns of numbers, two of words."""
    rows = np.empty((4, 4), dtype=object)
    rows[:, 0], rows[:, 1] = [1, 2, 3, 4], [0.5, 0.25, 1.0, 2.0]
    rows[:, 2], rows[:, 3] = ["ab", "ba", "ab", "cc"], ["xx", "xy", "yx", "yy"]
    return rows


POSITIONS = [
    [0, 2],
    (0, 2),
    np.array([0, 2]),
    [-4, -2],
    slice(0, 3, 2),
    [True, False, True, False],
    lambda data: [0, 2],
]
"""Ways to say the first and the third."""

NAMED = [
    ("town", (2,)),
    (["note", 1], (3, 1)),
    (np.array(["note", "age"]), (3, 0)),
    (slice("fare", "note"), (1, 2, 3)),
    (slice(None, "fare"), (0, 1)),
    (lambda frame: [name for name in frame.columns if "n" in name], (2, 3)),
]


@pytest.mark.parametrize(("columns", "places"), [(own, (0, 2)) for own in POSITIONS] + NAMED)
def test_columns_are_chosen_by_positions_names_and_functions(
    columns: Any, places: tuple[int, ...]
) -> None:
    """Slices of names include their end."""
    assert Columns.of(On(RBF(), columns).columns, header()).places == places


@pytest.mark.parametrize("columns", POSITIONS)
def test_the_kernel_sees_its_columns_alone(columns: Any) -> None:
    """Its values and its width are those of a matrix of these columns."""
    kernel, own = On(RBF(0.3), columns), [0, 2]
    np.testing.assert_allclose(kernel(X, Z), RBF(0.3)(X[:, own], Z[:, own]), rtol=1e-12)
    np.testing.assert_array_equal(kernel.fit(X)(X, Z), kernel(X, Z))
    np.testing.assert_array_equal(kernel.diagonal(X), np.ones(9))
    assert On(RBF(), columns).fit(X).kernel == RBF().fit(X[:, own])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Columns.of("sex", header()), "no column 'sex': it has 'age', 'fare', 'town', 'no"),
        (lambda: Columns.of([0, 4], header()), "4 columns, there is no column 4"),
        (lambda: Columns.of([], header()), "chooses no column"),
        (lambda: Columns.of(lambda frame: [], header()), "chooses no column"),
        (lambda: Columns.of([True, False], header()), "2 truth values, X has 4"),
        (lambda: Columns.of(1.5, header()), "columns must be a position, a name"),
        (lambda: Columns.of([1.5], header()), "columns are positions or names, got 1.5"),
        (lambda: On(RBF(), "age").fit(X), "no column 'age': its columns have no names"),
        (lambda: On(RBF, 0), "On takes a Kernel or a callable"),
        (lambda: On("rbf", 0), "On takes a Kernel or a callable"),
        (lambda: On(Precomputed(), [0, 1]), "no rows to look up"),
    ],
)
def test_columns_and_kernels_that_are_none(make: Callable[[], Any], message: str) -> None:
    """The message says what was asked for and what there is."""
    with pytest.raises(ValueError, match=message):
        make()


def test_columns_of_numbers_are_floats_and_others_are_objects() -> None:
    """Of a table, numbers arrive as a float matrix, one other column as a 1-d array of objects."""
    rows = table()
    seen: dict[str, np.ndarray] = {}

    def keep(name: str) -> Any:
        def kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
            seen[name] = A
            return np.ones((len(A), len(B)))

        return kernel

    for name, columns in {"numbers": [0, 1], "word": 2, "words": [2, 3], "both": [1, 2]}.items():
        On(keep(name), columns).fit(rows)(rows, rows[:2])
    assert seen["numbers"].dtype == np.float64
    assert seen["numbers"].tolist() == [[1, 0.5], [2, 0.25], [3, 1], [4, 2]]
    assert seen["word"].dtype == object
    assert seen["word"].tolist() == ["ab", "ba", "ab", "cc"]
    assert seen["words"].shape == seen["both"].shape == (4, 2)


def test_a_number_that_is_none_is_named() -> None:
    """A column of numbers in training that has other values later is named, with some of them."""
    rows = table()
    kernel = On(RBF(1.0), [0, 1]).fit(rows)
    later = rows.copy()
    later[1, 1], later[2, 1] = None, "three"
    with pytest.raises(KernelError, match="column 1 must .* 2 of 4 rows do not: None, 'three'"):
        kernel(later, rows)


@pytest.mark.parametrize(
    "kernel", [RBF(), 2.0 * Linear(), Normalized(Linear() + RBF(1.0))], ids=repr
)
def test_numeric_kernels_refuse_words(kernel: Kernel) -> None:
    """A kernel of numbers, alone or in a composite, names the column that has none."""
    numeric = (True, True, False, True)
    for own in (kernel, On(kernel, ["age", "town"])):
        library = KernelLibrary({"mine": own})
        with pytest.raises(ValueError, match="kernel 'mine' takes numbers, but column 'town'.*'x'"):
            library.for_columns(header(numeric=numeric))
    KernelLibrary({"mine": On(kernel, ["age", "note"])}).for_columns(header(numeric=numeric))


def test_composites_of_parts() -> None:
    """Kernels on different columns are summed, weighted, normalised and nested like any other."""
    kernel = On(RBF(0.2), [0, 1]) + 2.0 * On(Polynomial(2), On(Linear(), 1).columns)
    expected = RBF(0.2)(X[:, :2], Z[:, :2]) + 2.0 * (np.outer(X[:, 1], Z[:, 1]) ** 2)
    np.testing.assert_allclose(kernel.fit(X)(X, Z), expected, rtol=1e-10)
    nested = On(On(RBF(0.2), [1]), [3, 2])
    np.testing.assert_allclose(nested.fit(X)(X, Z), RBF(0.2)(X[:, [2]], Z[:, [2]]), rtol=1e-10)
    cosine = Normalized(On(Linear(), [0, 1])).fit(X)
    np.testing.assert_allclose(cosine.diagonal(X), 1.0)
    mixed = (On(Spectrum(1), 2) + On(Linear(), 0)).fit(table())
    np.testing.assert_array_equal(mixed(table()[:2], table()[3:]), [[4.0], [8.0]])


def test_libraries_for_the_columns_of_an_x() -> None:
    """(kernel, columns) is short for On, also of a function; names are looked up in those outside.

    A library for the columns of an X differs from the library in its kernels alone.
    """
    library = KernelLibrary({"a": (RBF(1.0), [0, 1]), "b": (lambda A, B: A @ B.T, 2)})
    assert library.kernels["a"] == On(RBF(1.0), [0, 1])
    fitted = library.fit(X)
    np.testing.assert_allclose(fitted["b"](X, Z), np.outer(X[:, 2], Z[:, 2]))
    nested = KernelLibrary({"mine": On(On(RBF(1.0), "town"), ["note", "town"])})
    resolved = nested.for_columns(header()).fit(X)["mine"]
    np.testing.assert_allclose(resolved(X, Z), RBF(1.0)(X[:, [2]], Z[:, [2]]))
    named = KernelLibrary({"a": (RBF(1.0), "age")}, normalize=True, negation=False)
    own = named.for_columns(header())
    assert (own.normalize, own.negation, own.names) == (True, False, ("a",))
    assert named.kernels["a"] == On(RBF(1.0), "age")


def test_on_can_be_compared_and_pickled() -> None:
    """Equal parameters make equal kernels, before and after a fit, and after pickling."""
    kernel = On(RBF(0.5), [0, 3])
    assert kernel == On(RBF(0.5), (0, 3)) != On(RBF(0.5), [0, 2])
    assert hash(kernel) == hash(On(RBF(0.5), (0, 3)))
    assert pickle.loads(pickle.dumps(kernel.fit(X))) == kernel.fit(X)
    assert hash(On(RBF(), slice(2))) == hash(On(RBF(), slice(2)))


def refuses(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A kernel of one's own with a bug."""
    raise RuntimeError(f"got {A.shape}")


def too_small(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A kernel of one's own that returns the wrong shape."""
    return np.zeros((1, 1))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            On(refuses, ["town", "note"]),
            r"kernel 'mine' on columns 'town', 'note' of X failed on two sets of rows, of shapes "
            r"\(4, 2\) and \(3, 2\), parts of rows of shapes \(4, 4\) and \(3, 4\): "
            r"RuntimeError: got \(4, 2\)",
        ),
        (
            On(RBF(), "age") + On(refuses, "note"),
            r"kernel 'mine' on column 'note' of X failed on .* \(4,\) and \(3,\), parts of .*"
            r"\(4, 4\)",
        ),
        (
            On(RBF(), "age") + On(too_small, "age"),
            r"'mine' on column 'age' of X: .* \(1, 1\) for 4",
        ),
    ],
    ids=["two columns", "in a sum", "wrong shape"],
)
def test_errors_say_which_columns_they_were_given(kernel: Kernel, message: str) -> None:
    """An error inside On names kernel, columns and both shapes: of the columns and of all."""
    rows = table()
    (own,) = KernelLibrary({"mine": kernel}).for_columns(header_of_table()).fit(rows).values()
    with pytest.raises(KernelError, match=message) as caught:
        kernel_values("mine", own, rows, rows[:3])
    assert caught.value.__cause__ is not None
    if isinstance(kernel, On):
        with pytest.raises(KernelError, match="'mine' on columns 'town', 'note' of X failed"):
            own.diagonal(rows)


def header_of_table() -> Header:
    """Of the table of objects."""
    return header(numeric=(True, True, False, False))
