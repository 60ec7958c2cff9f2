"""What a search tells: to callbacks, on the terminal, and where it cannot go on.

::

    callbacks.py   what a search tells while it runs
    progress.py    a live line, or plain ones
    undivided.py   why no rule divides a node
"""
