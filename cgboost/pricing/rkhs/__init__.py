"""Pricing of whole reproducing kernel Hilbert spaces: the unit ball of each is one column.

::

    quadratic_forms.py   rᵀK_p r of all kernels p
    whole_kernels.py     the kernels whose ball scores best, and the certificate over all of them
"""
