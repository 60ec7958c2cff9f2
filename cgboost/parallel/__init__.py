"""Where the tasks of a pricing pass run: here, on threads, in other processes, on other machines.

A pass is a map over parts, each with its own state, and a reduction of what the tasks found:

    new_state, answer = task(data, state, message)      for every part
    combine([answer, …])                                 in the order of the parts

The data goes out once; states travel with the tasks. Tasks depend on their arguments alone, so that
a lost one can run again.

Rows that would be too much to travel are kept where tasks run, each part with one worker:

    kept = keep(build, items)                            an object of every item
    answer = ask(task, combine, data, kept, message)     of task(data, object, message)

``SerialExecutor`` and ``ThreadExecutor`` run tasks here. Any executor of ``concurrent.futures`` may
be given as it is. ``DaskExecutor(client)`` runs them on the workers of a Dask cluster.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
