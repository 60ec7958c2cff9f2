"""Polished centres in stages, and the pricer of them."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from cgboost import RBF, KernelLibrary, Laplacian, Linear, Polynomial, Precomputed
from cgboost.exceptions import KernelError
from cgboost.kernels import Normalized
from cgboost.losses import Hinge, LogLoss, SquaredError, nu_hinge
from cgboost.masters.rkhs.rkhs_master import RKHSMaster, StagedMaster
from cgboost.pricing import KernelPool
from cgboost.pricing.centres.free_centre_pricer import (
    FreeCentrePricer,
    check_gradients,
    exact_values,
    narrowed,
)
from cgboost.pricing.centres.polishing import Polished, polish, polished_stages, stage_sizes
from cgboost.pricing.centres.projection import Projection
from cgboost.pricing.centres.smoothing import smoothed
from cgboost.pricing.rkhs.rkhs_pricer import RKHSPricer
from cgboost.studies.datasets import load_digits

DIGITS, LABELS = load_digits()
X, Y = DIGITS[:300], np.where(LABELS[:300] % 2, 1.0, -1.0)
LOSS = Hinge().dual_box(Y, np.full(300, 3.0))


def parts(X: Any = X, n_centres: int = 40, loss: Any = LOSS, **kernels: Any) -> tuple[Any, Any]:
    """A master of stages and a pricer."""
    pool = KernelPool(KernelLibrary(kernels or {"rbf": RBF(0.1)}), X)
    pricer = FreeCentrePricer(
        pool,
        RKHSPricer(pool),
        loss,
        n_centres,
        weight=lambda name: 1.0,
        offset="free",
        random=np.random.RandomState(0),
    )
    return StagedMaster(lambda: RKHSMaster(loss)), pricer


def test_stages_come_one_after_the_other() -> None:
    """Each call has all columns of a stage, an exact bound, and centres that are no rows."""
    master, pricer = parts()
    objectives = []
    for size in (20, 40):
        state = master.solve()
        found = pricer.price(state, 1)
        assert (found.replaces, found.exact, len(found.columns)) == (True, True, size)
        assert all(column.hypothesis.row == -1 for column in found.columns)
        assert len({column.key for column in found.columns}) == size
        for column in found.columns:
            values = column.hypothesis.family.outputs(X, [column.hypothesis])[:, 0]
            np.testing.assert_allclose(column.values, values, atol=1e-12)
        master.replace(found.columns)
        objectives.append(master.solve().objective)
    assert objectives[1] < objectives[0]
    after = pricer.price(master.solve(), 3)
    assert not after.replaces
    assert [column.hypothesis.row >= 0 for column in after.columns] == [True] * 3


def test_after_the_stages_the_bound_is_sharper() -> None:
    """An ascent over the rows, once, finds a better pseudo-response than the master's."""
    master, pricer = parts(n_centres=10)
    master.replace(pricer.price(master.solve(), 1).columns)
    state = master.solve()
    plain = RKHSPricer(pricer.pool).price(state, 0)
    sharp = pricer.price(state, 1)
    assert sharp.exact
    assert sharp.response is not None
    at = replace(state, pseudo_response=sharp.response)
    assert master.bound(state, plain) < 0.99 * master.bound(at, sharp) < state.objective
    assert pricer.price(state, 1).response is None


def test_when_there_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """``limit=0`` is a pass over the rows, and polishes nothing.

    With many rows stages are not exact, and what follows them is.
    """
    master, pricer = parts(n_centres=10)
    found = pricer.price(master.solve(), 0)
    assert found.exact
    assert not found.replaces
    assert not found.columns
    monkeypatch.setattr("cgboost.pricing.centres.free_centre_pricer.CERTIFIED_ROWS", 100)
    found = pricer.price(master.solve(), 1)
    assert not found.exact
    master.replace(found.columns)
    assert pricer.price(master.solve(), 1).exact


