"""Pricing of whole RKHSs and whole kernels: exact scores, their rounding, what makes columns."""

from dataclasses import fields

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from cgboost import RBF, ColumnGeneration, KernelLibrary, Linear, On, Polynomial, Precomputed
from cgboost.generation.columns import Combination
from cgboost.generation.protocols import MasterState
from cgboost.generation.spaces import SpaceState
from cgboost.kernels.kernel import Kernel
from cgboost.losses import Hinge
from cgboost.masters.rkhs.rkhs_master import RKHSMaster
from cgboost.parallel import ThreadExecutor
from cgboost.penalties import L2, RKHS, GroupNorm
from cgboost.pricing import KernelPool
from cgboost.pricing.rkhs import summed
from cgboost.pricing.rkhs.rkhs_pricer import CentresOfKernel, RKHSPricer, select_centres
from cgboost.pricing.rkhs.summed import SummedKernel
from cgboost.pricing.rkhs.whole_kernel_pricer import (
    QuadraticForms,
    WholeKernelPool,
    WholeKernelPricer,
)
from tests.pricing.cases import state_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=60) > 0, 1.0, -1.0)
KERNELS: dict[str, Kernel] = {
    "rbf": RBF(0.5),
    "poly": Polynomial(2, coef0=1.0),
    "part": On(RBF(1.0), [0]),
}
WEIGHTS = {"rbf": 2.0, "part": 0.5}


