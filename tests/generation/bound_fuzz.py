"""Hostile random problems in every master: no bound may exceed what a model really costs.

Every round of a run gives coefficients and a lower bound. What the coefficients cost is computed
here from the definition of the problem, in extended precision, by formulas of this file alone; the
least of these costs is an upper value of the optimum, and no bound of any round may exceed it. Rows
repeat, columns repeat and vanish, weights are 0, and columns, targets and prices have sizes from
1e-4 to 1e4. ``python -m tests.generation.bound_fuzz [--rounds 100000]`` is the whole study.
"""

from __future__ import annotations

import logging
import math
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cgboost import ColumnGeneration
from cgboost.exceptions import CGBoostError
from cgboost.generation.columns import Column
from cgboost.generation.protocols import Priced
from cgboost.losses import (
    AbsoluteError,
    EpsilonInsensitive,
    Exponential,
    Hinge,
    Huber,
    LogLoss,
    Loss,
    Poisson,
    Quantile,
    SquaredEpsilonInsensitive,
    SquaredError,
    SquaredHinge,
    entropic_nu_hinge,
    nu_hinge,
)
from cgboost.masters import LinearMaster
from cgboost.masters.constrained.constrained_master import ConstrainedMaster
from cgboost.masters.convex.convex_master import ConvexMaster
from cgboost.masters.quantiles.noncrossing_masters import BoxMaster, NoncrossingMaster
from cgboost.masters.rkhs.rkhs_master import RKHSMaster
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.masters.support_vector.formulations import EntropyMaster
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.penalties import L1, L2, RKHS, ElasticNet, L1Ball
from cgboost.pricing import FeaturePricer, JointPricer, KernelPool
from cgboost.pricing.learners.box_pricer import BoxPricer
from cgboost.pricing.learners.joint_pricer import OutputRowPairs
from cgboost.pricing.rkhs.rkhs_pricer import RKHSPricer
from cgboost.pricing.univariate.feature_pricer import FeaturePool
from cgboost.studies.scripts import options
from tests.masters.convex.convex_models import MODELS
from tests.masters.convex.convex_models import losses as convex_losses
from tests.masters.rkhs.problems import KERNELS, Problem

Long = np.longdouble
Vector = np.ndarray
ALLOWED = 1e-9
"""A bound may exceed the upper value by this, relative to it: no more than a hundredth of the gap
at which the tightest of our runs end, and a thousand times what sums of 40 terms are rounded."""

LOSSES: dict[type[Loss], Callable[[Any, Vector, Vector], Vector]] = {
    Hinge: lambda s, y, f: np.maximum(1 - y * f, 0),
    SquaredHinge: lambda s, y, f: np.maximum(1 - y * f, 0) ** 2,
    LogLoss: lambda s, y, f: np.logaddexp(Long(0), -2 * y * f),
    Exponential: lambda s, y, f: np.exp(-y * f),
    EpsilonInsensitive: lambda s, y, f: np.maximum(np.abs(y - f) - s.epsilon, 0),
    SquaredEpsilonInsensitive: lambda s, y, f: np.maximum(np.abs(y - f) - s.epsilon, 0) ** 2,
    AbsoluteError: lambda s, y, f: np.abs(y - f),
    Quantile: lambda s, y, f: np.maximum(s.quantile * (y - f), (s.quantile - 1) * (y - f)),
    Huber: lambda s, y, f: np.where(
        np.abs(y - f) <= s.delta, (y - f) ** 2 / 2, s.delta * (np.abs(y - f) - s.delta / 2)
    ),
    SquaredError: lambda s, y, f: (y - f) ** 2 / 2,
    Poisson: lambda s, y, f: np.exp(f) - y * f + y * np.log(np.where(y > 0, y, 1)) - y,
}
"""The losses, each by its definition."""

