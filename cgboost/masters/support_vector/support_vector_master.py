"""The master of a loss and a penalty.

Primal   min F(Hα + b) + Ω(α)       F: the loss, Ω: the penalty
Dual     max gain(r) − Ω*(Hᵀr)      r: the pseudo-response, −∂F/∂f

The restricted problem of a loss with a box for r is solved by its dual over the rows, with working
sets, or where it is small by a simplex on the primal; that of a smooth loss by a proximal Newton
method on the primal.

[B] is Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, cast, get_args

import numpy as np

from cgboost._solvers import SolverFailure
from cgboost.arrays import Vector
from cgboost.exceptions import MasterError, see
from cgboost.forks import cached_property
from cgboost.generation.columns import Column, FloatArray
from cgboost.generation.protocols import SMALLEST_SCALE, EntryRule, MasterState, Priced, Vertex
from cgboost.generation.rounding import allowance, lost_digits
from cgboost.losses import EntropicLoss, SupportVectorLoss
from cgboost.optimizers.free_columns import FreeColumns
from cgboost.optimizers.live_dual import RestrictedPoint
from cgboost.optimizers.newton.smooth_loss import RowwiseLoss, as_master_loss
from cgboost.optimizers.newton.smooth_primal import SmoothPrimal
from cgboost.optimizers.reductions.reduction import Chain, Problem
from cgboost.optimizers.restricted_dual import RestrictedDual
from cgboost.optimizers.simplex.crossover import (
    COEFFICIENT_NOISE,
    MOST_BASIS_COLUMNS,
    crossover,
    unique_vertex,
)
from cgboost.optimizers.simplex.primal_simplex import PrimalSimplex, is_neighbour
from cgboost.optimizers.solver_choice import TO_OBJECTIVE, TO_OPTIMIZER, live_problem
from cgboost.optimizers.solver_options import (
    advice,
    checked_options,
    deadline_of,
    solver_errors_as_master_errors,
    time_left,
)
from cgboost.penalties.penalty import DualForm, Penalty
from cgboost.tolerances import COEFFICIENT_ROUNDING, LP_FEASIBILITY, UNMOVED

if TYPE_CHECKING:
    from cgboost.masters.support_vector.priced_points import PricedPoints, Scores
    from cgboost.optimizers.solver_comparison import SolverComparison

logger = logging.getLogger(__name__)

SignRule = Literal["free", "nonneg"]
Offset = Literal["none", "penalized", "free"]

SETBACKS = 10
"""So many answers worse than an earlier one, and no better bound, mean that the solver is lost."""

COARSE_SETBACKS = 25
"""`SETBACKS` of answers that are coarse on purpose."""

FEW_COLUMNS = 100
"""Up to so many columns a simplex is quick even where it cannot tell their limits from 0."""

SMALL_MARGIN = 1e-4
"""Margins are told apart down to this share of the largest entry of the columns."""

SCORE_NOISE = 1e-13
"""What rounding does to a score, relative to Σ|r| and the largest entry of a column. Some hundred
units of rounding, as of a long sum."""

MOST_IMBALANCE = 1e-7
"""Scores of free columns may be worth this much, relative to the objective: it is taken off the
bound. It is a tenth of the gaps at which models count as proven."""


@dataclass(frozen=True)
class WarmStart:
    """Where to start from: the optimum of a similar problem, or a guess at one's own.

    Attributes
    ----------
    coef : ndarray of shape (n_columns,)
    loss : SupportVectorLoss or None
        Of the similar problem, where it was solved as this one would be.
    live : (PrimalSimplex or SmoothPrimal, sequence of Column) or None
        The restricted problem itself at its optimum, and all of its columns: it belongs to the
        master that goes on with it.
    complete : bool
        Whether the family has no other columns.
    """

    columns: Sequence[Column] = ()
    coef: Vector = field(default_factory=lambda: np.zeros(0))
    intercept: float = 0.0
    loss: Any = None
    live: tuple[PrimalSimplex | SmoothPrimal, Sequence[Column]] | None = None
    complete: bool = False

    @classmethod
    def of(cls, columns: Sequence[Column], coef: Vector, intercept: float, **own: Any) -> Self:
        """From those columns that have a nonzero coefficient."""
        used = np.flatnonzero(coef)
        return cls([columns[j] for j in used.tolist()], coef[used], intercept, **own)


class SupportVectorMaster:
    """Restricted master of a loss and a penalty.

    Parameters
    ----------
    loss : SupportVectorLoss, or a loss on its rows (``Hinge().on(y, C * w)``)
        With C and the sample weights already in its box or its values. One on its rows becomes
        the box of its dual, or stays as it is where it is smooth
        (:func:`~cgboost.optimizers.newton.smooth_loss.as_master_loss`). A smooth loss has
        ``value(output)``, ``pseudo_response(output)``, ``curvature(output)``, ``gain(response)``,
        ``feasible(response)`` and ``n_rows``; every row's set of r must contain 0.
    penalty : Penalty
    coef : {"free", "nonneg"}
        Sign rule for the coefficients α.
    offset : {"none", "penalized", "free"}
        The offset b: absent, a constant column under the same norm, or unpenalized, which adds
        Σ r = 0 to the dual ([B] section 4.1).
    solver : str
        Any name of :func:`solvers.available_backends`, or ``"auto"``.
    solver_options : mapping of str to object, optional
        Options of the solver that is named, by its own names.
    free_columns : sequence of Column, or FreeColumns
        Columns without a penalty, whose coefficients are free in sign. They are the first ones of
        every state. With :class:`~cgboost.masters.FreeColumns` they are read where they lie.

    Attributes
    ----------
    expected_columns : int
        How many columns are expected in the end; 0 where that is not known. To be set before the
        first solve.
    accuracy : float
        The relative gap that a solve may leave, set by the loop before each of them
        (:class:`~cgboost.generation.protocols.Abilities`).
    """

    expected_columns: int = 0

    def __init__(
        self,
        loss: Any,
        penalty: Penalty,
        *,
        coef: SignRule = "free",
        offset: Offset = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
        free_columns: Sequence[Column] | FreeColumns = (),
    ) -> None:
        options = checked_options(solver, solver_options)
        for name, value, choices in (("coef", coef, SignRule), ("offset", offset, Offset)):
            if value not in get_args(choices):
                raise ValueError(f"{name} must be one of {get_args(choices)}, got {value!r}")
        self.penalty = penalty
        given = penalty.dual_loss(loss)
        sparse = solver == "auto" and penalty.threshold > 0 and penalty.radius is None
        self.loss = self._as_master_loss(given, sparse=sparse)
        free = free_columns if isinstance(free_columns, FreeColumns) else FreeColumns(free_columns)
        self.form = DualForm(penalty, coef == "free", offset, len(free))
        if penalty.is_positively_homogeneous and not self.loss.shrinks:
            raise ValueError(
                f"{penalty!r} needs a loss that is 0 or grows as the model shrinks to nothing: "
                "a margin that the loss chooses itself needs a BudgetMaster (L1Ball)"
            )
        self.two_sided = self.form.two_sided
        self.offset = offset
        self.columns = list(free.columns)
        self._free_columns = free
        self._check_free_columns(free)
        self.accuracy = 0.0
        self._best: RestrictedPoint | None = None
        self._best_bound = -np.inf
        self._begin_at: tuple[Vector, Any] | None = None
        self._setbacks, self._repriced, self._complete = 0, False, False
        # loss, as given: states are in its terms → _objective_loss: objective, bound and
        # pseudo-response are its own → _optimizer_loss: in units of the optimizer, which alone sees
        # it. Of a hinge with C all three are one object
        self._to_objective, between = Chain.of(Problem(given, self.form), TO_OBJECTIVE)
        self._objective_loss = self._as_master_loss(between.loss, sparse=sparse)
        self._to_optimizer, inner = Chain.of(Problem(self._objective_loss, self.form), TO_OPTIMIZER)
        self._optimizer_loss, self._solver, self._solver_options = inner.loss, solver, options
        self._comparison: SolverComparison | None = None
        if solver != "auto":
            from cgboost.optimizers.solver_comparison import SolverComparison  # named ones alone

            problem = Problem(inner.loss, self.form)
            opens = partial(live_problem, problem, "auto", None, free, vertex=False)
            self._comparison = SolverComparison(solver, opens)
        self._curved_loss = self._by_curvature(between.loss)
        able = self._curved_loss is not None or PrimalSimplex.takes(self._objective_loss, self.form)
        # whether a next price goes on with the live problem: the first of a path is enough
        self._can_reprice = solver == "auto" and able

    def _as_master_loss(self, loss: Any, *, sparse: bool) -> Any:
        """A loss by its dual box, or as a smooth one; ``sparse``: whether few α are not 0."""
        return as_master_loss(loss, sparse=sparse)

    def _total(self, response: Vector) -> float:
        """Σr, the score of a penalized offset."""
        return float(response.sum())

    @cached_property
    def _live(self) -> Any:
        """The live restricted problem: a dual, or a primal of smooth losses and few numbers.

        Made at its first use, with the columns of the first ``add``, or with none: how many there
        are, or are expected, decides between simplex and interior point, which takes 0 of them.
        """
        return self._open_live(self._optimizer_loss)

    def _open_live(self, loss: Any) -> Any:
        """A restricted problem of a loss in its units."""
        problem = Problem(loss, self.form, tuple(self.columns), self.expected_columns)
        solver, options = self._solver, self._solver_options
        return live_problem(problem, solver, options, self._free_columns, vertex=self._can_reprice)

    def _check_free_columns(self, free: FreeColumns) -> None:
        if not len(free):
            return
        for column in free.columns:
            self._check_shape(column)
        if self.penalty.radius is not None or isinstance(self.loss, EntropicLoss):
            raise ValueError(
                f"free_columns go with a penalty, and with a loss of one output for each row; got "
                f"{self.penalty!r} and a {type(self.loss).__name__}"
            )
        free.span(centred=self.offset == "free")

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the restricted problem."""
        for column in columns:
            self._check_shape(column)
        self.columns.extend(columns)  # from here on a column is its place in this list
        if new := self._seen_by_optimizer(columns):
            self._live.add(new)

    def _seen_by_optimizer(self, columns: Sequence[Column]) -> list[FloatArray]:
        """The values of columns after all reductions."""
        new = self._to_optimizer.columns(self._to_objective.columns(columns))
        return [column.values for column in new]

    def _check_shape(self, column: Column) -> None:
        if np.shape(column.values) != (self.loss.n_rows,):
            raise ValueError(
                f"column {column.key!r} has shape {np.shape(column.values)}, the master has "
                f"{self.loss.n_rows} rows"
            )

    def start_from(self, start: WarmStart) -> None:
        """Take in the columns of a similar problem, before the first :meth:`solve`.

        Their coefficients say which rows will be near their margin. Where only prices differ (for
        piecewise linear losses: not by much) it is gone on with the restricted problem itself. The
        answer does not depend on them.
        """
        self._complete = start.complete
        if len(self.columns) == self.form.n_free and self._takes_over(start):
            return
        place = {column.key: j for j, column in enumerate(self.columns)}
        new = [column for column in start.columns if column.key not in place]
        numbers = iter(range(len(place), len(place) + len(new)))
        places = [place[c.key] if c.key in place else next(numbers) for c in start.columns]
        self.add(new)
        coef = np.zeros(len(self.columns))
        coef[places] = start.coef
        if start.coef.any():
            self._start_near(coef, start.intercept)

    def take_up(self, columns: Sequence[Column], coef: Vector, intercept: Any) -> None:
        """Take in the columns of a run, and begin near its last coefficients."""
        self.add(columns)
        padded = np.zeros(len(self.columns))
        padded[: len(coef)] = coef
        if len(padded) > self.form.n_free:
            self._start_near(padded, intercept)

    def _start_near(self, coef: Vector, intercept: Any) -> None:
        """Begin near coefficients of all columns, without an offset where there is none."""
        intercept = 0.0 if self.form.offset == "none" else intercept
        start = self._begin_at = self._to_objective.start(coef, intercept)
        self._live.start_near(*self._to_optimizer.start(*start))

    def _by_curvature(self, loss: Any) -> RowwiseLoss | None:
        """The loss as Newton's method sees it, where a path goes on by that; None: it does not.

        Of a loss with a box that is curved inside, as Huber's with few rows that bend: cold, its
        dual is solved in less time, but an interior point is no beginning for another price.
        """
        sparse = self.form.threshold > 0 and self.form.radius is None
        if not (sparse and isinstance(self.loss, SupportVectorLoss) and hasattr(loss, "abilities")):
            return None
        curved = "hessian_diag" in loss.abilities and hasattr(loss, "curvature")
        return RowwiseLoss(loss) if curved else None

    def solved_along(self, columns: Any, prices: Vector, scores: Scores) -> PricedPoints | None:
        """The optima at many prices of the loss, in units of the present one, all at once.

        None for other problems than those of a smooth loss and sparse coefficients, and linear
        programs at one price over columns that are held.

        Parameters
        ----------
        columns : ndarray of shape (n_rows, n_columns), or Unread
            All columns of the family.
        prices : ndarray of shape (n_prices,)
            In ascending order, above 0.
        scores : callable
            As for :func:`~cgboost.masters.support_vector.priced_points.solved_along`.
        """
        loss = self._objective_loss if self._curved_loss is None else self._curved_loss
        plain = self.form.threshold > 0 and self.form.radius is None and not self.form.n_free
        plain = plain and not self.form.charges_offset and self._solver == "auto"
        linear = len(prices) == 1 and isinstance(columns, np.ndarray)
        linear = linear and PrimalSimplex.takes(loss, self.form)
        if not (plain and (linear or isinstance(loss, RowwiseLoss))):
            return None
        # paths and small problems alone need it
        from cgboost.masters.support_vector.priced_points import solved_along, solved_at_vertex

        if isinstance(loss, RowwiseLoss):
            points = solved_along(loss, self.form, columns, prices, scores)
        else:
            points = solved_at_vertex(loss, self.form, columns, scores)
        if points is None:
            return None
        nothing = RestrictedPoint(np.zeros(0), 0.0, np.zeros(1), np.zeros(0))
        shift = self._to_objective.invert(nothing).intercept
        return points._replace(intercept=points.intercept + shift)

    def _takes_over(self, start: WarmStart) -> bool:
        """Take over the restricted problem of another price; False if it is of another kind."""
        loss = self._optimizer_loss if self._curved_loss is None else self._curved_loss
        if self._can_reprice and not is_neighbour(self._objective_loss, start.loss):
            return False
        if self._can_reprice and start.live is None:
            if self._curved_loss is None:
                self._live = PrimalSimplex(self._objective_loss, self.form)
            else:
                self._live = self._open_live(loss)
        if start.live is None:
            return False
        live, columns = start.live
        if isinstance(live, SmoothPrimal):
            if not live.continues(loss, self.form, self._solver):
                return False
            self._repriced = True
            live.reprice(loss)
        elif self._can_reprice:
            live.reprice(self._objective_loss)
        else:
            return False
        self._live, self.columns = live, list(columns)
        return True

    def anticipated(self) -> MasterState | None:
        """The solution at the price before, which a path took over; None without one.

        The pricer sees there which columns are still missing.
        """
        if not self._repriced or self._complete:
            return None
        point = self._live.present
        return self._state(point, self._objective(point))

    @property
    def warm_start(self) -> WarmStart:
        """The columns with a nonzero coefficient in the last answer, for a similar problem."""
        if self._best is None:
            return WarmStart()
        best, live = self._to_objective.invert(self._best), self._live
        kept = (live, self.columns) if isinstance(live, (PrimalSimplex, SmoothPrimal)) else None
        loss = self._objective_loss if self._can_reprice else None
        complete = self._complete and kept is not None
        own = {"loss": loss, "live": kept, "complete": complete}
        return WarmStart.of(self.columns, best.coef, best.intercept, **own)

    def _solved(self, live: Any, time_limit: float | None) -> RestrictedPoint:
        """The answer of the live problem, of another one where the simplex of a path gives up."""
        if self._comparison is not None:
            point = self._comparison.solve(live, self._values_from, time_limit, self.accuracy)
            return cast(RestrictedPoint, point)
        if not isinstance(live, PrimalSimplex):
            return cast(RestrictedPoint, live.solve(time_limit, self.accuracy))
        try:
            return live.solve(time_limit)
        except SolverFailure as failure:
            logger.info("going on without the vertex: %s", failure)
        self._can_reprice = False
        self._live = self._open_live(self._optimizer_loss)
        self._live.add([column.values for column in self.columns])
        if self._best is not None:
            coef = np.zeros(len(self.columns))
            coef[: len(self._best.coef)] = self._best.coef
            self._live.start_near(coef, self._best.intercept)
        return cast(RestrictedPoint, self._live.solve(time_limit, self.accuracy))

    def _values_from(self, number: int) -> list[FloatArray]:
        """Those of the columns from a number on, free ones left out, as the optimizer sees them."""
        return self._seen_by_optimizer(self.columns[self.form.n_free + number :])

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Re-optimise the restricted problem.

        The objective is evaluated at the recovered (α, b) and the pseudo-response projected on its
        box, so that both bounds hold whatever the solver's accuracy.
        """
        try:
            with solver_errors_as_master_errors(self._advice):
                point = self._to_optimizer.invert(self._solved(self._live, time_limit))
        except MasterError as failure:
            if not (failure.timed_out and self._best is None and self.has_start):
                raise
            point = self._started
        objective = self._objective(point)
        scale, limited = self._scale(objective), getattr(self._live, "is_limited", False)
        if self._best is not None and objective > (least := self._objective(self._best)):
            rounding = allowance(self._objective_loss.magnitude(point.output, point.response))
            serious = objective > least + max(UNMOVED * scale, rounding) and not limited
            point = self._after_setback(point, serious=serious)
            objective = least
        else:
            self._setbacks = 0
        self._best = point
        return self._state(point, objective)

    @property
    def has_start(self) -> bool:
        """Whether a similar problem has left a model to begin from, of a loss with a finite box."""
        loss: Any = self._objective_loss
        plain = isinstance(loss, SupportVectorLoss) and loss.mass is None and not self.form.n_free
        plain = plain and not self.penalty.of_functions and self._begin_at is not None
        return plain and bool(np.isfinite(loss.variables.costs).all())

    @property
    def _started(self) -> RestrictedPoint:
        """The model to begin from; its pseudo-response is a derivative of the loss there."""
        assert self._begin_at is not None
        given, intercept = self._begin_at
        coef = np.zeros(len(self.columns))
        coef[: len(given)] = given
        output = np.full(self.loss.n_rows, float(intercept))
        for place in np.flatnonzero(coef):
            output += coef[place] * self.columns[place].values
        variables = self._objective_loss.variables
        rate = np.maximum(0.0, variables.rate(output))
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0: at a kink, where any will do
            u = np.minimum(
                variables.costs, np.nan_to_num(rate / variables.curvature, posinf=np.inf)
            )
        return RestrictedPoint(coef, intercept, output, variables.response(u), solved=False)

    def _state(self, point: RestrictedPoint, objective: float) -> MasterState:
        """What the loop sees of a point: its pseudo-response is one of the dual."""
        scale = self._scale(objective)
        response = self._objective_loss.feasible(point.response, balanced=self.offset == "free")
        level = (
            self._objective_loss.level(point.output)
            if self._objective_loss.level_is_offset
            else 0.0
        )
        outer = self._to_objective.invert(point)
        return MasterState(
            columns=tuple(self.columns),
            coef=outer.coef,
            intercept=outer.intercept + level,
            output=outer.output + level,
            pseudo_response=response,
            objective=objective,
            slack=self._objective_loss.slack(point.output),
            entry=self._entry(scale, response),
            scale=scale,
            magnitude=self._objective_loss.magnitude(point.output, response),
            solved=point.solved,
        )

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """Lower bound on the optimum over *all* columns, from an exact pricing pass.

        None where the scores of free columns are too far from 0 for one.
        """
        response = state.pseudo_response
        imbalance = self._live.columns.imbalance(state.coef, response) if self.form.n_free else 0.0
        if imbalance > MOST_IMBALANCE * state.gap_scale:
            return None
        total = self._total(response) if self.form.charges_offset else 0.0
        bound = self.penalty.bound(
            self._objective_loss, response, state.entry, priced, offset_score=total
        )
        bound -= imbalance
        if bound > self._best_bound + UNMOVED * state.gap_scale:
            self._best_bound, self._setbacks = bound, 0
        return bound

    def crossover(
        self, coef: Vector, intercept: float, *, time_limit: float | None = None
    ) -> Vertex | None:
        """Optimal vertex over the columns of the last round, from a point near it.

        Of an earlier round it is one over the columns in use, as it is where some columns are so
        large that the dual sees only what their directions leave of them. A coarse answer is solved
        to the end before: from there, the simplex has few pivots to make.

        None where they are left as they are: there are no vertices, they stand on one already, as
        the simplex of a named solver leaves them, or the basis would be too large, or there are
        many columns so large that a simplex cannot tell their limits from 0, and takes long.

        Parameters
        ----------
        coef : ndarray of shape (at most n_columns,)
            Near the optimum over the columns where it is not 0.
        time_limit : float or None
            In seconds.

        Raises
        ------
        MasterError
            If the simplex gives no answer.
        """
        live = self._live
        if not (isinstance(live, RestrictedDual) and live.ends_inside):
            return None
        coef, intercept = self._to_objective.start(coef, intercept)
        used = np.flatnonzero(coef)
        if live.variables.curvature.any() or not 0 < len(used) <= MOST_BASIS_COLUMNS:
            return None
        if live.largest_entry * LP_FEASIBILITY > 1.0 and len(used) > FEW_COLUMNS:
            return None
        deadline = deadline_of(time_limit)
        noise, columns, polished = COEFFICIENT_NOISE, live.columns, None
        if len(coef) == columns.count:
            exact, polished = live.session.solved, live.polish(time_limit)
            if exact or polished is not None:
                basis, noise = live.basis, COEFFICIENT_ROUNDING
                if basis is not None and (
                    unique := unique_vertex(live.loss, self.form, columns, basis)
                ):
                    return self._moved(unique, unique.coef)
            if polished is not None:
                coef, intercept = polished
        if self.form.threshold and self.form.quadratic and len(coef) == columns.count:
            size = np.abs(coef) * columns.scales
            rounding = size < COEFFICIENT_ROUNDING * size.max(initial=0.0)
            rounding[: self.form.n_free] = False
            polished = coef, intercept = np.where(rounding, 0.0, coef), intercept
        if self.form.n_free or self.form.quadratic > 0:  # inside the optimal face, if there is one
            if polished is None:  # of an earlier round, perhaps: there are more columns now
                return None
            output = live.columns.combine(coef) + live.columns.shift(coef) + intercept
            return self._vertex(RestrictedPoint(coef, intercept, output, response=np.zeros(0)))
        chosen = np.arange(len(coef))
        if len(coef) < columns.count or len(columns.large):
            chosen = np.flatnonzero(coef)
            columns = columns.part(chosen)
        left = time_left(deadline)
        with solver_errors_as_master_errors(self._advice):
            point = crossover(live.loss, self.form, columns, coef[chosen], intercept, left, noise)
        vertex = np.zeros(len(coef))
        vertex[chosen] = point.coef
        return self._moved(point, vertex)

    def _moved(self, point: RestrictedPoint, coef: Vector) -> Vertex:
        """The vertex with these coefficients of all columns, where the next round begins."""
        point = replace(point, coef=coef)
        if self._best is not None and len(coef) == len(self._best.coef):
            self._best = replace(point, response=self._best.response)
        return self._vertex(point)

    def _vertex(self, point: RestrictedPoint) -> Vertex:
        outer = self._to_objective.invert(point)
        return Vertex(outer.coef, outer.intercept, self._objective(point))

    def _entry(self, scale: float, response: Vector) -> EntryRule:
        """The rule by which pricers compare scores, gaps relative to ``scale``."""
        largest = noise = 0.0
        if self.penalty.compares_scores:
            scores = self._live.scores(response)
            largest = float(self.form.sizes(scores, self._total(response)).max(initial=0.0))
            noise = SCORE_NOISE * float(np.abs(response).sum()) * self._live.largest_entry
        return self.penalty.entry(
            two_sided=self.two_sided, scale=scale, largest=largest, noise=noise
        )

    def _scale(self, objective: float) -> float:
        """What gaps are relative to.

        With a margin of the loss's own the objective is 0 at α = 0 and as small as the margin
        elsewhere: there, it is not compared with 1 but with what a small margin would be worth.
        """
        if not self.loss.chooses_margin:
            return self.form.gap_scale(self._objective_loss, objective)
        # α·Hᵀr with Σ|r| = mass: a score is at most mass·max|h|, and a margin counts as often
        largest = self._live.largest_entry or 1.0  # without a column as with one of ones
        score = self.loss.mass.amount * largest
        worth = SMALL_MARGIN * self.penalty.conjugate(np.array([score]))
        return max(abs(objective), worth, SMALLEST_SCALE)

    def _advice(self) -> str:
        return advice(self.loss, self._live.largest_entry)

    def _objective(self, point: RestrictedPoint) -> float:
        return self.form.value(point.coef, point.intercept) + float(
            self._objective_loss.value(point.output)
        )

    def _after_setback(self, point: RestrictedPoint, *, serious: bool) -> RestrictedPoint:
        """The last point, which is still feasible, with the pseudo-response of a worse answer.

        More columns cannot raise the optimum: if the objective rises, the answer was inexact (or,
        where that is not serious, just as good).
        """
        assert self._best is not None
        self._setbacks += serious
        if self._setbacks >= (SETBACKS if point.solved else COARSE_SETBACKS):
            raise MasterError(
                f"neither objective nor bound move: {self._setbacks} answers of the solver were "
                f"worse than the one before them; {self._advice()}"
                f"{lost_digits(self.columns, point.response)}{see('solvers')}"
            )
        coef = np.zeros(len(point.coef))
        coef[: len(self._best.coef)] = self._best.coef
        return replace(self._best, coef=coef, response=point.response, solved=point.solved)
