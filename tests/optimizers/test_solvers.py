"""Solvers behind masters: their failures, answered rightly, and options, which reach them."""

import warnings
from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration, LPBoostClassifier
from cgboost.exceptions import MasterError, SlowSolverWarning
from cgboost.generation.columns import Column
from cgboost.losses import EpsilonInsensitive, Hinge, LogLoss, hinge, nu_hinge
from cgboost.losses.dual.entropic import entropic_nu_hinge
from cgboost.losses.registry import loss_on_rows
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
from cgboost.optimizers.interior_point.interior_session import InteriorSession
from cgboost.optimizers.solver_options import advice, checked_options
from cgboost.penalties import L1
from cgboost.pricing import FeaturePricer
from solvers import (
    LimitError,
    OptionError,
    SolverError,
    SolverFailure,
    Status,
    UnsupportedProblemError,
)
from solvers.backends.highs import HighsModel
from solvers.sessions.rebuilding import RebuildingSession
from tests.cases import law
from tests.optimizers.cases import OPTIMIZERS, OptimizerCase
from tests.problems import columns_of, random_problem

RNG = np.random.default_rng(0)
H = RNG.normal(size=(30, 6))
Y = np.sign(H[:, 0] + RNG.normal(size=30))
W = np.full(30, 0.3)
SCALING = {"simplex_scale_strategy": 4}
LABELS = np.array([1.0, -1.0])

# ---------------------------------------------------------------------- failures

FAULTS: list[tuple[SolverError, str, bool]] = [
    (SolverFailure("it failed"), "^it failed; name another solver.*explain solvers", False),
    (LimitError("limit", status=Status.ITERATION_LIMIT), "^limit; name another solver", False),
    (LimitError("limit", status=Status.TIME_LIMIT), "^limit$", True),
    (OptionError("no such thing"), "^no such thing .more: cgboost", False),
    (UnsupportedProblemError("no such thing"), "^no such thing .more: cgboost", False),
]
"""What a solver raises, what a master makes of it, and whether that is the end of its time."""


@law(OPTIMIZERS)
def test_faults_of_each_kind_are_answered_rightly(case: OptimizerCase) -> None:
    """Numbers get advice, options and limits of time get none; the next solve is as ever."""
    formulation = case.takes[0]
    problem = random_problem(7)
    master = case.make(formulation=formulation, loss=problem.loss(formulation))
    master.add(columns_of(problem.H))
    for fault, words, timed_out in FAULTS:

        def failing(*_: Any, own: SolverError = fault, **__: Any) -> Any:
            raise own

        master._live.solve = failing
        with pytest.raises(MasterError, match=words) as caught:
            master.solve()
        assert caught.value.timed_out is timed_out
        assert caught.value.__cause__ is fault
        del master._live.solve
    optimum = problem.optimum(formulation)
    assert master.solve().objective == pytest.approx(optimum, rel=case.accuracy, abs=case.accuracy)


@pytest.mark.parametrize(
    ("cost", "largest", "words"),
    [
        (1.1e8, 1.0, "choose a smaller C, or a larger alpha: errors of a row cost up to 1.1e+08"),
        (1e8, 1.0, "name another solver"),
        (1.0, 1001.0, "scale the features or normalise the kernels: the largest value of a col"),
        (1.0, 1000.0, "name another solver"),
        (1.0, 0.0009, "scale the features"),
        (1.0, 0.001, "name another solver"),
        (1.0, 0.0, "name another solver"),
    ],
)
def test_advice_is_about_what_is_large(cost: float, largest: float, words: str) -> None:
    """Costs, then columns; those of ordinary size are not to be scaled, and ν has no C."""
    assert advice(hinge(LABELS, np.full(2, cost)), largest).startswith(words)
    own = nu_hinge(LABELS, np.full(2, 1e9), 0.5, balanced=True)
    assert advice(own, 1.0).startswith("name another solver")


def test_stumps_are_not_to_be_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that fails on columns of ±1 leads to no advice on features."""

    def fail(*arguments: Any, **options: Any) -> None:
        raise SolverError("it failed")

    monkeypatch.setattr(
        "cgboost.masters.support_vector.support_vector_master.RestrictedDual.solve", fail
    )
    with pytest.raises(MasterError, match="it failed; name another solver"):
        LPBoostClassifier(solver="highs").fit(H[:20], np.arange(20) % 2)


@pytest.mark.parametrize(("n_rows", "warns"), [(2000, True), (20, False)])
def test_a_backend_in_place_of_the_own_method_is_announced_where_it_costs(
    monkeypatch: pytest.MonkeyPatch, n_rows: int, warns: bool
) -> None:
    """The warning names both, and small problems, which take no time either way, give none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 60))
    labels = np.where(X[:, 0] + rng.normal(size=n_rows) > 0, 1.0, -1.0)
    master = OneNormMaster(hinge(labels, np.ones(n_rows)))
    master.add(columns_of(X))

    def failing(self: object, time_limit: float | None) -> object:
        raise SolverFailure("toy: no progress")

    monkeypatch.setattr(InteriorSession, "solve", failing)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        master.solve()
    messages = [str(w.message) for w in caught if w.category is SlowSolverWarning]
    assert len(messages) == warns
    for message in messages:
        assert "interior point method could not go on (toy: no progress)" in message
        assert "general solver of linear programs" in message


# ---------------------------------------------------------------------- options

