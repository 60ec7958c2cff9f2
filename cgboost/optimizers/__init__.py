"""How restricted masters are solved; what is solved is said in :mod:`cgboost.masters`.

::

    restricted_dual.py   the restricted dual of a loss and a penalty; the protocol of its solvers
    working_set.py       which rows and columns are in it; growing_prices.py, balanced_response.py
    column_store.py      its columns; free_columns.py, large_columns.py, row_sample.py
    interior_point/      its box dual by an interior point method
    simplex/             vertices: any backend, the path simplex, crossover, purification
    active_set/          quadratic duals
    newton/              smooth losses in the primal
    cones/, whole_kernels/   norms of whole functions
    quantiles/           several outputs at once
    linear/              the restricted primal of a linear program
    refits/              all coefficients of stagewise masters
    solver_options.py, solver_failures.py   what solvers take, and how they fail

Who solves what, with ``solver="auto"`` (another solver's name: ``simplex/dual_session.py``)::

    a box without a sum, Σ|α| or elastic net        interior_point/interior_session.py
    the same with ½Σα² and free coefficients        the same, from free columns on; else the next
    a box without a sum, ½Σα²                       active_set/active_set_method.py
    a sum constraint (ν), or a ball Σ|α| ≤ D        simplex/dual_session.py: any backend
    a box whose prices may be limited first         growing_prices.py, around one of these
    a smooth loss (Poisson, logistic, entropy)      newton/smooth_primal.py
    a path over C of a piecewise linear loss        simplex/primal_simplex.py
    norms of whole functions                        cones/cone_interior_point.py, newton/
    several quantiles                               quantiles/joint_session.py
    rows of any sense (linear masters)              linear/restricted_primal.py: any backend
    all coefficients of a stagewise model           refits/refits.py

The choice is made in ``SupportVectorMaster._make_dual`` and ``RestrictedDual.__init__``.
"""
