"""Optimizers, each with the formulations that it takes, and problems that are hard for all."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.optimizers import restricted_dual
from cgboost.optimizers.active_set.active_set_method import ActiveSetSession
from cgboost.optimizers.interior_point.interior_session import InteriorSession
from cgboost.optimizers.newton.smooth_primal import SmoothPrimal
from cgboost.optimizers.restricted_dual import RestrictedDual
from tests.cases import Case
from tests.problems import MAIN, Formulation, Problem, formulations, random_problem


@dataclass(frozen=True, kw_only=True)
class OptimizerCase(Case[SupportVectorMaster]):
    """An optimizer, made as a master of a formulation and a loss that ends with it.

    Parameters
    ----------
    takes : list of Formulation
        What it solves.
    answers : callable
        Whether it is this one that the master has asked.
    accuracy : float
        Of its objectives.
    cannot : tuple of str
        Problems on which it promises no end, or none soon.
    """

    takes: list[Formulation]
    answers: Callable[[Any], bool]
    accuracy: float = 1e-6
    cannot: tuple[str, ...] = ()


def case(
    name: str,
    takes: list[Formulation],
    answers: Callable[[Any], bool],
    *,
    solver: str = "auto",
    **promises: Any,
) -> OptimizerCase:
    """One that a master chooses by itself or is told."""
    return OptimizerCase(
        name=name,
        make=lambda formulation, loss: formulation.master(loss, solver),
        takes=takes,
        answers=answers,
        **promises,
    )


def has_session(kind: type) -> Callable[[Any], bool]:
    """Whether the dual has a session of this kind."""
    return lambda master: isinstance(master._live.session, kind)


WIDE = ("huge columns", "graded columns")
"""Sizes of columns that only the own methods for boxes treat apart; others stall, and say so.

Nor is CVXPY's answer a reference for smooth losses then.
"""

OPTIMIZERS = [
    case(
        "interior point",
        formulations(list(MAIN), ["l1", "elasticnet"]),
        has_session(InteriorSession),
    ),
    case("active set", formulations(list(MAIN), ["l2"]), has_session(ActiveSetSession)),
    case(
        "Newton",
        formulations(["log_loss", "squared_error"], ["l1", "l2", "elasticnet"]),
        lambda master: isinstance(master._live, SmoothPrimal),
        cannot=WIDE,
    ),
    case(
        "Newton in a ball",
        formulations(["log_loss", "squared_error"], ["ball"]),
        lambda master: isinstance(master._live, SmoothPrimal),
        cannot=("large columns", *WIDE),
    ),
    case(
        "simplex of a backend",
        formulations(list(MAIN), ["l1", "ball"]),
        lambda master: isinstance(master._live, RestrictedDual),
        solver="highs",
        cannot=WIDE,
    ),
    case(
        "interior point of a backend",
        formulations(list(MAIN), ["l2", "elasticnet"]),
        lambda master: isinstance(master._live, RestrictedDual),
        solver="clarabel",
        accuracy=1e-4,
        cannot=WIDE,
    ),
]


def plain(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Any]:
    """With a column twice and one of zeros, as every random problem."""
    return problem, 1.0


def repeated(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Any]:
    """All columns and rows twice, columns with both signs, zeros and ones."""
    H, zeros = problem.H, np.zeros((len(problem.H), 2))
    H = np.repeat(np.hstack([H, H, -H, zeros, zeros[:, :1] + 1.0]), 2, axis=0)
    return Problem(
        H, np.repeat(problem.target, 2), np.repeat(problem.price, 2), problem.epsilon
    ), 1.0


def collinear(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Any]:
    """Columns that differ by a ten thousandth of their size."""
    return replace(problem, H=np.hstack([problem.H[:, :1] + 1e-4 * problem.H, problem.H])), 1.0


def tied(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Any]:
    """Whole numbers, so that many rows are at their kinks at once."""
    return replace(problem, H=np.round(problem.H), target=np.round(problem.target)), 1.0


def sized(size: float) -> Callable[..., tuple[Problem, Any]]:
    """Columns of another size."""
    return lambda problem, rng: (problem, size)


def graded(problem: Problem, rng: np.random.Generator) -> tuple[Problem, Any]:
    """Columns from a millionth to a million times their size side by side."""
    return problem, 10.0 ** rng.uniform(-6.0, 6.0, problem.H.shape[1])


def priced(price: float) -> Callable[..., tuple[Problem, Any]]:
    """Errors at another price."""
    return lambda problem, rng: (replace(problem, price=price * problem.price), 1.0)


HOSTILE: dict[str, Callable[..., tuple[Problem, Any]]] = {
    "plain": plain,
    "repeated": repeated,
    "collinear": collinear,
    "tied": tied,
    "tiny columns": sized(1e-9),
    "small columns": sized(1e-3),
    "large columns": sized(1e3),
    "huge columns": sized(1e9),
    "graded columns": graded,
    "low prices": priced(1e-3),
    "high prices": priced(1e3),
}
"""What is done to a problem, and the scales of the columns that a master then sees."""


def hostile(kind: str, seed: int) -> tuple[Problem, Any]:
    """A random problem of this kind."""
    return HOSTILE[kind](random_problem(seed), np.random.default_rng(seed))


@contextmanager
def eager() -> Iterator[None]:
    """Rows are fixed and columns inactive at the first opportunity, however small the problem."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(restricted_dual, "CALM", 0.0)
        patch.setattr(restricted_dual, "LEAST_SHARE", 0.0)
        patch.setattr(restricted_dual, "SLACK_ROUNDS", 1)
        yield
