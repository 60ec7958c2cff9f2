"""Parameters of kernels in searches, whatever stands for the library."""

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cgboost import (
    RBF,
    BLFRegressor,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    Matern,
    On,
)
from cgboost.estimators.kernel.kernel_parameters import with_parameters
from cgboost.kernels import as_library
from tests.estimators.data import two_classes

ESTIMATORS = [CGBoostClassifier, CGBoostRegressor, CGBoostOutlierDetector]

STANDS_FOR_RBF = [
    None,
    "rbf",
    "default",
    {"linear": Linear(), "rbf": RBF()},
    KernelLibrary({"rbf": RBF(1.0)}),
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("library", STANDS_FOR_RBF, ids=repr)
def test_the_estimator_keeps_what_it_was_given(estimator, library):
    """The parameter is the same object until a parameter of a kernel is set."""
    model = estimator(library)
    assert model.get_params()["library"] is library
    if library is None or isinstance(library, str):
        assert clone(model).library == library
    before = repr(library)
    assert model.set_params(library__rbf__gamma=0.25, tol=1e-3) is model
    assert model.library.kernels["rbf"] == RBF(0.25)
    assert model.tol == 1e-3
    assert repr(library) == before
    names = as_library(library, estimator._default_library).names
    assert model.library.names == names


def test_models_that_share_a_library_do_not_change_each_other():
    """A parameter of a kernel is that of one model; clones have a library of their own.

    A search may try whole kernels by their names, through a pipeline as well.
    """
    library = KernelLibrary({"rbf": RBF(1.0)})
    one, two = CGBoostClassifier(library), CGBoostRegressor(library)
    copy = clone(one)
    assert copy.library is not library
    assert copy.library == library
    one.set_params(library__rbf__gamma=0.1, library__normalize=True)
    assert one.get_params()["library__rbf__gamma"] == 0.1
    assert two.library.kernels["rbf"] == RBF(1.0)
    assert not two.library.normalize
    model = make_pipeline(StandardScaler(), CGBoostClassifier("rbf", penalty="l1"))
    grid = {"cgboostclassifier__library__rbf": [RBF(0.1), Linear()]}
    search = GridSearchCV(model, grid, cv=2).fit(*two_classes())
    assert search.best_params_["cgboostclassifier__library__rbf"] in [RBF(0.1), Linear()]


def test_one_kernel_has_its_own_parameters():
    """Of a model with one kernel they have no name of a kernel before them; so has BLF's.

    Whose kernel_ is that of the fit; a linear model has none, and no parameters of one.
    """
    for model, name in (
        (CGBoostClassifier(RBF(0.1)), "library"),
        (BLFRegressor(2, kernel=RBF()), "kernel"),
    ):
        given = getattr(model, name)
        model.set_params(**{f"{name}__gamma": 0.5})
        assert getattr(model, name) == RBF(0.5)
        assert given != RBF(0.5)
    X, y = two_classes()
    assert model.set_params(kernel=RBF()).fit(X, y).kernel_ == RBF().fit(X)
    assert not hasattr(model.set_params(kernel=None).fit(X, y), "kernel_")
    with pytest.raises(ValueError, match=r"kernel=None has no parameters by name, got \['gamma'\]"):
        model.set_params(kernel__gamma=1.0)
    library = with_parameters("rbf", {"rbf__gamma": 1.0}, KernelLibrary({"x": RBF()}))
    assert library.names == ("rbf",)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"library__rb__gamma": 1}, r"'rb__gamma' for KernelLibrary.*'rbf', 'standardize'\]"),
        ({"library__rbf__gama": 1}, r"'gama' for RBF.*\['factor', 'gamma'\]"),
        ({"libary__rbf": 1}, r"'libary' for estimator CGBoostClassifier.*'library'"),
        ({"penalty__x": 1}, "set_params|parameter"),
    ],
)
def test_bad_names(params, message):
    """The error names what is wrong and lists what there is, as in scikit-learn."""
    with pytest.raises((ValueError, AttributeError), match=message):
        CGBoostClassifier().set_params(**params)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("options", [{}, {"normalize": True}, {"standardize": True}], ids=repr)
def test_widths_taken_from_the_rows_can_be_seen(estimator, options):
    """library_ has the kernels as fitted, and a model of it is the same model."""
    X, y = two_classes()
    own = {"rbf": RBF(), "one": On(Matern(), 1) + 0.5 * RBF(factor=2.0)}
    library = KernelLibrary(own, **options)
    model = estimator(library).fit(X, y)
    seen = StandardScaler().fit_transform(X) if options.get("standardize") else X
    found = model.library_
    assert found.kernels["rbf"] == RBF().fit(seen)
    params = found.get_params()
    assert params["one__k1__kernel__gamma"] == Matern().fit(seen[:, 1:2]).gamma
    assert params["one__k2"] == RBF(factor=2.0).fit(seen)
    assert found.normalize == library.normalize
    assert library.kernels == KernelLibrary(own).kernels
    again = estimator(found).fit(X, y)
    assert again.library_ == found
    assert again.objective_ == pytest.approx(model.objective_, rel=1e-12)


def test_models_of_a_path_have_their_library_and_calibration_leaves_it():
    """Fits inside of a fit take widths from fewer rows, which are not those of the model."""
    X, y = two_classes()
    expected = RBF().fit(X)
    path = CGBoostClassifier({"rbf": RBF()}).path(X, y, [0.1, 1.0])
    assert [model.library_.kernels["rbf"] for model in path] == [expected, expected]
    calibrated = CGBoostClassifier({"rbf": RBF()}, probability=True).fit(X, y)
    assert calibrated.library_.kernels["rbf"] == expected
