"""The command line, called as a function and as a program."""

import csv
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from skops import io

import cgboost
from cgboost import SparseLinearRegressor
from cgboost.generation import ProgressLine
from cgboost.generation.history import Round
from cgboost.studies.cli import COMPARISON, EXAMPLES, FILES, _parser, main

SMALL = ["odd-even", "--train", "120", "--validation", "80", "--test", "100"]


def test_prints_table_one_and_writes_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table's columns, the certificate, the comparison, and files with the right contents."""
    assert main([*SMALL, "--C", "1", "--out", str(tmp_path / "new" / "folder")]) == 0
    printed = capsys.readouterr().out
    for word in ("R_trn", "R_tst", "T_trn", "T_tst", "C_L", "C_Q", "C_R", "certified"):
        assert word in printed
    for word in ("compressed SVC", "mixture L,Q,R", "best kernel", "scikit-learn SVC", "bound.png"):
        assert word in printed
    folder = tmp_path / "new" / "folder"
    assert (folder / "history.png").read_bytes()[:4] == b"\x89PNG"
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "<h1>CGBoostClassifier</h1>" in report
    assert "(certified)" in report
    with (folder / "history.csv").open(encoding="utf-8") as file:
        history = list(csv.DictReader(file))
    assert float(history[-1]["gap"]) <= 1e-4
    assert {"objective", "bound", "validation_error", "evaluated"} <= set(history[0])
    with (folder / "columns.csv").open(encoding="utf-8") as file:
        columns = list(csv.DictReader(file))
    assert {row["kernel"] for row in columns} <= {"L", "Q", "R"}
    assert len(columns) > 5
    assert (folder / "bound.png").read_bytes()[:4] == b"\x89PNG"
    with (folder / "comparison.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 4
    with (folder / "table.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert all(len(cell.replace(".", "").lstrip("0")) <= 10 for cell in row.values())


@pytest.mark.parametrize(
    "options",
    [
        ["--penalty", "l2", "--max-columns", "40"],
        ["--kernels", "L+Q", "--priority", "full", "--columns-per-round", "1"],
        ["--solver", "clarabel", "--coef", "nonneg", "--offset", "penalized"],
        ["--coef", "nonneg", "--no-negation"],
        ["--no-compare", "--priority", "strict"],
        ["--raw-kernels", "--kernels", "L", "--early-stopping", "--seed", "3", "--tol", "1e-2"],
    ],
    ids=" ".join,
)
def test_every_option_is_taken(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Formulation, kernels, pricing and solver can be chosen on the command line."""
    assert main([*SMALL, "--C", "0.5,2", *options]) == 0
    assert "objective" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "no/such/folder"], "the data folder 'no/such/folder' does not exist"),
        (["--seed", "-1"], "seed must be a whole number ≥ 0, got -1"),
        (["--out", __file__], "test_cli.py cannot be made: File exists"),
        (["--out", f"{__file__}/folder"], "test_cli.py/folder cannot be made: Not a directory"),
        (["--kernels", "L,Z"], "L,Z"),
        (["--C", "one"], "--C must be a number"),
        (["--C", "-1"], "C must be a finite number > 0, got -1.0"),
        (["--train", "5000"], "5000"),
        (["--solver", "gurobi"], "gurobi"),
        (["--solver", "osqpp"], "did you mean 'osqp'? Known are"),
        (["--penalty", "l2", "--solver", "highs"], "highs"),
    ],
    ids=str,
)
def test_mistakes_end_in_one_line_and_status_two(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback: one line on standard error that names the value."""
    assert main([*SMALL, *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith("cgboost: ")
    assert message in error


def test_each_price_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The progress of each fit is labelled with its C, and the table has a legend."""
    assert main([*SMALL, "--C", "0.5,2"]) == 0
    written = capsys.readouterr()
    assert [line.split()[0] for line in written.err.splitlines()] == ["C=0.5:", "C=2:"]
    assert "R_tst: errors in %" in written.out


def test_ctrl_c_writes_what_there_is_and_ends_with_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """After Ctrl-C the table and the files describe the last complete round."""
    number = 3

    class Pressing(ProgressLine):
        def __call__(self, turn: Round) -> None:
            if turn.number == number:
                raise KeyboardInterrupt

    monkeypatch.setattr("cgboost.studies.odd_even.ProgressLine", Pressing)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        assert main([*SMALL, "--out", str(tmp_path)]) == 130
    assert "(not certified to tol; interrupted)" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)
    number = 0
    assert main(SMALL) == 130
    assert capsys.readouterr().err == "cgboost: interrupted before there was a model\n"


def test_ctrl_c_in_the_comparison_keeps_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The files of the model are there, those of the comparison are not, and the status is 130."""

    def pressed(*arguments: object, **parameters: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cgboost.studies.comparison.support_vector_machines", pressed)
    assert main([*SMALL, "--C", "1", "--out", str(tmp_path)]) == 130
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)
    printed = capsys.readouterr().out
    assert "SVC" not in printed
    assert "R_tst" in printed


def test_a_reader_that_leaves_is_no_error() -> None:
    """With the other end of the pipe closed, the command ends without a traceback."""
    code = (
        f"import sys; from cgboost.studies.cli import main; sys.exit(main({[*SMALL, '--C', '1']}))"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert b"Error" not in process.stderr.read()
    assert process.returncode == 141


def test_a_stored_model_is_certified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints the certificate of the function, and draws it; a wrong name is said."""
    frame = load_diabetes(as_frame=True).frame
    X, y = frame.drop(columns="target"), frame["target"]
    model = Lasso(alpha=0.5).fit(X, y)
    io.dump(model, tmp_path / "model.skops")
    frame.to_csv(tmp_path / "data.csv", index=False)
    files = [str(tmp_path / "model.skops"), str(tmp_path / "data.csv")]
    picture = tmp_path / "violations.png"
    assert main(["certify", *files, "--target", "target", "--out", str(picture)]) == 0
    assert capsys.readouterr().out.startswith("Lasso: objective")
    assert picture.stat().st_size > 0
    assert main(["certify", *files, "--target", "y"]) == 2
    assert "has no column 'y'" in capsys.readouterr().err


class Own(Lasso):
    """A class that nobody else knows."""


def certified(model: Any, folder: Path, file: str, *more: str) -> int:
    """The status of ``cgboost certify`` for a model of the diabetes data, stored as ``file``."""
    frame = load_diabetes(as_frame=True).frame
    model.fit(frame.drop(columns="target"), frame["target"])
    if file.endswith(".skops"):
        io.dump(model, folder / file)
    else:
        model.save(folder / file)
    frame.to_csv(folder / "data.csv", index=False)
    rows = str(folder / "data.csv")
    return main(["certify", str(folder / file), rows, "--target", "target", *more])


@pytest.mark.parametrize("file", ["model.skops", "model.cgb"])
def test_models_of_cgboost_are_certified_from_both_kinds_of_files(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the proof and its table, which the checker takes."""
    proof, table = tmp_path / "data.json", tmp_path / "data.npy"
    model = SparseLinearRegressor(alpha=0.01)
    assert certified(model, tmp_path, file, "--proof", str(proof)) == 0
    assert capsys.readouterr().out.endswith(f"wrote {proof} and its table {table}\n")
    checker = Path(__file__).parents[2] / "examples" / "check_certificate.py"
    command = [sys.executable, str(checker), str(proof), str(table)]
    assert "VERIFIED" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_models_of_celer_are_certified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their classes are trusted."""
    celer = pytest.importorskip("celer")
    assert certified(celer.Lasso(alpha=0.5), tmp_path, "model.skops") == 0
    assert capsys.readouterr().out.startswith("Lasso: objective")


def test_files_that_are_not_there_not_models_or_not_trusted_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has its message, and no traceback."""
    text = tmp_path / "text.skops"
    text.write_text("no model", encoding="utf-8")
    missing = tmp_path / "nope.skops"
    for file, words in ((missing, "there is no file"), (text, "is no file of skops.io.dump")):
        assert main(["certify", str(file), "data.csv"]) == 2
        assert words in capsys.readouterr().err
    assert certified(Own(), tmp_path, "model.skops") == 2
    assert "types that this command does not trust" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    """``cgboost --version`` prints the package's version."""
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"cgboost {cgboost.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["odd-even", "--help"]], ids=" ".join)
def test_help_shows_examples_and_pages(arguments: list[str]) -> None:
    """Each help, also that of the bare command, ends with commands to copy and pages to read."""
    command = [sys.executable, "-m", "cgboost.studies.cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    examples = re.findall(r"^  (cgboost odd-even.*?)(?:   .*)?$", done.stdout, re.M)
    assert len(examples) >= 3
    pages = re.findall(r"docs/[\w/]+\.md", done.stdout)
    assert len(pages) >= 2
    assert all((Path(__file__).parents[2] / page).is_file() for page in pages)
    for example in examples:
        if "--help" not in example:
            words = shlex.split(example)[1:]
            assert _parser().parse_args(words).run.__name__ == "_odd_even"


def test_files_named_in_the_help_are_those_that_are_written() -> None:
    """The help of ``--out`` does not promise what is not there."""
    named = re.findall(r"\w+\.(?:csv|png|html)", EXAMPLES)
    assert named == [*FILES, COMPARISON]
