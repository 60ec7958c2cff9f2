"""Several pricers as one: strata that are asked in turn, and heuristics before an exact search."""

import math
from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import Duals
from cgboost.generation.history import StopReason
from cgboost.masters import LinearMaster
from cgboost.pricing import PartialPricing, PricerSequence
from tests.masters.linear.linear_problems import Family, convex, covering, full_optimum
from tests.pricing.scripted import UNIT, Scripted, state


def test_the_first_stratum_with_a_new_column_answers_and_nothing_is_proven() -> None:
    """Later strata are not asked, so the answer is not exact even if the stratum's was."""
    first, second, third = Scripted([], True), Scripted(UNIT[:1], True), Scripted(UNIT[1:], True)
    pricing = PartialPricing({"first": first, "second": second, "third": third})
    priced = pricing.price(state(), 5)
    assert priced.columns == UNIT[:1]
    assert priced.stratum == "second"
    assert not priced.exact
    assert math.isnan(priced.reduced_cost)
    assert priced.n_evaluated == 20
    assert third.calls == 0


@pytest.mark.parametrize(("order", "calls"), [("round_robin", [1, 4]), ("priority", [4, 4])])
def test_round_robin_stays_where_it_found_something(order: Any, calls: list[int]) -> None:
    """By priority the empty first stratum is asked every time, round robin only once."""
    strata = {"empty": Scripted([], True), "full": Scripted(UNIT, True)}
    pricing = PartialPricing(strata, order=order)
    for _ in range(4):
        assert pricing.price(state(), 1).stratum == "full"
    assert [stratum.calls for stratum in strata.values()] == calls


def test_round_robin_moves_on_when_a_stratum_has_nothing_left() -> None:
    """The stratum that has run dry is left, and the next one kept."""
    first, second = Scripted(UNIT[:1], True), Scripted(UNIT[1:], True)
    pricing = PartialPricing({"first": first, "second": second})
    assert [pricing.price(state(), 1).stratum for _ in range(2)] == ["first", "first"]
    first.columns = []
    assert [pricing.price(state(), 1).stratum for _ in range(2)] == ["second", "second"]
    first.columns = UNIT[:1]
    assert pricing.price(state(), 1).stratum == "second"


def test_all_strata_asked_and_exact_prove_the_combined_bound() -> None:
    """Nothing found anywhere: exact, with a bound per row; one heuristic spoils it.

    So it is whatever the last one found; and with ``limit=0``: no columns, all strata, the bound.
    """
    strata = {"a": Scripted([], True, {"a": -1.0}), "b": Scripted([], True, {"b": -2.0})}
    priced = PartialPricing(strata).price(state(), 3)
    assert priced.exact
    assert priced.reduced_cost == {"a": -1.0, "b": -2.0}
    assert priced.stratum == ""
    spoilt = PartialPricing(strata | {"c": Scripted([], False)}).price(state(), 3)
    assert not spoilt.exact
    assert np.isnan(spoilt.reduced_cost)
    strata = {"a": Scripted([], True, 0.5), "b": Scripted(UNIT[:1], True, -4.0)}
    priced = PartialPricing(strata).price(state(), 1)
    assert priced.exact
    assert priced.reduced_cost == -4.0
    assert priced.columns == UNIT[:1]
    strata = {"a": Scripted(UNIT, True, -1.0), "b": Scripted(UNIT, True, -2.0)}
    priced = PartialPricing(strata).price(state(), 0)
    assert priced.exact
    assert not priced.columns
    assert priced.reduced_cost == -2.0


def test_held_columns_pass_the_question_on_and_are_reported() -> None:
    """A stratum that repeats itself does not end the search, nor make it look empty."""
    repeating, empty = Scripted(UNIT[:1], True), Scripted([], True)
    pricing = PartialPricing({"repeating": repeating, "empty": empty})
    priced = pricing.price(state(UNIT[:1]), 1)
    assert empty.calls == 1
    assert priced.columns == UNIT[:1]


