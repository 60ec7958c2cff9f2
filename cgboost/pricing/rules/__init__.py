"""Rules: conjunctions of conditions on features, searched exactly or greedily.

::

    literals.py         conditions, conjunctions, and all that differ on the rows as a 0/1 matrix
    searches.py         branch and bound over conjunctions, and the most promising of them alone
    rule_pricer.py      the pricers of a 1-norm master, of all rules, of rules within a budget
    cover_pricer.py     the pricer of rule sets of which any rule may hold
    error_selection.py  the pricer of few rules, chosen together by their training errors
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
