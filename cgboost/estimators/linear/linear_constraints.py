"""Linear constraints on the coefficients of a linear model, read from matrices and from words.

    (A, "<=", b)                    A of shape (n_rows, n_features), or one row; also ">=" and "=="
    "2*age - income <= 3"           a feature's name stands for its coefficient
    "`body mass` >= `blood sugar`"  names that are no words stand in back quotes
    "sum == 0"                      the sum of all coefficients
    "sum(a, b, c) <= 1"             of some
    "0 <= age <= 1"                 two constraints

Words are parsed by :mod:`ast`, never evaluated. The intercept takes no part.
"""

from __future__ import annotations

import ast
import difflib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.arrays import Vector
from cgboost.estimators.linear.scaling import LARGEST_SIZE
from cgboost.exceptions import see

SENSES: dict[str, int] = {"<=": 1, "==": 0, ">=": -1}
"""What a sense multiplies a row by to make an upper limit of it; 0: an equation."""

OPERATORS: dict[type[ast.cmpop], str] = {ast.LtE: "<=", ast.Eq: "==", ast.GtE: ">="}

SUM = "sum"
"""The reserved word."""

NAMES_SHOWN = 10
"""Names that a message lists at most."""

QUOTED = re.compile("`([^`]*)`")


@dataclass(frozen=True, eq=False)
class LinearConstraints:
    """Aβ ≤ b, = b or ≥ b, row by row.

    Attributes
    ----------
    matrix : csr_array of shape (n_rows, n_features)
    right : ndarray of shape (n_rows,)
    sense : ndarray of int, shape (n_rows,)
        1 for "<=", 0 for "==", −1 for ">=".
    words : tuple of str
        What each row is called.
    """

    matrix: Any
    right: Vector
    sense: NDArray[np.intp]
    words: tuple[str, ...]

    def holds_without_features(self) -> bool:
        """Whether β = 0 keeps to all constraints."""
        upper, lower = self.sense >= 0, self.sense <= 0
        return bool((self.right[upper] >= 0).all() and (self.right[lower] <= 0).all())


def check_constraints(constraints: Any) -> None:
    """Check what needs no features: a list of strings and of triples.

    Raises
    ------
    ValueError
    """
    if constraints is None or isinstance(constraints, LinearConstraints):
        return
    triple = isinstance(constraints, tuple) and _is_triple(constraints)
    if isinstance(constraints, str) or triple or not isinstance(constraints, (list, tuple)):
        raise ValueError(
            'constraints must be a list of strings and of triples (A, "<=", b), got '
            f"{shortened(constraints)}: put it in a list{see('constraints')}"
        )
    for number, one in enumerate(constraints):
        if not isinstance(one, str) and not _is_triple(one):
            raise ValueError(
                f'constraints[{number}] must be a string or (A, "<=", b), with ">=" or "==" as '
                f"well, got {shortened(one)}{see('constraints')}"
            )


def read_constraints(
    constraints: Sequence[Any] | LinearConstraints, names: Sequence[str] | None, n_features: int
) -> LinearConstraints:
    """The constraints on the coefficients of these features.

    Parameters
    ----------
    constraints : sequence of str and of (A, sense, b), or what was read before
    names : sequence of str or None
        Names of the features; None: x0, x1, …, as scikit-learn calls them.

    Raises
    ------
    ValueError
        Naming the constraint, the word in it, and the names that there are.
    """
    if isinstance(constraints, LinearConstraints):
        return constraints
    known = [f"x{j}" for j in range(n_features)] if names is None else [str(n) for n in names]
    places = {name: j for j, name in enumerate(known)}
    parts = []
    for number, one in enumerate(constraints):
        if isinstance(one, str):
            parts.append(_Reader(one, places, n_features).rows())
        else:
            parts.append(_of_triple(one, f"constraints[{number}]", known))
    for part in parts:
        _check_sizes(part)
    if not parts:
        nothing = sparse.csr_array((0, n_features))
        return LinearConstraints(nothing, np.zeros(0), np.zeros(0, dtype=np.intp), ())
    return LinearConstraints(
        sparse.csr_array(sparse.vstack([part.matrix for part in parts], format="csr")),
        np.concatenate([part.right for part in parts]),
        np.concatenate([part.sense for part in parts]),
        tuple(words for part in parts for words in part.words),
    )


def _check_sizes(part: LinearConstraints) -> None:
    for numbers in (part.matrix.data, part.right):
        sizes = np.abs(numbers)
        wrong = (sizes > LARGEST_SIZE) | ((sizes > 0) & (sizes < 1.0 / LARGEST_SIZE))
        if wrong.any():
            raise ValueError(
                f"the constraint {shortened(part.words[0])} must have numbers of sizes between "
                f"{1.0 / LARGEST_SIZE:g} and {LARGEST_SIZE:g}, or 0, got "
                f"{numbers[wrong][0]:g}{see('constraints')}"
            )


