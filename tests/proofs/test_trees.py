"""Certificates of tree searches: packings to the last leaf, others over their columns."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from cgboost import BranchAndPrice, ColumnGeneration, decompose
from cgboost.exceptions import CertificateError
from cgboost.generation import Column
from cgboost.integer.decomposition.decomposition import IN_TURNS
from cgboost.integer.decomposition.model import Model
from cgboost.masters import LinearMaster
from cgboost.pricing import solve_knapsack
from solvers import Program
from tests.effort import WHOLE
from tests.integer.decomposition.cases import pairings, with_slack
from tests.integer.tree_problems import bin_packing, cutting_stock

from .certified_fits import forgeries, refusal, sealed
from .packings import certified_packing, instance, packed

SEEDS = range(24) if WHOLE else (0, 3, 17)


@pytest.mark.parametrize("seed", SEEDS)
def test_packings_are_verified_in_whole_numbers(seed: int, tmp_path: Path) -> None:
    """The tree, its leaves, and the packing itself."""
    proof, table = certified_packing(seed, tmp_path)
    assert refusal(proof, table) == ""
    claims = json.loads(proof.read_text(encoding="utf-8"))
    assert claims["objective"] == claims["bound"]
    assert "pair" in claims["tree"] or seed not in (3, 17)


@pytest.mark.parametrize("seed", SEEDS)
def test_forged_packings_are_refused(seed: int, tmp_path: Path) -> None:
    """A bin too few, a bound too high, prices that prove nothing, or half of a tree."""
    proof, table = certified_packing(seed, tmp_path)
    for what, forged in forgeries(json.loads(proof.read_text(encoding="utf-8"))):
        assert refusal(sealed(forged, tmp_path / "forged.json"), table), what


def leaves(tree: dict[str, Any]) -> list[dict[str, Any]]:
    """The leaves of a tree."""
    if "pair" not in tree:
        return [tree]
    return [leaf for branch in ("one", "two") if tree[branch] for leaf in leaves(tree[branch])]


def test_every_leaf_counts(tmp_path: Path) -> None:
    """One without prices, a branch that is missing, or a pair that is none prove nothing."""
    proof, table = certified_packing(3, tmp_path)
    text, path = proof.read_text(encoding="utf-8"), tmp_path / "forged.json"
    assert len(leaves(json.loads(text)["tree"])) > 5
    for k in range(len(leaves(json.loads(text)["tree"]))):
        forged = json.loads(text)
        leaf = leaves(forged["tree"])[k]
        leaf["prices"] = [0] * len(leaf["prices"])
        assert "do not prove" in refusal(sealed(forged, path), table)
    for change in ({"two": None}, {"one": None}, {"pair": [2, 2]}, {"pair": [0, 99]}):
        forged = json.loads(text)
        forged["tree"] |= change
        assert refusal(sealed(forged, path), table)


def test_other_items_are_refused(tmp_path: Path) -> None:
    """One that is smaller, or one more."""
    proof, table = certified_packing(1, tmp_path)
    text = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([*text, text[-1]]), encoding="utf-8")
    assert "other data" in refusal(proof, table)


@pytest.mark.parametrize("make", [bin_packing, cutting_stock])
def test_other_searches_prove_the_relaxation_over_their_columns(make: Any, tmp_path: Path) -> None:
    """And the first line says on whose word the others rest."""
    problem = make(1)
    result = problem.search(problem.pricer()).run()
    file = result.certificate(tmp_path / "proof.json")
    assert refusal(file, tmp_path / "proof.npy") == ""
    claims = json.loads(file.read_text(encoding="utf-8"))
    assert "the word of the pricer, and of its solver alone" in claims["claims"]
    assert claims["bound"] <= result.objective == claims["objective"]
    assert claims["whole"]
    for what, forged in forgeries(claims):
        if what not in ("lower costs", "a larger unit"):  # rows have no costs; half as much is true
            assert refusal(sealed(forged, tmp_path / "forged.json"), tmp_path / "proof.npy"), what


def test_what_no_certificate_knows_is_refused_by_name(tmp_path: Path) -> None:
    """Other sizes, a search without a solution."""
    sizes, capacity = instance(3)
    result = packed(sizes, capacity)
    with pytest.raises(CertificateError, match="a bin of the solution is too full"):
        result.certificate(tmp_path / "p.json", sizes=[2 * s for s in sizes], capacity=capacity)
    with pytest.raises(CertificateError, match="there are 2 sizes, and"):
        result.certificate(tmp_path / "p.json", sizes=[3, 4], capacity=capacity)
    with pytest.raises(CertificateError, match="sizes and capacity go together"):
        result.certificate(tmp_path / "p.json", sizes=sizes)
    with pytest.raises(CertificateError, match="must be whole"):
        result.certificate(tmp_path / "p.json", sizes=[0.5 * s for s in sizes], capacity=66.0)
    problem = bin_packing(0)
    nothing = BranchAndPrice(problem.master(), problem.pricer(), heuristics=()).run(max_nodes=0)
    with pytest.raises(CertificateError, match="no proof"):
        nothing.certificate(tmp_path / "p.json")
    assert np.isinf(nothing.objective)


@pytest.mark.parametrize("sense", ["==", ">="])
def test_runs_without_a_search_are_verified(sense: str, tmp_path: Path) -> None:
    """Fractional coefficients miss equations by rounding, and still bound and gap are proved."""
    sizes, capacity = np.array([20, 34, 41, 52, 63]), 150
    master = LinearMaster("abcde", sense, [44, 27, 35, 18, 12], least_cost=1.0)
    master.add([Column(row, key=k, cost=1.0) for k, row in enumerate(7.0 * np.eye(5) / 3.0)])

    def price(duals: Any) -> Any:
        amounts, value = solve_knapsack(duals, sizes, capacity)
        column = Column(amounts.astype(float), key=tuple(amounts.tolist()), cost=1.0)
        return [column] if value > 1 + 1e-9 else [], 1 - value

    result = ColumnGeneration(master, price).run()
    proof = result.certificate(tmp_path / "proof.json", master)
    assert refusal(proof, tmp_path / "proof.npy") == ""
    claims = json.loads(proof.read_text(encoding="utf-8"))
    assert claims["objective"] == pytest.approx(result.objective, rel=1e-9)
    assert claims["gap"] < 1e-9
    assert "THERE ARE NO OTHER COLUMNS" in claims["claims"].upper()
    for what, forged in forgeries(claims):
        assert refusal(sealed(forged, tmp_path / "forged.json"), tmp_path / "proof.npy"), what
    with pytest.raises(CertificateError, match="no duals of the rows"):
        result.certificate(tmp_path / "p.json", LinearMaster(range(2), "==", [1.0, 1.0]))


def test_decomposed_models_are_verified(tmp_path: Path) -> None:
    """Over the columns of their blocks, where these decided; else refused, with what to do."""
    model, blocks = pairings(1)
    result = decompose(model, blocks).solve()
    proof = result.certificate(tmp_path / "proof.json")
    assert refusal(proof, tmp_path / "proof.npy") == ""
    claims = json.loads(proof.read_text(encoding="utf-8"))
    assert (claims["objective"], claims["bound"]) == pytest.approx((41.0, 39.0))
    assert "is this + 0.0" in claims["claims"]
    for what, forged in forgeries(claims):
        assert refusal(sealed(forged, tmp_path / "forged.json"), tmp_path / "proof.npy"), what
    found = replace(result, tree=None, duals={}, message=f"{IN_TURNS}: blocks as given")
    assert "solve(branch_and_cut=False)" in str(found)
    with pytest.raises(CertificateError, match=r"word of the solver alone.*branch_and_cut=False"):
        found.certificate(tmp_path / "proof.json")
    with pytest.raises(CertificateError, match=r"word of the solver alone .*given\)$"):
        replace(result, tree=None).certificate(tmp_path / "proof.json")
    model, blocks = with_slack(1)
    result = decompose(model, blocks).solve()
    with pytest.raises(CertificateError, match="does not cost more than 0"):
        result.certificate(tmp_path / "proof.json")


@pytest.mark.parametrize("seed", range(6))
def test_costs_of_any_sign_are_proved_by_the_equations(seed: int, tmp_path: Path) -> None:
    """Linear programs of either sense: bound and objective are both the optimum of SciPy.

    Convexity rows raise the costs of columns, and pay for duals that a smoothed bound belongs to;
    a variable in no block that its upper bound holds back has a row for it.
    """
    rng = np.random.default_rng(seed)
    cost, x, n = rng.integers(-6, 9, 7) / 4, np.r_[rng.integers(0, 4, 6), 1], 7
    inner = np.c_[np.kron(np.eye(2), rng.integers(1, 6, 3)), np.zeros(2)]
    matrix = np.r_[rng.integers(0, 5, (2, n)), inner]
    side, upper = matrix @ x + [0, 2, 1, 3], np.r_[np.full(6, np.inf), 2]
    low, sign = np.r_[side[0], np.full(3, -np.inf)], -1.0 if seed % 2 else 1.0
    program = Program(sign * cost, matrix, low, side, np.zeros(n), upper, None, None, sign * 7.5)
    model = Model(program, tuple("abcd"), tuple("tuvwxyz"), maximize=sign < 0)
    result = decompose(model, {"c": 0, "d": 1}).solve()
    ends = np.c_[np.zeros(n), upper]
    best = linprog(sign * cost, matrix[1:], side[1:], matrix[:1], side[:1], ends).fun
    assert result.objective == pytest.approx(sign * best + 7.5)
    proof = result.certificate(tmp_path / "proof.json")
    assert refusal(proof, tmp_path / "proof.npy") == ""
    claims = json.loads(proof.read_text(encoding="utf-8"))
    assert claims["gap"] < 1e-9
    said = re.search(r"model is (minus )?this ([+-] \S+?)\.? ", claims["claims"] + " ")
    assert said is not None
    own = -claims["objective"] if said[1] else claims["objective"]
    assert own + float(said[2].replace(" ", "")) == pytest.approx(result.objective)


def test_a_claim_that_a_wrong_presolve_made_is_refused(tmp_path: Path) -> None:
    """The pricing problems of two blocks, for which highspy 1.14.0 called wrong points optimal.

    With ``presolve`` off they are 96 and 108. Each is a mixed-integer program of six variables; the
    1.14.0 said that no column had a negative reduced cost at the duals 103 and 114:

    * min 9a − 3b + 8c − 3d − 2e + 9f + 100, −2c + 3d + 4e − 3f ≤ 1, all in [0, 1] but a in [0, 3];
      a, e and f are whole: 103, and b = 1, d = 1/3 cost 96;
    * min 4a + 7c + 2d + 8e + 6f + 100, 2a + 5b + 5d − 6f ≥ 16, 0 ≤ 3b − 2e ≤ 1, all in [0, 1] but
      b and d in [0, 3]; all but a are whole: 114, and a = ½, d = 3 cost 108.
    """
    proof, table = Path(__file__).parent / "wrong_presolve.json", tmp_path / "wrong_presolve.csv"
    table.write_bytes((Path(__file__).parent / "wrong_presolve.csv").read_bytes())
    assert refusal(proof, table) == "the score of feature 2 is above its stated maximum"
    claims = json.loads(proof.read_text(encoding="utf-8"))
    honest = claims | {"scores": [103.0, 114.0, 103.0, 114.0]}
    words = "proved are only 217.0 and 203.0"
    assert refusal(sealed(honest, tmp_path / "honest.json"), table) == words
    seen = claims | {"weights": [103.0, 114.0, 103.0, 114.0]}  # what it would have been, if true
    seen["scores"] = seen["weights"]
    assert refusal(sealed(seen, tmp_path / "seen.json"), table) == ""
