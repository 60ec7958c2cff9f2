"""Additive models of transformed features, from sufficient statistics that can be merged.

::

    statistics/   moments of groups of rows, passes over blocks, regressions from moments alone
    trees/        one feature: groups of values merged into a tree; multivariate model trees
    stage.py      an additive model
    builder.py    how it is made, in two passes over the rows
    export/       stages as SQL, as a graph, in words

The stages are columns of the common loop (:mod:`cgboost.pricing.additive`).
"""
