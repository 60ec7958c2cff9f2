"""Master of sparse coefficients with linear constraints on them.

Primal   min F(Hα + b) + Ω(α),   Aα ≤ d (or = d)
Dual     max gain(r) − λ·d − Ω*(Hᵀr − Aᵀλ),   λ ≥ 0 (free for an equation),  Σr = 0 with an offset

The constraints are rows behind the training rows (:mod:`cgboost.losses.dual.limited`), and a
relaxation of them is what a :class:`SupportVectorMaster` solves: at a price M of what is beyond a
limit, which grows while a multiplier stands at it, or with multipliers that move. The point that it
finds is moved onto the limits by the shortest way of the coefficients in use; objective and bound
are those of the problem itself, so that neither rests on a relaxation or on its price. A free
offset is a column (1, 0) without a penalty, since it takes no part in constraints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cgboost.arrays import Vector
from cgboost.exceptions import MasterError, see
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState, Priced, Vertex
from cgboost.losses import SupportVectorLoss
from cgboost.losses.dual.limited import AugmentedLoss, LimitedLoss, Limits, with_penalised_limits
from cgboost.masters.constrained.constrained_master import CONSTANT
from cgboost.masters.support_vector.support_vector_master import (
    MOST_IMBALANCE,
    Offset,
    SignRule,
    SupportVectorMaster,
    WarmStart,
)
from cgboost.optimizers.free_columns import FreeColumns
from cgboost.optimizers.newton.smooth_loss import as_master_loss
from cgboost.optimizers.reductions.centred_targets import centre_of
from cgboost.optimizers.solver_options import deadline_of, time_left
from cgboost.penalties.penalty import DualForm, Penalty

FIRST_LIMIT_PRICE = 100.0
"""M at first. Rows have entries of 1 at most and a coefficient costs 1, so that multipliers are
as large as some scores."""

PRICE_GROWTH = 30.0
"""The factor of M where a multiplier stands at it."""

AT_PRICE = 0.999
"""A multiplier of this share of M stands at it."""

MOST_PRICE = 1e14
"""M at most: a solver that finds no point on the limits there finds none at higher prices."""

FIRST_WEIGHT = 10.0
"""ρ at first, relative to the median curvature along a column: limits are met about as well as rows
of the loss are, and one digit more with each step."""

WEIGHT_GROWTH, MOST_WEIGHT = 10.0, 1e8
"""The factor of ρ where a step of the multipliers leaves more than this share …"""

LEFT_BEYOND = 0.25
"""… of what was beyond limits, and the most that ρ grows by: digits of a Newton step go with it."""

AT_REST = 1e-14
"""Multipliers that a step moves by this share of the largest have come to rest."""

MOST_MULTIPLIER_STEPS = 60
"""Steps of the price or of the multipliers in one solve."""

ON_LIMITS = 1e-9
"""A limit holds if it is exceeded by this, relative to its terms. Moving onto limits leaves their
rounding, 1e-15."""

HARDLY_BEYOND = 1e-12
"""Nor does it count if this is all, in units of the penalty or of the largest coefficient."""

ROUNDING_SHARE = 1e-3
"""Moving onto limits ends where they are exceeded by this share of that …"""

MOST_MOVES = 4
"""… or after so many moves: each takes in limits that the one before has led beyond."""

NEAR_LIMIT = 1e3
"""Limits nearer than so many times what counts as on them stay as near."""

FAR_LIMIT = 10.0
"""Limits are no farther than this, or so many times the loss of a constant, which coefficients do
not come near: digits of a solver go with the size of its numbers. Where they do, all count."""

LEAST_PIVOT = 1e-10
"""Limits that are sums of others but for this share move nothing."""

NOISE_OF_RELAXATION = 1e-10
"""Coefficients of this share of the largest are what a relaxation leaves of 0."""

LEAST_SIZE = 1e-5
"""Where limits are not met without a change of signs, coefficients move by this share of the
largest."""

EQUAL = 1e-14
"""Objectives that differ by this, relative to the scale of gaps, are one."""

RESTRICTED_GAP = 1e-8
"""The relative gap at which multipliers stay, as Newton steps do."""


@dataclass(frozen=True)
class ConstrainedStart(WarmStart):
    """Where a similar problem starts from, with the multipliers of its limits.

    Attributes
    ----------
    multipliers : ndarray of shape (n_limits,)
    response : ndarray of shape (n_rows,)
        The pseudo-response, of which they are a part.
    weight : float
        ρ.
    total_cost : float
        The sum of the costs of all rows; multipliers and ρ go with it.
    """

    multipliers: Vector = field(default_factory=lambda: np.zeros(0))
    response: Vector = field(default_factory=lambda: np.zeros(0))
    weight: float = 0.0
    total_cost: float = 0.0


class RowConstrainedMaster:
    """Restricted master of a loss, a penalty, and limits of linear functions of the coefficients.

    Parameters
    ----------
    loss : loss on its rows
        As for :class:`SupportVectorMaster`, with ``target`` and ``weights``.
    limits : Limits
        Of the rows that columns have behind the training rows.
    coef, offset, solver, solver_options, free_columns
        As for :class:`SupportVectorMaster`; no penalized offset.

    Attributes
    ----------
    accuracy : float
        As the loop sets it.
    """

    def __init__(
        self,
        loss: Any,
        penalty: Penalty,
        *,
        limits: Limits,
        coef: SignRule = "free",
        offset: Offset = "free",
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
        free_columns: Sequence[Column] | FreeColumns = (),
    ) -> None:
        self.penalty, self.offset = penalty, offset
        self._centre = centre_of(loss) if offset == "free" else 0.0
        own = loss.shifted(self._centre) if self._centre else loss
        taken = as_master_loss(own)  # Huber's by its box: few rows may bend
        self._box = taken if isinstance(taken, SupportVectorLoss) else None
        self._bends = self._box is None or self._box.curvature is not None
        self._of_rows = taken
        self.loss = LimitedLoss(own, limits)
        self.n_trained = self.loss.n_trained
        at_rest = np.full(self.n_trained, float(own.constant()) if offset == "free" else 0.0)
        far = FAR_LIMIT * max(1.0, float(own.value(at_rest)))
        nearest = np.where(limits.is_equation, limits.limit, np.minimum(limits.limit, far))
        self._near = LimitedLoss(own, replace(limits, limit=nearest))
        self._form = DualForm(penalty, coef == "free", offset)
        constant = np.append(np.ones(self.n_trained), np.zeros(len(limits)))
        self._own = [Column(constant, CONSTANT)] if offset == "free" else []
        free = free_columns
        self._free = list(free.columns if isinstance(free, FreeColumns) else free)
        self.columns: list[Column] = []
        self._touched = np.zeros(len(limits), dtype=bool)  # rows in which a column has an entry
        self._options: dict[str, Any] = {
            "coef": coef,
            "solver": solver,
            "solver_options": solver_options,
        }
        self.accuracy = 0.0
        self._price, self._multipliers = FIRST_LIMIT_PRICE, np.zeros(len(limits))
        self._weight = self._most_weight = 0.0
        self._start: tuple[Vector, float] | None = None
        self._found: MasterState | None = None
        self._master: SupportVectorMaster | None = None
        self.add(self._free)

    # ------------------------------------------------------------------ columns

    def add(self, columns: Sequence[Column]) -> None:
        """Take new columns into the restricted problem."""
        self.columns.extend(columns)
        for column in columns:
            self._touched |= column.values[self.n_trained :] != 0
        if self._master is not None:
            self._master.add(columns)

    def start_from(self, start: WarmStart) -> None:
        """Take in the columns and the multipliers of a similar problem, before the first solve."""
        held = {column.key for column in self.columns}
        self.add([column for column in start.columns if column.key not in held])
        place = {column.key: j for j, column in enumerate(self.columns)}
        coef = np.zeros(len(self.columns))
        coef[[place[column.key] for column in start.columns]] = start.coef
        self._start = coef, start.intercept
        if isinstance(start, ConstrainedStart) and start.total_cost > 0:
            growth = self._total_cost / start.total_cost
            self._multipliers = growth * start.multipliers
            self._weight = growth * start.weight
            self._price = max(
                FIRST_LIMIT_PRICE, 10.0 * float(np.abs(self._multipliers).max(initial=0.0))
            )

    def take_up(self, columns: Sequence[Column], coef: Vector, intercept: Any) -> None:
        """Take in the columns of a run, and begin near its last coefficients."""
        self.add(columns)
        self._start = np.append(coef, np.zeros(len(self.columns) - len(coef))), float(intercept)

    @property
    def warm_start(self) -> ConstrainedStart:
        """The columns with a nonzero coefficient in the last answer, for a similar problem."""
        if self._found is None:
            return ConstrainedStart()
        state = self._found
        return ConstrainedStart.of(
            self.columns,
            state.coef,
            float(state.intercept),
            multipliers=-state.pseudo_response[self.n_trained :],
            response=state.pseudo_response,
            weight=self._weight,
            total_cost=self._total_cost,
        )

    @property
    def _total_cost(self) -> float:
        return float(self.loss.on_rows.weights.sum())

    # ------------------------------------------------------------------ relaxations

    def _relaxed(self) -> Any:
        """The loss of a relaxation, at the present price or multipliers."""
        if self._box is not None and not self._bends:
            return with_penalised_limits(self._box, self._near.limits, self._price)
        if not self._most_weight:
            first = self._first_weight()
            self._most_weight = MOST_WEIGHT * first
            self._weight = min(self._weight, self._most_weight) or first
        augmented = AugmentedLoss(self._near, self._multipliers, self._weight)
        return augmented if self._box is None else augmented.as_box(self._box)

    def _first_weight(self) -> float:
        """ρ by the curvature of the loss along the columns that are there, where it is large."""
        n, own = self.n_trained, self.loss.on_rows
        curvature = own.curvature(own.target if own.loss.of_residuals else np.zeros(n))
        bends = [float(curvature @ column.values[:n] ** 2) for column in self.columns]
        bends = [bend for bend in bends if bend > 0]
        return FIRST_WEIGHT * (float(np.median(bends)) if bends else 1.0)

    def _opened(self) -> SupportVectorMaster:
        """A master of the relaxation, from where the last one has come to."""
        before = self._master
        master = SupportVectorMaster(
            self._relaxed(),
            self.penalty,
            offset="none",
            free_columns=[*self._own, *self._free],
            **self._options,
        )
        new = self.columns[len(self._free) :]
        if before is not None and self._box is None:
            start = before.warm_start  # of a smooth loss, with the live problem
            master.start_from(start)
            if len(master.columns) == len(self.columns) + len(self._own):
                return master
        if self._start is not None:
            coef, intercept = self._start
            start_at = np.append(coef, np.zeros(len(self.columns) - len(coef)))
            if self._own:
                start_at = np.append(intercept - self._centre, start_at)
            master.take_up(new, start_at, 0.0)
        else:
            master.add(new)
        return master

    def _moves(self, inner: MasterState, beyond: float, before: float) -> bool:
        """A higher price, other multipliers, or a second look; False where nothing is left to do.

        A point that is coarse on purpose may be beyond limits at any price.
        """
        multipliers = -inner.pseudo_response[self.n_trained :]
        nearer = self._near.limits.limit < self.loss.limits.limit
        if (nearer & (inner.output[self.n_trained :] > 0.5 * self._near.limits.limit)).any():
            self._near = self.loss  # a limit that had been moved nearer counts
        elif not self._bends:
            if not (np.abs(multipliers) >= AT_PRICE * self._price).any():
                return not inner.solved
            self._price *= PRICE_GROWTH
        else:
            if self._box is not None and not inner.solved:
                return True
            moved = float(np.abs(multipliers - self._multipliers).max(initial=0.0))
            if moved <= AT_REST * float(np.abs(multipliers).max(initial=0.0)):
                return False  # the relaxation is the problem itself, and is solved no better
            self._multipliers = multipliers
            rounding = ON_LIMITS * (1.0 + float(np.abs(inner.coef).max(initial=0.0)))
            if beyond > max(LEFT_BEYOND * before, rounding):
                self._weight = min(WEIGHT_GROWTH * self._weight, self._most_weight)
        self._start = self._split(inner.coef)
        self._master = self._opened()
        return self._price < MOST_PRICE

    # ------------------------------------------------------------------ solving

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        """Re-optimise the restricted problem.

        Raises
        ------
        MasterError
            If the constraints do not come to hold over the present columns.
        """
        deadline, target = deadline_of(time_limit), max(RESTRICTED_GAP, self.accuracy)
        accuracy, before, best, other = self.accuracy, np.inf, None, None
        self._master = self._master or self._opened()
        for _ in range(MOST_MULTIPLIER_STEPS):
            self._master.accuracy = accuracy
            try:
                with np.errstate(over="ignore", invalid="ignore"):  # of attempts that are given up
                    inner = self._master.solve(time_limit=time_left(deadline))
            except MasterError:
                if best is None and other is None:
                    raise
                break
            found = self._state(inner)
            beyond = float(
                np.abs(self.loss.limits.excess(inner.output[self.n_trained :])).max(initial=0.0)
            )
            if found is not None:
                gap = self._restricted_gap(found)
                if best is None or gap <= best[0]:
                    best = gap, found
                if gap <= target * found.gap_scale:
                    break
            elif best is None and (found := self._state(inner, LEAST_SIZE)) is not None:
                gap = self._restricted_gap(found)  # limits next to 0, met on its other side
                if other is None or gap <= other[0]:
                    other = gap, found
            if not self._moves(inner, beyond, before):
                break
            accuracy, before = 0.0, min(before, beyond)
        if (best := best or other) is None:
            raise MasterError(
                f"the solver comes no nearer to the constraints than {beyond:.3g}, in rows with "
                "entries of 1: rows or features of very different sizes, and rows that nearly "
                f"repeat each other, are the usual cause{see('constraints')}"
            )
        self._found = best[1]
        return best[1]

    def _state(self, inner: MasterState, least: float = 0.0) -> MasterState | None:
        """The point of a relaxation, moved onto the limits; None where there is no way."""
        moved = self._on_limits(inner.coef, inner.output, least)
        if moved is None:
            return None
        coef, output = self._or_none(*moved)
        own, intercept = self._split(coef)
        response = self.loss.feasible(inner.pseudo_response, balanced=self.offset == "free")
        # where no column has an entry any multiplier is as good, and other columns see it
        response[self.n_trained :][~self._touched] = 0.0
        objective = self._form.value(own[len(self._free) :], 0.0) + self.loss.value(output)
        scale = self._form.gap_scale(self._of_rows, objective)
        n = self.n_trained
        outer = output.copy()
        outer[:n] += self._centre
        return MasterState(
            columns=tuple(self.columns),
            coef=own,
            intercept=intercept,
            output=outer,
            pseudo_response=response,
            objective=objective,
            slack=np.append(self._of_rows.slack(output[:n]), np.zeros(len(output) - n)),
            entry=self.penalty.entry(two_sided=self._form.two_sided, scale=scale),
            scale=scale,
            magnitude=self.loss.magnitude(output, response),
            solved=inner.solved,
        )

    def _or_none(self, coef: Vector, output: Vector) -> tuple[Vector, Vector]:
        """No columns, if the best constant obeys and is as good as these coefficients."""
        limits = self.loss.limits
        if self._free or limits.excess(np.zeros(len(limits))).any() or not coef.any():
            return coef, output
        objective = self._form.value(self._split(coef)[0], 0.0) + self.loss.value(output)
        allowed = objective + EQUAL * self._form.gap_scale(self._of_rows, objective)
        constants = (float(self.loss.on_rows.constant()), float(coef[0])) if self._own else (0.0,)
        for constant in constants:
            rest = np.append(np.full(self.n_trained, constant), np.zeros(len(limits)))
            if self.loss.value(rest) <= allowed:
                nothing = np.zeros(len(coef))
                nothing[: len(self._own)] = constant
                return nothing, rest
        return coef, output

    def _split(self, coef: Vector) -> tuple[Vector, float]:
        """Coefficients of the columns, and the offset with the centre of the targets."""
        if not self._own:
            return coef, 0.0
        return coef[1:], float(coef[0]) + self._centre

    def _on_limits(
        self, coef: Vector, output: Vector, least: float = 0.0
    ) -> tuple[Vector, Vector] | None:
        """Coefficients and output moved onto the limits that are exceeded, by the shortest way.

        Each coefficient by as much as it is large, so that none leaves 0 or changes its sign: the
        least Σ(δ_j/α_j)² with A δ = d − Aα over the limits that are exceeded, or nearly reached.

        With a ``least`` size each counts as at least as large as this share of the largest, and
        then may.
        """
        n, limits = self.n_trained, self.loss.limits
        used = np.flatnonzero(coef[len(self._own) :])
        if least:
            used = np.arange(len(self.columns))
        columns = [self.columns[j] for j in used.tolist()]
        if not columns:
            return None if limits.excess(output[n:]).any() else (coef, output)
        block = np.stack([column.values[n:] for column in columns], axis=1).astype(np.float64)
        own = coef[len(self._own) :][used]
        sizes = np.abs(own)
        allowed = ON_LIMITS * (np.abs(limits.limit) + np.abs(block) @ sizes)
        allowed += HARDLY_BEYOND * (1.0 + sizes.max())
        # what is as small as the rounding of others is 0 first: often that is its limit
        noise = sizes <= NOISE_OF_RELAXATION * sizes.max()
        noise[: np.count_nonzero(used < len(self._free))] = False
        if not (noise.any() or limits.excess(output[n:]).any()):
            return coef, output
        starts = [own] if least else [np.where(noise, 0.0, own), own]
        for start in starts if noise.any() else starts[:1]:
            steps = np.maximum(np.abs(start), least * sizes.max())
            new = _moved(start, block, limits, allowed, steps)
            if new is not None:
                break
        if new is None:
            return None
        if not self._form.two_sided and (new[used >= len(self._free)] < 0).any():
            return None
        moved, after = coef.copy(), output.copy()
        moved[len(self._own) + used] = new
        for column, change in zip(columns, new - own, strict=True):
            if change:
                after += change * column.values
        return moved, after

    def _restricted_gap(self, state: MasterState) -> float:
        """The gap that the present columns leave open."""
        assert self._master is not None
        scores = self._master._live.scores(state.pseudo_response)
        scores = scores[len(self._own) + len(self._free) :]
        excess = state.rule.excess(scores)
        largest, total = float(excess.max(initial=0.0)), float(excess.sum())
        bound = self.bound(state, Priced((), True, largest, total))
        return np.inf if bound is None else state.objective - bound

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        """Lower bound on the optimum over *all* columns, from an exact pricing pass.

        None where the scores of columns without a penalty are too far from 0 for one.
        """
        assert self._master is not None
        response = state.pseudo_response
        imbalance = 0.0
        if self._free:
            coef = np.append(np.zeros(len(self._own)), state.coef)
            if self._own:
                coef[0] = float(state.intercept) - self._centre
            imbalance = self._master._live.columns.imbalance(coef, response)
        if imbalance > MOST_IMBALANCE * state.gap_scale:
            return None
        return self.penalty.bound(self.loss, response, state.entry, priced) - imbalance

    def crossover(
        self, coef: Vector, intercept: float, *, time_limit: float | None = None
    ) -> Vertex | None:
        """An optimal vertex over the columns of the last round, None where there is none near."""
        if self._box is None or self._found is None or len(coef) != len(self._found.coef):
            return None
        assert self._master is not None
        start = np.append(intercept - self._centre, coef) if self._own else coef
        vertex = self._master.crossover(start, 0.0, time_limit=time_limit)
        if vertex is None:
            return None
        used = np.flatnonzero(vertex.coef)
        every = [*self._own, *self.columns]
        output = np.zeros(self.loss.n_rows)
        for j in used.tolist():
            output += vertex.coef[j] * every[j].values
        moved = self._on_limits(vertex.coef, output)
        if moved is None:
            return None
        at, output = self._or_none(*moved)
        own, offset = self._split(at)
        objective = self._form.value(own[len(self._free) :], 0.0) + self.loss.value(output)
        return Vertex(own, offset, objective)


def _moved(
    own: Vector, block: Vector, limits: Limits, allowed: Vector, steps: Vector
) -> Vector | None:
    """Coefficients that keep to all limits; None if there are none within steps of these sizes."""
    terms, new = block * steps, own
    for _ in range(MOST_MOVES):
        values = block @ new
        excess = limits.excess(values)
        if (np.abs(excess) <= ROUNDING_SHARE * allowed).all():
            break
        near = limits.is_equation | (values - limits.limit > -NEAR_LIMIT * allowed)
        sizes = np.abs(terms[near]).max(axis=1)
        sizes = np.where(sizes > 0, sizes, 1.0)
        rows, missing = terms[near] / sizes[:, None], -excess[near] / sizes
        step = np.linalg.lstsq(rows, missing, rcond=LEAST_PIVOT)[0]
        if not (np.abs(step) <= 1.0 + ROUNDING_SHARE).all():
            return None
        new = new + steps * step
        new = np.where(np.abs(new) <= LEAST_PIVOT * steps, 0.0, new)  # on its limit at 0
    return new if (np.abs(limits.excess(block @ new)) <= allowed).all() else None
