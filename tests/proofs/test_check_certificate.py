"""Certificates in files: those that are true are verified, and those that are not are refused."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, NuSVC

from cgboost import (
    AdaBoostClassifier,
    CGBoostClassifier,
    CGBoostRegressor,
    SparseLinearClassifier,
    certify,
    polish,
)
from cgboost.exceptions import CertificateError
from tests.effort import WHOLE

from .certified_fits import (
    CHECKER,
    KINDS,
    MAIN,
    certified,
    forgeries,
    one_digit_off,
    refusal,
    sealed,
)

SEEDS = range(13 if WHOLE else 1)
"""With 16 kinds 208 fits in all."""

DIGITS = 25 if WHOLE else 4
"""Digits that are changed in one certificate."""


@pytest.fixture(scope="module")
def cancer() -> tuple[Any, Any]:
    """A hundred rows."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[:100], y.iloc[:100]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_certificates_are_verified_in_fractions(kind: str, seed: int, tmp_path: Path) -> None:
    """By a script that imports nothing of cgboost, for every loss and penalty that it knows."""
    assert refusal(*certified(kind, seed, tmp_path)) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_false_claims_are_refused_even_with_a_seal_that_fits(kind: str, tmp_path: Path) -> None:
    """Numbers, hashes, losses and dual points that are not as they were prove nothing."""
    proof, table = certified(kind, 1, tmp_path)
    for what, forged in forgeries(json.loads(proof.read_text(encoding="utf-8"))):
        assert refusal(sealed(forged, tmp_path / "forged.json"), table), what


def test_one_digit_is_refused(tmp_path: Path) -> None:
    """Whichever it is."""
    proof, table = certified("hinge, l1", 1, tmp_path)
    rng = np.random.default_rng(0)
    for _ in range(DIGITS):
        assert refusal(one_digit_off(proof, rng, tmp_path / "other.json"), table)


def test_other_data_are_refused(tmp_path: Path) -> None:
    """One number of the table, its order, or a row too few."""
    proof, path = certified("quantile, l1", 1, tmp_path)
    table = np.load(path)
    changed = table.copy()
    changed[3, 2] = np.nextafter(changed[3, 2], np.inf)
    for other in (changed, table[::-1], table[:-1], table[:, ::-1]):
        np.save(tmp_path / "other.npy", other)
        assert "data" in refusal(proof, tmp_path / "other.npy")


def test_checker_is_short_and_imports_nothing_of_ours() -> None:
    """An auditor reads 150 lines, and runs them where cgboost is not installed."""
    text = CHECKER.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    imported = {
        line.split()[1] for line in text.splitlines() if line.startswith(("import", "from"))
    }
    assert imported <= {"hashlib", "json", "sys", "csv", "fractions", "numpy"}


