"""How far a reader has to walk to follow a fit: modules, functions, and the ways of values.

A fit is run under a profile hook, which sees every call of a function of ours. Counted are

* the modules and the functions that it enters, and the deepest stack of frames of ours;
  comprehensions and generator expressions are lines of the function that they are in (before
  Python 3.12 most of them have frames);
* for y: the files whose functions get it (as it is or as ±1, as an argument or in one),
  and how often the way goes from one file to another (stays, and returns to a file already left);
* for a parameter: how often it is read, and in how many files.

::

    python benchmarks/walk.py               # a table of all fits
    python benchmarks/walk.py kernel -v     # one of them, with the way of y, file by file
    python benchmarks/walk.py kernel -f     # its functions, and how often each is called

Nothing here is a law: the numbers say where to look.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes

import cgboost
import solvers

ROOTS = {package.__path__[0]: package.__name__ for package in (cgboost, solvers)}
WITHIN_FUNCTIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
WITHOUT_READS = {"__init__", "get_params", "set_params", "__repr__", "__sklearn_clone__"}


@dataclass
class Walk:
    """What a fit has passed through."""

    files: Counter[str] = field(default_factory=Counter)
    functions: Counter[CodeType] = field(default_factory=Counter)
    depth: int = 0
    way: list[tuple[str, str, str]] = field(default_factory=list)
    reads: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def stays(self) -> list[str]:
        """The files on the way of y, each as often as the way comes to it."""
        files = [file for file, _, _ in self.way]
        return [file for k, file in enumerate(files) if k == 0 or file != files[k - 1]]


def file_of(code: CodeType) -> str | None:
    """The file of a function of ours, from its package on."""
    if code.co_name in WITHIN_FUNCTIONS:
        return None
    for root, name in ROOTS.items():
        if code.co_filename.startswith(root):
            return name + code.co_filename.removeprefix(root)
    return None


def followed(model: BaseEstimator, X: Any, y: Any, parameter: str) -> Walk:
    """Fit a model and note where it goes."""
    walk = Walk()
    signs = np.where(y == y.max(), 1.0, -1.0) if len(np.unique(y)) == 2 else y
    forms = [np.asarray(form, dtype=float) for form in (y, signs, -signs)]

    def is_y(value: Any) -> bool:
        if not isinstance(value, np.ndarray) or value.shape != y.shape:
            return False
        return value.dtype.kind in "fiub" and any(np.array_equal(value, form) for form in forms)

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event != "call" or (file := file_of(frame.f_code)) is None:
            return
        code = frame.f_code
        walk.files[file] += 1
        walk.functions[code] += 1
        walk.depth = max(walk.depth, depth_of(frame))
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        for name in names:
            value = frame.f_locals.get(name)
            inside = getattr(value, "__dict__", {}) if is_own(value) else {}
            found = next((f"{name}.{key}" for key, own in [*inside.items()] if is_y(own)), None)
            found = name if is_y(value) else found
            step = (file, code.co_qualname, found)
            if found and (not walk.way or step[:2] != walk.way[-1][:2]):
                walk.way.append(step)  # type: ignore[arg-type]
                return

    model = watched(model, parameter, walk)
    sys.setprofile(note)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)  # type: ignore[attr-defined]
    finally:
        sys.setprofile(None)
    return walk


def is_own(value: Any) -> bool:
    """Whether the class of a value is one of ours."""
    return type(value).__module__.split(".")[0] in ROOTS.values()


def depth_of(frame: FrameType | None) -> int:
    """Frames of ours on the stack."""
    depth = 0
    while frame is not None:
        depth += file_of(frame.f_code) is not None
        frame = frame.f_back
    return depth


def watched(model: BaseEstimator, parameter: str, walk: Walk) -> BaseEstimator:
    """The same model, which notes who reads one of its parameters."""
    kind, value = type(model), getattr(model, parameter)

    def read(self: BaseEstimator) -> Any:
        frame: FrameType | None = sys._getframe(1)
        if frame is not None and (file := file_of(frame.f_code)) is not None:
            walk.reads[file, frame.f_code.co_name] += frame.f_code.co_name not in WITHOUT_READS
        return vars(self).get(parameter, value)

    def write(self: BaseEstimator, new: Any) -> None:
        vars(self)[parameter] = new

    own = type(kind.__name__, (kind,), {"__module__": kind.__module__})
    setattr(own, parameter, property(read, write))
    return own(**model.get_params(deep=False))  # type: ignore[no-any-return]


Data = Callable[[], tuple[Any, Any]]


def classes() -> tuple[Any, Any]:
    """Breast cancer, standardised."""
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def numbers() -> tuple[Any, Any]:
    """Diabetes."""
    X, y = load_diabetes(return_X_y=True)
    return X, y


FITS: dict[str, tuple[Callable[[], BaseEstimator], Data, str]] = {
    "kernel": (lambda: cgboost.CGBoostClassifier(), classes, "C"),
    "linear": (lambda: cgboost.SparseLinearRegressor(alpha=0.05), numbers, "alpha"),
    "rules": (
        lambda: cgboost.RuleSetClassifier(max_total_conditions=8, time_limit=15),
        classes,
        "max_total_conditions",
    ),
    "lpboost": (lambda: cgboost.LPBoostClassifier(nu=0.4), classes, "nu"),
    "transform": (lambda: cgboost.TransformRegressor(), numbers, "n_estimators"),
    "ada": (lambda: cgboost.AdaBoostClassifier(), classes, "learning_rate"),
}
"""Fits by name: the model, its data, and the parameter whose reads are counted."""

HEAD = "| fit | modules | functions | frames | files of y | stays | returns | parameter | reads |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fits", nargs="*", choices=[*FITS, []], help="all by default")
    parser.add_argument("-v", action="store_true", help="the way of y and the reads as well")
    parser.add_argument("-f", action="store_true", help="the functions as well, in their order")
    options = parser.parse_args(arguments)
    print(HEAD, "|" + " --- |" * HEAD.count(" |"), sep="\n")
    for name in options.fits or FITS:
        make, data, parameter = FITS[name]
        walk = followed(make(), *data(), parameter)
        stays, files = walk.stays, {file for file, _, _ in walk.way}
        print(
            f"| {name} | {len(walk.files)} | {len(walk.functions)} | {walk.depth} | {len(files)} | "
            f"{len(stays)} | {len(stays) - len(files)} | {parameter} | {walk.reads.total()} in "
            f"{len({file for (file, _), count in walk.reads.items() if count})} files |"
        )
        if options.f:
            for file in walk.files:
                own = [code for code in walk.functions if file_of(code) == file]
                print(f"  {file}: {len(own)} functions")
                print(
                    *(f"    {code.co_qualname} × {walk.functions[code]}" for code in own), sep="\n"
                )
        if options.v:
            print(
                *(f"  {file}: {function}({value})" for file, function, value in walk.way), sep="\n"
            )
            print(
                *(f"  {file}: {reader}: {n} reads" for (file, reader), n in walk.reads.items()),
                sep="\n",
            )


if __name__ == "__main__":
    main()
