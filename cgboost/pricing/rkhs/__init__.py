"""Pricing of whole reproducing kernel Hilbert spaces (RKHS): the unit ball of each is one column.

::

    rkhs_pricer.py          expansions: the rows that are good centres
    summed.py               the sum of all kernels as one, whose columns are those of ½Σ_p w_p‖f_p‖²
    whole_kernel_pricer.py  the kernels whose ball scores best, and the certificate over all of them
"""
