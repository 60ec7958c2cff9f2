"""Integer optima: branch-and-price over generated columns.

::

    branch_and_price.py  the search and its parameters
    tree_search.py       nodes, cuts, heuristics, children, and the bound of all
    branching/           decisions of a node, rules that divide it, variable fixing by cost
    node_problem.py      master and pricer of a node
    pool.py              columns of all nodes
    parallel_nodes.py    relaxations of several nodes at once
    search_state.py      incumbent, bounds, relaxations
    heuristics.py        integer solutions from the columns of a node
    listing.py           nodes that end by listing all columns that a better solution can have
    subset_row_cuts.py   cuts on three rows
    node_selection.py    the choice of the next node
    reporting/           progress of a search, and reasons why it cannot continue
    result.py            the solution, the proven bound, a table of the tree
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
