"""Restricted masters of norms of functions in reproducing kernel Hilbert spaces (RKHS).

::

    orthonormal.py       columns that are made orthonormal in the RKHS of their kernel
    master.py            masters over such columns: expansions over some centres
    restricted.py        the restricted problems over whole kernels
    whole_kernels.py     the group norm over whole kernels: multiple kernel learning
"""
