"""Penalties: what a coefficient costs.

::

    penalty.py             Penalty: three numbers for solvers; value, conjugate, entry rule, bound;
                           DualForm: a penalty with the rules for signs and offset
    l1.py                  Σ|α|
    l2.py                  ½Σα²
    elastic_net.py         Σ ρ|α| + ½(1 − ρ)α²
    l1_ball.py             Σ|α| ≤ D
    entropy.py             Σ|α| ≤ D, the dual weights regularised by their entropy
    function_norm.py       what norms of functions have in common
    group_norm.py          Σ w‖f_p‖ over the spaces of kernels: multiple kernel learning
    squared_group_norm.py  half its square
    rkhs.py                ½Σ w_p‖f_p‖², the norms of the kernels' functions
    registry.py            penalties by their names in estimators
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
