"""Loss functions: their abilities, and losses on data for masters.

A :class:`Loss` has parameters and no data. All its methods work per row, for a target y and an
output f of shape (n_rows,); it is convex in f. ``loss.on(y, weights)`` binds it to data:

    L(f) = Σ w_i ℓ(y_i, f_i)
    r = −∂L/∂f                          the pseudo-response
    gain(r) = −Σ w_i ℓ*(y_i, −r_i/w_i)   the dual objective without the penalty's part

With the conjugate ℓ*(y, s) = sup_f s·f − ℓ(y, f) the Fenchel–Young inequality reads

    gain(r) ≤ L(f) + r·f     for all f and r, with equality for the pseudo-response at f.

Stagewise and corrective boosting only need a :class:`DifferentiableLoss`: its value, r, the Newton
weights ∂²L/∂f² (the diagonal), the best constant, and the best step along a direction. A loss
lists its abilities, and :func:`require` compares them with the needs of a master. Names are those
of scikit-learn.
"""

from __future__ import annotations

import functools
import importlib
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.exceptions import UnsupportedLossError
from cgboost.forks import cached_property
from cgboost.losses.dual.support_vector import ZERO_SUM, SupportVectorLoss, project_on_sum
from cgboost.tolerances import UNIT_ROUNDOFF

Expression = Any
"""A CVXPY expression (CVXPY's classes are not imported here)."""

Ability = Literal[
    "value", "gradient", "hessian_diag", "best_constant", "dual_box", "conjugate", "to_cvxpy"
]
"""What a loss may be able to do: the name of a method."""

PROOF: tuple[Ability, ...] = ("hessian_diag", "conjugate")
"""What a master with a bound needs of a loss that has no dual box."""

TAKES: dict[str, tuple[Ability, ...]] = {
    "CGBoostClassifier, CGBoostRegressor, LPBoostClassifier, LPBoostRegressor, "
    "SupportVectorMaster": PROOF,
    "ConvexMaster": ("to_cvxpy",),
    "StagewiseMaster, CorrectiveMaster": ("gradient",),
    "AnyBoostClassifier, AnyBoostRegressor, GradientBoostingRegressor, StagewiseRegressor, "
    "LinearTreeBoostingRegressor, BLFClassifier, BLFRegressor": ("gradient",),
}
"""What masters and estimators need of a loss."""

LINE_SEARCH_STEPS = 100
"""Steps of a line search at most; Newton's method with bisection needs far fewer."""

UNBENT = 1e-14
"""A slope this small compared with the first one ends a line search. The rounding of its sum over
rows leaves little less: a smaller value might never be met. Where the first is little more than
that rounding, a unit of it, relative to the terms of the sum, ends the search."""

SLOW = 0.25
"""A Newton step that leaves more than this of the slope is followed by a bisection."""

LAST_STEP = 1e-8
"""A Newton step this short, relative to the way gone, is the last: about its square is left."""

LONGEST_DOUBLING = 60
"""A step that still goes down after so many doublings has no minimum."""

ROUNDING = 1e-12
"""A slope outside the domain of the conjugate by this, relative to its size, is at the end. A
division by the weight is off by 1e-16 or so; a larger value would take a bound from outside."""


def require(loss: Any, needs: Collection[Ability], by: str) -> None:
    """Raise :class:`UnsupportedLossError` unless the loss has the abilities.

    Parameters
    ----------
    by : str
        What needs them, for the message.
    """
    if missing := missing_in(loss, needs):
        raise unsupported(loss, missing, by)


def missing_in(loss: Any, needs: Collection[Ability]) -> list[Ability]:
    """What of the needs a loss lacks. For a proof, a dual box is enough."""
    if needs == PROOF and "dual_box" in loss.abilities:
        return []
    return [need for need in needs if need not in loss.abilities]


def unsupported(loss: Any, missing: Collection[Ability], by: str) -> UnsupportedLossError:
    """The error of a loss that lacks abilities: what is missing, and what accepts the loss."""
    able = [who for who, needs in TAKES.items() if not missing_in(loss, needs)]
    return UnsupportedLossError(
        f"{by} needs {' and '.join(missing)} of a loss, and {loss!r} has "
        f"{', '.join(sorted(loss.abilities))} only. It can be used with {', '.join(able)}."
    )


