"""The command line: ``cgboost odd-even`` runs the study of [B] section 5."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cgboost.datasets import odd_even_split
from cgboost.estimators import CGBoostClassifier
from cgboost.exceptions import CGBoostError
from cgboost.odd_even import Row, fit_best, parse_library, table_row, write_table
from solvers import SolverError

DESCRIPTION = """\
Odd against even digits with a mixture of kernels, boosted by column generation.

Without --data the 1797 digits that ship with scikit-learn are used; with --data (a folder with
the four MNIST files, or one whose sub-folder mnist has them) the real thing.
"""

EXAMPLES = """\
examples:
  cgboost odd-even
  cgboost odd-even --data DATA --penalty l1 --C 0.1,1,10
  cgboost odd-even --data DATA --kernels L+Q --priority full --out composite
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status (2 for bad arguments or data)."""
    parser = argparse.ArgumentParser(prog="cgboost", description="Boosting by column generation.")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_odd_even(commands)
    options = parser.parse_args(arguments)
    try:
        options.run(options)
    except (CGBoostError, SolverError, ValueError) as error:
        print(f"cgboost: {error}", file=sys.stderr)
        return 2
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
    add("--data", type=Path, metavar="DIR", help="folder with the MNIST files")
    add("--train", type=int, help="training rows (1000 with --data, else 600)")
    add("--validation", type=int, help="validation rows (2000 with --data, else 400)")
    add("--test", type=int, help="test rows (10000 with --data, else the rest)")
    add("--kernels", default="L,Q,R", help="L,Q,R a mixture, L+Q a composite (default L,Q,R)")
    add("--raw-kernels", action="store_true", help="do not divide by √(k(x,x) k(z,z))")
    add("--penalty", choices=["l1", "l2"], default="l1", help="norm of the coefficients")
    add("--coef", choices=["free", "nonneg"], default="free", help="sign rule")
    add("--offset", choices=["none", "penalized", "free"], default="free", help="offset b")
    add("--C", default="0.1,1,10", help="price of an error, or several to choose from")
    add("--priority", choices=["stratified", "full"], default="stratified", help="pricing order")
    add("--columns-per-round", type=int, help="columns a round (default 2 %% of the rows)")
    add("--max-columns", type=int, help="stop at this many generated columns")
    add("--early-stopping", action="store_true", help="keep the round that validates best")
    add("--tol", type=float, default=1e-4, help="relative duality gap (default 1e-4)")
    add("--solver", default="auto", help="LP/QP backend, e.g. highs, clarabel, osqp, cvxpy:SCS")
    add("--seed", type=int, default=0, help="seed of the random split")
    add("--out", type=Path, metavar="DIR", help="folder for tables and picture")


def _odd_even(options: argparse.Namespace) -> None:
    split = odd_even_split(
        options.data,
        train=options.train,
        validation=options.validation,
        test=options.test,
        seed=options.seed,
    )
    library = parse_library(options.kernels, normalize=not options.raw_kernels)
    print(
        f"odd/even digits: {len(split.X_train)} training, {len(split.X_validation)} validation, "
        f"{len(split.X_test)} test rows; {len(library) * len(split.X_train)} columns from {library}"
    )
    model, seconds = fit_best(
        split,
        library,
        _numbers(options.C),
        penalty=options.penalty,
        coef=options.coef,
        offset=options.offset,
        priority=options.priority,
        columns_per_round=options.columns_per_round,
        max_columns=options.max_columns,
        early_stopping=options.early_stopping,
        tol=options.tol,
        solver=options.solver,
        verbose=1,
    )
    row = table_row(options.kernels, model, split, seconds)
    _print_table(row)
    certificate = "certified" if model.converged_ else "not certified to tol"
    print(
        f"objective {model.objective_:.6g}, lower bound {model.dual_bound_:.6g}, "
        f"gap {model.gap_:.1e} ({certificate}; stopped: {model.stop_reason_})"
    )
    if options.out is not None:
        _write(options.out, model, row)


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError as error:
        raise ValueError(f"--C must be a number or several joined by ',', got {text!r}") from error


def _print_table(row: Row) -> None:
    print("errors in %, times in seconds, columns per kernel, columns scored a round")
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


def _write(folder: Path, model: CGBoostClassifier, row: Row) -> None:
    from cgboost.inspection import plot_history

    folder.mkdir(parents=True, exist_ok=True)
    write_table(folder / "table.csv", {name: [value] for name, value in row.as_record().items()})
    write_table(folder / "columns.csv", model.columns_)
    write_table(folder / "history.csv", model.history_)
    plot_history(model).savefig(folder / "history.png", dpi=120)
    print(f"wrote table.csv, columns.csv, history.csv and history.png to {folder}/")