def test_it_goes_on_from_the_centres_in_the_master() -> None:
    """A warm start is polished again, as one stage, and no worse than before.

    With no time left a stage is as it started.
    """
    master, pricer = parts(n_centres=20)
    master.replace(pricer.price(master.solve(), 1).columns)
    before = master.solve()
    again, other = parts(n_centres=20)
    again.start_from(master.warm_start)
    better = other.price(again.solve(), 1)
    assert len(better.columns) == 20
    again.replace(better.columns)
    assert again.solve().objective <= before.objective * 1.01
    master, pricer = parts()
    pricer.seconds_left = 0.0
    found = pricer.price(master.solve(), 1)
    assert len(found.columns) == 20
    assert found.n_evaluated <= 3 * 20 + 300


def test_products_are_made_in_float32_where_that_is_enough() -> None:
    """Not for rows far from the origin, nor for values that overflow; columns are in float64."""
    assert narrowed([RBF(0.1), Normalized(Polynomial(5))], X).dtype == np.float32
    assert narrowed([RBF(0.1)], X + 1e5).dtype == np.float64
    assert narrowed([Polynomial(30)], X * 100).dtype == np.float64
    narrow, Z = X.astype(np.float32), X[:3].astype(np.float32) + 0.5
    assert narrowed([RBF(0.1)], narrow) is narrow
    expected = RBF(0.1)(narrow.astype(np.float64), Z.astype(np.float64)).T
    np.testing.assert_allclose(exact_values("rbf", RBF(0.1), narrow, Z), expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("kernel", "rows", "words"),
    [
        (Laplacian(0.1), X, "no gradient by its centre"),
        (Precomputed("given", np.eye(300)), X, "no gradient by its centre"),
        (Linear(), sparse.csr_array(X), r"needs rows of dense numbers.*centers='rows'"),
        (Linear(), X.astype(object), r"needs rows of dense numbers.*centers='rows'"),
    ],
    ids=["Laplacian", "given", "sparse", "objects"],
)
def test_what_has_no_gradient_is_refused(kernel: Any, rows: Any, words: str) -> None:
    """Before anything is computed; the error says what X is, and what to do."""
    with pytest.raises(KernelError, match=words):
        check_gradients([kernel], rows)


def test_a_margin_of_its_own_is_that_of_the_model_so_far() -> None:
    """With nu the second stage has the centres of the first, moved for the margin of its model."""
    master, pricer = parts(loss=nu_hinge(Y, np.ones(300), 0.2, balanced=True))
    sizes, objectives = [], []
    for _ in range(3):
        state = master.solve()
        objectives.append(state.objective)
        priced = pricer.price(state, 10)
        sizes.append(len(priced.columns))
        master.replace(priced.columns)
    assert sizes[0] == sizes[1] < sizes[2]
    assert objectives[0] > objectives[1] > objectives[2]


# ---------------------------------------------------------------------------- polishing

KERNEL = Normalized(Polynomial(4))


