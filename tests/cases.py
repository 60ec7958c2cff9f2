"""Cases, and laws over them: a part says once what it is, and each law is tested for all parts.

A list of cases names the parts of one kind (``tests/losses/cases.py``,
``tests/estimators/cases.py`` and their neighbours). A law is a test function with an argument
``case``::

    @law(LOSSES)
    def test_a_bound_is_below_the_objective(case: Case[Loss]) -> None:
        loss = case.make()

A new part is one more case; all laws then hold for it, or it says which does not and why.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import pytest

Part = TypeVar("Part")
Test = TypeVar("Test", bound=Callable[..., Any])


@dataclass(frozen=True, kw_only=True)
class Case(Generic[Part]):
    """One part that laws are tested for.

    What the laws of one kind of part need to know beside (data, a formula, what it declares) are
    fields of a class that inherits from this one.

    Parameters
    ----------
    name : str
        Its id among the tests.
    make : callable
        Makes the part; keywords are parameters in place of its own.
    but : mapping of str to str
        Laws that do not hold for it (names of test functions without ``test_``), each with the
        reason.
    """

    name: str
    make: Callable[..., Part]
    but: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def law(
    cases: Iterable[Case[Any]], where: Callable[[Case[Any]], bool] = lambda case: True
) -> Callable[[Test], Test]:
    """Test a function for each case, but for those that say that it does not hold for them.

    Parameters
    ----------
    cases : iterable of Case
        The parts.
    where : callable, optional
        Which of them the law is about.
    """

    def over(test: Test) -> Test:
        name = test.__name__.removeprefix("test_")
        kept = [case for case in cases if where(case) and name not in case.but]
        return pytest.mark.parametrize("case", kept, ids=str)(test)

    return over
