"""Restricted masters of penalties on functions: norms in reproducing kernel Hilbert spaces.

::

    restricted.py        the restricted problems over whole kernels
    whole_kernels.py     the group norm over whole kernels: multiple kernel learning
"""
