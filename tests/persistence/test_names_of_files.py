"""Names in files of earlier versions lead to what they are called today."""

import pytest

from cgboost import RBF
from cgboost.persistence import classes
from cgboost.tables.row_blocks import RowBlock


@pytest.mark.parametrize("old", classes.MOVED)
def test_what_has_moved_is_there(old: str) -> None:
    """The new name of a module or a room is that of modules, and the old one of none."""
    new = classes.name_today(f"cgboost.{old}:Any").partition(":")[0]
    there = classes.our_modules()
    assert any(name == new or name.startswith(f"{new}.") for name in there)
    assert f"cgboost.{old}" not in there


@pytest.mark.parametrize("old", classes.RENAMED)
def test_what_was_renamed_is_found(old: str) -> None:
    """By its old name, in its module of today, which has that name for nothing else."""
    kind = classes.known_class(old)
    assert (kind.__name__, kind.__module__) == (classes.RENAMED[old], old.partition(":")[0])


def test_names_are_whole_words() -> None:
    """A class that moved twice and was renamed is found; longer names stay what they are."""
    assert classes.known_class("cgboost.kernels.features.rbf:RBF") is RBF
    for module in ("additive.tables.rows", "tables.rows", "tables.row_blocks"):
        assert classes.known_class(f"cgboost.{module}:Block") is RowBlock
    for name in ("cgboost.kernels.base_x:Kernel", "cgboost.tables.row_blocks:Blocks"):
        assert classes.name_today(name) == name