def digits(n_rows: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Odd and even digits of 8×8 pixels."""
    return DIGITS[:n_rows], np.where(LABELS[:n_rows] % 2, 1.0, -1.0)


def problem(loss=None, kernels=(KERNEL,), n_rows: int = 600) -> Projection:
    """Variable projection on digits."""
    X, y = digits(n_rows)
    bound = Hinge().dual_box(y, np.full(n_rows, 3.0)) if loss is None else loss(y)
    return Projection(kernels, X, np.ones(len(kernels)), smoothed(bound))


def stages(projection: Projection, sizes: list[int], seed: int = 0) -> list[Polished]:
    """All stages."""
    return list(polished_stages(projection, sizes, random=np.random.RandomState(seed)))


def test_sizes_double_from_stage_to_stage() -> None:
    """At most four stages, the first of twenty centres at least, the last of all."""
    assert stage_sizes(200) == [25, 50, 100, 200]
    assert stage_sizes(1000) == [125, 250, 500, 1000]
    assert stage_sizes(50) == [25, 50]
    assert stage_sizes(7) == [7]


def test_few_polished_centres_do_what_many_rows_do() -> None:
    """Ten centres that are no rows reach a lower objective than forty means, on unseen digits too.

    The objective falls from stage to stage, and is never below the SVM's optimum over all rows.
    """
    projection, sizes = problem(), [10, 20, 40]
    found = stages(projection, sizes)
    assert [len(own.centres[0]) for own in found] == sizes
    values = [own.best.objective for own in found]
    assert all(later < earlier for earlier, later in pairwise(values))
    machine = projection.best([projection.X], decrease=1e-10)
    assert values[-1] >= machine.objective

    X, y = digits()
    groups = [KMeans(20, n_init=1, random_state=0).fit(X[y == s]) for s in (-1, 1)]
    means = projection.best([np.vstack([own.cluster_centers_ for own in groups])])
    assert values[0] < means.objective

    rest, truth = DIGITS[600:], np.where(LABELS[600:] % 2, 1.0, -1.0)
    errors = [
        np.mean(np.sign(KERNEL(rest, Z) @ best.coef + best.intercept) != truth)
        for Z, best in [(found[-1].centres[0], found[-1].best), (projection.X, machine)]
    ]
    assert errors[0] <= errors[1] + 0.01


@pytest.mark.parametrize(
    "loss",
    [
        lambda y: LogLoss().on(y, np.full(len(y), 3.0)),
        lambda y: SquaredError().dual_box(y, np.full(len(y), 3.0)),
    ],
)
def test_smooth_losses_and_several_kernels_are_polished(loss) -> None:
    """Every kernel has its share of the centres, and polishing lowers the objective."""
    projection = problem(loss, kernels=(KERNEL, RBF(0.1)), n_rows=300)
    (found,) = stages(projection, [11])
    assert sorted(len(Z) for Z in found.centres) == [5, 6]
    means = polish(projection, stages(projection, [11])[0].centres, iterations=1)
    assert found.best.objective < 1.05 * means.best.objective
    start = projection.best([projection.X[:5], projection.X[5:11]])
    assert found.best.objective < start.objective


def test_a_seed_gives_the_same_centres_in_both_precisions() -> None:
    """Equal seeds give equal bits; float32 products give nearly the same objective."""
    one, two = (stages(problem(), [12, 24])[-1] for _ in range(2))
    np.testing.assert_array_equal(one.centres[0], two.centres[0])
    narrow = problem()
    narrow = replace(narrow, X=narrow.X.astype(np.float32))
    assert stages(narrow, [12, 24])[-1].best.objective == pytest.approx(
        one.best.objective, rel=0.05
    )


def test_first_stages_see_a_part_of_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few rows a centre the coefficients are still those of all rows, and the end as good."""
    whole = stages(problem(), [10, 20])
    monkeypatch.setattr("cgboost.pricing.centres.polishing.POLISHING_ROWS", 20)
    part = stages(problem(), [10, 20])
    assert len(part[0].best.output) == 600
    assert part[-1].best.objective == pytest.approx(whole[-1].best.objective, rel=0.1)
    smooth = problem(lambda y: LogLoss().on(y, np.ones(len(y))))
    assert len(stages(smooth, [10, 20])[0].best.output) == 600


def test_polishing_can_be_stopped_and_may_have_nothing_to_do() -> None:
    """What has been reached when ``stop`` says so is kept; no centres give the best constant."""
    projection, asked = problem(), []

    def stop() -> bool:
        asked.append(1)
        return len(asked) >= 3

    found = next(polished_stages(projection, [10], random=np.random.RandomState(0), stop=stop))
    assert len(asked) == 3
    assert found.evaluations <= 8
    loss = smoothed(SquaredError().dual_box(np.ones(4), np.ones(4)))
    (found,) = stages(Projection([RBF(1.0)], np.zeros((4, 2)), np.ones(1), loss), [3])
    assert found.best.intercept == pytest.approx(1.0, abs=1e-3)


def test_steps_too_far_are_taken_back_and_values_too_large_are_an_error() -> None:
    """Kernel values that overflow along the way do no harm; those of the rows name the cure."""
    X, y = digits(100)
    loss = smoothed(Hinge().dual_box(y, np.ones(100)))
    (found,) = stages(Projection([Polynomial(8)], 3.0 * X, np.ones(1), loss), [10])
    assert np.isfinite(found.best.objective)
    with pytest.raises(KernelError, match="normalise the kernels"):
        stages(Projection([Polynomial(100)], 1e6 * X, np.ones(1), loss), [10])
