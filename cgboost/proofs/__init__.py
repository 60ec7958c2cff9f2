"""Proofs for models: how far they are from their optimum, the way there, and files to check.

::

    certificate.py  certify, polish, and what they say
    fitted_plan.py  what is asked of a model and its rows; the plan of its fit
    readers.py      which problem a model of another package solves
    own_models.py   … and a model of cgboost
    family_problems.py … over a whole family of columns: stumps, rules, kernels
    problem.py      a linear model's problem: objective, bound, parts of the gap
    machines.py     support vector machines of any kernel
    rows.py         losses row by row
    nearer.py       points nearer to the optimum, and their duals
    exact_fit.py    objective and bound in fractions
    proof_files.py  certificates as files; what is in them
    trees.py        … of tree searches
    near_optimal.py ranges over all models that are nearly as good
    near_problem.py … their set, and the bound of a dual point
    near_values.py  … what is linear in a model, and pricers that know it
    near_search.py  … what is known of an end
    near_profiles.py … the ways to one: profiles of the objective
    near_ends.py    … tilted vertices, tangents
"""
