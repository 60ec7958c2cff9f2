"""In which order nodes come."""

from cgboost.integer import BestBound, CountRow, DepthFirst, Node, Together

ROOT = [Node(0, bound=5.0)]
CHILDREN = [Node(1, 0, bound=5.0, depth=1), Node(2, 0, bound=5.0, depth=1)]
GRANDCHILDREN = [Node(3, 1, bound=6.0, depth=2), Node(4, 1, bound=5.0, depth=2)]


def test_best_bound() -> None:
    """The least bound; of equal ones the deepest, and of these the first."""
    selection = BestBound()
    selection.push(CHILDREN)
    selection.push(GRANDCHILDREN)
    assert sorted(node.number for node in selection.nodes()) == [1, 2, 3, 4]
    assert [selection.pop().number for _ in range(4)] == [4, 1, 2, 3]


def test_depth_first() -> None:
    """The first child of the last division."""
    selection = DepthFirst()
    selection.push(CHILDREN)
    assert selection.pop().number == 1
    selection.push(GRANDCHILDREN)
    assert [selection.pop().number for _ in range(3)] == [3, 4, 2]


def test_depth_first_does_not_dive_for_ever() -> None:
    """After so many nodes the one with the least bound is next."""
    selection = DepthFirst(max_dive=3)
    selection.push([Node(1, bound=7.0, depth=1), Node(2, bound=5.0, depth=1)])
    taken = []
    for number in range(3, 8):
        taken.append(selection.pop())
        selection.push([Node(number, bound=taken[-1].bound + 1.0, depth=taken[-1].depth + 1)])
    assert [node.number for node in taken] == [1, 3, 2, 5, 6]


def test_start_forgets() -> None:
    """A new run begins without nodes of the last one."""
    for selection in (BestBound(), DepthFirst()):
        selection.push(ROOT)
        selection.start()
        assert not selection.nodes()


def test_rows_of_a_node() -> None:
    """The decisions that are rows, in their order."""
    row = CountRow("<=", 1.0)
    assert Node(1, decisions=(Together("a", "b"), row)).rows == (row,)
