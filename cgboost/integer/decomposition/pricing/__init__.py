"""Pricing problems of blocks.

::

    block.py            data of a block, a pricing problem at a node and its answer
    knapsack_block.py   dynamic programming for one knapsack row
    path_block.py       a shortest path, for a flow from one node to another
    network.py          blocks that are networks
    paths.py            shortest paths with arcs of any sign
    assignment_block.py an assignment in a bipartite graph
    conflict_block.py   branch-and-bound for a knapsack with conflicts
    two_colouring.py    signs and classes of rows
    highs_block.py      any block as a live model in HiGHS
    block_problem.py    a special algorithm where one fits, HiGHS otherwise
    block_pricer.py     the pricer of all blocks

A special algorithm is a class with ``fits`` and ``solve`` (``BlockSolver`` of ``block.py``) in its
own file, and an entry of ``SPECIAL`` in ``block_problem.py``.
"""
