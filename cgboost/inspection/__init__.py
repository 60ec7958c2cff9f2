"""Looking at fitted models: pictures, importances, metrics, reports.

::

    history_plots.py        the path to the optimum, and the columns
    learning_curves.py      errors by stage
    importance.py           what features are worth
    factor_pictures.py      latent factors
    transform_pictures.py   transformations of features
    metrics.py              Gini coefficient and gains chart
    model_selection.py      criteria for where a greedy path should end
    report/                 one page about a model
    provenance.py           versions and machine
    drawing.py              what the pictures share
"""

from cgboost.inspection.learning_curves import FittedModel, plot_columns, plot_history

__all__ = ["FittedModel", "plot_columns", "plot_history"]
