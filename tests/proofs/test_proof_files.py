"""What files of certificates, and refusals to write one, say to users of other packages."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import HuberRegressor, Lasso, LogisticRegression, SGDClassifier
from sklearn.svm import SVR, NuSVC, NuSVR, OneClassSVM

from cgboost import certify, polish
from cgboost.exceptions import CertificateError
from tests.proofs.packings import certified_packing

X, Y = load_iris(return_X_y=True)
BINARY = Y == 1


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (LogisticRegression(max_iter=1000), Y, "the loss multinomial has"),
        (HuberRegressor(max_iter=1000), X[:, 0], "the loss of HuberRegressor has"),
        (OneClassSVM(nu=0.2), None, "the loss of OneClassSVM or of ν has"),
        (NuSVC(nu=0.2), BINARY, "ν"),
        (NuSVR(nu=0.2), X[:, 0], "ν"),
        (SGDClassifier(loss="perceptron"), BINARY, "the loss perceptron or modified_huber has"),
        (LogisticRegression(), BINARY, "the loss 'log_loss' has"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_loss_without_an_exact_certificate_has_the_name_that_users_know(
    model: Any, y: Any, words: str, tmp_path: Path
) -> None:
    """No class of this package is in the message, nor the loss of a search's columns."""
    certificate = certify(model.fit(X, y), X, y)
    with pytest.raises(CertificateError, match=words) as raised:
        certificate.save(tmp_path / "proof.json")
    assert not any(name in str(raised.value) for name in ("Rows", "SupportVector", "at_least"))


@pytest.mark.parametrize("call", [certify, polish])
@pytest.mark.parametrize("kind", [Lasso, SVR])
def test_a_class_is_no_fitted_model(call: Any, kind: type) -> None:
    """The message says what to give."""
    with pytest.raises(CertificateError, match=rf"give a fitted model.*{kind.__name__}\(\)\.fit"):
        call(kind, X, X[:, 0])


def test_the_table_of_a_packing_says_what_its_columns_are(tmp_path: Path) -> None:
    """Sizes and numbers of items."""
    _, table = certified_packing(2, tmp_path)
    assert table.read_text(encoding="utf-8").splitlines()[0] == "size,number"
    assert np.loadtxt(table, delimiter=",", skiprows=1, ndmin=2).shape[1] == 2
