"""What certified estimators minimise: a loss and the master of it with a penalty, over a family.

The formulations of boosting (Akkerman, Ferry, Artigues, Hebrard, Vidal, *Boosting Revisited*, TMLR
2025, arXiv 2507.18242, compare them)::

    lp     hinge + Σ|α|            with ν: hinge with its own margin, Σ|α| ≤ 1
    qp     hinge + ½Σα²            with ν: hinge with its own margin + ½Σα²
    erlp   as lp with ν, the dual weights regularised by their entropy
    qrlp   as lp with ν, the dual weights regularised by their squares
    md     squared margin error, Σ|α| ≤ C
    nm     shortfall of the margins against C times their sum, Σ|α| ≤ 1

"lp" and "qp" take any other loss that has a dual box or a conjugate. C and the sample weights w are
the cost C·w of a row (:func:`row_costs`), with which a loss is on its rows: the ends of its box.
Linear models have theirs in other units, α among them (``_objective_in_units``).
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.parameters import TradeOff, check_choice, check_nu, check_number
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.exceptions import see
from cgboost.generation.protocols import Pricer
from cgboost.losses import (
    EpsilonInsensitive,
    Hinge,
    Loss,
    SquaredEpsilonInsensitive,
    SupportVectorLoss,
    entropic_nu_hinge,
    margin_distribution,
    negative_margin,
    nu_hinge,
    nu_insensitive,
)
from cgboost.losses.loss import PROOF, require
from cgboost.losses.registry import LOSSES, check_task, get_loss
from cgboost.masters.support_vector.formulations import BudgetMaster, EntropyMaster
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster, WarmStart
from cgboost.optimizers.solver_options import deadline_of
from cgboost.penalties import L1, L2, RKHS, GroupNorm, L1Ball, Penalty, SquaredGroupNorm
from cgboost.tolerances import LARGEST_COST, UNIT_ROUNDOFF

DEFAULT_SHARE = 0.02
"""Columns a round as a share of the training rows, measured best at 1 to 2 %."""


class ColumnFamily(ABC):
    """Makes columns: a pool for the training rows, a pricer for each run, tables of the result.

    A subclass is a dataclass. Its fields are parameters of the estimator, by the same names.
    """

    words: ClassVar[tuple[str, ...]] = ()
    """What ``columns_per_round`` may be besides a number."""

    @classmethod
    def of(cls, estimator: Any, **changes: Any) -> Self:
        """The family with the parameters of an estimator, some of them changed."""
        names = [own.name for own in fields(cls) if own.name not in changes]  # type: ignore[arg-type]
        return cls(**{name: getattr(estimator, name) for name in names}, **changes)

    @property
    def is_pairwise(self) -> bool:
        """Whether X is square, so that cross-validation must cut both its sides."""
        return False

    accept_sparse: ClassVar[Any] = False
    """Formats in which X may be sparse; False for none."""

    is_for_all_outputs: ClassVar[bool] = False
    """Whether a column has a part for each output of a joint problem; otherwise it adds to one."""

    paths_begin_trivial: ClassVar[bool] = False
    """Whether a model without columns is no surprise in a path: its grid begins with one, and its
    table shows how many columns each has."""

    @abstractmethod
    def check(self) -> None:
        """Check the parameters; raise ValueError for one that is wrong."""

    def check_hold_out(self, by: str = "early_stopping", instead: str = "an eval_set") -> None:
        """Raise ValueError if training rows cannot be held out.

        Parameters
        ----------
        by, instead : str
            The parameter that asks for it, and what else may be given to it.
        """
        return

    def usable(self, rows: TrainingRows) -> TrainingRows:
        """The rows from which columns are made: those that cost anything."""
        return rows.counting()

    @abstractmethod
    def pool(self, rows: TrainingRows) -> Any:
        """What the runs of a fit share."""

    @abstractmethod
    def pricer(self, pool: Any, tol: float) -> Pricer:
        """The pricer of one output of a run, for a relative gap of ``tol``."""

    def prepared(
        self, pool: Any, master: Any, pricer: Any, again: Callable[[], Any]
    ) -> tuple[Any, Any]:
        """Master and pricer of a run, as the loop gets them; ``again()`` makes such a master.

        The master is told how many columns to expect, which chooses the optimizer.
        """
        if expected := self.expected_columns(pool):
            master.expected_columns = expected
        return master, pricer

    def expected_columns(self, pool: Any) -> int:
        """How many columns may be needed; 0 where no optimizer is to be chosen by it."""
        return 0

    def most_columns(self, n_rows: int) -> int | None:
        """Columns at most, where that is not ``max_columns`` alone."""
        return None

    limited_by: ClassVar[str] = ""
    """Why a fit ends at :meth:`most_columns`, where that is worth a warning."""

    def columns_per_round(self, pool: Any, n_rows: int) -> int:
        """Columns a round for each output, where the user gives no number."""
        return max(1, round(DEFAULT_SHARE * n_rows))

    def usual_cost(self, rows: TrainingRows, loss: Loss) -> float:
        """C with Σ|α| and numbers to predict, where the user gives none."""
        return cost_by_noise(rows, loss)

    def warm_start(
        self, pool: Any, loss: Any, make_master: Callable[[Any], Any], time_limit: float | None
    ) -> WarmStart:
        """Columns to start from.

        Parameters
        ----------
        time_limit : float or None
            Seconds for the start and the run that it is for (:func:`end_of_start`).
        """
        return WarmStart()

    @abstractmethod
    def described(
        self, functions: Sequence[Any], strata: NDArray[np.str_], rows: TrainingRows
    ) -> Table:
        """The table of active columns, without coefficient and round."""

    def completed(self, table: Table) -> Table:
        """The table with coefficients and rounds."""
        return table

    def shared(self, functions: list[Any]) -> list[Any]:
        """The basis functions of all runs, with what they have in common kept once."""
        return functions

    def attributes(self, table: Table, runs: Sequence[FittedRun]) -> dict[str, Any]:
        """Fitted attributes that only models over this family have."""
        return {}


FormulationName = Literal["lp", "qp", "erlp", "qrlp", "md", "nm"]

MasterLossMaker = Callable[[Vector, Vector], Any]

LEAST_COST = 1e-100
"""Squares and products of smaller costs are 0: a wrong constant would be certified."""

MARGIN_COST = 0.01
"""Twice the soft margin that regularisation may cost by default (columns between −1 and 1)."""

LARGER = "a larger value may change that"

LEVEL_OF_NOISE = 1.5
"""C by default, times the size of the derivatives of the loss (docs/studies/defaults)."""

LEVEL_OF_LABELS = 3.0
"""The same for labels, where most rows end without a derivative."""

SCALE_Y = "scale y to standard deviation 1 (sklearn.compose.TransformedTargetRegressor)"


SHARE_OF_START = 0.5
"""The part of a run's time after which its start has an end: the rest is for the run itself, which
has no certificate before."""


def end_of_start(time_limit: float | None) -> float:
    """When a start has to come to an end, which begins now.

    Parameters
    ----------
    time_limit : float or None
        Seconds for the start and for what it is a start of.
    """
    return deadline_of(None if time_limit is None else SHARE_OF_START * time_limit)


@dataclass(frozen=True)
class Objective:
    """What one run of the loop minimises.

    Attributes
    ----------
    make_loss : callable
        ``make_loss(y, weights)``, the loss on data; it has C, ν or alpha already.
    make_master : callable
        ``make_master(loss, coef=…, offset=…, solver=…)``, the master of such a loss.
    program : {"lp", "qp"}
        What a named solver must be able to solve, for the check of its name.
    trade_off : TradeOff
        C, ν or alpha with its value, as messages name it and ``alpha_`` has it: the loss has it
        already.
    level_attribute : str or None
        The fitted attribute that holds what the loss chooses itself: margin ρ or tube ε.
    level_sign : float
        −1 where the attribute is minus the level of the loss: of the margin ρ the level is −ρ.
    default_level : float or None
        Its value where the loss chooses nothing; None: there is no such attribute.
    remedy : str
        What may make more of a model without columns …
    remedy_at_zero : str
        … and the same for a model without loss.
    tube : float
        Half width of the tube around y in which errors are free.
    unit : float
        One unit of the objective, in that of the user.
    """

    make_loss: MasterLossMaker
    make_master: Callable[..., Any]
    program: str
    trade_off: TradeOff
    level_attribute: str | None = None
    level_sign: float = 1.0
    default_level: float | None = None
    remedy: str = LARGER
    remedy_at_zero: str = LARGER
    tube: float = 0.0
    unit: float = 1.0

    def attributes(self, runs: Sequence[FittedRun], *, one: bool) -> dict[str, Any]:
        """The fitted attribute of the level: a number, or one for each class; None: not there."""
        if self.level_attribute is None:
            return {}
        levels = np.array([0.0 + self.level_sign * run.level for run in runs])
        if not np.isfinite(levels).all():
            return {self.level_attribute: self.default_level}
        return {self.level_attribute: float(levels[0]) if one else levels}


def check_trade_off(estimator: Any, *, is_optional: bool = False) -> None:
    """Check the parameters C, nu and offset; of margins, nu takes the place of C."""
    C, nu = estimator.C, estimator.nu
    check_number("C", C, above=0, optional=is_optional)
    check_nu(nu, optional=True)
    usual = None if is_optional else 1.0
    if not (estimator._y_numeric or nu is None or usual == C):
        raise ValueError(
            f"nu={nu:g} takes the place of C, so C={C:g} has no effect: leave one of them out"
        )
    check_choice("offset", estimator.offset, ("none", "penalized", "free"))


@dataclass(frozen=True)
class Margins:
    """C or ν, the loss and what else a formulation of margins asks for.

    With a ``free_offset`` Σr = 0.
    """

    C: float
    nu: float | None
    free_offset: bool
    loss: Loss = field(default_factory=Hinge)
    eta: float | None = None
    margin: float = 0.0

    @property
    def trade_off(self) -> TradeOff:
        """C or ν."""
        return TradeOff("C", self.C) if self.nu is None else TradeOff("nu", self.nu)

    @property
    def share(self) -> float:
        """ν, for the formulations that cannot do without."""
        if self.nu is None:
            raise ValueError("this formulation needs nu, got None")
        return self.nu

    @property
    def regularisation(self) -> float:
        """η; by default (2/δ)·log(1/ν), costs at most δ/2 of the soft margin (Warmuth et al.)."""
        if self.eta is not None:
            return self.eta
        return max(0.5, 2.0 / MARGIN_COST * math.log(1.0 / self.share))

    def soft(self, labels: Vector, weights: Vector) -> Any:
        """A loss with C, or the hinge with ν (Demiriz, Bennett, Shawe-Taylor 2002)."""
        if self.nu is None:
            return self.loss.on(labels, row_costs(self.C, weights))
        return nu_hinge(labels, weights, self.nu, balanced=self.free_offset)

    def entropic(self, labels: Vector, weights: Vector) -> SupportVectorLoss:
        """The loss of ERLPBoost."""
        return entropic_nu_hinge(
            labels, weights, self.share, eta=self.regularisation, balanced=self.free_offset
        )

    def smoothed(self, labels: Vector, weights: Vector) -> SupportVectorLoss:
        """The loss of QRLP-Boost."""
        smoothing = 1.0 / (self.regularisation * self.share)
        return nu_hinge(labels, weights, self.share, balanced=self.free_offset, smoothing=smoothing)

    def distribution(self, labels: Vector, weights: Vector) -> SupportVectorLoss:
        """The loss of MD-Boost."""
        return margin_distribution(labels, weights)

    def shortfall(self, labels: Vector, weights: Vector) -> SupportVectorLoss:
        """The loss of NM-Boost."""
        row_costs(self.C, weights)
        return negative_margin(labels, weights, margin=self.margin, trade_off=self.C)


def row_costs(C: float, weights: Vector) -> Vector:
    """What a unit of loss of each row costs, C·w: the ends of its box in the dual.

    Raises
    ------
    ValueError
        If C·Σw is below 1e-100 or above 1e300: products of such numbers have no digits in float64.
    """
    total, C = float(weights.sum()), float(C)
    if not LEAST_COST / total <= C <= LARGEST_COST / total:
        raise ValueError(
            f"C times the sum of the sample weights must be from {LEAST_COST:g} to "
            f"{LARGEST_COST:g}, got C={C:g} and a sum of {total:g}: choose another C, for example "
            f"from 1e-6 to 1e6{see('input-data')}"
        )
    return C * weights


def margin_objective(formulation: str | Penalty, margins: Margins) -> Objective:
    """The objective of a formulation of boosting, or of a penalty with the soft margin."""
    loss: MasterLossMaker
    master: Callable[..., Any]
    penalty = formulation if isinstance(formulation, Penalty) else PENALTIES_OF.get(formulation)
    if penalty is not None:
        program = program_of(margins.loss, penalty)
        loss, master = margins.soft, partial(master_of, penalty)
    else:
        makers: dict[str, tuple[MasterLossMaker, Callable[..., Any], str]] = {
            "erlp": (margins.entropic, EntropyMaster, "qp"),
            "qrlp": (margins.smoothed, BudgetMaster, "qp"),
            "md": (margins.distribution, partial(BudgetMaster, budget=margins.C), "qp"),
            "nm": (margins.shortfall, BudgetMaster, "lp"),
        }
        loss, master, program = makers[str(formulation)]
    return Objective(
        loss, master, program, margins.trade_off, level_attribute="margin_", level_sign=-1.0
    )


def program_of(loss: Loss, penalty: Penalty) -> str:
    """What a solver must be able to solve: a linear or a quadratic program."""
    return "qp" if penalty.quadratic or "hessian_diag" in loss.abilities else "lp"


def check_loss_and_nu(
    estimator: Any, names: Sequence[str], natural: type[Loss], **own: str
) -> None:
    """Check the parameter loss of a certified estimator, and what goes with it: ν and its own."""
    check_task_and_loss(estimator, names)
    check_own(estimator, **own)
    if estimator.nu is not None and type(get_loss(estimator.loss)) is not natural:
        raise ValueError(
            f"nu={estimator.nu!r} belongs to loss={natural.name!r}, got loss={estimator.loss!r}"
        )


def check_task_and_loss(estimator: Any, names: Sequence[str]) -> None:
    """Check the parameter loss of a certified estimator."""
    check_task(estimator.loss, names)
    if not isinstance(estimator.loss, Loss) and estimator.loss not in names:
        is_class = isinstance(estimator.loss, type) and issubclass(estimator.loss, Loss)
        hint = f": write {estimator.loss.__name__}()" if is_class else ""
        raise ValueError(
            f"loss must be one of {sorted(names)}, or a Loss, got {estimator.loss!r}{hint}"
        )
    require(get_loss(estimator.loss), PROOF, estimator._called)


def loss_of(estimator: Any, **own: str) -> Loss:
    """The loss of an estimator: of a name, with those of the estimator's parameters that it has.

    Parameters
    ----------
    **own : str
        Parameters of the estimator, and what losses call them, if it is not the same.
    """
    loss = estimator.loss
    known = _known_to(loss, *own.items()) if isinstance(loss, str) else ()
    return get_loss(loss, **{its: getattr(estimator, name) for its, name in known})


def check_own(estimator: Any, **own: str) -> None:
    """Raise ValueError for a parameter that the loss of this name does not have.

    Its default is none that anybody has given.
    """
    defaults = {field_.name: field_.default for field_ in fields(estimator)}
    for name, its in own.items():
        value, given = getattr(estimator, name), isinstance(estimator.loss, str)
        if given and value != defaults[name] and not {its, name} & _parameters(estimator.loss):
            takers = [repr(loss) for loss in LOSSES if {its, name} & _parameters(loss)]
            raise ValueError(
                f"{name}={value!r} belongs to loss={' or '.join(takers)}, got "
                f"loss={estimator.loss!r}: leave {name} out"
            )


def _parameters(loss: Any) -> frozenset[str]:
    """What a loss of this name may be given; nothing for a loss, which has its own."""
    return _parameters_of(loss) if isinstance(loss, str) else frozenset()


@functools.cache
def _parameters_of(name: str) -> frozenset[str]:
    kind: Any = LOSSES.get(name)
    return frozenset() if kind is None else frozenset(own.name for own in fields(kind))


@functools.cache
def _known_to(loss: str, *own: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """Parameters of a loss that an estimator has, each with the estimator's name of it."""
    its = _parameters_of(loss)
    return tuple((known, name) for name, called in own for known in {called, name} & its)


