"""The command line: ``cgboost odd-even`` runs the study of [B] section 5.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, get_args
from zipfile import ZipFile, is_zipfile

import cgboost
from cgboost._solvers import SolverError
from cgboost.estimators.kernel.cg_boost import CGBoostClassifier
from cgboost.estimators.kernel.kernel_columns import Priority
from cgboost.exceptions import CGBoostError
from cgboost.explain import explanation, sections
from cgboost.generation.history import StopReason
from cgboost.generation.live_line import error_console
from cgboost.generation.progress import IN_WORDS
from cgboost.optional import is_installed, require
from cgboost.persistence import trusted_types, write_picture
from cgboost.studies.comparison import draw_bound, entrants, in_words, records
from cgboost.studies.datasets import Split, odd_even_split
from cgboost.studies.odd_even import Row, fit_best, parse_library, table_row, write_table
from cgboost.studies.paper import HEAD, draw_figure_one, table_one

ABOUT = """\
Boosting by column generation: a model, and how far it can be from the best one at most.

The work is done from Python; this command runs the main study, so that an installation can be
tried and its results looked at.
"""

FIRST_STEPS = """\
examples:
  cgboost odd-even                       the study on digits that come with scikit-learn
  cgboost odd-even --out results         the same; tables, picture and report.html in a folder
  cgboost odd-even --help                all that can be chosen
  cgboost paper --out results            Table 1 and Figure 1 of the paper, 28 rows
  cgboost explain                        the sections on errors and warnings
  cgboost explain eval-set               what the messages that name this section mean

from Python:
  from cgboost import CGBoostClassifier
  model = CGBoostClassifier(penalty="l1").fit(X, y)
  model.report("report.html")

documentation:
  docs/user_guide/getting_started.md     from the installation to the first certificate
  docs/development/how_to_mnist.md        the study with your own choices
"""

DESCRIPTION = """\
Odd against even digits with a mixture of kernels, boosted by column generation.

Without --data the 1797 digits that ship with scikit-learn are used; with --data (a folder with
the four MNIST files, or one whose sub-folder mnist has them) the real thing.
"""

EXAMPLES = """\
examples:
  cgboost odd-even
  cgboost odd-even --data DATA --penalty l1 --C 0.1,1,10
  cgboost odd-even --data DATA --kernels L+Q --out composite
  cgboost odd-even --C 1 --max-columns 30 --early-stopping --out small

Its first table has a small machine to take away, compressed from scikit-learn's SVC, this SVC, the
mixture, and the best kernel alone; --no-compare leaves it out. With --out the folder has table.csv,
columns.csv, history.csv, history.png, bound.png (the proven bound as it meets the objective),
report.html, which says all about the mixture in one page, and comparison.csv. Exit status: 0, 2 for
bad arguments or data, 130 after Ctrl-C.

documentation: docs/development/how_to_mnist.md, docs/user_guide/reports.md
"""

LEGEND = """\
R_trn, R_val, R_tst: errors in % on training, validation and test rows; T_trn, T_tst: seconds to
train and to predict the test rows; C_L, ...: columns per kernel; scored: columns scored a round"""

COMPARED = """\
The model to take away is the first: an SVC with a tenth of its vectors, as few free centres (from
cgboost import compress). All have the same rows, C and γ of each are chosen on the validation rows:
"""

GAP_LEGEND = """\
The mixture is the paper's model: with columns at training rows and a penalty on each of them it has
more errors, but it chooses among kernels and comes with a proof.
proven gap: no weights on any of its columns, used or not, have an objective that is lower by more
than this share; SVC reports none
"""

PAPER = "The mixture as a row of the paper's Table 1:\n"

PAPER_DESCRIPTION = """\
Table 1 of Bi, Zhang and Bennett (KDD 2004) as they print it: seven libraries of kernels, with both
norms, with free α and with α ≥ 0, 28 rows, columns generated in the paper's order of priority. With
--out also their Figure 1: orders of priority, and a C that is too large.
"""

PAPER_EXAMPLES = """\
examples:
  cgboost paper --train 200 --validation 200 --out results
  cgboost paper --data DATA --out results

With all rows of MNIST's study it takes some minutes. Exit status as of cgboost odd-even.