def _is_triple(one: Any) -> bool:
    if not isinstance(one, (tuple, list)) or len(one) != 3 or not isinstance(one[1], str):
        return False
    return one[1] in SENSES


def shortened(value: Any) -> str:
    """What a value is called in a message."""
    words = repr(value)
    return words if len(words) <= 80 else words[:77] + "..."


def _of_triple(triple: Any, called: str, known: Sequence[str]) -> LinearConstraints:
    """The rows of (A, sense, b)."""
    (given, sense, right), n_features = triple, len(known)
    names = getattr(given, "columns", getattr(given, "index", None))
    if names is not None and not callable(names) and all(isinstance(n, str) for n in names):
        wrong = [(own, other) for own, other in zip(names, known, strict=False) if own != other]
        if wrong:
            raise ValueError(
                f"{called}: A must have the columns in the order of the features, got "
                f"{wrong[0][0]!r} where {wrong[0][1]!r} stands{see('constraints')}"
            )
    try:
        matrix = given if sparse.issparse(given) else np.asarray(given)
        if matrix.dtype.kind == "c":
            raise ValueError("complex")
        matrix = sparse.csr_array(matrix) if sparse.issparse(given) else np.asarray(given, float)
        right = np.asarray(right, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{called} must have numbers for A and b, got {shortened(triple)}{see('constraints')}"
        ) from None
    matrix = matrix.reshape((1, -1)) if matrix.ndim == 1 else matrix
    if matrix.ndim != 2:
        raise ValueError(f"{called}: A must have one or two dimensions, got {matrix.ndim}")
    if matrix.shape[1] != n_features:
        raise ValueError(
            f"{called}: A must have a column for each of {n_features} features, got shape "
            f"{matrix.shape}{see('constraints')}"
        )
    n_rows = matrix.shape[0]
    if right.ndim > 1 or (right.ndim == 1 and len(right) not in (1, n_rows)):
        raise ValueError(
            f"{called}: b must be a number, or one for each of {n_rows} rows of A, got shape "
            f"{right.shape}{see('constraints')}"
        )
    matrix = sparse.csr_array(matrix, dtype=np.float64)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    right = np.broadcast_to(right, (n_rows,)).astype(np.float64)
    if SENSES[sense]:  # no limit at all: a row of zeros, which holds
        none = right == SENSES[sense] * np.inf
        right[none] = 0.0
        matrix = sparse.csr_array(sparse.diags_array((~none).astype(np.float64)) @ matrix)
        matrix.eliminate_zeros()
    for name, values in (("A", matrix.data), ("b", right)):
        if not np.isfinite(values).all():
            wrong = values[~np.isfinite(values)][0]
            raise ValueError(f"{called}: {name} must be finite, got {wrong}{see('constraints')}")
    words = [called] if n_rows == 1 else [f"row {k} of {called}" for k in range(n_rows)]
    senses = np.full(n_rows, SENSES[sense], dtype=np.intp)
    return LinearConstraints(matrix, right, senses, tuple(words))


@dataclass(frozen=True)
class _Sum:
    """Σ_j coef_j β_j + constant."""

    coef: dict[int, float]
    constant: float = 0.0

    @classmethod
    def of(cls, terms: Iterable[tuple[_Sum, float]]) -> _Sum:
        """Σ factor · term."""
        coef, constant = defaultdict[int, float](float), 0.0
        for term, factor in terms:
            constant += factor * term.constant
            for place, value in term.coef.items():
                coef[place] += factor * value
        return cls(dict(coef), constant)

    def times(self, factor: float) -> _Sum:
        return _Sum.of([(self, factor)])


