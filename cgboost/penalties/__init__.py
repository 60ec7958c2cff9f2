"""Penalties: what a coefficient costs.

::

    base.py         Penalty: three numbers for the solvers; value, conjugate, entry rule, bound;
                    DualForm: a penalty with the rules for signs and offset
    l1.py           Σ|α|
    l2.py           ½Σα²
    elastic_net.py  Σ ρ|α| + ½(1 − ρ)α²
    l1_ball.py      Σ|α| ≤ D
    entropy.py      Σ|α| ≤ D, the dual weights regularised by their entropy
    function_norm.py  what norms of functions have in common
    group_norm.py   Σ w‖f_p‖ over the spaces of kernels: multiple kernel learning
    squared_group_norm.py   half its square
    rkhs.py         ½Σ w_p‖f_p‖², the norms of the kernels' functions
"""

from cgboost.penalties.base import Penalty
from cgboost.penalties.elastic_net import ElasticNet
from cgboost.penalties.entropy import Entropy
from cgboost.penalties.function_norm import FunctionNorm
from cgboost.penalties.group_norm import GroupNorm
from cgboost.penalties.l1 import L1
from cgboost.penalties.l1_ball import L1Ball
from cgboost.penalties.l2 import L2
from cgboost.penalties.rkhs import RKHS
from cgboost.penalties.squared_group_norm import SquaredGroupNorm

__all__ = [
    "ElasticNet",
    "Entropy",
    "FunctionNorm",
    "GroupNorm",
    "L1",
    "L1Ball",
    "L2",
    "PENALTIES",
    "Penalty",
    "RKHS",
    "SquaredGroupNorm",
    "get_penalty",
]

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
