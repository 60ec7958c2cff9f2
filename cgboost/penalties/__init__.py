"""Penalties: what a coefficient costs.

::

    base.py         Penalty: three numbers for the solvers; value, conjugate, entry rule, bound
    l1.py           Σ|α|
    l2.py           ½Σα²
    elastic_net.py  Σ ρ|α| + ½(1 − ρ)α²
    l1_ball.py      Σ|α| ≤ D
    entropy.py      Σ|α| ≤ D, the dual weights regularised by their entropy
    dual_form.py    a penalty with the rules for signs and offset
"""

from cgboost.penalties.base import Penalty
from cgboost.penalties.elastic_net import ElasticNet
from cgboost.penalties.entropy import Entropy
from cgboost.penalties.l1 import L1
from cgboost.penalties.l1_ball import L1Ball
from cgboost.penalties.l2 import L2

__all__ = ["L1", "L2", "ElasticNet", "Entropy", "L1Ball", "Penalty"]
