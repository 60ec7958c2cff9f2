"""Pricing problems of blocks.

::

    block.py            data of a block, a pricing problem at a node and its answer
    knapsack_block.py   dynamic programming for one knapsack row
    path_block.py       a shortest path, for a flow from one node to another
    network.py          blocks that are networks; signs and classes of rows
    assignment_block.py an assignment in a bipartite graph
    conflict_block.py   branch-and-bound for a knapsack with conflicts
    highs_block.py      any block as a live model in HiGHS
    block_pricer.py     the pricer of all blocks: special algorithms where they fit, else HiGHS

A special algorithm is a class with ``fits`` and ``solve`` (``BlockSolver`` of ``block.py``) in its
own file, and an entry of ``SPECIAL`` in ``block_pricer.py``.
"""
