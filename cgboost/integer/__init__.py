"""Integer optima: branch-and-price over generated columns.

::

    branch_and_price.py  what a search is made of
    tree_search.py       nodes, cuts, heuristics, children, and the bound of all
    branching.py         rules that divide a node
    decisions.py         what a node adds: restrictions of columns, and rows
    node_problem.py      master and pricer of a node
    pool.py              columns of all nodes
    search.py            incumbent, bounds, relaxations
    heuristics.py        integer solutions from the columns of a node
    node_selection.py    which node comes next
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
from cgboost.integer.heuristics import Diving, Heuristic, RestrictedMaster, Rounding
from cgboost.integer.node_selection import BestBound, DepthFirst, Node, NodeSelection
from cgboost.integer.result import BranchAndPriceResult
from cgboost.integer.tree_search import BranchingError, TreeState

__all__ = [
    "Apart",
    "BestBound",
    "Branch",
    "BranchAndPrice",
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
    "SubsetRow",
    "Together",
    "TreeState",
    "VariableBound",
    "VariableBranching",
    "VariableRow",
    "respects",
]
