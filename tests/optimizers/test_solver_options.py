"""Options of a named solver: they reach it from every master, and wrong ones never pass."""

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column
from cgboost.losses import EpsilonInsensitive, Hinge, LogLoss, hinge
from cgboost.losses.dual.entropic import entropic_nu_hinge
from cgboost.losses.registry import bound_loss
from cgboost.masters import (
    BudgetMaster,
    ConvexMaster,
    EntropyMaster,
    LinearMaster,
    OneNormMaster,
    SupportVectorMaster,
    TwoNormMaster,
    solve_integer,
)
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.optimizers.solver_options import checked_options
from cgboost.penalties import L1
from cgboost.pricing import FeaturePricer
from solvers.backends.highs import HighsModel
from solvers.sessions.rebuilding import RebuildingSession

RNG = np.random.default_rng(0)
H = RNG.normal(size=(30, 6))
Y = np.sign(H[:, 0] + RNG.normal(size=30))
W = np.full(30, 0.3)
SCALING = {"simplex_scale_strategy": 4}

MASTERS = {
    "any": (lambda **own: SupportVectorMaster(Hinge().on(Y, W), L1(), **own), "highs"),
    "one": (lambda **own: OneNormMaster(hinge(Y, W), **own), "highs"),
    "ball": (lambda **own: BudgetMaster(hinge(Y, W), budget=2.0, **own), "highs"),
    "two": (lambda **own: TwoNormMaster(hinge(Y, W), **own), "clarabel"),
    "entropy": (
        lambda **own: EntropyMaster(
            entropic_nu_hinge(Y, np.full(30, 1 / 30), 0.5, eta=5.0, balanced=True), **own
        ),
        "clarabel",
    ),
    "smooth": (lambda **own: OneNormMaster(LogLoss().on(Y, W), **own), "clarabel"),
    "corrective": (
        lambda **own: CorrectiveMaster(bound_loss(EpsilonInsensitive(0.1), H[:, 0], W), **own),
        "highs",
    ),
}


@pytest.mark.parametrize("kind", MASTERS)
def test_options_reach_the_solver(kind, monkeypatch):
    """Every master hands them to the solver that is named, and has the optimum that it had."""
    make, solver = MASTERS[kind]
    seen = {}
    set_option, engine = HighsModel.set_option, RebuildingSession._ask

    def noting(self, name, value):
        seen[name] = value
        set_option(self, name, value)

    def asking(self, program, request):
        seen.update(request.options)
        return engine(self, program, request)

    monkeypatch.setattr(HighsModel, "set_option", noting)
    monkeypatch.setattr(RebuildingSession, "_ask", asking)
    monkeypatch.setattr("cgboost.optimizers.solver_options.check_options", lambda *_: None)
    options = SCALING if solver == "highs" else {"max_iter": 77}

    def run(**own):
        seen.clear()
        master = make(**own)
        return ColumnGeneration(master, FeaturePricer(H), tol=1e-6, max_rounds=30).run()

    plain = run(solver=solver)
    assert not options.items() <= seen.items()
    own = run(solver=solver, solver_options=options)
    assert options.items() <= seen.items()
    assert own.objective == pytest.approx(plain.objective, rel=1e-5, abs=1e-6)


def test_options_of_a_linear_master(monkeypatch):
    """Options change what the live model is opened with; a limit of no pivots ends the solve."""
    seen = {}
    set_option = HighsModel.set_option

    def noting(self, name, value):
        seen.setdefault(name, value)
        set_option(self, name, value)

    monkeypatch.setattr(HighsModel, "set_option", noting)
    master = LinearMaster(1, ">=", [1.0], solver="highs", solver_options=SCALING)
    master.add([Column(key="a", values=np.ones(1), cost=2.0)])
    assert master.solve().objective == pytest.approx(2.0)
    assert seen["simplex_scale_strategy"] == 4


@pytest.mark.parametrize(
    ("solver", "options"),
    [("highs", {"presolve": "off"}), ("clarabel", {"max_iter": 90}), ("SCS", {"alpha": 1.4})],
)
def test_options_of_a_convex_master(solver, options):
    """Solvers of ours and those of CVXPY take them; unknown ones are refused in their words."""
    loss = Hinge().on(Y, W)
    plain, own = (
        ColumnGeneration(ConvexMaster(loss, **named), FeaturePricer(H), tol=1e-4).run()
        for named in ({}, {"solver": solver, "solver_options": options})
    )
    assert own.objective == pytest.approx(plain.objective, rel=1e-3)
    with pytest.raises(ValueError, match=r"solver_options: .*nonsense"):
        ConvexMaster(loss, solver=solver, solver_options={"nonsense": 1})


def test_options_of_the_integer_program():
    """They reach branch and cut; unknown options are refused."""
    master = LinearMaster(3, ">=", 1.0, least_cost=1.0)
    pairs = [(0, 1), (1, 2), (0, 2)]
    master.add([Column(np.isin(np.arange(3), pair) * 1.0, pair, cost=1.0) for pair in pairs])
    result = ColumnGeneration(master, lambda duals: ([], 0.0)).run()
    found = solve_integer(master, result, solver_options={"mip_rel_gap": 0.0})
    assert found.objective == pytest.approx(2.0)
    with pytest.raises(ValueError, match="HiGHS rejects the option nonsense = 1"):
        solve_integer(master, result, solver_options={"nonsense": 1})


def test_no_options_are_none():
    """None and an empty dict go with any solver."""
    assert checked_options("auto", None) == checked_options("auto", {}) == {}
    assert checked_options("highs", SCALING) == SCALING


@pytest.mark.parametrize(
    ("solver", "options", "message"),
    [
        ("auto", SCALING, "belong to one solver, got solver='auto'.*solver='highs'"),
        ("highs", {"nonsense": 1}, "HiGHS rejects the option nonsense = 1"),
        ("highs", {"presolve": 3}, "HiGHS rejects the option presolve = 3"),
        ("clarabel", {"nonsense": 1}, "clarabel has no option 'nonsense'"),
        ("scipy", {"nonsense": 1}, "scipy rejects an option: .*nonsense"),
        ("scipy", {"presolve": "perhaps"}, "scipy rejects an option: .*perhaps"),
        ("highs", {"time_limit": 3.0}, "'time_limit', which would overrule .* set time_limit"),
        ("cvxpy:SCS", {"time_limit_secs": 3.0}, "'time_limit_secs'"),
        ("highs", [("a", 1)], "must be a dict of the solver's own options or None, got"),
        ("highs", {1: 2}, "must be a dict of the solver's own options or None, got"),
    ],
)
def test_wrong_options_are_refused(solver, options, message):
    """Before anything is solved, in the solver's words."""
    with pytest.raises(ValueError, match=message):
        checked_options(solver, options)
    with pytest.raises(ValueError, match=message):
        OneNormMaster(hinge(Y, W), solver=solver, solver_options=options)


def test_options_win_over_what_the_engine_sets():
    """A tolerance of the user's stands; the bound is below the objective all the same."""
    loose = {"tol_gap_rel": 1e-2, "tol_gap_abs": 1e-2, "tol_feas": 1e-2}
    master = TwoNormMaster(hinge(Y, W), solver="clarabel", solver_options=loose)
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-9, max_rounds=30).run()
    exact = ColumnGeneration(TwoNormMaster(hinge(Y, W)), FeaturePricer(H), tol=1e-9).run()
    assert result.bound <= exact.objective * (1 + 1e-9)
    assert result.objective >= exact.bound - 1e-9