def gram(name: str, Z: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """K_p of rows with centres, over w_p."""
    part, others = (slice(0, 1), slice(None))
    columns = part if name == "part" else others
    kernel = RBF(1.0) if name == "part" else KERNELS[name]
    return np.asarray(kernel(Z[:, columns], centres[:, columns])) / WEIGHTS.get(name, 1.0)


def summed_gram(Z: np.ndarray = X, centres: np.ndarray = X) -> np.ndarray:
    """Σ K_p/w_p of rows with centres, by default the training rows."""
    return np.sum([gram(name, Z, centres) for name in KERNELS], axis=0)


def master_and_pricer(
    rows: np.ndarray = X, tol: float = 1e-6, **options: object
) -> tuple[RKHSMaster, RKHSPricer]:
    """A hinge over three kernels."""
    penalty = RKHS(WEIGHTS)
    pool = KernelPool(KernelLibrary(KERNELS), rows, **options)  # type: ignore[arg-type]
    return RKHSMaster(Hinge().on(Y, np.ones(60)), penalty), RKHSPricer(
        pool, penalty.weight, tol=tol
    )


def test_a_pass_without_time_certifies_nothing() -> None:
    """It ends after a block, without columns; the next one is as of a new pricer."""
    master, timed = master_and_pricer(cache_size=0.0, block_size=7)
    state, (_, other) = master.solve(), master_and_pricer(cache_size=0.0, block_size=7)
    expected, timed.seconds_left = other.price(state, 3), 0.0
    found = timed.price(state, 3)
    assert (found.exact, len(found.columns)) == (False, 0)
    timed.seconds_left = None
    found = timed.price(state, 3)
    assert [column.key for column in found.columns] == [column.key for column in expected.columns]
    assert found.exact
    assert found.max_excess == pytest.approx(expected.max_excess)


@pytest.mark.parametrize("options", [{}, {"cache_size": 0.0, "block_size": 7}], ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_excess_covers_all_functions(dtype: type, options: dict[str, object]) -> None:
    """The summed excess is ½Σ rᵀK_p r/w_p over the scale: never less, hardly more.

    No column comes twice, and float32 rows have columns of all digits; without room for columns
    there is the certificate alone.
    """
    master, pricer = master_and_pricer(X.astype(dtype), **options)
    rows = X.astype(dtype).astype(np.float64)
    wide = summed_gram(rows, rows)
    seen: set[object] = set()
    for _ in range(4):
        state = master.solve()
        priced, alone = pricer.price(state, 3), pricer.price(state, 0)
        r = state.pseudo_response
        energy = 0.5 * r @ wide @ r / state.gap_scale
        assert priced.exact
        assert energy * (1 - 1e-12) <= priced.total_excess <= energy * 1.25
        assert priced.max_excess <= priced.total_excess
        assert priced.n_evaluated == 180
        assert alone.exact
        assert not alone.columns
        assert energy * (1 - 1e-12) <= alone.total_excess <= energy * 1.25
        assert 0 < len(priced.columns) <= 3
        assert all(column.values.dtype == np.float64 for column in priced.columns)
        assert not seen & {column.key for column in priced.columns}
        seen |= {column.key for column in priced.columns}
        master.add(priced.columns)


def test_nothing_is_offered_once_the_span_is_whole() -> None:
    """A linear kernel has three columns; then the search is exact and empty."""
    pool = KernelPool(KernelLibrary({"linear": Linear()}), X)
    master = RKHSMaster(Hinge().on(Y, np.ones(60)))
    pricer = RKHSPricer(pool)
    master.add(pricer.price(master.solve(), 60).columns)
    assert len(master.solve().bases["linear"]) == 3
    priced = pricer.price(master.solve(), 10)
    assert not priced.columns
    assert master.bound(master.solve(), priced) == pytest.approx(master.solve().objective)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_gap_closes_to_rounding(dtype: type) -> None:
    """Errors of float32 scores do not keep a gap open: the pool goes on in float64."""
    master, pricer = master_and_pricer(X.astype(dtype), tol=1e-10)
    result = ColumnGeneration(master, pricer, tol=1e-10, columns_per_round=6).run()
    assert result.gap <= 1e-10
    bounds = result.history["bound"]
    assert np.nanmax(bounds) <= result.objective * (1 + 1e-12)


def test_rounding_of_large_exponents_hides_no_gap() -> None:
    """Errors of γ‖x − z‖² grow with γ: near the end scores have more digits, if there are such."""
    master = RKHSMaster(Hinge().on(Y, np.ones(60)))
    pool = KernelPool(KernelLibrary({"narrow": RBF(1e8)}), X)
    result = ColumnGeneration(master, RKHSPricer(pool, tol=1e-6), tol=1e-6).run()
    can = pool.extended_scores(Y) is not None
    assert result.bound is not None
    assert result.bound <= result.objective * (1 + 1e-12)
    assert result.gap <= 1e-6 or not can


def test_zero_kernels_and_equal_ones() -> None:
    """A kernel that is 0 has no column; a kernel twice counts twice, as one of half the weight."""
    loss = Hinge().on(Y, np.ones(60))
    objectives = []
    for kernels, weights in (
        ({"a": RBF(0.5), "b": RBF(0.5), "zero": 0.0 * RBF(0.5)}, None),
        ({"a": RBF(0.5)}, {"a": 0.5}),
    ):
        penalty = RKHS(weights)
        pricer = RKHSPricer(KernelPool(KernelLibrary(kernels), X), penalty.weight, tol=1e-9)
        result = ColumnGeneration(
            RKHSMaster(loss, penalty), pricer, tol=1e-9, columns_per_round=8
        ).run()
        assert all(column.stratum != "zero" for column in result.columns)
        objectives.append(result.objective)
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-7)


def test_it_needs_a_master_of_functions() -> None:
    """The state of another master says nothing of spans."""
    state = state_of(np.zeros(60), L2().entry(two_sided=True))
    with pytest.raises(TypeError, match="RKHSMaster"):
        RKHSPricer(KernelPool(KernelLibrary(KERNELS), X)).price(state, 1)


# ---------------------------------------------------------------------------- quadratic forms


@pytest.mark.parametrize(
    ("count", "cache_size"),
    [(60, 0.0), (60, 100.0), *(pytest.param(300, c, marks=pytest.mark.slow) for c in (0.0, 100.0))],
)
def test_forms_are_those_of_the_matrices(count: int, cache_size: float) -> None:
    """rᵀK_p r with and without memory, whether few, most or all r are 0, within the stated error.

    The kernels may be divided among any number of tasks.
    """
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(count, 4))
    kernels = {"linear": Linear(), "cubic": Polynomial(3), "rbf": RBF(0.3), "one": On(RBF(0.7), 1)}
    library, own = KernelLibrary(kernels), rows @ rows.T
    grams = [own, own**3, rbf_kernel(rows, gamma=0.3), rbf_kernel(rows[:, [1]], gamma=0.7)]
    for executor in (None, ThreadExecutor(3)):
        forms = QuadraticForms(KernelPool(library, rows, executor=executor), cache_size)
        assert (forms.grams is None) == (cache_size == 0)
        for share in (0.2, 0.9, 0.0):
            response = rng.normal(size=count) * (rng.random(count) < share)
            values, errors = forms.values(response)
            exact = np.array([response @ gram @ response for gram in grams])
            assert values == pytest.approx(exact, rel=1e-11)
            assert (np.abs(values - exact) <= errors + 1e-12 * np.abs(exact)).all()
            assert share or not errors.any()
        for stratum, gram in enumerate(grams):
            assert np.asarray(forms.gram(stratum)) == pytest.approx(gram, rel=1e-11, abs=1e-11)


# ---------------------------------------------------------------------------- choice of centres