FORMULATIONS: tuple[str, ...] = ("lp", "qp", "erlp", "qrlp", "md", "nm")

PENALTIES_OF: dict[Any, Penalty] = {"lp": L1(), "qp": L2()}
"""The penalties of the formulations that have no separate loss."""


def master_of(penalty: Penalty, loss: Any, **options: Any) -> SupportVectorMaster:
    """The master of a penalty and a loss; ``options`` are those of :class:`SupportVectorMaster`.

    A loss that chooses its margin grows with α as a penalty λΣ|α| does, so that nothing would fix
    the size of α: of such a loss the penalty becomes the constraint Σ|α| ≤ 1/λ.
    """
    if isinstance(penalty, RKHS):
        from cgboost.masters.rkhs.rkhs_master import RKHSMaster

        return RKHSMaster(loss, penalty, **options)
    own_margin = isinstance(loss, SupportVectorLoss) and not loss.shrinks
    if isinstance(penalty, GroupNorm):
        if own_margin and penalty.is_positively_homogeneous:
            penalty = SquaredGroupNorm(penalty.weights, penalty.standardize, penalty.shared)
        from cgboost.masters.rkhs.group_norm_master import WholeKernelMaster

        return WholeKernelMaster(loss, penalty, **options)
    if own_margin and penalty.is_positively_homogeneous:
        penalty = L1Ball(1.0 / penalty.threshold)
    return SupportVectorMaster(loss, penalty, **options)