PENALTIES: dict[str, tuple[Any, Callable[[Vector], Any]]] = {
    "l1": (L1(), lambda a: np.abs(a).sum()),
    "l2": (L2(), lambda a: (a * a).sum() / 2),
    "elastic net": (
        ElasticNet(0.4),
        lambda a: Long(0.4) * np.abs(a).sum() + (1 - Long(0.4)) * (a * a).sum() / 2,
    ),
    "ball": (L1Ball(1.5), lambda a: 0 if np.abs(a).sum() <= 1.5 * (1 + 1e-12) else np.inf),
}


@dataclass
class Run:
    """One run of the loop, and what its rounds cost: ``cost(coef, intercept)``."""

    name: str
    loop: ColumnGeneration
    cost: Callable[[Vector, Any], Any]


@dataclass
class Tally:
    """What a fuzz has found.

    Attributes
    ----------
    rounds : Counter
        Rounds with a bound, by kind of problem.
    false : list of str
        Bounds above an upper value.
    worst : float
        The largest excess of a bound, relative to the upper value.
    errors : Counter
        Runs that ended with an error of ours, by its words.
    """

    rounds: Counter[str] = field(default_factory=Counter)
    false: list[str] = field(default_factory=list)
    worst: float = 0.0
    errors: Counter[str] = field(default_factory=Counter)

    def take(self, run: Run, seed: int) -> None:
        """Run, and compare every bound with the cheapest model of all rounds."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = run.loop.run()
        except CGBoostError as error:
            if "lower bound" in str(error):
                self.false.append(f"{run.name} seed {seed}: {error}")
            self.errors[f"{run.name}: {str(error)[:60]}"] += 1
            return
        bounds = result.history["bound"]
        known = np.isfinite(bounds)
        self.rounds[run.name.split(",")[0]] += int(np.count_nonzero(known))
        upper = min(
            (float(run.cost(np.asarray(a, dtype=Long), b)) for a, b in result.path),
            default=math.inf,
        )
        if not known.any() or not math.isfinite(upper):
            return
        excess = (float(bounds[known].max()) - upper) / max(abs(upper), result.scale)
        self.worst = max(self.worst, excess)
        if excess > ALLOWED:
            self.false.append(f"{run.name} seed {seed}: bound exceeds {upper:.12g} by {excess:.2e}")


class Rows:
    """Random rows and columns of hostile kinds."""

    def __init__(self, rng: np.random.Generator, *, wild: bool = True) -> None:
        n_rows, n_columns = int(rng.integers(2, 26)), int(rng.integers(1, 31))
        rank = int(rng.integers(1, 8))
        self.H = rng.normal(size=(n_rows, rank)) @ rng.normal(size=(rank, n_columns))
        self.H += rng.choice([0.0, 0.3]) * rng.normal(size=self.H.shape)
        if n_columns > 3:
            self.H[:, -1], self.H[:, -2] = self.H[:, 0], 0.0
        self.target = self.H[:, :3].sum(axis=1) + 0.5 * rng.normal(size=n_rows)
        if n_rows > 6:
            self.H[1] = self.H[0]  # the same row, perhaps with another target
        spread = 4.0 if wild else 1.0
        self.H = self.H * 10.0 ** rng.uniform(-spread, spread)
        if rng.random() < 0.3:
            self.H = self.H * 10.0 ** rng.uniform(-spread / 2, spread / 2, size=n_columns)
        self.size = 10.0 ** rng.uniform(-spread, spread)
        self.weights = 10.0 ** rng.uniform(-spread, spread) * rng.uniform(0.2, 2.0, size=n_rows)
        if rng.random() < 0.3:
            self.weights[rng.random(n_rows) < 0.2] = 0.0
        self.labels = np.where(self.target > 0, 1.0, -1.0)
        self.labels[0] = -self.labels[-1]
        self.counts = np.floor(np.exp(np.clip(self.target, -3, 3)))
        self.counts[0] = max(1.0, self.counts[0])

    def target_of(self, loss: Loss) -> Vector:
        """Labels, counts or numbers of any size."""
        if loss.classification:
            return self.labels
        return self.counts if loss.name == "poisson" else self.target * self.size

    def output(self, coef: Vector, intercept: Any, places: Vector) -> Vector:
        """Hα + b in extended precision."""
        return self.H[:, places].astype(Long) @ coef + Long(intercept)


def loss_of(rng: np.random.Generator, rows: Rows) -> Loss:
    """Any loss, its parameters in units of the target."""
    size = float(rows.size)
    choices: list[Loss] = [
        Hinge(),
        SquaredHinge(),
        LogLoss(),
        Exponential(),
        EpsilonInsensitive(0.1 * size),
        SquaredEpsilonInsensitive(0.1 * size),
        AbsoluteError(),
        Quantile(0.8),
        Huber(0.5 * size),
        SquaredError(),
        Poisson(),
    ]
    return choices[rng.integers(len(choices))]


def value_of(loss: Loss, y: Vector, weights: Vector, output: Vector) -> Any:
    """Σ w ℓ(y, f) over the rows that count."""
    own = LOSSES[type(loss)](loss, y.astype(Long), output)
    return (weights.astype(Long) * own)[weights > 0].sum()


def places_of(loop: ColumnGeneration, count: int) -> Vector:
    """The numbers of the first columns in the master."""
    return np.array([c.key[1] for c in loop.master.columns[:count]], dtype=int)


def support_vector(rng: np.random.Generator) -> Run:
    """A loss, a penalty, a rule for signs and one for the offset."""
    rows = Rows(rng)
    loss, name = loss_of(rng, rows), str(rng.choice(list(PENALTIES)))
    coef, offset = (
        str(rng.choice(["free", "nonneg"])),
        str(rng.choice(["none", "free", "penalized"])),
    )
    penalty, cost = PENALTIES[name]
    y = rows.target_of(loss)
    master = SupportVectorMaster(loss.on(y, rows.weights), penalty, coef=coef, offset=offset)
    loop = _loop(rng, master, FeaturePricer(rows.H))

    def priced(alpha: Vector, b: Any) -> Any:
        charged = np.append(alpha, Long(b)) if offset == "penalized" else alpha
        f = rows.output(alpha, b, places_of(loop, len(alpha)))
        return cost(charged) + value_of(loss, y, rows.weights, f)

    return Run(f"support vector, {loss!r} {name} {coef} {offset}", loop, priced)


def margins(rng: np.random.Generator) -> Run:
    """A margin of the loss's own: the ν-hinge, with an entropy or without."""
    rows, nu = Rows(rng, wild=False), float(rng.uniform(0.2, 0.9))
    rows.weights = np.abs(rows.weights) + 1e-3
    smooth = bool(rng.random() < 0.5)
    eta = float(10.0 ** rng.uniform(0, 2))
    if smooth:
        loss = entropic_nu_hinge(rows.labels, rows.weights, nu, eta=eta, balanced=False)
        master: Any = EntropyMaster(loss, offset="none")
    else:
        loss = nu_hinge(rows.labels, rows.weights, nu, balanced=False)
        master = SupportVectorMaster(loss, L1Ball(1.0), offset="none")
    loop = _loop(rng, master, FeaturePricer(rows.H))
    price, mass = rows.weights.astype(Long), Long(nu) * rows.weights.astype(Long).sum()

    def cost(alpha: Vector, b: Any) -> Any:
        m = rows.labels * rows.output(alpha, b, places_of(loop, len(alpha)))
        if np.abs(alpha).sum() > 1 + 1e-12:
            return np.inf
        if smooth:  # max over u of −m·u − (1/η) Σ u log(u/ū): by bisection of the level
            return _entropic(-m, price, mass, Long(nu) * price, Long(eta))
        return min((price * np.maximum(rho - m, 0)).sum() - mass * rho for rho in m)

    return Run(f"margins, {'entropy' if smooth else 'ball'}", loop, cost)


