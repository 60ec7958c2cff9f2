"""Additive models of transformed features, from sufficient statistics that can be merged.

::

    rows.py, schema.py, preparation.py   tables and sources of blocks; what is held out; intervals
    moments.py, stepwise.py              statistics of groups of rows; regressions from them alone
    intervals.py, transformation.py      one feature: groups of values, merged into a tree
    stage.py, builder.py, passes.py      an additive model: two passes over the rows
    holdout.py                           how many stages to keep

The stages are columns of the common loop (:mod:`cgboost.pricing.additive`).
"""
