"""How a node of a tree is divided.

::

    decisions.py         what a node adds: restrictions of columns, and rows
    rules.py             rules that divide a node
    zykov.py             a rule for colourings
    strong_branching.py  which of a rule's branches is taken
    variable_fixing.py   what all solutions below some cost have in common
    checks.py            what a user's rule may return
"""