ENTROPIC = entropic_nu_hinge(Y, np.full(30, 1 / 30), 0.5, eta=5.0, balanced=True)
MASTERS = {
    "any": (lambda **own: SupportVectorMaster(Hinge().on(Y, W), L1(), **own), "highs"),
    "one": (lambda **own: OneNormMaster(hinge(Y, W), **own), "highs"),
    "ball": (lambda **own: BudgetMaster(hinge(Y, W), budget=2.0, **own), "highs"),
    "two": (lambda **own: TwoNormMaster(hinge(Y, W), **own), "clarabel"),
    "entropy": (lambda **own: EntropyMaster(ENTROPIC, **own), "clarabel"),
    "smooth": (lambda **own: OneNormMaster(LogLoss().on(Y, W), **own), "clarabel"),
    "corrective": (
        lambda **own: CorrectiveMaster(loss_on_rows(EpsilonInsensitive(0.1), H[:, 0], W), **own),
        "highs",
    ),
}


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The options that solvers are given first, by name."""
    noted: dict[str, Any] = {}
    set_option, engine = HighsModel.set_option, RebuildingSession._ask

    def noting(self: Any, name: str, value: Any) -> None:
        noted.setdefault(name, value)
        set_option(self, name, value)

    def asking(self: Any, program: Any, request: Any) -> Any:
        noted.update(request.options)
        return engine(self, program, request)

    monkeypatch.setattr(HighsModel, "set_option", noting)
    monkeypatch.setattr(RebuildingSession, "_ask", asking)
    return noted


@pytest.mark.parametrize("kind", MASTERS)
def test_options_reach_the_solver(
    kind: str, seen: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every master hands them to the solver that is named, and has the optimum that it had."""
    make, solver = MASTERS[kind]
    monkeypatch.setattr("cgboost.optimizers.solver_options.check_options", lambda *_: None)
    options = SCALING if solver == "highs" else {"max_iter": 77}

    def run(**own: Any) -> Any:
        seen.clear()
        master = make(**own)
        return ColumnGeneration(master, FeaturePricer(H), tol=1e-6, max_rounds=30).run()

    plain = run(solver=solver)
    assert not options.items() <= seen.items()
    own = run(solver=solver, solver_options=options)
    assert options.items() <= seen.items()
    assert own.objective == pytest.approx(plain.objective, rel=1e-5, abs=1e-6)


def test_options_of_linear_masters_and_their_integer_programs(seen: dict[str, Any]) -> None:
    """They reach the live model and branch and cut; unknown options are refused."""
    master = LinearMaster(3, ">=", 1.0, least_cost=1.0, solver="highs", solver_options=SCALING)
    pairs = [(0, 1), (1, 2), (0, 2)]
    master.add([Column(np.isin(np.arange(3), pair) * 1.0, pair, cost=1.0) for pair in pairs])
    result = ColumnGeneration(master, lambda duals: ([], 0.0)).run()
    assert result.objective == pytest.approx(1.5)
    assert seen["simplex_scale_strategy"] == 4
    found = solve_integer(master, result, solver_options={"mip_rel_gap": 0.0})
    assert found.objective == pytest.approx(2.0)
    with pytest.raises(ValueError, match="HiGHS rejects the option nonsense = 1"):
        solve_integer(master, result, solver_options={"nonsense": 1})


@pytest.mark.parametrize(
    ("solver", "options"),
    [("highs", {"presolve": "off"}), ("clarabel", {"max_iter": 90}), ("SCS", {"alpha": 1.4})],
)
def test_options_of_a_convex_master(solver: str, options: dict[str, Any]) -> None:
    """Solvers of ours and those of CVXPY take them; unknown ones are refused in their words."""
    loss = Hinge().on(Y, W)
    plain, own = (
        ColumnGeneration(ConvexMaster(loss, **named), FeaturePricer(H), tol=1e-4).run()
        for named in ({}, {"solver": solver, "solver_options": options})
    )
    assert own.objective == pytest.approx(plain.objective, rel=1e-3)
    with pytest.raises(ValueError, match=r"solver_options: .*nonsense"):
        ConvexMaster(loss, solver=solver, solver_options={"nonsense": 1})


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
def test_wrong_options_are_refused(solver: str, options: Any, message: str) -> None:
    """Before anything is solved, in the solver's words; none, or an empty dict, go with any."""
    with pytest.raises(ValueError, match=message):
        checked_options(solver, options)
    with pytest.raises(ValueError, match=message):
        OneNormMaster(hinge(Y, W), solver=solver, solver_options=options)
    assert checked_options(solver, None) == checked_options(solver, {}) == {}
    assert checked_options("highs", SCALING) == SCALING


def test_options_win_over_what_the_engine_sets() -> None:
    """A tolerance of the user's stands; the bound is below the objective all the same."""
    loose = {"tol_gap_rel": 1e-2, "tol_gap_abs": 1e-2, "tol_feas": 1e-2}
    master = TwoNormMaster(hinge(Y, W), solver="clarabel", solver_options=loose)
    result = ColumnGeneration(master, FeaturePricer(H), tol=1e-9, max_rounds=30).run()
    exact = ColumnGeneration(TwoNormMaster(hinge(Y, W)), FeaturePricer(H), tol=1e-9).run()
    assert result.bound <= exact.objective * (1 + 1e-9)
    assert result.objective >= exact.bound - 1e-9
