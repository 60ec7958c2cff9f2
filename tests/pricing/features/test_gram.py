"""Scores that follow the coefficients, and notice where they must not."""

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.losses import LogLoss, SquaredError
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.features.correlation import CentredFeatures, GramPricer
from tests.pricing.checked import WEIGHTS, X, Y, correct_rounds, features


def stagewise() -> StagewiseMaster:
    """A master of L2-Boosting."""
    return StagewiseMaster(SquaredError().on(Y, WEIGHTS), step="newton", start="constant")


def test_one_scan_is_enough() -> None:
    """With room for all Gram rows, for single steps as for corrected coefficients."""
    pricer = GramPricer(features(), repeats=True)
    assert correct_rounds(stagewise(), pricer, 200) == 200
    assert pricer.scans == 1
    pricer = GramPricer(features(), repeats=False)
    master = OrthogonalMaster(SquaredError().on(Y, WEIGHTS), offset="free")
    assert correct_rounds(master, pricer, 40) == 40
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
