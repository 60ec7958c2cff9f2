"""Looking at fitted models: pictures, importances, metrics, reports.

::

    learning_curves.py    the path to the optimum, the columns, and errors by stage
    model_pictures.py     latent factors, and transformations of features
    effects.py            what single features do to a prediction, with error bars
    importance.py         what features are worth
    kernel_importance.py  what kernels, centres and features are worth to a kernel model
    kernel_weights.py     the weights of multiple kernel learning
    coefficient_path.py   coefficients along a regularisation path
    metrics.py            Gini coefficient and gains chart
    search_tree.py        a branch-and-price search
    block_matrix.py       the matrix of a model in the order of its blocks
    model_selection.py    criteria for where a greedy path should end
    report/               one page about a model, with versions and machine
    drawing.py            what the pictures share
"""

from cgboost.inspection.block_matrix import plot_blocks
from cgboost.inspection.coefficient_path import plot_path
from cgboost.inspection.kernel_importance import (
    feature_relevance,
    kernel_importance,
    relevant_centres,
)
from cgboost.inspection.kernel_weights import plot_kernel_weights
from cgboost.inspection.learning_curves import FittedModel, plot_columns, plot_history
from cgboost.inspection.search_tree import plot_search

__all__ = [
    "FittedModel",
    "feature_relevance",
    "kernel_importance",
    "plot_blocks",
    "plot_columns",
    "plot_history",
    "plot_kernel_weights",
    "plot_path",
    "plot_search",
    "relevant_centres",
]
