"""The checks of own parts: ours pass, and of a wrong one the culprit is named."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from cgboost import RBF, Chi2, Cosine, Laplacian, Linear, Matern, Periodic, Polynomial, Tanimoto
from cgboost.exceptions import CheckError
from cgboost.generation import Column, Priced
from cgboost.kernels import Normalized, check_kernel
from cgboost.losses import (
    Hinge,
    Huber,
    Loss,
    Multinomial,
    Quantile,
    SquaredError,
    check_loss,
    registry,
)
from cgboost.penalties import L1, L2, RKHS, ElasticNet, Entropy, L1Ball, Penalty, check_penalty
from cgboost.pricing import FeaturePricer, check_pricer


@pytest.mark.parametrize("kind", registry.LOSSES.values(), ids=lambda kind: kind.name)
@pytest.mark.parametrize("seed", range(3))
def test_losses_of_the_registry_pass(kind: type[Loss], seed: int) -> None:
    """With the targets that suit them."""
    check_loss(kind(), random_state=seed)


@dataclass(frozen=True)
class WavesOnSquaredError(SquaredError):
    """Not convex."""

    def value(self, y: Any, f: Any) -> Any:
        """Waves on the squares."""
        return super().value(y, f) + np.sin(3.0 * f)

    def gradient(self, y: Any, f: Any) -> Any:
        """Of the waves too."""
        return super().gradient(y, f) + 3.0 * np.cos(3.0 * f)


def changed(kind: type, name: str, change: Callable[..., Any], **parameters: Any) -> Any:
    """An object of a class with one method changed: ``change(found, *arguments)``."""

    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        return change(getattr(kind, name)(self, *arguments, **options), *arguments)

    called = f"Wrong{len(globals())}"  # in the module, so that it can be pickled
    globals()[called] = type(called, (kind,), {name: method, "__module__": __name__})
    return globals()[called](**parameters)


WRONG_LOSSES = {
    "gradient must be a subgradient of a convex value": WavesOnSquaredError(),
    "gradient must be a subgradient": changed(Huber, "gradient", lambda g, y, f: 0.999 * g),
    "hessian_diag must be": changed(Huber, "hessian_diag", lambda h, y, f: 2.0 * h),
    "conjugate must be": changed(SquaredError, "conjugate", lambda c, y, s: c + 0.01 * s**2),
    "conjugate must be at least": changed(SquaredError, "conjugate", lambda c, y, s: c - 1e-3),
    "domain must contain": changed(
        SquaredError, "domain", lambda ends, y: (0.0 * y - 0.1, ends[1])
    ),
    "dual_box must be": changed(
        Huber, "dual_box", lambda box, y, cost: replace(box, upper=2.0 * box.upper)
    ),
    "to_cvxpy must be value": changed(SquaredError, "to_cvxpy", lambda e, y, f: 1.001 * e),
    "to_cvxpy must be convex": changed(SquaredError, "to_cvxpy", lambda e, y, f: -e),
    "best_constant must be": changed(Quantile, "best_constant", lambda c, y, w: c + 0.1),
    r"in_units\(8\) must be": changed(Huber, "in_units", lambda own, u: (own[0], 0.5 * own[1])),
    "as of_residuals says": type("Wrong", (Hinge,), {"of_residuals": True})(),
    "value must be finite": changed(SquaredError, "value", lambda v, y, f: v + np.log(np.abs(f))),
    "value must have the shape": changed(SquaredError, "value", lambda v, y, f: v.sum()),
}


@pytest.mark.parametrize("words", WRONG_LOSSES)
def test_a_wrong_method_of_a_loss_is_named(words: str) -> None:
    """One planted fault for each promise."""
    with pytest.raises(CheckError, match=words.removesuffix(" at least")):
        check_loss(WRONG_LOSSES[words])


PENALTIES: list[Penalty] = [
    *(L1(), L2(), ElasticNet(), ElasticNet(0.1), ElasticNet(0.0)),
    *(L1Ball(), L1Ball(2.5), Entropy(8.0)),
]


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_penalties_of_coefficients_pass(penalty: Penalty, seed: int) -> None:
    """Hard, soft and with a ball."""
    check_penalty(penalty, random_state=seed)


def entry_with(**own: Any) -> Callable[..., Any]:
    """A change of an entry rule."""

    def change(rule: Any, *arguments: Any) -> Any:
        members = {name: staticmethod(member) for name, member in own.items()}
        kind = type("Rule", (type(rule),), members)
        return kind(**vars(rule))

    return change


WRONG_PENALTIES = {
    "value must be 0 at 0": changed(L2, "value", lambda v, coef: v + 1.0),
    "value must be convex": changed(L1, "value", lambda v, coef: np.sqrt(v)),
    "which is all that solvers see": changed(
        L1, "value", lambda v, coef: np.sort(np.abs(coef))[::-1] @ np.linspace(2.0, 1.0, len(coef))
    ),
    "degree must be": type("Wrong", (L2,), {"degree": 1})(),
    "conjugate must be at least": changed(L2, "conjugate", lambda c, s: c - 5.0),
    "conjugate must be α·s": changed(ElasticNet, "conjugate", lambda c, s: 1.1 * c),
    "excess must be at least 0": changed(L2, "entry", entry_with(excess=lambda s: -np.abs(s))),
    "excess must grow": changed(
        L1, "entry", entry_with(excess=lambda s: np.where(np.abs(s) < 2.0, np.abs(s), 0.0))
    ),
    "excess of −s": changed(L1, "entry", entry_with(excess=lambda s: np.maximum(s - 1.0, 0.0))),
    "settled": changed(ElasticNet, "entry", entry_with(settled=lambda s: s)),
    "bound must be at most": changed(L2, "bound", lambda b, *rest: b + 1e-3),
    "got nan": changed(L1, "bound", lambda b, *rest: np.nan),
    "of a penalised offset": type(
        "Wrong",
        (ElasticNet,),
        {"bound": lambda self, *rest, offset_score=0.0: ElasticNet.bound(self, *rest)},
    )(),
}


@pytest.mark.parametrize("words", WRONG_PENALTIES)
def test_a_wrong_method_of_a_penalty_is_named(words: str) -> None:
    """One planted fault for each promise."""
    with pytest.raises(CheckError, match=words):
        check_penalty(WRONG_PENALTIES[words])


RNG = np.random.default_rng(0)


def products(X: Any, Z: Any) -> Any:
    """A kernel that is a function."""
    return X @ Z.T


KERNELS: list[Any] = [
    *(Linear(), RBF(), Polynomial(2), Matern(), Cosine(), Laplacian(), RBF() * Linear()),
    *(Linear() ** 2, RBF() + 2.0 * Polynomial(3), Normalized(Polynomial(2)), products),
]
ROWS = {Chi2(): RNG.dirichlet(np.ones(5), 30), Tanimoto(): (RNG.random((30, 8)) < 0.4) * 1.0}


@pytest.mark.parametrize(
    "kernel", [*KERNELS, *ROWS], ids=lambda own: getattr(own, "__name__", str(own))
)
def test_kernels_pass(kernel: Any) -> None:
    """Also in float32, functions, and those of shares and sets; all of these are definite."""
    X = ROWS.get(kernel)
    check_kernel(kernel, X, definite=True)
    given = RNG.normal(size=(30, 4)) if X is None else X
    check_kernel(kernel, given.astype(np.float32), definite=True)


WRONG_KERNELS = {
    r"k\(X, Z\) must be finite floats": lambda X, Z: np.full((len(X), len(Z)), np.nan),
    r"k\(X, Z\) of fewer rows": lambda X, Z: X @ Z.T + X.mean(),
    r"k\(X, Z\) of one centre": lambda X, Z: X @ Z.T + Z.mean(),
    r"diagonal\(X\) must be k": changed(Cosine, "diagonal", lambda d, X: 2.0 * d),
    "fit of a fitted kernel": changed(
        Polynomial, "fit", lambda k, X, *w: replace(k, degree=k.degree + 1)
    ),
    "from_products must be": changed(RBF, "__call__", lambda v, *rest: v**1.1, gamma=0.5),
    "sum_from_products": changed(Linear, "sum_from_products", lambda v, *rest: v + 1.0),
    "diagonal": changed(Linear, "diagonal_from_norms", lambda v, norms: v + 1.0),
    "the pickled kernel": type("Unpickled", (Linear,), {"__module__": __name__})(),
    "rounding must bound": changed(
        Polynomial, "rounding", lambda bound, arithmetic: replace(bound, relative=0.0)
    ),
    "expanded must be": changed(Linear, "expanded", lambda own, *rest: lambda X: 2.0 * own(X)),
}


@pytest.mark.parametrize("words", WRONG_KERNELS)
def test_a_wrong_method_of_a_kernel_is_named(words: str) -> None:
    """One planted fault for each promise."""
    with pytest.raises(CheckError, match=words):
        check_kernel(WRONG_KERNELS[words])


def test_a_kernel_that_is_not_definite_is_told_where_it_matters() -> None:
    """Of several features together, a periodic kernel has no norm of functions."""
    check_kernel(Periodic())
    with pytest.raises(CheckError, match="positive semi-definite"):
        check_kernel(Periodic(), definite=True)


FEATURES = RNG.normal(size=(25, 6))


class Wrong:
    """A pricer of features whose answers are changed."""

    def __init__(self, change: Callable[[Priced, int], Priced]) -> None:
        self.pricer, self.change = FeaturePricer(FEATURES), change

    def price(self, state: Any, limit: int) -> Priced:
        """The answer of the right one, changed."""
        return self.change(self.pricer.price(state, limit), limit)


def scaled(column: Column, factor: float, key: Any = None) -> Column:
    """A column of other values."""
    return replace(column, values=factor * column.values, key=key or column.key)


WRONG_PRICERS: dict[str, Callable[[Priced, int], Priced]] = {
    "columns for a limit": lambda p, limit: replace(
        p, columns=[*p.columns, *(scaled(c, -1.0, (c.key, 1)) for c in p.columns)]
    ),
    "none of the enumeration": lambda p, limit: replace(
        p, columns=[scaled(c, 1.5) for c in p.columns]
    ),
    "returned twice": lambda p, limit: replace(
        p, columns=[p.columns[0], *p.columns[:-1]] if len(p.columns) > 1 else p.columns
    ),
    "best column must come first": lambda p, limit: replace(p, columns=p.columns[::-1]),
    "max_excess": lambda p, limit: replace(p, max_excess=0.5 * p.max_excess),
    "total_excess": lambda p, limit: replace(p, total_excess=0.5 * p.total_excess),
    "found nothing": lambda p, limit: replace(p, columns=()),
    "at best": lambda p, limit: replace(p, columns=p.columns[1:]) if len(p.columns) > 1 else p,
    "belongs to two": lambda p, limit: replace(
        p, columns=[replace(c, key=j) for j, c in enumerate(p.columns)]
    ),
}


@pytest.mark.parametrize("words", WRONG_PRICERS)
def test_a_wrong_answer_of_a_pricer_is_named(words: str) -> None:
    """The right one passes, with either sign rule; one planted fault for each promise."""
    for two_sided in (True, False):
        check_pricer(FeaturePricer(FEATURES), FEATURES, two_sided=two_sided)
    with pytest.raises(CheckError, match=words):
        check_pricer(Wrong(WRONG_PRICERS[words]), FEATURES)


def test_a_pricer_that_remembers_wrongly_is_named() -> None:
    """A second answer that differs from the first one."""
    asked = [0]

    def forget(priced: Priced, limit: int) -> Priced:
        asked[0] += 1
        return replace(priced, columns=priced.columns[: asked[0] % 2], exact=False)

    with pytest.raises(CheckError, match="same answer"):
        check_pricer(Wrong(forget), FEATURES)


def test_what_is_no_part_of_that_kind_is_refused() -> None:
    """Names, several outputs, norms of functions, classes."""
    for strange in ("huber", Multinomial(3)):
        with pytest.raises(TypeError, match="check_loss takes"):
            check_loss(strange)  # type: ignore[arg-type]
    for other in ("l1", RKHS()):
        with pytest.raises(TypeError, match="check_penalty takes"):
            check_penalty(other)  # type: ignore[arg-type]
    for kernel in ("rbf", RBF):
        with pytest.raises(TypeError, match="check_kernel takes"):
            check_kernel(kernel)  # type: ignore[arg-type]
