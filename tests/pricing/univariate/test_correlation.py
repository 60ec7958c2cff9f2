"""Every way to look for the best feature finds it, round by round, from centred features.

Scores that follow the coefficients notice where they must not, and single precision may only narrow
the choice, never make it.
"""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cgboost import ColumnGeneration
from cgboost.generation.columns import evaluate
from cgboost.generation.protocols import Master, MasterState, Priced
from cgboost.losses import LogLoss, SquaredError
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.univariate import correlation as module
from cgboost.pricing.univariate.correlation import (
    CentredFeatures,
    CorrelationPricer,
    GramPricer,
    ScreenedPricer,
    feature_of,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 120)) + RNG.normal(size=(80, 1))
WEIGHTS = RNG.uniform(0.5, 2.0, 80)
Y = X[:, :5].sum(axis=1) + RNG.normal(size=80)
Z = X - np.average(X, axis=0, weights=WEIGHTS)
PRICERS = pytest.mark.parametrize("pricer", [CorrelationPricer, GramPricer, ScreenedPricer])


def features() -> CentredFeatures:
    """The centred features of X."""
    return CentredFeatures(X, WEIGHTS, centre=True)


def stagewise(target: np.ndarray = Y) -> StagewiseMaster:
    """A master of L2-Boosting."""
    loss = SquaredError().on(target, WEIGHTS)
    return StagewiseMaster(loss, step="newton", start="constant")


def corrected(target: np.ndarray = Y) -> OrthogonalMaster:
    """A master that refits all coefficients."""
    return OrthogonalMaster(SquaredError().on(target, WEIGHTS), offset="free")


class Checked:
    """A pricer whose every choice is compared with a search of its own."""

    def __init__(self, pricer: CorrelationPricer) -> None:
        self.pricer = pricer
        self.count = 0

    def price(self, state: MasterState, limit: int) -> Priced:
        """What the pricer offers, after a check that it is the best."""
        priced = self.pricer.price(state, limit)
        if limit:
            scores = np.abs(Z.T @ state.pseudo_response) / np.sqrt(WEIGHTS @ Z**2)
            if not self.pricer.repeats:
                scores[[feature_of(column) for column in state.columns]] = 0.0
            (column,) = priced.columns
            assert scores[feature_of(column)] >= scores.max() * (1 - 1e-9)
            self.count += 1
        return priced


def correct_rounds(master: Master, pricer: CorrelationPricer, rounds: int) -> int:
    """Rounds of the loop in which the pricer was right; the last of them is not priced."""
    checked = Checked(pricer)
    ColumnGeneration(master, checked, tol=0.0, max_rounds=rounds + 1).run()
    return checked.count


@PRICERS
def test_every_step_takes_the_best_feature(pricer: type[CorrelationPricer]) -> None:
    """With features that come back, and with coefficients corrected and none coming back.

    A new run of the same pricer forgets what the last one has left behind.
    """
    served = pricer(features(), repeats=True)
    for target, rounds in ((Y, 200), (np.sort(Y), 30), (-np.sort(Y), 30)):
        assert correct_rounds(stagewise(target), served, rounds) == rounds
    assert correct_rounds(corrected(), pricer(features(), repeats=False), 40) == 40


@PRICERS
def test_the_search_ends_when_only_rounding_is_left(pricer: type[CorrelationPricer]) -> None:
    """A response of three features is fitted before all rows are, and a constant one at once."""
    matrix = features()
    response = sum((matrix.column(j) for j in (4, 7, 11)), np.full(80, 3.0))
    for target in (response, np.ones(80)):
        master = corrected(target)
        loop = ColumnGeneration(master, pricer(matrix, repeats=False), tol=0.0, max_rounds=70)
        result = loop.run()
        assert result.stop_reason == "no_column"
        np.testing.assert_allclose(result.output, target, atol=1e-9)
        assert len(result.coef) < 60


