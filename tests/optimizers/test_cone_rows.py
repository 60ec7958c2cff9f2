"""A cone program over the rows that count is that of all rows."""

import numpy as np
import pytest

from cgboost.losses import EpsilonInsensitive, Hinge
from cgboost.losses.dual.side_by_side import SideBySide
from cgboost.optimizers.cones import cone_rows
from cgboost.optimizers.cones.cone_blocks import GramBlock, OutputsBlock
from cgboost.optimizers.cones.cone_interior_point import ConeSession
from cgboost.optimizers.cones.cone_rows import RowsSession

LIMITS = np.array([1.0, 2.0])


def problem(kind, offset):
    """Rows of classes that overlap, or numbers with noise; two kernels, weights, a price."""
    random = np.random.default_rng(0)
    X, weights = random.normal(size=(400, 3)), random.uniform(0.2, 2.0, 400)
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    blocks = [GramBlock(np.exp(-distances)), GramBlock((1.0 + X @ X.T) ** 2)]
    signal = X[:, 0] + X[:, 1] ** 2 - 1.0 + random.normal(size=400)
    y = signal if kind == "tube" else np.where(signal > 0, 1.0, -1.0)
    loss = EpsilonInsensitive(0.5) if kind == "tube" else Hinge()
    if kind == "classes":  # three, each against the others
        number = np.digitize(signal, [-0.7, 0.7])
        parts = [np.where(number == k, 1.0, -1.0) for k in range(3)]
        return SideBySide.joined([loss.on(y, weights).box for y in parts]), blocks, offset
    return loss.on(y, weights).box, blocks, offset


@pytest.mark.parametrize("kind", ["hinge", "tube", "classes"])
@pytest.mark.parametrize("offset", ["free", "penalized", "none"])
def test_rows_that_count_have_the_optimum_of_all(kind, offset, monkeypatch):
    """Objective and bound enclose those over all rows, at a feasible r, with fewer rows a step."""
    loss, blocks, offset = problem(kind, offset)
    whole, outputs = ConeSession(loss, offset=offset), len(loss.parts)
    whole.add([OutputsBlock(outputs * [block]) for block in blocks], LIMITS)
    expected, sizes = whole.solve(accuracy=1e-7), []

    class Counted(ConeSession):
        def solve(self, *args):
            sizes.append(self.loss.n_rows)
            return super().solve(*args)

    monkeypatch.setattr(cone_rows, "ConeSession", Counted)
    session = RowsSession(loss, offset=offset)
    session.add(blocks, LIMITS)
    found = session.solve(accuracy=1e-7)
    rounding = 1e-9 * expected.objective
    assert found.bound <= expected.objective + rounding
    assert expected.bound <= found.objective + rounding
    assert found.gap <= 1e-6 * expected.objective
    assert (found.response >= loss.lower).all()
    assert (found.response <= loss.upper).all()
    grams = [np.kron(np.eye(outputs), block.gram) for block in blocks]
    norms = np.sqrt([found.response @ gram @ found.response for gram in grams])
    assert (norms <= LIMITS * (1.0 + 1e-9)).all()
    output = sum(w * (gram @ found.response) for w, gram in zip(found.weights, grams, strict=True))
    assert session.last[0] == pytest.approx(output + np.repeat(found.intercept, 400), abs=1e-9)
    assert max(sizes) < loss.n_rows


def test_where_nearly_all_rows_count_nothing_is_lost():
    """Where nearly all rows are inside their box the answer is that of all at once."""
    loss, blocks, _ = problem("tube", "free")
    loss = EpsilonInsensitive(0.0).on(loss.target, np.full(400, 1e3)).box
    session, whole = RowsSession(loss, offset="free"), ConeSession(loss, offset="free")
    session.add(blocks, LIMITS)
    whole.add(blocks, LIMITS)
    found, expected = session.solve(accuracy=1e-5), whole.solve(accuracy=1e-5)
    assert found.bound <= expected.objective <= found.objective * (1.0 + 1e-4)
