"""Every loss under every penalty against the full problem and an independent solver."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost import RBF, ColumnGeneration, KernelLibrary
from cgboost.exceptions import MasterError, UnsupportedLossError
from cgboost.generation.protocols import Priced
from cgboost.losses import SupportVectorLoss, entropic_nu_hinge, nu_hinge
from cgboost.masters import BudgetMaster, EntropyMaster, OneNormMaster, SupportVectorMaster
from cgboost.masters.support_vector.master import WarmStart
from cgboost.penalties import L1, L2, ElasticNet, Entropy, L1Ball
from cgboost.pricing import FeaturePricer, KernelPricer
from tests import smooth_losses as smooth
from tests.effort import examples
from tests.problems import PENALTIES, SMOOTH, Formulation, assert_certified, random_problem

PAIRS = [
    Formulation(*parts)
    for parts in product(
        ["hinge", "epsilon", *SMOOTH],
        PENALTIES,
        ["free", "nonneg"],
        ["none", "penalized", "free"],
    )
]


@pytest.mark.parametrize("formulation", PAIRS, ids=str)
@settings(max_examples=examples(3))
@given(seed=st.integers(0, 10**6))
def test_reaches_the_full_problem_with_valid_bounds(formulation: Formulation, seed: int) -> None:
    """Every pair reaches the full optimum; bound ≤ optimum ≤ objective at every round."""
    problem = random_problem(seed)
    master = formulation.master(problem.loss(formulation))
    result = ColumnGeneration(master, FeaturePricer(problem.H), tol=1e-8, columns_per_round=3).run()
    assert_certified(result, problem.optimum(formulation))


def test_an_elastic_net_lies_between_the_norms() -> None:
    """It uses fewer columns than the 2-norm, and equal columns alike, unlike the 1-norm."""
    problem = random_problem(4)
    used = {}
    for name in ("l2", "elasticnet"):
        master = Formulation("epsilon", name, "free", "free").master(
            problem.loss(Formulation("epsilon", name, "free", "free"))
        )
        result = ColumnGeneration(master, FeaturePricer(problem.H), tol=1e-8).run()
        coef = np.zeros(problem.H.shape[1])
        coef[[column.key[1] for column in result.columns]] = result.coef
        used[name] = np.count_nonzero(np.abs(coef) > 1e-9)
        assert coef[-1] == pytest.approx(coef[0], abs=1e-6)  # the same column twice
    assert 0 < used["elasticnet"] < used["l2"]


@pytest.mark.parametrize("penalty", [L1(), L2(), ElasticNet(0.5), L1Ball(20.0)], ids=repr)
def test_logistic_regression_over_kernels_is_certified(penalty: object) -> None:
    """A kernel model of a smooth loss ends with a proven gap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    master = SupportVectorMaster(smooth.LogLoss(y, np.ones(80)), penalty)
    pricer = KernelPricer(KernelLibrary({"rbf": RBF(1.0)}), X)
    result = ColumnGeneration(master, pricer, tol=1e-6, columns_per_round=5).run()
    assert result.gap <= 1e-6
    values = np.stack([column.values for column in result.columns], axis=1)
    assert np.mean(np.sign(values @ result.coef + result.intercept) == y) > 0.9


def test_entropy_is_a_penalty_for_a_loss_with_a_margin() -> None:
    """The master of nu_hinge under Entropy is that of the entropic loss."""
    problem = random_problem(3)
    labels, price = problem.labels, np.ones(len(problem.target))
    pricer = FeaturePricer(problem.H)
    one = SupportVectorMaster(
        nu_hinge(labels, price, 0.4, balanced=True), Entropy(8.0), offset="free"
    )
    other = EntropyMaster(
        entropic_nu_hinge(labels, price, 0.4, eta=8.0, balanced=True), offset="free"
    )
    assert ColumnGeneration(one, pricer, tol=1e-7).run().objective == (
        ColumnGeneration(other, pricer, tol=1e-7).run().objective
    )