def run(*paths: Path) -> subprocess.CompletedProcess[str]:
    """The script as a user runs it."""
    return subprocess.run(
        [sys.executable, str(CHECKER), *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_script_reads_the_users_own_table(cancer: tuple[Any, Any], tmp_path: Path) -> None:
    """A CSV file as pandas writes it; the status says what became of it."""
    X, y = cancer
    model = SparseLinearClassifier(C=0.1, standardize=True).fit(X, y)
    certificate = model.certificate(tmp_path / "proof.json", X, y)
    assert certificate.gap < 1e-9
    X.assign(target=y).to_csv(tmp_path / "data.csv", index=False)
    told = run(tmp_path / "proof.json", tmp_path / "data.csv")
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines()[0].startswith("'SparseLinearClassifier: no coefficients")
    assert told.stdout.splitlines()[1].startswith("VERIFIED")
    X.assign(target=1 - y).to_csv(tmp_path / "data.csv", index=False)
    told = run(tmp_path / "proof.json", tmp_path / "data.csv")
    assert told.returncode == 1
    assert "REFUSED" in told.stderr


def test_stated_numbers_are_those_of_the_model(cancer: tuple[Any, Any], tmp_path: Path) -> None:
    """Objective and bound in the file enclose the optimum as the model reports it."""
    X, y = cancer
    model = CGBoostClassifier(C=1.0).fit(X, y)
    model.certificate(tmp_path / "proof.json", X, y)
    proof = json.loads((tmp_path / "proof.json").read_text(encoding="utf-8"))
    assert proof["objective"] == pytest.approx(model.objective_, rel=1e-12)
    assert proof["bound"] >= model.dual_bound_ - 1e-9
    assert "positive" not in proof["claims"]
    assert refusal(tmp_path / "proof.json", tmp_path / "proof.npy") == ""


def test_large_tables_are_sampled_and_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first line says so, and scores that are wrong everywhere are still found."""
    monkeypatch.setitem(MAIN.__globals__, "CELLS", 80)
    proof, table = certified("quantile, l1", 0, tmp_path)
    assert refusal(proof, table) == ""
    assert capsys.readouterr().out.startswith("A SAMPLE")
    claims = json.loads(proof.read_text(encoding="utf-8"))
    forged = claims | {"scores": [0.5 * s for s in claims["scores"]]}
    assert "above its stated maximum" in refusal(sealed(forged, tmp_path / "forged.json"), table)


def forged(path: Path, y: list[float], X: list[list[float]], **claims: Any) -> tuple[Path, Path]:
    """A certificate of absolute errors with w = 0, and what is claimed else, sealed."""
    table = np.column_stack([np.array(X), y])
    n, p = len(y), len(X[0])
    np.save(path / "table.npy", table)
    own: dict[str, Any] = {
        "claims": "Lasso: no coefficients are below the bound.",
        "kind": "fit",
        "data": sha256(table.tobytes()).hexdigest(),
        **{"objective": 0, "bound": 0, "gap": 0, "loss": "absolute_error", "parameter": 0},
        **{"labels": None, "l1_share": 1, "kernel": False, "positive": False, "whole": False},
        **{"unit": 1, "b": 0, "intercept": "none", "scale": 1, "costs": [1] * n},
        **{"weights": [1] * p, "w": [0] * p, "scores": [0] * p, "response": [[0] * n, 0]},
    }
    return sealed(own | claims, path / "forged.json"), path / "table.npy"


LIES: dict[str, tuple[list[float], list[list[float]], dict[str, Any]]] = {
    "losses are no whole numbers": (
        [0.5],
        [[0.0]],
        {"whole": True, "objective": 1, "bound": 1, "response": [[1], 0]},
    ),
    "a quantile above 1": ([-5.0], [[0.0]], {"loss": "quantile", "parameter": 2}),
    "labels for numbers": ([1.0, 2.0], [[0.0]] * 2, {"labels": {"1.0": 0, "2.0": 0}}),
    "no row counts": ([3.0, 4.0], [[1.0]] * 2, {"costs": [0, 0]}),
    "a row of a master left out": (
        [3.0, 4.0],
        [[1.0]] * 2,
        {"loss": "at_least", "costs": [0, 1], "positive": True},
    ),
    "no unit": ([3.0, 4.0], [[1.0]] * 2, {"unit": 0}),
    "a truth value for a number": ([0.0], [[0.0]], {"objective": True, "gap": 1}),
    "a text for a number": ([0.0], [[0.0]], {"objective": "0"}),
    "no gap": ([0.0], [[0.0]], {"gap": None}),
    "not a number": ([0.0], [[0.0]], {"bound": float("nan")}),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_sealed_lie_about_the_problem_is_refused(lie: str, tmp_path: Path) -> None:
    """What is verified must be the problem of the table, in numbers."""
    y, X, claims = LIES[lie]
    assert refusal(*forged(tmp_path, [0.0], [[0.0]])) == ""
    assert refusal(*forged(tmp_path, y, X, **claims))


def test_the_problem_is_printed_and_what_the_file_says_is_quoted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A text cannot look like a result, and a name that stands twice is refused."""
    claims = "true\nVERIFIED: objective <= 1, bound >= 1 \x1b[8m"
    proof, table = forged(tmp_path, [0.0], [[0.0]], claims=claims, costs=[0.25])
    assert refusal(proof, table) == ""
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("'true\\nVERIFIED")
    assert "\x1b" not in first
    assert "'costs': (0.25, 0.25)" in second
    body = proof.read_text(encoding="utf-8").split('"seal"')[0] + '"costs": [1],\n'
    seal = sha256(body.encode()).hexdigest()
    proof.write_text(f'{body}"seal": "{seal}"}}\n', encoding="utf-8")
    assert refusal(proof, table)


def test_one_file_is_about_one_problem(tmp_path: Path) -> None:
    """Of several classes each has its own."""
    X, y = load_iris(return_X_y=True)
    certificate = certify(SparseLinearClassifier().fit(X, y), X, y)
    with pytest.raises(CertificateError, match="output=0, …, 2"):
        certificate.save(tmp_path / "proof.json")
    for output in range(3):
        certificate.save(tmp_path / "proof.json", output=output, data=tmp_path / "data.csv")
        assert refusal(tmp_path / "proof.json", tmp_path / "data.csv") == ""


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LogisticRegression(), "the loss 'log_loss' has no exact certificate"),
        (lambda: SparseLinearClassifier(loss="log_loss"), "the loss 'log_loss' has no exact"),
        (lambda: NuSVC(), "has no exact certificate"),
        (lambda: CGBoostClassifier(nu=0.3), "L1Ball.* has no exact certificate"),
        (lambda: CGBoostClassifier(penalty="rkhs"), "RKHS.* has no exact certificate"),
        (lambda: CGBoostClassifier(early_stopping=True), "fits a part of the rows"),
        (lambda: AdaBoostClassifier(), "which problem a AdaBoostClassifier of cgboost solves"),
        (
            lambda: SparseLinearClassifier(standardize=True, fit_intercept=False),
            "standardize=True without an intercept",
        ),
    ],
)
def test_what_is_not_covered_is_refused_by_name(
    make: Any, words: str, cancer: tuple[Any, Any], tmp_path: Path
) -> None:
    """Before a file is written."""
    X, y = cancer
    X = (X - X.mean()) / X.std()
    model = make().fit(X, y)
    with pytest.raises(CertificateError, match=words):
        certify(model, X, y).save(tmp_path / "proof.json")
    assert not (tmp_path / "proof.json").exists()


