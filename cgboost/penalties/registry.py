"""Penalties by name."""

from __future__ import annotations

from cgboost.penalties.elastic_net import ElasticNet
from cgboost.penalties.group_norm import GroupNorm
from cgboost.penalties.l1 import L1
from cgboost.penalties.l2 import L2
from cgboost.penalties.penalty import Penalty
from cgboost.penalties.rkhs import RKHS

PENALTIES: dict[str, type[Penalty]] = {
    "l1": L1,
    "l2": L2,
    "elasticnet": ElasticNet,
    "group": GroupNorm,
    "rkhs": RKHS,
}
"""Penalties by their names in estimators."""


def get_penalty(penalty: object) -> Penalty:
    """A penalty by its name; a :class:`Penalty`, yours perhaps, as it is.

    Raises
    ------
    ValueError
        If there is no such penalty.
    """
    if isinstance(penalty, Penalty):
        return penalty
    if not isinstance(penalty, str) or penalty not in PENALTIES:
        kind = penalty if isinstance(penalty, type) and issubclass(penalty, Penalty) else None
        hint = "" if kind is None else f": write {kind.__name__}()"
        raise ValueError(
            f"penalty must be one of {sorted(PENALTIES)}, or a Penalty, got {penalty!r}{hint}"
        )
    return PENALTIES[penalty]()
