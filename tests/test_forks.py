"""What threads share does not hold up a process that is forked while one of them is at work."""

import functools
import os
import re
import sys
import threading
from pathlib import Path

import pytest

from cgboost.forks import cached_property
from cgboost.kernels.objects.counts import FeatureCounts

ROOT = Path(__file__).parent.parent


def test_no_lock_is_held_while_a_property_is_computed() -> None:
    """While one thread computes it, another computes that of another object."""
    entered, done = threading.Event(), threading.Event()

    class Own:
        def __init__(self, *, waits: bool) -> None:
            self.waits, self.n_computed = waits, 0

        @cached_property
        def value(self) -> object:
            self.n_computed += 1
            if self.waits:
                entered.set()
                done.wait(60.0)
            return object()

    assert isinstance(Own.__dict__["value"], functools.cached_property)
    slow, quick = Own(waits=True), Own(waits=False)
    first = threading.Thread(target=lambda: slow.value)
    second = threading.Thread(target=lambda: quick.value, daemon=True)
    first.start()
    assert entered.wait(60.0)
    second.start()
    second.join(30.0)
    try:
        assert not second.is_alive()
        assert quick.value is quick.value
        assert quick.n_computed == 1
    finally:
        done.set()
        first.join()


def test_the_value_of_the_derived_class_is_kept() -> None:
    """Also where it is made from that of the base, which is stored under the same name first."""

    class Base:
        @cached_property
        def value(self) -> int:
            return 1

    class Derived(Base):
        @cached_property
        def value(self) -> int:
            return super().value + 1

    derived = Derived()
    assert derived.value == derived.value == 2


def test_no_module_uses_another_lock() -> None:
    """Locks and cached properties are those of one module."""
    other = re.compile(r"functools import .*cached_property|@functools\.cached|threading\.R?Lock\(")
    found = [
        str(path.relative_to(ROOT))
        for top in ("cgboost", "solvers")
        for path in (ROOT / top).rglob("*.py")
        if other.search(path.read_text(encoding="utf-8"))
    ]
    own = "cgboost/additive/sql/session.py"  # its locks are forgotten in a forked process, too
    assert sorted(found) == [own, "cgboost/forks.py"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_lock_is_open_in_a_forked_process() -> None:
    """That of the counts of a kernel on objects, which a thread holds at that moment."""
    counts, held, done = FeatureCounts(), threading.Event(), threading.Event()

    def hold() -> None:
        with counts._lock:
            held.set()
            done.wait(60.0)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60.0)
    child = os.fork()
    if not child:  # pragma: no cover (in the child)
        threading.Timer(30.0, os._exit, (1,)).start()
        counts.matrices([["a"]], str, lambda item, number: {number(item): 1.0})
        with counts._lock:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    done.set()
    thread.join()
    assert status == 0
    with counts._lock:
        assert sys.getrefcount(counts) > 0
