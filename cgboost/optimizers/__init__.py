"""How restricted masters are solved; what is solved is said in :mod:`cgboost.masters`.

::

    live_dual.py         the restricted dual over a box, and the protocol of sessions
    reductions/          changes of variables in front of an optimizer
    restricted_dual.py   the restricted dual of a loss and a penalty, over working sets
    column_store.py      its columns; free_columns.py, large_columns.py
    interior_point/      its box dual by an interior point method
    simplex/             vertices: any backend, the path simplex, crossover, purification
    active_set/          quadratic duals
    newton/              smooth losses in the primal
    cones/, rkhs/        norms of whole functions
    quantiles/           several outputs at once
    linear/              the restricted primal of a linear program
    refits/              all coefficients of stagewise masters
    solver_choice.py     which reductions for which problem, and who solves what
    solver_comparison.py whether a named solver is the wrong one, by measurement
    solver_options.py    what solvers are told (options, time), and how they fail
"""
