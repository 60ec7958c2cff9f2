"""Proofs for models of other packages: how far they are from their optimum, and the way there.

::

    certificate.py  certify, polish, and what they say
    readers.py      which problem a model of another package solves
    problem.py      a linear model's problem: objective, bound, parts of the gap
    machines.py     support vector machines of any kernel
    rows.py         losses row by row
    nearer.py       points nearer to the optimum, and their duals
"""