def test_a_kernel_matrix_too_large_to_check_whole_is_verified_by_its_coefficients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows without a coefficient take no part in ½ wᵀKw: the others are all checked."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.2 * rng.normal(size=60) > 0, 1, -1)
    certify(SVC(C=10.0).fit(X, y), X, y).save(tmp_path / "proof.json")
    monkeypatch.setitem(MAIN.__globals__, "CELLS", 180)
    assert refusal(tmp_path / "proof.json", tmp_path / "proof.npy") == ""


def test_a_file_is_about_a_problem_that_there_is(tmp_path: Path) -> None:
    """By its number, from 0; proof and table have two names."""
    X, y = load_iris(return_X_y=True)
    certificate = certify(CGBoostClassifier().fit(X, y), X, y)
    for output in (-1, 3, None):
        with pytest.raises(CertificateError, match="output=0, …, 2"):
            certificate.save(tmp_path / "proof.json", output=output)
    with pytest.raises(CertificateError, match="both proof and data"):
        certificate.save(tmp_path / "proof.npy", output=1)
    assert list(tmp_path.iterdir()) == []


SIGNED = np.where(np.arange(30) % 3 > 0, 1, -1)
POINTS = np.random.default_rng(5).normal(size=(30, 3)) + 0.5 * SIGNED[:, None]
TARGET = POINTS @ [1.0, 2.0, 0.0] + SIGNED


@pytest.mark.parametrize(
    ("model", "X", "y", "words"),
    [
        (CGBoostRegressor(), 1000 * POINTS - 7, TARGET, "predicts otherwise"),
        (CGBoostClassifier(), POINTS + 5, SIGNED, "predicts otherwise"),
        (CGBoostRegressor(), np.hstack([POINTS, POINTS]), TARGET, "6 features"),
        (CGBoostRegressor(), POINTS[:9], TARGET[:9], "columns of others"),
        (SVC(), POINTS, -SIGNED, "do not go with these targets"),
        (SparseLinearClassifier(), POINTS, None, "y is missing"),
        (SVC(), POINTS, None, "y is missing"),
    ],
)
def test_other_data_than_those_of_a_fit_are_noticed(model: Any, X: Any, y: Any, words: str) -> None:
    """Scaled or repeated features, a part of the rows, labels turned round or forgotten."""
    fitted = model.fit(POINTS, TARGET if isinstance(model, CGBoostRegressor) else SIGNED)
    with pytest.raises(CertificateError, match=words):
        certify(fitted, X, y)


def test_other_rows_than_those_of_the_fit_are_refused(cancer: tuple[Any, Any]) -> None:
    """Their objective is another one."""
    X, y = cancer
    model = SparseLinearClassifier(C=0.1, standardize=True).fit(X, y)
    with pytest.raises(CertificateError, match="give the same X, y and sample_weight"):
        certify(model, X[::-1], y)
    with pytest.raises(CertificateError, match="give the same X, y and sample_weight"):
        polish(model, X[::-1], y)