def _entropic(rate: Vector, costs: Vector, mass: Any, spread: Vector, eta: Any) -> Any:
    """The dual value min over t of t·mass + Σ max_u≤cost (rate − t)u − u log(u/ū)/η, from above."""

    def u(t: Any) -> Vector:
        return np.minimum(costs, spread * np.exp(np.minimum(eta * (rate - t) - 1, Long(1e3))))

    low, high = rate.min() - Long(1e3) / eta, rate.max() + Long(1e3) / eta
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if u(middle).sum() > mass else (low, middle)
    at = u(high)
    logs = np.log(np.where(at > 0, at, spread) / spread)
    return high * mass + ((rate - high) * at).sum() - (at * logs).sum() / eta


def quantiles(rng: np.random.Generator) -> Run:
    """Several quantiles that must not cross."""
    rows, levels = Rows(rng), np.array([0.1, 0.5, 0.8])[: rng.integers(1, 4)]
    y, n = rows.target * rows.size, len(rows.target)
    if not rows.weights.any():
        rows.weights[:] = 1.0
    master: Any = NoncrossingMaster(levels, y, rows.weights)
    pairs, in_box = OutputRowPairs(len(levels), n), bool(rng.random() < 0.5)
    pricer: Any = JointPricer(pairs, [FeaturePricer(rows.H) for _ in levels])
    if in_box:
        master = BoxMaster(levels, y, rows.weights)
        pricer = BoxPricer(pairs, FeaturePool(rows.H), np.zeros(0, dtype=np.intp))
    loop = _loop(rng, master, pricer)
    low, high = (end(np.asarray(rows.H, dtype=Long), axis=0) for end in (np.min, np.max))

    def cost(alpha: Vector, b: Any) -> Any:
        outputs = np.zeros((len(levels), n), dtype=Long) + np.asarray(b, dtype=Long)[:, None]
        beta = np.zeros((len(levels), rows.H.shape[1]), dtype=Long)
        for a, column in zip(alpha, loop.master.columns, strict=False):
            outputs += a * np.asarray(column.values, dtype=Long).reshape(len(levels), n)
            beta[column.output, column.hypothesis.index] += a
        counting = rows.weights > 0
        crossing = np.max((outputs[:-1] - outputs[1:])[:, counting], axis=1, initial=0)
        if in_box:
            slopes = np.diff(beta, axis=0)
            worst = (slopes * np.where(slopes < 0, high, low)).sum(axis=1)
            crossing = np.maximum(-(np.diff(np.asarray(b, dtype=Long)) + worst), 0)
            outputs[1:] += np.cumsum(crossing)[:, None]  # a model that does not cross
        elif crossing.any():
            return np.inf  # what crossings cost is not part of the problem
        own = [
            (rows.weights * np.maximum(q * (y - f), (q - 1) * (y - f))).sum()
            for q, f in zip(levels.astype(Long), outputs, strict=True)
        ]
        return np.abs(alpha).sum() + sum(own)

    return Run("quantiles", loop, cost)


