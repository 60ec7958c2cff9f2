"""What support-vector masters refuse, what their bounds rest on, and how they answer failures."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import cvxpy as cp
import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError, UnsupportedLossError
from cgboost.generation.columns import Column
from cgboost.generation.protocols import Master, Priced
from cgboost.losses import LogLoss, Poisson, SquaredError, entropic_nu_hinge, hinge, nu_hinge
from cgboost.masters import (
    BudgetMaster,
    ConvexMaster,
    EntropyMaster,
    OneNormMaster,
    SupportVectorMaster,
    TwoNormMaster,
)
from cgboost.masters.support_vector.support_vector_master import (
    COARSE_SETBACKS,
    SETBACKS,
    WarmStart,
)
from cgboost.penalties import L1, L2, ElasticNet, Entropy, L1Ball
from cgboost.pricing import FeaturePricer
from solvers import LimitError, SolverFailure, Status
from tests.problems import FORMULATIONS, Formulation, columns_of, random_problem

LABELS, PRICE = np.array([1.0, -1.0]), np.ones(2)
TWELVE = np.where(np.arange(12) % 3, 1.0, -1.0)
LOSS = hinge(TWELVE, np.ones(12))


class Half:
    """A loss that lacks most of what a master asks for."""

    n_rows = 2

    def value(self, output: np.ndarray) -> float:
        """Nothing."""
        return 0.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: OneNormMaster(LOSS, coef="bar"), "coef must be one of .* got 'bar'"),
        (lambda: OneNormMaster(LOSS, offset="foo"), "offset must be one of .* got 'foo'"),
        (
            lambda: OneNormMaster(LOSS).add([Column(np.ones(3), "x")]),
            r"column 'x' has shape \(3,\), the master has 12 rows",
        ),
        (
            lambda: ColumnGeneration(OneNormMaster(LOSS), FeaturePricer(np.ones((5, 2)))).run(),
            "X has 5 rows, the master has 12",
        ),
        (lambda: EntropyMaster(LOSS), "needs an EntropicLoss, got a SupportVectorLoss"),
        (
            lambda: SupportVectorMaster(Half(), L1()),
            "Half lacks pseudo_response, gain, feasible, curvature",
        ),
        (
            lambda: OneNormMaster(nu_hinge(LABELS, PRICE, 0.5, balanced=False)),
            r"L1\(\) needs a loss .* needs a BudgetMaster \(L1Ball\)",
        ),
        (
            lambda: SupportVectorMaster(LogLoss().on(LABELS, PRICE), Entropy(2.0)),
            "Entropy.* needs a loss that chooses its margin",
        ),
        (lambda: BudgetMaster(LOSS, budget=0.0), "budget must be positive and finite, got 0"),
        (
            lambda: EntropyMaster(
                entropic_nu_hinge(LABELS, PRICE, 0.5, eta=1.0, balanced=True), budget=np.inf
            ),
            "budget must be positive and finite, got inf",
        ),
    ],
)
def test_what_cannot_work_is_named(make: Callable[[], Any], words: str) -> None:
    """The word, the column, the missing members, or the penalty that would do."""
    with pytest.raises((ValueError, UnsupportedLossError), match=words):
        make()


def test_entropy_is_a_penalty_for_a_loss_with_a_margin() -> None:
    """The master of nu_hinge under Entropy is that of the entropic loss."""
    problem = random_problem(3)
    labels, price = problem.labels, np.ones(len(problem.target))
    one = SupportVectorMaster(
        nu_hinge(labels, price, 0.4, balanced=True), Entropy(8.0), offset="free"
    )
    other = EntropyMaster(
        entropic_nu_hinge(labels, price, 0.4, eta=8.0, balanced=True), offset="free"
    )
    runs = [ColumnGeneration(m, FeaturePricer(problem.H), tol=1e-7).run() for m in (one, other)]
    assert runs[0].objective == runs[1].objective


def test_an_elastic_net_lies_between_the_norms() -> None:
    """It uses fewer columns than the 2-norm, and equal columns alike, unlike the 1-norm."""
    problem = random_problem(4)
    used = {}
    for name in ("l2", "elasticnet"):
        formulation = Formulation("epsilon", name, "free", "free")
        master = formulation.master(problem.loss(formulation))
        result = ColumnGeneration(master, FeaturePricer(problem.H), tol=1e-8).run()
        coef = np.zeros(problem.H.shape[1])
        coef[[column.key[1] for column in result.columns]] = result.coef
        used[name] = np.count_nonzero(np.abs(coef) > 1e-9)
        assert coef[-1] == pytest.approx(coef[0], abs=1e-6)  # the same column twice
    assert 0 < used["elasticnet"] < used["l2"]


class Foreign:
    """A loss with the members that a master asks for, perhaps abilities, and no class of ours."""

    def __init__(self, loss: Any, *abilities: str, box: Any = None) -> None:
        self.n_rows = loss.n_rows
        for name in ("value", "pseudo_response", "curvature", "gain", "feasible"):
            setattr(self, name, getattr(loss, name))
        if abilities:
            self.abilities = frozenset(abilities)
        if box is not None:
            self.box = box


def test_a_loss_with_abilities_is_taken_by_its_box_or_its_hessian() -> None:
    """By its members alone, too; with a box it is solved by its dual, without a conjugate not."""
    problem = random_problem(8)
    box = problem.loss(Formulation("hinge", "l1", "free", "free"))
    log = LogLoss().on(problem.labels, problem.price)
    squared = SquaredError().on(problem.target, problem.price)

    def objective(loss: Any) -> float:
        master = SupportVectorMaster(loss, L1())
        return ColumnGeneration(master, FeaturePricer(problem.H), tol=1e-8).run().objective

    smooth = ("value", "gradient", "hessian_diag", "conjugate")
    assert objective(Foreign(log, *smooth[:2], "dual_box", box=box)) == objective(box)
    assert objective(Foreign(log)) == pytest.approx(objective(log), rel=1e-8)
    assert objective(Foreign(log, *smooth)) == pytest.approx(objective(log), rel=1e-8)
    both = objective(Foreign(squared, *smooth, "dual_box", box=squared.box))
    assert both == pytest.approx(objective(squared.box), rel=1e-7)
    with pytest.raises(ValueError, match="Foreign lacks conjugate"):
        SupportVectorMaster(Foreign(log, *smooth[:3]), L1())


# ---------------------------------------------------------------------- bounds


def convex(**declared: float) -> ConvexMaster:
    """Squared error with an elastic net, the 1-norm alone, or a budget."""

    def penalty(a: Any, b: Any) -> Any:
        curvature = declared.get("curvature", 0.0)
        return declared.get("threshold", 0.0) * cp.norm1(a) + 0.5 * curvature * cp.sum_squares(a)

    def constraints(a: Any, b: Any, f: Any) -> list[Any]:
        return [cp.norm1(a) <= declared["reach"]] if "reach" in declared else []

    def loss(f: Any) -> Any:
        return cp.sum_squares(f - TWELVE)

    return ConvexMaster(loss, penalty, constraints, n_rows=12, **declared)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "master",
    [
        lambda: OneNormMaster(LOSS),
        lambda: TwoNormMaster(LOSS),
        lambda: TwoNormMaster(LOSS, coef="nonneg"),
        lambda: BudgetMaster(LOSS),
        lambda: convex(threshold=1.0),
        lambda: convex(threshold=1.0, curvature=1.0),
        lambda: convex(threshold=0.0, reach=2.0),
    ],
)
def test_the_bound_rests_on_what_the_rule_says(master: Callable[[], Master]) -> None:
    """Of sum and largest excess the one that the rule names moves the bound, and it alone."""
    made = master()
    state = made.solve()

    def bound(largest: float, total: float) -> float:
        priced = Priced(columns=(), exact=True, max_excess=largest, total_excess=total)
        value = made.bound(state, priced)
        assert value is not None
        return value

    least = bound(0.1, 0.1)
    assert state.rule.additive == (bound(0.1, 0.9) < least - 1e-6)
    assert state.rule.additive != (bound(0.9, 0.1) < least - 1e-6)


def test_a_bound_is_no_less_than_the_gain_of_nothing() -> None:
    """A loss may be negative: its least value, not 0, is the bound that is always known."""
    problem = random_problem(9)
    loss = Poisson().on(problem.counts + 3.0, problem.price)
    lowered = Foreign(loss)  # the Poisson loss without the constant that keeps it above 0
    least = 10.0 * float(problem.price.sum())
    lowered.value = lambda output: loss.value(output) - least
    lowered.gain = lambda response: loss.gain(response) - least
    for penalty in (L1(), L2(), ElasticNet(0.5)):
        master = SupportVectorMaster(lowered, penalty, offset="none")
        state = master.solve()
        nothing = lowered.gain(np.zeros(loss.n_rows))
        assert nothing < 0
        far = Priced((), exact=True, max_excess=1e9, total_excess=1e9)
        assert nothing <= master.bound(state, far) <= state.objective


# ---------------------------------------------------------------------- starts and failures


def test_a_smooth_master_starts_where_it_is_told() -> None:
    """The optimum of the same problem is a start after which one solve needs no step."""
    problem = random_problem(6)
    loss = LogLoss().on(problem.labels, problem.price)
    first = SupportVectorMaster(loss, L1())
    result = ColumnGeneration(first, FeaturePricer(problem.H), tol=1e-9).run()
    second = SupportVectorMaster(loss, L1())
    second.start_from(first.warm_start)
    assert second.solve(time_limit=0.0).objective == pytest.approx(result.objective, rel=1e-8)
    third = SupportVectorMaster(loss, L1Ball(1e-3))  # a start outside the ball is not taken
    third.start_from(WarmStart(first.warm_start.columns, first.warm_start.coef))
    with pytest.raises(MasterError, match="ran out of time"):
        third.solve(time_limit=0.0)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_a_first_solve_without_time_answers_with_its_start(
    formulation: Formulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model of a similar problem, its objective here, and a bound that holds."""
    problem = random_problem(3)
    solved, started = (formulation.master(problem.loss(formulation)) for _ in range(2))
    best = ColumnGeneration(solved, FeaturePricer(problem.H), tol=1e-8).run()
    start = WarmStart.of(best.columns, 1.5 * best.coef, best.intercept)
    started.start_from(start)
    error = LimitError("out of time", status=Status.TIME_LIMIT)
    monkeypatch.setattr(started, "_solved", Mock(side_effect=error))
    assert started.has_start
    state = started.solve(time_limit=0.0)
    np.testing.assert_array_equal(state.coef, start.coef)
    output = sum(a * c.values for a, c in zip(state.coef, state.columns, strict=True))
    np.testing.assert_allclose(state.output, output + state.intercept)
    expected = started.form.value(state.coef, state.intercept) + started.loss.value(state.output)
    assert state.objective == pytest.approx(expected)
    bound = started.bound(state, FeaturePricer(problem.H).price(state, 0))
    assert bound is not None
    assert bound <= best.objective * (1 + 1e-7)
    with pytest.raises(MasterError, match="out of time"):
        started.solve(time_limit=0.0)


