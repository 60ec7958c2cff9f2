"""The check of a penalty that somebody writes: which of its methods contradict each other."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from cgboost.arrays import Vector
from cgboost.exceptions import CheckError
from cgboost.generation.protocols import Priced
from cgboost.losses import SquaredError
from cgboost.penalties.penalty import Penalty, sizes

SAME_PENALTY = 1e-9
"""Of values, relative to their sizes."""

NEAR_OPTIMUM = 1e-6
"""Of the least objective, which a solver finds to half of all digits."""

N_DRAWN = 50
"""Coefficients and scores that are drawn."""


def check_penalty(penalty: Penalty, *, random_state: int = 0) -> None:
    """Raise an error that names a method of a penalty which contradicts the others.

    At random coefficients α and scores s: Ω(0) = 0, Ω is convex, at least 0, and what ``threshold``
    and ``quadratic`` say;
    Ω(α) + Ω*(s) ≥ α·s (Fenchel and Young), with equality at the α that ``threshold``, ``quadratic``
    and ``radius`` say; ``entry`` has no excess for scores that are priced out, more of it for
    larger ones, and none at the score that is ``settled``; ``bound`` is at most the least
    objective of problems of least squares, at their optimum and elsewhere.

    Parameters
    ----------
    penalty : Penalty
        Of coefficients: those of whole functions (``of_functions``) have other laws.
    random_state : int, default=0

    Raises
    ------
    CheckError
        With the method, the numbers, and what was expected.
    TypeError
        If it is no :class:`Penalty` of coefficients.
    """
    if not isinstance(penalty, Penalty) or penalty.of_functions:
        raise TypeError(
            f"check_penalty takes a Penalty of coefficients, such as L1(), got {penalty!r}"
        )
    rng = np.random.default_rng(random_state)
    drawn = [rng.normal(size=rng.integers(1, 6)) for _ in range(N_DRAWN)]
    for two_sided in (True, False):
        check = _Check(penalty, two_sided)
        for coef in drawn:
            check.value(check.allowed(coef))
            check.duality(check.allowed(coef), rng.normal(size=len(coef)))
        check.entry()
        check.bound(rng)


class _Check:
    """One penalty, of coefficients of either sign or of those that are at least 0."""

    def __init__(self, penalty: Penalty, two_sided: bool) -> None:
        self.penalty, self.two_sided = penalty, two_sided

    def allowed(self, coef: Vector) -> Vector:
        """Coefficients inside the ball, if there is one, with the signs that are allowed."""
        coef = coef if self.two_sided else np.abs(coef)
        radius, size = self.penalty.radius, float(np.abs(coef).sum())
        return coef if radius is None or size <= radius else coef * (radius / size)

    def value(self, coef: Vector) -> None:
        """0 at 0, at least 0, and convex along the way from there."""
        own, half = self.penalty.value(coef), self.penalty.value(0.5 * coef)
        if self.penalty.value(np.zeros_like(coef)) != 0.0:
            raise self.error("value must be 0 at 0")
        if not 0.0 <= half <= 0.5 * own * (1.0 + SAME_PENALTY) + SAME_PENALTY:
            raise self.error(f"value must be convex: {half:g} half way to {own:g}, {coef=}")
        degree = self.penalty.degree
        if degree and abs(half - 0.5**degree * own) > SAME_PENALTY * (1.0 + own):
            raise self.error(
                f"degree must be that of value: {degree}, {half:g} half way to {own:g}"
            )
        penalty = self.penalty
        seen = penalty.threshold * float(np.abs(coef).sum())
        seen += 0.5 * penalty.quadratic * float(coef @ coef)
        if penalty.radius is None and abs(own - seen) > SAME_PENALTY * (1.0 + own):
            raise self.error(
                f"value must be threshold·Σ|α| + ½·quadratic·Σα² = {seen:g}, which is all that "
                f"solvers see, got {own:g} for {coef=}"
            )

    def duality(self, coef: Vector, scores: Vector) -> None:
        """Fenchel and Young, and that the conjugate is attained."""
        for scale in (0.3, 1.0, 3.0):
            own = scale * scores
            dual = self.penalty.conjugate(own, two_sided=self.two_sided)
            if coef @ own > self.penalty.value(coef) + dual + SAME_PENALTY * (
                1.0 + abs(coef @ own)
            ):
                raise self.error(
                    f"conjugate must be at least α·s − Ω(α) = "
                    f"{coef @ own - self.penalty.value(coef):g}, got {dual:g} for {own}, {coef=}"
                )
            best = self._best(own)
            if best is None:
                continue
            attained = float(best @ own) - self.penalty.value(best)
            if abs(dual - attained) > SAME_PENALTY * (1.0 + abs(attained)):
                raise self.error(
                    f"conjugate must be α·s − Ω(α) at the best α = {best}, {attained:g}, got "
                    f"{dual:g} for {own}"
                )

    def _best(self, scores: Vector) -> Vector | None:
        """The α of the conjugate by the three numbers; None where there is none, or none alone."""
        penalty, size = self.penalty, sizes(scores, two_sided=self.two_sided)
        if penalty.radius is not None:
            if penalty.threshold or penalty.quadratic:
                return None
            best = np.zeros_like(scores)
            first = int(size.argmax())
            best[first] = penalty.radius * np.sign(scores[first]) * (size[first] > 0)
            return best
        if penalty.quadratic > 0:
            over = np.maximum(size - penalty.threshold, 0.0)
            return np.asarray(np.sign(scores) * over / penalty.quadratic)
        return np.zeros_like(scores) if size.max() <= penalty.threshold else None

    def _scores(self) -> Vector:
        threshold = self.penalty.threshold
        grid = np.concatenate([np.linspace(0.0, 3.0, 13), threshold * np.array([0.999, 1.0, 1.1])])
        return np.sort(grid)

    def entry(self) -> None:
        """What a score adds to the gap."""
        entry = self.penalty.entry(two_sided=self.two_sided, largest=0.5)
        scores = self._scores()
        excess = np.asarray(entry.excess(scores))
        if excess.shape != scores.shape or not (excess >= 0.0).all():
            raise self.error(f"entry: excess must be at least 0 for every score, got {excess}")
        if (np.diff(excess) < 0.0).any():
            raise self.error(f"entry: excess must grow with the score, got {excess} for {scores}")
        below = np.asarray(entry.excess(-scores))
        if not np.allclose(below, excess if self.two_sided else 0.0):
            signs = "either sign" if self.two_sided else "coefficients that are at least 0"
            raise self.error(f"entry: excess of −s must be that of {signs}, got {below}")
        for score in scores.tolist():
            settled = entry.settled(score)
            if float(np.asarray(entry.excess(np.array([settled])))[0]) > SAME_PENALTY:
                raise self.error(f"entry: settled({score:g}) = {settled:g} must have no excess")

    def bound(self, rng: np.random.Generator) -> None:
        """At most the least objective of small problems of least squares, at it and far from it.

        Where an offset is penalised, ones are one more column of either sign, which is not priced.
        """
        for scale, charged in product((0.1, 1.0, 10.0), (False, True)):
            H, y = rng.normal(size=(12, 4)), scale * rng.normal(size=12)
            columns = np.column_stack([H, np.ones(len(y))]) if charged else H
            best, loss = self._optimum(columns, y, charged), SquaredError().on(y, np.ones(len(y)))
            objective = float(loss.value(columns @ best)) + self.penalty.value(best)
            for share in (1.0, 0.7, 0.0):
                response = y - share * columns @ best
                scores, total = response @ H, float(response.sum()) if charged else 0.0
                largest = float(sizes(scores[:2], two_sided=self.two_sided).max())
                entry = self.penalty.entry(two_sided=self.two_sided, scale=3.0, largest=largest)
                excess = np.asarray(entry.excess(scores))
                priced = Priced((), True, float(excess.max()), float(excess.sum()))
                bound = self.penalty.bound(loss, response, entry, priced, offset_score=total)
                if not bound <= objective + NEAR_OPTIMUM * (1.0 + abs(objective)):
                    offset = f", with Σr = {total:g} of a penalised offset" if charged else ""
                    raise self.error(
                        f"bound must be at most the least objective, {objective:g}, got {bound!r} "
                        f"for the scores {scores}{offset}"
                    )

    def _optimum(self, columns: Vector, y: Vector, charged: bool) -> Vector:
        """Coefficients of the least ½‖y − Hα‖² + Ω(α), by the three numbers."""
        n, penalty = columns.shape[1], self.penalty
        most = np.full(2 * n, np.inf)
        if not self.two_sided:
            most[n : 2 * n - charged] = 0.0

        def objective(parts: Vector) -> tuple[float, Vector]:  # α = p − q with p, q ≥ 0
            coef = parts[:n] - parts[n:]
            missed = columns @ coef - y
            value = 0.5 * missed @ missed + penalty.threshold * parts.sum()
            value += 0.5 * penalty.quadratic * coef @ coef
            slope = columns.T @ missed + penalty.quadratic * coef
            return float(value), np.concatenate([slope, -slope]) + penalty.threshold

        limit = np.inf if penalty.radius is None else penalty.radius
        ball = LinearConstraint(np.ones((1, 2 * n)), ub=limit)
        found = minimize(
            objective,
            np.zeros(2 * n),
            jac=True,
            method="SLSQP",
            bounds=[(0.0, high) for high in most],
            constraints=[ball] if np.isfinite(limit) else [],
            options={"ftol": 1e-15, "maxiter": 1000},
        )
        coef = np.asarray(found.x[:n] - found.x[n:], dtype=np.float64)
        return coef * min(1.0, limit / (float(np.abs(coef).sum()) or 1.0))

    def error(self, words: str) -> CheckError:
        """The error of this penalty."""
        return CheckError(f"{self.penalty!r}: {words}")
