"""Joint polishing of centres, in stages."""

from itertools import pairwise

import numpy as np
import pytest

from cgboost import RBF, Polynomial
from cgboost.exceptions import KernelError
from cgboost.kernels import Normalized
from cgboost.losses import Hinge, LogLoss, SquaredError
from cgboost.pricing.centres.polishing import Polished, polish, polished_stages, stage_sizes
from cgboost.pricing.centres.projection import Projection
from cgboost.pricing.centres.smoothing import smoothed
from cgboost.studies.datasets import load_digits

KERNEL = Normalized(Polynomial(4))


def digits(n_rows: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Odd and even digits of 8×8 pixels."""
    X, y = load_digits()
    return X[:n_rows], np.where(y[:n_rows] % 2, 1.0, -1.0)


def problem(loss=None, kernels=(KERNEL,), n_rows: int = 600) -> Projection:
    """Variable projection on digits."""
    X, y = digits(n_rows)
    bound = Hinge().dual_box(y, np.full(n_rows, 3.0)) if loss is None else loss(y)
    return Projection(kernels, X, smoothed(bound), np.ones(len(kernels)))


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

    from sklearn.cluster import KMeans

    X, y = digits()
    groups = [KMeans(20, n_init=1, random_state=0).fit(X[y == s]) for s in (-1, 1)]
    means = projection.best([np.vstack([own.cluster_centers_ for own in groups])])
    assert values[0] < means.objective

    rest, truth = load_digits()
    rest, truth = rest[600:], np.where(truth[600:] % 2, 1.0, -1.0)
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
    narrow = Projection(narrow.kernels, narrow.X.astype(np.float32), narrow.loss, narrow.weights)
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


def test_polishing_can_be_stopped() -> None:
    """What has been reached when ``stop`` says so is kept."""
    projection, asked = problem(), []

    def stop() -> bool:
        asked.append(1)
        return len(asked) >= 3

    found = next(polished_stages(projection, [10], random=np.random.RandomState(0), stop=stop))
    assert len(asked) == 3
    assert found.evaluations <= 8


def test_no_centres_give_the_best_constant() -> None:
    """Where no row asks for anything, there is nothing to place."""
    X = np.zeros((4, 2))
    loss = smoothed(SquaredError().dual_box(np.ones(4), np.ones(4)))
    projection = Projection([RBF(1.0)], X, loss, np.ones(1))
    (found,) = stages(projection, [3])
    assert found.best.intercept == pytest.approx(1.0, abs=1e-3)


def test_steps_too_far_are_taken_back_and_values_too_large_are_an_error() -> None:
    """Kernel values that overflow along the way do no harm; those of the rows name the cure."""
    X, y = digits(100)
    loss = smoothed(Hinge().dual_box(y, np.ones(100)))
    (found,) = stages(Projection([Polynomial(8)], 3.0 * X, loss, np.ones(1)), [10])
    assert np.isfinite(found.best.objective)
    with pytest.raises(KernelError, match="normalise the kernels"):
        stages(Projection([Polynomial(100)], 1e6 * X, loss, np.ones(1)), [10])
