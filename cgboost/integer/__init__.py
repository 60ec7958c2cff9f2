"""Integer optima: branch-and-price over generated columns.

::

    branch_and_price.py  the search and its parameters
    tree_search.py       nodes, cuts, heuristics, children, and the bound of all
    branching/           decisions of a node, rules that divide it, variable fixing by cost
    node_problem.py      master and pricer of a node
    pool.py              columns of all nodes
    parallel_nodes.py    relaxations of several nodes at once
    search.py            incumbent, bounds, relaxations
    heuristics.py        integer solutions from the columns of a node
    node_selection.py    the choice of the next node
    reporting/           progress of a search, and reasons why it cannot continue
    result.py            the solution, the proven bound, a table of the tree
"""

from cgboost.integer.branch_and_price import BranchAndPrice
from cgboost.integer.branching.checks import BranchingError
from cgboost.integer.branching.decisions import (
    Apart,
    ComponentRow,
    CountRow,
    Residual,
    Restriction,
    Row,
    SubsetRow,
    Together,
    VariableBound,
    VariableRow,
    respects,
)
from cgboost.integer.branching.rules import (
    Branch,
    BranchingRule,
    ComponentBranching,
    CountBranching,
    NodeSolution,
    RyanFoster,
    SetBranching,
    VariableBranching,
)
from cgboost.integer.branching.strong_branching import StrongBranching
from cgboost.integer.branching.variable_fixing import VariableFixing
from cgboost.integer.branching.zykov import ZykovBranching
from cgboost.integer.heuristics import BranchDiving, Diving, Heuristic, RestrictedMaster, Rounding
from cgboost.integer.node_selection import BestBound, DepthFirst, Node, NodeSelection
from cgboost.integer.reporting.callbacks import TreeState
from cgboost.integer.reporting.progress import TreeProgress
from cgboost.integer.result import BranchAndPriceResult

__all__ = [
    "Apart",
    "BestBound",
    "Branch",
    "BranchAndPrice",
    "BranchDiving",
    "BranchAndPriceResult",
    "BranchingError",
    "BranchingRule",
    "ComponentBranching",
    "ComponentRow",
    "CountBranching",
    "CountRow",
    "DepthFirst",
    "Diving",
    "Heuristic",
    "Node",
    "NodeSelection",
    "NodeSolution",
    "Residual",
    "RestrictedMaster",
    "Restriction",
    "Rounding",
    "Row",
    "RyanFoster",
    "SetBranching",
    "StrongBranching",
    "SubsetRow",
    "Together",
    "TreeProgress",
    "TreeState",
    "VariableBound",
    "VariableBranching",
    "VariableFixing",
    "VariableRow",
    "ZykovBranching",
    "respects",
]
