"""MPS files: fields at fixed places if names have blanks, else words; sections in any order.

Where programs take one file for different models, a dialect says whose file it is.

Comments are lines with ``*`` in front, and what follows a word ``$`` after the data of a line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from cgboost.exceptions import without_hint
from cgboost.integer.decomposition.model_parts import INFINITY, ModelError, ModelText, listed

NumberedLines = list[tuple[int, list[str]]]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([ed][+-]?\d+)?", re.IGNORECASE)

MPS_COMMENT = re.compile(rb"^\*[^\n]*", re.MULTILINE)

DOLLAR_NAME = re.compile(r"^[ \t]*([NLGE][ \t]+)?\$([ \t\r]|$)", re.MULTILINE | re.IGNORECASE)
"""A row or a column called ``$``: no comments begin so."""

DATA_WORDS = {"COLUMNS": (3, 5), "RHS": (2, 3, 4, 5), "RANGES": (2, 3, 4, 5), "BOUNDS": (2, 3, 4)}
"""Numbers of words that a comment may follow."""

SECTIONS = ("NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS")

WITH_WORDS = ("NAME", "OBJSENSE", "QSECTION", "QCMATRIX", "CSECTION")
"""Sections that may have something else in their first line."""

FIELDS = ((1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61))

BETWEEN = ((0, 1), (3, 4), (12, 14), (22, 24), (36, 39), (47, 49), (61, None))
"""What is blank in lines of data at fixed places."""

WITH_BLANKS = {"ROWS": (3, 4, 5), "COLUMNS": (4, 6)}
"""Numbers of words in a line of a section that show that names have blanks."""

BY_PLACE = (
    "the file was read by fixed places, since a line has a word too few or too many: names begin "
    "in columns 5, 15 and 40, numbers in 25 and 50"
)

QUADRATIC = ("QUADOBJ", "QMATRIX", "QSECTION", "QCMATRIX")

BOUNDS = {
    "LO": (0,), "LI": (0,), "UP": (1,), "UI": (1,), "FX": (0, 1),
    "MI": (0,), "PL": (1,), "FR": (0, 1), "BV": (0, 1),
}  # fmt: skip
"""Which ends of the interval a type of bound gives."""


@dataclass(frozen=True)
class Dialect:
    """What one program takes a file for where programs differ.

    Attributes
    ----------
    below_negative : float or None
        Lower bound of a variable of which a negative ``UP`` is all that is said; None: an error.
    leaving_one : frozenset of str
        An integer variable between markers ends at 1 if it has no bounds but of these types.
    constant_sign : float
        Of the right-hand side of the objective, in the constant.
    vectors : {"one", "first", "all"}
        Of several of a section: an error, the first alone, or all, where what has a value from an
        earlier one keeps it.
    misreads : frozenset of str
        What its program takes for something else without a word: an error here.
    has_sense : bool
        Whether a file can say that the objective is to be maximised.
    longest : int
        Bytes that a name may have; by default those that CBC reads.
    """

    below_negative: float | None = None
    leaving_one: frozenset[str] = frozenset()
    constant_sign: float = -1.0
    vectors: Literal["one", "first", "all"] = "one"
    misreads: frozenset[str] = frozenset()
    has_sense: bool = True
    longest: int = 159

    def check(self, what: str, line: int, model: ModelText) -> None:
        """Raise a ModelError if the program of the dialect misreads something."""
        if what in self.misreads:
            raise model.error(
                line, f"{what} is taken for something else by the program of the dialect"
            )


HEADS = ("NAME", "OBJSENSE", "QSECTION", "QCMATRIX", "CSECTION")
"""To HiGHS a line begins a section where its first name is one of these, in any letters."""

SMALL, EXPONENT, EARLY = "a sense in small letters", "an exponent D", "RANGES before RHS"
FREE_SIDE, HEAD = "a right-hand side of a free row", "a variable that is called like a section"
VECTOR = "a vector that is called like a row or a variable"
INNER, SIGNS, SIDES = "a constant before a term", "two signs in a row", "a row with two sides"

DIALECTS = {
    "highs": Dialect(
        below_negative=0.0,
        vectors="all",
        misreads=frozenset({EARLY, FREE_SIDE, HEAD, VECTOR}),
        longest=255,
    ),
    "cplex": Dialect(below_negative=-math.inf, longest=255),
    "scip": Dialect(
        below_negative=0.0, vectors="first", misreads=frozenset({EXPONENT}), longest=255
    ),
    "cbc": Dialect(below_negative=-math.inf, misreads=frozenset({SMALL, INNER, SIGNS, SIDES})),
    "glpk": Dialect(
        below_negative=0.0,
        leaving_one=frozenset({"LO", "MI"}),
        constant_sign=1.0,
        has_sense=False,
        longest=255,
    ),
}

WITHOUT_VALUE = {"MI": (-math.inf,), "PL": (math.inf,), "FR": (-math.inf, math.inf), "BV": (0, 1)}


def read_mps(text: str, model: ModelText, dialect: Dialect | None = None) -> None:
    """Read the text of an MPS file into an empty model.

    The first row of type N is the objective, others are left out. A dialect says what the file
    means where programs differ; without one, a file that they take for different models is an
    error, but for two habits of most: an integer variable between markers without bounds is 0 or 1,
    and the constant is minus the right-hand side of the objective. A file that is wrong word by
    word is read by fixed places, if it is right so.
    """
    own = Dialect() if dialect is None else dialect
    found, by_place = _sections(text, model)
    try:
        _fill(found, model, own)
    except ModelError as error:
        if by_place:
            raise ModelError(f"{without_hint(error)} ({BY_PLACE})") from error
        again = ModelText(path=model.path)
        try:
            _fill(_sections(text, again, fixed=True)[0], again, own)
        except (ModelError, IndexError):
            raise error from None
        vars(model).update(vars(again))
        by_place = True
    if by_place:
        model.notes.append("names and numbers were read at the places of the fixed format")


def _fill(found: dict[str, NumberedLines], model: ModelText, dialect: Dialect) -> None:
    """Read the lines of all sections into an empty model."""
    for number, (line, words) in enumerate(found["OBJSENSE"]):
        if number:
            raise model.error(line, f"a second sense {words[0]!r}: leave one in the file")
        sense = words[0].upper()[:3]
        if sense not in ("MAX", "MIN"):
            raise model.error(line, f"the sense {words[0]!r} is neither MAX nor MIN")
        model.maximize = sense == "MAX"
    kinds = _rows(found["ROWS"], model)
    _note_objective(kinds, model, given=bool(found["OBJSENSE"]))
    _columns(found["COLUMNS"], model, kinds)
    for what, line in _misread(found, model, kinds) if dialect.misreads else ():
        dialect.check(what, line, model)
    between_markers = sorted(model.integer)
    right = _vector("RHS", found["RHS"], model, kinds, dialect)
    ranges = _vector("RANGES", found["RANGES"], model, kinds, dialect)
    for name, kind in kinds.items():
        if kind == "objective" and right.get(name):
            model.constant = dialect.constant_sign * right[name]
            side = "minus the" if dialect.constant_sign < 0 else "the"
            model.notes.append(
                f"the constant is {model.constant:g}, {side} right-hand side of {name!r}"
            )
        if name not in model.rows:
            continue
        value, length = right.get(name, 0.0), ranges.get(name, math.inf)
        if kind == "E":
            length = ranges.get(name, 0.0)
        # a length below 0 goes down from an equation; of other rows its sign says nothing
        downwards = kind == "L" or (kind == "E" and length < 0)
        far = -abs(length) if downwards else abs(length)
        far = far if math.isinf(far) else value + far  # the value may be infinite, too
        ends = (far, value) if downwards else (value, far)
        model.sides[model.rows[name]][:] = ends
    _default_bounds(_bounds(found["BOUNDS"], model, dialect), between_markers, model, dialect)


def _misread(
    found: dict[str, NumberedLines], model: ModelText, kinds: dict[str, str]
) -> Iterator[tuple[str, int]]:
    """What some program takes for something else without a word, and its lines."""
    for line, words in found["OBJSENSE"]:
        if words[0] != words[0].upper():
            yield SMALL, line
    if found["RHS"] and found["RANGES"] and found["RANGES"][0][0] < found["RHS"][-1][0]:
        yield EARLY, found["RANGES"][0][0]
    for line, words in found["COLUMNS"]:
        if words[0].upper() in HEADS:
            yield HEAD, line
    for section in ("COLUMNS", "RHS", "RANGES", "BOUNDS"):
        is_bound = section == "BOUNDS"
        for line, words in found[section]:
            own = words[is_bound:]
            if any("D" in word.upper() and NUMBER.fullmatch(word) for word in own[1:]):
                yield EXPONENT, line
            if section == "COLUMNS" or not len(own) % 2:
                continue
            if own[0] in (model.names if is_bound else kinds):
                yield VECTOR, line
    for line, words in found["RHS"]:
        if any(kinds.get(row) == "N" for row in words[len(words) % 2 :: 2]):
            yield FREE_SIDE, line


def _note_objective(kinds: dict[str, str], model: ModelText, *, given: bool) -> None:
    """Which row the objective is, and its sense."""
    free = [name for name, kind in kinds.items() if kind in ("objective", "N")]
    if not free:
        model.notes.append("there is no row of type N: the objective is 0")
        return
    done = "maximised" if model.maximize else "minimised"
    why = "" if given else ", since the file gives no sense"
    model.notes.append(f"the objective is the row {free[0]!r}, to be {done}{why}")
    if free[1:]:
        model.notes.append(f"rows of type N after the objective are left out: {listed(free[1:])}")


def _default_bounds(
    given: dict[int, set[str]], between_markers: list[int], model: ModelText, dialect: Dialect
) -> None:
    """The ends of variables about which the file says nothing, and programs say different things.

    ``given`` has the types of bounds of each variable.
    """
    names, lowest = list(model.names), dialect.below_negative
    opened = [
        variable
        for variable, kinds in given.items()
        if model.bounds[variable][1] < 0 and not any(0 in BOUNDS[kind] for kind in kinds)
    ]
    if opened and lowest is None:
        raise ModelError(
            f"{str(model.path)!r}: the upper bound of {names[opened[0]]!r} is below 0 and the file "
            "gives no lower one, for which programs take 0 or -inf: give it by LO or MI, or say "
            "whose file it is, as in decompose(path, dialect='cplex')"
        )
    opened = [each for each in opened if "UP" in given[each]]  # CBC keeps the 0 of UI
    if opened and lowest:
        for variable in opened:
            model.bounds[variable][0] = lowest
        variables = listed([names[each] for each in opened])
        model.notes.append(f"with an upper bound below 0 alone, the lower one is -inf: {variables}")
    one = [each for each in between_markers if given.get(each, set()) <= dialect.leaving_one]
    for variable in one:
        model.bounds[variable][1] = 1.0
    if one:
        kind = "upper bound" if dialect.leaving_one else "bound"
        variables = listed([names[each] for each in one])
        model.notes.append(f"integer variables without {kind} end at 1: {variables}")


def _sections(
    text: str, model: ModelText, *, fixed: bool = False
) -> tuple[dict[str, NumberedLines], bool]:
    """The lines of each section, as words or as fields at fixed places, and whether by place."""
    found: dict[str, NumberedLines] = {name: [] for name in SECTIONS}
    section, may_have_blanks = "", not fixed
    has_comments = not fixed and "$" in text and DOLLAR_NAME.search(text) is None
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words or line[0] == "*":
            continue
        if has_comments and "$" in words and words.index("$") in DATA_WORDS.get(section, ()):
            words = words[: words.index("$")]
        head = words[0].upper()
        is_head = len(words) == 1 or (head in WITH_WORDS and not line[0].isspace())
        is_known = head in found or head == "ENDATA"
        if section == "OBJSENSE" and (
            head[:3] in ("MAX", "MIN") or (line[0].isspace() and not is_known)
        ):
            is_head = False
        if not is_head and not section:
            raise model.error(number, f"{words[0]!r} stands before the first section")
        if not is_head and fixed and section != "OBJSENSE":
            if "\t" in line or "".join(line[a:b] for a, b in BETWEEN).strip():
                raise model.error(number, "there is text between the fields of fixed places")
            words = [part for a, b in FIELDS if (part := line[a:b].strip())]
        elif not is_head and may_have_blanks and len(words) in WITH_BLANKS.get(section, ()):
            may_have_blanks = False
            with suppress(ModelError):
                by_place, _ = _sections(text, model, fixed=True)
                if all(len(own) == 2 for _, own in by_place["ROWS"]):
                    return by_place, True
        if not is_head:
            if section == "NAME":
                raise model.error(number, f"{words[0]!r} is no section, and belongs to none")
            found[section].append((number, words))
        elif head == "ENDATA":
            return found, fixed
        elif head in QUADRATIC:
            raise model.error(number, f"{head}: only linear models can be decomposed")
        elif head not in found:
            raise model.error(number, f"the section {words[0]!r} is not supported")
        else:
            section = head
            if section == "OBJSENSE" and words[1:]:
                found[section].append((number, words[1:]))
    raise ModelError(f"{str(model.path)!r} has no line ENDATA: the file is truncated")


def _rows(lines: NumberedLines, model: ModelText) -> dict[str, str]:
    """The type of each row; that of the first row of type N is ``"objective"``."""
    kinds: dict[str, str] = {}
    objective = False
    for line, words in lines:
        kind = words[0].upper()
        if len(words) != 2 or kind not in ("N", "L", "G", "E"):
            what = f"a row is N, L, G or E and a name, got {' '.join(words)!r}"
            raise model.error(line, what)
        if words[1] in kinds:
            raise model.error(line, f"two rows have the name {words[1]!r}")
        if kind != "N":
            model.row(words[1], line)
        elif not objective:
            kind, objective = "objective", True
        kinds[words[1]] = kind
    return kinds


def _columns(lines: NumberedLines, model: ModelText, kinds: dict[str, str]) -> None:
    """Read the coefficients, and which variables are integer."""
    integer, last, given = False, "", set[str]()
    for line, words in lines:
        if words[1].strip("'") == "MARKER" and words[1] not in kinds:
            if words[-1] not in ("'INTORG'", "'INTEND'"):
                raise model.error(line, f"the marker {words[-1]} is not supported")
            integer = words[-1] == "'INTORG'"
            continue
        if len(words) not in (3, 5):
            what = "a column has a name and one or two pairs of a row and a number"
            raise model.error(line, f"{what}, got {' '.join(words)!r}")
        if words[0] != last:
            last, given = words[0], set()
            if last in model.names:
                raise model.error(line, f"the column {last!r} is given in two places")
        variable = model.variable(last)
        if integer:
            model.integer.add(variable)
        for row, value in _pairs(line, words[1:], model, kinds):
            if row in given:
                raise model.error(line, f"the column {last!r} has the row {row!r} twice")
            given.add(row)
            if math.isinf(value):
                raise model.error(line, "inf is no coefficient")
            if kinds[row] == "objective":
                model.cost[variable] = value
            elif row in model.rows:
                model.entries.append((model.rows[row], variable, value))


def _vector(
    section: str, lines: NumberedLines, model: ModelText, kinds: dict[str, str], dialect: Dialect
) -> dict[str, float]:
    vectors, values, given = _Vectors(section, model, dialect), dict[str, float](), set[str]()
    for line, words in lines:
        if not 2 <= len(words) <= 5:
            what = "one or two pairs of a row and a number belong here, after a name or without"
            raise model.error(line, f"{what}, got {' '.join(words)!r}")
        if len(words) % 2 and vectors.begins(words.pop(0), line):
            given = set()
        if vectors.left_out:
            continue
        for row, value in _pairs(line, words, model, kinds):
            if row in given:
                raise model.error(line, f"{section} has the row {row!r} twice")
            given.add(row)
            values.setdefault(row, value)
    return values


def _bounds(lines: NumberedLines, model: ModelText, dialect: Dialect) -> dict[int, set[str]]:
    """Read the bounds; the types of those of each variable."""
    vectors, kinds = _Vectors("BOUNDS", model, dialect), dict[int, set[str]]()
    known, given = set[tuple[int, int]](), set[tuple[int, int]]()
    for line, words in lines:
        kind, own = words[0].upper(), words[1:]
        if kind in ("SC", "SI"):
            raise model.error(line, f"a variable is semi-continuous ({kind}): not supported")
        if kind not in BOUNDS:
            raise model.error(line, f"there is no bound of the type {words[0]!r}")
        # a name of the vector or none, the variable, a number (not needed by some types)
        named = len(own) == 3 or (len(own) == 2 and kind in WITHOUT_VALUE and own[1] in model.names)
        if named and vectors.begins(own.pop(0), line):
            known, given = known | given, set()
        if vectors.left_out:
            continue
        if not own or len(own) > 2 or (len(own) == 1 and kind not in WITHOUT_VALUE):
            raise model.error(line, f"{' '.join(words)!r} is no bound: a variable and a number")
        if own[0] not in model.names:
            raise model.error(line, f"there is no variable {own[0]!r} to have a bound")
        variable = model.names[own[0]]
        values = WITHOUT_VALUE.get(kind) or (_number(line, own[1], model),) * 2
        if any((variable, end) in known for end in BOUNDS[kind]):
            continue
        kinds.setdefault(variable, set()).add(kind)
        for end, value in zip(BOUNDS[kind], values, strict=False):
            if (variable, end) in given:
                side = ("lower", "upper")[end]
                raise model.error(line, f"the {side} bound of {own[0]!r} is given twice")
            given.add((variable, end))
            model.bounds[variable][end] = value
        if kind in ("LI", "UI", "BV"):
            model.integer.add(variable)
    return kinds


class _Vectors:
    """The names of the vectors of a section, and whether the one that is read counts."""

    def __init__(self, section: str, model: ModelText, dialect: Dialect) -> None:
        self.section, self.model, self.kind = section, model, dialect.vectors
        self.names: list[str] = []
        self.left_out = False

    def begins(self, name: str, line: int) -> bool:
        """Whether a line with this name is the first of a vector; an error for a second one."""
        is_new = name not in self.names
        if is_new:
            self.names.append(name)
        if is_new and self.names[1:]:
            first, what = self.names[0], f"{self.section} has"
            if self.kind == "one":
                what = f"a second vector {name!r} of {self.section} after {first!r}"
                raise self.model.error(line, f"{what}: leave one in the file")
            left = "is left out" if self.kind == "first" else "counts where no earlier one does"
            self.model.notes.append(f"{what} the vector {first!r}; {name!r} {left}")
        self.left_out = self.kind == "first" and name != self.names[0]
        return is_new


def _pairs(
    line: int, words: list[str], model: ModelText, kinds: dict[str, str]
) -> Iterator[tuple[str, float]]:
    for row, value in zip(words[::2], words[1::2], strict=True):
        if row not in kinds:
            raise model.error(line, f"there is no row {row!r}")
        yield row, _number(line, value, model)


def _number(line: int, word: str, model: ModelText) -> float:
    if NUMBER.fullmatch(word):
        return float(word.upper().replace("D", "E"))
    if INFINITY.fullmatch(word.lstrip("+-")):
        return float(word)
    raise model.error(line, f"{word!r} is no number")
