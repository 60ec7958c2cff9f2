"""What each feature contributes to a prediction: Shapley values of our models, in closed form.

::

    games.py             Shapley values of products of functions of single features
    parts.py             what a model is a sum of: slopes, functions of one feature, boxes
    basis_functions.py   the parts that basis functions are made of
    sampled.py           what is no such sum, by the package shap
    contributions.py     contributions of the features to the outputs of a model
    picture.py           bars of one row, or of the mean over rows
"""