@pytest.mark.parametrize("name", ["log_loss", "exponential", "poisson"])
@pytest.mark.parametrize("seed", [5, 12, 13, 21, 24])
def test_a_start_from_far_away_is_not_taken(name: str, seed: int) -> None:
    """Where curvatures are 0 or beyond float64 no Newton step leads back."""
    problem, rng = random_problem(seed), np.random.default_rng(seed)
    formulation = Formulation(name, "l1", "free", "free")
    master = formulation.master(problem.loss(formulation))
    columns = columns_of(problem.H)
    master.start_from(WarmStart(columns, 100.0 * rng.normal(size=len(columns)), rng.normal()))
    result = ColumnGeneration(master, FeaturePricer(problem.H), tol=1e-8).run()
    assert result.gap <= 1e-6


def test_a_failing_first_solve_is_a_master_error_with_the_solvers_words() -> None:
    """Without any good round the solver's failure reaches the caller, named."""
    problem = random_problem(1)
    master = FORMULATIONS[0].master(problem.loss(FORMULATIONS[0]), solver="highs")

    class Broken:
        def __getattr__(self, name: str) -> object:
            raise SolverFailure("numerical trouble")

    master._live.session._session = Broken()
    with pytest.raises(MasterError, match="numerical trouble"):
        ColumnGeneration(master, FeaturePricer(problem.H)).run()


