"""Passes over the columns of a kernel library: exact scores, at the least cost.

::

    kernel_pool.py      the pool of columns: its scores from pass to pass, and the orders it gives
    scores.py           what scores belong to, what must be added, how far off they may be
    partition.py        some centres, with their scores, brought up to date and searched
    row_cache.py        rows of kernel values that are kept
    blocks.py           kernel values of a whole library from one matrix product
    pass_plan.py        what a few columns tell of kernels; how a pass is divided: parts, memory
"""
