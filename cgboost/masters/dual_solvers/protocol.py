"""What a restricted dual needs of the session that holds the live part of its problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from cgboost.losses.dual_box import Indices, Vector


class LiveDual(ABC):
    """A problem over some sides of a loss and some columns, which come and go.

    Attributes
    ----------
    at_cap : ndarray of bool, shape (n_sides,)
        Where the sides that are not in the session stand: at their cap, or at 0.
    kept : ndarray
        The sides in the session.
    rows : ndarray
        The columns in the session, and negative numbers for rows that are none.
    gap : float
        What the last solve has left open, in units of the objective.
    solved : bool
        Whether solving again would come no nearer to the optimum.
    """

    at_cap: NDArray[Any]
    rows: Indices
    gap: float = 0.0
    solved: bool = True

    if TYPE_CHECKING:

        @property
        def kept(self) -> Indices:
            """An attribute, or computed."""

    @property
    @abstractmethod
    def absent(self) -> Indices:
        """The sides that are fixed."""

    @abstractmethod
    def hold(self, columns: Indices) -> None:
        """Put columns into the session."""

    @abstractmethod
    def release(self, columns: Indices) -> None:
        """Take columns out of the session."""

    @abstractmethod
    def idle(self, coef: Vector) -> Indices:
        """Columns in the session that are slack, at coefficients ``coef``."""

    @abstractmethod
    def free(self, sides: Indices) -> None:
        """Put sides into the session."""

    @abstractmethod
    def fix(self, sides: Indices, at_cap: NDArray[Any]) -> None:
        """Take sides out of the session and leave them at 0 or at their cap."""

    @abstractmethod
    def solve(self, time_limit: float | None) -> Any:
        """Solve; the answer is for :meth:`side_values` and :meth:`multipliers`."""

    @abstractmethod
    def side_values(self, solution: Any) -> Vector:
        """Value u of every side, kept or fixed."""

    @abstractmethod
    def multipliers(self, solution: Any) -> tuple[Vector, float, float]:
        """Coefficients of all columns, the offset and the level."""

    def aim(self, accuracy: float, *, again: bool) -> None:
        """How well to solve from now on, as a relative gap; 0: as well as can be.

        Above 0 a solve may end sooner, with ``solved`` false; less so ``again``, where no column is
        new.
        """
        return

    def outgrown(self) -> bool:
        """Take note that columns are new; whether the session was opened anew for them."""
        return False

    def shrink_unit(self) -> bool:
        """Open the session in a smaller unit; False if there is none."""
        return False
