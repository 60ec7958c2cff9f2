"""Restricted masters of norms of functions in reproducing kernel Hilbert spaces (RKHS).

::

    rkhs_master.py        masters over orthonormal columns, and of libsvm over all functions
    group_norm_master.py  the group norm over whole kernels: multiple kernel learning
"""
