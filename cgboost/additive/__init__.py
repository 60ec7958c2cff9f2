"""Additive models of transformed features, from sufficient statistics that can be merged.

::

    rows.py, table_columns.py, schema.py   tables and sources of blocks; what their columns are
    preparation.py                       what is held out; intervals
    moments.py, stepwise.py              statistics of groups of rows; regressions from them alone
    intervals.py, transformation.py      one feature: groups of values, merged into a tree
    stage.py, builder.py, passes.py      an additive model: two passes over the rows
    holdout.py                           how many stages to keep
    graph.py, sql.py, sql_case.py, sql_text.py   stages as a graph, as SQL
    words.py, curve.py                   stages in words; one function of a stage
    smoothers.py                         other smoothers than trees
    model_tree.py, model_tree_growth.py, splits.py   multivariate model trees

The stages are columns of the common loop (:mod:`cgboost.pricing.additive`).
"""