def test_a_pair_that_cannot_work_says_what_is_missing() -> None:
    """The error names the members that the loss lacks, or the penalty that would do."""
    labels = np.array([1.0, -1.0])

    class Half:
        n_rows = 2

        def value(self, output: np.ndarray) -> float:
            return 0.0

    with pytest.raises(ValueError, match="Half lacks pseudo_response, gain, feasible, curvature"):
        SupportVectorMaster(Half(), L1())
    with pytest.raises(ValueError, match=r"L1\(\) needs a loss .* needs a BudgetMaster \(L1Ball\)"):
        OneNormMaster(nu_hinge(labels, np.ones(2), 0.5, balanced=False))
    with pytest.raises(
        UnsupportedLossError, match="Entropy.* needs a loss that chooses its margin"
    ):
        SupportVectorMaster(smooth.LogLoss(labels, np.ones(2)), Entropy(2.0))
    with pytest.raises(ValueError, match="budget must be positive and finite, got 0"):
        BudgetMaster(nu_hinge(labels, np.ones(2), 0.5, balanced=False), budget=0.0)


def test_a_loss_with_abilities_is_taken_by_its_box_or_its_hessian() -> None:
    """With a dual box it is solved by its dual; without a conjugate the error names that."""
    problem = random_problem(8)
    plain = problem.loss(Formulation("hinge", "l1", "free", "free"))

    class Boxed:
        abilities = frozenset({"value", "gradient", "dual_box"})
        box = plain

    class Able(smooth.LogLoss):
        abilities = frozenset({"value", "gradient", "hessian_diag", "conjugate"})

    class Unable(smooth.LogLoss):
        abilities = frozenset({"value", "gradient", "hessian_diag"})

    def objective(loss: object) -> float:
        master = SupportVectorMaster(loss, L1())
        return ColumnGeneration(master, FeaturePricer(problem.H), tol=1e-8).run().objective

    class Both(smooth.Squared):
        abilities = frozenset({"value", "gradient", "hessian_diag", "conjugate", "dual_box"})

        @property
        def box(self) -> SupportVectorLoss:
            ends = np.full(self.n_rows, np.inf)
            return SupportVectorLoss(self.target, -ends, ends, curvature=1.0 / self.price)

    assert objective(Boxed()) == objective(plain)
    both = Both(problem.target, problem.price)
    assert objective(both) == objective(smooth.Squared(problem.target, problem.price))
    assert objective(both) == pytest.approx(objective(both.box), rel=1e-7)
    arguments = problem.labels, problem.price
    assert objective(Able(*arguments)) == objective(smooth.LogLoss(*arguments))
    with pytest.raises(ValueError, match="Unable lacks conjugate"):
        SupportVectorMaster(Unable(*arguments), L1())


def test_a_smooth_master_starts_where_it_is_told() -> None:
    """The optimum of the same problem is a start after which one solve needs no step."""
    problem = random_problem(6)
    loss = smooth.LogLoss(problem.labels, problem.price)
    first = SupportVectorMaster(loss, L1())
    result = ColumnGeneration(first, FeaturePricer(problem.H), tol=1e-9).run()
    second = SupportVectorMaster(loss, L1())
    second.start_from(first.warm_start)
    assert second.solve(time_limit=0.0).objective == pytest.approx(result.objective, rel=1e-8)
    third = SupportVectorMaster(loss, L1Ball(1e-3))  # a start outside the ball is not taken
    third.start_from(WarmStart(first.warm_start.columns, first.warm_start.coef))
    with pytest.raises(MasterError, match="ran out of time"):
        third.solve(time_limit=0.0)


def test_a_bound_is_no_less_than_the_gain_of_nothing() -> None:
    """Poisson loss may be negative: its least value, not 0, is the bound that is always known."""
    problem = random_problem(9)
    loss = smooth.Poisson(problem.counts + 3.0, problem.price)
    for penalty in (L1(), L2(), ElasticNet(0.5)):
        master = SupportVectorMaster(loss, penalty, offset="none")
        state = master.solve()
        nothing = loss.gain(np.zeros(loss.n_rows))
        assert nothing < 0
        far = Priced((), exact=True, max_excess=1e9, total_excess=1e9)
        assert nothing <= master.bound(state, far) <= state.objective
