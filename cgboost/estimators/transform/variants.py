"""The variants of transform regression, as switches of one builder and one master, and their runs.

[P] is Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cgboost.additive.builder import StageBuilder
from cgboost.additive.holdout import HoldoutLoss, SmallGain
from cgboost.additive.places.place import Place
from cgboost.estimators.common.subproblems import Subproblem
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.generation.callbacks import EarlyStopping
from cgboost.losses.log_loss import LogLoss
from cgboost.losses.multinomial import Multinomial
from cgboost.losses.poisson import Poisson
from cgboost.losses.second_order_model import JointSums, RowSums
from cgboost.masters.stagewise.aggregate import AggregateMaster
from cgboost.pricing.additive import JointStagePricer, StagePricer


class Variant(NamedTuple):
    """What a stage may use, and how stages are combined."""

    feed_forward: bool = False
    regressors: bool = False
    link: bool = False
    orthogonal: bool = False


VARIANTS = {
    "gradient": Variant(),
    "initial": Variant(link=True),
    "orthogonal": Variant(link=True, orthogonal=True),
    "feed_forward": Variant(link=True, feed_forward=True),
    "orthogonal_feed_forward": Variant(link=True, feed_forward=True, orthogonal=True),
    "transform": Variant(feed_forward=True, regressors=True),
}
"""[P]: Table 1 with Table 3 as its base learner, Tables 4, 5, 6, 7 and 8."""


LARGEST_STEP = 2.0
"""What a stage changes half the log-odds, the score of a class or the log of a mean by, at most: a
stage that is right on every training row would be sure of what it is not."""


def tasks(self: Any, pool: Place, rows: TrainingRows) -> Iterator[Subproblem]:
    """A run for every output, or one for all classes. A method of the estimator."""
    variant, rules, loss = VARIANTS[self.variant], self._constraints, self._fitted_loss
    of_logarithm = isinstance(loss, (LogLoss, Poisson, Multinomial))
    builder = StageBuilder(
        self.max_bins, variant.feed_forward, variant.regressors, variant.link, rules
    )
    for target in [rows.y] if isinstance(loss, Multinomial) else self._targets(rows.y):
        sums: RowSums | JointSums
        pricer: StagePricer | JointStagePricer
        if isinstance(loss, Multinomial):
            sums = joint = pool.joint(loss, target)
            pricer = JointStagePricer(builder, joint.parts)
        else:
            sums = own = pool.aggregates(loss, target)
            pricer = StagePricer(builder, own)
        master = AggregateMaster(
            sums,
            corrective=variant.orthogonal,
            learning_rate=self.learning_rate,
            most=LARGEST_STEP if of_logarithm else np.inf,
            positive=bool(rules.signs),
        )
        callbacks: list[Any] = [HoldoutLoss(master.holdout_loss)]
        if pool.has_holdout:
            callbacks.append(EarlyStopping("holdout_loss", patience=self.n_iter_no_change))
        callbacks.append(SmallGain(self.tol))
        yield Subproblem(master, pricer, n_outputs=master.n_outputs, callbacks=callbacks)
