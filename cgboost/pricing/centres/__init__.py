"""Free centres: columns K(·, z) whose centres z are optimised, and need be no training rows.

With m centres Z of a kernel the best function of their span minimises, over α and b,

    J(α, b; Z) = ½ αᵀ K(Z, Z) α + L(K(X, Z) α + b),

and Z minimises min J. Variable projection (Golub, Pereyra, SIAM J. Numer. Anal. 10, 1973)
optimises α and b at every Z, and has the gradient in Z by the envelope theorem.

::

    smoothing.py           losses with two derivatives: Moreau–Yosida smoothing of those with kinks
    coefficients.py        the best α and b of given columns: Newton's method
    projection.py          min J and its gradient as a function of the centres
    polishing.py           where centres start; L-BFGS over all at once, growing in stages
    free_centre_pricer.py  stages as rounds of the loop; better dual points for the bound
"""