documentation: docs/development/how_to_mnist.md, docs/studies/mnist/page.md
"""

TABLE_ONE, FIGURE_ONE = "table_one.csv", "figure_one.png"
BOUND, COMPARISON = "bound.png", "comparison.csv"
FILES = ("table.csv", "columns.csv", "history.csv", "history.png", BOUND, "report.html")

OF_SKOPS = "schema.json"
"""What an archive of skops has, and none of cgboost."""

TRUSTED_PEERS = ("celer.dropin_sklearn.", "skglm.estimators.")
"""Where classes of other packages are that ``certify`` takes and skops does not know."""

INTERRUPTED, READER_LEFT = 128 + signal.SIGINT, 128 + 13  # what a shell calls the two signals


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status. Without arguments it shows the help.

    0 is success, 2 means bad arguments, data or folders, 130 Ctrl-C (after what there is has been
    written), 141 that the reader of the standard output has left.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except (CGBoostError, SolverError, ValueError, ImportError, FileNotFoundError) as error:
        print(f"cgboost: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("cgboost: interrupted before there was a model", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes the standard output again at its exit: let that go nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_LEFT
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cgboost",
        description=ABOUT,
        epilog=FIRST_STEPS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"cgboost {cgboost.__version__}")
    parser.set_defaults(run=partial(_show_help, parser))
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_odd_even(commands)
    _add_paper(commands)
    _add_certify(commands)
    explain = commands.add_parser("explain", help="what errors and warnings mean, and what to do")
    explain.add_argument("section", nargs="?", metavar="SECTION", help="as messages end with it")
    explain.set_defaults(run=_explain)
    return parser


def _explain(options: argparse.Namespace) -> int:
    """Print a section of the page on messages, or what sections there are."""
    if options.section is None:
        for name, text in sections().items():
            print(f"{name:24}{text.partition(chr(10))[0].lstrip('# ')}")
        return 0
    text = explanation(options.section)
    if sys.stdout.isatty() and is_installed("rich"):
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        print(text)
    return 0


def _show_help(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    parser.print_help()
    return 0


def _add_odd_even(commands: Any) -> None:
    parser = commands.add_parser(
        "odd-even",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        help="the odd/even study on digits",
    )
    parser.set_defaults(run=_odd_even)
    add = parser.add_argument
    _add_rows(parser)
    kernels = "L,Q,R a mixture, L+Q a composite (default L,Q,R)"
    add("--kernels", metavar="K", default="L,Q,R", help=kernels)
    add("--raw-kernels", action="store_true", help="do not divide by √(k(x,x) k(z,z))")
    add("--penalty", choices=["l1", "l2"], default="l1", help="norm of the coefficients")
    add("--coef", choices=["free", "nonneg"], default="free", help="sign rule")
    add("--no-negation", action="store_true", help="with --coef nonneg: kernels are only added")
    add("--offset", choices=["none", "penalized", "free"], default="free", help="offset b")
    add("--C", metavar="C", default="0.1,1,10", help="price of an error, or several to choose from")
    add("--priority", choices=get_args(Priority), default="full", help="pricing order")
    add("--columns-per-round", type=int, metavar="N", help="columns a round (2 %% of the rows)")
    add("--max-columns", type=int, metavar="N", help="stop at this many generated columns")
    add("--early-stopping", action="store_true", help="keep the round that validates best")
    add("--tol", type=float, metavar="GAP", default=1e-4, help="relative gap (default 1e-4)")
    solvers = "LP/QP backend, e.g. highs, clarabel, osqp, cvxpy:SCS"
    add("--solver", metavar="NAME", default="auto", help=solvers)
    compare = "also a compressed SVC, SVC and the best single kernel (default)"
    add("--compare", action=argparse.BooleanOptionalAction, default=True, help=compare)
    add("--out", type=Path, metavar="DIR", help="folder for tables, picture and report")


def _add_rows(parser: argparse.ArgumentParser) -> None:
    """Options that say which rows."""
    add = parser.add_argument
    add("--data", type=Path, metavar="DIR", help="folder with the MNIST files")
    add("--train", type=int, metavar="N", help="training rows (1000 with --data, else 600)")
    add("--validation", type=int, metavar="N", help="validation rows (2000 with --data, else 400)")
    add("--test", type=int, metavar="N", help="test rows (10000 with --data, else the rest)")
    add("--seed", type=int, metavar="N", default=0, help="seed of the random split")


def _rows(options: argparse.Namespace) -> Split:
    with _at_work("reading the digits"):
        return odd_even_split(
            options.data,
            train=options.train,
            validation=options.validation,
            test=options.test,
            seed=options.seed,
        )


def _add_paper(commands: Any) -> None:
    parser = commands.add_parser(
        "paper",
        description=PAPER_DESCRIPTION,
        epilog=PAPER_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        help="Table 1 and Figure 1 of the odd/even study's paper",
    )
    parser.set_defaults(run=_paper)
    _add_rows(parser)
    add = parser.add_argument
    add("--C", metavar="C", default="0.3,1,3,10,30,100", help="several to choose from")
    order = "pricing order of the table (default strict, the paper's)"
    add("--priority", choices=get_args(Priority), default="strict", help=order)
    add("--good", type=float, metavar="C", default=3.0, help="C of Figure 1 (default 3)")
    add("--bad", type=float, metavar="C", default=1000.0, help="too large a C (default 1000)")
    add("--out", type=Path, metavar="DIR", help=f"folder for {TABLE_ONE} and {FIGURE_ONE}")


def _paper(options: argparse.Namespace) -> int:
    split, C_values = _rows(options), _numbers(options.C)
    if options.out is not None:
        _make_folder(options.out)
        require("matplotlib", "cgboost paper --out")
    print(HEAD, flush=True)
    records = []
    for found in table_one(split, C_values, priority=options.priority):
        print(found.line(), flush=True)
        records.append(found.as_record())
    if options.out is not None:
        table = {name: [record[name] for record in records] for name in records[0]}
        write_table(options.out / TABLE_ONE, table)
        figure = draw_figure_one(split, options.good, options.bad)
        write_picture(figure, options.out / FIGURE_ONE, dpi=120)
        print(f"wrote {TABLE_ONE}, {FIGURE_ONE} to {options.out}/")
    return 0


def _add_certify(commands: Any) -> None:
    parser = commands.add_parser(
        "certify",
        description="How far a fitted model of scikit-learn, skglm, celer or cgboost is from its "
        "optimum.",
        epilog="cgboost certify model.skops data.csv --target y --proof proof.json",
        help="how far a fitted model is from its optimum",
    )
    parser.set_defaults(run=_certify)
    add = parser.add_argument
    add("model", type=Path, help="a file of skops.io.dump, or of cgboost's model.save")
    add("data", type=Path, help="the rows of the fit: a CSV file with a header")
    add("--target", metavar="NAME", help="column of the target (a OneClassSVM has none)")
    add("--weights", metavar="NAME", help="column of the sample weights")
    add("--out", type=Path, metavar="FILE", help="picture of the violations")
    proof = "certificate as a file, and next to it its table, a .npy file"
    add("--proof", type=Path, metavar="FILE", help=proof)
    add("--output", type=int, metavar="K", help="which class's problem --proof is about: 0, 1, …")


def _certify(options: argparse.Namespace) -> int:
    """Read a model and its rows, and print the certificate."""
    require("pandas", "cgboost certify")
    import pandas as pd

    from cgboost.inspection import plot_violations
    from cgboost.proofs.certificate import certify

    with _at_work("reading"):
        model, frame = _stored_model(options.model), pd.read_csv(options.data)
    used = [name for name in (options.target, options.weights) if name]
    if missing := [name for name in used if name not in frame]:
        raise ValueError(f"{options.data} has no column {missing[0]!r}: {', '.join(frame)}")
    weights = frame[options.weights].to_numpy() if options.weights else None
    X = frame.drop(columns=used)
    X = X if hasattr(model, "feature_names_in_") else X.to_numpy()
    with _at_work("certifying"):
        y = frame[options.target].to_numpy() if options.target else None
        certificate = certify(model, X, y, weights)
    print(certificate)
    if options.out is not None:
        write_picture(plot_violations(certificate), options.out, dpi=120)
    if options.proof is not None:
        table = options.proof.with_suffix(".npy")  # .csv might be the rows that were given
        certificate.save(options.proof, output=options.output, data=table)
        print(f"wrote {options.proof} and its table {table}")
    return 0


def _stored_model(file: Path) -> Any:
    """The model in a file of ``skops.io.dump`` or of ``model.save``; no code in it is run."""
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    if not is_zipfile(file):
        raise ValueError(f"{file} is no file of skops.io.dump, nor of cgboost's model.save")
    with ZipFile(file) as archive:
        if OF_SKOPS not in archive.namelist():
            return cgboost.load(file)
    require("skops", "cgboost certify")
    from skops import io

    types, known = io.get_untrusted_types(file=file), trusted_types()
    strange = [name for name in types if name not in known and not name.startswith(TRUSTED_PEERS)]
    if strange:
        raise ValueError(
            f"{file} has types that this command does not trust: {', '.join(strange)}. Load the "
            "model yourself, and call cgboost.certify"
        )
    return io.load(file, trusted=types)


def _odd_even(options: argparse.Namespace) -> int:
    split = _rows(options)
    library = parse_library(
        options.kernels, normalize=not options.raw_kernels, negation=not options.no_negation
    )
    C_values = _numbers(options.C)
    if options.out is not None:
        _make_folder(options.out)
    for package in ("rich", "matplotlib", "jinja2"):
        require(package, "cgboost odd-even")
    sizes = len(split.X_train), len(split.X_validation), len(split.X_test)
    print(
        f"odd/even digits: {sizes[0]} training, {sizes[1]} validation, {sizes[2]} test rows; "
        f"{len(library) * sizes[0]} columns from {library}",
        flush=True,
    )
    parameters = {
        "penalty": options.penalty,
        "coef": options.coef,
        "offset": options.offset,
        "priority": options.priority,
        "columns_per_round": options.columns_per_round,
        "max_columns": options.max_columns,
        "early_stopping": options.early_stopping,
        "tol": options.tol,
        "solver": options.solver,
    }
    model, seconds, interrupted = fit_best(split, library, C_values, progress=True, **parameters)
    with _at_work("predicting"):
        row = table_row(options.kernels, model, split, seconds)
    if options.out is not None:
        with _at_work("writing tables, picture and report"):
            _write(options.out, model, row)
    files = list(FILES)
    if options.compare and not interrupted:
        kernels = {"normalize": not options.raw_kernels, "negation": not options.no_negation}
        interrupted = not _compare(options.out, split, row, C_values, **kernels, **parameters)
        files += [] if interrupted else [COMPARISON]
    _print_table(row)
    certificate = "certified" if model.converged_ else "not certified to tol"
    end = IN_WORDS[StopReason(str(model.stop_reason_))]
    print(
        f"objective {model.objective_:.6g}, lower bound {model.dual_bound_:.6g}, "
        f"gap {model.gap_:.1e} ({certificate}; {end})"
    )
    if options.out is not None:
        print(f"wrote {', '.join(files)} to {options.out}/")
        print(f"see {options.out / BOUND}: the proven bound as it meets the objective")
    return INTERRUPTED if interrupted else 0


def _at_work(words: str) -> AbstractContextManager[Any]:
    """A sign on a terminal that something is being done; nothing elsewhere."""
    console = error_console()
    return console.status(words) if console.is_terminal else nullcontext()


def _compare(
    folder: Path | None, split: Split, row: Row, C_values: Sequence[float], **parameters: Any
) -> bool:
    """Print the model compared with others; False if Ctrl-C came in between."""
    try:
        with _at_work("comparing with others"):
            found = list(entrants(split, row, C_values, **parameters))
    except KeyboardInterrupt:
        return False
    print(f"\n{COMPARED}\n{in_words(found)}\n\n{GAP_LEGEND}\n{PAPER}")
    if folder is not None:
        write_table(folder / COMPARISON, records(found))
    return True


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError as error:
        raise ValueError(f"--C must be a number or several joined by ',', got {text!r}") from error


def _print_table(row: Row) -> None:
    print(LEGEND)
    cells = {
        "kernels": row.kernels,
        "norm": row.penalty,
        "C": f"{row.C:g}",
        "R_trn": f"{row.train_error:.2f}",
        "R_val": f"{row.validation_error:.2f}",
        "R_tst": f"{row.test_error:.2f}",
        "T_trn": f"{row.train_seconds:.2f}",
        "T_tst": f"{row.test_seconds:.2f}",
        **{f"C_{name}": str(count) for name, count in row.columns.items()},
        "scored": f"{row.evaluated_per_round:.0f}",
    }
    widths = [max(len(name), len(cell)) for name, cell in cells.items()]
    for line in (cells.keys(), cells.values()):
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"--out {folder} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"--out {folder} cannot be written to")


def _write(folder: Path, model: CGBoostClassifier, row: Row) -> None:
    from cgboost.inspection import plot_history

    table, columns, history, picture, bound, report = (folder / name for name in FILES)
    write_table(table, {name: [value] for name, value in row.as_record().items()})
    write_table(columns, model.columns_)
    write_table(history, model.history_)
    write_picture(plot_history(model), picture, dpi=120)
    write_picture(draw_bound(model), bound, dpi=120)
    model.report(report)


if __name__ == "__main__":
    sys.exit(main())