def functions(rng: np.random.Generator) -> Run:
    """The norm of each kernel's function."""
    rows = Rows(rng)
    loss = loss_of(rng, rows)
    problem = Problem.random(loss, int(rng.integers(10**6)), int(rng.integers(4, 26)))
    unit = 1.0 if loss.classification or loss.name == "poisson" else rows.size
    y, weights = problem.y * unit, problem.cost * 10.0 ** rng.uniform(-4, 4)
    offset = str(rng.choice(["none", "free", "penalized"]))
    penalty = RKHS(problem.weights)
    master = RKHSMaster(loss.on(y, weights), penalty, offset=offset)
    pricer = RKHSPricer(KernelPool(problem.library, problem.X), penalty.weight, tol=1e-9)
    loop = _loop(rng, master, pricer)
    grams = {name: KERNELS[name](problem.X, problem.X).astype(Long) for name in problem.kernels}

    def cost(alpha: Vector, b: Any) -> Any:
        total, output = Long(0), np.zeros(len(y), dtype=Long) + Long(b)
        for name, gram in grams.items():
            own = np.zeros(len(y), dtype=Long)
            for a, column in zip(alpha, loop.master.columns, strict=False):
                if column.stratum == name:
                    own[column.key[1]] += a
            total += Long(problem.weights.get(name, 1.0)) * (own @ gram @ own) / 2
            output += gram @ own
        total += Long(b) ** 2 / 2 if offset == "penalized" else 0
        return total + value_of(loss, y, weights, output)

    return Run(f"functions, {loss!r} {offset}", loop, cost)