def residual_objective(penalty: Penalty, *, C: float, loss: Loss, nu: float | None) -> Objective:
    """The objective of a loss of the residuals; that of ε-insensitive loss may learn its ε."""

    def make_loss(target: Vector, weights: Vector) -> Any:
        if nu is None:
            return loss.on(target, row_costs(C, weights))
        return nu_insensitive(target, row_costs(C, weights), nu)

    epsilon = loss.epsilon if isinstance(loss, EpsilonInsensitive) else None
    at_zero = "every y is met by a constant"
    if nu is None and epsilon:
        within = f"every y lies within epsilon={epsilon:g} of a constant"
        at_zero = f"{within}: unless all are equal, try a smaller one, or {SCALE_Y}"
    has_tube = isinstance(loss, (EpsilonInsensitive, SquaredEpsilonInsensitive)) and nu is None
    return Objective(
        make_loss,
        partial(master_of, penalty),
        program_of(loss, penalty),
        TradeOff("C", C),
        level_attribute=None if epsilon is None else "epsilon_",
        default_level=epsilon,
        remedy=f"{LARGER}, or {SCALE_Y}",
        remedy_at_zero=at_zero,
        tube=getattr(loss, "epsilon", 0.0) if has_tube else 0.0,
    )


def meets_every_row(loss: Any, constant: float) -> bool:
    """Whether every row's loss is least at the constant, up to the rounding of mean and target."""
    tube = loss.box.epsilon if "dual_box" in loss.abilities else 0.0
    rounding = 10.0 * UNIT_ROUNDOFF * np.sqrt(loss.n_rows)
    step = rounding * (np.abs(loss.target) + abs(constant) + tube)
    falls = loss.pseudo_response(constant - step) >= 0
    rises = loss.pseudo_response(constant + step) <= 0
    return bool(np.all(falls & rises))