class _Reader:
    """One constraint in words.

    Parameters
    ----------
    places : dict of str to int
        The features by their names.
    """

    def __init__(self, text: str, places: dict[str, int], n_features: int) -> None:
        self.text, self.places, self.n_features = text, places, n_features
        self.quoted: dict[str, str] = {}
        self.source = text

    def rows(self) -> LinearConstraints:
        """The rows of a chain of comparisons, one for each operator."""
        try:
            return self._rows(self._parsed())
        except (RecursionError, MemoryError):  # of Python's parser as well
            self._refuse('is too long or too deep: write sum(a, b, c), or give (A, "<=", b)')

    def _rows(self, body: ast.expr) -> LinearConstraints:
        if not isinstance(body, ast.Compare):
            self._refuse("needs <=, == or >= between sums, and nothing around them")
        sides = [self._sum(side) for side in (body.left, *body.comparators)]
        rows, senses, rights = [], [], []
        for left, operator, right in zip(sides, body.ops, sides[1:], strict=False):
            if type(operator) not in OPERATORS:
                self._refuse("may have <=, == and >= alone: at an optimum < is <=")
            difference = _Sum.of([(left, 1.0), (right, -1.0)])
            coef = {j: value for j, value in difference.coef.items() if value}
            if not coef:
                self._refuse("has no coefficient left: a constraint names a feature, or sum")
            sense = SENSES[OPERATORS[type(operator)]]
            if len(sides) > 2 and not left.coef:
                coef, difference = {j: -v for j, v in coef.items()}, difference.times(-1.0)
                sense = -sense
            rows.append(coef)
            senses.append(sense)
            rights.append(-difference.constant)
        if not np.isfinite([*rights, *(v for row in rows for v in row.values())]).all():
            self._refuse("must have finite numbers")
        entries = [(k, j, value) for k, row in enumerate(rows) for j, value in row.items()]
        k, j, values = zip(*entries, strict=True)
        matrix = sparse.csr_array((values, (k, j)), shape=(len(rows), self.n_features))
        words = [self.text] if len(rows) == 1 else self._parts(body)
        return LinearConstraints(
            matrix, np.array(rights), np.array(senses, dtype=np.intp), tuple(words)
        )

    def _parsed(self) -> ast.expr:
        """The expression, with words of its own for names in back quotes."""

        def word(match: re.Match[str]) -> str:
            made = f"_quoted_{len(self.quoted)}_"
            self.quoted[made] = match[1]
            return made

        if self.text.count("`") % 2:
            self._refuse("has a back quote without its other one")
        try:
            self.source = QUOTED.sub(word, self.text).strip()
            return ast.parse(self.source, mode="eval").body
        except (SyntaxError, ValueError):
            self._refuse(
                "cannot be read: write sums of numbers times names, as 2*age, with <=, == or >= "
                "between them, and names with blanks, or that Python reserves (class, in), in back "
                "quotes"
            )

    def _parts(self, body: ast.Compare) -> list[str]:
        """Words for each comparison of a chain."""
        sides = [self._words(side) for side in (body.left, *body.comparators)]
        signs = [OPERATORS[type(operator)] for operator in body.ops]
        return [f"{a} {s} {b}" for a, s, b in zip(sides, signs, sides[1:], strict=False)]

    def _words(self, node: ast.AST) -> str:
        return self._with_quotes(ast.get_source_segment(self.source, node) or "")

    def _with_quotes(self, words: str) -> str:
        for made, name in self.quoted.items():
            words = words.replace(made, f"`{name}`")
        return words

    def _sum(self, node: ast.expr) -> _Sum:
        """A linear expression."""
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as value):
                return _Sum({}, self._number(value))
            case ast.Name(id=name):
                return self._named(name)
            case ast.Call(func=ast.Name(id="sum"), args=args, keywords=[]) if args:
                return _Sum.of((self._sum(argument), 1.0) for argument in args)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._sum(operand).times(-1.0)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._sum(operand)
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                return self._of_terms(node)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                first, second = self._sum(left), self._sum(right)
                if not second.coef:
                    return first.times(second.constant)
                if not first.coef:
                    return second.times(first.constant)
                self._refuse(f"is not linear: {self._words(node)!r}")
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                first, second = self._sum(left), self._sum(right)
                if second.coef or not second.constant:
                    self._refuse(f"may divide by numbers other than 0 alone: {self._words(node)!r}")
                return first.times(1.0 / second.constant)
        self._refuse(f"has {self._words(node)!r}, which is no number, name or sum of these")

    def _of_terms(self, node: ast.expr) -> _Sum:
        """The sum a + b − c + …, which is ((a + b) − c) + … as deep as it is long."""
        terms: list[tuple[ast.expr, float]] = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            terms.append((node.right, 1.0 if isinstance(node.op, ast.Add) else -1.0))
            node = node.left
        return _Sum.of((self._sum(term), sign) for term, sign in [(node, 1.0), *reversed(terms)])

    def _number(self, value: float) -> float:
        try:
            return float(value)
        except OverflowError:
            self._refuse("must have finite numbers")

    def _named(self, word: str) -> _Sum:
        """A feature by its name; ``sum``, unless it stands in back quotes."""
        name = self.quoted.get(word) or self._with_quotes(word)
        if word == SUM:
            return _Sum(dict.fromkeys(range(self.n_features), 1.0))
        if word not in self.quoted and not (name in self.places and name.isascii()):
            # Python has normalised the word
            alike = [own for own in self.places if unicodedata.normalize("NFKC", own) == name]
            if len(alike) > 1:
                self._refuse(f"may mean {' or '.join(map(repr, alike))}: put it in back quotes")
            name = alike[0] if alike else name
        if name not in self.places:
            known = list(self.places)
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            more = ", …" if len(known) > NAMES_SHOWN else ""
            self._refuse(
                f"names {name!r}, and the {self.n_features} features are "
                f"{', '.join(map(repr, known[:NAMES_SHOWN]))}{more}{hint}"
            )
        return _Sum({self.places[name]: 1.0})

    def _refuse(self, why: str) -> NoReturn:
        raise ValueError(f"the constraint {shortened(self.text)} {why}{see('constraints')}")
