"""The primal simplex of a path: optimal vertices, from one price of the loss to the next."""

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.losses import EpsilonInsensitive, Quantile, SupportVectorLoss, hinge
from cgboost.masters import OneNormMaster
from cgboost.optimizers.simplex import primal_simplex, vertex
from cgboost.optimizers.simplex.primal_simplex import (
    EndlessFailure,
    PrimalSimplex,
    is_neighbour,
)
from cgboost.penalties import L1
from cgboost.penalties.penalty import DualForm
from cgboost.pricing import FeaturePricer
from solvers import SolverFailure

LOSSES = ["quantile", "hinge", "tube"]


def problem(name: str, *, ties: bool, rows: int = 60, width: int = 25) -> tuple[Any, Any, Any]:
    """Columns, the loss at a price, and whether it has labels."""
    rng = np.random.default_rng(width)
    H = rng.normal(size=(rows, width))
    if ties:
        H = np.round(H)
        H[rows // 2 :] = H[: rows - rows // 2]
        H[:, 1] = H[:, 0]
    y = H[:, :5].sum(axis=1) + rng.standard_t(2, size=rows)
    if ties:
        y = np.round(y)
    if name == "hinge":
        y = np.where(y > 0, 1.0, -1.0)

    def loss(price: float) -> SupportVectorLoss:
        weights = np.full(rows, price)
        if name == "hinge":
            return hinge(y, weights)
        cost = Quantile(0.3) if name == "quantile" else EpsilonInsensitive(0.2)
        return cost.on(y, weights).box

    return H, loss, y


def simplex_of(loss: SupportVectorLoss, H: Any = (), form: DualForm | None = None) -> PrimalSimplex:
    """With all columns of H."""
    simplex = PrimalSimplex(loss, form or DualForm(L1(), True, "free"))
    if len(H):
        simplex.add(list(H.T))
    return simplex


def check_optimal(simplex: PrimalSimplex, H: Any, loss: SupportVectorLoss) -> None:
    """Primal and dual are feasible, and of the same value up to rounding."""
    point, form = simplex.solve(None), simplex.form
    objective = np.abs(point.coef).sum() + loss.value(H @ point.coef + point.intercept)
    response = loss.feasible(point.response, balanced=form.offset == "free")
    scores = H.T @ response
    most = (np.abs(scores) if form.two_sided else scores).max()
    bound = loss.gain(response) / max(1.0, most)
    assert bound <= objective * (1 + 1e-12)
    assert objective - bound <= 1e-8 * max(1.0, objective)
    assert form.two_sided or (point.coef >= 0).all()


@pytest.mark.parametrize("offset", ["free", "none"])
@pytest.mark.parametrize("two_sided", [True, False], ids=["free", "nonneg"])
@pytest.mark.parametrize("ties", [False, True], ids=["general", "ties"])
@pytest.mark.parametrize("name", LOSSES)
def test_its_vertices_are_optimal_along_a_path(name, ties, two_sided, offset):
    """At every price: primal and dual are feasible and of the same value, up to rounding."""
    H, loss, _ = problem(name, ties=ties)
    form = DualForm(L1(), two_sided, offset)
    simplex = simplex_of(loss(0.01), H, form)
    for price in np.geomspace(0.01, 10.0, 12):
        simplex.reprice(loss(price))
        check_optimal(simplex, H, loss(price))


@pytest.mark.parametrize("name", LOSSES)
def test_neighbouring_prices_take_few_steps(name, monkeypatch):
    """From the vertex of a price near by, fewer steps than from the model without columns."""
    H, loss, _ = problem(name, ties=False)
    steps = []
    monkeypatch.setattr(vertex, "compiled", lambda function: None)  # step by step
    own = vertex.KinkedVertex.step
    monkeypatch.setattr(vertex.KinkedVertex, "step", lambda *args: steps.append(1) or own(*args))

    def taken(simplex: PrimalSimplex) -> int:
        steps.clear()
        simplex.solve(None)
        return len(steps)

    simplex = simplex_of(loss(1.0), H)
    from_nothing = taken(simplex)
    simplex.reprice(loss(1.1))
    assert taken(simplex) < 0.5 * from_nothing


@pytest.mark.parametrize("name", LOSSES)
def test_rates_that_are_not_near_are_found_when_they_change_side(name, monkeypatch):
    """Where the tableau begins without them, vertices are optimal over all rows all the same.

    Between neighbouring prices it has a part of the rows.
    """
    monkeypatch.setattr(primal_simplex, "NEAR_RATES", 0.0)
    H, loss, _ = problem(name, ties=False, rows=200)
    simplex = simplex_of(loss(0.01), H)
    added, own = [], PrimalSimplex._add_rows
    monkeypatch.setattr(
        PrimalSimplex, "_add_rows", lambda *args: added.append(own(*args)) or added[-1]
    )
    for price in np.geomspace(0.01, 10.0, 12):
        simplex.reprice(loss(price))
        check_optimal(simplex, H, loss(price))
    assert sum(added) > 0
    monkeypatch.undo()
    H, loss, _ = problem("quantile", ties=False, rows=2000)
    simplex = simplex_of(loss(0.01), H)
    for price in 0.01 * 1.1 ** np.arange(4):
        simplex.reprice(loss(price))
        check_optimal(simplex, H, loss(price))
    assert len(simplex._vertex.others) < 1000


def test_columns_may_come_between_prices():
    """Some at each price, as in column generation."""
    H, loss, _ = problem("tube", ties=False)
    simplex = simplex_of(loss(0.5))
    for count, price in enumerate(np.geomspace(0.5, 5.0, 5)):
        simplex.reprice(loss(price))
        simplex.add(list(H[:, 5 * count : 5 * count + 5].T))
        check_optimal(simplex, H[:, : 5 * count + 5], loss(price))


def test_prices_may_change_in_any_way():
    """Those of the rows by other factors, or the two sides of a quantile."""
    H, loss, y = problem("quantile", ties=False)
    simplex = simplex_of(loss(1.0), H)
    rng = np.random.default_rng(0)
    for level in (0.3, 0.5, 0.6):
        price = rng.uniform(0.5, 2.0, len(y))
        for weights in (price, np.ones(len(y))):
            simplex.reprice(Quantile(level).on(y, weights).box)
            check_optimal(simplex, H, Quantile(level).on(y, weights).box)


def test_a_tableau_that_has_lost_digits_is_computed_anew(monkeypatch):
    """Values that steps lead to are compared with those of all columns."""
    H, loss, _ = problem("quantile", ties=False)
    simplex = simplex_of(loss(1.0), H)
    simplex.solve(None)
    simplex._vertex.table._held += 1e-4
    made, own = [], PrimalSimplex._matrix
    monkeypatch.setattr(PrimalSimplex, "_matrix", lambda *args: made.append(1) or own(*args))
    simplex.reprice(loss(1.5))
    check_optimal(simplex, H, loss(1.5))
    assert made


def test_it_begins_at_the_vertex_of_coefficients():
    """Coefficients of an optimal vertex are left with no step."""
    H, loss, _ = problem("quantile", ties=False)
    simplex = simplex_of(loss(1.0), H)
    point = simplex.solve(None)
    used = np.flatnonzero(point.coef)
    again = simplex_of(loss(1.0), H[:, used])
    again.expect(point.coef[used], point.intercept)
    assert not again._open().walk()[0]


def test_other_problems_are_no_neighbours():
    """Another target, another tube, prices far away, or no such loss."""
    _, loss, y = problem("tube", ties=False)
    assert is_neighbour(loss(1.0), loss(1.5))
    assert not is_neighbour(loss(1.0), loss(2.0 * primal_simplex.NEIGHBOURING))
    assert not is_neighbour(loss(1.0), replace(loss(1.5), target=y + 1.0))
    assert not is_neighbour(loss(1.0), replace(loss(1.5), epsilon=0.3))
    assert not is_neighbour(loss(1.0), None)


def test_it_gives_up_when_asked_for_the_same_vertex():
    """It cannot come nearer to the optimum than it is."""
    _, loss, _ = problem("quantile", ties=False)
    simplex = simplex_of(loss(1.0))
    simplex.solve(None)
    with pytest.raises(SolverFailure, match="as near"):
        simplex.solve(None)


def test_where_it_gives_up_the_master_goes_on(monkeypatch):
    """A path is certified without it, from the same start."""
    H, loss, _ = problem("quantile", ties=False)
    first = OneNormMaster(loss(1.0))
    ColumnGeneration(first, FeaturePricer(H), tol=1e-8, columns_per_round=5).run()
    monkeypatch.setattr(primal_simplex, "STEPS_PER_VARIABLE", 0)
    second = OneNormMaster(loss(1.2))
    second.start_from(first.warm_start)
    assert isinstance(second._live, PrimalSimplex)
    assert second._live.columns.count == len(second.columns) > 0
    result = ColumnGeneration(second, FeaturePricer(H), tol=1e-8, columns_per_round=5).run()
    assert not isinstance(second._live, PrimalSimplex)
    alone = ColumnGeneration(OneNormMaster(loss(1.2)), FeaturePricer(H), tol=1e-8).run()
    assert result.gap <= 1e-8
    assert result.objective == pytest.approx(alone.objective, rel=3e-8)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("offset", ["free", "none"])
@pytest.mark.parametrize("ties", [False, True])
def test_a_tilt_is_a_cost_of_coefficients(name, offset, ties):
    """A tilted vertex has the optimum of the objective less the tilt, whatever it comes from.

    A copy that was tilted leaves the simplex that it is a copy of where it was.
    """
    H, loss_at, _ = problem(name, ties=ties)
    loss, rng = loss_at(0.3), np.random.default_rng(1)
    simplex = simplex_of(loss, H, DualForm(L1(), True, offset))
    before = simplex.solve(None)
    branch = simplex.branched()
    for _ in range(3):
        worth = rng.normal(size=H.shape[1])
        worth /= 4.0 * np.abs(worth).max()
        own = float(rng.normal()) if offset == "free" else 0.0
        branch.tilt(worth, own)
        point = branch.solve(None)
        a, b = cp.Variable(H.shape[1]), cp.Variable() if offset == "free" else 0.0
        error = loss.target - H @ a - b
        lost = cp.sum(
            cp.maximum(cp.multiply(loss.upper, error - loss.epsilon), 0.0)
            + cp.maximum(cp.multiply(loss.lower, error + loss.epsilon), 0.0)
        )
        optimum = cp.Problem(cp.Minimize(cp.norm1(a) + lost - worth @ a - own * b))
        value = np.abs(point.coef).sum() + loss.value(H @ point.coef + point.intercept)
        value -= worth @ point.coef + own * point.intercept
        assert value == pytest.approx(optimum.solve(solver="CLARABEL"), rel=1e-6, abs=1e-6)
    simplex.tilt(np.zeros(H.shape[1]), 0.0)
    after = simplex.solve(None)
    np.testing.assert_allclose(after.coef, before.coef, atol=1e-9)


def test_a_tilt_without_end_is_an_edge():
    """Where the tilt is steeper than the objective, the objective falls all along the edge."""
    H, loss_at, _ = problem("quantile", ties=False)
    loss = loss_at(0.3)
    simplex = simplex_of(loss, H)
    simplex.solve(None)
    worth = np.zeros(H.shape[1])
    worth[0] = 1.5 + loss.upper.sum() * np.abs(H).max()
    simplex.tilt(worth, 0.0)
    with pytest.raises(EndlessFailure, match="falls without end") as failure:
        simplex.solve(None)
    start, ray = failure.value.start, failure.value.ray
    values = []
    for step in (0.0, 10.0, 1000.0, 1e5):
        coef = start.coef + step * ray.coef
        intercept = start.intercept + step * ray.intercept
        np.testing.assert_allclose(H @ coef + intercept, start.output + step * ray.output)
        values.append(np.abs(coef).sum() + loss.value(H @ coef + intercept) - worth @ coef)
    assert np.all(np.diff(values) < 0)
