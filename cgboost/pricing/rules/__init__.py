"""Rules: conjunctions of conditions on features, searched exactly or greedily.

::

    conditions.py   a condition, a conjunction, and their values on rows
    literals.py     all conditions that differ on the training rows, as a 0/1 matrix
    branching.py    branch and bound over conjunctions
    beam.py         searches that look at the most promising conjunctions
    pricer.py       the pricer of a 1-norm master, exact or greedy
    selection.py    the pricer that chooses one rule after another within a budget
    listing.py      all rules, where they are few
    error_selection.py  the pricer of few rules, chosen together by their training errors
"""

from cgboost.pricing.rules.conditions import Condition, Conjunction, Relation
from cgboost.pricing.rules.error_selection import ErrorSelection
from cgboost.pricing.rules.listing import RuleList, all_rules
from cgboost.pricing.rules.literals import Literals
from cgboost.pricing.rules.pricer import RulePricer
from cgboost.pricing.rules.selection import RuleSelection

__all__ = [
    "Condition",
    "Conjunction",
    "ErrorSelection",
    "Literals",
    "Relation",
    "RuleList",
    "RulePricer",
    "RuleSelection",
    "all_rules",
]
