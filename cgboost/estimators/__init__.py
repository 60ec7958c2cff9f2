"""scikit-learn estimators: each only assembles a master and a pricer and runs the common loop.

The classes are imported from ``cgboost``.
"""
