"""Column generation: the loop, the protocols of masters and pricers, and the results of a run.

::

    loop.py             the loop: solve the restricted master, price, bound, add columns
    protocols.py        Master and Pricer, and the records that they exchange
    columns.py          columns, the functions behind them, and their weighted sums
    termination.py      when a run ends, who ends it by failing, and the words for it
    history.py          why it ended, and a record of every round
    stabilization.py    where to price (Wentges smoothing)
    function_pricer.py  a function of the duals as a pricer
    callbacks.py        validation scores, early stopping
    progress.py         the progress of a run: a live line, or plain ones
    live_line.py        a line that is drawn again where it is
"""

from cgboost.generation.callbacks import (
    EarlyStopping,
    ValidationMonitor,
    error_rate,
    mean_absolute_error,
    mean_squared_error,
)
from cgboost.generation.columns import Column, Ensemble, Family, Hypothesis, Term
from cgboost.generation.function_pricer import FunctionPricer
from cgboost.generation.history import Result, Round, StopReason
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.progress import ProgressLine
from cgboost.generation.protocols import EntryRule, Master, MasterState, Priced, Pricer, Vertex
from cgboost.generation.stabilization import NoSmoothing, Smoothing, Wentges

__all__ = [
    "Column",
    "ColumnGeneration",
    "EarlyStopping",
    "Ensemble",
    "EntryRule",
    "Family",
    "FunctionPricer",
    "Hypothesis",
    "Master",
    "MasterState",
    "NoSmoothing",
    "Priced",
    "Pricer",
    "ProgressLine",
    "Result",
    "Round",
    "Smoothing",
    "StopReason",
    "Term",
    "ValidationMonitor",
    "Vertex",
    "Wentges",
    "error_rate",
    "mean_absolute_error",
    "mean_squared_error",
]