def candidates(scale: float = 1.0) -> tuple[np.ndarray, np.ndarray, CentresOfKernel]:
    """Of one kernel, before any column: g = K r and d = K(x, x)."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 2))
    own, r = scale * RBF(0.5)(rows, rows), rng.normal(size=40)
    return own, own @ r, CentresOfKernel(own @ r, np.diag(own).copy(), own.__getitem__)


def test_each_choice_gains_most_after_those_before() -> None:
    """As by projecting on the span of the chosen anew each time."""
    K, g, own = candidates()
    chosen = [place for _, place in select_centres([own], 8)]
    for count in range(8):
        held = chosen[:count]
        inverse = np.linalg.pinv(K[np.ix_(held, held)])
        residual = g - K[:, held] @ inverse @ g[held]
        length = np.diag(K) - np.einsum("ij,jk,ik->i", K[:, held], inverse, K[:, held])
        length[held] = np.inf
        gains = residual**2 / length
        assert gains[chosen[count]] == pytest.approx(gains.max())


def test_kernels_compete() -> None:
    """The kernel of the larger gains is served first, and the choice ends where nothing is left.

    What the others leave nothing of is no column: the same centre twice is taken once.
    """
    first = select_centres([candidates(1e-6)[2], candidates()[2]], 3)
    assert {kernel for kernel, _ in first} == {1}
    assert select_centres([], 3) == []
    same = CentresOfKernel(np.ones(3), np.ones(3), lambda place: np.ones(3))
    assert len(select_centres([same], 3)) == 1


# ---------------------------------------------------------------------------- the sum of kernels


def sum_of(rows: np.ndarray = X, kernels: dict[str, Kernel] = KERNELS) -> SummedKernel:
    """The sum of three kernels."""
    return SummedKernel(KernelPool(KernelLibrary(kernels), rows), RKHS(WEIGHTS).weight)


def test_scores_and_values_are_those_of_the_summed_matrix() -> None:
    """S r within the stated errors, S of some rows, and its diagonal."""
    own, response = sum_of(), np.random.default_rng(1).normal(size=60)
    scores, errors = own.all_scores(response)
    assert scores.shape == errors.shape == (1, 60)
    assert (np.abs(scores[0] - summed_gram() @ response) <= errors[0] + 1e-12).all()
    assert own.diagonal(0) == pytest.approx(np.diag(summed_gram()))
    rows = np.array([3, 7, 11])
    values = own.values_on(np.zeros(2, dtype=np.intp), rows[:2], rows)
    assert values == pytest.approx(summed_gram()[np.ix_(rows[:2], rows)])


def test_scores_with_more_digits_are_those_of_kernels_that_have_them() -> None:
    """They agree with the others within the errors of both; with a kernel on columns: none."""
    products = {"rbf": RBF(0.5), "poly": Polynomial(2, coef0=1.0)}
    own, response = sum_of(kernels=products), np.random.default_rng(1).normal(size=60)
    scores, errors = own.all_scores(response)
    found = own.extended_scores(response)
    assert found is None or (np.abs(scores - found[0]) <= errors + found[1]).all()
    assert found is None or (found[1] < errors).all()
    assert sum_of().extended_scores(response) is None


@pytest.mark.parametrize("at_once", [1, 10**6])
def test_columns_are_sums_of_functions(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values on the training rows and on new ones are Σ K_p/w_p, and so are those of the terms."""
    monkeypatch.setattr(summed, "ADDED_AT_ONCE", at_once)
    own, new = sum_of(), np.random.default_rng(2).normal(size=(8, 3))
    columns = own.columns([0, 0], [4, 9], wide=True)
    functions = [column.hypothesis for column in columns]
    expected = summed_gram(new)[:, [4, 9]]
    assert own.columns([0], [4])[0].key == columns[0].key != columns[1].key
    assert functions[0].family.outputs(new, functions) == pytest.approx(expected)
    for place, (row, column) in enumerate(zip([4, 9], columns, strict=True)):
        assert column.values.dtype == np.float64
        assert column.values == pytest.approx(summed_gram()[:, row])
        assert isinstance(column.hypothesis, Combination)
        terms, weights, names = column.hypothesis.terms()
        assert names == ["rbf", "poly", "part"]
        values = [term.family.outputs(new, [term])[:, 0] for term in terms]
        assert weights @ np.array(values) == pytest.approx(expected[:, place])


def test_given_values_in_float32_stay_narrow() -> None:
    """A master must know that a sum has no more digits than its least exact kernel."""
    matrix = RBF(0.5)(X, X).astype(np.float32)
    narrow = SummedKernel(
        KernelPool(KernelLibrary({"a": Precomputed(), "b": Precomputed()}), matrix),
        RKHS(WEIGHTS).weight,
    )
    assert narrow.is_narrow(0)
    assert narrow.columns([0], [5], wide=True)[0].values.dtype == np.float32
    assert not sum_of(X.astype(np.float32)).is_narrow(0)
    assert sum_of(X.astype(np.float32)).columns([0], [5], wide=True)[0].values.dtype == np.float64


