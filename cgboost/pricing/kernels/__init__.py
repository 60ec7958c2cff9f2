"""Passes over the columns of a kernel library: exact scores, at the least cost.

::

    scores.py      what a pool knows of its scores from pass to pass, and the orders it gives
    references.py  what scores belong to, what must be added, how far off they may be
    plan.py        how a pass is divided, and what is kept in memory
    partition.py   some centres, with their scores and kept values; the order of a pass
    task.py        one partition brought up to date and searched, wherever it may be
    sums.py        weighted sums of kernel values: by structure, from kept rows, from blocks
    blocks.py      kernel values of a whole library from one matrix product
    row_cache.py   kept rows of kernel values
    rounding.py    how far computed values may be from exact ones
    sample.py      a look at some columns before the first pass
"""
