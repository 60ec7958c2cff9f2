"""The joint loss of several classes in three databases: the sums of memory."""

import numpy as np
import pytest

from cgboost.additive.builder import StageBuilder
from cgboost.losses.multinomial import Multinomial
from tests.additive.sql.sql_tables import DATABASES, mixed, place_of
from tests.additive.sql.test_aggregates import assert_close

CLOSE = 1e-9


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("database", DATABASES)
def test_sums_are_those_in_memory(database: str, weighted: bool, server: str) -> None:
    """Responses, value, gradient and Hessian, before and after f has moved, of uneven classes."""
    data = mixed(6)
    labels = np.digitize(data.y, np.quantile(data.y, [0.3, 0.8])).astype(float)
    data = data._replace(y=labels, weights=data.weights if weighted else np.ones(len(labels)))
    memory = data.in_memory().joint(Multinomial(3), labels[data.weights > 0])
    with place_of(database, server, data, classification=True) as place:
        sums = place.joint(Multinomial(3), np.arange(3))
        assert (sums.weight, sums.holdout_weight) == pytest.approx(
            (memory.weight, memory.holdout_weight), rel=CLOSE
        )
        builder = StageBuilder(16)
        coefs = [np.zeros(0) for _ in range(3)]
        for counts in ([1, 1, 0], [1, 0, 1]):
            for k, count in enumerate(counts):
                own, other = sums.parts[k], memory.parts[k]
                one, two = (part.by_group([0], 0)[0] for part in (own, other))
                assert_close(one.training, two.training, other.groups[0])
                assert_close(one.holdout, two.holdout, other.groups[0])
                if count:
                    stage = builder.stage(other)
                    builder.feed_forward = False
                    own.append(stage)
                    other.append(stage)
                    coefs[k] = np.append(coefs[k], 0.8 - 0.3 * k)
            levels = np.array([0.4, -0.1, -0.3])
            for last in (counts, [len(coef) for coef in coefs], [0, 0, 0]):
                one, two = (a.quadratic(coefs, levels, last) for a in (sums, memory))
                assert one.value == pytest.approx(two.value, rel=CLOSE)
                assert one.holdout == pytest.approx(two.holdout, rel=CLOSE)
                size = np.sqrt(np.diag(two.hessian))
                np.testing.assert_allclose(one.gradient, two.gradient, atol=CLOSE * size.max() ** 2)
                limit = CLOSE * size[:, None] * size
                assert (np.abs(one.hessian - two.hessian) <= limit).all()
            for a in (sums, memory):
                a.move(coefs, levels)
        before = sums.quadratic(coefs, levels, counts)
        sums.parts[1].append(stage)
        sums.parts[1].drop(len(coefs[1]))
        after = sums.quadratic(coefs, levels, counts)
        np.testing.assert_allclose(after.gradient, before.gradient, rtol=CLOSE, atol=CLOSE)