def constrained(rng: np.random.Generator) -> Run:
    """A 1-norm with limits on sums of outputs, beyond which a price is paid."""
    rows = Rows(rng, wild=False)
    n, k = len(rows.target), int(rng.integers(1, 4))
    G, limits = rng.normal(size=(k, n)), rng.uniform(0.0, 1.0, size=k)
    price = float(10.0 ** rng.uniform(0, 3))
    loss = [Hinge(), AbsoluteError(), EpsilonInsensitive(0.1)][rng.integers(3)]
    y = rows.labels if loss.classification else rows.target
    H = np.vstack([rows.H, G @ rows.H])
    master = ConstrainedMaster(loss.on(y, rows.weights).box, limits, price, constant=G.sum(axis=1))
    loop = _loop(rng, master, FeaturePricer(H))

    def cost(alpha: Vector, b: Any) -> Any:
        f = rows.output(alpha, b, places_of(loop, len(alpha)))
        beyond = np.maximum(G.astype(Long) @ f - limits, 0).sum()
        return np.abs(alpha).sum() + value_of(loss, y, rows.weights, f) + Long(price) * beyond

    return Run(f"constrained, {loss!r}", loop, cost)


def convex(rng: np.random.Generator) -> Run:
    """A model written in CVXPY: six losses and seven penalties, on two to thirty rows."""
    rows = Rows(rng)
    n = len(rows.target)
    y = rows.target * rows.size
    name = str(rng.choice(list(convex_losses(y, rows.labels))))
    model = str(rng.choice([m for m in MODELS if m != "fairness"]))
    options = MODELS[model]
    loss, penalty = convex_losses(y, rows.labels)[name], options.get("penalty")
    master = ConvexMaster(loss, n_rows=n, **options)
    loop = _loop(rng, master, FeaturePricer(rows.H), rounds=6)

    def cost(alpha: Vector, b: Any) -> Any:
        f = rows.output(alpha, b, places_of(loop, len(alpha)))
        if model == "budget" and np.abs(alpha).sum() > 2 * (1 + 1e-12):
            return np.inf
        a, b = alpha if len(alpha) else np.zeros(1, dtype=Long), Long(b)
        own = {
            "elastic net": lambda: np.abs(a).sum() / 2 + (a * a).sum(),
            "2-norm": lambda: (a * a).sum() / 2 + b * b / 2,
            "budget": lambda: Long(0),
        }
        charge = np.abs(a).sum() if penalty is None else own[model]()
        return charge + _convex_value(name, y.astype(Long), rows.labels, f)

    return Run(f"convex, {name} {model}", loop, cost)


def _convex_value(name: str, y: Vector, labels: Vector, f: Vector) -> Any:
    """The losses of ``convex_models``, by their definitions."""
    e, m = y - f, labels * f
    return {
        "pinball": lambda: 2 * np.maximum(Long(0.8) * e, -Long(0.2) * e).sum(),
        "huber": lambda: np.where(np.abs(e) <= 1, e * e, 2 * np.abs(e) - 1).sum() / 2,
        "squared": lambda: (e * e).sum() / 2,
        "hinge": lambda: 2 * np.maximum(1 - m, 0).sum(),
        "logistic": lambda: 3 * np.logaddexp(Long(0), -m).sum(),
        "root": lambda: 5 * np.sqrt((e * e).sum()),
    }[name]()


