"""The pricer of latent factors against brute force, and what it says where it finds nothing."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import null_space

from cgboost import ColumnGeneration, Linear
from cgboost.generation.history import StopReason
from cgboost.generation.protocols import MasterState, Priced
from cgboost.losses import LogLoss, SquaredError
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.masters.stagewise.stagewise import DescentEntry, StagewiseMaster
from cgboost.pricing.latent import KernelSpace, LinearSpace, Space
from cgboost.pricing.latent.pricer import LatentFactorPricer
from tests.pricing.cases import state_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 6)) + 2.0
ONES = np.ones(30)
CENTRED = X - X.mean(axis=0)


def states(pricer: LatentFactorPricer, responses: np.ndarray) -> tuple[MasterState, list[Priced]]:
    """Price for one response after another, every factor going into the master."""
    state = state_of(responses[0], DescentEntry(1.0))
    found = []
    for response in responses:
        state = replace(state, pseudo_response=response)
        found.append(pricer.price(state, 1))
        state = replace(state, columns=(*state.columns, *found[-1].columns))
    return state, found


def test_no_factor_of_the_same_length_has_a_better_score() -> None:
    """Among X̃w with ‖w‖ = 1 that are orthogonal to those before, the one found is the best."""
    pricer, responses = LatentFactorPricer(LinearSpace(X, ONES)), RNG.normal(size=(4, 30))
    state, found = states(pricer, responses)
    T = np.column_stack([column.values for column in state.columns])
    for i, (response, priced) in enumerate(zip(responses, found, strict=True)):
        Z = null_space(T[:, :i].T @ CENTRED) if i else np.eye(6)
        W = Z @ RNG.normal(size=(Z.shape[1], 500))
        ways = CENTRED @ (W / np.linalg.norm(W, axis=0))
        deflated = CENTRED - T[:, :i] @ (T[:, :i].T @ CENTRED)
        w = deflated.T @ response
        best = response @ deflated @ w / np.linalg.norm(w)
        assert best >= (response @ ways).max()
        t = priced.columns[0].values
        np.testing.assert_allclose(t, deflated @ w / np.linalg.norm(deflated @ w), atol=1e-10)
        assert priced.exact
        assert priced.max_excess == priced.total_excess == pytest.approx(response @ t)


def test_without_deflation_factors_are_the_plain_gradients() -> None:
    """T ∝ X̃X̃ᵀu, of length 1."""
    pricer = LatentFactorPricer(LinearSpace(X, ONES), deflate=False)
    responses = RNG.normal(size=(3, 30))
    for response, priced in zip(responses, states(pricer, responses)[1], strict=True):
        t = CENTRED @ (CENTRED.T @ response)
        np.testing.assert_allclose(priced.columns[0].values, t / np.linalg.norm(t), atol=1e-12)


def test_keys_number_the_factors_and_hypotheses_are_the_columns() -> None:
    """Every column is new, and its hypothesis has its values on the training rows."""
    pricer = LatentFactorPricer(LinearSpace(X, ONES))
    state, _ = states(pricer, RNG.normal(size=(3, 30)))
    assert [column.key for column in state.columns] == [("factor", i) for i in range(3)]
    for column in state.columns:
        values = column.hypothesis.family.outputs(X, [column.hypothesis])[:, 0]
        np.testing.assert_allclose(values, column.values, atol=1e-12)


def test_a_limit_of_none_only_proves() -> None:
    """No column is offered, and nothing is put into the family."""
    pricer = LatentFactorPricer(LinearSpace(X, ONES))
    priced = pricer.price(state_of(RNG.normal(size=30), DescentEntry(1.0)), 0)
    assert priced.exact
    assert priced.max_excess > 0
    assert not priced.columns
    assert len(pricer.family.weights) == 0


def spaces(features: np.ndarray) -> list[Space]:
    """The same rows as features, and as a kernel."""
    ones = np.ones(len(features))
    return [
        LinearSpace(features, ones),
        KernelSpace(features, Linear(), ones, name="linear"),
    ]


@pytest.mark.parametrize("kernel", [0, 1], ids=["linear", "kernel"])
def test_exhausted_data_are_told_from_an_optimum(kernel: int) -> None:
    """Nothing is left in all cases; with uᵀT = 0 and uᵀe = 0 a linear model is optimal.

    Of a kernel, functions of 1e-8 of the size of others are rounding, and nothing is proved.
    """
    low_rank = X[:, :2] @ RNG.normal(size=(2, 5))
    T = np.linalg.qr(np.column_stack([ONES, low_rank - low_rank.mean(axis=0)]))[0][:, :3]
    away = RNG.normal(size=30)
    away -= T @ (T.T @ away)
    endings = {}
    for name, last in (("optimal", away), ("slope", away + T[:, 1]), ("offset", away + T[:, 0])):
        pricer = LatentFactorPricer(spaces(low_rank)[kernel])
        responses = np.vstack([RNG.normal(size=(2, 30)), last])
        found = states(pricer, responses)[1]
        assert [len(priced.columns) for priced in found] == [1, 1, 0]
        endings[name] = (found[-1].exhausted, found[-1].max_excess)
    exhausted, excess = endings["optimal"]
    assert (exhausted, excess) == (False, 0.0) if kernel == 0 else exhausted
    assert endings["slope"][0]
    assert endings["offset"][0]


@pytest.mark.parametrize("kernel", [0, 1], ids=["linear", "kernel"])
def test_no_response_or_no_data_is_an_optimum(kernel: int) -> None:
    """U = 0 at once; constant features have nothing to offer; with a kernel that proves nothing."""
    pricer = LatentFactorPricer(spaces(X)[kernel])
    assert pricer.price(state_of(np.zeros(30), DescentEntry(1.0)), 1).max_excess == 0.0
    constant = LatentFactorPricer(spaces(np.full((30, 3), 7.0))[kernel])
    u = RNG.normal(size=30)
    priced = constant.price(state_of(u - u.mean(), DescentEntry(1.0)), 1)
    assert not priced.columns
    assert priced.max_excess == 0.0 if kernel == 0 else priced.exhausted


@pytest.mark.parametrize("kernel", [0, 1], ids=["linear", "kernel"])
def test_in_the_loop_runs_end_with_the_rank(kernel: int) -> None:
    """Least squares: optimal. One line search a factor of the log-loss, or a kernel: exhausted."""
    labels = np.where(RNG.uniform(size=30) > 0.5, 1.0, -1.0)
    ends = {}
    for name, master in (
        ("squares", StagewiseMaster(SquaredError().on(labels, ONES), start="constant")),
        ("steps", StagewiseMaster(LogLoss().on(labels, ONES), start="constant")),
        ("refits", CorrectiveMaster(LogLoss().on(labels, ONES), offset="free")),
    ):
        pricer = LatentFactorPricer(spaces(X)[kernel])
        result = ColumnGeneration(master, pricer, tol=0.0, callbacks=[pricer.note]).run()
        assert len(result.columns) == pricer.basis.count == 6
        ends[name] = result.stop_reason
    best = StopReason.EXHAUSTED if kernel else StopReason.OPTIMAL
    assert ends == {"squares": best, "steps": StopReason.EXHAUSTED, "refits": best}
