"""Rules: conjunctions of conditions on features, searched exactly or greedily.

::

    conditions.py       a condition, a conjunction, and their values on rows
    literals.py         all conditions that differ on the training rows, as a 0/1 matrix
    branching.py        branch and bound over conjunctions
    beam.py             searches that look at the most promising conjunctions
    rule_pricer.py      the pricer of a 1-norm master, exact or greedy
    budget_pricer.py    the pricer that chooses one rule after another within a budget
    listing.py          all rules, where they are few
    error_selection.py  the pricer of few rules, chosen together by their training errors
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
