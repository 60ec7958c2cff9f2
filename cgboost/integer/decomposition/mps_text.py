"""MPS files: fields at fixed places if names have blanks, else words; sections in any order.

Comments are lines with ``*`` in front, and what follows a word ``$`` after the data of a line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress

from cgboost.exceptions import without_hint
from cgboost.integer.decomposition.model_parts import INFINITY, ModelError, ModelText

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

WITHOUT_VALUE = {"MI": (-math.inf,), "PL": (math.inf,), "FR": (-math.inf, math.inf), "BV": (0, 1)}


def read_mps(text: str, model: ModelText) -> None:
    """Read the text of an MPS file into an empty model.

    The first row of type N is the objective, others are left out; minus its right-hand side is the
    constant. An integer variable between markers without bounds is 0 or 1. A file that is wrong
    word by word is read by fixed places, if it is right so.
    """
    found, by_place = _sections(text, model)
    try:
        _fill(found, model)
    except ModelError as error:
        if by_place:
            raise ModelError(f"{without_hint(error)} ({BY_PLACE})") from error
        again = ModelText(path=model.path)
        try:
            _fill(_sections(text, again, fixed=True)[0], again)
        except (ModelError, IndexError):
            raise error from None
        vars(model).update(vars(again))


def _fill(found: dict[str, NumberedLines], model: ModelText) -> None:
    """Read the lines of all sections into an empty model."""
    for number, (line, words) in enumerate(found["OBJSENSE"]):
        if number:
            raise model.error(line, f"a second sense {words[0]!r}: leave one in the file")
        sense = words[0].upper()[:3]
        if sense not in ("MAX", "MIN"):
            raise model.error(line, f"the sense {words[0]!r} is neither MAX nor MIN")
        model.maximize = sense == "MAX"
    kinds = _rows(found["ROWS"], model)
    unbounded = _columns(found["COLUMNS"], model, kinds)
    right = _vector("RHS", found["RHS"], model, kinds)
    ranges = _vector("RANGES", found["RANGES"], model, kinds)
    for name, kind in kinds.items():
        if kind == "objective":
            model.constant = 0.0 - right.get(name, 0.0)
        if name not in model.rows:
            continue
        value, length = right.get(name, 0.0), ranges.get(name, math.inf)
        if kind == "E":
            length = ranges.get(name, 0.0)
        downwards = kind == "L" or (kind == "E" and length < 0)
        far = -abs(length) if downwards else abs(length)
        far = far if math.isinf(far) else value + far  # the value may be infinite, too
        ends = (far, value) if downwards else (value, far)
        model.sides[model.rows[name]][:] = ends
    unbounded -= _bounds(found["BOUNDS"], model)
    for variable in unbounded:
        model.bounds[variable][1] = 1.0


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


def _columns(lines: NumberedLines, model: ModelText, kinds: dict[str, str]) -> set[int]:
    """Read the coefficients; the integer variables."""
    integer, last, given = False, "", set[str]()
    for line, words in lines:
        if words[1].strip("'") == "MARKER":
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
    return set(model.integer)


def _vector(
    section: str, lines: NumberedLines, model: ModelText, kinds: dict[str, str]
) -> dict[str, float]:
    """The values of the one vector of a section."""
    vector, values = "", dict[str, float]()
    for line, words in lines:
        if not 2 <= len(words) <= 5:
            what = "one or two pairs of a row and a number belong here, after a name or without"
            raise model.error(line, f"{what}, got {' '.join(words)!r}")
        if len(words) % 2:
            vector = _one_vector(section, line, vector, words.pop(0), model)
        for row, value in _pairs(line, words, model, kinds):
            if row in values:
                raise model.error(line, f"{section} has the row {row!r} twice")
            values[row] = value
    return values


def _bounds(lines: NumberedLines, model: ModelText) -> set[int]:
    """Read the bounds; which variables have some."""
    vector, given = "", set[tuple[int, int]]()
    for line, words in lines:
        kind, own = words[0].upper(), words[1:]
        if kind in ("SC", "SI"):
            raise model.error(line, f"a variable is semi-continuous ({kind}): not supported")
        if kind not in BOUNDS:
            raise model.error(line, f"there is no bound of the type {words[0]!r}")
        # a name of the vector or none, the variable, a number (not needed by some types)
        named = len(own) == 3 or (len(own) == 2 and kind in WITHOUT_VALUE and own[1] in model.names)
        if named:
            vector = _one_vector("BOUNDS", line, vector, own.pop(0), model)
        if not own or len(own) > 2 or (len(own) == 1 and kind not in WITHOUT_VALUE):
            raise model.error(line, f"{' '.join(words)!r} is no bound: a variable and a number")
        if own[0] not in model.names:
            raise model.error(line, f"there is no variable {own[0]!r} to have a bound")
        variable = model.names[own[0]]
        values = WITHOUT_VALUE.get(kind) or (_number(line, own[1], model),) * 2
        for end, value in zip(BOUNDS[kind], values, strict=False):
            if (variable, end) in given:
                side = ("lower", "upper")[end]
                raise model.error(line, f"the {side} bound of {own[0]!r} is given twice")
            given.add((variable, end))
            model.bounds[variable][end] = value
        if kind in ("LI", "UI", "BV"):
            model.integer.add(variable)
    return {variable for variable, _ in given}


def _one_vector(section: str, line: int, known: str, name: str, model: ModelText) -> str:
    """The name of the vector of a section; an error for a second one."""
    if known and name != known:
        what = f"a second vector {name!r} of {section} after {known!r}: leave one in the file"
        raise model.error(line, what)
    return name


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