def test_keys_carry_the_step_where_features_may_come_again() -> None:
    """(feature, step), or the feature alone."""
    state = stagewise().solve()
    again = CorrelationPricer(features(), repeats=True).price(state, 1).columns[0]
    once = CorrelationPricer(features(), repeats=False).price(state, 1).columns[0]
    index = feature_of(again)
    assert again.key == ("feature", (index, 1))
    assert once.key == ("feature", index)


# ---------------------------------------------------------------------------- centred features

PART = RNG.normal(size=(50, 7)) * (RNG.uniform(size=(50, 7)) < 0.6) + [0, 0, 0, 1, 2, 3, 1e4]
SHARES = RNG.uniform(0.5, 2.0, 50)
FORMS: dict[str, Any] = {
    "C": PART,
    "F": np.asfortranarray(PART),
    "csc": sparse.csc_matrix(PART),
    "csr": sparse.csr_array(PART),
    "float32": PART.astype(np.float32),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("centre", [True, False])
def test_lengths_scores_and_gram_rows_are_those_of_a_centred_copy(form: str, centre: bool) -> None:
    """Everything agrees with the copy, for dense and sparse matrices of either order."""
    r, features = RNG.normal(size=50), CentredFeatures(FORMS[form], SHARES, centre=centre)
    own = PART - np.average(PART, axis=0, weights=SHARES) if centre else PART
    # float32 has rounded a feature of mean 1e4 to 1e-3
    wanted = 1e-3 if form == "float32" else 1e-10
    size = np.linalg.norm(own, axis=0)
    close = {"rtol": wanted, "atol": wanted}
    np.testing.assert_allclose(features.lengths, np.sqrt(SHARES @ own**2), **close)
    rounding = wanted * np.abs(r).sum() / size.min()  # each entry of the feature is off by that
    np.testing.assert_allclose(features.scores(r) / size, r @ own / size, wanted, rounding)
    gram = (own[:, [2, 5]] * SHARES[:, None]).T @ own
    scale = np.outer(size[[2, 5]], size)
    np.testing.assert_allclose(features.gram([2, 5]) / scale, gram / scale, **close)
    hypotheses = [features.hypothesis(5), features.hypothesis(0)]
    np.testing.assert_allclose(evaluate(hypotheses, FORMS[form]), own[:, [5, 0]], **close)
    np.testing.assert_allclose(features.column(5), own[:, 5], **close)
    assert features.column(5) is features.column(5)  # repeated columns share their memory
    np.testing.assert_array_equal(features.hypothesis(2).importances(4), [0, 0, 1, 0])


def test_long_and_constant_features() -> None:
    """Means and lengths add up over blocks of rows; the length of a constant is exactly 0."""
    long = RNG.normal(size=(module.ENTRIES_AT_ONCE // 7 + 100, 7)) + 5.0
    features = CentredFeatures(long, np.ones(len(long)), centre=True)
    np.testing.assert_allclose(features.centres, long.mean(axis=0))
    np.testing.assert_allclose(features.lengths, np.linalg.norm(long - long.mean(axis=0), axis=0))
    constants = np.outer(np.ones(50), RNG.normal(size=40) * 10.0 ** np.arange(-20, 20))
    features = CentredFeatures(np.column_stack([PART, constants]), SHARES, centre=True)
    assert (constants != features.centres[7:]).any()
    np.testing.assert_array_equal(features.lengths[7:], 0.0)
    assert (features.lengths[:7] > 0).all()


# ---------------------------------------------------------------------------- Gram rows


def test_one_scan_is_enough() -> None:
    """With room for all Gram rows, for single steps as for corrected coefficients."""
    pricer = GramPricer(features(), repeats=True)
    assert correct_rounds(stagewise(), pricer, 200) == 200
    assert pricer.scans == 1
    pricer = GramPricer(features(), repeats=False)
    assert correct_rounds(corrected(), pricer, 40) == 40
    assert pricer.scans == 1


@pytest.mark.parametrize(("rows", "least"), [(0, 200), (20, 2)])
def test_without_room_for_gram_rows_it_scans(rows: int, least: int) -> None:
    """Memory for no or few Gram rows is kept to, and the choices stay right."""
    pricer = GramPricer(features(), repeats=True, gram_bytes=rows * X.shape[1] * 8)
    assert correct_rounds(stagewise(), pricer, 200) == 200
    assert least <= pricer.scans <= 200
    assert len(pricer._gram) <= rows


def test_another_loss_is_noticed() -> None:
    """Where scores are not linear in the coefficients, the winner's own score says so."""
    loss = LogLoss().on(np.where(Y > 0, 1.0, -1.0), WEIGHTS)
    for master in (StagewiseMaster(loss, learning_rate=0.5), CorrectiveMaster(loss)):
        pricer = GramPricer(features(), repeats=True)
        assert correct_rounds(master, pricer, 6) == 6
        assert pricer.scans > 3


def test_drift_leads_to_a_scan() -> None:
    """Scores that are off by more than rounding are computed again."""
    pricer, master = GramPricer(features(), repeats=True), stagewise()
    for factor, scans in ((1.0, 1), (1.0 + 1e-6, 2), (1.0, 2)):
        pricer._scores *= factor
        master.add(pricer.price(master.solve(), 1).columns)
        assert pricer.scans == scans


def test_rounding_that_has_added_up_leads_to_a_scan() -> None:
    """In single precision the bound on the error grows until the scores are computed again."""
    single = CentredFeatures(X.astype(np.float32), WEIGHTS, centre=True)
    pricer, exact = GramPricer(single, repeats=True), GramPricer(features(), repeats=True)
    for searched in (pricer, exact):
        ColumnGeneration(stagewise(), searched, tol=0.0, max_rounds=150).run()
    assert exact.scans == 1 < pricer.scans < 100


# ---------------------------------------------------------------------------- single precision


def chosen(own: np.ndarray) -> tuple[int, int]:
    """The feature taken first, and the scans in double precision that it took."""
    pricer = ScreenedPricer(CentredFeatures(own, WEIGHTS, centre=True), repeats=False)
    state = stagewise().solve()
    return feature_of(pricer.price(state, 1).columns[0]), pricer.scans


def test_features_alike_in_single_precision_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The best of six features that differ by 1e-10 is found, without a scan.

    Beyond the limit on candidates the choice is the same, by one scan.
    """
    best, _ = chosen(X)
    alike = X[:, [best] * 6] + 1e-10 * np.array([0, 1, 2, 5, 4, 3]) * Y[:, None]
    assert chosen(alike) == (3, 0)
    assert len(np.unique(alike.astype(np.float32), axis=1).T) < 6
    monkeypatch.setattr(module, "MOST_CANDIDATES", 5)
    assert chosen(alike) == (3, 1)


def test_what_single_precision_puts_in_the_wrong_order() -> None:
    """Among features that differ by less than it can tell, the choice is that of double."""
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(size=(len(Y), 20))
        alike = X[:, [chosen(X)[0]] * 20] + 1e-7 * noise
        exact = CentredFeatures(alike, WEIGHTS, centre=True)
        scores = np.abs(exact.scores(stagewise().solve().pseudo_response)) / exact.lengths
        assert chosen(alike) == (np.argmax(scores), 0)


def test_what_single_precision_cannot_do() -> None:
    """Features of size 1e±60 are normalised before they are rounded.

    Coarse correlations of random directions are within half of the margin that is left.
    """
    scale = 10.0 ** np.where(np.arange(X.shape[1]) % 2, 60.0, -60.0)
    assert chosen(X * scale) == (chosen(X)[0], 0)
    pricer, matrix = ScreenedPricer(features(), repeats=False), features()
    for direction in np.random.default_rng(1).normal(size=(20, len(Y))):
        unit = direction / np.linalg.norm(direction / np.sqrt(WEIGHTS))
        coarse = pricer._coarse.T @ unit.astype(np.float32)
        exact = np.array([matrix.column(j) @ unit for j in range(X.shape[1])]) / matrix.lengths
        assert np.abs(coarse - exact).max() <= pricer._error