@pytest.mark.parametrize("order", ["round_robin", "priority"])
@pytest.mark.parametrize("seed", range(8))
def test_strata_reach_the_full_problem_within_their_bounds(seed: int, order: Any) -> None:
    """Three parts of a family, or one per convexity row: the certified optimum of the whole."""
    for master, family, parts in (split_by_group(seed), split_in_three(seed)):
        optimum = full_optimum(master, family)
        result = ColumnGeneration(master, PartialPricing(parts, order=order), tol=1e-9).run()
        if math.isinf(optimum):
            assert result.stop_reason is StopReason.INFEASIBLE
            continue
        assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
        assert result.objective == pytest.approx(optimum, rel=1e-7, abs=1e-7)
        assert not (result.history["bound"] > optimum + 1e-6 * max(1.0, abs(optimum))).any()
        assert set(result.history["stratum"]) <= {*parts, ""}


def split_by_group(seed: int) -> Any:
    """A master with two convexity rows, and a stratum for each."""
    master, family = convex(seed)
    return master, family, {name: part(family, owned(family, name)) for name in family.groups}


def owned(family: Family, group: str) -> np.ndarray:
    """The columns of one convexity row."""
    return np.flatnonzero(family.H[list(family.groups).index(group)] == 1)


def split_in_three(seed: int) -> Any:
    """A covering master, and its family in three strata with a bound for each."""
    master, family = covering(seed)
    places = np.arange(len(family.cost))
    return master, family, {f"part {k}": part(family, places[places % 3 == k]) for k in range(3)}


def part(family: Family, places: np.ndarray) -> Any:
    """Some columns of a family, priced exactly; the bound is per convexity row if there are any."""

    def price(duals: np.ndarray) -> Any:
        reduced = family.cost[places] - duals @ family.H[:, places]
        found = [family.columns[j] for j in places[reduced < -1e-9]]
        least = reduced.min(initial=np.inf)
        names = [name for name in family.groups if set(places) == set(owned(family, name))]
        return found, {names[0]: least} if names else least

    return price


def test_the_first_pricer_that_finds_a_column_answers() -> None:
    """Later pricers are not asked; the exactness is that of the one who answered.

    Nothing found: heuristics pass the question on, an exact search ends it.
    """
    first, second = Scripted(UNIT[:1], exact=False), Scripted(UNIT[1:], exact=True)
    priced = PricerSequence([first, second]).price(state(), 1)
    assert priced.columns == UNIT[:1]
    assert not priced.exact
    assert second.calls == 0
    nothing, proof = Scripted([], exact=False), Scripted([], exact=True)
    assert not PricerSequence([nothing, nothing]).price(state(), 1).exact
    priced = PricerSequence([nothing, proof, nothing]).price(state(), 1)
    assert priced.exact
    assert priced.n_evaluated == 20
    assert nothing.calls == 3


def test_a_heuristic_that_repeats_itself_does_not_stop_the_exact_search() -> None:
    """Columns the master already holds count as nothing found."""

    def greedy(duals: Duals) -> list[Column]:
        return UNIT[:1]

    def exact(duals: Duals) -> Any:
        reduced = [column.cost - column.values @ duals for column in UNIT]
        return [c for c, r in zip(UNIT, reduced, strict=True) if r < -1e-9], min(reduced)

    master = LinearMaster(["left", "right"], ">=", 1.0, least_cost=1.0)
    result = ColumnGeneration(master, PricerSequence([greedy, exact])).run()
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.objective == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PartialPricing({}, order="priority"), "needs a mapping from names of strata"),
        (
            lambda: PartialPricing({"a": Scripted([], True)}, order="random"),
            "'round_robin' or 'priority', got 'random'",
        ),
        (lambda: PricerSequence([]), "needs a sequence of pricers"),
    ],
)
def test_bad_arguments_are_refused(make: Any, words: str) -> None:
    """The error names the value and the choices."""
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    "parts", [PricerSequence, lambda own: PartialPricing(dict(enumerate(own)))]
)
def test_pricing_functions_know_the_seconds_that_are_left(parts: Any) -> None:
    """Each of several, too; none is left where no limit was given."""
    seen = []

    def price(duals: Any) -> Any:
        seen.append(duals.seconds_left)
        return [], 0.0, False

    for limit in (None, 1e3):
        master = LinearMaster(2, ">=", 1.0)
        ColumnGeneration(master, parts([price, price]), time_limit=limit).run()
        assert len(seen) >= 2
        assert all(own is None if limit is None else 0 < own <= limit for own in seen)
        seen.clear()
