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

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
