"""Restricted masters of norms of functions in reproducing kernel Hilbert spaces (RKHS).

::

    master.py            masters over orthonormal columns: expansions over some centres
    whole_kernels.py     the group norm over whole kernels: multiple kernel learning
"""
