"""Integer optima: branch-and-price over generated columns.

::

    branch_and_price.py  what a search is made of
    variable_fixing.py   what all solutions below some cost have in common
    tree_search.py       nodes, cuts, heuristics, children, and the bound of all
    branching.py         rules that divide a node
    zykov_branching.py   a rule for colourings
    strong_branching.py  which of a rule's branches is taken
    decisions.py         what a node adds: restrictions of columns, and rows
    node_problem.py      master and pricer of a node
    pool.py              columns of all nodes
    parallel_nodes.py    relaxations of several nodes at once
    search.py            incumbent, bounds, relaxations
    heuristics.py        integer solutions from the columns of a node
    node_selection.py    which node comes next
    reporting/           what a search tells while it runs, and where it cannot go on
    result.py            the solution, what is proven, a table of the tree
"""

from cgboost.integer.branch_and_price import BranchAndPrice
from cgboost.integer.branching import (
    Branch,
    BranchingRule,
    ComponentBranching,
    CountBranching,
    NodeSolution,
    RyanFoster,
    SetBranching,
    VariableBranching,
)
from cgboost.integer.decisions import (
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
from cgboost.integer.heuristics import BranchDiving, Diving, Heuristic, RestrictedMaster, Rounding
from cgboost.integer.node_selection import BestBound, DepthFirst, Node, NodeSelection
from cgboost.integer.reporting.callbacks import TreeState
from cgboost.integer.reporting.progress import TreeProgress
from cgboost.integer.result import BranchAndPriceResult
from cgboost.integer.strong_branching import StrongBranching
from cgboost.integer.tree_search import BranchingError
from cgboost.integer.variable_fixing import VariableFixing
from cgboost.integer.zykov_branching import ZykovBranching

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