def worsened(**answer: Any) -> tuple[SupportVectorMaster, list[bool], Any]:
    """A master after its first solve, a switch that makes answers worse, and its problem."""
    problem = random_problem(2)
    formulation = Formulation("hinge", "l2", "free", "free")
    master, worse = formulation.master(problem.loss(formulation)), [True]
    original = master._live.solve
    master.solve()
    master._live.solve = lambda *limits: (
        replace((point := original(*limits)), output=point.output + 100.0, **answer)
        if worse[0]
        else original(*limits)
    )
    return master, worse, problem


def test_an_objective_never_rises() -> None:
    """A solver whose answers get worse does not make the model worse, and is given up at last."""
    master, worse, problem = worsened()
    before = master.solve()
    master.add(columns_of(problem.H)[:2])
    after = master.solve()
    assert after.objective == before.objective
    np.testing.assert_array_equal(after.coef, [0.0, 0.0])
    for _ in range(SETBACKS - 3):
        assert master.solve().objective == before.objective
    with pytest.raises(MasterError, match="10 answers of the solver .* name another solver"):
        master.solve()
    worse[0] = False
    assert master.solve().objective < before.objective


def test_coarse_answers_may_be_worse_more_often() -> None:
    """They are coarse on purpose, so that 25 in a row, and not 10, mean that the solver is lost."""
    master, _, _ = worsened(solved=False)
    for _ in range(COARSE_SETBACKS - 1):
        master.solve()
    with pytest.raises(MasterError, match="25 answers of the solver were worse"):
        master.solve()


def test_a_bound_that_rises_is_progress() -> None:
    """Worse answers with better and better duals do not end a run; the count starts anew."""
    master, _, _ = worsened()
    for excess in (3.0, 2.0, 1.0, 0.0):
        for _ in range(SETBACKS - 1):
            state = master.solve()
        master.bound(state, Priced([], exact=True, max_excess=excess, total_excess=excess))
    for _ in range(SETBACKS - 1):
        master.solve()
    with pytest.raises(MasterError, match="neither objective nor bound move"):
        master.solve()