class DifferentiableLoss(ABC):
    """A convex loss of the output f on the training rows.

    Parameters
    ----------
    target : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
        Not negative.
    """

    n_outputs = 1
    attains_minimum = True
    """Whether a loss near 0 is near a minimum; otherwise only f without end makes it 0."""

    def __init__(self, target: Vector, weights: Vector) -> None:
        if np.shape(target) != np.shape(weights):
            raise ValueError(
                f"weights must have one entry a row: shape {np.shape(weights)} for "
                f"{np.shape(target)}"
            )
        self.target, self.weights = target, weights

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return len(self.weights)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of f and r: (n_rows,), or (n_rows, n_outputs) for several outputs."""
        return (self.n_rows,) if self.n_outputs == 1 else (self.n_rows, self.n_outputs)

    @abstractmethod
    def value(self, output: Vector) -> float:
        """Σ w_i loss_i(f_i)."""

    @abstractmethod
    def pseudo_response(self, output: Vector) -> Vector:
        """The negative gradient r = −∂loss/∂f, of the shape of f."""

    @abstractmethod
    def curvature(self, output: Vector) -> Vector:
        """The diagonal of ∂²loss/∂f², of the shape of f; 0 for a piecewise linear loss."""

    def derivatives(self, output: Vector) -> tuple[Vector, Vector]:
        """The pseudo-response and the curvature, which may have work in common."""
        return self.pseudo_response(output), self.curvature(output)

    @abstractmethod
    def constant(self) -> float | Vector:
        """The best constant output; shape (n_outputs,) where there are several."""

    def hessian(self, output: Vector, columns: Vector) -> Vector:
        """Second derivatives along columns, shape (n_columns, n_columns); one output.

        If the loss has no curvature in any row, the weights are used instead of the curvature.
        """
        curvature = self.curvature(output)
        if not curvature.any():  # as for residuals that are all beyond Huber's δ
            curvature = self.weights
        return np.asarray((columns * curvature[:, None]).T @ columns, dtype=np.float64)

    def newton_step(self, output: Vector, direction: Vector) -> float:
        """r·h / h·Wh for the direction h and the Newton weights W; 0 if h·Wh is 0."""
        slope = float(np.vdot(self.pseudo_response(output), direction))
        bend = float(np.vdot(self.curvature(output), direction**2))
        return slope / bend if bend > 0 else 0.0

    def line_search(self, output: Vector, direction: Vector) -> float:
        """The c that minimises the loss of f + c·h, for the direction h.

        Uses Newton's method on the derivative, inside a bracket that every evaluation narrows.

        Raises
        ------
        UnboundedStepError
            If the loss decreases without bound along h (a perfect classifier).
        """

        def along(step: float) -> tuple[float, float]:
            """−1 times the first derivative of the loss by the step, and the second."""
            response, curvature = self.derivatives(output + step * direction)
            return float(np.vdot(response, direction)), float(np.vdot(curvature, square))

        square = direction**2
        response, curvature = self.derivatives(output)
        first, bend = float(np.vdot(response, direction)), float(np.vdot(curvature, square))
        rounding = UNIT_ROUNDOFF * float(np.vdot(np.abs(response), np.abs(direction)))
        if abs(first) <= rounding:
            return 0.0
        least = max(UNBENT * abs(first), rounding)
        sign = float(np.sign(first))
        low, high, before = 0.0, np.inf, np.inf
        step = abs(first) / bend if bend > 0 else 1.0
        for _ in range(LINE_SEARCH_STEPS):
            farthest = 2.0 * max(low, 1.0)  # while nothing is known of what is beyond
            step = min(step, farthest)
            if not low < step < high:
                step = min(0.5 * low + 0.5 * high, farthest)
            slope, bend = along(sign * step)
            here = sign * slope
            low, high = (step, high) if here > 0 else (low, step)
            slow = abs(here) > SLOW * before  # the diagonal may be far from the whole Hessian
            if bend > 0 and not slow and abs(here) <= LAST_STEP * step * bend:
                return sign * (step + here / bend)
            if abs(here) <= least or high - low <= np.spacing(high):
                if high < np.inf or sign * along(sign * farthest)[0] <= 0.0:
                    break
                low = farthest  # the slope vanishes, and there is no minimum
            if low > 2.0**LONGEST_DOUBLING:
                raise UnboundedStepError("the loss falls without end along this column")
            step = 0.5 * (low + high) if slow or bend <= 0 else step + here / bend
            before = abs(here)
        return sign * step


class UnboundedStepError(ValueError):
    """A line search is unbounded: the column is right on every row on which it is nonzero."""


@dataclass(frozen=True)
class Loss(ABC):
    """A convex loss ℓ(y, f) of one row, with its parameters and no data.

    Subclasses are frozen dataclasses: they are compared, printed, pickled and cloned by their
    parameters. ``value`` and ``gradient`` are required; overriding other methods adds abilities.

    Attributes
    ----------
    name : str
        Its name in the registry, as in scikit-learn.
    classification : bool
        Whether targets are labels ±1.
    attains_minimum : bool
        Whether a loss near 0 is near a minimum; otherwise it approaches 0 only as f diverges.
    n_outputs : int
        Number of outputs per row: 1 except for the multinomial deviance.
    """

    name: ClassVar[str] = ""
    classification: ClassVar[bool] = False
    attains_minimum: ClassVar[bool] = True
    of_residuals: ClassVar[bool] = False
    """Whether ℓ(y, f) depends on y − f alone: adding a number to both changes nothing."""
    squares_outliers: ClassVar[bool] = False
    """Whether it grows with the square of a large residual: one may be nearly all of the loss."""
    is_score: ClassVar[bool] = False
    """Whether models are compared by it: mean errors say little of what it asks for."""
    log_odds: ClassVar[float | None] = None
    """Log-odds of y = 1 in one unit of f, where the expected loss is least there; else None."""
    weighted_class: ClassVar[type[WeightedLoss] | None] = None
    """The class of the loss on training rows; None: :class:`WeightedLoss`."""

    @property
    def n_outputs(self) -> int:
        """Number of outputs per row."""
        return 1

    @property
    def abilities(self) -> frozenset[Ability]:
        """The available methods: those that the class overrides, and those based on them."""
        return _abilities(type(self))

    def check_target(self, y: Vector) -> None:  # noqa: B027 (most losses take any number)
        """Raise ValueError if the loss is not defined for a target."""

    def attains_minimum_of(self, y: Vector) -> bool:
        """Whether no sequence of f without end is better than all f for these targets."""
        return self.attains_minimum

    def inverse_link(self, f: Vector) -> Vector:
        """The prediction of regressors: f, or e^f if f is a logarithm."""
        return f

    def in_units(self, unit: float) -> tuple[Loss, float] | None:
        """A loss ℓ' and a factor with ℓ(unit·y, unit·f) = factor·ℓ'(y, f); None if unknown."""
        return None

    @abstractmethod
    def value(self, y: Vector, f: Vector) -> Vector:
        """ℓ(y, f) of every row."""

    @abstractmethod
    def gradient(self, y: Vector, f: Vector) -> Vector:
        """∂ℓ/∂f; at a kink the subgradient nearest to 0."""

    def hessian_diag(self, y: Vector, f: Vector) -> Vector:
        """∂²ℓ/∂f²; piecewise linear losses have none."""
        raise self._lacks("hessian_diag")

    def derivatives(self, y: Vector, f: Vector) -> tuple[Vector, Vector]:
        """``gradient`` and ``hessian_diag``; override it where they have work in common."""
        return self.gradient(y, f), self.hessian_diag(y, f)

    def best_constant(self, y: Vector, weights: Vector) -> float | Vector:
        """The constant c that minimises Σ w_i ℓ(y_i, c); by a line search from 0."""
        return self.on(y, weights).line_search(np.zeros(len(y)), np.ones(len(y)))

    def dual_box(self, y: Vector, cost: Vector) -> SupportVectorLoss:
        """Σ cost_i ℓ(y_i, f_i) by its dual: a target, a box for r, a tube and a quadratic term."""
        raise self._lacks("dual_box")

    def conjugate(self, y: Vector, s: Vector) -> Vector:
        """ℓ*(y, s) = sup_f s·f − ℓ(y, f) of every row, inf outside :meth:`domain`.

        With a dual box it is target·s + ε|s| + ½ q s² for the quadratic term q.
        """
        box = self._unit_box(y, "conjugate")
        bent = 0.0 if box.curvature is None else box.curvature
        inside = (-box.upper <= s) & (s <= -box.lower)
        value = box.target * s + box.epsilon * np.abs(s) + 0.5 * bent * s**2
        return np.where(inside, value, np.inf)

    def domain(self, y: Vector) -> tuple[Vector, Vector]:
        """The smallest and largest slopes s, possibly infinite, for which ℓ*(y, s) is finite.

        By default those of the dual box, or all; then ``conjugate`` is inf where it is not finite.
        """
        if not _overrides(self, "dual_box"):
            return np.full(len(y), -np.inf), np.full(len(y), np.inf)
        box = self._unit_box(y, "conjugate")
        return -box.upper, -box.lower

    def sizes(self, y: Vector, f: Vector) -> Vector:
        """Sizes of the numbers that ℓ(y, f) is a difference of, which rounding is relative to.

        |y| and |f|, times what the loss changes with them; other terms, where a loss has them.
        """
        return np.abs(self.gradient(y, f)) * (np.abs(y) + np.abs(f))

    def to_cvxpy(self, y: Vector, f: Expression) -> Expression:
        """ℓ(y, f) as a convex CVXPY expression of shape (n_rows,)."""
        raise self._lacks("to_cvxpy")

    def on(self, y: Vector, weights: Vector) -> WeightedLoss:
        """The loss on training rows: Σ w_i ℓ(y_i, f_i).

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
        weights : ndarray of shape (n_rows,)
            What a unit of loss of each row costs, not negative: C·w of certified estimators.

        Raises
        ------
        ValueError
            If a target is invalid for this loss, or shapes differ.
        """
        return (self.weighted_class or WeightedLoss)(self, y, weights)

    def _unit_box(self, y: Vector, ability: Ability) -> SupportVectorLoss:
        if not _overrides(self, "dual_box"):
            raise self._lacks(ability)
        return self.dual_box(y, np.ones(len(y)))

    def _lacks(self, ability: Ability) -> UnsupportedLossError:
        return unsupported(self, (ability,), f"{ability}()")


class WeightedLoss(DifferentiableLoss):
    """A loss on training rows, L(f) = Σ w_i ℓ(y_i, f_i); created by ``loss.on(y, weights)``.

    Parameters
    ----------
    loss : Loss
    target : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
        The costs of the rows, C·w of certified estimators; not negative. A row of weight 0 has
        r = 0.
    """

    def __init__(self, loss: Loss, target: Vector, weights: Vector) -> None:
        loss.check_target(target)
        super().__init__(target, weights)
        self.loss = loss
        self.n_outputs = loss.n_outputs
        self.attains_minimum = loss.attains_minimum_of(target[weights > 0])

    def __repr__(self) -> str:
        return f"{self.loss!r}.on({self.n_rows} rows)"

    @property
    def abilities(self) -> frozenset[Ability]:
        """Those of the loss."""
        return self.loss.abilities

    @cached_property
    def box(self) -> SupportVectorLoss:
        """The loss by its dual, the weights for costs."""
        return self.loss.dual_box(self.target, self.weights)

    def value(self, output: Vector) -> float:
        """Σ w_i ℓ(y_i, f_i)."""
        return float(self.weights @ self.loss.value(self.target, output))

    def pseudo_response(self, output: Vector) -> Vector:
        """The pseudo-response r = −w ∂ℓ/∂f, of the shape of f."""
        return -self._weighted(self.loss.gradient(self.target, output))

    def curvature(self, output: Vector) -> Vector:
        """The Newton weights w ∂²ℓ/∂f², of the shape of f; 0 for a loss without Hessian."""
        if "hessian_diag" not in self.abilities:
            return np.zeros(self.shape)
        return self._weighted(self.loss.hessian_diag(self.target, output))

    def derivatives(self, output: Vector) -> tuple[Vector, Vector]:
        """The pseudo-response and the Newton weights, by one call of the loss."""
        if "hessian_diag" not in self.abilities:
            return super().derivatives(output)
        gradient, hessian = self.loss.derivatives(self.target, output)
        return -self._weighted(gradient), self._weighted(hessian)

    def constant(self) -> float | Vector:
        """The best constant output; shape (n_outputs,) where there are several."""
        return self.loss.best_constant(self.target, self.weights)

    def magnitude(self, output: Vector, response: Vector) -> float:
        """Σ w_i times the sizes of the numbers that the loss is a difference of."""
        return float(self.weights @ self.loss.sizes(self.target, output))

    def gain(self, response: Vector) -> float:
        """−Σ w_i ℓ*(y_i, −r_i/w_i): the dual objective without the penalty's part.

        −inf if r is infeasible. It is at most value(f) + r·f for every f, with equality for the
        pseudo-response at f.
        """
        y, w, counts = self.target, self.weights, self.weights > 0
        if not counts.all():
            if response[~counts].any():
                return -np.inf
            y, w, response = y[counts], w[counts], response[counts]
        slopes, (lower, upper) = -response / w, self.loss.domain(y)
        inside = np.clip(slopes, lower, upper)
        if np.any(np.abs(inside - slopes) > ROUNDING * (1.0 + np.abs(slopes))):
            return -np.inf
        values = self.loss.conjugate(y, inside)
        if np.isnan(values).any():
            i = int(np.flatnonzero(np.isnan(values))[0])
            raise UnsupportedLossError(
                f"{self.loss!r}.conjugate(y, s) must be a number or inf, got nan for y={y[i]:g}, "
                f"s={inside[i]:g}: return inf there, or leave such s out of domain(y)"
            )
        return -float(w @ values)

    def feasible(self, response: Vector, *, balanced: bool = False) -> Vector:
        """The nearest r inside the domain of the dual; r = 0 in rows of weight 0.

        Parameters
        ----------
        response : ndarray of shape (n_rows,)
        balanced : bool, default=False
            Whether also Σr = 0, as required by the dual of a free offset.
        """
        low, high = self.loss.domain(self.target)
        counts = self.weights > 0
        lower = np.where(counts, -np.where(counts, self.weights, 1.0) * high, 0.0)
        upper = np.where(counts, -np.where(counts, self.weights, 1.0) * low, 0.0)
        inside = np.clip(response, lower, upper)
        if balanced and abs(inside.sum()) > ZERO_SUM * np.abs(inside).sum():
            return project_on_sum(response, lower, upper, 0.0)
        return inside

    def part(self, rows: NDArray[np.intp]) -> WeightedLoss:
        """The loss on some of the rows."""
        return self.loss.on(self.target[rows], self.weights[rows])

    def shifted(self, by: float) -> WeightedLoss:
        """The loss of y − ``by`` instead of y, which has the value of y at f − ``by``."""
        return self.loss.on(self.target - by, self.weights)

    def to_cvxpy(self, f: Expression) -> Expression:
        """L(f) as a convex scalar expression."""
        return self.weights @ self.loss.to_cvxpy(self.target, f)

    def _weighted(self, values: Vector) -> Vector:
        return values * (self.weights if values.ndim == 1 else self.weights[:, None])


def import_cvxpy() -> Any:
    """CVXPY, which is only imported where a loss is written in it."""
    return importlib.import_module("cvxpy")


@functools.cache
def _abilities(kind: type[Loss]) -> frozenset[Ability]:
    """The methods that a class of losses has."""
    own: set[Ability] = {
        name for name in get_args(Ability) if getattr(kind, name) is not getattr(Loss, name)
    }
    if "dual_box" in own:
        own.add("conjugate")
    return frozenset(own | {"best_constant"})


def _overrides(loss: Loss, name: str) -> bool:
    return getattr(type(loss), name) is not getattr(Loss, name)