def linear(rng: np.random.Generator) -> Run:
    """A covering problem over a pool of columns with costs of any size."""
    n, count = int(rng.integers(2, 15)), int(rng.integers(10, 60))
    A = (rng.random((n, count)) < 0.4) * rng.integers(1, 5, size=(n, count)).astype(float)
    A[rng.integers(n, size=count), np.arange(count)] += 1.0
    costs = 10.0 ** rng.uniform(-4, 4) * rng.uniform(0.5, 2.0, size=count)
    rhs = 10.0 ** rng.uniform(-2, 2) * rng.uniform(0.5, 2.0, size=n)
    A = np.hstack([A, np.eye(n)])
    costs = np.append(costs, np.full(n, 10 * costs.max()))
    pool = [
        Column(a, ("pool", j), cost=float(c))
        for j, (a, c) in enumerate(zip(A.T, costs, strict=True))
    ]
    how: dict[str, Any] = [
        {"copies": float(2.0 * rhs.sum())},
        {"least_cost": float(costs.min())},
        {},
    ][rng.integers(3)]
    master = LinearMaster(range(n), [">="] * n, rhs, **how)
    master.add(pool[-n:])

    class Pool:
        def price(self, state: Any, limit: int) -> Priced:
            reduced = costs - state.pseudo_response @ A
            held = {c.key for c in state.columns}
            best = [pool[j] for j in np.argsort(reduced) if reduced[j] < -1e-9 * costs[j]]
            best = [c for c in best if c.key not in held][:limit]
            return Priced(best, exact=True, reduced_cost=float(reduced.min()))

    loop = _loop(rng, master, Pool())

    def cost(x: Vector, b: Any) -> Any:
        places = places_of(loop, len(x))
        met = (A[:, places].astype(Long) @ x - rhs).min()
        if met < 0:  # a little more of everything meets all rows
            x = x * (1 + Long(-met) / Long(rhs.min()) * 2)
            if (A[:, places].astype(Long) @ x - rhs).min() < 0:
                return np.inf
        return costs[places].astype(Long) @ np.maximum(x, 0)

    return Run("linear", loop, cost)


def corrective(rng: np.random.Generator) -> Run:
    """No penalty at all: a bound only where no column leads down."""
    rows = Rows(rng, wild=False)
    rows.weights = np.abs(rows.weights) + 1e-3
    y = rows.target * rows.size
    master = CorrectiveMaster(SquaredError().on(y, rows.weights), offset="free")
    loop = _loop(rng, master, FeaturePricer(rows.H))

    def cost(alpha: Vector, b: Any) -> Any:
        f = rows.output(alpha, b, places_of(loop, len(alpha)))
        return value_of(SquaredError(), y, rows.weights, f)

    return Run("corrective", loop, cost)


def _loop(rng: np.random.Generator, master: Any, pricer: Any, rounds: int = 40) -> ColumnGeneration:
    tol = float(rng.choice([0.0, 1e-9, 1e-6, 1e-4]))
    at_once = int(rng.integers(1, 6))
    return ColumnGeneration(master, pricer, tol=tol, columns_per_round=at_once, max_rounds=rounds)


KINDS: dict[Callable[[np.random.Generator], Run], float] = {
    support_vector: 0.55,
    margins: 0.08,
    quantiles: 0.06,
    functions: 0.1,
    constrained: 0.05,
    convex: 0.03,
    linear: 0.1,
    corrective: 0.03,
}
"""The kinds of problems, and the share of each in a fuzz."""


def runs(seed: int) -> Iterator[tuple[int, Run]]:
    """Problems without end."""
    kinds, shares = list(KINDS), np.array(list(KINDS.values()))
    while True:
        rng = np.random.default_rng(seed)
        kind = kinds[rng.choice(len(kinds), p=shares / shares.sum())]
        yield seed, kind(rng)
        seed += 1


def fuzz(rounds: int, seed: int = 0) -> Tally:
    """Runs until so many rounds had a bound."""
    tally = Tally()
    for number, run in runs(seed):
        tally.take(run, number)
        if tally.rounds.total() >= rounds:
            return tally
    return tally


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # every crossing of a bound is counted here
    found = fuzz(options(__doc__, rounds=100_000).rounds)
    sys.stdout.write(f"{found}\n")