def test_the_optimum_is_that_of_a_column_for_each_kernel_and_row() -> None:
    """Both ways reach one objective and each other's bound, the sum with fewer columns."""
    loss, found = Hinge().on(Y, np.ones(60)), []
    separate = KernelPool(KernelLibrary(KERNELS), X)
    for master, pricer in (
        (RKHSMaster(loss, RKHS(WEIGHTS)), RKHSPricer(separate, RKHS(WEIGHTS).weight, tol=1e-9)),
        (RKHSMaster(loss, RKHS(WEIGHTS)), RKHSPricer(sum_of(), tol=1e-9)),
    ):
        found.append(ColumnGeneration(master, pricer, tol=1e-9, columns_per_round=5).run())
    each, together = found
    assert together.objective == pytest.approx(each.objective, rel=1e-8)
    assert together.bound is not None
    assert each.bound is not None
    slack = 1e-9 * each.objective
    assert max(each.bound, together.bound) <= min(each.objective, together.objective) + slack
    assert len(together.columns) < len(each.columns)


WHOLE = KernelLibrary({"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF(0.3)})
PLAIN = GroupNorm(standardize=False)


def state_at(response: np.ndarray, penalty: GroupNorm) -> MasterState:
    """What a master without columns would say."""
    return state_of(response, penalty.entry(two_sided=True))


def test_scores_are_the_best_of_the_unit_ball() -> None:
    """The column of a kernel scores √(rᵀKr)/w, and no function of its norm scores more."""
    rng = np.random.default_rng(0)
    X, response = rng.normal(size=(40, 3)), rng.normal(size=40)
    penalty = GroupNorm({"quadratic": 3.0}, standardize=False)
    pricer = WholeKernelPricer(WholeKernelPool(KernelPool(WHOLE, X), penalty, 100.0))
    priced = pricer.price(state_at(response, penalty), 3)
    assert priced.exact
    assert priced.n_evaluated == 3
    scores = [float(column.values @ response) for column in priced.columns]
    assert scores == sorted(scores, reverse=True)
    assert priced.max_excess == pytest.approx(max(scores) - 1.0)
    for column, score in zip(priced.columns, scores, strict=True):
        weight = penalty.weight(column.stratum)
        gram = np.asarray(column.space.gram)
        for _ in range(50):
            beta = rng.normal(size=40)
            norm = weight * np.sqrt(beta @ gram @ beta)
            assert (gram @ beta) @ response / norm <= score * (1 + 1e-12)


def test_columns_are_functions_and_come_once() -> None:
    """Values on the training rows are those of the expansion, and of its terms.

    Kernels that are in the master keep their excess, and leave the offers to others.
    """
    rng = np.random.default_rng(1)
    X, response = rng.normal(size=(30, 3)), rng.normal(size=30)
    pool = WholeKernelPool(KernelPool(WHOLE, X), PLAIN, 100.0)
    for column in WholeKernelPricer(pool).price(state_at(9 * response, PLAIN), 3).columns:
        hypothesis = column.hypothesis
        assert hypothesis is not None
        assert hypothesis.family.outputs(X, [hypothesis])[:, 0] == pytest.approx(column.values)
        terms, weights, names = hypothesis.terms()
        assert set(names) == {column.stratum}
        values = terms[0].family.outputs(X, terms) @ weights
        assert values == pytest.approx(column.values)
    rng = np.random.default_rng(2)
    X, response = rng.normal(size=(30, 3)), 5 * rng.normal(size=30)
    pricer = WholeKernelPricer(WholeKernelPool(KernelPool(WHOLE, X), PLAIN, 100.0))
    state = state_at(response, PLAIN)
    first = pricer.price(state, 1)
    own = {each.name: getattr(state, each.name) for each in fields(state)}
    holding = SpaceState(**own | {"held": frozenset({first.columns[0].stratum})})
    second = pricer.price(holding, 3)
    assert first.columns[0].stratum not in {column.stratum for column in second.columns}
    assert second.max_excess == first.max_excess


def test_weights_are_standard_deviations_in_the_spaces_of_the_kernels() -> None:
    """w_p is that of φ_p(x), times the weight by name; a constant kernel has the size of a row."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 3)) + 2.0
    library = KernelLibrary(
        {
            "linear": Linear(),
            "large": 100.0 * Polynomial(1, coef0=7.0),
            "constant": lambda A, B: np.full((len(A), len(B)), 4.0),
            "zero": lambda A, B: np.zeros((len(A), len(B))),
        }
    )
    pool = WholeKernelPool(KernelPool(library, X), GroupNorm({"linear": 3.0}), 100.0)
    size = float(np.sqrt(X.var(axis=0).sum()))
    assert pool.weights == pytest.approx([3 * size, 10 * size, 2.0, 1.0])