def cost_by_noise(rows: TrainingRows, loss: Loss) -> float:
    """C by default with Σ|α|, for numbers to predict and columns that are of size 1 in most rows.

    With the derivatives g of the loss at the best constant, what noise alone gains by a column is
    of the order √(Σ w g²). The price of a column is a fixed share of that, as λ is in the
    square-root lasso (Belloni, Chernozhukov, Wang, Biometrika 98, 2011), and C needs no knowledge
    of rows or units. Where a constant meets every y there is no noise, and C is that of g = 1.
    """
    counts = rows.weights > 0
    on_rows = loss.on(rows.y[counts], weights := rows.weights[counts])
    constant = float(on_rows.constant())
    response = on_rows.pseudo_response(np.full(len(weights), constant))  # w g
    noise = 0.0 if meets_every_row(on_rows, constant) else float(response**2 @ (1.0 / weights))
    return LEVEL_OF_NOISE / math.sqrt(noise or float(weights.sum()))


def cost_of_labels(targets: Sequence[Vector], weights: Vector, loss: Loss) -> float:
    """C by default with Σ|α| and classes, for columns that are of size 1 in most rows.

    As :func:`cost_by_noise`, with the derivatives g at f = 0 less their mean, which a constant
    takes away: at its best constant the hinge has a kink. Of several classes against the rest,
    Σ w g² is the mean; in a joint problem every row counts for each of its pairs.
    """
    noise = []
    for target in targets:
        pairs = target.shape[1] - 1 if target.ndim == 2 else 1
        target = target if target.ndim == 1 else np.ones(len(target))
        g = loss.gradient(target, np.zeros(len(target)))
        g = g - np.average(g, weights=weights) * (pairs == 1)
        noise.append(pairs * float(weights @ g**2))
    mean = float(np.mean(noise))
    return LEVEL_OF_LABELS / math.sqrt(mean if mean > 0 else weights.sum())
