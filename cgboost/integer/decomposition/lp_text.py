"""LP files, as CPLEX defined them.

    objective   [name:] terms and numbers, joined by + and −
    row         [name:] terms, a relation, a number; a name or a new line follows;
                or [name:] a number, a relation, terms, a relation, a number
    bound       x <= 4 | 4 >= x | -1 <= x <= 4 | x = 4 | x free; the last one takes precedence

A term is a variable, with a number before it or without. Sides and bounds may be infinite.
"""

from __future__ import annotations

import math
import re
from typing import NoReturn

from cgboost.integer.decomposition.model_parts import INFINITY, ModelError, ModelText, listed
from cgboost.integer.decomposition.mps_text import INNER, SIDES, SIGNS, Dialect

TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+|\\[^\n]*)|(?P<line>\n)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<symbol><?->|:)|(?P<relation><=|>=|=<|=>|<|>|=)|(?P<sign>[+-])
    |(?P<name>[^\s\\:+<>^=/\-*\[\]();][^\s\\:+<>^=/\-*\[\]]*)|(?P<odd>.)""",
    re.VERBOSE,
)

LP_COMMENT = re.compile(rb"\\[^\n]*")

NOTHING = ("end", "", -1)

MIN, MAX, ROWS, BOUNDS, GENERAL, BINARY, END, OTHER = range(8)

SECTIONS = {
    **dict.fromkeys(("minimize", "minimise", "minimum", "min"), MIN),
    **dict.fromkeys(("maximize", "maximise", "maximum", "max"), MAX),
    **dict.fromkeys(("subject to", "such that", "st", "s.t.", "st."), ROWS),
    **dict.fromkeys(("bounds", "bound"), BOUNDS),
    **dict.fromkeys(("general", "generals", "gen", "integer", "integers", "int"), GENERAL),
    **dict.fromkeys(("binary", "binaries", "bin"), BINARY),
    "end": END,
    **dict.fromkeys(("semi-continuous", "semis", "semi", "sos", "sos1", "sos2", "pwlobj"), OTHER),
    **dict.fromkeys(("lazy constraints", "user cuts", "general constraints"), OTHER),
}
"""Words that begin a section; OTHER ones are not supported."""

FIRST_WORDS = {re.split("[ -]", text)[0] for text in SECTIONS}

UNNAMED = "HiGHS_R"
"""Rows without a name are called so, and by their number."""

FLIPPED = {"<": ">", ">": "<", "=": "="}

BRACKETS = "names of LP files have no brackets: rename the variable, x_0 for x[0] for example"

MEANINGS = {
    "->": "indicator constraints are not supported",
    "<->": "indicator constraints are not supported",
    "[": "it begins quadratic terms: only linear models can be decomposed",
}


def read_lp(text: str, model: ModelText, dialect: Dialect | None = None) -> None:
    """Read the text of an LP file into an empty model.

    What the program of a dialect takes for something else is an error.

    Terms of one variable are added up. A number among the terms of a row is an error: the format
    has none, and readers of solvers leave it out without a word. So are bounds of a binary variable
    beyond 0 and 1, bounds of one that is said to be free afterwards, and a variable that is called
    like a section. A row without a name is called ``HiGHS_R`` and its number, as by HiGHS.
    """
    _LPReader(text, model, Dialect() if dialect is None else dialect).read()


class _LPReader:
    def __init__(self, text: str, model: ModelText, dialect: Dialect) -> None:
        self.model, self.dialect = model, dialect
        self.tokens: list[tuple[str, str, int]] = []
        self.attached = set[int]()
        """Brackets that follow a name without a blank."""
        self.at = 0
        self.binary: set[int] = set()
        self.bounded: set[int] = set()
        """Variables about which the section of bounds says something."""
        line, ended = 1, 0
        for found in TOKEN.finditer(text):
            kind = found.lastgroup or ""
            if kind == "line":
                line += 1
            elif kind != "blank":
                if found[0] == "[" and ended == found.start() and self.tokens[-1][0] == "name":
                    self.attached.add(len(self.tokens))
                self.tokens.append((kind, found[0], line))
                ended = found.end()

    def read(self) -> None:
        """Read section after section."""
        section, word, seen = -1, "", dict[int, str]()
        while section != END:
            kind, name, line = self.token()
            head = self.section()
            if head is not None:
                section, size = head
                word = " ".join(self.token(each)[1] for each in range(size)).replace(" - ", "-")
                self.at += size
                if size > 1 and self.token()[1] == ":":
                    self.at += 1
                if section in (MIN, MAX, ROWS):
                    once = max(section, MAX)
                    if once in seen:
                        raise self.model.error(line, f"there are both {seen[once]!r} and {word!r}")
                    seen[once] = word
                if section in (MIN, MAX):
                    self.model.maximize = section == MAX
                    self.objective()
            elif kind == "end":
                raise ModelError(f"{str(self.model.path)!r} has no line End: the file is truncated")
            elif section == ROWS:
                self.row()
            elif section == BOUNDS:
                self.bound()
            elif section == OTHER:
                raise self.model.error(line, f"the section {word!r} is not supported")
            elif section in (GENERAL, BINARY) and kind == "name":
                whole = self.model.integer if section == GENERAL else self.binary
                whole.add(self.model.variable(name))
                self.at += 1
            else:
                self.unexpected()
        if self.token()[0] != "end":
            self.unexpected()
        for name in self.model.names:
            if name.lower() in SECTIONS:
                raise ModelError(
                    f"{str(self.model.path)!r}: {name!r} begins a section, and is a variable here, "
                    "which programs misread: rename it"
                )
        self.model.integer |= self.binary
        unnamed = [name for name in self.model.rows if name.startswith(UNNAMED)]
        if unnamed:
            self.model.notes.append(f"rows without a name are called {listed(unnamed)}")
        names = list(self.model.names)
        for variable in self.binary:
            lower, upper = self.model.bounds[variable]
            if variable in self.bounded and (lower < 0 or upper > 1):
                raise ModelError(
                    f"{str(self.model.path)!r}: the bounds of the binary variable "
                    f"{names[variable]!r}, {lower:g} and {upper:g}, go beyond 0 and 1, which HiGHS "
                    "and GLPK keep and others cut off: give bounds within, or make it general"
                )
            self.model.bounds[variable][:] = max(lower, 0.0), min(upper, 1.0)

    # --- tokens --------------------------------------------------------------------------

    def token(self, ahead: int = 0) -> tuple[str, str, int]:
        """Kind, text and line of a token."""
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else NOTHING

    def unexpected(self, why: str = "is a sign or a relation missing?") -> NoReturn:
        """Raise a ModelError for the token that is next."""
        _, word, line = self.token()
        before = self.token(-1)[1] if self.at else "nothing"
        if line < 0:
            raise ModelError(f"{str(self.model.path)!r} ends after {before!r}")
        why = BRACKETS if self.at in self.attached else MEANINGS.get(word, why)
        what = f"{word!r} is out of place after {before!r}: {why}"
        raise self.model.error(line, what)

    def section(self) -> tuple[int, int] | None:
        """The section that begins here, and its number of words; None if none does."""
        (kind, word, _), (after, more, _) = self.token(), self.token(1)
        word, more = word.lower(), more.lower()
        if kind != "name" or more == ":" or word not in FIRST_WORDS:
            return None
        for text, size in ((f"{word} {more}", 2), (f"{word}{more}{self.token(2)[1].lower()}", 3)):
            if text in SECTIONS:
                return SECTIONS[text], size
        is_variable = after == "relation" or more == "free"
        return (SECTIONS[word], 1) if word in SECTIONS and not is_variable else None

    def label(self) -> str:
        """The name before a colon, if there is one."""
        if self.token(1)[1] != ":" or self.token()[0] not in ("name", "number"):
            return ""
        self.at += 2
        return self.token(-2)[1]

    def signed(self) -> float | None:
        """The product of the signs that come next; None without any."""
        sign = None
        while self.token()[0] == "sign":
            if sign is not None:
                self.dialect.check(SIGNS, self.token()[2], self.model)
            sign = (sign or 1.0) * (-1.0 if self.token()[1] == "-" else 1.0)
            self.at += 1
        return sign

    def number(self) -> float:
        """A number with its signs, which may be infinite."""
        sign = self.signed() or 1.0
        kind, word, _ = self.token()
        if kind != "number" and not INFINITY.fullmatch(word):
            self.unexpected("a number belongs here, terms to the left")
        self.at += 1
        return sign * float(word)

    def relation(self) -> str:
        """``<``, ``>`` or ``=``."""
        kind, word, _ = self.token()
        if kind != "relation":
            self.unexpected()
        self.at += 1
        return "<" if "<" in word else ">" if ">" in word else "="

    # --- statements ----------------------------------------------------------------------

    def expression(self, *, of_row: bool = False) -> tuple[dict[int, float], float]:
        """The coefficients of variables, and a constant, which a row has only as a side."""
        terms, constant = dict[int, float](), 0.0
        first = True
        while True:
            sign = self.signed()
            kind, word, line = self.token()
            if sign is None and (not first or kind == "end" or self.section()):
                return terms, constant
            first, value = False, None
            if kind == "number":
                value = float(word)
                if math.isinf(value):
                    raise self.model.error(line, f"{word} is too large for a number")
                self.at += 1
                kind, word, own = self.token()
                if own > line and self.section():
                    kind = "section"
            if kind == "name":
                if constant:
                    self.dialect.check(INNER, line, self.model)
                if INFINITY.fullmatch(word):
                    raise self.model.error(line, f"{word} is no coefficient")
                variable = self.model.variable(word)
                term = (sign or 1.0) * (1.0 if value is None else value)
                terms[variable] = terms.get(variable, 0.0) + term
                self.at += 1
            elif value is not None:
                if of_row and (terms or kind != "relation"):
                    what = f"the constant {value:g} in a row: take it to the right-hand side"
                    raise self.model.error(line, what)
                constant += (sign or 1.0) * value
            else:
                self.unexpected()

    def objective(self) -> None:
        """Terms and numbers up to the next section."""
        self.label()
        self.model.cost, self.model.constant = self.expression()
        done = "maximised" if self.model.maximize else "minimised"
        self.model.notes.append(f"the objective is to be {done}")
        if self.model.constant:
            self.model.notes.append(f"the constant is {self.model.constant:g}")
        if self.section() is None and self.token()[0] != "end":
            self.unexpected()

    def row(self) -> None:
        """Terms, a relation, and a number; a number and a relation may come first."""
        line = self.token()[2]
        name = self.label()
        row = self.model.row(name or f"{UNNAMED}{len(self.model.sides)}", line)
        terms, constant = dict[int, float](), 0.0
        is_number = self.is_infinite()
        if is_number:
            constant = self.number()
        elif not name or self.token()[0] != "relation":
            terms, constant = self.expression(of_row=True)
            is_number = not terms and self.token(-1)[0] == "number"
        relation = self.relation()
        if is_number and self.is_term():
            found = [(FLIPPED[relation], constant)]
            terms, constant = self.expression(of_row=True)
            if self.token()[0] == "relation":
                self.dialect.check(SIDES, line, self.model)
                found.append((self.relation(), self.number()))
                if relation == "=" or found[1][0] != relation:
                    what = "a row with two sides needs two relations <=, or two >="
                    raise self.model.error(line, what)
        else:
            found = [(relation, self.number())]
        same_line = self.token()[2] == self.token(-1)[2]
        if same_line and self.section() is None and self.token(1)[1] != ":":
            self.unexpected()
        self.model.entries += [(row, variable, value) for variable, value in terms.items()]
        for relation, value in found:
            if relation != "<":
                self.model.sides[row][0] = value - constant
            if relation != ">":
                self.model.sides[row][1] = value - constant

    def is_infinite(self) -> bool:
        """Whether infinity and a relation come next, the left side of a row."""
        ahead = 0
        while self.token(ahead)[0] == "sign":
            ahead += 1
        word, after = self.token(ahead)[1], self.token(ahead + 1)[0]
        return after == "relation" and INFINITY.fullmatch(word) is not None

    def is_term(self) -> bool:
        """Whether a variable comes next, or a number and a variable, and not a number alone."""
        ahead = 0
        while self.token(ahead)[0] == "sign":
            ahead += 1
        kind, word, line = self.token(ahead)
        if kind == "number":
            kind, word, own = self.token(ahead + 1)
            return kind == "name" and own == line
        return kind == "name" and not INFINITY.fullmatch(word)

    def bound(self) -> None:
        """One or two bounds of a variable."""
        left = None
        if self.token()[0] != "name" or INFINITY.fullmatch(self.token()[1]):
            left = self.number(), self.relation()
        kind, word, _ = self.token()
        if kind != "name":
            self.unexpected()
        variable = self.model.variable(word)
        bounds, is_first = self.model.bounds[variable], variable not in self.bounded
        self.bounded.add(variable)
        self.at += 1
        found = [] if left is None else [(FLIPPED[left[1]], left[0])]
        if left is None and self.token()[1].lower() == "free":
            if not is_first and bounds != [-math.inf, math.inf]:
                what = f"{word!r} has bounds, which SCIP and CBC keep in part where it is free, too"
                raise self.model.error(self.token()[2], f"{what}: leave one of them out")
            self.at += 1
            bounds[:] = -math.inf, math.inf
            return
        if left is None or self.token()[0] == "relation":
            found.append((self.relation(), self.number()))
        for relation, value in found:
            if relation != "<":
                bounds[0] = value
            if relation != ">":
                bounds[1] = value
