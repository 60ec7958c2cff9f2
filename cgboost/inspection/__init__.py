"""Inspection of fitted models: pictures, importances, metrics, reports.

::

    learning_curves.py    the path to the optimum, the columns, and errors by stage
    model_pictures.py     latent factors, and transformations of features
    effects.py            effects of single features on predictions, with error bars
    importance.py         importance of features, weights of multiple kernel learning
    shapley/              contributions of features to predictions
    ranges.py             what all near-optimal models say of each feature
    kernel_importance.py  importance of kernels, centres and features in a kernel model
    coefficient_path.py   coefficients along a regularisation path
    coverage.py           coverage of prediction intervals, by group
    resampling.py         how often features enter, in samples of the rows
    metrics.py            Gini coefficient and gains chart
    search_tree.py        a branch-and-price search
    block_matrix.py       the matrix of a model in the order of its blocks
    model_forms.py        how a model makes its outputs, for contributions and ONNX
    report/               one page about a model, with versions and machine
    drawing.py            common parts of the pictures

The functions are listed in ``__init__.pyi``; a module is imported when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
